"""The learners: named algorithms, each a rule, a keep and a space."""

from rosenblatt.learners.arow import AROW
from rosenblatt.learners.history import History
from rosenblatt.learners.passive_aggressive import PassiveAggressive, PassiveAggressiveClassifier
from rosenblatt.learners.perceptron import AveragedPerceptron, Perceptron, PocketPerceptron, VotedPerceptron

__all__ = [
    "AROW",
    "AveragedPerceptron",
    "History",
    "PassiveAggressive",
    "PassiveAggressiveClassifier",
    "Perceptron",
    "PocketPerceptron",
    "VotedPerceptron",
]
