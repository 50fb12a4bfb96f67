"""The best answer without tuning: scaling, many learners in one reading of the rows, choice."""

from rosenblatt.select.auto import AutoPerceptron
from rosenblatt.select.sweep import Sweep

__all__ = ["AutoPerceptron", "Sweep"]
