"""A model of weights for where rosenblatt is not: JSON and ONNX.

Invariant: an exported model names the same class as the model for every row, but for scores that rounding decides.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.encode.lines import LineEncoder
from rosenblatt.errors import MissingExtraError, ModelError
from rosenblatt.models.model import Model
from rosenblatt.models.quadratic import FARTHEST_VALUE

MOST_DENSE = 1 << 24  # weights of an ONNX model, whose rows are dense


def to_json(model: Model) -> str:
    """The whole model as one JSON object: a list of [column, name or null, weight of each class].

    With products, these are the terms that they say: the columns, then the products, row by row of the upper triangle.
    """
    linear, products = model.weights()
    columns, names = linear.columns(), dict(model.names)
    if products is not None:
        names = dict(enumerate(products.names([model.name_of(j) for j in products.columns.tolist()])))
    content = {
        "learner": model.learner,
        "classes": model.classes.tolist(),
        "features": model.features,
        "intercept": linear.intercept.tolist(),
        "weights": [
            [int(column), names.get(int(column)), *weights]
            for column, weights in zip(columns, linear.weights[:, columns].T.tolist(), strict=True)
        ],
        "products": None,
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
    return json.dumps(content, ensure_ascii=False)


def to_onnx(model: Model) -> bytes:
    """An ONNX model in float64: rows of numbers in (NaN where one is missing), ``label`` and ``scores`` out.

    A regression has ``prediction`` instead of both.
    """
    try:
        from onnx import TensorProto, helper, numpy_helper
    except ImportError:
        raise MissingExtraError("onnx", "export") from None
    linear, products = model.weights()
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
    if only_numbers(model):
        numbers = model.encoder.numbers
        width = len(numbers)
        constants |= {
            "mean": np.array([c.mean for c in numbers]),
            "scale": np.array([c.scale for c in numbers]),
            "zero": np.array(0.0),
        }
        nodes += [
            helper.make_node("IsNaN", ["X"], ["missing"]),
            helper.make_node("Sub", ["X", "mean"], ["centered"]),
            helper.make_node("Div", ["centered", "scale"], ["scaled"]),
            helper.make_node("Where", ["missing", "zero", "scaled"], ["there"]),
            helper.make_node("Cast", ["missing"], ["indicators"], to=TensorProto.DOUBLE),
            helper.make_node("Concat", ["there", "indicators"], ["encoded"], axis=1),
        ]
        source = "encoded"
    if products is not None:
        one, other = np.triu_indices(len(products.columns))
        share = np.float32(products.share)
        constants |= {
            "columns": products.columns,
            "column_center": products.center,
            "column_scale": products.scale,
            "nearest": np.array(-FARTHEST_VALUE),
            "farthest": np.array(FARTHEST_VALUE),
            "share": np.asarray(share),
            "one": one,
            "other": other,
            "taken": np.where(one == other, share, np.float32(0)),
        }
        nodes += [
            helper.make_node("Gather", [source, "columns"], ["chosen"], axis=1),
            helper.make_node("Sub", ["chosen", "column_center"], ["chosen_centered"]),
            helper.make_node("Div", ["chosen_centered", "column_scale"], ["chosen_scaled"]),
            helper.make_node("Clip", ["chosen_scaled", "nearest", "farthest"], ["chosen_cut"]),
            helper.make_node("Cast", ["chosen_cut"], ["z"], to=TensorProto.FLOAT),
            helper.make_node("Mul", ["z", "share"], ["z_shared"]),
            helper.make_node("Gather", ["z_shared", "one"], ["z_one"], axis=1),
            helper.make_node("Gather", ["z", "other"], ["z_other"], axis=1),
            helper.make_node("Mul", ["z_one", "z_other"], ["z_product"]),
            helper.make_node("Sub", ["z_product", "taken"], ["z_products"]),
            helper.make_node("Concat", ["z", "z_products"], ["z_terms"], axis=1),
            helper.make_node("Cast", ["z_terms"], ["terms"], to=TensorProto.DOUBLE),
        ]
        source = "terms"
    constants |= {"weights": np.ascontiguousarray(linear.weights.T, np.float64), "intercept": linear.intercept}
    nodes += [
        helper.make_node("MatMul", [source, "weights"], ["product"]),
        helper.make_node("Add", ["product", "intercept"], ["scores"]),
    ]
    if model.is_regression:
        constants["flat"] = np.array([-1], np.int64)
        nodes.append(helper.make_node("Reshape", ["scores", "flat"], ["prediction"]))
        return _onnx(nodes, constants, width, [("prediction", TensorProto.DOUBLE, [None])])
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
    known = (
        helper.make_tensor("classes", TensorProto.STRING, [len(classes)], [c.encode() for c in classes])
        if strings
        else numpy_helper.from_array(classes, "classes")
    )
    kind = TensorProto.STRING if strings else TensorProto.INT64
    outputs = [("label", kind, [None]), ("scores", TensorProto.DOUBLE, [None, len(linear.intercept)])]
    return _onnx(nodes, constants, width, outputs, [known])


def _onnx(
    nodes: list[Any], constants: dict[str, NDArray[Any]], width: int, outputs: list[Any], more: Sequence[Any] = ()
) -> bytes:
    """The bytes of a model that takes rows of so many numbers."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    initializers = [numpy_helper.from_array(np.asarray(array), key) for key, array in constants.items()]
    graph = helper.make_graph(
        nodes,
        "rosenblatt",
        [helper.make_tensor_value_info("X", TensorProto.DOUBLE, [None, width])],
        [helper.make_tensor_value_info(*output) for output in outputs],
        [*initializers, *more],
    )
    exported = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8, producer_name="rosenblatt"
    )
    onnx.checker.check_model(exported)
    content: bytes = exported.SerializeToString()
    return content


def only_numbers(model: Model) -> bool:
    """Does it read columns of numbers, and nothing else?"""
    return model.encoder is not None and not isinstance(model.encoder, LineEncoder) and not model.encoder.hashed


def _raw(model: Model) -> bool:
    return isinstance(model.encoder, LineEncoder) or only_numbers(model)
