# %% [markdown]
# # 9. Kernels and feature maps
#
# **You will be able to** bend a line by mapping rows to new features, replace the map by a kernel, write the kernel
# perceptron, and say what each costs.
#
# **You need** lessons 2, 5 and 6. **Time:** 40 minutes.
#
# Lesson 5 separated XOR with one product. Why not add *all* products? With $d$ features there are about $d^2/2$ of degree 2 and $d^3/6$
# of degree 3. The kernel trick computes with all of them without writing down any.

# %%
import warnings

import matplotlib.pyplot as plt
import numpy as np
from course import begin, check, progress, scene
from sklearn.datasets import make_moons

from rosenblatt import AveragedPerceptron, KernelPerceptron

warnings.simplefilter("ignore")  # learners warn if they stop before an epoch without a mistake: here on purpose
begin("09-kernels", "quadratic kernel rbf dual_score kernel_perceptron")
X, y = make_moons(200, noise=0.15, random_state=0)

# %% [markdown]
# ## The trick
#
# The weights of a perceptron are a sum of the rows it was mistaken on: $w = \sum_i \alpha_i y_i x_i$, where $\alpha_i$ counts the mistakes on
# row $i$. So its score needs only products of rows:
#
# $$w \cdot x = \sum_i \alpha_i\, y_i\, (x_i \cdot x).$$
#
# If a map $\varphi$ comes first, it needs only $\varphi(x_i) \cdot \varphi(x) =: k(x_i, x)$. For some maps this **kernel** is easy to compute:
#
# | kernel | $k(x, z)$ | what $\varphi$ holds |
# | --- | --- | --- |
# | linear | $x \cdot z$ | the features |
# | polynomial | $(1 + x \cdot z)^p$ | all products of up to $p$ features |
# | RBF | $e^{-g \|x - z\|^2}$ | infinitely many features |

# %%
across, up = np.meshgrid(np.linspace(-1.6, 2.6, 150), np.linspace(-1.2, 1.7, 150))
grid = np.c_[across.ravel(), up.ravel()]
figure, axes = plt.subplots(1, 3, layout="constrained", figsize=(11, 3.3), sharex=True, sharey=True)
learners = {
    "a line": AveragedPerceptron(max_iter=50, random_state=0),
    "polynomial, degree 3": KernelPerceptron(kernel="poly", degree=3, coef0=1, max_iter=50, random_state=0),
    "RBF": KernelPerceptron(kernel="rbf", gamma=2.0, max_iter=50, random_state=0),
}
for ax, (name, learner) in zip(axes, learners.items()):
    learner.fit(X, y)
    ax.contourf(across, up, learner.predict(grid).reshape(across.shape), levels=1, alpha=0.25, colors=["tab:orange", "tab:blue"])
    for k, color in enumerate(("tab:orange", "tab:blue")):
        ax.plot(*X[y == k].T, "o", markersize=3, color=color)
    ax.set(title=f"{name}: {100 * learner.score(X, y):.0f} %")
plt.show()

# %% [markdown]
# ## The price
#
# A linear score costs $d$ products. A kernel score costs one kernel per **support row** (a row with $\alpha_i > 0$), and their number grows with the
# mistakes. That is why kernels shine on thousands of rows and explicit feature maps on millions.
#
# **Random features** (Rahimi and Recht, 2007) are the compromise: for the RBF kernel, draw $D$ random directions $\omega_j \sim N(0, 2g)$ and phases
# $\beta_j$, and map $x \mapsto \sqrt{2/D}\,\cos(\omega_j \cdot x + \beta_j)$. The product of two such rows is close to the kernel, and everything is linear again:

# %%
rng = np.random.default_rng(0)
figure, ax = plt.subplots(layout="constrained", figsize=(6, 3))
sizes = [2, 5, 10, 20, 50, 100, 300]
scores = []
for D in sizes:
    omega, beta = rng.normal(scale=np.sqrt(2 * 2.0), size=(2, D)), rng.uniform(0, 2 * np.pi, D)
    lifted = np.sqrt(2 / D) * np.cos(X @ omega + beta)
    scores.append(AveragedPerceptron(max_iter=50, random_state=0).fit(lifted, y).score(lifted, y))
ax.semilogx(sizes, scores, "o-", label="a line on random features")
ax.axhline(learners["RBF"].score(X, y), linestyle="--", color="gray", label="RBF kernel")
ax.set(xlabel="number of random features", ylabel="share of rows right")
ax.legend()
plt.show()

# %%
scene("kernel")

# %% [markdown]
# ## Exercises
#
# **1.** A feature map for two features whose product is $(1 + x \cdot z)^2$: return $[1, \sqrt2 x_1, \sqrt2 x_2, x_1^2, x_2^2, \sqrt2 x_1 x_2]$ in
# this order.

