# %% [markdown]
# # 4. Margins and speed
#
# **You will be able to** compute the training error, the margin and the perceptron loss of given weights, explain
# why wide margins mean few mistakes, and choose a rescaling that makes a problem easier.
#
# **You need** lesson 3. **Time:** 30 minutes.
#
# For weights $(w, b)$ and rows with labels $y_i \in \{-1, +1\}$ four numbers say almost everything:
#
# $$E = \frac1n \sum_i [\![\, y_i (w \cdot x_i + b) \le 0 \,]\!] \qquad
#   \gamma = \min_i \frac{y_i (w \cdot x_i + b)}{\|w\|} \qquad
#   R = \max_i \|x_i\| \qquad
#   L = \sum_i \max\!\big(0,\, -y_i (w \cdot x_i + b)\big)$$
#
# the **training error**, the **geometric margin**, the **radius** and the **perceptron loss**.
#
# Take care: this $\gamma$ is the distance in the picture. The $\gamma$ and $R$ of the theorem in lesson 3 count the offset
# as one more weight: divide by $\|(w, b)\|$, and extend the rows by 1. Without an offset, as in this lesson, both are equal.

# %%
import matplotlib.pyplot as plt
import numpy as np
from course import begin, check, progress, scene

from rosenblatt import Perceptron
from rosenblatt.plot import boundary
from rosenblatt.theory import margin, mistake_bound, perceptron_loss, radius, training_error

begin("04-margins", "error geometric_margin loss gradient")


def two_clouds(gap, n=60, seed=0):
    """Two clouds of n points each, `gap` apart on either side of a line through the origin."""
    rng = np.random.default_rng(seed)
    along, away = rng.uniform(-1, 1, 2 * n), gap + rng.exponential(0.2, 2 * n)
    y = np.repeat([+1, -1], n)
    normal, direction = np.array([0.6, 0.8]), np.array([0.8, -0.6])
    return along[:, None] * direction + (y * away)[:, None] * normal, y


X, y = two_clouds(0.2)
boundary(X, y, [0.6, 0.8])

# %% [markdown]
# The shaded band is the margin: no point lies inside it. All four numbers for this line, and for a worse one:

# %%
for w in ([0.6, 0.8], [1.0, 0.2]):
    print(
        w, "error", round(training_error(X, y, w), 3), "margin", round(margin(X, y, w), 3),
        "radius", round(radius(X), 3), "loss", round(perceptron_loss(X, y, w), 3),
    )  # fmt: skip

# %% [markdown]
# ## The narrower, the slower
#
# Without an offset, the theorem of lesson 3 allows $R^2/\gamma^2$ mistakes: halve the margin, and four times as many are allowed. Does a
# real run follow? Each point is the mean of ten orders of the rows.

# %%
gaps = [0.4, 0.2, 0.1, 0.05, 0.025, 0.0125]
bounds, mistakes = [], []
for gap in gaps:
    X_gap, y_gap = two_clouds(gap)
    bounds.append(mistake_bound(X_gap, y_gap, fit_intercept=False))
    runs = [Perceptron(fit_intercept=False, random_state=s, max_iter=2000).fit(X_gap, y_gap) for s in range(10)]
    mistakes.append(np.mean([sum(run.history_.mistakes) for run in runs]))
figure, ax = plt.subplots(layout="constrained", figsize=(6, 3.5))
ax.loglog(gaps, bounds, "o--", label=r"$R^2/\gamma^2$")
ax.loglog(gaps, mistakes, "o-", label="mistakes made")
ax.set(xlabel="gap between the clouds", ylabel="mistakes")
ax.legend()
plt.show()

# %% [markdown]
# Both lines fall with the gap; the run stays far below the bound, and falls more slowly. The bound is a promise about the
# worst case, not a forecast.
#
# ## What the perceptron descends
#
# The loss $L$ is 0 on right rows and grows linearly on wrong ones. On a mistaken row its gradient in $w$ is $-y\,x$, so a
# step of length 1 against the gradient is $w \leftarrow w + y\,x$: *the perceptron is stochastic gradient descent on $L$.*
# But beware: $w = 0$ has $L = 0$ and separates nothing. That is why the perceptron counts a score of 0 as a mistake, and why
# support vector machines use $\max(0, 1 - m)$ instead (lesson 10).

