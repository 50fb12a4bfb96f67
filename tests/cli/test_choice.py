"""train without a learner: what it chooses, and that the run is as any other."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from command import run, train

import rosenblatt
from rosenblatt import load
from rosenblatt.cli import job
from rosenblatt.cli.main import main


@pytest.fixture
def uneven(tmp_path):
    """Columns of very different sizes, in three classes that lines nearly separate."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 4))
    y = np.argmax(X[:, :3] + 0.1 * rng.standard_normal((600, 3)), axis=1)
    path = tmp_path / "uneven.svm"
    X *= [1.0, 1.0, 1.0, 1000.0]
    lines = (
        f"{k} " + " ".join(f"{j + 1}:{v!r}" for j, v in enumerate(row)) for k, row in zip(y, X.tolist(), strict=True)
    )
    path.write_text("\n".join(lines))
    return path


def test_without_a_learner_it_becomes_what_auto_perceptron_does(uneven, tmp_path):
    facts = train(uneven, "-o", tmp_path / "m", "--seed", 4)
    data = rosenblatt.read(uneven)
    auto = rosenblatt.AutoPerceptron(random_state=4).fit(data.X[:, 1:], data.y)
    assert auto.scaling_ is not None
    assert facts["choice"] == auto.choice_
    assert facts["tried"] == auto.scores_
    model = load(tmp_path / "m")
    np.testing.assert_array_equal(model.linear().weights[:, 1:], auto.coef_)
    np.testing.assert_array_equal(model.decision_function(data.X), auto.decision_function(data.X[:, 1:]))
    assert model.learner == type(auto.best_).__name__
    assert f"rosenblatt: chose {auto.choice_}\n" in run("train", uneven, "-o", tmp_path / "m", "--seed", 4).stderr
    assert auto.choice_ in run("inspect", tmp_path / "m").stdout


def test_training_loads_neither_scikit_learn_nor_pandas(tmp_path):
    """Each takes longer to load than to learn a small file."""
    data = tmp_path / "rows.csv"
    data.write_text("a,b,kind\n" + "1,red,x\n2,,y\n,red,x\n3,blue,y\n" * 50)
    code = (
        "import sys; from rosenblatt.cli.main import main; main(sys.argv[1:]);"
        "print([name for name in ('sklearn', 'pandas') if name in sys.modules])"
    )
    words = [sys.executable, "-c", code, "train", data, "--label", "kind", "--quiet", "-o", tmp_path / "m"]
    assert subprocess.run(words, capture_output=True, text=True, check=True).stdout == "[]\n"


def test_the_choice_is_made_on_evenly_taken_rows_and_learned_from_all(uneven, tmp_path, monkeypatch):
    from rosenblatt.io import open_dataset
    from rosenblatt.training import select as choice

    data = rosenblatt.read(uneven)
    most = len(data.values) * 12 // 3
    monkeypatch.setattr(choice, "SAMPLE_BYTES", most)
    for chunk in (100, 5000, 1 << 20):
        reader = open_dataset(uneven)
        reader.chunk = chunk
        sample, step = reader.load().sample(most)
        assert step == 4
        np.testing.assert_array_equal(sample.X.toarray(), data.X[::4].toarray())
        np.testing.assert_array_equal(reader.read_classes().values[sample.codes], data.y[::4])
    facts = train(uneven, "-o", tmp_path / "m")
    auto = rosenblatt.AutoPerceptron().fit(data.X[::4, 1:], data.y[::4])
    assert facts["choice"] == f"{auto.choice_} (on every 4-th row)"
    assert facts["rows"] == 600
    train(uneven, "-o", tmp_path / "again")
    assert (tmp_path / "m").read_bytes() == (tmp_path / "again").read_bytes()


def test_a_chosen_and_scaled_run_is_resumed_with_the_same_bytes(uneven, tmp_path):
    from rosenblatt.training import checkpoint

    words = [uneven, "--block", "64", "-o", tmp_path / "m"]
    expected = train(*words)
    content = (tmp_path / "m").read_bytes()

    class Killed(Exception):
        pass

    for stop_after in (1, 5, 20):
        calls = []

        def save_and_stop(run, path, extra, calls=calls, stop_after=stop_after, save=checkpoint.save_checkpoint):
            save(run, path, extra)
            calls.append(path)
            if len(calls) == stop_after:
                raise Killed

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(checkpoint, "save_checkpoint", save_and_stop)
            with pytest.raises(Killed):
                main(
                    [
                        "train",
                        *map(str, words),
                        "--checkpoint",
                        str(tmp_path / "c"),
                        "--checkpoint-every",
                        "0s",
                        "--quiet",
                    ]
                )
        (tmp_path / "m").unlink()
        facts = train("--resume", tmp_path / "c", "-o", tmp_path / "m")
        assert (tmp_path / "m").read_bytes() == content
        assert facts["choice"] == expected["choice"]
        assert facts["mistakes"] == expected["mistakes"]


def test_too_many_weights_to_try_several_learners(rows, tmp_path, monkeypatch):
    from rosenblatt.training import select as choice

    monkeypatch.setattr(choice, "MOST_WEIGHTS", 8)
    facts = train(rows, "-o", tmp_path / "m")
    # a row is 1 and 0.5: ‖x‖² + 1 = 2.25
    assert facts["choice"] == "AROW(r=1.1): 2 classes and 9 columns are too many to try several side by side"
    assert facts["parameters"]["r"] == 1.1


def test_what_may_take_long_or_mean_nothing_is_said_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "x.csv").write_text("a,b,name\n" + "".join(f"{k},{k % 7},n{k}\n" for k in range(60)))
    monkeypatch.setattr(job, "MANY_KERNEL_ROWS", 50)
    said = run("train", tmp_path / "x.csv", "-o", tmp_path / "m", "--learner", "kernel", "--max-iter", "1").stderr
    assert "name: 60 different labels in 60 rows" in said
    assert "60 rows may take long" in said
    words = ["--learner", "kernel", "--max-iter", "1", "--budget", "5"]
    said = run("train", tmp_path / "x.csv", "-o", tmp_path / "m", *words).stderr
    assert "may take long" not in said
