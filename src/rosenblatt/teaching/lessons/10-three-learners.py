# %% [markdown]
# # 10. Perceptron, logistic regression, support vector machine
#
# **You will be able to** write the three as one algorithm with three losses, compare them fairly on real data, and say when
# to choose which.
#
# **You need** lessons 4 and 6. **Time:** 40 minutes.
#
# All three learn a line $w \cdot x + b$. They differ in what they charge for a row with margin $m = y\,(w \cdot x + b)$:
#
# | learner | loss of a row | at $m = 0$ | far right |
# | --- | --- | --- | --- |
# | perceptron | $\max(0, -m)$ | 0 | exactly 0 |
# | support vector machine | $\max(0, 1 - m)$ | 1 | exactly 0 from $m = 1$ |
# | logistic regression | $\log(1 + e^{-m})$ | $\log 2$ | never 0 |
#
# and the last two add a penalty $\frac{\lambda}{2}\|w\|^2$.

# %%
import gzip
import warnings

import matplotlib.pyplot as plt
import numpy as np
from course import begin, check, progress, scene
from sklearn.datasets import load_breast_cancer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from rosenblatt import AveragedPerceptron, Perceptron

warnings.simplefilter("ignore")
begin("10-three-learners", "sigmoid log_loss slopes sgd_step fair_error")

m = np.linspace(-3, 3, 300)
figure, ax = plt.subplots(layout="constrained", figsize=(6, 3.5))
ax.plot(m, np.maximum(0, -m), label="perceptron")
ax.plot(m, np.maximum(0, 1 - m), label="SVM (hinge)")
ax.plot(m, np.log1p(np.exp(-m)), label="logistic regression")
ax.set(xlabel="margin $m$", ylabel="loss")
ax.legend()
plt.show()

# %% [markdown]
# ## One update, three slopes
#
# Stochastic gradient descent on any loss $\ell(m)$ is $w \leftarrow w - \eta\,\ell'(m)\,y\,x$. The perceptron's slope is $-1$ on a mistake and 0
# otherwise. The SVM's is $-1$ below a margin of 1. For logistic regression it is $-\sigma(-m)$ with $\sigma(t) = 1/(1 + e^{-t})$: **a
# perceptron whose step is the probability of being wrong**. Harden the sigmoid into a step, and it *is* the perceptron.
#
# What follows from the losses:
#
# - **Probabilities**: only logistic regression estimates $P(y = +1 \mid x) = \sigma(w \cdot x + b)$ as it learns. For the others, calibrate on
#   held-out rows afterwards (`rosenblatt.Calibrated`).
# - **Noise**: the perceptron's last weights jump. Averaging, or the penalty of the other two, calms them.
# - **Margin**: the SVM asks for the widest band; the perceptron stops at any.
# - **Speed**: the perceptron needs few passes, no step size, and can learn row by row for ever.
#
# ## Breast cancer: 569 tumors, 30 measurements
#
# Measure fairly: ten folds, the same for all, and everything that learns (the scaling too) inside the fold.

# %%
X, y = load_breast_cancer(return_X_y=True)
learners = {
    "perceptron": Perceptron(random_state=0),
    "averaged perceptron": AveragedPerceptron(random_state=0),
    "SVM": LinearSVC(C=0.1, random_state=0),
    "logistic regression": LogisticRegression(C=0.1, max_iter=1000),
}
results = {name: cross_val_score(make_pipeline(StandardScaler(), made), X, y, cv=10) for name, made in learners.items()}
for name, scores in results.items():
    print(f"{name:20} {100 * scores.mean():.1f} % ± {100 * scores.std() / 10**0.5:.1f}")
figure, ax = plt.subplots(layout="constrained", figsize=(6, 3))
ax.boxplot(list(results.values()), orientation="horizontal", tick_labels=list(results))
ax.set(xlabel="share of held-out tumors right, ten folds")
plt.show()

# %% [markdown]
# Look at the intervals before you crown a winner: with 569 rows, a difference of one point is six tumors.
#
# ## SMS spam: 2,000 messages, words as features
#
# The messages come from the SMS Spam Collection (Almeida and Hidalgo, CC BY 4.0). Train on the first 1,500, test on the rest.

# %%
with gzip.open("data/sms.tsv.gz", "rt", encoding="utf-8") as file:
    labels, texts = zip(*(line.rstrip("\n").split("\t", 1) for line in file))
labels = np.array(labels)
words = CountVectorizer(binary=True, lowercase=True).fit(texts[:1500])
train, test = words.transform(texts[:1500]).astype(float), words.transform(texts[1500:]).astype(float)
print(train.shape[1], "words;", f"{100 * np.mean(labels == 'spam'):.1f} % of the messages are spam")
for name, made in learners.items():
    made.fit(train, labels[:1500])
    wrong = made.predict(test) != labels[1500:]
    print(f"{name:20} {100 * wrong.mean():.1f} % wrong ({wrong.sum()} of {len(wrong)})")

