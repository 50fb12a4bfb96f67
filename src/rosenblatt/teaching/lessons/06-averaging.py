# %% [markdown]
# # 6. Pocket, voting, averaging
#
# **You will be able to** say why the last weights of a perceptron are a poor answer on noisy data, compute the pocket, the
# voted and the averaged answer, and use the trick that makes averaging free.
#
# **You need** lesson 2. **Time:** 35 minutes.
#
# Real data overlap. The perceptron never stops there: every mislabeled row drags the line away, and *whatever the weights
# happen to be when you stop* is the answer. Three old ideas fix this. All of them run the same perceptron; they differ only in
# what they **keep**.

# %%
import warnings

import matplotlib.pyplot as plt
import numpy as np
from course import begin, check, progress, scene

from rosenblatt import AveragedPerceptron, Perceptron, PocketPerceptron, VotedPerceptron
from rosenblatt.plot import learning_curves

warnings.simplefilter("ignore")  # learners warn if they stop before an epoch without a mistake: here on purpose
begin("06-averaging", "average vote pocket lazy_average")

rng = np.random.default_rng(0)
true_w = rng.normal(size=10)


def noisy(n):
    """Rows of ten features; one label in ten is wrong."""
    X = rng.normal(size=(n, 10))
    y = np.where(X @ true_w > 0, 1, -1)
    return X, np.where(rng.random(n) < 0.1, -y, y)


X, y = noisy(300)
X_test, y_test = noisy(3000)

# %% [markdown]
# ## Watch the last weights jump
#
# Test error after every epoch, for the four answers of one run. The best possible is 10 %, since a tenth of the labels is
# wrong.

# %%
learning_curves(X, y, X_test, y_test, epochs=20)

# %%
for learner in (Perceptron, PocketPerceptron, VotedPerceptron, AveragedPerceptron):
    scores = [learner(random_state=s, max_iter=10, tol=None).fit(X, y).score(X_test, y_test) for s in range(5)]
    print(f"{learner.__name__:20} {100 * np.mean(scores):.1f} % right, from {100 * min(scores):.1f} to {100 * max(scores):.1f}")

# %% [markdown]
# ## The three ideas
#
# - **Pocket** (Gallant, 1990): keep in your pocket the weights that made the fewest mistakes on the training rows so
#   far. Replace them only by better ones. (The library checks new weights only once they survive more rows than those in the pocket.)
# - **Voting** (Freund and Schapire, 1999): let every weight vector $w_k$ that ever lived vote, with as many votes as the
#   number of rows $c_k$ it survived: $h(x) = \operatorname{sign} \sum_k c_k \operatorname{sign}(w_k \cdot x)$. It comes with a bound for new
#   rows. It has to keep all vectors.
# - **Averaging**: $\bar w = \frac1N \sum_{t=1}^N w_t$, the mean over *all rows seen*, not only over mistakes. Nearly as good as voting, and
#   as cheap as a single vector. This is the one to use by default.
#
# ## Averaging for free
#
# Adding $w$ to a sum after every row costs $d$ additions per row, even if nothing changed. Daumé's trick keeps $u$, a second vector, and
# touches it only on a mistake: with a counter $c$ that starts at 1 and grows by 1 after every row,
#
# $$\text{mistake:}\quad w \mathrel{+}= y\,x,\quad u \mathrel{+}= y\,c\,x \qquad\qquad \text{answer:}\quad \bar w = w - \frac{u}{c} .$$
#
# Why? A step $y\,x$ made when the counter is $c$ is part of all later weights, which is a share $(C - c)/C$ of the run, $C$ being the last
# counter. And $w - u/C = \sum_{\text{steps}} y\,x\,(1 - c/C)$. The same thing.

# %%
scene("noise")

# %% [markdown]
# ## Exercises
#
# **1.** The mean of a list of weight vectors.

# %% exercise="average"
def average(vectors):
    """One vector."""
    ### BEGIN SOLUTION
    return [sum(column) / len(vectors) for column in zip(*vectors)]
    ### END SOLUTION

