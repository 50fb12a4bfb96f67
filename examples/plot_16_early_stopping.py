"""
Early stopping
==============

``early_stopping=True`` holds out rows of every class, watches their score, and keeps the weights of the best epoch.
"""

import matplotlib.pyplot as plt
import numpy as np

from rosenblatt import Perceptron

rng = np.random.default_rng(2)
X = rng.normal(size=(600, 60))
y = X[:, :5].sum(axis=1) + rng.normal(size=600) > 0
learner = Perceptron(early_stopping=True, validation_fraction=0.25, n_iter_no_change=10, max_iter=60).fit(X, y)
print(f"stopped after {learner.n_iter_} epochs: {learner.stop_reason_}")

history = learner.history_
figure, axes = plt.subplots(figsize=(5.5, 4))
axes.plot(range(1, learner.n_iter_ + 1), history.validation_score, ".-")
best = int(np.argmax(history.validation_score))
axes.plot(best + 1, history.validation_score[best], "o", markersize=10, fillstyle="none")
axes.set(xlabel="epoch", ylabel="accuracy on held-out rows")
plt.show()
