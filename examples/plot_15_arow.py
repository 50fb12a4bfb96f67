"""
AROW: confidence per feature
============================

AROW keeps a variance per feature. Features that were seen often have small variances and move little; rare ones may
still move far.
"""

import matplotlib.pyplot as plt
import numpy as np

from rosenblatt import AROW
from rosenblatt.theory import trace

rng = np.random.default_rng(0)
frequency = np.geomspace(0.5, 0.01, 20)
X = (rng.random((500, 20)) < frequency).astype(float)
y = X @ rng.normal(size=20) > 0
steps = trace(X, y, AROW(max_iter=1, tol=None, shuffle=False)).records()
variances = steps[-1]["w_variance_after"]

figure, axes = plt.subplots(figsize=(5.5, 4))
axes.loglog(frequency, variances, "o")
axes.set(xlabel="share of rows that have the feature", ylabel="variance of its weight")
plt.show()
