"""Exported models say what the model says."""

import json
from dataclasses import replace

import numpy as np
import pytest
from exported import compile_c, onnx_session, run_c
from rejected import rejected

import rosenblatt
from rosenblatt.io import open_dataset, read
from rosenblatt.models.export import to_c, to_json, to_onnx
from rosenblatt.models.model import model_of
from rosenblatt.models.predictors import Products
from rosenblatt.params import make_params
from rosenblatt.select.choice import Choice
from rosenblatt.training.run import TrainingRun


def table(path, classes=3, missing=True):
    rng = np.random.default_rng(0)
    with open(path, "w") as file:
        file.write("a,b,c,y\n")
        for i in range(200):
            a, b, c = (rng.standard_normal(3) * (1, 10, 0.01)).tolist()
            shown = "" if missing and i % 7 == 0 else repr(b)
            file.write(f"{a!r},{shown},{c!r},k{(a + b / 10 > 0) + (classes - 2) * (c > 0.01)}\n")
    return path


def trained(path, learner="averaged", *, products=None, keep=None, **reading):
    reader = open_dataset(path, **reading)
    params = make_params(learner, max_iter=3, **({} if keep is None else {"keep": keep}))
    run = TrainingRun.begin(reader, Choice(params, products=products))
    run.run()
    return run.model(), reader


def trained_on_products(path, **options):
    """Of all numbers but the last, and of two columns that say what is missing."""
    center, scale = np.array([0.1, -0.2, 0.0, 0.3]), np.array([1.5, 0.3, 1.0, 0.7])
    return trained(path, "pa1", products=Products(np.array([0, 1, 3, 4]), center, scale), **options)


TRAINED = pytest.mark.parametrize(
    "trained", [trained, trained_on_products, lambda path: trained_on_products(path, keep="average")]
)


def raw_numbers(path):
    return np.genfromtxt(path, delimiter=",", skip_header=1, usecols=(0, 1, 2))


@TRAINED
@pytest.mark.parametrize("classes", [2, 3])
def test_onnx_says_the_same(tmp_path, classes, trained):
    model, reader = trained(table(tmp_path / "x.csv", classes))
    labels, scores = onnx_session(model).run(["label", "scores"], {"X": raw_numbers(tmp_path / "x.csv")})
    rows = read(tmp_path / "x.csv", encoder=reader.encoder)
    near = 1e-12 if model.weights()[0].weights.dtype == np.float64 else 1e-5
    np.testing.assert_allclose(scores, model.batch_scores(rows), rtol=near, atol=near)
    assert labels.tolist() == model.predict(rows.matrix(model.features)).tolist()


ROWS_OF_NUMBERS = """
int main(void) {
  double row[MODEL_NUMBERS], scores[MODEL_ROWS];
  for (;;) {
    for (int j = 0; j < MODEL_NUMBERS; ++j) if (scanf("%lf", row + j) != 1) return 0;
    model_scores(row, scores);
    printf("%s", model_classes[model_predict(row)]);
    for (int k = 0; k < MODEL_ROWS; ++k) printf(" %a", scores[k]);
    puts("");
  }
}"""


def said_of(program, rows):
    """The class and the scores that a program says of each row of numbers."""
    text = "\n".join(" ".join(repr(v) for v in row) for row in rows.tolist())
    out = run_c(program, text).split("\n")[:-1]
    return [(name, [float.fromhex(score) for score in scores]) for name, *scores in map(str.split, out)]


@pytest.mark.parametrize("classes", [2, 3])
def test_c_has_the_same_bits_for_rows_of_numbers(tmp_path, classes):
    model, reader = trained(table(tmp_path / "x.csv", classes))
    said = said_of(compile_c(tmp_path, to_c(model), ROWS_OF_NUMBERS), raw_numbers(tmp_path / "x.csv"))
    rows = read(tmp_path / "x.csv", encoder=reader.encoder)
    labels = model.predict(rows.matrix(model.features)).tolist()
    assert said == list(zip(labels, model.batch_scores(rows).tolist(), strict=True))