# %% test="average" points=1
check(average, (([[1, 2], [2, 1]],), [1.5, 1.5]), (([[0, 0, 3]],), [0, 0, 3]))
### BEGIN HIDDEN TESTS
check(average, (([[1], [2], [6]],), [3]))
### END HIDDEN TESTS

# %% [markdown]
# **2.** The vote: +1 or -1 for a row `x`, given pairs `(w, c)`. A vector whose score is 0 votes +1, and so does a tie.

# %% exercise="vote"
def vote(pairs, x):
    """+1 or -1"""
    ### BEGIN SOLUTION
    total = sum(c if sum(p * q for p, q in zip(w, x)) >= 0 else -c for w, c in pairs)
    return 1 if total >= 0 else -1
    ### END SOLUTION

# %% test="vote" points=2
check(
    vote,
    (([([1, 0], 3), ([-1, 0], 2)], [1, 0]), +1),
    (([([1, 0], 3), ([-1, 0], 4)], [1, 0]), -1),
    (([([100, 0], 1), ([-1, 0], 2)], [1, 0]), -1),
)
### BEGIN HIDDEN TESTS
check(vote, (([([0, 0], 1)], [5, 5]), +1), (([([1, 0], 2), ([-1, 0], 2)], [1, 0]), +1))
### END HIDDEN TESTS

# %% [markdown]
# **3.** The pocket, the plain way: run `epochs` passes of the perceptron without offset from zeros, and after *every row* compare the
# current weights with the pocket by their number of mistakes on all rows. Return the pocket's weights. The pocket starts with the
# zeros, and only strictly better weights replace it.

# %% exercise="pocket"
def pocket(X, y, epochs):
    """The best weights of the run."""
    ### BEGIN SOLUTION
    def dot(w, x):
        return sum(p * q for p, q in zip(w, x))

    def wrong(w):
        return sum(y_i * dot(w, x_i) <= 0 for x_i, y_i in zip(X, y))

    w = [0] * len(X[0])
    best, fewest = w, wrong(w)
    for _ in range(epochs):
        for x_i, y_i in zip(X, y):
            if y_i * dot(w, x_i) <= 0:
                w = [p + y_i * q for p, q in zip(w, x_i)]
            if wrong(w) < fewest:
                best, fewest = w, wrong(w)
    return best
    ### END SOLUTION

# %% test="pocket" points=3
check(
    pocket,
    (([[2, 1], [1, 2], [-1, -1], [1, 1]], [+1, +1, -1, -1], 3), [2, 1]),
    (([[1, 0], [0, 1]], [+1, -1], 2), [1, -1]),
)
### BEGIN HIDDEN TESTS
check(pocket, (([[1], [2], [-3]], [+1, +1, +1], 2), [1]), (([[1], [1], [1]], [-1, -1, +1], 1), [-1]))
### END HIDDEN TESTS

# %% [markdown]
# **4.** Daumé's trick. One pass over the rows, without offset, `c` from 1. Return $w - u/c$ with the last value of $c$.

# %% exercise="lazy_average"
def lazy_average(X, y):
    """w - u/c after one pass."""
    ### BEGIN SOLUTION
    w, u, c = [0] * len(X[0]), [0] * len(X[0]), 1
    for x_i, y_i in zip(X, y):
        if y_i * sum(p * q for p, q in zip(w, x_i)) <= 0:
            w = [p + y_i * q for p, q in zip(w, x_i)]
            u = [p + y_i * c * q for p, q in zip(u, x_i)]
        c += 1
    return [p - q / c for p, q in zip(w, u)]
    ### END SOLUTION

# %% test="lazy_average" points=3
check(lazy_average, (([[1], [2], [2]], [+1, -1, -1]), [-0.25]), (([[1, 0], [0, 1]], [+1, +1]), [2 / 3, 1 / 3]))
### BEGIN HIDDEN TESTS
check(lazy_average, (([[3, 1]], [-1]), [-1.5, -0.5]))
### END HIDDEN TESTS

# %%
progress()
