"""A model of weights as a C header.

Invariant: the C code adds in the engine's order, so its scores have the same bits where the compiler does not fuse
multiplications and additions.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import ModelError
from rosenblatt.models.export import only_numbers
from rosenblatt.models.export_names import c_names, c_string
from rosenblatt.models.model import Model
from rosenblatt.models.quadratic import FARTHEST_VALUE, Products, count_terms


def to_c(model: Model, name: str = "model") -> str:
    """One header for C (from C89 on, with ``stdint.h``) and C++, without dependencies beyond the C library.

    ``<name>_predict(row)`` takes the raw numbers of a row (NaN where one is missing), if the model reads numbers;
    ``<name>_predict_sparse(index, value, count)`` takes columns in rising order. A model that hashes has the hash too:
    ``<name>_predict_text(text, length)`` for labelled text, ``<name>_predict_names(spaces, names, values, count)`` for
    Vowpal Wabbit's, ``<name>_predict_row(numbers, cells)`` for a table with categories. All return a place in
    ``<name>_classes``; those of a regression return its number.
    """
    if not re.fullmatch(r"[a-z_][a-z0-9_]*", name):
        raise ModelError(f"{name!r} cannot begin the names of C functions")
    linear, products = model.weights()
    columns = linear.columns() if products is None else products.columns
    K = len(linear.intercept)
    scalar = "float" if linear.weights.dtype == np.float32 else "double"
    weights = linear.weights[:, columns].T if products is None else linear.weights
    stored = weights.astype(np.float64).ravel()
    classes = ", ".join(c_string(label) for label in model.classes.tolist())
    of = "numbers" if model.is_regression else f"{len(model.classes)} classes"
    parts = [
        # No text of the model goes into a comment: what ends one would become code.
        f"/* A model of {of} and {model.features} features, written by rosenblatt. */",
        f"#ifndef {name.upper()}_H\n#define {name.upper()}_H",
        "#include <stddef.h>\n#include <stdint.h>",
        f"#define {name.upper()}_ROWS {K}\n#define {name.upper()}_COLUMNS {len(columns)}",
        f"typedef {scalar if products is None else 'double'} {name}_scalar;\ntypedef {scalar} {name}_weight;",
        "" if model.is_regression else f"static const char *const {name}_classes[] = {{{classes}}};",
        f"static const uint32_t {name}_columns[] = {{{_numbers(columns) or '0'}}};",
        f"static const {name}_weight {name}_weights[] = {{{_numbers(stored) or '0'}}};",
        f"static const double {name}_intercept[] = {{{_numbers(linear.intercept)}}};",
        _named(_SCORES if products is None else _products(products, scalar), name),
        _named(_ANSWERS, name),
    ]
    if model.encoder is None or only_numbers(model):
        parts.append(_c_rows(model, name))
    parts.append(c_names(model, name))
    code = "\n".join([*filter(None, parts), "#endif\n"])
    return _measuring(code, name) if model.is_regression else code


def _measuring(code: str, name: str) -> str:
    """The code for a model whose score is the answer."""
    decide = _named(_DECIDE, name)
    assert decide in code
    said = (
        f"/* The score is the number. */\nstatic double {name}_decide(const double *scores) {{ return scores[0]; }}\n"
    )
    code = code.replace(decide, said).replace(f"{name}_decide(scores) : -1;", f"{name}_decide(scores) : HUGE_VAL;")
    code = code.replace("/* The place of the class of a", "/* The number of a").replace("; -1 if", "; HUGE_VAL if")
    return re.sub(rf"static int ({name}_predict\w*)\(", r"static double \1(", code)


def _named(code: str, name: str) -> str:
    upper = name.upper()
    return code.replace("NAME", name).replace("ROWS_OF", f"{upper}_ROWS").replace("COLUMNS_OF", f"{upper}_COLUMNS")


def _products(products: Products, scalar: str) -> str:
    lanes = 8 if scalar == "float" else 4
    ends = "(half[0] + half[2]) + (half[1] + half[3])" if scalar == "float" else "half[0] + half[1]"
    return (
        _SCORES_OF_PRODUCTS.replace("TERMS", str(count_terms(len(products.columns))))
        .replace("LANES", str(lanes))
        .replace("ENDS", ends)
        .replace("CENTER", _numbers(products.center))
        .replace("SCALE", _numbers(products.scale))
        .replace("FARTHEST", repr(FARTHEST_VALUE))
        .replace("SHARE", f"{float(np.float32(products.share))!r}f")
    )


_SCORES = """\
/* The weights of a column: 0 for one that has none. */
static const NAME_scalar *NAME_find(uint32_t column) {
  static const NAME_scalar none[ROWS_OF] = {0};
  size_t low = 0, high = COLUMNS_OF;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (NAME_columns[middle] < column) low = middle + 1; else high = middle;
  }
  return low < COLUMNS_OF && NAME_columns[low] == column ? NAME_weights + low * ROWS_OF : none;
}
/* A score for each weight row; the columns must rise. */
static void NAME_scores_sparse(const uint32_t *index, const NAME_scalar *value, size_t count, double *scores) {
  size_t p, k;
  if (ROWS_OF == 1) {
    NAME_scalar sums[4] = {0, 0, 0, 0}, rest = 0;
    for (p = 0; p + 4 <= count; p += 4)
      for (k = 0; k < 4; ++k) sums[k] += value[p + k] * NAME_find(index[p + k])[0];
    for (; p < count; ++p) rest += value[p] * NAME_find(index[p])[0];
    scores[0] = (double)(((sums[0] + sums[1]) + (sums[2] + sums[3])) + rest) + NAME_intercept[0];
  } else {
    NAME_scalar sums[ROWS_OF] = {0};
    for (p = 0; p < count; ++p) {
      const NAME_scalar *weights = NAME_find(index[p]);
      for (k = 0; k < ROWS_OF; ++k) sums[k] += value[p] * weights[k];
    }
    for (k = 0; k < ROWS_OF; ++k) scores[k] = (double)sums[k] + NAME_intercept[k];
  }
}"""

_SCORES_OF_PRODUCTS = """\
static NAME_weight NAME_dot(const NAME_weight *a, const NAME_weight *b) {
  NAME_weight sums[4][LANES] = {{0}}, half[LANES / 2], rest = 0;
  size_t j = 0, s, l;
  for (; j + 4 * LANES <= TERMS; j += 4 * LANES)
    for (s = 0; s < 4; ++s)
      for (l = 0; l < LANES; ++l) sums[s][l] += a[j + s * LANES + l] * b[j + s * LANES + l];
  for (s = 0; s < 3 && j + LANES <= TERMS; ++s, j += LANES)
    for (l = 0; l < LANES; ++l) sums[s][l] += a[j + l] * b[j + l];
  for (l = 0; l < LANES; ++l) sums[0][l] = (sums[0][l] + sums[1][l]) + (sums[2][l] + sums[3][l]);
  for (l = 0; l < LANES / 2; ++l) half[l] = sums[0][l] + sums[0][l + LANES / 2];
  if (j + LANES / 2 <= TERMS) {
    for (l = 0; l < LANES / 2; ++l) half[l] += a[j + l] * b[j + l];
    j += LANES / 2;
  }
  for (; j < TERMS; ++j) rest += a[j] * b[j];
  return (ENDS) + rest;
}
/* A score for each weight row, by the standardized columns and their products; the columns must rise. */
static void NAME_scores_sparse(const uint32_t *index, const NAME_scalar *value, size_t count, double *scores) {
  static const double center[] = {CENTER}, scale[] = {SCALE};
  const float share = SHARE;
  float z[COLUMNS_OF];
  NAME_weight terms[TERMS];
  size_t p = 0, j, k, at = COLUMNS_OF;
  for (j = 0; j < COLUMNS_OF; ++j) {
    double x = 0;
    while (p < count && index[p] < NAME_columns[j]) ++p;
    if (p < count && index[p] == NAME_columns[j]) x = value[p];
    x = (x - center[j]) / scale[j];
    terms[j] = z[j] = (float)(x < -FARTHEST ? -FARTHEST : x > FARTHEST ? FARTHEST : x);
  }
  for (j = 0; j < COLUMNS_OF; ++j) {
    const float factor = share * z[j];
    for (k = j; k < COLUMNS_OF; ++k) {
      float product = factor * z[k];
      if (j == k) product -= share;
      terms[at++] = product;
    }
  }
  for (k = 0; k < ROWS_OF; ++k) scores[k] = (double)NAME_dot(terms, NAME_weights + k * TERMS) + NAME_intercept[k];
}"""

_DECIDE = """\
/* The place of the class that scores say. */
static int NAME_decide(const double *scores) {
  int best = 0, k;
  if (ROWS_OF == 1) return scores[0] >= 0;
  for (k = 1; k < ROWS_OF; ++k)
    if (scores[k] > scores[best]) best = k;
  return best;
}
"""
_ANSWERS = (
    _DECIDE
    + """\