def test_c_has_the_same_bits_for_sparse_rows(tmp_path):
    rng = np.random.default_rng(1)
    with open(tmp_path / "x.svm", "w") as file:
        for _ in range(100):
            columns = np.unique(rng.integers(1, 500, rng.integers(1, 12)))
            file.write(f"{rng.integers(2)} " + " ".join(f"{j}:{rng.standard_normal()!r}" for j in columns) + "\n")
    model, reader = trained(tmp_path / "x.svm")
    body = """
int main(void) {
  uint32_t index[64]; double value[64], scores[MODEL_ROWS]; int count;
  while (scanf("%d", &count) == 1) {
    for (int p = 0; p < count; ++p) if (scanf("%u %lf", index + p, value + p) != 2) return 1;
    model_scores_sparse(index, value, count, scores);
    printf("%a\\n", scores[0]);
  }
  return 0;
}"""
    program = compile_c(tmp_path, to_c(model), body)
    (batch,) = reader
    lines = []
    for a, b in zip(batch.starts[:-1], batch.starts[1:], strict=True):
        pairs = zip(batch.indices[a:b].tolist(), batch.values[a:b].tolist(), strict=True)
        lines.append(f"{b - a} " + " ".join(f"{j} {v!r}" for j, v in pairs))
    out = run_c(program, "\n".join(lines)).split()
    assert [float.fromhex(s) for s in out] == model.batch_scores(batch)[:, 0].tolist()


def test_json_holds_the_whole_model(tmp_path):
    model, reader = trained(table(tmp_path / "x.csv"))
    content = json.loads(to_json(model))
    rows = read(tmp_path / "x.csv", encoder=reader.encoder).matrix(model.features)
    weights = np.zeros((model.features, len(model.classes)))
    for column, name, *row in content["weights"]:
        weights[column] = row
        assert name == model.names[column]
    best = np.argmax(rows @ weights + content["intercept"], axis=1)
    assert [content["classes"][k] for k in best] == model.predict(rows).tolist()


def test_json_says_how_products_are_made(tmp_path):
    model, reader = trained_on_products(table(tmp_path / "x.csv"))
    content = json.loads(to_json(model))
    rows = read(tmp_path / "x.csv", encoder=reader.encoder).matrix(model.features).toarray()
    how = content["products"]
    z = (rows[:, how["columns"]] - how["center"]) / how["scale"]
    z = np.clip(z, -how["farthest"], how["farthest"])
    pairs = [(j, k) for j in range(z.shape[1]) for k in range(j, z.shape[1])]
    terms = np.column_stack([z, *(how["share"] * (z[:, j] * z[:, k] - (j == k)) for j, k in pairs)])
    weights = np.zeros((terms.shape[1], len(model.classes)))
    for term, _, *row in content["weights"]:
        weights[term] = row
    assert {"a·b", "b²"} < {name for _, name, *_ in content["weights"]}
    scores = terms @ weights + content["intercept"]
    np.testing.assert_allclose(scores, model.decision_function(rows), rtol=1e-4, atol=1e-4)


def test_what_cannot_be_exported(tmp_path):
    (tmp_path / "x").write_text("ham\thello you\nspam\tbuy now\n" * 10)
    model, _ = trained(tmp_path / "x")
    with rejected("model", "ONNX"):
        to_onnx(model)
    (tmp_path / "x.vw").write_text("1 |a x |b q\n-1 | y:2 |a z\n" * 4)
    model, _ = trained(tmp_path / "x.vw", interactions=["ab"])
    with rejected("model", "interactions"):
        to_c(model)
    voted, _ = trained(table(tmp_path / "y.csv"), "voted")
    with rejected("model", "vote"):
        to_json(voted)
    with rejected("model"):
        to_c(model, "no name")


ODD_LABELS = [
    'a"b', "a\\", "a\nb", "a\rb", "??/", "??/n", "??'", "*/", "/*", "*??/\n/", "%s%n", "\\x41", "\\101", "a\u2028b",
    "é", "😀",
    "//", "\x7f", "\x1b[2J", '";int x=1;"',
    '*/ __attribute__((constructor)) void f(void){} /*', "#include <x>", "a\tb", " ",
]  # fmt: skip
DIALECTS = [
    ["-x", "c", "-std=c99"],
    ["-x", "c", "-std=gnu17", "-trigraphs"],
    ["-x", "c++", "-std=c++11", "-trigraphs"],
    ["-x", "c++", "-std=c++20"],
]
SAY_CLASSES = """
int main(void) {
  size_t k;
  for (k = 0; k < sizeof(model_classes) / sizeof(*model_classes); ++k) {
    const unsigned char *c = (const unsigned char *)model_classes[k];
    for (; *c; ++c) printf("%02x", *c);
    puts("");
  }
  return 0;
}
"""


