"""
Margins and speed
=================

The theorem promises at most 1/margin² mistakes for rows of length 1. This example halves the margin again and again.
"""

import matplotlib.pyplot as plt

from rosenblatt import Perceptron
from rosenblatt.datasets import make_separable

margins = [0.4, 0.2, 0.1, 0.05, 0.025, 0.0125]
mistakes = []
for margin in margins:
    X, y = make_separable(400, 10, margin=margin)
    mistakes.append(Perceptron(fit_intercept=False, tol=None, max_iter=100_000).fit(X, y).mistakes_)
for margin, count in zip(margins, mistakes, strict=True):
    print(f"margin {margin:<7} mistakes {count:>5}, at most {1 / margin**2:,.0f}")

figure, axes = plt.subplots(figsize=(5.5, 4))
axes.loglog(margins, [1 / margin**2 for margin in margins], "--", color="gray", label="bound, 1/margin²")
axes.loglog(margins, mistakes, "o-", label="mistakes")
axes.set_xticks(margins, [f"{margin:g}" for margin in margins], minor=False)
axes.minorticks_off()
axes.set(xlabel="margin", ylabel="mistakes until converged")
axes.legend()
plt.show()
