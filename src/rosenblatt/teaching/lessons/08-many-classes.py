# %% [markdown]
# # 8. Many classes
#
# **You will be able to** extend the perceptron to any number of classes, make the joint update by hand, read a confusion
# matrix, and say what one-vs-rest gives up.
#
# **You need** lessons 2, 3, 5 and 6. **Time:** 30 minutes.
#
# With $K$ classes keep one weight row per class, and let the highest score win:
#
# $$\hat y(x) = \arg\max_k \; w_k \cdot x + b_k .$$
#
# A row is right if its own class scores **strictly** higher than every other. On a mistake, the right class gains and the highest
# wrong class $r$ loses:
#
# $$w_y \mathrel{+}= x, \quad b_y \mathrel{+}= 1, \qquad\qquad w_r \mathrel{-}= x, \quad b_r \mathrel{-}= 1 .$$

# %%
import warnings

import matplotlib.pyplot as plt
import numpy as np
from course import begin, check, progress, scene
from sklearn.datasets import load_iris

from rosenblatt import AveragedPerceptron, Perceptron
from rosenblatt.theory import certify

warnings.simplefilter("ignore")  # learners warn if they stop before an epoch without a mistake: here on purpose
begin("08-many-classes", "winner is_mistake joint_step confusion kesler")
iris = load_iris()
X, y = iris.data[:, 2:], iris.target

# %% [markdown]
# ## Iris: three regions from three scores
#
# Fisher's iris (1936), with the length and width of the petals. Each region is where one of three planes is the highest.

# %%
learner = AveragedPerceptron(random_state=0, max_iter=200, tol=None).fit(X, y)
across, up = np.meshgrid(np.linspace(0.5, 7.5, 300), np.linspace(-0.2, 2.8, 300))
region = learner.predict(np.c_[across.ravel(), up.ravel()]).reshape(across.shape)
figure, ax = plt.subplots(layout="constrained", figsize=(6, 4))
ax.contourf(across, up, region, levels=[-0.5, 0.5, 1.5, 2.5], alpha=0.25, colors=["tab:blue", "tab:orange", "tab:green"])
for k, name in enumerate(iris.target_names):
    ax.plot(*X[y == k].T, "o", markersize=4, label=name)
ax.set(xlabel="petal length (cm)", ylabel="petal width (cm)")
ax.legend()
print(f"{100 * learner.score(X, y):.1f} % right on the rows it learned from")
plt.show()

# %% [markdown]
# ## Two classes are a special case
#
# With $K = 2$ only the difference $w_1 - w_0$ matters, and the joint update moves it by $2x$: a perceptron with steps of 2.
#
# ## Kesler's construction: many classes are two classes
#
# Stack all weight rows into one long vector $v = (w_1, \dots, w_K)$. The demand "class $y$ beats class $k$" is
# $v \cdot z > 0$ for the vector $z$ with $x$ in block $y$, $-x$ in block $k$ and 0 elsewhere. So the joint perceptron *is* a perceptron on these $z$,
# and the theorem of lesson 3 holds with $\|z\|^2 = 2\|x\|^2$: at most $2R^2/\gamma^2$ mistakes. `certify` uses it too:

# %%
verdict = certify(iris.data, y)
print("all three:", verdict.kind, "because of", len(verdict.rows), "rows")
print("setosa against the others:", certify(iris.data, y == 0).kind)

# %% [markdown]
# ## One-vs-rest, and what it gives up
#
# The alternative trains $K$ separate perceptrons, "class $k$ or not". It is simple, and the $K$ parts can run on $K$ machines. But a class in the
# middle of others is not separable from the rest by a line, although the joint rule may separate it:

# %%
line = np.array([[-2.0], [-1.8], [0.0], [0.2], [2.0], [2.2]])
kinds = np.array(["left", "left", "middle", "middle", "right", "right"])
for multiclass in ("joint", "ovr"):
    made = Perceptron(multiclass=multiclass, max_iter=500, random_state=0).fit(line, kinds)
    print(f"{multiclass:6} {made.score(line, kinds):.2f}")

# %%
scene("many")

# %% [markdown]
# ## Exercises (no offset in any of them)
#
# **1.** The winner: the index of the highest score; the first one if several are equal.

