"""
A neuron and a line: AND
========================

The first run of every course: four rows, an offset, the order given. The perceptron stops when no row is mistaken.
"""

from rosenblatt import Perceptron, plot
from rosenblatt.datasets import load_gate

X, y = load_gate("and")
learner = Perceptron(shuffle=False).fit(X, y)
print("mistakes per epoch:", learner.history_.mistakes)
print("weights", learner.coef_[0], "offset", learner.intercept_[0])

# %%
# The arrow is the weight vector; the band shows the margin of the closest row: its distance from the line.
picture = plot.boundary(X, y, learner.coef_, learner.intercept_)
picture.savefig("and.png")
print("wrote and.png")
