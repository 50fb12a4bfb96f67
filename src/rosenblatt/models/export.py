"""A model of weights for places without rosenblatt: JSON, ONNX and C.

Invariant: an exported model predicts the same class as the model for every row, except for scores that rounding
decides. The C code adds in the engine's order, so its scores have the same bits unless the compiler fuses
multiplications and additions.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.encode.lines import LineEncoder
from rosenblatt.errors import MissingExtraError, ModelError
from rosenblatt.models.calibrator import Calibrator, Curve
from rosenblatt.models.model import Model
from rosenblatt.models.predictions import labels_to_json
from rosenblatt.models.predictors import FARTHEST_VALUE, Products, count_terms

MAX_DENSE = 1 << 24  # weights of an ONNX model, whose rows are dense


def to_json(model: Model) -> str:
    """The whole model as one JSON object: a list of [column, name or null, weight of each class].

    With products, these are the terms that they describe: the columns, then the products, row by row of the upper
    triangle. Probabilities are curves of the score, or with more than two classes of a class's lead over the next.
    """
    linear, products = model.weights()
    columns, names = linear.columns(), dict(model.names)
    if products is not None:
        names = dict(enumerate(products.names([model.name_of(j) for j in products.columns.tolist()])))
    content = {
        "learner": model.learner,
        "classes": labels_to_json(model.classes),
        "features": model.features,
        "intercept": linear.intercept.tolist(),
        "weights": [
            [int(column), names.get(int(column)), *weights]
            for column, weights in zip(columns, linear.weights[:, columns].T.tolist(), strict=True)
        ],
        "products": None,
        "probabilities": None,
        "encoder": None if model.encoder is None else model.encoder.to_json(),
        "rule": "score = intercept + sum of weight * value; with two classes a score >= 0 is the second, "
        "with more the highest score wins, the first of equals",
    }
    if model.is_regression:
        content |= {"task": "regression", "rule": "prediction = intercept + sum of weight * value"}
    if products is not None:
        content["products"] = {
            "columns": products.columns.tolist(),
            "center": products.center.tolist(),
            "scale": products.scale.tolist(),
            "farthest": FARTHEST_VALUE,
            "share": float(products.share),
            "rule": "z = (value - center) / scale, at most farthest from 0, in float32; the values are all z_j, then "
            "share * z_j * z_k for j <= k, less share where j = k",
        }
    if model.calibrator is not None:
        content["probabilities"] = {
            "curves": [
                {"sigmoid": curve.sigmoid, "scores": curve.scores.tolist(), "levels": curve.levels.tolist()}
                for curve in model.calibrator.curves
            ],
            "rule": "p = the mean of 1 / (1 + exp(-(a s + b))) for sigmoid [a, b] and of the levels, interpolated "
            "between the scores, if both are there; with two classes s is the score and p belongs to the second, with "
            "more s is the score less the highest other one, and the p of all classes are divided by their sum",
        }
    return json.dumps(content, ensure_ascii=False)


class _Graph:
    """The nodes of an ONNX model, each with one output."""

    def __init__(self) -> None:
        from onnx import helper, numpy_helper

        self._helper, self._from_array = helper, numpy_helper.from_array
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def op(self, kind: str, *inputs: Any, out: str | None = None, **attributes: Any) -> str:
        """The output of a node; inputs that are not names are constants."""
        names = [each if isinstance(each, str) else self.constant(np.asarray(each)) for each in inputs]
        name = out or f"v{len(self.nodes)}"
        domain = "ai.onnx.ml" if kind == "LabelEncoder" else ""
        self.nodes.append(self._helper.make_node(kind, names, [name], domain=domain, **attributes))
        return name

    def constant(self, array: NDArray[Any]) -> str:
        name = f"c{len(self.constants)}"
        if array.dtype.kind == "O":
            strings = [text.encode() for text in array.tolist()]
            self.constants.append(self._helper.make_tensor(name, 8, [len(strings)], strings))  # 8: STRING
        else:
            self.constants.append(self._from_array(np.ascontiguousarray(array), name))
        return name


def to_onnx(model: Model) -> bytes:
    """An ONNX model in float64; ``label`` and ``scores`` out, and ``probabilities`` if the model has them.

    In goes ``X``, rows of numbers (NaN for a missing one), and for a table a column of texts for each category, by its
    name (an empty text for a missing one). A regression has ``prediction`` instead. A category that training never saw
    weighs nothing.
    """
    try:
        import onnx
        from onnx import TensorProto, helper
    except ImportError:
        raise MissingExtraError("onnx", "export") from None
    linear, products = model.weights()
    encoder, graph = model.encoder, _Graph()
    if isinstance(encoder, LineEncoder):
        if encoder.hashed:
            raise ModelError("ONNX has no hash for names and words: predict with rosenblatt, or use --to json")
        encoder = None
    # Each feature adds a row of `adds`: its weights, or, with products, itself.
    adds = linear.weights if products is None else _selection(products, model.features)
    numbers = model.features if encoder is None else len(encoder.numbers)
    if numbers * adds.shape[0] > MAX_DENSE:
        raise ModelError(f"an ONNX model takes dense rows, and {numbers:,} features are too many for that")
    inputs = [("X", TensorProto.DOUBLE, [None, numbers])] if numbers else []
    parts: list[str] = []
    outputs: list[tuple[str, int, list[Any]]]
    if encoder is None:
        parts.append(graph.op("MatMul", "X", np.asarray(adds.T, np.float64)))
    elif numbers:
        places = [*range(numbers), *(numbers + encoder.used.index(column) for column in encoder.numbers)]
        missing = graph.op("IsNaN", "X")
        centered = graph.op("Sub", "X", np.array([column.mean for column in encoder.numbers]))
        scaled = graph.op("Div", centered, np.array([column.scale for column in encoder.numbers]))
        present = graph.op("Where", missing, 0.0, scaled)
        indicators = graph.op("Cast", missing, to=TensorProto.DOUBLE)
        encoded = graph.op("Concat", present, indicators, axis=1)
        parts.append(graph.op("MatMul", encoded, np.asarray(adds[:, places].T, np.float64)))
    for name, values in _categories(model).items():
        inputs.append((name, TensorProto.STRING, [None, 1]))
        rows = np.vstack([np.zeros((1, len(adds))), adds[:, list(values.values())].T])
        place = graph.op(
            "LabelEncoder", name, keys_strings=list(values), values_int64s=range(1, len(rows)), default_int64=0
        )
        parts.append(graph.op("Gather", rows, graph.op("Reshape", place, np.array([-1]))))
    source = parts[0]
    for part in parts[1:]:
        source = graph.op("Add", source, part)
    if products is not None:
        source = graph.op("MatMul", _product_terms(graph, products, source), np.asarray(linear.weights.T, np.float64))
    scores = graph.op("Add", source, linear.intercept, out=None if model.is_regression else "scores")
    if model.is_regression:
        graph.op("Reshape", scores, np.array([-1]), out="prediction")
        outputs = [("prediction", TensorProto.DOUBLE, [None])]
    else:
        if len(model.classes) == 2:
            place = graph.op("Cast", graph.op("GreaterOrEqual", scores, 0.0), to=TensorProto.INT64)
            place = graph.op("Reshape", place, np.array([-1]))
        else:
            place = graph.op("ArgMax", scores, axis=1, keepdims=0)
        whole = model.classes.dtype.kind in "iu"
        texts = np.array([str(label) for label in labels_to_json(model.classes)], object)
        graph.op("Gather", model.classes.astype(np.int64) if whole else texts, place, out="label")
        outputs = [
            ("label", TensorProto.INT64 if whole else TensorProto.STRING, [None]),
            ("scores", TensorProto.DOUBLE, [None, linear.width]),
        ]
        if model.calibrator is not None and len(model.classes) > 1:
            _probabilities(graph, model.calibrator, linear.width)
            outputs.append(("probabilities", TensorProto.DOUBLE, [None, len(model.classes)]))
    made = helper.make_graph(
        graph.nodes,
        "rosenblatt",
        [helper.make_tensor_value_info(*each) for each in inputs],
        [helper.make_tensor_value_info(*each) for each in outputs],
        graph.constants,
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)]
    exported = helper.make_model(made, opset_imports=opsets, ir_version=8, producer_name="rosenblatt")
    onnx.checker.check_model(exported)
    content: bytes = exported.SerializeToString()
    return content


def _selection(products: Products, features: int) -> NDArray[np.float64]:
    chosen = np.zeros((len(products.columns), features))
    chosen[np.arange(len(products.columns)), products.columns] = 1.0
    return chosen


def _categories(model: Model) -> dict[str, dict[str, int]]:
    """For each column of categories the feature of each known value, and of a missing one."""
    encoder = model.encoder
    if encoder is None or isinstance(encoder, LineEncoder):
        return {}
    found: dict[str, dict[str, int]] = {}
    for place, column in enumerate(encoder.used):
        if column.kind in ("text", "date"):
            raise ModelError(f"ONNX has no hash for words and dates: the column {column.name!r} cannot be exported")
        if column.kind == "category":
            found[column.name] = {"": len(encoder.numbers) + place}
    for at, name in model.names.items():
        column_name = next((each for each in found if at >= encoder.base and str(name).startswith(f"{each}=")), None)
        if column_name is not None:
            found[column_name][str(name).removeprefix(f"{column_name}=")] = at
    return found


def _product_terms(graph: _Graph, products: Products, source: str) -> str:
    """The columns, standardized in float32, and their products."""
    one, other = np.triu_indices(len(products.columns))
    share = np.float32(products.share)
    scaled = graph.op("Div", graph.op("Sub", source, products.center), products.scale)
    z = graph.op("Cast", graph.op("Clip", scaled, -FARTHEST_VALUE, FARTHEST_VALUE), to=1)  # 1: FLOAT
    left = graph.op("Gather", graph.op("Mul", z, share), one, axis=1)
    product = graph.op("Mul", left, graph.op("Gather", z, other, axis=1))
    squares = graph.op("Sub", product, np.where(one == other, share, np.float32(0)))
    return graph.op("Cast", graph.op("Concat", z, squares, axis=1), to=11)  # 11: DOUBLE


def _probabilities(graph: _Graph, calibrator: Calibrator, width: int) -> None:
    if width == 1:
        p = _curve(graph, calibrator.curves[0], "scores")
        graph.op("Concat", graph.op("Sub", 1.0, p), p, axis=1, out="probabilities")
        return
    best = graph.op("ReduceMax", "scores", axes=[1], keepdims=1)
    is_best = graph.op("Not", graph.op("Less", "scores", best))
    others = graph.op("Where", is_best, -np.inf, "scores")
    count = graph.op("ReduceSum", graph.op("Cast", is_best, to=11), np.array([1]), keepdims=1)
    second = graph.op(
        "Where", graph.op("Greater", count, 1.0), best, graph.op("ReduceMax", others, axes=[1], keepdims=1)
    )
    leads = graph.op("Sub", "scores", graph.op("Where", is_best, second, best))
    parts = [
        _curve(graph, curve, graph.op("Gather", leads, np.array([k]), axis=1))
        for k, curve in enumerate(calibrator.curves)
    ]
    found = graph.op("Concat", *parts, axis=1)
    total = graph.op("ReduceSum", found, np.array([1]), keepdims=1)
    none = graph.op("Not", graph.op("Greater", total, 0.0))
    graph.op(
        "Where", none, 1.0 / width, graph.op("Div", found, graph.op("Where", none, 1.0, total)), out="probabilities"
    )


def _curve(graph: _Graph, curve: Curve, s: str) -> str:
    """The probability for scores of shape (rows, 1)."""
    parts = []
    if curve.sigmoid is not None:
        a, b = curve.sigmoid
        parts.append(graph.op("Sigmoid", graph.op("Add", graph.op("Mul", s, a), b)))
    x, y = curve.scores, curve.levels
    if len(x):
        x, y = np.append(x, x[-1] + 1.0), np.append(y, y[-1])  # flat behind the last point
        at_or_below = graph.op("Cast", graph.op("GreaterOrEqual", s, x[None]), to=7)  # 7: INT64
        count = graph.op("ReduceSum", at_or_below, np.array([1]), keepdims=1)
        at = graph.op("Max", graph.op("Min", graph.op("Sub", count, np.array(1)), np.array(len(x) - 2)), np.array(0))
        width = np.diff(x)
        slope = np.where(width > 0, np.diff(y) / np.where(width > 0, width, 1.0), 0.0)
        inside = graph.op("Max", s, x[0])
        rise = graph.op("Mul", graph.op("Sub", inside, graph.op("Gather", x, at)), graph.op("Gather", slope, at))
        parts.append(graph.op("Add", graph.op("Gather", y, at), rise))
    return parts[0] if len(parts) == 1 else graph.op("Mul", graph.op("Add", *parts), 0.5)


def to_c(model: Model, name: str = "model") -> str:
    """One header for C (from C89 on, with ``stdint.h``) and C++, without dependencies beyond the C library.

    ``<name>_predict(row)`` takes the raw numbers of a row (NaN for a missing one), if the model reads numbers;
    ``<name>_predict_sparse(index, value, count)`` takes columns in rising order. A model that hashes has the hash too:
    ``<name>_predict_text(text, length)`` for labelled text, ``<name>_predict_names(spaces, names, values, count)`` for
    Vowpal Wabbit's. All return a place in ``<name>_classes``; those of a regression return its number.
    ``<name>_probabilities(scores, probabilities)`` is there if the model has probabilities.
    """
    if not re.fullmatch(r"[a-z_][a-z0-9_]*", name):
        raise ModelError(f"{name!r} cannot begin the names of C functions")
    linear, products = model.weights()
    columns = linear.columns() if products is None else products.columns
    scalar = "float" if linear.weights.dtype == np.float32 else "double"
    weights = linear.weights[:, columns].T if products is None else linear.weights
    labels = labels_to_json(model.classes)
    fills = {"RESULT": "double", "FAILED": "HUGE_VAL"} if model.is_regression else {"RESULT": "int", "FAILED": "-1"}
    head = [
        # No text of the model goes into a comment: the end of a comment in a label would make the rest code.
        f"/* A model of {len(labels) or 'no'} classes and {model.features} features, written by rosenblatt. */",
        "#ifndef MACRO_H\n#define MACRO_H\n#include <stddef.h>\n#include <stdint.h>\n#include <math.h>",
        f"#define MACRO_ROWS {linear.width}\n#define MACRO_COLUMNS {len(columns)}\n#define MACRO_CLASSES {len(labels)}",
        f"typedef {scalar if products is None else 'double'} NAME_scalar;\ntypedef {scalar} NAME_weight;",
        f"static const uint32_t NAME_columns[] = {{{_numbers(columns)}}};",
        f"static const NAME_weight NAME_weights[] = {{{_numbers(weights.astype(np.float64).ravel())}}};",
        f"static const double NAME_intercept[] = {{{_numbers(linear.intercept)}}};",
    ]
    files = [
        "scores.h" if products is None else "products.h",
        "number.h" if model.is_regression else "decide.h",
        "sparse.h",
    ]
    fills |= {} if products is None else _product_fills(products, scalar)
    encoder = model.encoder
    if encoder is None:
        head.append(f"#define MACRO_NUMBERS {model.features}")
        files += ["dense.h", "predict.h"]
    elif isinstance(encoder, LineEncoder):
        files += _line_files(encoder)
        head += [f"#define MACRO_MASK {(1 << encoder.bits) - 1}u"] if encoder.hashed else []
    elif encoder.hashed:
        raise ModelError("C code has no categories, dates and texts of tables: use --to onnx or --to json")
    else:
        head.append(f"#define MACRO_NUMBERS {len(encoder.numbers)}")
        files += ["standardized.h", "predict.h"]
        fills["MEANS"] = _numbers(np.array([column.mean for column in encoder.numbers]))
        fills["DEVIATIONS"] = _numbers(np.array([column.scale for column in encoder.numbers]))
    if model.calibrator is not None:
        files.append("probabilities.h")
        fills |= _curve_fills(model.calibrator.curves)
    code = "\n".join([*head, *(_template(file) for file in files)])
    code = re.sub(rf"\b({'|'.join(fills)})\b", lambda found: fills[found[1]], code)
    code = re.sub(r"\b(NAME|MACRO)(?=_)", lambda found: name if found[1] == "NAME" else name.upper(), code)
    if labels:  # behind the templates, so that no label is filled in
        code += f"static const char *const {name}_classes[] = {{{', '.join(map(c_string, labels))}}};\n"
    return code + "#endif\n"


def c_string(text: Any) -> str:
    """A string of C: every byte as an octal escape, so that no byte means anything to a compiler.

    >>> print(c_string("a?"))
    "\\141\\077"
    """
    return '"' + "".join(f"\\{byte:03o}" for byte in str(text).encode("utf-8", "replace")) + '"'


def _template(file: str) -> str:
    return (resources.files("rosenblatt.models") / "c" / file).read_text()


def _line_files(encoder: LineEncoder) -> list[str]:
    """The functions for names or words of a line; none for numbered columns."""
    if not encoder.hashed:
        return []
    if encoder.format != "vw":
        return ["hash.h", "separator.h", f"{encoder.grams}.h", "text.h"]
    if encoder.interactions:
        raise ModelError("C code has no interactions of namespaces: predict with rosenblatt, or use --to json")
    return ["hash.h", "names.h"]


def _product_fills(products: Products, scalar: str) -> dict[str, str]:
    lanes, terms = 8 if scalar == "float" else 4, count_terms(len(products.columns))
    blocks = terms // (4 * lanes) * 4 * lanes
    end = blocks + (terms - blocks) // lanes * lanes
    ends = {"BLOCKS_END": blocks, "LANES_END": end, "HALVES_END": end + (terms - end) // (lanes // 2) * (lanes // 2)}
    return {
        **{key: str(value) for key, value in ends.items()},
        "TERMS": str(terms),
        "LANES": str(lanes),
        "CENTERS": _numbers(products.center),
        "SCALES": _numbers(products.scale),
        "FARTHEST": repr(FARTHEST_VALUE),
        "SHARE": f"{float(np.float32(products.share))!r}f",
    }


def _curve_fills(curves: Sequence[Curve]) -> dict[str, str]:
    sigmoids = [curve.sigmoid or (0.0, 0.0) for curve in curves]
    return {
        "HAS_SIGMOID": ", ".join(str(int(curve.sigmoid is not None)) for curve in curves),
        "SLOPES": _numbers(a for a, _ in sigmoids),
        "OFFSETS": _numbers(b for _, b in sigmoids),
        "STARTS": _numbers(np.cumsum([0, *(len(curve.scores) for curve in curves)])),
        "POINTS": _numbers(np.concatenate([curve.scores for curve in curves])),
        "LEVELS": _numbers(np.concatenate([curve.levels for curve in curves])),
    }


def _numbers(values: NDArray[Any] | Iterable[float]) -> str:
    plain = values.tolist() if isinstance(values, np.ndarray) else values
    return ", ".join(map(repr, plain)) or "0"
