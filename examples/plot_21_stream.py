"""
A stream that changes
=====================

Predict first, learn afterwards: the share of mistakes is an honest estimate, for free. Halfway, the classes swap.
"""

import matplotlib.pyplot as plt
import numpy as np

from rosenblatt import AveragedPerceptron, PassiveAggressive, Perceptron

rng = np.random.default_rng(0)
X = rng.normal(size=(6000, 10))
w = rng.normal(size=10)
y = np.where(np.arange(6000) < 3000, X @ w > 0, X @ w < 0)

figure, axes = plt.subplots(figsize=(6, 4))
for learner in (Perceptron(), AveragedPerceptron(), PassiveAggressive(C=0.1)):
    wrong = []
    for row, label in zip(X, y, strict=True):
        features = dict(enumerate(row))
        wrong.append(hasattr(learner, "classes_") and learner.predict_one(features) != label)
        learner.learn_one(features, bool(label))
    recent = np.convolve(wrong, np.ones(200) / 200, mode="valid")
    axes.plot(range(200, 6001), recent, label=type(learner).__name__)
axes.axvline(3000, color="gray", linestyle="--")
axes.set(xlabel="examples", ylabel="error of the last 200")
axes.legend()
plt.show()
