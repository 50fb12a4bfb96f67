"""A model that was trained on a file reads raw columns: a frame is encoded as the file was."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import rosenblatt
from rosenblatt.cli.main import main
from rosenblatt.errors import DataError, ParameterError

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def days(n: int = 120) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "degrees": 100 + 5 * rng.normal(size=n),
            "sky": rng.choice(["blue", "grey", "black"], n),
            "day": pd.date_range("2020-01-01", periods=n).astype(str),
        }
    )
    frame["rain"] = (frame.degrees - 100) / 5 + 2.0 * (frame.sky == "black") + 0.1 * rng.normal(size=n)
    frame["wet"] = np.where(frame.rain > 0.5, "yes", "no")
    return frame


RAW = ["degrees", "sky", "day"]
PARAMS = {"classes": ("wet", "averaged"), "chosen": ("wet", "auto"), "numbers": ("rain", "pa-regression")}


@pytest.fixture(scope="module", params=PARAMS)
def trained(request: Any, tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Path, str]:
    label, params = PARAMS[request.param]
    folder, frame = tmp_path_factory.mktemp("days"), days()
    frame[[*RAW, label]].to_csv(folder / "days.csv", index=False)
    learner = rosenblatt.PassiveAggressiveRegression(max_iter=20) if label == "rain" else params
    model = rosenblatt.train(folder / "days.csv", learner, label=label)
    rosenblatt.save(model, folder / "m")
    return model, folder, label


def test_a_frame_is_predicted_as_the_command_predicts_its_file(trained: tuple[Any, Path, str], capsys: Any) -> None:
    _, folder, label = trained
    days()[RAW].to_csv(folder / "raw.csv", index=False)
    assert main(["predict", str(folder / "m"), str(folder / "raw.csv")]) == 0
    said = capsys.readouterr().out.split()[-len(days()) :]
    found = rosenblatt.load(folder / "m").predict(days())
    if label == "wet":
        assert said == found.tolist()
    else:
        np.testing.assert_allclose(np.array(said, float), found, rtol=1e-4)


def test_columns_may_stand_in_any_order_and_in_any_frame(trained: tuple[Any, Path, str]) -> None:
    model, folder, label = trained
    expected = model.decision_function(days()[RAW])
    loaded = rosenblatt.load(folder / "m")
    for frame in (days(), days()[RAW[::-1]], pl.from_pandas(days()[RAW]), days().assign(more="x")):
        for one in (model, loaded):
            np.testing.assert_array_equal(one.decision_function(frame), expected)
    if label == "wet":
        assert np.mean(model.predict(days()) == days().wet) > 0.9
    with pytest.raises(DataError, match="X is empty"):
        loaded.predict(days()[:0])


def test_a_loaded_model_goes_on_with_frames(trained: tuple[Any, Path, str]) -> None:
    _, folder, label = trained
    loaded = rosenblatt.load(folder / "m")
    before = loaded.decision_function(days())
    loaded.partial_fit(days()[RAW], days()[label].to_numpy())
    assert loaded.decision_function(days()[RAW]).shape == before.shape
    assert np.isfinite(loaded.decision_function(days()[RAW])).all()


def test_columns_without_names_and_missing_columns_are_refused(trained: tuple[Any, Path, str]) -> None:
    model, folder, _ = trained
    for one in (model, rosenblatt.load(folder / "m")):
        with pytest.raises(DataError, match="X has 3 columns without names, and the model reads columns by name"):
            one.predict(days()[RAW].to_numpy())
        with pytest.raises(DataError, match="the column 'sky' is missing"):
            one.predict(days()[["degrees", "day"]])


def test_a_model_says_what_it_is_in_one_short_line(trained: tuple[Any, Path, str]) -> None:
    model, folder, label = trained
    for one in (model, rosenblatt.load(folder / "m")):
        assert repr(one).startswith(f"<model of {model.learner}: {'2 classes' if label == 'wet' else 'numbers'}, ")
        assert len(repr(one)) < 100


def test_an_estimator_is_trained_with_options_of_reading_and_no_other_parameters(tmp_path: Path) -> None:
    days().to_csv(tmp_path / "days.csv", index=False)
    model = rosenblatt.train(tmp_path / "days.csv", rosenblatt.Perceptron(), label="wet")
    assert model.encoder.label == "wet"
    with pytest.raises(ParameterError, match="max_iter"):
        rosenblatt.train(tmp_path / "days.csv", rosenblatt.Perceptron(), label="wet", max_iter=3)
