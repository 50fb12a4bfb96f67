"""
Cross-validation and tuning
===========================

``tune`` tries a grid of learners and parameters on the same folds and says what each brings.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer

from rosenblatt import AveragedPerceptron, cross_validate, tune

X, y = load_breast_cancer(return_X_y=True)
scaled = (X - X.mean(axis=0)) / X.std(axis=0)
print(cross_validate(scaled, y, AveragedPerceptron(), folds=5))

found = tune(X, y, folds=5)
ranked = [(str(learner), result.scores.mean()) for learner, result in reversed(found.tried[:12])]
figure, axes = plt.subplots(figsize=(7, 5))
axes.barh(range(len(ranked)), [score for _, score in ranked])
axes.set_yticks(range(len(ranked)), [name for name, _ in ranked], fontsize=7)
axes.set(xlim=(0.9, 1.0), xlabel="accuracy, mean of five folds")
figure.tight_layout()
plt.show()
