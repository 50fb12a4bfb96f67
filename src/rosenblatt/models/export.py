"""A linear model for where rosenblatt is not: JSON, a C header, ONNX.

Invariant: an exported model names the same class as the model for every row. The C code adds in the engine's order
for sparse rows, so its scores have the same bits where the compiler does not fuse multiplications and additions.
"""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.lines import LineEncoder
from rosenblatt.errors import MissingExtraError, ModelError
from rosenblatt.models.linear import Linear
from rosenblatt.models.model import Model

MOST_DENSE = 1 << 24  # weights of an ONNX model, whose rows are dense


def to_json(model: Model) -> str:
    """The whole model as one JSON object: a list of [column, name or null, weight of each class]."""
    linear = model.linear()
    columns = _weighted(linear)
    content = {
        "learner": model.learner,
        "classes": model.classes.tolist(),
        "features": model.features,
        "intercept": linear.intercept.tolist(),
        "weights": [
            [int(column), model.names.get(int(column)), *weights]
            for column, weights in zip(columns, linear.weights[:, columns].T.tolist(), strict=True)
        ],
        "encoder": None if model.encoder is None else model.encoder.to_json(),
        "rule": "score = intercept + sum of weight * value; with two classes a score >= 0 is the second, "
        "with more the highest score wins, the first of equals",
    }
    return json.dumps(content, ensure_ascii=False)


def to_c(model: Model, name: str = "model") -> str:
    """One C99 header without dependencies beyond the C library's types.

    ``<name>_predict(row)`` takes the raw numbers of a row (NaN where one is missing), if the model reads numbers;
    ``<name>_predict_sparse(index, value, count)`` takes columns in rising order. Both return a place in
    ``<name>_classes``.
    """
    if not re.fullmatch(r"[a-z_][a-z0-9_]*", name):
        raise ModelError(f"{name!r} cannot begin the names of C functions")
    linear = model.linear()
    columns = _weighted(linear)
    K = len(linear.intercept)
    scalar = "float" if linear.weights.dtype == np.float32 else "double"
    stored = linear.weights[:, columns].T.astype(np.float64).ravel()
    classes = ", ".join(json.dumps(str(label)) for label in model.classes.tolist())
    parts = [
        f"/* {model.learner}: {len(model.classes)} classes, {model.features} features. Written by rosenblatt. */",
        f"#ifndef {name.upper()}_H\n#define {name.upper()}_H",
        "#include <stddef.h>\n#include <stdint.h>",
        f"#define {name.upper()}_ROWS {K}\n#define {name.upper()}_COLUMNS {len(columns)}",
        f"typedef {scalar} {name}_scalar;",
        f"static const char *const {name}_classes[] = {{{classes}}};",
        f"static const uint32_t {name}_columns[] = {{{_numbers(columns) or '0'}}};",
        f"static const {name}_scalar {name}_weights[] = {{{_numbers(stored) or '0'}}};",
        f"static const double {name}_intercept[] = {{{_numbers(linear.intercept)}}};",
        _C_CODE.replace("NAME", name)
        .replace("ROWS_OF", f"{name.upper()}_ROWS")
        .replace("COLUMNS_OF", f"{name.upper()}_COLUMNS"),
    ]
    if model.encoder is None or _only_numbers(model):
        parts.append(_c_rows(model, name))
    return "\n".join([*parts, "#endif\n"])


