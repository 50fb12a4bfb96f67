"""
Perceptron, logistic regression, SVM: three lines through the same data
=======================================================================

All three are linear. The perceptron stops at the first line without a mistake, the SVM chooses the line with the widest
margin, logistic regression the line that makes the labels most likely. The legend has the training accuracy.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

from rosenblatt import Perceptron
from rosenblatt.datasets import make_blobs

figure, axes = plt.subplots(1, 2, figsize=(10, 5.4))
for panel, rows, spread, title in zip(axes, (20, 80), (1.2, 2.4), ("separable", "overlapping"), strict=True):
    X, y = make_blobs(rows, spread=spread, seed=10)
    panel.scatter(X[:, 0], X[:, 1], c=y, cmap="coolwarm", s=22)
    across = np.linspace(X[:, 1].min(), X[:, 1].max(), 2)
    for learner, style in (
        (Perceptron(), "k-"),
        (LogisticRegression(C=1e6), "g--"),
        (SVC(kernel="linear", C=100), "b:"),
    ):
        learner.fit(X, y)
        (w1, w2), b = learner.coef_[0], learner.intercept_[0]
        label = f"{type(learner).__name__} {learner.score(X, y):.1%}"
        panel.plot(-(w2 * across + b) / w1, across, style, linewidth=2, label=label)
    panel.set_title(title)
    panel.legend(loc="upper center", bbox_to_anchor=(0.5, -0.08))
figure.tight_layout()
plt.show()
