# %% [markdown]
# # 3. Margins and bounds
#
# How hard are your data? One number says it: the margin, measured in units of the longest row. This
# page computes it, bounds mistakes by it, and shows what changes it and what does not.

# %%
import math

from exercise import check

from rosenblatt import Perceptron
from rosenblatt.theory import certify, margin, perceptron_bound, perceptron_loss, radius, training_error

X = [[1.0, 1.0], [2.0, 0.0], [-1.0, -1.0], [0.0, -2.0], [3.0, 2.0], [-2.0, 1.0]]
y = [+1, +1, -1, -1, +1, -1]

# %% [markdown]
# ## Training error
#
# The **training error** is the share of rows with a margin of 0 or less. A row on the boundary counts
# as wrong: nobody could say on which side it is.

# %%
for w in ([1.0, 0.0], [1.0, 1.0], [0.0, 0.0]):
    print(w, "training error", round(training_error(X, y, w), 3), "perceptron loss", perceptron_loss(X, y, w))

# %% [markdown]
# The first and the last line show why the loss alone proves nothing: a row with a score of 0 costs
# nothing, and is wrong.
#
# ## The geometric margin
#
# The margin `y·(w·x)` doubles if the weights double. Divided by `‖w‖` it is a distance: how far the
# row is from the boundary, on the right side. The margin of the weights is that of the closest row.

# %%
print("margin of (1, 1):   ", margin(X, y, [1.0, 1.0]))
print("margin of (10, 10): ", margin(X, y, [10.0, 10.0]))
print("of weights that do not separate:", margin(X, y, [1.0, 0.0]))

# %% [markdown]
# ## Any separating weights give a bound, the best give the best
#
# Every separating weight vector bounds the mistakes by `R²/gamma²` with its own margin. The best
# margin of all weights gives the smallest bound. `certify` encloses it between two numbers, with a
# proof for each.

# %%
best = certify(X, y, fit_intercept=False)
print("R =", round(radius(X), 3), "; bound from (1, 1):", perceptron_bound(X, y, [1.0, 1.0]))
print(best)

# %% [markdown]
# ## What changes the bound
#
# Multiply all rows by 100: margin and radius grow alike, and the bound stays. Multiply one column by
# 100: the bound may explode. That is why columns of different units are scaled first.

# %%
alike = certify([[100 * a, 100 * b] for a, b in X], y, fit_intercept=False)
apart = certify([[100 * a, b] for a, b in X], y, fit_intercept=False)
print("bounds:", best.mistake_bound, alike.mistake_bound, apart.mistake_bound)
assert alike.mistake_bound == best.mistake_bound < apart.mistake_bound

# %% [markdown]
# The run itself is under the bound, mostly far under it. It is a promise for the worst order.

# %%
worst = max(Perceptron(fit_intercept=False, random_state=seed).fit(X, y).mistakes_ for seed in range(50))
print("most mistakes in 50 orders:", worst)
assert worst <= best.mistake_bound

# %% [markdown]
# ## Exercises
#
# **1.** The training error of weights `w` through the origin.


# %%
def error(w, X, y): ...


check(error, *(((w, X, y), training_error(X, y, w)) for w in ([1.0, 0.0], [1.0, 1.0], [0.0, 0.0], [-1.0, 2.0])))

# %% [markdown]
# **2.** The geometric margin, `-math.inf` where the weights do not separate.


# %%
def geometric_margin(w, X, y): ...


check(geometric_margin, *(((w, X, y), margin(X, y, w)) for w in ([1.0, 1.0], [3.0, 3.0], [1.0, 0.0], [3.0, 2.0])))

# %% [markdown]
# **3.** You want at most `k` mistakes on rows of length 1. How large must the margin be?


# %%
def margin_for(k): ...


check(margin_for, ((1,), 1.0), ((4,), 0.5), ((100,), 0.1), ((2,), 1 / math.sqrt(2)))
