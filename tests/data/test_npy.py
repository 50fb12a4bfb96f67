"""NumPy's files: the rows of the array, in bounded memory, and one sentence for what is none."""

from __future__ import annotations

import io
import os

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import rosenblatt
from rosenblatt.errors import DataError
from rosenblatt.io import npy, open_dataset, read
from rosenblatt.io.limits import Limits


def rows_of(count=60, seed=0):
    X = np.random.default_rng(seed).normal(size=(count, 3))
    return np.column_stack([X, X.sum(axis=1) > 0])


def saved(path, array):
    np.save(path, array)
    return path


@pytest.mark.parametrize("block", [1, 100, 1 << 20])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["<f8", ">f8", "<f4", "f2", "i1", ">i2", "u4", "i8", "?"])
def test_any_type_and_order_in_any_cut(tmp_path, monkeypatch, dtype, order, block):
    monkeypatch.setattr(npy, "_BYTES", block)
    array = np.round(4 * rows_of()).astype(dtype)
    path = saved(tmp_path / "x.npy", np.asarray(array, order=order))
    reader = open_dataset(path)
    found = np.vstack([batch.X.toarray()[:, :3] for batch in reader])
    expected = array[:, :3].astype(np.float64)
    mean = [column.mean for column in reader.encoder.numbers]
    scale = [column.scale for column in reader.encoder.numbers]
    assert_array_equal(found, (expected - mean) / scale)
    assert reader.encoder.label == "4"
    labels = [label for batch in reader for label in batch.y.tolist()]
    assert labels == [v.item() if dtype != "?" else str(v).lower() for v in array[:, 3]]


def test_the_model_is_that_of_the_same_table_as_text(tmp_path):
    array = rows_of(500)
    np.savetxt(tmp_path / "x.csv", array, delimiter=",", fmt="%.17g")
    models = []
    for data in (saved(tmp_path / "x.npy", array), tmp_path / "x.csv", saved(tmp_path / "f.npy", array.T.copy().T)):
        rosenblatt.save(rosenblatt.train(data, "averaged", max_iter=3), tmp_path / "model")
        models.append((tmp_path / "model").read_bytes())
    assert models[0] == models[1] == models[2]


def test_fields_are_columns(tmp_path):
    fields = np.zeros(40, [("size", ">f4"), ("kind", "U4"), ("code", "S3"), ("flag", "?"), ("y", "i2")])
    fields["size"], fields["y"] = np.arange(40), np.arange(40) % 2
    fields["kind"], fields["code"] = np.where(fields["y"], "dög", "cat"), b"ab"
    reader = open_dataset(saved(tmp_path / "x.npy", fields))
    assert reader.encoder.describe() == "label: y; numbers: size, flag; categories: kind, code"
    assert open_dataset(tmp_path / "x.npy", label="kind").fit().encoder.label == "kind"
    assert read(tmp_path / "x.npy", label="kind").y.tolist()[:2] == ["cat", "dög"]


def test_rows_to_predict_need_no_label(tmp_path):
    array = rows_of()
    model = rosenblatt.train(saved(tmp_path / "x.npy", array), "averaged", max_iter=3)
    reader = open_dataset(saved(tmp_path / "new.npy", array[:, :3]), encoder=model.encoder, require_label=False)
    assert_array_equal(next(iter(reader)).X.toarray(), next(iter(open_dataset(tmp_path / "x.npy"))).X.toarray())
    with pytest.raises(DataError, match="has no header and 2 columns, but the model has 4"):
        list(open_dataset(saved(tmp_path / "two.npy", array[:, :2]), encoder=model.encoder, require_label=False))


def test_a_nan_is_a_missing_value_and_infinity_an_error(tmp_path):
    array = rows_of()
    array[7, 1] = np.nan
    reader = open_dataset(saved(tmp_path / "x.npy", array))
    assert_array_equal(np.flatnonzero(next(iter(reader)).X.toarray()[:, 4]), [7])
    array[7, 1] = np.inf
    with pytest.raises(DataError, match=r"x\.npy, row 8: column '2' has inf"):
        list(open_dataset(saved(tmp_path / "x.npy", array)))
    array[7, 1], array[9, 3] = 0, np.nan
    with pytest.raises(DataError, match=r"x\.npy, row 10: "):
        list(open_dataset(saved(tmp_path / "x.npy", array)))


