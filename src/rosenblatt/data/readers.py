"""Any data as batches of rows, never the whole of it at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from rosenblatt.data.batches import Batch, Classes, Measures, join_batches
from rosenblatt.data.chunks import read_head
from rosenblatt.data.dialect import Wishes
from rosenblatt.data.encoding import head_as_utf8
from rosenblatt.data.finding import Documents, find_sources
from rosenblatt.data.formats import LINE_FORMATS, NPY, check_format, guess_format
from rosenblatt.data.limits import USUAL, Limits
from rosenblatt.data.lines import BITS, Grams, LineEncoder
from rosenblatt.data.reader import Reader as Reader
from rosenblatt.data.sources import Source, Spooled, StandardInput
from rosenblatt.errors import DataError, LabelError, ParameterError

_HEAD = 1 << 16


def scan(
    data: Any,
    *,
    format: str | None = None,
    label: str | None = None,
    weight: str | None = None,
    drop: Sequence[str] = (),
    text: Sequence[str] = (),
    category: Sequence[str] = (),
    number: Sequence[str] = (),
    bits: int = BITS,
    grams: Grams = "pairs",
    interactions: Sequence[str] = (),
    encoder: Any = None,
    require_label: bool = True,
    skip_bad: bool = False,
    jobs: int = 2,
    delimiter: str | None = None,
    decimal: str | None = None,
    missing: Sequence[str] | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    limits: Limits = USUAL,
    in_order: bool = False,
    often: bool = False,
    look: bool = True,
) -> Reader:
    """Find out how data is to be read.

    Parameters
    ----------
    data : path, list of paths, or object with ``__arrow_c_stream__``
        A file, a glob, a folder, an address, ``-`` for standard input; compressed (.gz, .bz2, .xz, .zst, .zip) or not;
        or a pandas, Polars, DuckDB or pyarrow frame. A folder with a subfolder for each class holds a document a file.
    format : str, optional
        svmlight, vw, fasttext (``__label__x words``), tabbed (``label TAB text``), csv, tsv, jsonl, json, parquet,
        feather or npy. By default it is found out.
    label : str, optional
        The column of the labels, by name or (from 1) by number. By default one with a telling name, else the last.
    weight : str, optional
        The column that says how much each row counts; a row of weight 0 is as if absent.
    drop, text, category, number : sequence of str
        Columns to leave out, or to take for what they are named, against the guess.
    bits, grams
        How names and words are hashed; see `LineEncoder`.
    interactions : sequence of str
        For vw: products of namespaces, such as ``["ab"]``; see `LineEncoder`.
    encoder : optional
        The encoder of a model: nothing is guessed then.
    delimiter, decimal, missing, encoding, header : optional
        How text is written: what stands between cells, "." or ",", the words for a missing value, the encoding, and
        whether the first line names the columns. By default they are found out.
    limits : Limits
        What is refused because it is too large.
    in_order : bool, default=False
        Documents in the order of their names, instead of the classes in turns.
    often : bool, default=False
        Read more than once: a copy is kept of standard input and of pipes.
    look : bool, default=True
        False leaves the pass over a table to the caller: its columns are guessed, without means and scales.

    Returns
    -------
    Reader
        Iterating over it gives the batches. For columns this needs a pass over the data, for means and scales.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "data"
    >>> _ = path.write_text("+1 1:0.5 3:1\\n-1 2:1\\n")
    >>> [batch.X.toarray().tolist() for batch in scan(path)]
    [[[0.0, 0.5, 0.0, 1.0], [0.0, 0.0, 1.0, 0.0]]]
    """
    wishes = Wishes(delimiter, decimal, None if missing is None else tuple(missing), encoding, header)
    sources: list[Source] = []
    if hasattr(data, "__arrow_c_stream__"):
        found = "arrow"
    else:
        as_documents = isinstance(encoder, LineEncoder) and encoder.documents
        sources = find_sources(data, limits, in_order=in_order, as_documents=as_documents)
        # More than one pass is needed, or it has to be unpacked.
        sources = [
            Spooled.copy(source) if source.live and (encoder is None or often or source.packed) else source
            for source in sources
        ]
        if isinstance(encoder, LineEncoder):
            found = encoder.format
        elif format is not None:
            found = check_format(format)
        else:
            found = format_of(sources[0], encoding)
    reader = Reader(data, found, encoder, sources, require_label, skip_bad, jobs, wishes=wishes, limits=limits)
    if encoder is not None:
        if (found in LINE_FORMATS) != isinstance(encoder, LineEncoder):
            raise DataError(
                f"{sources[0].name} is in the format {found}, but the model was trained on columns of a table"
            )
        return reader
    columns: dict[str, Any] = {
        "label": label,
        "weight": weight,
        "drop": drop,
        "text": text,
        "category": category,
        "number": number,
    }
    if found in LINE_FORMATS:
        for name, given in columns.items():
            if given:
                raise ParameterError(f"{name} names a column, and {found} lines have none")
        reader.encoder = LineEncoder(found, bits, grams, isinstance(sources[0], Documents), tuple(interactions))
        return reader
    if interactions:
        raise ParameterError(
            f"interactions join namespaces, which {found} has none of; columns are multiplied without them, where that "
            "helps (--learner auto)"
        )
    from rosenblatt.data.looking import guess, look_through

    if look:
        return look_through(reader, bits=bits, grams=grams, **columns)
    guess(reader, columns.pop("number"), columns | {"bits": bits, "grams": grams})
    return reader


def iter_batches(data: Any, **options: Any) -> Iterator[Batch]:
    """The batches of any data; the options are those of `scan`.

    >>> import tempfile
    >>> from pathlib import Path
    >>> path = Path(tempfile.mkdtemp(), "rows.svm")
    >>> _ = path.write_text("+1 1:0.5 3:1\\n-1 2:1\\n")
    >>> [len(batch) for batch in iter_batches(path)]
    [2]
    """
    return iter(scan(data, **options))


def read(data: Any, **options: Any) -> Batch:
    """All rows of any data, as one batch with `X`, `y` and `sample_weight`; the options are those of `scan`.

    Examples
    --------
    >>> import polars
    >>> rows = read(polars.DataFrame({"size": [1.0, 3.0], "kind": ["cat", "dog"]}))
    >>> rows.X.toarray().tolist(), rows.y.tolist()
    ([[-1.0], [1.0]], ['cat', 'dog'])
    """
    batches = list(scan(data, **options))
    if not batches:
        raise DataError("the data has no rows")
    return join_batches(batches)


def check_classes(classes: Classes) -> Classes:
    """Raise unless there are two classes or more, or a number."""
    if len(classes) < (1 if isinstance(classes, Measures) else 2):
        only = f"one class only, {repr(classes.values.tolist()[0])[:42]}" if len(classes) else "no labels"
        raise LabelError(f"the data has {only}: a classifier needs at least 2 classes")
    return classes


def format_of(source: Source, encoding: str | None = None) -> str:
    """The format of a source, by its first lines and its ending."""
    head = source.peek() if isinstance(source, StandardInput) else read_head(source, _HEAD)
    return guess_format(source, head if head.startswith(NPY) else head_as_utf8(head, encoding))
