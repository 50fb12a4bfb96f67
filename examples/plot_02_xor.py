"""
When no line exists: XOR
========================

A run that does not converge proves nothing. A certificate does: these four signed rows sum to exactly 0, so no weights
can give all of them a positive margin.
"""

import matplotlib.pyplot as plt

from rosenblatt import Perceptron
from rosenblatt.datasets import load_gate
from rosenblatt.theory import certify

X, y = load_gate("xor")
print(certify(X, y))

# %%
# The product of the two columns as a third column makes XOR separable.
lifted = [[a, b, a * b] for a, b in X]
print(certify(lifted, y))
learner = Perceptron().fit(lifted, y)

w, b = learner.coef_[0], learner.intercept_[0]
grid = [[k / 60 - 0.5, j / 60 - 0.5] for j in range(121) for k in range(121)]
scores = [w[0] * u + w[1] * v + w[2] * u * v + b for u, v in grid]
figure, axes = plt.subplots(figsize=(4.5, 4))
axes.contourf(
    [u for u, _ in grid[:121]],
    [v for _, v in grid[::121]],
    [scores[121 * k : 121 * (k + 1)] for k in range(121)],
    levels=[-1e9, 0, 1e9],
    colors=["#cfe2f3", "#fce5cd"],
)
axes.scatter(X[:, 0], X[:, 1], c=y, cmap="coolwarm", s=80, edgecolors="black")
axes.set_title("XOR, separated by a product of two columns")
plt.show()