def packed(array, **options):
    held = io.BytesIO()
    np.save(held, array, **options)
    return held.getvalue()


SOUND = packed(rows_of())


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (SOUND[:-5], "x.npy is not a valid NumPy file: "),
        (SOUND + b"xx", "x.npy is longer than its array"),
        (SOUND[:20], "x.npy is not a valid NumPy file: "),
        (SOUND.replace(b"(60, 4)", b"(-6, 4)"), "x.npy is not a valid NumPy file: "),
        (SOUND.replace(b"(60, 4)", b"(60.,4)"), "x.npy is not a valid NumPy file: "),
        (SOUND.replace(b"(60, 4)", b"(9**9,)"), "x.npy is not a valid NumPy file: "),
        (SOUND.replace(b"(60, 4)", b"(60,(4)"), "x.npy is not a valid NumPy file: "),
        (SOUND[:8] + b"\xff\xff" + SOUND[10:], "x.npy is not a valid NumPy file: "),
        (SOUND[:6] + b"\7" + SOUND[7:], "x.npy is not a valid NumPy file"),
        (packed(np.zeros(5)), "x.npy holds an array with the shape (5,); a table has rows and columns"),
        (packed(np.zeros((2, 3, 4))), "x.npy holds an array with the shape (2, 3, 4); a table has rows and columns"),
        (packed(np.float64(1)), "x.npy holds an array with the shape (); a table has rows and columns"),
        (
            packed(np.zeros((2, 2), [("a", "f8")])),
            "x.npy holds an array with the shape (2, 2); a table has one row per",
        ),
        (packed(np.zeros((0, 4))), "x.npy is empty: its shape is (0, 4)"),
        (packed(np.zeros((4, 0))), "x.npy is empty: its shape is (4, 0)"),
        (
            packed(np.array([[1, None]], object), allow_pickle=True),
            "x.npy holds Python objects, which are never unpick",
        ),
        (packed(np.zeros((2, 2), complex)), "x.npy holds complex128: only numbers, booleans and strings are read"),
        (packed(np.zeros((2, 2), "M8[D]")), "x.npy holds datetime64[D]: only numbers, booleans and strings are read"),
        (
            packed(np.zeros(2, [("a", "f8", 3), ("y", "i1")])),
            "x.npy holds ('<f8', (3,)) in the field 'a': only numbers",
        ),
        (packed(np.zeros((2, 2), "U999")), "x.npy has rows longer than 1 KB: --read-limit line=SIZE"),
        (packed(np.full((2, 2), "x")).replace(b"x\0\0\0", b"\xff\xff\xff\xff"), "x.npy is not a valid NumPy file: "),
    ],
)
def test_what_is_no_table_is_refused_in_one_sentence(tmp_path, data, sentence):
    (tmp_path / "x.npy").write_bytes(data)
    with pytest.raises(DataError) as caught:
        list(open_dataset(tmp_path / "x.npy", limits=Limits(line=1024)))
    assert str(caught.value).startswith(f"{tmp_path}{os.sep}{sentence}")
    assert "\n" not in str(caught.value)


def test_nothing_is_unpickled(tmp_path):
    class Trap:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "sprung"),)

    np.save(tmp_path / "x.npy", np.array([[Trap(), 1]], object), allow_pickle=True)
    with pytest.raises(DataError, match="never unpickled"):
        list(open_dataset(tmp_path / "x.npy"))
    assert not (tmp_path / "sprung").exists()


def test_compressed_archived_and_without_an_ending(tmp_path):
    array = rows_of()
    np.savez_compressed(tmp_path / "x.npz", array)
    (tmp_path / "x").write_bytes(packed(array))
    expected = read(saved(tmp_path / "x.npy", array))
    for name in ("x.npz", "x"):
        assert_array_equal(read(tmp_path / name).X.toarray(), expected.X.toarray())
