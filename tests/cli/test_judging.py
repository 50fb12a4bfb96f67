"""--validation and --folds: what cannot be done is said before anything is learned."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command import run


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "table.csv"
    path.write_text("a,b,y\n" + "".join(f"{k},{k % 3},{'yes' if k > 5 else 'no'}\n" for k in range(12)))
    (tmp_path / "narrow.csv").write_text("a,y\n1,yes\n")
    (tmp_path / "empty.csv").write_text("a,b,y\n")
    return path


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (["--validation", "none.csv"], 1, "none.csv: there is no such file"),
        (["--validation", "none*.csv"], 1, "none*.csv: there is no such file"),
        (["--validation", "narrow.csv"], 1, "narrow.csv: the column 'b' is missing"),
        (["--validation", "empty.csv"], 1, "--validation empty.csv: no rows"),
        (["--folds", "13"], 1, "folds=13 of 12 rows: each fold needs at least one row"),
        (["--folds", "1"], 2, "--folds"),
        (["--folds", "3", "--learner", "pa1-regression"], 2, "--folds needs classes"),
        (["--validation", "table.csv", "--learner", "pa1-regression"], 2, "--validation needs classes"),
    ],
)
def test_what_cannot_judge_is_refused_before_learning(table: Path, words: list[str], code: int, sentence: str) -> None:
    said = run("train", table, "-o", "m", *words, check=code).stderr
    assert sentence in said
    assert "chose" not in said
    assert not Path("m").exists()


def test_a_run_that_goes_on_refuses_them_as_well(table: Path) -> None:
    run("train", table, "-o", "m", "--learner", "averaged", "--checkpoint", "c", "--quiet")
    for begun in (["--resume", "c"], [table, "--from", "m"]):
        said = run("train", *begun, "-o", "n", "--validation", "none.csv", check=1).stderr
        assert said == "rosenblatt: none.csv: there is no such file\n"


def test_rows_that_are_learned_from_and_judge_are_pointed_out(table: Path) -> None:
    Path("link.csv").symlink_to(table)
    said = run("train", table, "-o", "m", "--learner", "averaged", "--validation", "link.csv").stderr
    assert "link.csv is also training data" in said


def test_the_same_weights_with_and_without_rows_that_judge(table: Path) -> None:
    """Looking at them beforehand leaves no trace, even where they have features of their own."""
    Path("rows.svm").write_text("1 1:1 2:1\n-1 3:1\n" * 5)
    Path("judge.svm").write_text("1 1:1 9:1\n-1 3:1\n" * 5)
    weights = []
    for words in ([], ["--validation", "judge.svm"]):
        run("train", "rows.svm", "-o", "m", "--learner", "averaged", "--quiet", *words)
        weights.append(json.loads(run("export", "m", "--to", "json").stdout) | {"probabilities": None})
    assert weights[0] == weights[1]


@pytest.mark.parametrize("verb", ["tune", "compare"])
def test_too_few_folds_are_refused_before_reading(table: Path, verb: str) -> None:
    assert "--folds" in run(verb, "none.csv", "--folds", "1", check=2).stderr


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--C", "1"], "--C needs a learner; use --learner with one of pa"),
        (["--gamma", "1"], "--gamma needs a learner; use --learner kernel"),
        (
            ["--learner", "auto", "--C", "1"],
            "--C cannot be combined with --learner auto",
        ),
        (
            ["--learner", "arow", "--C", "1"],
            "--C is not an option of --learner arow",
        ),
    ],
)
def test_an_option_of_another_learner_names_those_that_have_it(table: Path, words: list[str], sentence: str) -> None:
    assert run("train", "none.csv", "-o", "m", *words, check=2).stderr.startswith(f"rosenblatt: {sentence}")
