# %% [markdown]
# # 2. The update, by hand
#
# **You will be able to** run the perceptron on paper, explain why its one step helps, translate between the two
# conventions of textbooks, and write the whole algorithm in ten lines.
#
# **You need** lesson 1 and a pencil. **Time:** 35 minutes.
#
# Take labels $y \in \{-1, +1\}$. The **margin** of a row is $m = y\,(w \cdot x + b)$: positive if the answer is right.
# To predict, a score of 0 counts as +1 (lesson 1). To learn, it is a mistake for either label, because a margin of 0 is
# not on the right side. So a **mistake** is a margin $\le 0$, and all of learning is one sentence:
#
# > On a mistake, add $y\,x$ to the weights and $y$ to the offset. On a right answer, do nothing.

# %%
import matplotlib.pyplot as plt
from course import begin, check, progress, scene

from rosenblatt import Perceptron
from rosenblatt.theory import trace

begin("02-by-hand", "step_once margin_gain train repeats")
AND = [[0, 0], [0, 1], [1, 0], [1, 1]]
labels = [-1, -1, -1, +1]

# %% [markdown]
# ## Four rows on paper
#
# Start with zeros and visit the rows in their order. Do it yourself before you look:
#
# | row | $y$ | score | margin | mistake? | $w$ after | $b$ after |
# | --- | --- | --- | --- | --- | --- | --- |
# | (0, 0) | -1 | 0 | 0 | yes | (0, 0) | -1 |
# | (0, 1) | -1 | -1 | 1 | no | (0, 0) | -1 |
# | (1, 0) | -1 | -1 | 1 | no | (0, 0) | -1 |
# | (1, 1) | +1 | -1 | -1 | yes | (1, 1) | 0 |
#
# The library prints the same table and continues until a whole **epoch** (one pass over the rows) has no mistake.

# %%
run = trace(AND, labels)
print(run.render_table(8))

# %% [markdown]
# ## Why the step helps
#
# After a mistake on $(x, y)$ the new margin of the same row is
#
# $$y\,\big((w + y x) \cdot x + b + y\big) \;=\; \underbrace{y\,(w \cdot x + b)}_{\text{old margin}} + \|x\|^2 + 1 .$$
#
# The margin grows by $\|x\|^2 + 1$, whatever the weights were. One step may not be enough, but every step goes
# the right way *for this row*. It may go the wrong way for other rows, which is why the algorithm visits the rows
# again and again. That this ends is a theorem, and lesson 3 proves it.

# %%
learner = Perceptron(shuffle=False).fit(AND, labels)
print(learner.coef_[0], learner.intercept_[0], "after", learner.n_iter_, "epochs:", learner.stop_reason_)

figure, ax = plt.subplots(layout="constrained", figsize=(6, 3))
weights = [step.after[0] for step in run.steps]
for j, name in enumerate(("w1", "w2", "b")):
    ax.step(range(1, len(weights) + 1), [w[j] for w in weights], where="post", label=name)
ax.set(xlabel="row visited", title="The weights while AND is learned")
ax.legend()
plt.show()

# %% [markdown]
# Step through AND with the code beside the picture. The marked lines are the lines that the step ran.

# %%
scene("#data=and&learner=perceptron&code=yes")

# %% [markdown]
# ## The other convention
#
# Many books have labels 0 and 1, a step function and a learning rate $\alpha$:
#
# $$h(x) = \begin{cases} 1 & \theta \cdot x \ge 0 \\ 0 & \theta \cdot x < 0 \end{cases} \qquad
#   \theta_j \leftarrow \theta_j + \alpha\,\big(y - h(x)\big)\,x_j$$
#
# $y - h(x)$ is 0 on a right answer and $\pm 1$ on a wrong one: the same step, times $\alpha$. One thing
# differs: here a score of 0 answers 1 while learning too, so it is a mistake only if $y = 0$. Because the start is zero,
# $\alpha$ scales all weights and changes no answer, on paper. A computer rounds: 0.1 is not exact in binary, and a score
# that is 0 on paper may be -0.00000000000000003. To compare with paper, use 1, 0.5 or 0.25.
#
# **A trap.** Take $\theta = (0.5, 0.3)$, $x = (1, 2)$, $y = 1$, $\alpha = 0.1$. Some lecture notes update this point to
# $(0.6, 0.5)$. But $\theta \cdot x = 1.1 \ge 0$, so $h(x) = 1 = y$, and nothing happens. Always compute the score first.

