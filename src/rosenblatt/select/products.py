"""Whether products of columns are worth a look."""

from __future__ import annotations

from rosenblatt.data.table import Table
from rosenblatt.models.quadratic import Products, count_terms
from rosenblatt.select.scaling import standardise

MOST_TERMS = 4096
MOST_VALUES = 1 << 24  # rows times terms: 64 MB


def can_multiply(table: Table) -> bool:
    """Are the terms of these rows few enough to hold them?"""
    terms = count_terms(table.features)
    return terms <= MOST_TERMS and terms * table.count <= MOST_VALUES


def find_products(table: Table) -> Products:
    """The products of these columns."""
    scaling = standardise(table)
    return Products(scaling.center, scaling.scale)
