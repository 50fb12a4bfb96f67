"""
Why columns need scaling
========================

The bound is (R / margin)². Columns in different units make the longest row R long and the margin small. Standardized
columns make the same data easy.
"""

import warnings

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine

from rosenblatt import Perceptron
from rosenblatt.theory import certify

X, y = load_wine(return_X_y=True)
scaled = (X - X.mean(axis=0)) / X.std(axis=0)
print("as measured:", certify(X, y))
print("standardized:", certify(scaled, y))

# %%
# Mistakes per epoch show the same difference. A thousand epochs are not enough for the columns as measured.
figure, axes = plt.subplots(figsize=(5.5, 4))
warnings.simplefilter("ignore")  # stopped at max_iter, as announced
for name, rows in (("standardized", scaled), ("as measured", X)):
    learner = Perceptron().fit(rows, y)
    axes.plot(range(1, learner.n_iter_ + 1), learner.history_.mistakes, ".-", label=name)
axes.set(xlabel="epoch", ylabel="mistakes", xscale="log")
axes.legend()
plt.show()
