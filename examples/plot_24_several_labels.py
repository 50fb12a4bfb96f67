"""
Several labels per row
======================

``y`` is a matrix of 0 and 1, one column per label. Each column is learned exactly as if it were alone.
"""

import matplotlib.pyplot as plt
import numpy as np

from rosenblatt import AveragedPerceptron

rng = np.random.default_rng(0)
X = rng.uniform(-1, 1, size=(400, 2))
y = np.c_[X[:, 0] > 0.2, X[:, 1] > -0.1, X.sum(axis=1) > 0].astype(int)
learner = AveragedPerceptron().fit(X, y)
found = learner.predict(X)
print("rows with every label right:", f"{(found == y).all(axis=1).mean():.1%}")

figure, axes = plt.subplots(1, 3, figsize=(10, 3.4), sharey=True)
for k, panel in enumerate(axes):
    panel.scatter(X[:, 0], X[:, 1], c=found[:, k], cmap="coolwarm", s=10)
    panel.set_title(f"label {k + 1}")
plt.show()