# %% [markdown]
# ## Exercises
#
# **1.** One step of the second convention. `theta` and `x` are lists; `x` already ends with the constant 1.

# %% exercise="step_once"
def step_once(theta, x, y, alpha):
    """theta after one row."""
    ### BEGIN SOLUTION
    h = 1 if sum(t * v for t, v in zip(theta, x)) >= 0 else 0
    return [t + alpha * (y - h) * v for t, v in zip(theta, x)]
    ### END SOLUTION

# %% test="step_once" points=2
check(
    step_once,
    (([0.5, 0.3, 0.0], [1, 2, 1], 1, 0.1), [0.5, 0.3, 0.0]),
    (([0.0, 0.0, 0.0], [0, 0, 1], 0, 0.1), [0.0, 0.0, -0.1]),
    (([0.0, 0.0, -0.1], [1, 1, 1], 1, 0.1), [0.1, 0.1, 0.0]),
)
### BEGIN HIDDEN TESTS
check(step_once, (([-0.5, -0.3], [-1, -2], 0, 0.1), [-0.4, -0.1]), (([1.0], [2.0], 0, 0.5), [0.0]))
### END HIDDEN TESTS

# %% [markdown]
# **2.** By how much does the margin of a row grow if the perceptron (with offset, step 1) steps on it?

# %% exercise="margin_gain"
def margin_gain(x):
    """A number."""
    ### BEGIN SOLUTION
    return sum(v * v for v in x) + 1
    ### END SOLUTION

# %% test="margin_gain" points=1
check(margin_gain, (([0, 0],), 1), (([1, 1],), 3), (([3, 4],), 26))
### BEGIN HIDDEN TESTS
check(margin_gain, (([-2],), 5), (([0.5, 0.5, 0.5, 0.5],), 2))
### END HIDDEN TESTS

# %% [markdown]
# **3.** The whole perceptron: start from zeros, visit the rows in their order, stop after an epoch without a
# mistake. Return the weights (a list) and the offset.

# %% exercise="train"
def train(X, y):
    """(w, b)"""
    ### BEGIN SOLUTION
    w, b = [0] * len(X[0]), 0
    mistakes = 1
    while mistakes:
        mistakes = 0
        for x_i, y_i in zip(X, y):
            if y_i * (sum(w_j * x_j for w_j, x_j in zip(w, x_i)) + b) <= 0:
                w = [w_j + y_i * x_j for w_j, x_j in zip(w, x_i)]
                b += y_i
                mistakes += 1
    return w, b
    ### END SOLUTION

# %% test="train" points=4
check(
    train,
    ((AND, [-1, -1, -1, +1]), ([3, 2], -4)),
    ((AND, [-1, +1, +1, +1]), ([2, 2], -1)),
    (([[1], [3]], [-1, +1]), ([2], -4)),
)
### BEGIN HIDDEN TESTS
check(train, ((AND, [+1, +1, +1, -1]), ([-3, -2], 4)), (([[2, 1], [-1, -1]], [+1, -1]), ([2, 1], 1)))
### END HIDDEN TESTS

# %% [markdown]
# **4.** The same row comes again and again, nothing else. How many times is it mistaken before it is right?
# The perceptron starts with a score that gives the row the margin `m`, and each update adds `gain`. Mind that a
# margin of 0 is still a mistake.

# %% exercise="repeats"
def repeats(m, gain):
    """A whole number."""
    ### BEGIN SOLUTION
    return 0 if m > 0 else int(-m // gain) + 1
    ### END SOLUTION

# %% test="repeats" points=2
check(repeats, ((-5, 2), 3), ((0, 2), 1), ((1, 2), 0), ((-4, 2), 3))
### BEGIN HIDDEN TESTS
check(repeats, ((-3.5, 1), 4), ((0.5, 9), 0), ((-100, 26), 4))
### END HIDDEN TESTS

# %%
progress()
