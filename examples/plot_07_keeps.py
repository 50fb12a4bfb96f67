"""
Pocket, voting, averaging
=========================

On data that overlap, the last weights jump from epoch to epoch. Averages and votes are calm; the pocket keeps the best
weights that it checked, and checks only weights that survive more rows than its own.
"""

import numpy as np

from rosenblatt import plot

rng = np.random.default_rng(3)
X = rng.normal(size=(1200, 20))
y = X @ rng.normal(size=20) + 2 * rng.normal(size=1200) > 0
picture = plot.learning_curves(X[:600], y[:600], X[600:], y[600:])
picture.savefig("keeps.png")
print("wrote keeps.png")
