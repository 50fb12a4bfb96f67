# %% [markdown]
# # 3. Why it ends: the proof, line by line
#
# **You will be able to** state the perceptron convergence theorem with its assumptions, follow both
# inequalities of its proof on a real run, and predict the largest number of mistakes before you train.
#
# **You need** lesson 2, the Cauchy-Schwarz inequality. **Time:** 40 minutes.
#
# ## The theorem (Novikoff, 1962)
#
# Extend every row by a constant 1, so that the offset is one more weight. Suppose
#
# - some $u$ with $\|u\| = 1$ has $y_i\,(u \cdot x_i) \ge \gamma > 0$ for all rows: the data are **separable with margin** $\gamma$,
# - no row is longer than $R$: $\|x_i\| \le R$.
#
# Then the perceptron, started from zero, makes at most $R^2/\gamma^2$ mistakes. In any order of the rows, however often
# they come, in any dimension.

# %%
import matplotlib.pyplot as plt
import numpy as np
from course import begin, check, progress, scene

from rosenblatt.theory import certify, ledger

begin("03-convergence", "bound largest_row cosine your_bound")
X = [[0, 0], [0, 1], [1, 0], [1, 1]]
AND = [-1, -1, -1, +1]

# %% [markdown]
# ## The proof in two inequalities
#
# Let $w_k$ be the weights after $k$ mistakes, $w_0 = 0$. The $k$-th mistake is on some row $(x, y)$, and
# $w_k = w_{k-1} + y x$.
#
# **(1) The weights turn towards $u$.** $w_k \cdot u = w_{k-1} \cdot u + y\,(x \cdot u) \ge w_{k-1} \cdot u + \gamma$, so
# $$w_k \cdot u \ge k\,\gamma .$$
#
# **(2) The weights do not grow fast.** $\|w_k\|^2 = \|w_{k-1}\|^2 + 2\,y\,(w_{k-1} \cdot x) + \|x\|^2$. The middle term
# is $\le 0$, *because it was a mistake*. So
# $$\|w_k\|^2 \le k\,R^2 .$$
#
# **Together**, with Cauchy-Schwarz and $\|u\| = 1$:
# $$k\,\gamma \;\le\; w_k \cdot u \;\le\; \|w_k\| \;\le\; \sqrt{k}\,R \qquad\Longrightarrow\qquad k \le \frac{R^2}{\gamma^2} . \quad\blacksquare$$
#
# A line through 0 against a square root: sooner or later the line wins. Here are both on a run. The ledger has one
# line per mistake, and its numbers come from the learner's own weights, not from the proof.

# %%
book = ledger(X, AND)
print(book.render_table(6))
print(book.verdict())

# %%
figure, (left, right) = plt.subplots(1, 2, layout="constrained", figsize=(10, 3.5))
k = np.arange(1, len(book) + 1)
left.plot(k, [line.progress for line in book], "o-", label=r"$w_k \cdot u$")
left.plot(k, k * book.gamma, "--", label=r"$k\gamma$")
left.set(title="(1) at least a line", xlabel="mistake k")
right.plot(k, [line.squared_length for line in book], "o-", color="tab:red", label=r"$\|w_k\|^2$")
right.plot(k, k * book.radius**2, "--", color="tab:red", label=r"$kR^2$")
right.set(title="(2) at most a line", xlabel="mistake k")
for ax in (left, right):
    ax.legend()
plt.show()

# %% [markdown]
# ## Where does $\gamma$ come from?
#
# The proof holds for *every* separating $u$, so the best one gives the best bound. `certify` finds it, with an
# interval that is proved in exact arithmetic. For AND the best $u$ is $(2, 2, -3)/\sqrt{17}$; its smallest
# margin is $\gamma = 1/\sqrt{17}$. So $R = \sqrt 3$, and no order of the rows can cause more than $3 \cdot 17 = 51$ mistakes.

# %%
print(certify(X, AND))

# %%
scene("race")

# %% [markdown]
# ## What the theorem does not say
#
# - It does not say that the perceptron finds the *best* line. Any separating line stops it.
# - It says nothing if the data are not separable. Then the perceptron never stops (lesson 5).
# - The bound is a worst case. AND needed 18 mistakes of the 51 allowed.
# - The step size is not in it: from zero weights, $\eta$ multiplies $w$ and changes no answer.
#
# ## Exercises
#
# **1.** The bound as a whole number, for a radius and a margin.

# %% exercise="bound"
def bound(radius, gamma):
    """The largest whole number that R²/γ² allows."""
    ### BEGIN SOLUTION
    return int(radius**2 / gamma**2 + 1e-9)
    ### END SOLUTION

# %% test="bound" points=1
check(bound, ((2.0, 1.0), 4), ((1.0, 0.3), 11), ((5.0, 2.0), 6))
### BEGIN HIDDEN TESTS
check(bound, ((1.0, 2.0), 0), ((3.0, 0.5), 36))
### END HIDDEN TESTS

# %% [markdown]
# **2.** $R$: the length of the longest row, *extended by 1* for the offset.

# %% exercise="largest_row"
def largest_row(X):
    """max ‖(x, 1)‖"""
    ### BEGIN SOLUTION
    return max(sum(v * v for v in x) + 1 for x in X) ** 0.5
    ### END SOLUTION

# %% test="largest_row" points=1
check(largest_row, (([[0, 0], [1, 1]],), 3**0.5), (([[2, 2], [-2, 0]],), 3.0))
### BEGIN HIDDEN TESTS
check(largest_row, (([[0]],), 1.0), (([[-3, 4], [1, 1]],), 26**0.5))
### END HIDDEN TESTS

# %% [markdown]
# **3.** The proof squeezes the cosine of the angle between $w_k$ and $u$: divide inequality (1) by the square root of
# inequality (2). Return the smallest cosine that is possible after `k` mistakes.

# %% exercise="cosine"
def cosine(k, radius, gamma):
    """A lower bound for cos(w_k, u)."""
    ### BEGIN SOLUTION
    return k * gamma / (k**0.5 * radius)
    ### END SOLUTION

# %% test="cosine" points=2
check(cosine, ((1, 2.0, 1.0), 0.5), ((4, 2.0, 1.0), 1.0), ((9, 3.0, 0.5), 0.5))
### BEGIN HIDDEN TESTS
check(cosine, ((2, 2.0, 1.0), 0.7071067811865476), ((16, 4.0, 0.25), 0.25))
### END HIDDEN TESTS

# %% [markdown]
# **4.** On data of your own: make at least eight separable rows of two features (any way you like), and return
# `(X, y)`. The check trains a perceptron on them in five orders and compares with the bound.

# %% exercise="your_bound"
def your_bound():
    """(X, y): at least eight separable rows, with labels -1 and +1."""
    ### BEGIN SOLUTION
    X = [[i, 2 + i % 3] for i in range(5)] + [[i, -2 - i % 3] for i in range(5)]
    return X, [+1] * 5 + [-1] * 5
    ### END SOLUTION

# %% test="your_bound" points=2
def is_bounded(found):
    """at least eight separable rows of two features with labels -1 and +1"""
    rows, labels = found
    verdict = certify(rows, labels)
    if len(rows) < 8 or set(labels) != {-1, 1} or not verdict:
        return False
    counts = []
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(len(rows))
        counts.append(len(ledger(np.array(rows, float)[order], np.array(labels)[order])))
    print(f"  mistakes in five orders: {counts}; the theorem allows {verdict.mistake_bound}")
    return max(counts) <= verdict.mistake_bound


check(your_bound, ((), is_bounded), seconds=60)

# %%
progress()