# %% exercise="quadratic"
def quadratic(x):
    """Six numbers."""
    ### BEGIN SOLUTION
    a, b = x
    r = 2**0.5
    return [1, r * a, r * b, a * a, b * b, r * a * b]
    ### END SOLUTION

# %% test="quadratic" points=1
check(quadratic, (([1, 0],), [1, 2**0.5, 0, 1, 0, 0]), (([2, 3],), [1, 2.8284271247, 4.2426406871, 4, 9, 8.4852813742]))
### BEGIN HIDDEN TESTS
check(quadratic, (([0, 0],), [1, 0, 0, 0, 0, 0]), (([-1, 1],), [1, -(2**0.5), 2**0.5, 1, 1, -(2**0.5)]))
### END HIDDEN TESTS

# %% [markdown]
# **2.** The same number without the map: the polynomial kernel of degree `p`.

# %% exercise="kernel"
def kernel(x, z, p):
    """(1 + x·z)^p"""
    ### BEGIN SOLUTION
    return (1 + sum(a * b for a, b in zip(x, z))) ** p
    ### END SOLUTION

# %% test="kernel" points=1
check(kernel, (([1, 0], [1, 1], 2), 4), (([2, 3], [1, -1], 2), 0), (([1], [1], 3), 8))
### BEGIN HIDDEN TESTS
check(kernel, (([0.5, 0.5], [2, 2], 1), 3))
### END HIDDEN TESTS

# %% [markdown]
# **3.** The RBF kernel. Subtract first: it must also be right for rows far from the origin.

# %% exercise="rbf"
def rbf(x, z, g):
    """exp(-g ‖x - z‖²)"""
    ### BEGIN SOLUTION
    from math import exp

    return exp(-g * sum((a - b) ** 2 for a, b in zip(x, z)))
    ### END SOLUTION

# %% test="rbf" points=1
check(rbf, (([1, 2], [1, 2], 5), 1.0), (([0, 0], [1, 0], 1), 0.36787944117144233))
### BEGIN HIDDEN TESTS
check(rbf, (([1e9, 0], [1e9 + 1, 0], 0.5), 0.6065306597126334))
### END HIDDEN TESTS

# %% [markdown]
# **4.** The score of a row from the counts `alpha`, for a kernel `k(x, z)` given as a function.

# %% exercise="dual_score"
def dual_score(alpha, X, y, k, x):
    """sum alpha_i y_i k(x_i, x)"""
    ### BEGIN SOLUTION
    return sum(a * y_i * k(x_i, x) for a, x_i, y_i in zip(alpha, X, y))
    ### END SOLUTION

# %% test="dual_score" points=2
def dot(x, z):
    return sum(a * b for a, b in zip(x, z))


check(dual_score, (([1, 2], [[1, 0], [0, 1]], [+1, -1], dot, [3, 4]), -5), (([0, 0], [[1], [2]], [1, 1], dot, [9]), 0))
### BEGIN HIDDEN TESTS
check(dual_score, (([2], [[1, 1]], [-1], lambda x, z: 7, [0, 0]), -14))
### END HIDDEN TESTS

# %% [markdown]
# **5.** The kernel perceptron: `epochs` passes in the order of the rows, $\alpha_i \mathrel{+}= 1$ on a mistake (a score of 0 is one). Return
# `alpha`.

# %% exercise="kernel_perceptron"
def kernel_perceptron(X, y, k, epochs):
    """A count per row."""
    ### BEGIN SOLUTION
    alpha = [0] * len(X)
    for _ in range(epochs):
        for i, (x_i, y_i) in enumerate(zip(X, y)):
            if y_i * sum(a * y_j * k(x_j, x_i) for a, x_j, y_j in zip(alpha, X, y)) <= 0:
                alpha[i] += 1
    return alpha
    ### END SOLUTION

# %% test="kernel_perceptron" points=3
def dot(x, z):
    return sum(a * b for a, b in zip(x, z))


def square(x, z):
    return (1 + sum(a * b for a, b in zip(x, z))) ** 2


XOR_X, XOR_Y = [[-1, -1], [-1, 1], [1, -1], [1, 1]], [-1, 1, 1, -1]
check(kernel_perceptron, ((XOR_X, XOR_Y, square, 5), [1, 1, 1, 1]), (([[1], [2]], [1, -1], dot, 1), [1, 1]))
### BEGIN HIDDEN TESTS
check(kernel_perceptron, (([[1], [-1]], [1, -1], dot, 10), [1, 0]))
### END HIDDEN TESTS

# %%
progress()
