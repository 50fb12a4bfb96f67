# %% [markdown]
# # 4. XOR, and how to prove that it cannot be done
#
# No line separates XOR. A run that does not end proves nothing: perhaps it was stopped too early.
# This page has a proof that you can check with a pencil.

# %%
from exercise import check

from rosenblatt import Perceptron
from rosenblatt.theory import certify

POINTS = [[0, 0], [0, 1], [1, 0], [1, 1]]
XOR = [-1, +1, +1, -1]

# %% [markdown]
# ## The perceptron goes round in circles
#
# The weights come back to where they were, so it would go on for ever. It is stopped, and says why.

# %%
learner = Perceptron(shuffle=False).fit(POINTS, XOR)
print(learner.stop_reason_, "after", learner.n_iter_, "epochs; mistakes:", learner.history_.mistakes[:8], "…")
assert not learner.converged_

# %% [markdown]
# ## Signed rows
#
# Extend each row by 1, for the offset, and multiply it by its label. Weights `v = (w1, w2, b)` separate
# the rows exactly if they have a positive product with every signed row:
#
# | row | label | signed row |
# | --- | --- | --- |
# | (0, 0) | -1 | (0, 0, -1) |
# | (0, 1) | +1 | (0, 1, 1) |
# | (1, 0) | +1 | (1, 0, 1) |
# | (1, 1) | -1 | (-1, -1, -1) |
#
# Add the four signed rows: the sum is (0, 0, 0). If `v` had a positive product with each of them, it
# would have a positive product with their sum. But the sum is 0, and its product with anything is 0.
# So no such `v` exists. That is the whole proof.

# %%
proof = certify(POINTS, XOR)
print(proof)

# %% [markdown]
# ## Exactly one of two things is true
#
# Gordan's theorem (1873): either some weights have a positive product with every signed row, or some
# positive combination of signed rows is 0. Never both, never neither. So every question has a proof
# of one kind or the other, and anyone can check it, with integers, without trusting who found it.

# %%
print("XOR, checked:", proof.check(POINTS, XOR))
print("the proof of XOR, held against AND:", proof.check(POINTS, [-1, -1, -1, +1]))
assert proof.check(POINTS, XOR)

# %% [markdown]
# ## A way out: one more feature
#
# Give every point its product `x1·x2` as a third value. In three dimensions a plane separates XOR, and
# the perceptron finds it.

# %%
LIFTED = [[a, b, a * b] for a, b in POINTS]
lifted = Perceptron(shuffle=False).fit(LIFTED, XOR)
print(lifted.stop_reason_, "with weights", lifted.coef_[0], "and offset", lifted.intercept_[0])
assert lifted.converged_
print(certify(LIFTED, XOR))

# %% [markdown]
# ## Exercises
#
# **1.** Make the signed rows of any data.


# %%
def signed(X, y): ...


check(
    signed,
    ((POINTS, XOR), [[0, 0, -1], [0, 1, 1], [1, 0, 1], [-1, -1, -1]]),
    (([[2, 3]], [-1]), [[-2, -3, -1]]),
)

# %% [markdown]
# **2.** Check a proof: `weights` are whole numbers, one for each row. It is a proof if none is negative,
# one is positive, and the signed rows, so weighted, sum to zero.


# %%
def is_proof(weights, X, y): ...


check(
    is_proof,
    (([1, 1, 1, 1], POINTS, XOR), True),
    (([1, 1, 1, 2], POINTS, XOR), False),
    (([0, 0, 0, 0], POINTS, XOR), False),
    (([1, -1, -1, 1], POINTS, [-1, -1, -1, -1]), False),
    (([1, 2, 1], [[0], [1], [2]], [+1, -1, +1]), True),
)

# %% [markdown]
# **3.** Of the 16 ways to label the four points, how many are separable by a line? Labels all alike count:
# a line beside the points has all of them on one side. Solve it on paper or let `certify` help.


# %%
def separable_labellings(): ...


check(separable_labellings, ((), 14))
