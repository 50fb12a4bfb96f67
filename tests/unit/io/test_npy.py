"""NumPy's files: the rows of the array, in bounded memory, and one error for other files."""

import io
import os

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from rejected import rejected

from rosenblatt.errors import DataError
from rosenblatt.io import arrow, open_dataset, read


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
    monkeypatch.setattr(arrow, "_NPY_BYTES", block)
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
    assert labels == [v.item() if dtype != "?" else str(v) for v in array[:, 3]]


def test_a_nan_is_a_missing_value_and_infinity_an_error(tmp_path):
    array = rows_of()
    array[7, 1] = np.nan
    reader = open_dataset(saved(tmp_path / "x.npy", array))
    assert_array_equal(np.flatnonzero(next(iter(reader)).X.toarray()[:, 4]), [7])
    array[7, 1] = np.inf
    with rejected("data", "x.npy", "row 8", "column '2'"):
        list(open_dataset(saved(tmp_path / "x.npy", array)))
    array[7, 1], array[9, 3] = 0, np.nan
    with rejected("data", "x.npy", "row 10"):
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
        (SOUND.replace(b"(60, 4)", b"(-6, 4)"), "x.npy is not a valid NumPy file: "),
        (SOUND.replace(b"(60, 4)", b"(9**9,)"), "x.npy is not a valid NumPy file: "),
        (SOUND[:8] + b"\xff\xff" + SOUND[10:], "x.npy is not a valid NumPy file: "),
        (packed(np.zeros(5)), "x.npy has the shape (5,); a table has rows and columns"),
        (packed(np.zeros((0, 4))), "x.npy is empty: its shape is (0, 4)"),
        (packed(np.zeros((2, 2), complex)), "x.npy holds complex128: only numbers and booleans are read"),
        (packed(np.zeros(2, [("a", "f8")])), "x.npy holds [('a', '<f8')]: only numbers and booleans are read"),
    ],
)
def test_what_is_no_table_is_refused_in_one_sentence(tmp_path, data, sentence):
    (tmp_path / "x.npy").write_bytes(data)
    with pytest.raises(DataError) as caught:
        list(open_dataset(tmp_path / "x.npy"))
    assert str(caught.value).startswith(f"{tmp_path}{os.sep}{sentence}")
    assert "\n" not in str(caught.value)


def test_nothing_is_unpickled(tmp_path):
    class Trap:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "sprung"),)

    np.save(tmp_path / "x.npy", np.array([[Trap(), 1]], object), allow_pickle=True)
    with rejected("data"):
        list(open_dataset(tmp_path / "x.npy"))
    assert not (tmp_path / "sprung").exists()


def test_compressed_archived_and_without_an_ending(tmp_path):
    array = rows_of()
    np.savez_compressed(tmp_path / "x.npz", array)
    (tmp_path / "x").write_bytes(packed(array))
    expected = read(saved(tmp_path / "x.npy", array))
    for name in ("x.npz", "x"):
        assert_array_equal(read(tmp_path / name).X.toarray(), expected.X.toarray())
