"""The best answer without tuning: scaling, many learners in one reading of the rows, choice, probabilities."""

from rosenblatt.select.auto import AutoPerceptron
from rosenblatt.select.calibration import Calibrated
from rosenblatt.select.comparison import Comparison, compare
from rosenblatt.select.probability import Reliability, brier_score, reliability
from rosenblatt.select.sweep import Sweep
from rosenblatt.select.tuning import Tuning, tune
from rosenblatt.select.validation import CrossValidation, cross_validate

__all__ = [
    "AutoPerceptron",
    "Calibrated",
    "Comparison",
    "CrossValidation",
    "Reliability",
    "Sweep",
    "Tuning",
    "brier_score",
    "compare",
    "cross_validate",
    "reliability",
    "tune",
]