@pytest.mark.parametrize("flags", DIALECTS, ids=" ".join)
def test_no_label_becomes_code(tmp_path, flags):
    learner = rosenblatt.Perceptron().fit(np.eye(len(ODD_LABELS)), ODD_LABELS)
    model = model_of(learner)
    header = to_c(replace(model, learner="*/ int broken; /*"))
    program = compile_c(tmp_path, header, SAY_CLASSES, flags)
    out = run_c(program).splitlines()
    assert [bytes.fromhex(line).decode() for line in out] == model.classes.tolist()
    assert not any(label in header for label in ODD_LABELS if len(label) > 3)


TEXTS = [
    "".join(map(chr, range(0xA0, 0x800))),
    "Win MONEY now, win!",
    "see you at noon",
    "",
    "  ",
    "é été “quoted” naïve",
    "x",
    "_a1 b2 a1 a1",
    "ß" * 40,
]
SAY_TEXTS = """
int main(void) {
  char line[4096];
  double scores[MODEL_ROWS];
  size_t k, length;
  while (fgets(line, sizeof line, stdin)) {
    length = strcspn(line, "\\n");
    if (!model_scores_text(line, length, scores)) return 1;
    printf("%d", model_predict_text(line, length));
    for (k = 0; k < MODEL_ROWS; ++k) printf(" %.17g", scores[k]);
    puts("");
  }
  return 0;
}
"""


@pytest.mark.parametrize("grams", ["words", "pairs", "characters"])
@pytest.mark.parametrize("flags", [DIALECTS[0], DIALECTS[-1]], ids=" ".join)
def test_c_takes_texts(tmp_path, grams, flags):
    lines = [f"{'abc'[k % 3]}\t{text} {k}" for k, text in enumerate(TEXTS * 6)]
    (tmp_path / "texts").write_text("\n".join(lines) + "\n")
    model, reader = trained(tmp_path / "texts", format="tabbed", bits=12, grams=grams)
    program = compile_c(tmp_path, to_c(model), SAY_TEXTS, flags)
    out = run_c(program, "\n".join(TEXTS) + "\n")
    (tmp_path / "new").write_text("".join(f"a\t{text}\n" for text in TEXTS))
    rows = read(tmp_path / "new", encoder=reader.encoder)
    said = [[float(word) for word in line.split()[1:]] for line in out.splitlines()]
    assert said == model.batch_scores(rows).tolist()
    places = [int(line.split()[0]) for line in out.splitlines()]
    assert model.classes[places].tolist() == model.predict(rows.matrix(model.features)).tolist()


SAY_NAMES = """
int main(void) {
  const char *spaces[] = {"a", "a", "", "b", "a"}, *names[] = {"x", "12", "y", "", "x"};
  const double values[] = {1, 0.5, -2, 3, 0.25};
  double scores[MODEL_ROWS];
  if (!model_scores_names(spaces, names, values, 5, scores)) return 1;
  printf("%d %.17g\\n", model_predict_names(spaces, names, values, 5), scores[0]);
  return 0;
}
"""


def test_c_takes_names_as_vowpal_wabbit_hashes_them(tmp_path):
    (tmp_path / "x.vw").write_text("1 |a x 12:0.5 |b q\n-1 | y:2 |a z\n1 |a x:3\n-1 |b r s\n" * 4)
    model, reader = trained(tmp_path / "x.vw", bits=10)
    (tmp_path / "new.vw").write_text("1 |a x 12:0.5 x:0.25 | y:-2 |b :3\n")
    rows = read(tmp_path / "new.vw", encoder=reader.encoder)
    out = run_c(compile_c(tmp_path, to_c(model), SAY_NAMES, DIALECTS[0])).split()
    assert float(out[1]) == model.batch_scores(rows)[0, 0]
    assert model.classes[int(out[0])] == model.predict(rows.matrix(model.features))[0]
