"""
The pocket and wrong labels
===========================

One label in ten is flipped. The last weights follow the last wrong label; the pocket keeps weights with few training
mistakes, the average is smoother. The titles count correct answers by the labels before the flips.
"""

import matplotlib.pyplot as plt
import numpy as np

from rosenblatt import AveragedPerceptron, Perceptron, PocketPerceptron
from rosenblatt.datasets import make_blobs

X, clean = make_blobs(300, spread=1.4, seed=1)
rng = np.random.default_rng(0)
noisy = np.where(rng.random(len(clean)) < 0.1, 1 - clean, clean)

figure, axes = plt.subplots(1, 3, figsize=(11, 3.6), sharey=True)
for panel, learner in zip(axes, (Perceptron(), PocketPerceptron(), AveragedPerceptron()), strict=True):
    learner.fit(X, noisy)
    (w1, w2), b = learner.coef_[0], learner.intercept_[0]
    panel.scatter(X[:, 0], X[:, 1], c=noisy, cmap="coolwarm", s=12)
    across = np.linspace(X[:, 0].min(), X[:, 0].max(), 2)
    panel.plot(across, -(w1 * across + b) / w2, "k-") if w2 else panel.axvline(-b / w1, color="k")
    panel.set(title=f"{type(learner).__name__}: {learner.score(X, clean):.1%}", ylim=(X[:, 1].min(), X[:, 1].max()))
plt.show()
