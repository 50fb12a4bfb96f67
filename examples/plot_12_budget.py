"""
A kernel with a budget
======================

A stream never ends, and neither do the support rows. A budget bounds them; the policy decides which rows stay.
"""

import matplotlib.pyplot as plt

from rosenblatt import KernelPerceptron
from rosenblatt.datasets import make_moons

X, y = make_moons(2000, noise=0.2)
new, truth = make_moons(1000, noise=0.2, seed=9)
budgets = [5, 10, 20, 40, 80]
figure, axes = plt.subplots(figsize=(5.5, 4))
for policy in ("projectron", "forget-oldest", "forgetron"):
    scores = [KernelPerceptron(gamma=3.0, budget=n, policy=policy).partial_fit(X, y).score(new, truth) for n in budgets]
    axes.plot(budgets, scores, "o-", label=policy)
axes.set(xlabel="support rows at most", ylabel="accuracy on new rows")
axes.legend()
plt.show()