static int NAME_predict_sparse(const uint32_t *index, const NAME_scalar *value, size_t count) {
  double scores[ROWS_OF];
  NAME_scores_sparse(index, value, count, scores);
  return NAME_decide(scores);
}"""
)


def _c_rows(model: Model, name: str) -> str:
    """The functions that take a whole row of numbers."""
    if model.encoder is None:
        means, scales, count, shift = [0.0], [1.0], model.features, 0
        put = "index[count] = j; value[count++] = row[j];"
    else:
        numbers = model.encoder.numbers
        means, scales, count, shift = [c.mean for c in numbers], [c.scale for c in numbers], len(numbers), len(numbers)
        put = "if (row[j] == row[j]) { index[count] = j; value[count++] = (row[j] - mean[j]) / scale[j]; }"
    upper = name.upper()
    missing = (
        f"  for (j = 0; j < {upper}_NUMBERS; ++j)\n"
        f"    if (row[j] != row[j]) {{ index[count] = j + {shift}; value[count++] = 1; }}\n"
        if shift
        else ""
    )
    tables = (
        f"  static const double mean[] = {{{_numbers(np.array(means))}}};\n"
        f"  static const double scale[] = {{{_numbers(np.array(scales))}}};\n"
        if shift
        else ""
    )
    return (
        f"#define {upper}_NUMBERS {count}\n"
        f"/* The scores of a row of {upper}_NUMBERS numbers{'; NaN where one is missing' if shift else ''}. */\n"
        f"static void {name}_scores(const double *row, double *scores) {{\n{tables}"
        f"  uint32_t index[{upper}_NUMBERS], j;\n  {name}_scalar value[{upper}_NUMBERS];\n  size_t count = 0;\n"
        f"  for (j = 0; j < {upper}_NUMBERS; ++j) {{ {put} }}\n{missing}"
        f"  {name}_scores_sparse(index, value, count, scores);\n}}\n"
        f"static int {name}_predict(const double *row) {{\n"
        f"  double scores[{upper}_ROWS];\n  {name}_scores(row, scores);\n  return {name}_decide(scores);\n}}"
    )


def _numbers(values: NDArray[Any]) -> str:
    return ", ".join(repr(value) for value in values.tolist())
