"""
Passive-aggressive: how far to step
===================================

PA steps exactly as far as the margin of 1 needs, however far that is. PA-I caps the step at C, PA-II dampens it. The
cap is what makes them robust against wrong labels.
"""

import matplotlib.pyplot as plt
import numpy as np

from rosenblatt import PassiveAggressive

loss = np.linspace(0, 6, 200)
squared_norm, C = 1.0, 1.0
figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.8))
left.plot(loss, loss / squared_norm, label="PA")
left.plot(loss, np.minimum(C, loss / squared_norm), label="PA-I, C=1")
left.plot(loss, loss / (squared_norm + 1 / (2 * C)), label="PA-II, C=1")
left.set(xlabel="hinge loss of the row", ylabel="step tau")
left.legend()

# One label in seven is wrong: small caps win.
rng = np.random.default_rng(0)
X = rng.normal(size=(3000, 30))
truth = X @ rng.normal(size=30) > 0
noisy = truth ^ (rng.random(3000) < 1 / 7)
caps = [0.001, 0.01, 0.1, 1.0, 10.0]
for variant in ("PA-I", "PA-II"):
    scores = [
        PassiveAggressive(variant=variant, C=C).fit(X[:2000], noisy[:2000]).score(X[2000:], truth[2000:]) for C in caps
    ]
    right.semilogx(caps, scores, "o-", label=variant)
right.axhline(
    PassiveAggressive(variant="PA").fit(X[:2000], noisy[:2000]).score(X[2000:], truth[2000:]),
    color="gray",
    linestyle="--",
    label="PA",
)
right.set(xlabel="C", ylabel="accuracy on clean labels")
right.legend()
plt.show()
