"""What a learner is told, as plain values: parameters, rules, keeps and the params of the family."""

from rosenblatt.params.base import LinearParams, Params
from rosenblatt.params.family import FAMILY, make_params, name_of, parameters_of
from rosenblatt.params.rules import KEEPS, NO_PENALTY, RULES, KeepName, Penalty, PenaltyName, Rule, RuleName

__all__ = [
    "FAMILY",
    "KEEPS",
    "NO_PENALTY",
    "RULES",
    "KeepName",
    "LinearParams",
    "Params",
    "Penalty",
    "PenaltyName",
    "Rule",
    "RuleName",
    "make_params",
    "name_of",
    "parameters_of",
]
