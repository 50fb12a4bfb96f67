"""Params: every parameter of every learner is written as JSON and read again, exactly or with an error."""

from __future__ import annotations

import datetime
import json
import math
from dataclasses import fields
from typing import Any

import numpy as np
import pytest

import rosenblatt
from rosenblatt.errors import ParameterError
from rosenblatt.params import FAMILY, AROWParams, make_params, params_from_json, values_from_json, values_to_json

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
    arrays: dict[str, Any] | None = {} if beside else None
    written = json.loads(json.dumps(values_to_json({"init": init}, arrays)))
    found = values_from_json(written, arrays)["init"]
    assert [each.dtype for each in found] == [each.dtype for each in init]
    assert all(np.array_equal(a, b) for a, b in zip(found, init, strict=True))


@pytest.mark.parametrize("make", [np.random.default_rng, np.random.RandomState])
def test_a_generator_goes_on_where_it_was(make: Any) -> None:
    rng = make(7)
    rng.random(3)
    found = values_from_json(json.loads(json.dumps(values_to_json({"random_state": rng}))))["random_state"]
    assert found.random() == rng.random()


def test_a_function_cannot_be_written() -> None:
    with pytest.raises(ParameterError, match=r"kernel=.*cannot be written"):
        make_params("kernel", kernel=lambda a, b: a @ b.T).to_json()


@pytest.mark.parametrize("name", FAMILY)
def test_every_parameter_of_every_learner_survives(name: str) -> None:
    params = make_params(name)
    given = {"class_weight": {"a": 2.0}, "tol": None, "max_iter": 7, "random_state": 3, "hash_bits": 9, "C": 0.3}
    given |= {"keep": "average", "init": np.ones((1, 2))}
    for each in fields(params):
        if each.name in given:
            setattr(params, each.name, given[each.name])
    found = params_from_json(json.loads(json.dumps(params.to_json())))
    assert type(found) is type(params)
    for each in fields(params):
        assert np.array_equal(getattr(found, each.name), getattr(params, each.name)), each.name


def test_an_unknown_parameter_or_learner_is_an_error() -> None:
    for wrong in ({"learner": "Nobody"}, {"learner": "AROW", "nothing": 1}, {"learner": "AROW", "r": -1.0}, {}):
        with pytest.raises(ParameterError):
            params_from_json(wrong)


@pytest.mark.parametrize("name", ["Perceptron", "AROW", "KernelPerceptron", "PassiveAggressiveRegressor"])
def test_a_positional_parameter_is_an_error_that_names_the_learner(name: str) -> None:
    with pytest.raises(TypeError, match=rf"^{name}\.__init__"):
        getattr(rosenblatt, name)(1.0)


def test_arow_offers_the_keeps_that_it_takes() -> None:
    with pytest.raises(ParameterError, match="keep='vote': must be 'last' or 'average'"):
        AROWParams(keep="vote").check()
