"""
Passive-aggressive regression
=============================

Numbers instead of classes: errors below ``epsilon`` are free, and ``C`` caps a step, in units of the target's spread.
"""

import matplotlib.pyplot as plt
import numpy as np

from rosenblatt import PassiveAggressiveRegression

rng = np.random.default_rng(0)
size = rng.uniform(40, 200, 400)
price = 90_000 + 2_100 * size + rng.normal(scale=25_000, size=400)
price[:20] *= 4  # typing errors
X = ((size - size.mean()) / size.std())[:, None]
learner = PassiveAggressiveRegression(C=0.01).fit(X, price)

order = np.argsort(size)
figure, axes = plt.subplots(figsize=(6, 4))
axes.scatter(size, price, s=8, alpha=0.5)
axes.plot(size[order], learner.predict(X)[order], "k-", label="PA-I regression")
slope, offset = np.polyfit(size, price, 1)
axes.plot(size[order], slope * size[order] + offset, "--", color="gray", label="least squares")
axes.set(xlabel="square meters", ylabel="price", ylim=(0, 900_000))
axes.legend()
plt.show()
