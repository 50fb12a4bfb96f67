"""The perceptron's theory, computed: margins, bounds, certificates of separability, ledgers and traces.

Invariant: what this package calls proved is proved in exact arithmetic; floats are the rationals that they are.
"""

from rosenblatt.theory.bounds import (
    deviation_bound,
    joint_bound,
    mistake_bound,
    passive_aggressive_bound,
    perceptron_bound,
)
from rosenblatt.theory.certificate import Certificate, NotSeparable, Separable, Unknown, from_dict
from rosenblatt.theory.certify import certify
from rosenblatt.theory.ledger import Ledger, Line, ledger
from rosenblatt.theory.margin import margin, perceptron_loss, radius, repeat_bound, training_error
from rosenblatt.theory.separate import Separation, separate
from rosenblatt.theory.trace import Trace, trace
from rosenblatt.theory.written import Interval

__all__ = [
    "Certificate",
    "Interval",
    "Ledger",
    "Line",
    "NotSeparable",
    "Separable",
    "Separation",
    "Trace",
    "Unknown",
    "certify",
    "deviation_bound",
    "from_dict",
    "joint_bound",
    "ledger",
    "margin",
    "mistake_bound",
    "passive_aggressive_bound",
    "perceptron_bound",
    "perceptron_loss",
    "radius",
    "repeat_bound",
    "separate",
    "trace",
    "training_error",
]
