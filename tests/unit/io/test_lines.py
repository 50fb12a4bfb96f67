"""The engine's own parsers, against independent readers and by hand."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from length import examples
from rejected import rejected
from sklearn.datasets import dump_svmlight_file, load_svmlight_file
from written import put

from rosenblatt import engine, train
from rosenblatt.encode.lines import LineEncoder
from rosenblatt.errors import LabelError
from rosenblatt.evaluation import evaluate_batches
from rosenblatt.io import open_dataset, read


def parse(text, format="svmlight", *, require_label=True, bits=18, grams="pairs"):
    data = text if isinstance(text, bytes) else text.encode()
    return LineEncoder(format, bits=bits, grams=grams).transform(data, require_label=require_label)


def rows_of(encoded):
    batch = encoded.batch
    return [
        dict(zip(batch.indices[a:b].tolist(), batch.values[a:b].tolist(), strict=True))
        for a, b in zip(batch.starts[:-1], batch.starts[1:], strict=True)
    ]


def test_svmlight_as_sklearn_writes_it(tmp_path):
    X = np.random.default_rng(0).standard_normal((50, 7)) * (np.random.default_rng(1).random((50, 7)) < 0.5)
    dump_svmlight_file(X, np.arange(50) % 3, str(tmp_path / "x"), comment="made by a test", query_id=np.arange(50))
    ours = read(tmp_path / "x")
    X, y = load_svmlight_file(str(tmp_path / "x"), zero_based=True)
    assert ours.X.shape == X.shape
    assert (ours.X != X).nnz == 0
    np.testing.assert_array_equal(ours.y, y)


@examples(300)
@given(st.one_of(st.floats(-1e100, 1e100), st.decimals(-(10**90), 10**90, allow_nan=False, allow_infinity=False)))
def test_numbers_are_those_of_float(value):
    for text in (str(value), f"{float(value):.20e}", f"{float(value):.3f}", f"+{abs(float(value))!r}"):
        if abs(float(text)) <= 1e100:
            assert rows_of(parse(f"1 1:{text}"))[0][1].hex() == float(text).hex()


@examples(200)
@given(
    st.lists(
        st.tuples(
            st.integers(0, 2147483646), st.from_regex(r"[+-]?([0-9]{1,9}(\.[0-9]{0,9})?|\.[0-9]{1,9})", fullmatch=True)
        ),
        min_size=1,
        max_size=8,
        unique_by=lambda pair: pair[0],
    ),
    st.sampled_from([" ", "  ", "\t", "\r\t"]),
    st.sampled_from(["", " ", "#", " # 1:1", "\r"]),
)
def test_short_decimals_are_those_of_float_wherever_they_stand(pairs, between, after):
    """Words of up to 24 bytes are read in another way than longer ones, decimals of up to 8 characters too."""
    (row,) = rows_of(parse(f"1 {between.join(f'{j}:{text}' for j, text in pairs)}{after}"))
    assert [(j, value.hex()) for j, value in row.items()] == [(j, float(text).hex()) for j, text in sorted(pairs)]


@pytest.mark.parametrize(
    "text",
    ["1e-300", "4.9e-324", "1e-400", "0." + "0" * 400 + "1", "1" + "0" * 90, "9007199254740993", "0.1e1", ".5", "5.",
     "-0", "00012", "123456789012345678901234567890", "1e22", "1e23", "1.7976931348623157e-308",
     "2.2250738585072011e-308", "0e999999999999", "12345678", "1234567.12345678", "0.0000001", "99999999.5"],
)  # fmt: skip
def test_odd_numbers(text):
    assert rows_of(parse(f"1 1:{text}"))[0][1].hex() == float(text).hex()


@pytest.mark.parametrize("text", ["1e400", "nan", "inf", "-inf", "Infinity", "1e101", "-1e300", "1" + "0" * 400])
def test_values_that_cannot_be_learned_from_are_bad(text):
    ((line, why),) = parse(f"1 1:1\n1 7:{text}\n").bad
    assert line == 1
    assert why.startswith("feature 7 is ")


NOT_NUMBERS = ["", "x", "1x", "--1", "+-1", "1e", "0x10", "1_0", "1,5", "e5", ".", "-", "1:2", "1.2.3", "1.5.", "1 5"]


@pytest.mark.parametrize("text", [*NOT_NUMBERS, "0.5\x01"])
def test_text_that_is_no_number_is_bad(text):
    assert len(parse(f"1 1:{text}").bad) == 1


def test_lines_of_every_kind():
    text = (
        b"+1 1:0.5 3:2 # a comment 4:9\r\n"
        b"\r\n"
        b"   \t \n"
        b"# only a comment\n"
        b"-1 qid:12 2:1e-300\r\n"
        b"1.0\t5:1\t7:-3  \n"
        b"2 9:1 4:2\n"
        b"-1\n"
        b"+1#3:4\n"
        b"3 1:1"
    )
    encoded = parse(text)
    assert encoded.bad == []
    assert encoded.lines == 10
    assert rows_of(encoded) == [{1: 0.5, 3: 2.0}, {2: 1e-300}, {5: 1.0, 7: -3.0}, {4: 2.0, 9: 1.0}, {}, {}, {1: 1.0}]
    assert encoded.batch.y.tolist() == [1, -1, 1, 2, -1, 1, 3]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("1 2147483647:1", "feature '2147483647:1': an index is at most 2147483646"),
        ("1 99999999999999999999:1", "feature '99999999999999999999:1': an index is at most 2147483646"),
        ("1 -3:1", "'-3:1' is not a feature: it must be index:value"),
        ("1 3", "'3' is not a feature: it must be index:value"),
        ("1 3:", "'3:' is not a feature: it must be index:value"),
        ("1 3:4:5", "'3:4:5' is not a feature: it must be index:value"),
        ("1 3:1 3:2", "a feature stands twice"),
        ("1 5:1 3:1 5:2", "a feature stands twice"),
        ("spam 3:1", "the label 'spam' is not a finite number"),
        ("nan 3:1", "the label 'nan' is not a finite number"),
        ("1,2 3:1", "the label '1,2' is not a finite number"),
        ("3:1", "the line has no label"),
        ("1 2:1 qid:3 4:1", "'qid:3' is not a feature: it must be index:value"),
        ("1 a\x00b:1", "'a?b:1' is not a feature: it must be index:value"),
    ],
)
def test_bad_svmlight_lines(line, why):
    encoded = parse(f"1 1:1\n{line}\n-1 2:1\n")
    assert encoded.bad == [(1, why)]
    assert rows_of(encoded) == [{1: 1.0}, {2: 1.0}]


def test_a_row_without_a_label_is_fine_where_none_is_asked_for():
    encoded = parse("3:1 4:2\n-1 5:1\n", require_label=False)
    assert encoded.batch.codes.tolist() == [-1, 0]
    assert rows_of(encoded) == [{3: 1.0, 4: 2.0}, {5: 1.0}]


def test_a_bad_line_is_named_or_counted(tmp_path):
    path = put(tmp_path / "data.svm", "1 1:1\n\n# comment\n" * 300 + "1 x\n" + "-1 2147483646:1\n" * 100 + "1 1:nan\n")
    reader = open_dataset(path)
    reader.chunk = 100
    with rejected("data", "data.svm", "line 901", "'x'"):
        list(reader)
    reader.skip_bad = True
    assert sum(len(batch) for batch in reader) == 400
    assert (reader.report.bad, reader.report.lines) == (2, 1002)
    assert reader.report.first_bad[1].startswith(f"{path}, line 1002: feature 1 is ")


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 200), st.integers(1, 4), st.booleans())
def test_where_the_data_is_cut_does_not_matter(tmp_path_factory, chunk, jobs, final_newline):
    path = tmp_path_factory.mktemp("cut") / "data"
    lines = [f"{i % 3} " + " ".join(f"{j}:{i * j / 7!r}" for j in range(i % 5)) for i in range(40)]
    path.write_text("\n".join(lines) + ("\n" if final_newline else ""))
    whole = read(path, format="svmlight")
    reader = open_dataset(path, format="svmlight", jobs=jobs)
    reader.chunk = chunk
    batches = list(reader)
    assert np.concatenate([b.values for b in batches]).tolist() == whole.values.tolist()
    assert np.concatenate([b.y for b in batches]).tolist() == whole.y.tolist()


@pytest.mark.parametrize("chunk", [8, 20, 1 << 20])
@pytest.mark.parametrize(
    ("format", "lines"),
    [
        ("svmlight", ["# first", "1 1:1", "", "2 1:1", "0.5 1:1", "1.5 1:1"]),
        ("vw", ["1 | a", "2 | b", "", "7.5 0 | c", "0.5 | c", "1 | d"]),
        ("fasttext", ["__label__1 a", "__label__2 b", "", "__label__3 c", "__label__4 __label__0.5 d"]),
    ],
)
def test_labels_that_are_measurements_are_refused_with_their_line(tmp_path, format, lines, chunk):
    first, path = tmp_path / "first", tmp_path / "data"
    first.write_text("\n".join(lines[:3]) + "\n")
    path.write_text("\n".join(lines) + "\n")
    reader = open_dataset([first, path], format=format)
    reader.chunk = chunk
    with pytest.raises(LabelError) as told:
        reader.load()
    assert str(told.value).startswith(f"{path}, line 5: the label 0.5 is a measurement: labels are classes")


# Published values of MurmurHash3_x86_32.
@pytest.mark.parametrize(
    ("text", "seed", "expected"),
    [("", 0, 0), ("", 1, 0x514E28B7), ("hello", 0, 0x248BFA47), ("hello, world", 0, 0x149BBB7F),
     ("The quick brown fox jumps over the lazy dog", 0, 0x2E4FF723)],
)  # fmt: skip
def test_hash_is_murmur3(text, seed, expected):
    data = np.frombuffer(text.encode(), np.uint8) if text else np.empty(0, np.uint8)
    found = engine.hash_strings(data, np.array([0, len(text)], np.int64), seed=seed, bits=30)
    assert found[0] == expected & (2**30 - 1)


VW_LINES = [
    "1 |f 9:6.5e-02 14:3.4 word another:0.5",
    "-1 2.5 |a x y:2 |b x y:3",
    "1 1 0.3 'tag|ns:2 one two:0.5 |other:0.5 three",
    "-1 tag| a b c:0.25",
    "1 | 12 13:2 :5 :7",
    "-1 |a x x x:2 | |b 007",
    "1 'quoted |é ü:1.5 日本",
]


def test_vw_lines_by_hand():
    encoded = parse("\n".join(VW_LINES), "vw")
    assert encoded.bad == []
    assert encoded.batch.y.tolist() == [1, -1, 1, -1, 1, -1, 1]
    assert encoded.batch.weights.tolist() == [1.0, 2.5, 1.0, 1.0, 1.0, 1.0, 1.0]
    assert rows_of(encoded)[4] == {12: 1.0, 13: 2.0, 0: 5.0, 1: 7.0}  # digits are numbers, unnamed ones count from 0
    x = {j for j, v in rows_of(encoded)[5].items() if v == 4.0}
    assert len(x) == 1  # the same name three times: 1 + 1 + 2


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("1 a b c", "there is no '|'"),
        ("1 2 3 4 |f a", "more than label, importance and base stand before the first '|'"),
        ("x |f a", "the label 'x' is not a finite number"),
        ("1 -2 |f a", "the importance '-2' is not a finite number of at least 0"),
        ("1 |f a:x", "'a:x' is not a feature: it must be name or name:value"),
        ("1 |f a:1e400", "feature 'a' is infinite: a value must be a finite number of at most 1e100"),
        ("1 |f:x a", "namespace 'f': its scale is not a number"),
        ("|f a", "the line has no label (a word that touches the first '|' is a tag)"),
    ],
)
def test_bad_vw_lines(line, why):
    assert parse(line, "vw").bad == [(0, why)]


def test_vw_hashes_as_vowpal_wabbit_does():
    """The columns and values of Vowpal Wabbit 9.11.9: ``Workspace("--quiet -b 18 --noconstant").parse(line)``."""
    assert rows_of(parse("\n".join(VW_LINES), "vw")) == [
        {34884: 0.065, 34889: 3.4, 239112: 1.0, 107470: 0.5},
        {55432: 1.0, 42847: 2.0, 143313: 1.0, 152274: 3.0},
        {94669: 2.0, 186990: 1.0, 56669: 0.5},
        {92594: 1.0, 163331: 1.0, 185951: 0.25},
        {12: 1.0, 13: 2.0, 0: 5.0, 1: 7.0},
        {55432: 4.0, 163338: 1.0},
        {179273: 1.5, 46823: 1.0},
    ]


def names_in(text, format, grams, bits=20):
    encoder = LineEncoder(format, bits=bits, grams=grams)
    found = encoder.transform(text.encode(), require_label=False, named=np.zeros(1 << bits, np.uint8))
    ((columns, names),) = found.names
    names = dict(zip(columns.tolist(), names.decode().split("\n"), strict=False))
    batch = found.batch
    return {names[j]: v for j, v in zip(batch.indices.tolist(), batch.values.tolist(), strict=True)}


def test_text_by_hand():
    found = names_in("__label__x The cat, the CAT!", "fasttext", "words")
    assert found == {"the": math.sqrt(2) / 2, "cat": math.sqrt(2) / 2}
    found = names_in("ham\tThe cat; the dog_1", "tabbed", "pairs")
    size = math.sqrt(2 + 1 + 1 + 3)
    assert found == {
        "the": math.sqrt(2) / size,
        **dict.fromkeys(("cat", "dog_1", "the cat", "cat the", "the dog_1"), 1 / size),
    }
    found = names_in("ham\tüb", "tabbed", "characters")
    assert found.keys() == {" üb", "üb ", " üb "}
    assert names_in("x\t“naïve”—done…¿qué", "tabbed", "words").keys() == {"naïve", "done", "qué"}


def test_labeled_text_lines():
    encoded = parse("__label__a one\n\n__label__b\nno label\n__label__a __label__b two\n", "fasttext")
    assert encoded.batch.y.tolist() == ["a", "b", "a", "b"]
    assert encoded.bad == [(3, "the line has no label")]
    assert (encoded.lines, encoded.batch.blank) == (5, (1, 2))
    encoded = parse("spam\twin money\nham\t\n\tx\nnothing\n", "tabbed")
    assert encoded.batch.y.tolist() == ["spam", "ham"]
    assert [line for line, _ in encoded.bad] == [2, 3]


def test_options_that_mean_nothing():
    with rejected("parameter", "bits=31"):
        LineEncoder("vw", bits=31)
    with rejected("parameter", "grams='letters'"):
        LineEncoder("vw", bits=18, grams="letters")


def test_a_line_with_several_labels_is_a_row_for_each(tmp_path):
    path = put(
        tmp_path / "several.txt",
        "__label__a __label__b one two\n\n__label__a three\n__label__b __label__b __label__c  \n",
    )
    rows = read(path)
    assert rows.y.tolist() == ["a", "b", "a", "b", "c"]
    assert rows.sample_weight.tolist() == [0.5, 0.5, 1.0, 0.5, 0.5]
    first, second, third, *_ = rows.X.toarray()
    assert np.array_equal(first, second)
    assert not np.array_equal(first, third)
    assert sorted(set(read(path).y.tolist())) == ["a", "b", "c"]
    path.write_text("__label__a __label__b one\nno label\n")
    with rejected("data", "several.txt", "line 2"):
        read(path)


def test_an_answer_is_right_if_it_is_one_of_the_labels(tmp_path):
    path = put(tmp_path / "several.txt", "__label__a __label__b one\n__label__b two\n__label__c three\n" * 20)
    model = train(path, "averaged", max_iter=10)
    found = evaluate_batches(model, open_dataset(path, encoder=model.encoder))
    assert (found.count, found.accuracy) == (60, 1.0)
    assert [len(batch) for batch in open_dataset(path, encoder=model.encoder, require_label=False)] == [60]