# %% exercise="winner"
def winner(W, x):
    """An index."""
    ### BEGIN SOLUTION
    scores = [sum(p * q for p, q in zip(w, x)) for w in W]
    return scores.index(max(scores))
    ### END SOLUTION

# %% test="winner" points=1
check(winner, (([[1, 0], [0, 1], [1, 1]], [2, 3]), 2), (([[0], [0]], [5]), 0), (([[1], [-1]], [-2]), 1))
### BEGIN HIDDEN TESTS
check(winner, (([[1, 2], [2, 1], [2, 1]], [1, 0]), 1))
### END HIDDEN TESTS

# %% [markdown]
# **2.** Is the answer for `x` a mistake, if the right class is `y`? A tie with a wrong class is a mistake.

# %% exercise="is_mistake"
def is_mistake(W, x, y):
    """True or False."""
    ### BEGIN SOLUTION
    scores = [sum(p * q for p, q in zip(w, x)) for w in W]
    return any(score >= scores[y] for k, score in enumerate(scores) if k != y)
    ### END SOLUTION

# %% test="is_mistake" points=1
check(is_mistake, (([[1], [0]], [2], 0), False), (([[1], [0]], [2], 1), True), (([[0], [0]], [2], 0), True))
### BEGIN HIDDEN TESTS
check(is_mistake, (([[0, 0], [0, 0]], [0, 0], 1), True), (([[3], [2], [1]], [1], 0), False))
### END HIDDEN TESTS

# %% [markdown]
# **3.** One joint step. Of several highest wrong classes take the first. Return all weight rows; a right answer changes nothing.

# %% exercise="joint_step"
def joint_step(W, x, y):
    """The weight rows after the row."""
    ### BEGIN SOLUTION
    scores = [sum(p * q for p, q in zip(w, x)) for w in W]
    r = max((k for k in range(len(W)) if k != y), key=lambda k: scores[k])
    if scores[y] > scores[r]:
        return W
    sign = {y: +1, r: -1}
    return [[p + sign.get(k, 0) * q for p, q in zip(w, x)] for k, w in enumerate(W)]
    ### END SOLUTION

# %% test="joint_step" points=3
check(
    joint_step,
    (([[0, 0], [0, 0], [0, 0]], [1, 2], 1), [[-1, -2], [1, 2], [0, 0]]),
    (([[1, 0], [0, 0], [2, 0]], [1, 0], 0), [[2, 0], [0, 0], [1, 0]]),
    (([[1, 0], [0, 0]], [1, 0], 0), [[1, 0], [0, 0]]),
)
### BEGIN HIDDEN TESTS
check(joint_step, (([[0], [5], [5]], [1], 2), [[0], [4], [6]]))
### END HIDDEN TESTS

# %% [markdown]
# **4.** The confusion matrix: entry $[i][j]$ counts the rows of class $i$ that were called $j$. Classes are $0, \dots, K-1$.

# %% exercise="confusion"
def confusion(right, called, K):
    """K lists of K counts."""
    ### BEGIN SOLUTION
    table = [[0] * K for _ in range(K)]
    for i, j in zip(right, called):
        table[i][j] += 1
    return table
    ### END SOLUTION

# %% test="confusion" points=1
check(confusion, (([0, 0, 1, 2, 2], [0, 1, 1, 2, 0], 3), [[1, 1, 0], [0, 1, 0], [1, 0, 1]]))
### BEGIN HIDDEN TESTS
check(confusion, (([1], [0], 2), [[0, 0], [1, 0]]), (([], [], 1), [[0]]))
### END HIDDEN TESTS

# %% [markdown]
# **5.** Kesler's vector for the demand "class `y` beats class `k`": `K` blocks as long as `x`.

# %% exercise="kesler"
def kesler(x, y, k, K):
    """One long list."""
    ### BEGIN SOLUTION
    blocks = {y: list(x), k: [-v for v in x]}
    return [v for i in range(K) for v in blocks.get(i, [0] * len(x))]
    ### END SOLUTION

# %% test="kesler" points=2
check(kesler, (([1, 2], 0, 2, 3), [1, 2, 0, 0, -1, -2]), (([5], 1, 0, 2), [-5, 5]))
### BEGIN HIDDEN TESTS
check(kesler, (([1], 2, 1, 4), [0, -1, 1, 0]))
### END HIDDEN TESTS

# %%
progress()
