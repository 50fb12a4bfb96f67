# %% [markdown]
# # 11. Streams: learning that never ends
#
# **You will be able to** learn from one example at a time, judge a learner honestly by predicting before learning, follow a world that
# changes, and explain regret.
#
# **You need** lessons 2, 3, 6 and 7. **Time:** 35 minutes.
#
# A mail server cannot wait for the whole data set: there is no whole data set. The perceptron was made for this. It sees a row, answers,
# hears the truth, adjusts, and forgets the row. Memory: one number per feature, however many rows pass.

# %%
import gzip
import re

import matplotlib.pyplot as plt
import numpy as np
from course import begin, check, progress, scene

from rosenblatt import AROW, AveragedPerceptron, PassiveAggressive, Perceptron

begin("11-streams", "bag progressive sparse_score sparse_step regret")

with gzip.open("data/sms.tsv.gz", "rt", encoding="utf-8") as file:
    messages = [line.rstrip("\n").split("\t", 1) for line in file]
print(len(messages), "messages; the third:", messages[2])

# %% [markdown]
# ## Rows without columns
#
# New words appear all the time, so there is no fixed list of columns. A row is a dictionary from names to values, and the weights are one too.
#
# ## Predict, then learn
#
# Every message is a test row first and a training row afterwards. The share of mistakes so far, the **progressive error**, is honest: no
# message is predicted by weights that have seen it. No split, no folds, no waste.

# %%
def words(text):
    return {word: 1.0 for word in re.findall(r"[a-z0-9£$]+", text.lower())}


figure, ax = plt.subplots(layout="constrained", figsize=(7, 3.5))
for learner in (Perceptron(), AveragedPerceptron(), PassiveAggressive(C=0.1), AROW()):
    wrong = []
    for label, text in messages:
        row = words(text)
        wrong.append(len(wrong) > 0 and learner.predict_one(row) != label)
        learner.learn_one(row, label)
    ax.plot(np.cumsum(wrong) / np.arange(1, len(wrong) + 1), label=f"{type(learner).__name__}: {sum(wrong)} mistakes")
ax.set(ylim=(0, 0.2), xlabel="messages seen", ylabel="share of mistakes so far")
ax.legend()
plt.show()

# %% [markdown]
# After a few hundred messages all of them are useful, in a few milliseconds of computing. AROW (Crammer and colleagues, 2009) keeps a
# variance for every weight: a word seen for the first time may move its weight far, a word seen a thousand times hardly at all.
#
# ## When the world changes
#
# Spammers adapt. Turn the plane half way through a stream, and watch. The last weights follow at once. The average drags the old world
# along, and `keep="tail"`, which averages the later part of the run, lies between them. What is calm in a steady world is slow in a
# changing one.

# %%
rng = np.random.default_rng(0)
X = rng.normal(size=(4000, 5))
before, after = rng.normal(size=5), rng.normal(size=5)
y = np.where(np.r_[X[:2000] @ before, X[2000:] @ after] > 0, 1, -1)
figure, ax = plt.subplots(layout="constrained", figsize=(7, 3.5))
for name, learner in {"last": Perceptron(), "average": AveragedPerceptron(), "tail": Perceptron(keep="tail")}.items():
    wrong = []
    for start in range(0, 4000, 20):
        batch, truth = X[start : start + 20], y[start : start + 20]
        if start:
            wrong += list(learner.predict(batch) != truth)
        learner.partial_fit(batch, truth, classes=[-1, 1])
    ax.plot(np.convolve(wrong, np.ones(200) / 200, "valid"), label=name)
ax.axvline(1880, color="gray", linestyle=":")
ax.set(xlabel="row", ylabel="share of mistakes, last 200 rows")
ax.legend()
plt.show()

# %%
scene("#data=drift&learner=perceptron&learner=perceptron,keep:average")

# %% [markdown]
# ## Regret
#
# What can be promised if rows come from an adversary? Not few mistakes: the adversary can contradict every answer. But one can promise to be
# **not much worse than the best fixed weights in hindsight**. The difference is called *regret*. For the perceptron on *any* sequence (Freund and
# Schapire, 1999), for every unit vector $u$ and every $\gamma > 0$:
#
# $$\text{mistakes} \le \Big(\frac{R + D}{\gamma}\Big)^2, \qquad D^2 = \sum_t \max(0,\, \gamma - y_t\,u \cdot x_t)^2 .$$
#
# If some $u$ separates with margin $\gamma$, then $D = 0$, and this is the theorem of lesson 3.
#
# ## Exercises
#
# **1.** A bag of words: a dictionary from each word (lower case, split at white space) to how often it occurs.

