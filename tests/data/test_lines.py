"""The engine's own parsers, against independent readers and by hand."""

import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from length import examples
from rosenblatt import engine, train
from rosenblatt.encode.lines import LineEncoder
from rosenblatt.errors import DataError, LabelError, ParameterError
from rosenblatt.evaluation import evaluate_batches
from rosenblatt.io import iter_batches, open_dataset, read


def parse(text, format="svmlight", *, require_label=True, bits=18, grams="pairs"):
    data = np.frombuffer(text if isinstance(text, bytes) else text.encode(), np.uint8)
    return LineEncoder(format, bits, grams).transform(data, require_label=require_label)


def rows_of(encoded):
    batch = encoded.batch
    return [
        dict(zip(batch.indices[a:b].tolist(), batch.values[a:b].tolist(), strict=True))
        for a, b in zip(batch.starts[:-1], batch.starts[1:], strict=True)
    ]


def check_same_as_sklearn(path):
    ours = read(path)
    X, y = load_svmlight_file(str(path), zero_based=True)
    assert ours.X.shape == X.shape
    assert (ours.X != X).nnz == 0
    np.testing.assert_array_equal(ours.y, y)


@pytest.mark.parametrize("name", ["libsvm_a9a/a9a.t.gz", "libsvm_mushrooms/mushrooms.gz"])
def test_svmlight_real_files_as_sklearn_reads_them(real_data, name):
    check_same_as_sklearn(real_data / name)


@settings(max_examples=50, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from([-1, 1, 3]),
            st.dictionaries(st.integers(0, 10_000), st.floats(-1e99, 1e99, allow_subnormal=True), max_size=12),
        ),
        min_size=1,
        max_size=8,
    )
)
def test_svmlight_generated_files_as_sklearn_reads_them(tmp_path_factory, rows):
    lines = [f"{label} " + " ".join(f"{j}:{v!r}" for j, v in sorted(x.items())) for label, x in rows]
    path = tmp_path_factory.mktemp("svm") / "data"
    path.write_text("\n".join(lines) + "\n")
    ours = read(path, format="svmlight")
    X, y = load_svmlight_file(str(path), zero_based=True)
    assert ours.matrix(X.shape[1]).toarray().tolist() == X.toarray().tolist()
    assert ours.y.tolist() == y.tolist()


def test_svmlight_as_sklearn_writes_it(tmp_path):
    X = np.random.default_rng(0).standard_normal((50, 7)) * (np.random.default_rng(1).random((50, 7)) < 0.5)
    dump_svmlight_file(X, np.arange(50) % 3, str(tmp_path / "x"), comment="made by a test", query_id=np.arange(50))
    check_same_as_sklearn(tmp_path / "x")


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


@pytest.mark.parametrize(
    "text",
    ["", "x", "1x", "--1", "+-1", "1e", "0x10", "1_0", "1,5", "e5", ".", "-", "1:2", "1.2.3", "1.5.", "1 5", "0.5\x01"],
)
def test_text_that_is_no_number_is_bad(text):
    assert len(parse(f"1 1:{text}").bad) == 1


