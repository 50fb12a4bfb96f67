# %% [markdown]
# # 1. A perceptron by hand
#
# You learn AND on paper, row by row, and then let the library do the same and compare every number.
#
# A row has two inputs. The perceptron has one weight for each input and an offset. Its **score** is
#
#     a = w1·x1 + w2·x2 + b
#
# It answers +1 if the score is positive and -1 if it is negative. A score of exactly 0 is no answer,
# so it counts as a mistake. The **margin** of a row is `y·a`: positive if the answer was right.
#
# The whole of learning is one sentence: **on a mistake, add `y·x` to the weights and `y` to the
# offset.** On a right answer, do nothing.

# %%
from exercise import check

from rosenblatt import Perceptron
from rosenblatt.textbook import perceptron_train
from rosenblatt.theory import trace

AND = [[0, 0], [0, 1], [1, 0], [1, 1]]
labels = [-1, -1, -1, +1]

# %% [markdown]
# ## Four rows on paper
#
# Start with zeros and take the rows in their order.
#
# | row | y | score | margin | mistake? | w after | b after |
# | --- | --- | --- | --- | --- | --- | --- |
# | (0, 0) | -1 | 0 | 0 | yes | (0, 0) | -1 |
# | (0, 1) | -1 | -1 | 1 | no | (0, 0) | -1 |
# | (1, 0) | -1 | -1 | 1 | no | (0, 0) | -1 |
# | (1, 1) | +1 | -1 | -1 | yes | (1, 1) | 0 |
#
# The library prints the same table, and goes on until a whole epoch has no mistake.

# %%
run = trace(AND, labels)
print(run.render_table(8))

# %% [markdown]
# ## Why the step helps
#
# After a mistake on `(x, y)` the new margin of the same row is
#
#     y·((w + y·x)·x + b + y) = y·(w·x + b) + ‖x‖² + 1
#
# The margin grows by `‖x‖² + 1`, whatever the weights were. One step may not be enough, but every
# step goes the right way for this row. It may go the wrong way for other rows. That is why the rows
# are gone over again and again.

# %%
learner = Perceptron(shuffle=False).fit(AND, labels)
print(learner.coef_[0], learner.intercept_[0], "after", learner.n_iter_, "epochs:", learner.stop_reason_)
print("mistakes per epoch:", learner.history_.mistakes)

# %% [markdown]
# ## The other convention
#
# Some books have the labels 0 and 1, a step function and a learning rate:
#
#     h(x) = 1 if a >= 0, else 0        w += alpha·(y - h(x))·x        b += alpha·(y - h(x))
#
# `y - h(x)` is 0 on a right answer and ±1 on a wrong one, so this is the same step, `alpha` long.
# Only a score of 0 is read in another way: here it answers 1. The learning rate changes the length
# of all weights and no answer, because the start is zero. (We take 0.5. Floats cannot hold 0.1, so a
# score that is 0 on paper would come out as 0.00000000000000003.)

# %%
book = Perceptron(shuffle=False, tie="positive", eta0=0.5).fit(AND, [0, 0, 0, 1])
same_with_one = Perceptron(shuffle=False, tie="positive", eta0=1.0).fit(AND, [0, 0, 0, 1])
print("alpha 0.5:", book.coef_[0], "alpha 1:", same_with_one.coef_[0])
assert book.history_.mistakes == same_with_one.history_.mistakes

# %% [markdown]
# ## Exercises
#
# **1.** Write one step of the second convention. `theta` has the offset last, `x` has a 1 last. Look
# at the first case before you code it: is it a mistake at all?


# %%
def step_once(theta, x, y, alpha): ...


check(
    step_once,
    (([0.5, 0.3, 0.0], [1, 2, 1], 1, 0.1), [0.5, 0.3, 0.0]),
    (([0.0, 0.0, 0.0], [0, 0, 1], 0, 0.1), [0.0, 0.0, -0.1]),
    (([0.0, 0.0, -0.1], [1, 1, 1], 1, 0.1), [0.1, 0.1, 0.0]),
)

# %% [markdown]
# **2.** By how much does the margin of a row grow if the perceptron steps on it?


# %%
def margin_gain(x): ...


check(margin_gain, (([0, 0],), 1), (([1, 1],), 3), (([3, 4],), 26))

# %% [markdown]
# **3.** Write the whole perceptron: epochs over the rows in their order, until an epoch has no
# mistake. Return the weights and the offset.


# %%
def train(X, y): ...


OR, NAND = [-1, +1, +1, +1], [+1, +1, +1, -1]
check(train, *(((AND, y), perceptron_train(list(zip(AND, y, strict=True)), 1000)) for y in (labels, OR, NAND)))
