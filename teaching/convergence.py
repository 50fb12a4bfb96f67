# %% [markdown]
# # 2. Why it ends
#
# If some plane separates the rows, the perceptron finds one after finitely many mistakes. The proof
# follows two numbers through a run: how far the weights point the right way, and how long they are.
# Here you watch both.

# %%
import math

from exercise import check

from rosenblatt import Perceptron
from rosenblatt.theory import certify, ledger, repeat_bound

AND = [[0, 0], [0, 1], [1, 0], [1, 1]]
labels = [-1, -1, -1, +1]

# %% [markdown]
# ## What is given
#
# To keep the offset out of the formulas, give every row a constant 1 as its last value. The offset is
# then one more weight.
#
# - `u` is a weight vector of length 1 that separates the rows. Its smallest margin is `gamma > 0`.
# - `R` is the length of the longest row.
#
# `certify` finds the best `u` there is, and proves it.

# %%
best = certify(AND, labels)
print(best)

# %% [markdown]
# ## Two lines of proof
#
# **Every mistake brings progress.** The step adds `y·x`, and `u` has a margin of at least `gamma` on
# every row. So after k mistakes `w·u >= k·gamma`.
#
# **No mistake makes the weights much longer.** `‖w + y·x‖² = ‖w‖² + 2·y·(w·x) + ‖x‖²`. The middle term
# is not positive, because it was a mistake. So after k mistakes `‖w‖² <= k·R²`.
#
# The ledger of a run has both lines for every mistake.

# %%
book = ledger(AND, labels)
print(book.render_table(6))
for line in book:
    assert line.progress >= line.least_progress - 1e-12
    assert line.squared_length <= line.most_squared_length

# %% [markdown]
# ## Both together
#
# A projection is not longer than the vector: `w·u <= ‖w‖`. So `k·gamma <= √k·R`, and
#
#     k <= R² / gamma²
#
# The floor grows like `k`, the ceiling like `√k`. They meet, and there the run must have ended.

# %%
gamma, R = best.gamma.lower, best.radius
for k in (1, 10, 51, 52):
    print(f"k = {k:2d}: floor {k * gamma:6.3f}   ceiling {math.sqrt(k) * R:6.3f}")
print("mistakes of this run:", len(book), "of at most", best.mistake_bound)
assert len(book) <= best.mistake_bound

# %% [markdown]
# ## Any order will do
#
# Nothing in the proof asks in which order the rows come. Another order gives another run, under the
# same ceiling.

# %%
counts = [Perceptron(random_state=seed).fit(AND, labels).mistakes_ for seed in range(20)]
print("mistakes in 20 orders:", sorted(counts))
assert max(counts) <= best.mistake_bound

# %% [markdown]
# ## Exercises
#
# **1.** The bound as a whole number. Mind that a number of mistakes is whole.


# %%
def bound(R, gamma): ...


check(bound, ((1.0, 0.5), 4), ((2.0, 0.6), 11), ((math.sqrt(3), 1 / math.sqrt(17) * 0.999), 51))

# %% [markdown]
# **2.** The same row comes again and again. How many times is it mistaken before it is right? The row
# is extended already, so there is no offset.


# %%
def times_mistaken(w, x, y): ...


questions = [([0.0, 0.0], [1.0, 2.0], +1), ([-7.0, 0.0], [1.0, 1.0], +1), ([3.0, 1.0], [1.0, 1.0], +1)]
check(times_mistaken, *((question, repeat_bound(*question)) for question in questions))

# %% [markdown]
# **3.** Prove the theorem for rows of length at most 1 as other notes do, by the angle between `w` and
# `u`: what is the least cosine after k mistakes? (Divide the floor by the ceiling.)


# %%
def least_cosine(k, gamma): ...


check(least_cosine, ((4, 0.25), 0.5), ((9, 0.1), 0.3), ((1, 0.2), 0.2))
