"""What a learner is told, as plain values: parameters, rules, keeps and the recipes of the family."""

from rosenblatt.recipe.family import FAMILY, make_recipe, name_of, parameters_of
from rosenblatt.recipe.recipe import LinearRecipe, Recipe
from rosenblatt.recipe.rules import KEEPS, NO_PENALTY, RULES, KeepName, Penalty, PenaltyName, Rule, RuleName

__all__ = [
    "FAMILY",
    "KEEPS",
    "NO_PENALTY",
    "RULES",
    "KeepName",
    "LinearRecipe",
    "Penalty",
    "PenaltyName",
    "Recipe",
    "Rule",
    "RuleName",
    "make_recipe",
    "name_of",
    "parameters_of",
]