def test_lines_of_every_kind():
    text = b"\xef\xbb\xbf".replace(b"\xef\xbb\xbf", b"") + (
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


def test_the_largest_index_is_read():
    assert rows_of(parse("1 2147483646:1")) == [{2147483646: 1.0}]


def test_a_row_without_a_label_is_fine_where_none_is_asked_for():
    encoded = parse("3:1 4:2\n-1 5:1\n", require_label=False)
    assert encoded.batch.codes.tolist() == [-1, 0]
    assert rows_of(encoded) == [{3: 1.0, 4: 2.0}, {5: 1.0}]


def test_errors_name_file_and_line(tmp_path):
    path = tmp_path / "data.svm"
    path.write_text("1 1:1\n\n# comment\n1 1:1 oops\n")
    with pytest.raises(DataError, match=r"data\.svm, line 4: 'oops' is not a feature: it must be index:value"):
        read(path)


def test_the_line_of_a_later_chunk_is_right(tmp_path):
    path = tmp_path / "data.svm"
    path.write_text("1 1:1\n" * 1000 + "1 x\n" + "1 1:1\n" * 1000)
    reader = open_dataset(path)
    reader.chunk = 100
    with pytest.raises(DataError, match=r"line 1001: 'x' is not a feature"):
        list(reader)


def test_skip_bad_counts(tmp_path):
    path = tmp_path / "data.svm"
    path.write_text("1 1:1\n1 x\n-1 2:1\n1 1:nan\n")
    reader = open_dataset(path, skip_bad=True)
    assert sum(len(batch) for batch in reader) == 2
    assert reader.report.bad == 2
    assert reader.report.first_bad[0].endswith("line 2: 'x' is not a feature: it must be index:value")


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
        reader.read_classes()
    assert str(told.value).startswith(f"{path}, line 5: the label 0.5 is a measurement: labels are classes")


def test_labels_of_a_table_that_are_measurements_are_refused_with_their_file(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("x,label\n1,0.5\n2,1.5\n3,0.5\n")
    with pytest.raises(LabelError, match=r"data\.csv: the label 0\.5 is a measurement"):
        list(open_dataset(path, label="label").read_classes())
    with pytest.raises(LabelError, match=r"the data: the label 0\.5 is a measurement"):
        list(open_dataset(pa.table({"x": [1.0, 2.0, 3.0], "label": [0.5, 1.5, 0.5]}), label="label").read_classes())


def test_a_file_of_one_very_long_line(tmp_path):
    path = tmp_path / "data.svm"
    path.write_text("1 " + " ".join(f"{j}:1" for j in range(100_000)))
    (batch,) = iter_batches(path)
    assert len(batch.values) == 100_000


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


def vw_features(lines, bits):
    vw = pytest.importorskip("vowpalwabbit", reason="compares with Vowpal Wabbit's own parser")
    workspace = vw.Workspace(f"--quiet -b {bits} --noconstant")
    found = []
    for line in lines:
        example = workspace.parse(line)
        row = {}
        for ns in range(example.num_namespaces()):
            for i in range(example.num_features_in(ns)):
                column = example.feature(ns, i)
                row[column] = row.get(column, 0.0) + example.feature_weight(ns, i)
        found.append(row)
    workspace.finish()
    return found


def test_vw_hashes_as_vowpal_wabbit_does(real_data):
    import gzip

    with gzip.open(real_data / "vw_rcv1_small" / "rcv1_small.dat.gz", "rt") as file:
        lines = [*VW_LINES, *(next(file).strip() for _ in range(50))]
    for ours, theirs in zip(rows_of(parse("\n".join(lines), "vw")), vw_features(lines, 18), strict=True):
        assert ours.keys() == theirs.keys()
        assert all(math.isclose(ours[j], theirs[j], rel_tol=1e-6) for j in ours)  # VW's values are float32


def test_vw_rows_of_weight_zero_are_absent(tmp_path):
    path = tmp_path / "data.vw"
    path.write_text("1 |f a\n-1 0 |f b\n-1 2 |f c\n")
    store = open_dataset(path).load()
    assert store.y.tolist() == [1, 0]
    assert store.weights.tolist() == [1.0, 2.0]


def names_in(text, format, grams, bits=20):
    encoder = LineEncoder(format, bits, grams)
    batch = parse(text, format, bits=bits, grams=grams, require_label=False).batch
    wanted = np.zeros(1 << bits, np.uint8)
    wanted[batch.indices] = 1
    names = encoder.find_names(text.encode(), wanted)
    assert not wanted.any()
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


def test_unicode_punctuation_separates():
    assert names_in("x\t“naïve”—done…¿qué", "tabbed", "words").keys() == {"naïve", "done", "qué"}


def test_labelled_text_lines():
    encoded = parse("__label__a one\n\n__label__b\nno label\n__label__a __label__b two\n", "fasttext")
    assert encoded.batch.y.tolist() == ["a", "b", "a", "b"]
    assert encoded.bad == [(3, "the line has no label")]
    assert (encoded.lines, encoded.blank) == (5, (1, 2))
    encoded = parse("spam\twin money\nham\t\n\tx\nnothing\n", "tabbed")
    assert encoded.batch.y.tolist() == ["spam", "ham"]
    assert [line for line, _ in encoded.bad] == [2, 3]


def test_options_that_mean_nothing():
    with pytest.raises(ParameterError, match="bits=31"):
        LineEncoder("vw", 31)
    with pytest.raises(ParameterError, match="grams='letters'"):
        LineEncoder("vw", 18, "letters")


def test_a_line_with_several_labels_is_a_row_for_each(tmp_path):
    path = tmp_path / "several.txt"
    path.write_text("__label__a __label__b one two\n\n__label__a three\n__label__b __label__b __label__c  \n")
    rows = read(path)
    assert rows.y.tolist() == ["a", "b", "a", "b", "c"]
    assert rows.sample_weight.tolist() == [0.5, 0.5, 1.0, 0.5, 0.5]
    first, second, third, *_ = rows.X.toarray()
    assert np.array_equal(first, second)
    assert not np.array_equal(first, third)
    assert open_dataset(path).read_classes().values.tolist() == ["a", "b", "c"]
    path.write_text("__label__a __label__b one\nno label\n")
    with pytest.raises(DataError, match=r"several.txt, line 2: the line has no label"):
        read(path)


def test_an_answer_is_right_if_it_is_one_of_the_labels(tmp_path):
    path = tmp_path / "several.txt"
    path.write_text("__label__a __label__b one\n__label__b two\n__label__c three\n" * 20)
    model = train(path, "averaged", max_iter=10)
    found = evaluate_batches(model, open_dataset(path, encoder=model.encoder))
    assert (found.count, found.accuracy) == (60, 1.0)
    assert [len(batch) for batch in open_dataset(path, encoder=model.encoder, require_label=False)] == [60]
