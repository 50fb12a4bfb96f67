# %% [markdown]
# # 1. A neuron and a line
#
# **You will be able to** compute the score of a neuron, read its weights as a line in the plane, say how far
# a point is from that line, and build logic gates from single neurons.
#
# **You need** Python functions and the dot product. **Time:** 25 minutes.
#
# In 1958 Frank Rosenblatt described a machine that learns to tell things apart by being corrected. Its
# heart is one artificial neuron. It receives numbers $x_1, \dots, x_d$, gives each a **weight** $w_j$, adds an
# **offset** $b$, and fires if the sum is large enough:
#
# $$a = w_1 x_1 + \dots + w_d x_d + b = w \cdot x + b, \qquad
#   h(x) = \begin{cases} +1 & a \ge 0 \\ -1 & a < 0 \end{cases}$$
#
# The number $a$ is the **score**. That is the whole model: multiply, add, look at the sign. A score of 0 also fires.

# %%
import matplotlib.pyplot as plt
from course import begin, check, progress, scene

from rosenblatt.plot import boundary

begin("01-neuron", "score predict distance or_gate rescale")
CORNERS = [[0, 0], [0, 1], [1, 0], [1, 1]]

# %% [markdown]
# ## The line behind the sign
#
# The neuron changes its mind where the score is 0. In the plane, $w_1 x_1 + w_2 x_2 + b = 0$ is a line. Here is
# the neuron with $w = (1, 1)$ and $b = -1.5$. It fires only if both inputs are 1: it computes AND.

# %%
boundary(CORNERS, [-1, -1, -1, +1], [1, 1], -1.5)

# %% [markdown]
# Three facts are worth more than any formula:
#
# 1. **$w$ is perpendicular to the line** and points to the side on which the neuron fires. (Two points $p, q$
#    on the line have $w \cdot p = w \cdot q = -b$, so $w \cdot (p - q) = 0$.)
# 2. **$b$ shifts the line** and does not turn it.
# 3. **The length of $w$ does not matter** for the decision: $(w, b)$ and $(7w, 7b)$ have the same sign everywhere.
#
# ## How far from the line?
#
# Walk from $x$ straight towards the line, along $-w/\|w\|$ if $a > 0$ (the other way if $a < 0$), for a distance $t$.
# The score falls (or rises) by $t\,\|w\|$. It is 0 after $t = |a| / \|w\|$, so the signed distance of $x$ from the line is
#
# $$\frac{w \cdot x + b}{\|w\|}.$$
#
# The score alone is *not* a distance: double $w$ and $b$, and every score doubles while no point moves.

# %%
figure, axes = plt.subplots(1, 3, layout="constrained", figsize=(10, 3), sharex=True, sharey=True)
for ax, (w, b) in zip(axes, [((1, 1), -1.5), ((1, 1), -0.5), ((-1, -1), 1.5)]):
    for x1, x2 in CORNERS:
        fires = w[0] * x1 + w[1] * x2 + b >= 0
        ax.plot(x1, x2, "o", markersize=12, color="tab:blue" if fires else "tab:orange")
    ax.plot([-0.5, 1.5], [(-b - w[0] * x) / w[1] for x in (-0.5, 1.5)], "k-")
    ax.set(title=f"w = {w}, b = {b}", xlim=(-0.5, 1.5), ylim=(-0.5, 1.5), aspect="equal")
plt.show()

# %% [markdown]
# Blue corners fire. The three neurons are AND, OR and NAND. In the playground you can watch a neuron guess:

# %%
scene("guess")

# %% [markdown]
# ## Exercises
#
# **1.** Write the score.

# %% exercise="score"
def score(w, x, b):
    """w·x + b for two lists of the same length."""
    ### BEGIN SOLUTION
    return sum(w_j * x_j for w_j, x_j in zip(w, x)) + b
    ### END SOLUTION

# %% test="score" points=1
check(score, (([1, 1], [0, 1], -1.5), -0.5), (([2, -1, 0.5], [3, 4, 2], 0), 3.0), (([0], [5], 7), 7))
### BEGIN HIDDEN TESTS
check(score, (([0.1, 0.2], [10, 20], -5), 0.0), (([], [], 2), 2))
### END HIDDEN TESTS

# %% [markdown]
# **2.** Write the decision: +1 if the score is at least 0, else -1.

# %% exercise="predict"
def predict(w, x, b):
    """+1 or -1."""
    ### BEGIN SOLUTION
    return 1 if sum(w_j * x_j for w_j, x_j in zip(w, x)) + b >= 0 else -1
    ### END SOLUTION

# %% test="predict" points=1
check(predict, (([1, 1], [1, 1], -1.5), +1), (([1, 1], [1, 0], -1.5), -1), (([1, 1], [1, 0], -1), +1))
### BEGIN HIDDEN TESTS
check(predict, (([-3], [2], 5), -1), (([-3], [2], 6), +1))
### END HIDDEN TESTS

# %% [markdown]
# **3.** Write the signed distance of a point from the line (in any dimension).

# %% exercise="distance"
def distance(w, x, b):
    """(w·x + b) / ‖w‖"""
    ### BEGIN SOLUTION
    length = sum(w_j**2 for w_j in w) ** 0.5
    return (sum(w_j * x_j for w_j, x_j in zip(w, x)) + b) / length
    ### END SOLUTION

# %% test="distance" points=2
check(distance, (([3, 4], [0, 0], 0), 0.0), (([3, 4], [3, 4], 0), 5.0), (([1, 1], [1, 1], -1.5), 0.35355339059327))
### BEGIN HIDDEN TESTS
check(distance, (([30, 40], [3, 4], 0), 5.0), (([0, -2], [7, 3], 1), -2.5))
### END HIDDEN TESTS

# %% [markdown]
# **4.** Find weights and an offset for OR: +1 unless both inputs are 0. Return `(w1, w2, b)`. Many answers
# are right.

# %% exercise="or_gate"
def or_gate():
    """(w1, w2, b)"""
    ### BEGIN SOLUTION
    return 1, 1, -0.5
    ### END SOLUTION

# %% test="or_gate" points=1
def is_or(found):
    """three numbers whose neuron answers -1, +1, +1, +1"""
    w1, w2, b = found
    return [w1 * x1 + w2 * x2 + b >= 0 for x1, x2 in CORNERS] == [False, True, True, True]


check(or_gate, ((), is_or))

# %% [markdown]
# **5.** Rescale a neuron so that its score *is* the distance: divide weights and offset by the right number.
# Return `(w, b)`, with `w` a list.

# %% exercise="rescale"
def rescale(w, b):
    """The same line, with ‖w‖ = 1."""
    ### BEGIN SOLUTION
    length = sum(w_j**2 for w_j in w) ** 0.5
    return [w_j / length for w_j in w], b / length
    ### END SOLUTION

# %% test="rescale" points=2
check(rescale, (([3, 4], 10), ([0.6, 0.8], 2.0)), (([0, -2], 1), ([0, -1], 0.5)))
### BEGIN HIDDEN TESTS
check(rescale, (([1, 0, 0], 5), ([1, 0, 0], 5)), (([1, 1, 1, 1], -2), ([0.5] * 4, -1)))
### END HIDDEN TESTS

# %%
progress()
