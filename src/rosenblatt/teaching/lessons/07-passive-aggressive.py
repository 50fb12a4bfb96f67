# %% [markdown]
# # 7. Passive-aggressive learning and MIRA
#
# **You will be able to** derive the passive-aggressive step as a projection, limit it with $C$, and relate it to MIRA and to
# support vector machines.
#
# **You need** lessons 2 and 4; constrained minimization helps. **Time:** 35 minutes.
#
# The perceptron's step has one length, whether the answer was wrong by a hair or by a mile, and a row that is right by a hair
# is left alone. Crammer and colleagues (2006) ask for more: *after the step, this row must have a margin of at least 1, and the
# weights must change as little as possible.*
#
# $$w_{\text{new}} = \arg\min_{v} \tfrac12 \|v - w\|^2 \quad\text{such that}\quad y\,(v \cdot x) \ge 1 .$$
#
# If the margin is already 1, nothing changes: **passive**. Otherwise the constraint is met exactly: **aggressive**.

# %%
import warnings

import matplotlib.pyplot as plt
import numpy as np
from course import begin, check, progress, scene

from rosenblatt import PassiveAggressive, Perceptron

warnings.simplefilter("ignore")  # learners warn if they stop before an epoch without a mistake: here on purpose
begin("07-passive-aggressive", "hinge pa_step pa1_step mira_step")

# %% [markdown]
# ## The derivation, in a picture and three lines
#
# The allowed $v$ form a half-space, and its border is perpendicular to $x$. The nearest point of a half-space is reached along its normal, so
# $v = w + \tau\,y\,x$. Put this into $y\,(v \cdot x) = 1$:
#
# $$y\,(w \cdot x) + \tau \|x\|^2 = 1 \qquad\Longrightarrow\qquad \tau = \frac{1 - y\,(w \cdot x)}{\|x\|^2} = \frac{\ell}{\|x\|^2},
# \qquad \ell = \max(0,\, 1 - y\,w \cdot x).$$
#
# $\ell$ is the **hinge loss**. With an offset, $\|x\|^2$ becomes $\|x\|^2 + 1$: the offset is the weight of a constant 1.

# %%
x, label, w = np.array([1.0, 2.0]), +1, np.array([1.5, -1.0])
tau = max(0, 1 - label * w @ x) / (x @ x)
v = w + tau * label * x
figure, ax = plt.subplots(layout="constrained", figsize=(5, 5))
t = np.linspace(-1, 3, 2)
ax.plot(t, (1 - t * x[0]) / x[1], "k-", label="margin exactly 1")
ax.fill_between(t, (1 - t * x[0]) / x[1], 3, alpha=0.15, label="allowed weights")
ax.annotate("", v, w, arrowprops={"arrowstyle": "->", "linewidth": 2})
ax.plot(*w, "o", color="tab:red", label="w before")
ax.plot(*v, "o", color="tab:green", label="w after")
ax.plot(*(w + label * x), "x", color="gray", label="the perceptron's step")
ax.set(xlim=(-1, 3), ylim=(-2, 3), aspect="equal", xlabel="$w_1$", ylabel="$w_2$", title="A projection in the space of weights")
ax.legend(loc="upper left")
plt.show()

# %% [markdown]
# ## Noise, and the parameter $C$
#
# A single wrong label can demand a huge step. The softer versions charge for the violation instead of forbidding it:
#
# $$\text{PA-I:}\quad \tau = \min\!\Big(C,\; \frac{\ell}{\|x\|^2}\Big) \qquad\qquad
#   \text{PA-II:}\quad \tau = \frac{\ell}{\|x\|^2 + \frac{1}{2C}} .$$
#
# Small $C$: cautious, good with noise. $C \to \infty$: PA. Try it on rows of which one label in ten is wrong:

# %%
rng = np.random.default_rng(1)
X = rng.normal(size=(2000, 20))
y = np.where(X @ rng.normal(size=20) > 0, 1, -1)
y_noisy = np.where(rng.random(2000) < 0.1, -y, y)
train, test = slice(0, 1000), slice(1000, None)
Cs = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 10]
scores = [PassiveAggressive(variant="PA-I", C=C, max_iter=5, tol=None, random_state=0)
          .fit(X[train], y_noisy[train]).score(X[test], y[test]) for C in Cs]  # fmt: skip
plain = Perceptron(max_iter=5, tol=None, random_state=0).fit(X[train], y_noisy[train]).score(X[test], y[test])
figure, ax = plt.subplots(layout="constrained", figsize=(6, 3))
ax.semilogx(Cs, scores, "o-", label="PA-I")
ax.axhline(plain, linestyle="--", color="gray", label="perceptron")
ax.set(xlabel="C", ylabel="accuracy on clean test labels")
ax.legend()
plt.show()

