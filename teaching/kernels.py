# %% [markdown]
# # 6. Kernels
#
# The weights of a perceptron are a sum of the rows that it was mistaken on. So it never needs the weights:
# it needs products of rows. Put another function in the place of the product, and the same algorithm
# draws curves.

# %%
import numpy as np
from exercise import check

from rosenblatt import KernelPerceptron, Perceptron
from rosenblatt.textbook import dot, kernel_perceptron, kernel_score, polynomial

POINTS = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
XOR = [-1, +1, +1, -1]

# %% [markdown]
# ## Counting mistakes instead of adding rows
#
# Let `alpha_i` be how many times row i was mistaken. Then
#
#     w = sum alpha_i·y_i·x_i        score(x) = sum alpha_i·y_i·(x_i·x)
#
# The run below has one number for each row, and gives the weights of the plain perceptron.

# %%
rows, signs = [[1.0, 2.0], [2.0, 1.0], [-1.0, 1.0]], [+1, -1, +1]
alpha = kernel_perceptron(rows, signs, T=20)
weights = sum(a * s * np.array(x) for a, s, x in zip(alpha, signs, rows, strict=True))
plain = Perceptron(fit_intercept=False, shuffle=False).fit(rows, signs)
print("alpha:", alpha, "weights:", weights, "plain perceptron:", plain.coef_[0])
assert (weights == plain.coef_[0]).all()

# %% [markdown]
# ## Another product
#
# The polynomial kernel `(1 + x·z)²` is the product of longer rows: all squares and products of the values of a
# row, each with the right factor. It costs as much as the short product. XOR is separable there.

# %%
alpha = kernel_perceptron(POINTS, XOR, T=100, kernel=polynomial(2))
print("alpha:", alpha)
for x, label in zip(POINTS, XOR, strict=True):
    print(x, label, "score", kernel_score(alpha, POINTS, XOR, x, polynomial(2)))

# %% [markdown]
# ## A circle around a circle
#
# The Gaussian kernel `exp(-gamma·‖x - z‖²)` asks how close two rows are. Every mistaken row then pulls its
# neighborhood to its own side.

# %%
angle, ring = np.linspace(0, 4 * np.pi, 200), np.arange(200) % 2
X = np.column_stack([np.cos(angle), np.sin(angle)]) * (1 + ring[:, None])
learner = KernelPerceptron(kernel="rbf", gamma=1.0).fit(X, ring)
print("Gaussian kernel:", learner.stop_reason_, "after", learner.mistakes_, "mistakes")
print("rows that were ever mistaken:", len(learner.support_vectors_), "of", len(X))
assert learner.converged_

# %% [markdown]
# Of 200 rows only those that were mistaken are kept: they are the model. This is the price of a kernel. A
# score costs one kernel value for each of them.
#
# ## Exercises
#
# **1.** The score of a row by any kernel.


# %%
def score(alpha, X, y, x, kernel): ...


questions = [([1, 1, 1, 3], POINTS, XOR, x, kernel) for x in POINTS for kernel in (dot, polynomial(2))]
check(score, *((question, kernel_score(*question)) for question in questions))

# %% [markdown]
# **2.** For rows of two values, write down the longer row `phi(x)` whose plain product is `(1 + x·z)²`. The order of
# its six values is yours: the check multiplies them.


# %%
def phi(x): ...


def product_of_phis(x, z):
    """What the check compares: the plain product of the two longer rows."""
    return None if phi(x) is None else dot(phi(x), phi(z))


pairs = [([1.0, 2.0], [3.0, 4.0]), ([0.5, -1.0], [2.0, 2.0]), ([0.0, 0.0], [1.0, 5.0])]
check(product_of_phis, *((pair, polynomial(2)(*pair)) for pair in pairs))

# %% [markdown]
# **3.** The kernel perceptron itself: T epochs in the order of the rows; return `alpha`. A mistake on a row that was
# mistaken before raises its count.


# %%
def train(X, y, T, kernel): ...


check(
    train,
    ((POINTS, XOR, 100, polynomial(2)), kernel_perceptron(POINTS, XOR, 100, polynomial(2))),
    ((rows, signs, 20, dot), kernel_perceptron(rows, signs, 20, dot)),
)
