# %% [markdown]
# # 5. When no line exists: XOR and certificates
#
# **You will be able to** prove with a pencil that no line separates XOR, state Gordan's theorem, check a certificate of
# either kind, and make XOR separable with one more feature.
#
# **You need** lesson 2; a sum of vectors. **Time:** 35 minutes.
#
# In 1969 Minsky and Papert's book *Perceptrons* showed how much a single layer cannot do, and XOR became its
# emblem. A run that does not end proves nothing: perhaps you stopped it too early. This page has a proof.

# %%
import matplotlib.pyplot as plt
from course import begin, check, progress, scene

from rosenblatt import Perceptron
from rosenblatt.plot import boundary
from rosenblatt.theory import certify

begin("05-xor", "signed is_proof separable_labelings lift")
POINTS = [[0, 0], [0, 1], [1, 0], [1, 1]]
XOR = [-1, +1, +1, -1]

# %% [markdown]
# ## The perceptron goes round in circles
#
# After every epoch the weights are back at $(0, 0)$ and the offset at 0, so it would continue for ever. The learner stops and
# says why. There is not even a line to draw: every score is 0, so every margin is 0, which is a mistake, and the four
# points are hollow. (`predict` must answer something, and answers +1 for a score of 0: right for two of the four.)

# %%
learner = Perceptron(shuffle=False).fit(POINTS, XOR)
print(learner.stop_reason_, "after", learner.n_iter_, "epochs; mistakes:", learner.history_.mistakes[:8], "…")
boundary(POINTS, XOR, learner.coef_[0], learner.intercept_[0])

# %% [markdown]
# ## Signed rows
#
# Extend each row by 1, for the offset, and multiply it by its label: $z_i = y_i\,(x_i, 1)$. Weights $v = (w_1, w_2, b)$
# separate the rows exactly if $v \cdot z_i > 0$ for all $i$:
#
# | row | label | signed row |
# | --- | --- | --- |
# | (0, 0) | -1 | (0, 0, -1) |
# | (0, 1) | +1 | (0, 1, 1) |
# | (1, 0) | +1 | (1, 0, 1) |
# | (1, 1) | -1 | (-1, -1, -1) |
#
# Add the four signed rows: the sum is $(0, 0, 0)$. If some $v$ had a positive product with each of them, it would have a
# positive product with their sum. But the product of anything with 0 is 0. So no such $v$ exists. **That is the
# whole proof.**

# %%
proof = certify(POINTS, XOR)
print(proof)

# %% [markdown]
# ## Exactly one of two things is true
#
# **Gordan's theorem (1873).** Either some $v$ has $v \cdot z_i > 0$ for all $i$, or some weights $\lambda_i \ge 0$, not all 0, have
# $\sum_i \lambda_i z_i = 0$. Never both, never neither.
#
# So every question "are these data separable?" has a proof of one kind or the other. Anyone can check it, with
# integers, without trusting who found it:

# %%
print("XOR, checked:", proof.check(POINTS, XOR))
print("the proof of XOR, held against AND:", proof.check(POINTS, [-1, -1, -1, +1]))

# %% [markdown]
# In pictures: the data are not separable if and only if the convex hulls of the two classes meet. For XOR they meet in the
# middle, at (½, ½), which is the mean of both diagonals.

# %%
figure, ax = plt.subplots(layout="constrained", figsize=(4, 4))
ax.plot([0, 1], [0, 1], "-", color="tab:orange", linewidth=3)
ax.plot([0, 1], [1, 0], "-", color="tab:blue", linewidth=3)
for (x1, x2), label in zip(POINTS, XOR):
    ax.plot(x1, x2, "o", markersize=14, color="tab:blue" if label > 0 else "tab:orange")
ax.plot(0.5, 0.5, "k*", markersize=16)
ax.set(title="The two hulls share a point", aspect="equal")
plt.show()

# %%
scene("xor")

# %% [markdown]
# ## A way out: one more feature
#
# Give every point its product $x_1 x_2$ as a third value. In three dimensions a plane separates XOR, and the perceptron
# finds it. The neuron did not change; its inputs did. A hidden layer (see history.md, 1986) learns such inputs by itself.