# %%
m = np.linspace(-2, 2, 200)
figure, ax = plt.subplots(layout="constrained", figsize=(6, 3))
ax.plot(m, (m <= 0).astype(float), label="error")
ax.plot(m, np.maximum(0, -m), label="perceptron loss")
ax.plot(m, np.maximum(0, 1 - m), "--", label="hinge loss")
ax.set(xlabel="margin  $y\\,a$", ylabel="loss of one row")
ax.legend()
plt.show()

# %%
scene("#data=blobs&n=60&margin=0.05&seed=1&learner=perceptron")

# %% [markdown]
# ## Exercises
#
# **1.** The training error, offset included. A score of 0 is an error.

# %% exercise="error"
def error(X, y, w, b):
    """The share of rows with y (w·x + b) <= 0."""
    ### BEGIN SOLUTION
    wrong = [y_i * (sum(p * q for p, q in zip(w, x_i)) + b) <= 0 for x_i, y_i in zip(X, y)]
    return sum(wrong) / len(wrong)
    ### END SOLUTION

# %% test="error" points=1
check(
    error,
    (([[1], [2], [-1]], [+1, -1, -1], [1], 0), 1 / 3),
    (([[1], [2], [-1]], [+1, -1, -1], [-1], 1), 2 / 3),
    (([[0, 0]], [+1], [5, 5], 0), 1.0),
)
### BEGIN HIDDEN TESTS
check(error, (([[1, 1], [2, 0], [0, 3], [4, 4]], [+1, -1, +1, -1], [-1, 1], 0.5), 0.25))
### END HIDDEN TESTS

# %% [markdown]
# **2.** The geometric margin. Return `float("-inf")` if the weights do not separate the rows.

# %% exercise="geometric_margin"
def geometric_margin(X, y, w, b):
    """min y (w·x + b) / ‖w‖"""
    ### BEGIN SOLUTION
    length = sum(v * v for v in w) ** 0.5
    least = min(y_i * (sum(p * q for p, q in zip(w, x_i)) + b) for x_i, y_i in zip(X, y))
    return least / length if least > 0 else float("-inf")
    ### END SOLUTION

# %% test="geometric_margin" points=2
check(
    geometric_margin,
    (([[3, 4], [-6, -8]], [+1, -1], [0.6, 0.8], 0), 5.0),
    (([[3, 4], [-6, -8]], [+1, -1], [6, 8], 0), 5.0),
    (([[3, 4], [6, 8]], [+1, -1], [0.6, 0.8], 0), float("-inf")),
)
### BEGIN HIDDEN TESTS
check(geometric_margin, (([[2], [5]], [-1, +1], [2], -7), 1.5), (([[0], [1]], [+1, -1], [1], 0), float("-inf")))
### END HIDDEN TESTS

# %% [markdown]
# **3.** The perceptron loss.

# %% exercise="loss"
def loss(X, y, w, b):
    """sum max(0, -y (w·x + b))"""
    ### BEGIN SOLUTION
    return sum(max(0, -y_i * (sum(p * q for p, q in zip(w, x_i)) + b)) for x_i, y_i in zip(X, y))
    ### END SOLUTION

# %% test="loss" points=1
check(loss, (([[1], [2], [-1]], [+1, -1, -1], [3], 0), 6.0), (([[1], [2]], [+1, -1], [0], 0), 0))
### BEGIN HIDDEN TESTS
check(loss, (([[1, 1], [0, 1]], [-1, -1], [1, 2], -1), 3.0))
### END HIDDEN TESTS

# %% [markdown]
# **4.** The gradient of the perceptron loss of *one* row with respect to $(w, b)$: a list for $w$ and a number for $b$.
# Count a margin of 0 as a mistake, as the perceptron does.

# %% exercise="gradient"
def gradient(x, y, w, b):
    """(gradient in w, gradient in b)"""
    ### BEGIN SOLUTION
    if y * (sum(p * q for p, q in zip(w, x)) + b) > 0:
        return [0] * len(w), 0
    return [-y * v for v in x], -y
    ### END SOLUTION

# %% test="gradient" points=2
check(
    gradient,
    (([1, 2], +1, [0, 0], 0), ([-1, -2], -1)),
    (([1, 2], -1, [0, 0], 1), ([1, 2], 1)),
    (([1, 2], +1, [1, 1], 0), ([0, 0], 0)),
)
### BEGIN HIDDEN TESTS
check(gradient, (([-3], -1, [-1], 0), ([-3], 1)), (([2, 0], +1, [-1, 9], 3), ([0, 0], 0)))
### END HIDDEN TESTS

# %%
progress()
