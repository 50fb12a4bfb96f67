"""The perceptron's theory, computed: margins, bounds, certificates of separability, ledgers and traces.

Invariant: every proof is in exact arithmetic, in which floats are the rationals that they are.
"""

from rosenblatt.theory.bounds import (
    deviation_bound,
    joint_bound,
    mistake_bound,
    passive_aggressive_bound,
    perceptron_bound,
)
from rosenblatt.theory.certificate import Certificate, Interval, NotSeparable, Separable, Unknown, from_dict
from rosenblatt.theory.certify import Separation, certify, separate
from rosenblatt.theory.ledger import Ledger, Line, ledger
from rosenblatt.theory.margin import margin, perceptron_loss, radius, repeat_bound, training_error
from rosenblatt.theory.trace import Trace, trace

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
