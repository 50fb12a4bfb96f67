"""Where bytes come from, and what format they are in."""

import bz2
import gzip
import io
import lzma
import os
import subprocess
import sys
import tempfile
import zipfile

import pyarrow as pa
import pytest
from rejected import rejected

from rosenblatt.io import open_dataset, read
from rosenblatt.io.source import Documents, Source, Spooled, expand_sources

ROWS = b"+1 1:1\n-1 2:1\n"


def zst(data):
    return pa.compress(data, "zstd", asbytes=True)


def zipped(data):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("folder/data.svm", data)
    return file.getvalue()


@pytest.mark.parametrize("pack", [bytes, gzip.compress, lzma.compress, bz2.compress, zst, zipped])
@pytest.mark.parametrize("name", ["data", "data.svm.gz"])  # the bytes decide, not the name
def test_compressed_files(tmp_path, name, pack):
    (tmp_path / name).write_bytes(pack(ROWS))
    assert read(tmp_path / name).X.toarray().tolist() == [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]


def test_globs_folders_and_lists(tmp_path):
    for k in range(3):
        (tmp_path / f"part{k}.svm").write_bytes(f"{k} {k}:1\n".encode())
    (tmp_path / ".hidden").write_text("not data")
    for data in (tmp_path, tmp_path / "part*.svm", [tmp_path / f"part{k}.svm" for k in range(3)]):
        assert read(data).y.tolist() == [0, 1, 2]


def test_a_folder_of_documents(tmp_path):
    for label, texts in {"cat": ["purr purr", "miaow\nmiaow"], "dog": ["woof"]}.items():
        (tmp_path / label).mkdir()
        for k, text in enumerate(texts):
            (tmp_path / label / str(k)).write_text(text)
    (source,) = expand_sources(tmp_path)
    assert isinstance(source, Documents)
    assert b"".join(source.iter_text()) == b"cat\tpurr purr\ndog\twoof\ncat\tmiaow miaow\n"
    assert read(tmp_path).y.tolist() == ["cat", "dog", "cat"]


@pytest.mark.parametrize("name", ["missing.csv", "no*.csv", "empty", "empty.csv", "folder", "truncated.svm.gz"])
def test_what_has_no_rows_is_named(tmp_path, name):
    for empty in ("empty", "empty.csv"):
        (tmp_path / empty).write_bytes(b"")
    (tmp_path / "folder").mkdir()
    (tmp_path / "truncated.svm.gz").write_bytes(gzip.compress(ROWS * 1000)[:-20])
    with rejected("data", name):
        read(tmp_path / name)


def test_a_table_without_a_byte_is_named(tmp_path):
    (tmp_path / "x").write_bytes(b"")
    with rejected("data", "x is empty"):
        read(tmp_path / "x", format="csv")


def test_a_format_that_cannot_be_told(tmp_path):
    (tmp_path / "x").write_text("some words\n")
    with rejected("data"):
        list(open_dataset(tmp_path / "x"))
    with rejected("parameter", "format='xml'"):
        list(open_dataset(tmp_path / "x", format="xml"))


def test_standard_input_is_copied_where_it_is_needed_twice():
    code = "from rosenblatt.io import read; print(read('-').y.tolist())"
    done = subprocess.run([sys.executable, "-c", code], input=b"a,b\n1,x\n2,y\n", capture_output=True, check=True)
    assert done.stdout == b"['x', 'y']\n"


def test_what_is_kept_of_a_pipe_has_no_name_that_could_stay_behind(tmp_path, monkeypatch):
    """A process that is killed leaves nothing in the folder for temporary files."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    (tmp_path / "x.csv").write_text("a,y\n1,p\n2,q\n" * 20)
    kept = Spooled("x.csv", original=Source(str(tmp_path / "x.csv")))
    for _ in range(2):  # from the beginning each time
        assert next(kept.iter_bytes()).startswith(b"a,y\n")
    assert os.listdir(tmp_path / "temporary") == []
    assert kept.size == (tmp_path / "x.csv").stat().st_size


def test_frames_are_listed_like_files_but_not_beside_them(tmp_path):
    frame = pa.table({"a": [1.0, 2.0, 3.0, 4.0], "y": ["p", "q", "p", "q"]})
    assert read([frame, frame]).y.tolist() == ["p", "q", "p", "q"] * 2
    (tmp_path / "x").write_text("a,y\n1,p\n2,q\n")
    for data in ([frame, tmp_path / "x"], [tmp_path / "x", frame]):
        with rejected("data", "csv", "arrow", "x"):
            read(data)


@pytest.mark.parametrize("encoding", [None, "utf-8", "utf-16-le"])
def test_a_byte_order_mark_is_not_part_of_the_first_name(tmp_path, encoding):
    (tmp_path / "x.csv").write_bytes(("\ufeffa,b,y\n" + "1,2,p\n3,4,q\n" * 5).encode(encoding or "utf-8"))
    assert open_dataset(tmp_path / "x.csv", encoding=encoding).order == ("a", "b", "y")
