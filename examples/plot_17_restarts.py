"""
Restarts
========

From random weights the perceptron finds another line each time. ``n_init`` keeps the best of several runs.
"""

import matplotlib.pyplot as plt

from rosenblatt import Perceptron
from rosenblatt.datasets import make_blobs

X, y = make_blobs(300, spread=2.4, seed=4)
runs = [Perceptron(init="random", random_state=seed).fit(X, y).score(X, y) for seed in range(40)]
best = Perceptron(init="random", n_init=20).fit(X, y).score(X, y)

figure, axes = plt.subplots(figsize=(5.5, 4))
axes.hist(runs, bins=40)
axes.axvline(best, color="black", label=f"n_init=20: {best:.1%}")
axes.set(xlabel="training accuracy", ylabel="runs")
axes.legend()
plt.show()
