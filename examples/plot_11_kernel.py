"""
Kernels: two moons
==================

The kernel perceptron keeps one coefficient per mistaken row. The boundary bends as far as ``gamma`` lets it.
"""

import matplotlib.pyplot as plt
import numpy as np

from rosenblatt import KernelPerceptron
from rosenblatt.datasets import make_moons

X, y = make_moons(200, noise=0.12)
u, v = np.meshgrid(np.linspace(-1.6, 2.6, 150), np.linspace(-1.2, 1.7, 150))
figure, axes = plt.subplots(1, 3, figsize=(11, 3.4), sharey=True)
for panel, gamma in zip(axes, (0.3, 3.0, 100.0), strict=True):
    learner = KernelPerceptron(gamma=gamma, keep="average").fit(X, y)
    panel.contourf(u, v, learner.predict(np.c_[u.ravel(), v.ravel()]).reshape(u.shape), cmap="coolwarm", alpha=0.3)
    panel.scatter(X[:, 0], X[:, 1], c=y, cmap="coolwarm", s=12)
    panel.set_title(f"gamma={gamma:g}: {len(learner.support_vectors_)} support rows")
plt.show()