def to_onnx(model: Model) -> bytes:
    """An ONNX model in float64: rows of numbers in (NaN where one is missing), ``label`` and ``scores`` out."""
    try:
        import onnx
        from onnx import TensorProto, helper, numpy_helper
    except ImportError:
        raise MissingExtraError("onnx", "export") from None
    linear = model.linear()
    if (isinstance(model.encoder, LineEncoder) and model.encoder.hashed) or (
        model.encoder is not None and not _raw(model)
    ):
        raise ModelError("ONNX has no hash for names and words: predict with rosenblatt, or use --to json")
    if model.features * len(linear.intercept) > MOST_DENSE:
        raise ModelError(f"an ONNX model takes dense rows, and {model.features:,} features are too many for that")
    nodes: list[Any] = []
    constants: dict[str, NDArray[Any]] = {}
    width = model.features
    source = "X"
    if _only_numbers(model):
        numbers = model.encoder.numbers
        width = len(numbers)
        constants |= {
            "mean": np.array([c.mean for c in numbers]),
            "scale": np.array([c.scale for c in numbers]),
            "zero": np.array(0.0),
        }
        nodes += [
            helper.make_node("IsNaN", ["X"], ["missing"]),
            helper.make_node("Sub", ["X", "mean"], ["centred"]),
            helper.make_node("Div", ["centred", "scale"], ["scaled"]),
            helper.make_node("Where", ["missing", "zero", "scaled"], ["there"]),
            helper.make_node("Cast", ["missing"], ["indicators"], to=TensorProto.DOUBLE),
            helper.make_node("Concat", ["there", "indicators"], ["encoded"], axis=1),
        ]
        source = "encoded"
    constants |= {"weights": np.ascontiguousarray(linear.weights.T, np.float64), "intercept": linear.intercept}
    nodes += [
        helper.make_node("MatMul", [source, "weights"], ["product"]),
        helper.make_node("Add", ["product", "intercept"], ["scores"]),
    ]
    if len(linear.intercept) == 1:
        constants |= {"threshold": np.array(0.0), "flat": np.array([-1], np.int64)}
        nodes += [
            helper.make_node("GreaterOrEqual", ["scores", "threshold"], ["positive"]),
            helper.make_node("Cast", ["positive"], ["column"], to=TensorProto.INT64),
            helper.make_node("Reshape", ["column", "flat"], ["place"]),
        ]
    else:
        nodes.append(helper.make_node("ArgMax", ["scores"], ["place"], axis=1, keepdims=0))
    nodes.append(helper.make_node("Gather", ["classes", "place"], ["label"]))
    strings = model.classes.dtype.kind not in "iu"
    classes = (
        np.array([str(label) for label in model.classes.tolist()], object)
        if strings
        else model.classes.astype(np.int64)
    )
    initializers = [numpy_helper.from_array(np.asarray(array), key) for key, array in constants.items()]
    initializers.append(
        helper.make_tensor("classes", TensorProto.STRING, [len(classes)], [c.encode() for c in classes])
        if strings
        else numpy_helper.from_array(classes, "classes")
    )
    graph = helper.make_graph(
        nodes,
        "rosenblatt",
        [helper.make_tensor_value_info("X", TensorProto.DOUBLE, [None, width])],
        [
            helper.make_tensor_value_info("label", TensorProto.STRING if strings else TensorProto.INT64, [None]),
            helper.make_tensor_value_info("scores", TensorProto.DOUBLE, [None, len(linear.intercept)]),
        ],
        initializers,
    )
    exported = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8, producer_name="rosenblatt"
    )
    onnx.checker.check_model(exported)
    content: bytes = exported.SerializeToString()
    return content


_C_CODE = """\
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
}
/* The place of the class that scores say. */
static int NAME_decide(const double *scores) {
  int best = 0, k;
  if (ROWS_OF == 1) return scores[0] >= 0;
  for (k = 1; k < ROWS_OF; ++k)
    if (scores[k] > scores[best]) best = k;
  return best;
}
static inline int NAME_predict_sparse(const uint32_t *index, const NAME_scalar *value, size_t count) {
  double scores[ROWS_OF];
  NAME_scores_sparse(index, value, count, scores);
  return NAME_decide(scores);
}"""


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
        f"static inline int {name}_predict(const double *row) {{\n"
        f"  double scores[{upper}_ROWS];\n  {name}_scores(row, scores);\n  return {name}_decide(scores);\n}}"
    )


def _weighted(linear: Linear) -> NDArray[np.intp]:
    return np.flatnonzero((linear.weights != 0).any(axis=0))


def _numbers(values: NDArray[Any]) -> str:
    return ", ".join(repr(value) for value in values.tolist())


def _only_numbers(model: Model) -> bool:
    return model.encoder is not None and not isinstance(model.encoder, LineEncoder) and not model.encoder.hashed


def _raw(model: Model) -> bool:
    return isinstance(model.encoder, LineEncoder) or _only_numbers(model)
