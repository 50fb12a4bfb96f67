"""Where bytes come from, and what format they are in."""

import gzip
import lzma
import os
import subprocess
import sys
import tempfile

import pyarrow as pa
import pytest

from rosenblatt.errors import DataError, ParameterError
from rosenblatt.io import open_dataset, read
from rosenblatt.io.csv import read_csv
from rosenblatt.io.csv_sniffer import ReadOptions, sniff_dialect
from rosenblatt.io.formats import detect_format
from rosenblatt.io.limits import Limits
from rosenblatt.io.source import Documents, Source, Spooled, expand_sources

ROWS = b"+1 1:1\n-1 2:1\n"


def zst(data):
    return pa.compress(data, "zstd", asbytes=True)


@pytest.mark.parametrize(
    ("ending", "pack"), [("", bytes), (".gz", gzip.compress), (".xz", lzma.compress), (".zst", zst)]
)
def test_compressed_files(tmp_path, ending, pack):
    path = tmp_path / f"data.svm{ending}"
    path.write_bytes(pack(ROWS))
    assert read(path).X.toarray().tolist() == [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]


def test_compression_is_seen_in_the_bytes_not_the_name(tmp_path):
    (tmp_path / "data").write_bytes(gzip.compress(ROWS))
    assert len(read(tmp_path / "data")) == 2


def test_a_truncated_archive_is_named(tmp_path):
    (tmp_path / "data.svm.gz").write_bytes(gzip.compress(ROWS * 1000)[:-20])
    with pytest.raises(DataError, match=r"data\.svm\.gz cannot be decompressed"):
        read(tmp_path / "data.svm.gz")


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
    with source.open() as stream:
        assert stream.read() == b"cat\tpurr purr\ndog\twoof\ncat\tmiaow miaow\n"
    assert read(tmp_path).y.tolist() == ["cat", "dog", "cat"]


def test_a_folder_of_folders_of_tables_is_read_as_tables(tmp_path):
    (tmp_path / "year=1").mkdir()
    (tmp_path / "year=1" / "a.svm").write_bytes(ROWS)
    assert len(read(tmp_path)) == 2


@pytest.mark.parametrize("name", ["missing.csv", "no*.csv"])
def test_missing_files(tmp_path, name):
    with pytest.raises(DataError, match="there is no such file"):
        read(tmp_path / name)


def test_empty_files_and_folders(tmp_path):
    (tmp_path / "empty").write_bytes(b"")
    with pytest.raises(DataError, match="empty is empty"):
        read(tmp_path / "empty")
    (tmp_path / "empty.csv").write_bytes(b"")
    with pytest.raises(DataError, match=r"empty\.csv is empty"):
        read(tmp_path / "empty.csv")
    (tmp_path / "folder").mkdir()
    with pytest.raises(DataError, match="the folder has no data"):
        read(tmp_path / "folder")


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (b"+1 1:1\n", "svmlight"),
        (b"1 qid:3 1:0.5 # x\r\n-1\n", "svmlight"),
        (b"\xef\xbb\xbf1 1:1\n", "svmlight"),
        (b"1 |f a b:2\n", "vw"),
        (b"|f a\n", "vw"),
        (b"1 2.0 'tag|a b\n-1 | c\n", "vw"),
        (b"__label__x hello\n", "fasttext"),
        (b"ham\thello you\nspam\tbuy\n", "tabbed"),
        (b"a\tb\tc\n1\t2\t3\n", "tsv"),
        (b"a,b\n1,2\n", "csv"),
        (b"1.5,2,x\n", "csv"),
        (b'{"a": 1}\n{"a": 2}\n', "jsonl"),
        (b"PAR1....", "parquet"),
        (b"ARROW1..", "feather"),
    ],
)
def test_the_format_is_found_out(head, expected):
    assert detect_format(Source("data"), head) == expected


def test_a_format_that_cannot_be_told(tmp_path):
    (tmp_path / "x").write_text("some words\n")
    with pytest.raises(DataError, match="its format cannot be told from its lines"):
        list(open_dataset(tmp_path / "x"))
    with pytest.raises(ParameterError, match="format='xml'"):
        list(open_dataset(tmp_path / "x", format="xml"))


@pytest.mark.parametrize("size", [1, 2, 7, 64, 1000])
def test_pieces_are_whole_records(tmp_path, size):
    text = b'a,b\n1,"x\ny, ""z""\n"\n2,plain\n3,"q"\n' * 5
    (tmp_path / "x.csv").write_bytes(text)
    source = Source(str(tmp_path / "x.csv"))
    pieces = list(read_csv(source, lambda head, whole: sniff_dialect(head, "x", ReadOptions(header=False)), size=size))
    assert b"".join(piece.data for piece in pieces) == text
    assert all(piece.data.endswith(b"\n") and piece.data.count(b'"') % 2 == 0 for piece in pieces)
    assert [int(line) for piece in pieces for line in piece.lines] == [
        6 * k + j for k in range(5) for j in (0, 1, 4, 5)
    ]


@pytest.mark.parametrize("format", ["svmlight", "csv", "jsonl"])
def test_a_line_without_end_is_refused(tmp_path, format):
    (tmp_path / "x").write_bytes({"csv": b"a,b\n1,"}.get(format, b"") + b"1" * 5000)
    with pytest.raises(DataError, match="longer than 1000 bytes"):
        list(open_dataset(tmp_path / "x", format=format, limits=Limits(line=1000)))


def test_standard_input_is_copied_where_it_is_needed_twice():
    code = "from rosenblatt.io import read; print(read('-').y.tolist())"
    done = subprocess.run([sys.executable, "-c", code], input=b"a,b\n1,x\n2,y\n", capture_output=True, check=True)
    assert done.stdout == b"['x', 'y']\n"


def test_what_is_kept_of_a_pipe_has_no_name_that_could_stay_behind(tmp_path, monkeypatch):
    """A process that is killed leaves nothing in the folder for temporary files."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    (tmp_path / "x.csv").write_text("a,y\n1,p\n2,q\n" * 20)
    kept = Spooled.copy(Source(str(tmp_path / "x.csv")))
    assert os.listdir(tmp_path / "temporary") == []
    for _ in range(2):  # from the beginning each time
        with kept.open() as stream:
            assert stream.read(4) == b"a,y\n"
    assert kept.size == (tmp_path / "x.csv").stat().st_size