# %% [markdown]
# ## MIRA
#
# With several classes, the **margin infused relaxed algorithm** asks that the right class beat a wrong one by a margin. With one weight row per class
# and the strongest wrong class $k$, the step changes two rows, $w_y \mathrel{+}= \tau x$ and $w_k \mathrel{-}= \tau x$. The difference of their scores grows by
# $2\tau\|x\|^2$, hence the 2:
#
# $$\tau = \min\!\Big(C,\; \frac{\max(0,\, 1 - (w_y - w_k) \cdot x)}{2\,\|x\|^2}\Big).$$
#
# Parsers and translation systems were trained this way for a decade.

# %%
scene("#data=noise&learner=perceptron&learner=PA-I,C:0.1")

# %% [markdown]
# ## Exercises (no offset in any of them)
#
# **1.** The hinge loss of one row.

# %% exercise="hinge"
def hinge(w, x, y):
    """max(0, 1 - y w·x)"""
    ### BEGIN SOLUTION
    return max(0, 1 - y * sum(p * q for p, q in zip(w, x)))
    ### END SOLUTION

# %% test="hinge" points=1
check(hinge, (([0, 0], [1, 2], +1), 1), (([1, 0], [2, 5], +1), 0), (([1, 0], [2, 5], -1), 3), (([0.5], [1], +1), 0.5))
### BEGIN HIDDEN TESTS
check(hinge, (([1, 1], [0.25, 0.25], +1), 0.5), (([2], [2], +1), 0))
### END HIDDEN TESTS

# %% [markdown]
# **2.** One step of PA: the new weights. A row of zeros changes nothing.

# %% exercise="pa_step"
def pa_step(w, x, y):
    """The weights after the row."""
    ### BEGIN SOLUTION
    q = sum(v * v for v in x)
    loss = max(0, 1 - y * sum(p * v for p, v in zip(w, x)))
    tau = loss / q if q else 0
    return [p + tau * y * v for p, v in zip(w, x)]
    ### END SOLUTION

# %% test="pa_step" points=2
check(
    pa_step,
    (([0, 0], [2, 0], +1), [0.5, 0]),
    (([1, 0], [2, 0], +1), [1, 0]),
    (([1.5, -1.0], [1, 2], +1), [1.8, -0.4]),
    (([3, 3], [0, 0], -1), [3, 3]),
)
### BEGIN HIDDEN TESTS
check(pa_step, (([1, 1], [1, -1], -1), [0.5, 1.5]))
### END HIDDEN TESTS

# %% [markdown]
# **3.** One step of PA-I. A row of zeros changes nothing here either.

# %% exercise="pa1_step"
def pa1_step(w, x, y, C):
    """The weights after the row."""
    ### BEGIN SOLUTION
    q = sum(v * v for v in x)
    loss = max(0, 1 - y * sum(p * v for p, v in zip(w, x)))
    tau = min(C, loss / q) if q else 0
    return [p + tau * y * v for p, v in zip(w, x)]
    ### END SOLUTION

# %% test="pa1_step" points=2
check(pa1_step, (([0, 0], [2, 0], +1, 0.1), [0.2, 0]), (([0, 0], [2, 0], +1, 9), [0.5, 0]))
### BEGIN HIDDEN TESTS
check(pa1_step, (([0], [0], +1, 1), [0]), (([1], [1], -1, 0.5), [0.5]))
### END HIDDEN TESTS

# %% [markdown]
# **4.** One step of MIRA with $C = \infty$. `W` is a list of weight rows, `y` the index of the right class. On equal scores, the first wrong
# class is the strongest. Return all weight rows.

# %% exercise="mira_step"
def mira_step(W, x, y):
    """The weight rows after the row."""
    ### BEGIN SOLUTION
    scores = [sum(p * v for p, v in zip(w, x)) for w in W]
    k = max((k for k in range(len(W)) if k != y), key=lambda k: scores[k])
    q = 2 * sum(v * v for v in x)
    tau = max(0, 1 - (scores[y] - scores[k])) / q if q else 0
    signs = {y: tau, k: -tau}
    return [[p + signs.get(i, 0) * v for p, v in zip(w, x)] for i, w in enumerate(W)]
    ### END SOLUTION

# %% test="mira_step" points=3
check(
    mira_step,
    (([[0, 0], [0, 0], [0, 0]], [1, 1], 0), [[0.25, 0.25], [-0.25, -0.25], [0, 0]]),
    (([[1, 0], [0, 0]], [1, 0], 0), [[1, 0], [0, 0]]),
)
### BEGIN HIDDEN TESTS
check(mira_step, (([[0], [2], [0]], [1], 2), [[0], [0.5], [1.5]]))
### END HIDDEN TESTS

# %%
progress()
