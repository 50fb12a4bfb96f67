"""The learners: named algorithms, each a rule, a keep and a space."""

from rosenblatt.learners.history import History
from rosenblatt.learners.linear import (
    AveragedPerceptron,
    PassiveAggressive,
    PassiveAggressiveClassifier,
    Perceptron,
    PocketPerceptron,
    VotedPerceptron,
)

__all__ = [
    "AveragedPerceptron",
    "History",
    "PassiveAggressive",
    "PassiveAggressiveClassifier",
    "Perceptron",
    "PocketPerceptron",
    "VotedPerceptron",
]
