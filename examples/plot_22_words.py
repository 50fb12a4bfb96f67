"""
Words as features
=================

Features have names, new classes may appear at any time, and ``coef_`` shows which words contribute to which class.
"""

import matplotlib.pyplot as plt

from rosenblatt import AveragedPerceptron

MESSAGES = [
    ("win a free prize now", "spam"),
    ("free entry win cash", "spam"),
    ("claim your free prize", "spam"),
    ("cash prize waiting call now", "spam"),
    ("call now to claim", "spam"),
    ("lunch at noon", "ham"),
    ("see you at home", "ham"),
    ("call me when you are home", "ham"),
    ("are we having lunch now", "ham"),
    ("home by noon see you", "ham"),
]
learner = AveragedPerceptron()
for text, label in MESSAGES * 5:
    learner.learn_one(dict.fromkeys(text.split(), 1.0), label)
print(learner.predict_one({"free": 1, "lunch": 1, "prize": 1}))

weights = sorted(zip(learner.coef_[0], learner.feature_names_in_, strict=True))
figure, axes = plt.subplots(figsize=(5, 5))
axes.barh(
    [str(name) for _, name in weights],
    [weight for weight, _ in weights],
    color=["tab:red" if weight > 0 else "tab:blue" for weight, _ in weights],
)
axes.set_xlabel("ham  ←  weight  →  spam")
figure.tight_layout()
plt.show()