# %%
LIFTED = [[a, b, a * b] for a, b in POINTS]
lifted = Perceptron(shuffle=False).fit(LIFTED, XOR)
print(lifted.stop_reason_, "with weights", lifted.coef_[0], "and offset", lifted.intercept_[0])
print(certify(LIFTED, XOR))

# %%
scene("lift")

# %% [markdown]
# ## Exercises
#
# **1.** Make the signed rows of any data, as a list of lists.

# %% exercise="signed"
def signed(X, y):
    """y (x, 1) for every row."""
    ### BEGIN SOLUTION
    return [[y_i * v for v in [*x_i, 1]] for x_i, y_i in zip(X, y)]
    ### END SOLUTION

# %% test="signed" points=1
check(
    signed,
    ((POINTS, XOR), [[0, 0, -1], [0, 1, 1], [1, 0, 1], [-1, -1, -1]]),
    (([[2, 3]], [-1]), [[-2, -3, -1]]),
)
### BEGIN HIDDEN TESTS
check(signed, (([[5], [-5]], [+1, -1]), [[5, 1], [5, -1]]))
### END HIDDEN TESTS

# %% [markdown]
# **2.** Check a proof: `weights` are whole numbers, one per row. It is a proof if none is negative, at least one is
# positive, and the sum of the signed rows with these weights is zero.

# %% exercise="is_proof"
def is_proof(weights, X, y):
    """True or False."""
    ### BEGIN SOLUTION
    if min(weights) < 0 or max(weights) == 0:
        return False
    rows = [[y_i * v for v in [*x_i, 1]] for x_i, y_i in zip(X, y)]
    return all(sum(n * row[j] for n, row in zip(weights, rows)) == 0 for j in range(len(rows[0])))
    ### END SOLUTION

# %% test="is_proof" points=3
check(
    is_proof,
    (([1, 1, 1, 1], POINTS, XOR), True),
    (([1, 1, 1, 2], POINTS, XOR), False),
    (([0, 0, 0, 0], POINTS, XOR), False),
    (([1, -1, -1, 1], POINTS, [-1, -1, -1, -1]), False),
)
### BEGIN HIDDEN TESTS
check(is_proof, (([1, 2, 1], [[0], [1], [2]], [+1, -1, +1]), True), (([2, 1, 1], [[0], [1], [2]], [+1, -1, +1]), False))
### END HIDDEN TESTS

# %% [markdown]
# **3.** Of the 16 ways to label the four corners, how many are separable by a line? All labels alike counts as separable: a
# line beside the points has all of them on one side. Solve it on paper, or let `certify` help (it wants two classes).

# %% exercise="separable_labelings"
def separable_labelings():
    """A whole number."""
    ### BEGIN SOLUTION
    from itertools import product

    return sum(len(set(y)) == 1 or bool(certify(POINTS, y)) for y in product((-1, +1), repeat=4))
    ### END SOLUTION

# %% test="separable_labelings" points=2
check(separable_labelings, ((), lambda n: (n * 7919) % 1000 == 866), seconds=30)
### BEGIN HIDDEN TESTS
check(separable_labelings, ((), 14), seconds=30)
### END HIDDEN TESTS

# %% [markdown]
# **4.** Points inside the unit circle are -1, points outside are +1. Which single extra feature makes them separable by a plane?
# Return the row with that feature appended.

# %% exercise="lift"
def lift(x1, x2):
    """[x1, x2, one more feature]"""
    ### BEGIN SOLUTION
    return [x1, x2, x1**2 + x2**2]
    ### END SOLUTION

# %% test="lift" points=2
def circle(make):
    from math import cos, sin

    points = [(r * cos(t), r * sin(t)) for r in (0.3, 0.9, 1.1, 2.0) for t in range(12)]
    return bool(certify([make(a, b) for a, b in points], [+1 if a * a + b * b > 1 else -1 for a, b in points]))


def lifts(x1, x2):
    row = lift(x1, x2)
    return None if row is None else [*row][:2] == [x1, x2] and len(row) == 3 and circle(lift)


lifts.__name__ = "lift"
check(lifts, ((0.5, 2.0), True), seconds=30)

# %%
progress()
