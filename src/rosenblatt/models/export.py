"""A model of weights for places without rosenblatt: JSON, ONNX and C. Fitted learners are exported as their models.

Invariant: an exported model predicts the same class as the model for every row, except for scores that rounding
decides. The C code adds in the engine's order of sparse rows, so its scores of them have the same bits unless the
compiler fuses multiplications and additions.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.encode.lines import SMALL, LineEncoder
from rosenblatt.encode.table import ALSO, TableEncoder
from rosenblatt.errors import MissingExtraError, ModelError
from rosenblatt.models.calibrator import Calibrator, Curve
from rosenblatt.models.model import Model, model_of
from rosenblatt.models.predictions import labels_to_json
from rosenblatt.models.predictors import FARTHEST_VALUE, Products

MAX_DENSE = 1 << 24  # weights of an ONNX model, whose rows are dense


def to_json(model: Any) -> str:
    """The whole model as one JSON object: a list of [column, name or null, weight of each class].

    With products, these are the terms that they describe: the columns, then the products, row by row of the upper
    triangle. Probabilities are curves of the score, or with more than two classes of a class's lead over the next.
    """
    model = _without_idf(model_of(model))
    linear, products = model.weights()
    columns = linear.columns()
    content = {
        "learner": model.learner,
        "classes": labels_to_json(model.classes),
        "features": model.features,
        "intercept": linear.intercept,
        "weights": [
            [column, model.terms.get(column), *weights]
            for column, weights in zip(columns.tolist(), linear.at(columns).T.tolist(), strict=True)
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
        content["products"] = vars(products) | {
            "farthest": FARTHEST_VALUE,
            "share": products.share,
            "rule": "z = (value - center) / scale, at most farthest from 0, in float32; the values are all z_j, then "
            "share * z_j * z_k for j <= k, less share where j = k",
        }
    if model.calibrator is not None:
        content["probabilities"] = {
            "curves": [vars(curve) for curve in model.calibrator.curves],
            "rule": "p = the mean of 1 / (1 + exp(-(a s + b))) for sigmoid [a, b] and of the levels, interpolated "
            "between the scores, if both are there; with two classes s is the score and p belongs to the second, with "
            "more s is the score less the highest other one, and the p of all classes are divided by their sum",
        }
    return json.dumps(content, ensure_ascii=False, default=np.ndarray.tolist)


def _without_idf(model: Model) -> Model:
    """The model with the idf weights of words multiplied into its own weights, unless it has products."""
    idf, (linear, products) = getattr(model.encoder, "idf", None), model.weights()
    if idf is None or products is not None:
        return model
    scale, base = np.ones(model.features), model.encoder.base
    scale[base : base + len(idf)] = 1.0 / idf
    return replace(model, parts=(linear.divided(scale),), encoder=replace(model.encoder, use_idf=False, idf=None))


class _Graph:
    """The nodes of an ONNX model."""

    def __init__(self) -> None:
        from onnx import helper, numpy_helper

        self._helper, self._from_array = helper, numpy_helper.from_array
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def op(self, kind: str, *inputs: Any, out: str | None = None, **attributes: Any) -> str:
        """The first output of a node; inputs that are not names are constants."""
        names = [each if isinstance(each, str) else self._constant(each) for each in inputs]
        name = out or f"v{len(self.nodes)}"
        domain = "ai.onnx.ml" if kind == "LabelEncoder" else ""
        outputs = [name, f"{name}.places"] if kind == "TopK" else [name]
        self.nodes.append(self._helper.make_node(kind, names, outputs, domain=domain, **attributes))
        return name

    def _constant(self, value: Any) -> str:
        name = f"c{len(self.constants)}"
        self.constants.append(self._from_array(np.ascontiguousarray(value), name))
        return name


def to_onnx(model: Any) -> bytes:
    """An ONNX model in float64; ``label`` and ``scores`` out, and ``probabilities`` if the model has them.

    In goes ``X``, rows of numbers (NaN for a missing one), and for a table a column of texts for each category, by its
    name (an empty text for a missing one). A regression has ``prediction`` instead. An unknown category
    has weight 0.
    """
    try:
        import onnx
        from onnx import TensorProto, helper
    except ImportError:
        raise MissingExtraError("onnx", "export") from None
    model = model_of(model)
    linear, products = model.weights()
    encoder, graph = model.encoder, _Graph()
    if isinstance(encoder, LineEncoder):
        if encoder.hashed:
            raise ModelError("a model of hashed text cannot be exported to ONNX, which has no hash: use --to json or c")
        encoder = None
    # Each feature adds a row of `adds`: its weights, or, with products, itself.
    numbers = model.features if encoder is None else len(encoder.numbers)
    height = linear.width if products is None else len(products.columns)
    if not model.features:
        raise ModelError("the model has no features yet, and an ONNX model needs at least one")
    if numbers * height > MAX_DENSE:
        raise ModelError(f"{numbers:,} features are too many for ONNX, which takes dense rows: use --to json or c")

    def adds(columns: Any) -> NDArray[np.float64]:
        """What these features add, of shape (height, columns)."""
        found = linear.at(columns) if products is None else np.equal.outer(products.columns, np.asarray(columns))
        return np.asarray(found, np.float64)

    inputs = [("X", TensorProto.DOUBLE, [None, numbers])] if numbers else []
    parts: list[str] = []
    outputs: list[tuple[str, int, list[Any]]]
    if encoder is None:
        parts.append(graph.op("MatMul", "X", adds(np.arange(numbers)).T))
    elif numbers:
        places = [*range(numbers), *(numbers + encoder.used.index(column) for column in encoder.numbers)]
        missing = graph.op("IsNaN", "X")
        centered = graph.op("Sub", "X", np.array([column.mean for column in encoder.numbers]))
        scaled = graph.op("Div", centered, np.array([column.scale for column in encoder.numbers]))
        present = graph.op("Where", missing, 0.0, scaled)
        indicators = graph.op("Cast", missing, to=TensorProto.DOUBLE)
        encoded = graph.op("Concat", present, indicators, axis=1)
        parts.append(graph.op("MatMul", encoded, adds(places).T))
    for name, values in ({} if encoder is None else _categories(encoder, model.names)).items():
        inputs.append((name, TensorProto.STRING, [None, 1]))
        rows = np.vstack([np.zeros((1, height)), adds(list(values.values())).T])
        codes: dict[str, Any] = {"keys_strings": list(values), "values_int64s": range(1, len(rows)), "default_int64": 0}
        place = graph.op("LabelEncoder", name, **codes)
        parts.append(graph.op("Gather", rows, graph.op("Reshape", place, np.array([-1]))))
    source = graph.op("Sum", *parts)
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
        whole = model.classes.dtype.kind in "iu" and int(model.classes[-1]) < 2**63
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
    return exported.SerializeToString()


def _categories(encoder: TableEncoder, features: Mapping[int, Any]) -> dict[str, dict[str, int]]:
    """For each column of categories the feature of each known value, and of a missing one."""
    found: dict[str, dict[str, int]] = {}
    for place, column in enumerate(encoder.used):
        if column.kind in ("text", "date"):
            raise ModelError(f"the {column.kind} column {column.name!r} cannot be exported to ONNX: use --to json")
        if column.kind == "category":
            found[column.name] = {"": len(encoder.numbers) + place}
    begins = "|".join(re.escape(f"{name}=") for name in sorted(found, key=len, reverse=True))
    for at, names in features.items():
        for name in re.split(f"{re.escape(ALSO)}(?={begins})", str(names)) if found and at >= encoder.base else ():
            if begin := re.match(begins, name):
                found[begin[0][:-1]][name[begin.end() :]] = at
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
    top = graph.op("TopK", "scores", np.array([2]), axis=1)
    best, second = (graph.op("Gather", top, np.array([k]), axis=1) for k in (0, 1))
    leads = graph.op("Sub", "scores", graph.op("Where", graph.op("Equal", "scores", best), second, best))
    parts = [
        _curve(graph, curve, graph.op("Gather", leads, np.array([k]), axis=1))
        for k, curve in enumerate(calibrator.curves)
    ]
    found = graph.op("Concat", *parts, axis=1)
    total = graph.op("ReduceSum", found, np.array([1]), keepdims=1)
    none = graph.op("Not", graph.op("Greater", total, 0.0))
    graph.op("Where", none, 1.0 / width, graph.op("Div", found, total), out="probabilities")


def _curve(graph: _Graph, curve: Curve, s: str) -> str:
    """The probability for scores of shape (rows, 1)."""
    parts = []
    if curve.sigmoid is not None:
        a, b = curve.sigmoid
        parts.append(graph.op("Sigmoid", graph.op("Add", graph.op("Mul", s, a), b)))
    x, y = curve.scores, curve.levels
    if len(x):
        # Place 0 is below the first point, place k at or above the k-th.
        at_or_above = graph.op("Cast", graph.op("GreaterOrEqual", s, x[None]), to=7)  # 7: INT64
        place = graph.op("ReduceSum", at_or_above, np.array([1]), keepdims=1)
        widths = np.diff(x)
        slopes = np.where(widths > 0, np.diff(y) / np.where(widths > 0, widths, 1.0), 0.0)
        level, start, slope = (
            graph.op("Gather", np.concatenate(each), place) for each in ((y[:1], y), (x[:1], x), ([0.0], slopes, [0.0]))
        )
        parts.append(graph.op("Add", level, graph.op("Mul", graph.op("Sub", s, start), slope)))
    return parts[0] if len(parts) == 1 else graph.op("Mul", graph.op("Add", *parts), 0.5)


def to_c(model: Any, name: str = "model") -> str:
    """One header for C (from C99 on) and C++, without dependencies beyond the C library.

    ``<name>_predict(row)`` takes the raw numbers of a row (NaN for a missing one), if the model reads numbers;
    ``<name>_predict_sparse(index, value, count)`` takes columns in rising order. A model that hashes has the hash too:
    ``<name>_predict_text(text, length)`` for labeled text, ``<name>_predict_names(spaces, names, values, count)`` for
    Vowpal Wabbit's. All return a place in ``<name>_classes``; those of a regression return its number.
    ``<name>_probabilities(scores, probabilities)`` is there if the model has probabilities.
    """
    if not re.fullmatch(r"[a-z_][a-z0-9_]*", name):
        raise ModelError(f"{name!r} cannot begin the names of C functions")
    model = _without_idf(model_of(model))
    linear, products = model.weights()
    if products is not None:
        raise ModelError("products of columns cannot be exported to C: use --to onnx or json, or train --no-products")
    columns, labels, encoder = linear.columns(), labels_to_json(model.classes), model.encoder
    weights = linear.at(columns).T
    macros: dict[str, Any] = {"ROWS": linear.width, "COLUMNS": len(columns), "CLASSES": len(labels)}
    macros |= {"RESULT": "int", "FAILED": "(-1)"} if labels else {"RESULT": "double", "FAILED": "HUGE_VAL"}
    arrays: dict[str, Iterable[Any]] = {
        "uint32_t NAME_columns": columns.tolist(),
        "NAME_scalar NAME_weights": weights.astype(np.float64).ravel().tolist(),
        "double NAME_intercept": linear.intercept.tolist(),
        "char *const NAME_classes": map(c_string, labels),
    }
    if encoder is None:
        macros["NUMBERS"] = model.features
    elif isinstance(encoder, LineEncoder):
        if encoder.interactions:
            raise ModelError("interactions of namespaces cannot be exported to C: use --to json")
        if encoder.hashed:
            macros |= {"MASK": f"{(1 << encoder.bits) - 1}u", "VW" if encoder.format == "vw" else "TEXT": 1}
        if "TEXT" in macros:
            macros |= {"RUNS": int(encoder.grams == "characters"), "PAIRS": int(encoder.grams == "pairs")}
            arrays["short NAME_small"] = list(map(ord, SMALL))
    elif encoder.hashed:
        raise ModelError("categories, dates and text cannot be exported to C: use --to json, or onnx for categories")
    else:
        macros |= {"NUMBERS": len(encoder.numbers), "TABLE": 1}
        arrays["double NAME_means"] = [column.mean for column in encoder.numbers]
        arrays["double NAME_scales"] = [column.scale for column in encoder.numbers]
    if model.calibrator is not None:
        macros["PROBABILITIES"] = 1
        arrays |= _curve_arrays(model.calibrator.curves)
    code = [
        # No text of the model goes into a comment: the end of a comment in a label would make the rest code.
        f"/* A model of {len(labels) or 'no'} classes and {model.features} features, written by rosenblatt. */",
        "#ifndef MACRO_H\n#define MACRO_H\n#include <math.h>\n#include <stddef.h>\n#include <stdint.h>",
        "#include <stdlib.h>\n#include <string.h>\n#ifdef __GNUC__",
        "#define MACRO_STATIC static __attribute__((unused))\n#else\n#define MACRO_STATIC static\n#endif",
        *(f"#define MACRO_{macro} {value}" for macro, value in macros.items()),
        f"typedef {'float' if weights.dtype == np.float32 else 'double'} NAME_scalar;",
        *(f"MACRO_STATIC const {array}[] = {{{', '.join(map(str, v)) or '0'}}};" for array, v in arrays.items()),
        (resources.files("rosenblatt.models") / "model.h").read_text(),
        "#endif\n",
    ]
    return re.sub(r"\b(NAME|MACRO)(?=_)", lambda found: name if found[1] == "NAME" else name.upper(), "\n".join(code))


def c_string(text: Any) -> str:
    """A string of C: every byte as an octal escape, so that no byte means anything to a compiler.

    >>> print(c_string("a?"))
    "\\141\\077"
    """
    return '"' + "".join(f"\\{byte:03o}" for byte in str(text).encode("utf-8", "replace")) + '"'


def _curve_arrays(curves: Sequence[Curve]) -> dict[str, Iterable[Any]]:
    sigmoids = [curve.sigmoid or (0.0, 0.0) for curve in curves]
    return {
        "int NAME_has_sigmoid": [int(curve.sigmoid is not None) for curve in curves],
        "double NAME_slopes": [slope for slope, _ in sigmoids],
        "double NAME_offsets": [offset for _, offset in sigmoids],
        "size_t NAME_starts": np.cumsum([0, *(len(curve.scores) for curve in curves)]).tolist(),
        "double NAME_points": np.concatenate([curve.scores for curve in curves]).tolist(),
        "double NAME_levels": np.concatenate([curve.levels for curve in curves]).tolist(),
    }
