"""
AutoPerceptron beside scikit-learn's linear classifiers
=======================================================

``compare`` measures the family and scikit-learn's linear classifiers on the same folds.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.linear_model import Perceptron as TheirPerceptron
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from rosenblatt import AROW, AutoPerceptron, AveragedPerceptron, compare

X, y = load_breast_cancer(return_X_y=True)
found = compare(
    X,
    y,
    classifiers={
        "AutoPerceptron": AutoPerceptron(),
        "AveragedPerceptron": AveragedPerceptron(),
        "AROW": AROW(),
        "scikit-learn Perceptron": make_pipeline(StandardScaler(), TheirPerceptron()),
        "LogisticRegression": make_pipeline(StandardScaler(), LogisticRegression()),
        "LinearSVC": make_pipeline(StandardScaler(), LinearSVC()),
    },
)
print(found)

figure, axes = plt.subplots(figsize=(6, 3.5))
names = [each.name for each in found.measured]
axes.barh(names, [100 * each.accuracy for each in found.measured])
axes.set(xlim=(90, 100), xlabel="accuracy in %, mean of five folds")
figure.tight_layout()
plt.show()
