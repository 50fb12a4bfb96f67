# %% [markdown]
# # 5. Average, vote, pocket
#
# On rows that overlap, the perceptron never comes to rest. Its last weights are those that the last
# mistake happened to leave behind. This page has three better answers from the same run.

# %%
import numpy as np
from exercise import check

from rosenblatt import AveragedPerceptron, Perceptron, PocketPerceptron, VotedPerceptron
from rosenblatt.textbook import averaged_perceptron, vote, voted_perceptron

rng = np.random.default_rng(0)


def two_clouds(rows, apart):
    """Rows of two classes around (±apart, ±apart)."""
    y = np.where(np.arange(rows) % 2 == 0, 1, -1)
    return rng.normal(size=(rows, 2)) + apart * y[:, None], y


X, y = two_clouds(400, apart=0.7)
X_new, y_new = two_clouds(4000, apart=0.7)

# %% [markdown]
# ## The last weights jump
#
# Five epochs on the same rows, and the test error after each: it goes up and down by chance.

# %%
learner = Perceptron()
for _ in range(5):
    learner.partial_fit(X, y)
    print(f"error of the last weights: {1 - learner.score(X_new, y_new):.3f}")

# %% [markdown]
# ## Three answers from the same run
#
# - **Average**: the mean of the weights after every example. Weights that lived long count more.
# - **Vote**: every weight vector that lived votes, once for each example that it survived.
# - **Pocket**: the weights that made the fewest mistakes on all rows so far.
#
# All four take the same steps. They differ only in what they keep.

# %%
for kind in (Perceptron, AveragedPerceptron, VotedPerceptron, PocketPerceptron):
    errors = []
    for seed in range(10):
        shuffles, fitted = np.random.default_rng(seed), kind()
        for _ in range(5):
            order = shuffles.permutation(len(y))
            fitted.partial_fit(X[order], y[order])
        errors.append(1 - fitted.score(X_new, y_new))
    print(f"{kind.__name__:20} mean error {np.mean(errors):.3f}, worst {np.max(errors):.3f}")

# %% [markdown]
# ## The average without storing all weights
#
# After N examples there were N weight vectors. Nobody stores them. Keep a second vector `u`. On a mistake at
# example c add `c·y·x` to `u` too. The mean of all weights is then `w - u/c`: every step is counted for as
# many examples as it lived. (With c from 1 on it is the mean of all weights and of the zeros at the start.)

# %%
rows, signs = [[1.0, 2.0], [2.0, 0.5], [-1.0, 1.0]], [+1, -1, +1]
print("textbook:", averaged_perceptron(rows, signs, T=2))
learner = AveragedPerceptron(fit_intercept=False)
print("library: ", learner.partial_fit(rows, signs).partial_fit(rows, signs).coef_[0])

# %% [markdown]
# ## Exercises
#
# **1.** The mean of a list of weight vectors.


# %%
def mean(weights): ...


check(mean, (([[1.0, 2.0], [2.0, 1.0]],), [1.5, 1.5]), (([[3.0], [0.0], [0.0]],), [1.0]))

# %% [markdown]
# **2.** The vote. `lived` has pairs of a weight vector and the number of examples that it survived. A score of 0
# votes for +1. Return the votes for +1 less the votes for -1.


# %%
def votes(lived, x): ...


lived = voted_perceptron(rows, signs, T=3)
check(votes, *(((lived, x), vote(lived, x)) for x in ([1.0, 0.0], [0.0, 1.0], [0.0, 0.0], [-2.0, 1.0])))

# %% [markdown]
# **3.** The averaged perceptron through the origin, T epochs, with the trick of the cached weights. Begin with c = 0
# and raise it *before* you look at a row, so that a step at example c lives for `N - c + 1` examples. Return the mean
# of the weights after each example.


# %%
def cached_average(X, y, T): ...


check(
    cached_average,
    *(((rows, signs, T), averaged_perceptron(rows, signs, T)) for T in (1, 2, 5)),
    (([[1.0], [2.0]], [+1, -1], 1), [0.0]),
)
