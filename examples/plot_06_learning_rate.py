"""
What the learning rate does
===========================

From zero weights, ``eta0`` scales every step, so it scales the weights and changes no prediction. With other starting
weights it matters: a small rate takes long to forget them.
"""

import matplotlib.pyplot as plt

from rosenblatt import Perceptron
from rosenblatt.datasets import make_blobs

X, y = make_blobs(200, spread=1.2, seed=3)
rates = [0.01, 0.1, 1.0, 10.0]
weights = {rate: Perceptron(eta0=rate, shuffle=False).fit(X, y) for rate in rates}
for rate, learner in weights.items():
    print(
        f"eta0={rate:<5} weights {learner.coef_[0].round(3)} predictions alike:",
        bool((learner.predict(X) == weights[1.0].predict(X)).all()),
    )

# %%
# From weights that start far away, the rate decides how soon they are forgotten.
figure, axes = plt.subplots(figsize=(5.5, 4))
start = ([[50.0, -40.0]], [25.0])
for rate in rates:
    learner = Perceptron(eta0=rate, shuffle=False, init=start).fit(X, y)
    axes.plot(range(1, learner.n_iter_ + 1), learner.history_.mistakes, ".-", label=f"eta0={rate}")
axes.set(xlabel="epoch", ylabel="mistakes", xscale="log")
axes.legend()
plt.show()
