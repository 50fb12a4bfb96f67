"""Params: every parameter of every learner is written as JSON and read again, exactly or with an error."""

import datetime
import json
import math
from typing import Any

import numpy as np
import pytest
from rejected import rejected

import rosenblatt
from rosenblatt.errors import ParameterError
from rosenblatt.params import AROWParams, make_params, params_from_json, values_from_json, values_to_json

VALUES = [
    None, True, 3, 0.1, math.inf, "text", {"spam": 2.0, "ham": 1}, {1: 2.0, 0: 0.5}, {True: 3.0, False: 1.0},
    {datetime.date(2024, 2, 1): 2.0}, {datetime.datetime(2024, 2, 1, 12): 2.0}, {np.datetime64("2024-02-01", "ns"): 1},
    {np.str_("a"): np.float32(0.5), np.int64(7): 1.0}, (1.0, [2, 3]), np.float64(0.25), np.int64(4), np.bool_(True),
]  # fmt: skip


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_a_value_comes_back_as_it_was(value: Any) -> None:
    written = json.loads(json.dumps(values_to_json({"x": value})))
    found = values_from_json(written)["x"]
    assert found == value
    if isinstance(value, dict):
        assert all(hash(a) == hash(b) for a, b in zip(found, value, strict=True))


@pytest.mark.parametrize("beside", [True, False])
def test_arrays_come_back_inside_and_beside_the_json(beside: bool) -> None:
    init = (np.array([[1.5, -2.0]], np.float32), np.array([0.25]))
    written = values_to_json({"init": init}, arrays=beside)
    found = values_from_json(written if beside else json.loads(json.dumps(written)))["init"]
    assert [each.dtype for each in found] == [each.dtype for each in init]
    assert all(np.array_equal(a, b) for a, b in zip(found, init, strict=True))


@pytest.mark.parametrize("make", [np.random.default_rng, np.random.RandomState])
def test_a_generator_goes_on_where_it_was(make: Any) -> None:
    rng = make(7)
    rng.random(3)
    found = values_from_json(json.loads(json.dumps(values_to_json({"random_state": rng}))))["random_state"]
    assert found.random() == rng.random()


def test_a_function_cannot_be_written() -> None:
    with rejected("parameter", "kernel="):
        make_params("kernel", kernel=lambda a, b: a @ b.T).to_json()


def test_an_unknown_parameter_or_learner_is_an_error() -> None:
    for wrong in ({"learner": "Nobody"}, {"learner": "AROW", "nothing": 1}, {"learner": "AROW", "r": -1.0}, {}):
        with pytest.raises(ParameterError):
            params_from_json(wrong)
    with rejected("parameter", "keep='vote'"):  # which AROW does not offer
        AROWParams(keep="vote").check()


@pytest.mark.parametrize("name", ["Perceptron", "AROW", "KernelPerceptron", "PassiveAggressiveRegressor"])
def test_a_positional_parameter_is_an_error_that_names_the_learner(name: str) -> None:
    with pytest.raises(TypeError, match=rf"^{name}\.__init__"):
        getattr(rosenblatt, name)(1.0)
