"""
Reliability of probabilities
============================

Of all rows with a probability of 80 % for a class, eight in ten should be of that class. ``evaluate`` measures it.
"""

import matplotlib.pyplot as plt
import numpy as np

from rosenblatt import AutoPerceptron
from rosenblatt.report import evaluate

rng = np.random.default_rng(1)
X = rng.normal(size=(6000, 8))
y = rng.random(6000) < 1 / (1 + np.exp(-(X @ rng.normal(size=8))))
learner = AutoPerceptron(products=False).fit(X[:3000], y[:3000])
found = evaluate(learner, X[3000:], y[3000:]).reliability
print(f"expected calibration error {found.ece:.3f}")

positive = learner.predict_proba(X[3000:])[:, 1]
edges = np.linspace(0, 1, 11)
which = np.digitize(positive, edges[1:-1])
share = [y[3000:][which == k].mean() for k in range(10) if (which == k).any()]
mean = [positive[which == k].mean() for k in range(10) if (which == k).any()]
figure, axes = plt.subplots(figsize=(4.5, 4.5))
axes.plot([0, 1], [0, 1], "--", color="gray")
axes.plot(mean, share, "o-")
axes.set(xlabel="predicted probability", ylabel="share that is positive")
plt.show()
