"""Labels that the first lines of the data do not show: learning begins anew, and ends as if they had been known."""

import gzip
import os

import pytest

from rosenblatt.errors import LabelError
from rosenblatt.io import open_dataset
from rosenblatt.io.limits import Limits
from rosenblatt.learners.files.checkpoint import load_checkpoint, save_checkpoint
from rosenblatt.learners.files.run import FileRun
from rosenblatt.models import save
from rosenblatt.params import make_params

LINES = {
    "svmlight": lambda i, label: f"{label} {1 + i % 7}:{1 + i % 3} {9 + i % 5}:{(-1) ** i}\n",
    "vw": lambda i, label: f"{label} | a{i % 7}:{1 + i % 3} b{i % 5}\n",
    "fasttext": lambda i, label: f"__label__{label} word{i % 7} other{i % 5}\n",
}
NUMBERS = [(1, 2, 3), (1, 2, 3, 4, 5), (1, 2, -1)]
LATE = [(form, labels) for form in LINES for labels in NUMBERS] + [("fasttext", ("1", "2", "spam"))]


def write(path, labels, form="svmlight", *, rows=400):
    """Two classes mixed in the first half of the rows, the others one after the other in the second."""
    first, *others = [labels[i % 2] for i in range(rows // 2)], *labels[2:]
    all_of_them = first + [label for label in others for _ in range(rows // 2 // len(others))]
    text = "".join(LINES[form](i, label) for i, label in enumerate(all_of_them)).encode()
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    return path


def begin(path, form="svmlight", *, known, learner="averaged", **parameters):
    """A run over small chunks, with the classes known or to be seen as they come."""
    reader = open_dataset(path, format=form, bits=8)
    reader.chunk = 512
    if known:
        reader.scan_classes()
    return FileRun.begin(reader, make_params(learner, **{"max_iter": 3, **parameters}), block=64)


def bytes_of(run, path):
    save(run.model(), path)
    return path.read_bytes()


@pytest.mark.parametrize("name", ["rows", "rows.gz"])
@pytest.mark.parametrize("shuffle", [True, False, "rows"])
@pytest.mark.parametrize(("form", "labels"), LATE)
def test_a_run_ends_as_if_all_labels_had_been_known(tmp_path, form, labels, shuffle, name):
    path = write(tmp_path / name, labels, form)
    known, seen = (begin(path, form, known=known, shuffle=shuffle) for known in (True, False))
    assert len(known.classes) == len(labels) > len(seen.classes) == 2
    known.run()
    seen.run()
    assert seen.classes.values.tolist() == known.classes.values.tolist()
    assert bytes_of(seen, tmp_path / "seen") == bytes_of(known, tmp_path / "known")


@pytest.mark.parametrize("learner", ["voted", "pocket", "pa1", "arow", "perceptron"])
def test_every_learner_begins_anew(tmp_path, learner):
    path = write(tmp_path / "rows", (1, 2, 3))
    known, seen = (begin(path, known=known, learner=learner) for known in (True, False))
    known.run()
    seen.run()
    assert bytes_of(seen, tmp_path / "seen") == bytes_of(known, tmp_path / "known")


@pytest.mark.parametrize("shuffle", [True, False])
def test_a_cache_is_the_same_one(tmp_path, shuffle):
    path, cache = write(tmp_path / "rows", (1, 2, 3)), tmp_path / "cache"
    known, seen = (begin(path, known=known, shuffle=shuffle) for known in (True, False))
    known.run(cache=str(cache))
    held = sorted(os.listdir(cache))
    seen.run(cache=str(cache))
    assert sorted(os.listdir(cache)) == held
    assert bytes_of(seen, tmp_path / "seen") == bytes_of(known, tmp_path / "known")


def test_a_checkpoint_from_before_the_label_goes_on_to_the_same_bits(tmp_path):
    path = write(tmp_path / "rows", (1, 2, 3), rows=20_000)  # several blocks
    known = begin(path, known=True, shuffle=False)
    known.run()

    class Stopped(Exception):
        """In place of a kill."""

    def stop(run):
        if len(run.classes) == 2 and run.progress.rows:
            save_checkpoint(run, tmp_path / "checkpoint", {})
            raise Stopped

    seen = begin(path, known=False, shuffle=False)
    with pytest.raises(Stopped):
        seen.run(on_group=stop)
    resumed, _ = load_checkpoint(tmp_path / "checkpoint")
    assert len(resumed.classes) == 2
    resumed.run()
    assert bytes_of(resumed, tmp_path / "resumed") == bytes_of(known, tmp_path / "known")


def test_data_whose_labels_are_shown_at_once_is_read_once(tmp_path):
    path = write(tmp_path / "rows", (1, 2, 2), rows=2000)
    run, opened = begin(path, known=False, max_iter=1, shuffle=False), []
    source = run.reader.sources[0]
    opening = source.open
    source.open = lambda: opened.append(1) or opening()
    run.run()
    assert len(opened) == 1
    assert run.reader.scan_classes().values.tolist() == [1, 2]  # which is known by now
    assert len(opened) == 1


@pytest.mark.parametrize(
    ("late", "most", "why"), [("0.5", 9, "is a measurement"), ("3", 2, "more than 2 different labels")]
)
def test_a_late_label_that_is_none_is_told(tmp_path, late, most, why):
    run = begin(write(tmp_path / "rows", (1, 2, late)), known=False)
    run.reader.limits = Limits(classes=most)
    with pytest.raises(LabelError, match=why):
        run.run()


def test_numbers_with_fractions_are_names_where_a_text_comes_late(tmp_path):
    path = tmp_path / "rows"
    path.write_text("".join(f"{(0.5, 1.5)[i % 2]}\tword{i % 7} more\n" for i in range(400)) + "spam\tword1\n")
    run = begin(path, "tabbed", known=False)
    run.run()
    assert run.classes.values.tolist() == ["0.5", "1.5", "spam"]


def test_one_class_first_is_no_guess(tmp_path):
    path = tmp_path / "rows"
    path.write_text("".join(LINES["svmlight"](i, i // 200) for i in range(400)))
    assert begin(path, known=False).classes.values.tolist() == [0, 1]