# %% [markdown]
# Calling everything "ham" is wrong on 14 %: always print that number beside yours. Which words does the averaged perceptron trust?

# %%
weights = learners["averaged perceptron"].coef_[0]
names = words.get_feature_names_out()
order = np.argsort(weights)
print("ham: ", ", ".join(names[order[:12]]))
print("spam:", ", ".join(names[order[-12:]]))

# %%
scene("rivals")

# %% [markdown]
# ## Exercises
#
# **1.** The sigmoid. It must not fail for $t = \pm 1000$.

# %% exercise="sigmoid"
def sigmoid(t):
    """1 / (1 + e^-t)"""
    ### BEGIN SOLUTION
    from math import exp

    return 1 / (1 + exp(-t)) if t >= 0 else exp(t) / (1 + exp(t))
    ### END SOLUTION

# %% test="sigmoid" points=2
check(sigmoid, ((0,), 0.5), ((2,), 0.8807970779778823), ((-1000,), 0.0), ((1000,), 1.0))
### BEGIN HIDDEN TESTS
check(sigmoid, ((-2,), 0.11920292202211755), ((800,), 1.0))
### END HIDDEN TESTS

# %% [markdown]
# **2.** The logistic loss of a margin, safe for $m = -1000$ too (the answer there is 1000).

# %% exercise="log_loss"
def log_loss(m):
    """log(1 + e^-m)"""
    ### BEGIN SOLUTION
    from math import exp, log1p

    return log1p(exp(-abs(m))) + max(0, -m)
    ### END SOLUTION

# %% test="log_loss" points=2
check(log_loss, ((0,), 0.6931471805599453), ((-1000,), 1000.0), ((3,), 0.04858735157374196))
### BEGIN HIDDEN TESTS
check(log_loss, ((1000,), 0.0), ((-1,), 1.3132616875182228))
### END HIDDEN TESTS

# %% [markdown]
# **3.** The three slopes $\ell'(m)$, as a dictionary with the keys `"perceptron"`, `"svm"`, `"logistic"`. At the kinks $m = 0$
# (perceptron) and $m = 1$ (SVM), give the slope of the left side.

# %% exercise="slopes"
def slopes(m):
    """A dictionary of three numbers."""
    ### BEGIN SOLUTION
    from math import exp

    logistic = -1 / (1 + exp(m)) if m < 700 else 0.0
    return {"perceptron": -1 if m <= 0 else 0, "svm": -1 if m <= 1 else 0, "logistic": logistic}
    ### END SOLUTION

# %% test="slopes" points=2
check(
    slopes,
    ((0,), {"perceptron": -1, "svm": -1, "logistic": -0.5}),
    ((0.5,), {"perceptron": 0, "svm": -1, "logistic": -0.3775406687981454}),
    ((2,), {"perceptron": 0, "svm": 0, "logistic": -0.11920292202211755}),
)
### BEGIN HIDDEN TESTS
check(slopes, ((-1,), {"perceptron": -1, "svm": -1, "logistic": -0.7310585786300049}))
### END HIDDEN TESTS

# %% [markdown]
# **4.** One step of stochastic gradient descent: weights after the row, for a `slope` given as a function of the margin.

# %% exercise="sgd_step"
def sgd_step(w, x, y, slope, eta):
    """w - eta * slope(m) * y * x"""
    ### BEGIN SOLUTION
    m = y * sum(p * q for p, q in zip(w, x))
    return [p - eta * slope(m) * y * q for p, q in zip(w, x)]
    ### END SOLUTION

# %% test="sgd_step" points=2
def hinge_slope(m):
    return -1 if m <= 1 else 0


check(
    sgd_step,
    (([0, 0], [1, 2], +1, hinge_slope, 0.5), [0.5, 1.0]),
    (([2, 0], [1, 2], +1, hinge_slope, 0.5), [2, 0]),
    (([1], [3], -1, hinge_slope, 1.0), [-2]),
)
### BEGIN HIDDEN TESTS
check(sgd_step, (([1, 1], [2, 0], -1, lambda m: m, 1.0), [-3, 1]))
### END HIDDEN TESTS

# %% [markdown]
# **5.** The standard error of a share: if `wrong` of `n` test rows are wrong, return the pair (error rate, $\sqrt{p(1-p)/n}$). Two learners
# whose rates differ by less than about two standard errors cannot be distinguished by this test set.

# %% exercise="fair_error"
def fair_error(wrong, n):
    """(p, standard error)"""
    ### BEGIN SOLUTION
    p = wrong / n
    return p, (p * (1 - p) / n) ** 0.5
    ### END SOLUTION

# %% test="fair_error" points=1
check(fair_error, ((10, 100), (0.1, 0.03)), ((0, 50), (0.0, 0.0)))
### BEGIN HIDDEN TESTS
check(fair_error, ((1, 4), (0.25, 0.21650635094610965)))
### END HIDDEN TESTS

# %%
progress()
