"""
Products of columns instead of a kernel
=======================================

A disk inside a ring: squares of the columns separate it, at the price of a linear learner. ``AutoPerceptron`` finds
that out on held-out rows.
"""

import matplotlib.pyplot as plt
import numpy as np

from rosenblatt import AutoPerceptron
from rosenblatt.datasets import make_ring

X, y = make_ring(400, noise=0.2)
learner = AutoPerceptron().fit(X, y)
print(learner.choice_)

u, v = np.meshgrid(np.linspace(-3.3, 3.3, 150), np.linspace(-3.3, 3.3, 150))
figure, axes = plt.subplots(figsize=(4.6, 4.2))
axes.contourf(u, v, learner.predict(np.c_[u.ravel(), v.ravel()]).reshape(u.shape), cmap="coolwarm", alpha=0.3)
axes.scatter(X[:, 0], X[:, 1], c=y, cmap="coolwarm", s=12)
axes.set_title(f"{learner.score(X, y):.1%} of the rows right")
plt.show()
