"""
Many classes
============

One weight row per class; the highest score wins. The joint update moves the right class and the strongest wrong one.
"""

import matplotlib.pyplot as plt
import numpy as np

from rosenblatt import AveragedPerceptron
from rosenblatt.datasets import make_blobs

X, y = make_blobs(400, classes=5, spread=0.8, seed=2)
u, v = np.meshgrid(np.linspace(-6, 6, 200), np.linspace(-6, 6, 200))
figure, axes = plt.subplots(1, 2, figsize=(9.5, 4.2), sharey=True)
for panel, multiclass in zip(axes, ("joint", "ovr"), strict=True):
    learner = AveragedPerceptron(multiclass=multiclass).fit(X, y)
    panel.contourf(
        u, v, learner.predict(np.c_[u.ravel(), v.ravel()]).reshape(u.shape), alpha=0.3, cmap="tab10", levels=9
    )
    panel.scatter(X[:, 0], X[:, 1], c=y, cmap="tab10", vmax=9, s=12)
    panel.set_title(f'multiclass="{multiclass}": {learner.score(X, y):.1%}')
plt.show()