# %% exercise="bag"
def bag(text):
    """{word: count}"""
    ### BEGIN SOLUTION
    counts = {}
    for word in text.lower().split():
        counts[word] = counts.get(word, 0) + 1
    return counts
    ### END SOLUTION

# %% test="bag" points=1
check(bag, (("Win a prize win",), {"win": 2, "a": 1, "prize": 1}), (("",), {}))
### BEGIN HIDDEN TESTS
check(bag, (("  to be\nor NOT to be ",), {"to": 2, "be": 2, "or": 1, "not": 1}))
### END HIDDEN TESTS

# %% [markdown]
# **2.** The progressive error after every row: from a list of mistakes (True or False) to a list of shares.

# %% exercise="progressive"
def progressive(mistakes):
    """The share of mistakes among the first 1, 2, 3, … rows."""
    ### BEGIN SOLUTION
    shares, total = [], 0
    for n, mistake in enumerate(mistakes, start=1):
        total += mistake
        shares.append(total / n)
    return shares
    ### END SOLUTION

# %% test="progressive" points=1
check(progressive, (([True, False, False, True],), [1.0, 0.5, 1 / 3, 0.5]), (([],), []))
### BEGIN HIDDEN TESTS
check(progressive, (([False, True],), [0.0, 0.5]))
### END HIDDEN TESTS

# %% [markdown]
# **3.** The score of a dictionary row under dictionary weights. A word without a weight has the weight 0.

# %% exercise="sparse_score"
def sparse_score(w, row):
    """sum w[name] * value"""
    ### BEGIN SOLUTION
    return sum(w.get(name, 0) * value for name, value in row.items())
    ### END SOLUTION

# %% test="sparse_score" points=1
check(sparse_score, (({"win": 2, "hello": -1}, {"win": 1, "prize": 1}), 2), (({}, {"a": 3}), 0))
### BEGIN HIDDEN TESTS
check(sparse_score, (({"a": 0.5}, {"a": 4, "b": 9}), 2.0))
### END HIDDEN TESTS

# %% [markdown]
# **4.** One perceptron step on dictionaries, label +1 or -1. Return the new weights; do not change the old ones. Leave out words that
# have never been in a mistaken row.

# %% exercise="sparse_step"
def sparse_step(w, row, y):
    """The weights after the row."""
    ### BEGIN SOLUTION
    if y * sum(w.get(name, 0) * value for name, value in row.items()) > 0:
        return dict(w)
    new = dict(w)
    for name, value in row.items():
        new[name] = new.get(name, 0) + y * value
    return new
    ### END SOLUTION

# %% test="sparse_step" points=2
check(
    sparse_step,
    (({}, {"win": 1, "prize": 1}, +1), {"win": 1, "prize": 1}),
    (({"win": 1}, {"win": 1, "now": 1}, +1), {"win": 1}),
    (({"win": 1}, {"win": 1, "now": 2}, -1), {"win": 0, "now": -2}),
)
### BEGIN HIDDEN TESTS
check(sparse_step, (({"a": 1}, {"b": 1}, -1), {"a": 1, "b": -1}))
### END HIDDEN TESTS

# %% [markdown]
# **5.** Regret in its simplest form: a list of experts, each a list of mistakes (True or False) on the same rows, and your own mistakes. How many
# more did you make than the best expert?

# %% exercise="regret"
def regret(mine, experts):
    """A whole number; negative if you beat them all."""
    ### BEGIN SOLUTION
    return sum(mine) - min(sum(expert) for expert in experts)
    ### END SOLUTION

# %% test="regret" points=1
check(regret, (([True, True, False], [[True, False, False], [True, True, True]]), 1), (([False], [[True]]), -1))
### BEGIN HIDDEN TESTS
check(regret, (([True] * 5, [[False] * 5, [True] * 5]), 5))
### END HIDDEN TESTS

# %%
progress()
