"""Learning from files: the same bits whatever the cut, and stopped or not."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

import rosenblatt
from rosenblatt import textbook
from rosenblatt.data.batch import join_batches
from rosenblatt.data.row_store import MEMORY, BlockStore, iter_blocks, iter_strips
from rosenblatt.errors import DataError, LabelError, ModelError, ParameterError
from rosenblatt.io import open_dataset, read
from rosenblatt.learners.files.checkpoint import load_checkpoint, save_checkpoint
from rosenblatt.learners.files.run import BLOCK, FileRun
from rosenblatt.models import save
from rosenblatt.models.container import read_container
from rosenblatt.params import make_params

CLASSES = {
    "perceptron": rosenblatt.Perceptron,
    "averaged": rosenblatt.AveragedPerceptron,
    "voted": rosenblatt.VotedPerceptron,
    "pocket": rosenblatt.PocketPerceptron,
    "pa": lambda **given: rosenblatt.PassiveAggressive(variant="PA", **given),
    "pa1": lambda **given: rosenblatt.PassiveAggressive(variant="PA-I", **given),
    "pa2": lambda **given: rosenblatt.PassiveAggressive(variant="PA-II", **given),
    "arow": rosenblatt.AROW,
}


def write_rows(path, count=300, classes=2, seed=0):
    """Rows that no hyperplane separates; later rows bring new features."""
    rng = np.random.default_rng(seed)
    with open(path, "w") as file:
        for i in range(count):
            columns = np.unique(rng.integers(1, 10 + i // 4, 6))
            values = rng.standard_normal(len(columns))
            label = int((values.sum() + rng.standard_normal()) > 0) + (classes - 2) * int(rng.random() < 0.4)
            file.write(
                f"{label} " + " ".join(f"{j}:{v!r}" for j, v in zip(columns, values.tolist(), strict=True)) + "\n"
            )
    return path


def begin(reader, learner="averaged", *, block=BLOCK, max_iter=10, **parameters):
    return FileRun.begin(reader, make_params(learner, max_iter=max_iter, **parameters), block=block)


def run_of(path, learner="averaged", *, chunk=4 << 20, jobs=2, **options):
    reader = open_dataset(path, format="svmlight", jobs=jobs)
    reader.chunk = chunk
    run = begin(reader, learner, **options)
    run.run()
    return run


def bytes_of(run, path):
    save(run.model(), path)
    return path.read_bytes()


LEARNERS_AND_PENALTIES = [
    *((learner, {}) for learner in CLASSES),
    ("averaged", {"penalty": "l1", "alpha": 0.01}),
    ("perceptron", {"penalty": "elasticnet", "alpha": 0.1, "eta0": 0.5}),
    ("pa1", {"penalty": "l2", "alpha": 0.001}),
]


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize(("learner", "given"), LEARNERS_AND_PENALTIES)
def test_data_of_one_group_gives_the_bits_of_fit(tmp_path, learner, given, classes):
    path = write_rows(tmp_path / "x", classes=classes)
    run, rows = run_of(path, learner, max_iter=4, **given), read(path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = CLASSES[learner](max_iter=4, **given).fit(rows.X, rows.y)
    model = run.model()
    assert run.stopping.history.mistakes == fitted.history_.mistakes
    assert run.stopping.history.updates == fitted.history_.updates
    assert run.stopping.stop_reason == fitted.stop_reason_
    np.testing.assert_array_equal(model.decision_function(rows.X), fitted.decision_function(rows.X))


@pytest.mark.parametrize("learner", ["averaged", "voted", "pa1"])
def test_where_the_data_is_cut_does_not_matter(tmp_path, learner):
    path = write_rows(tmp_path / "x", classes=3)
    expected = bytes_of(run_of(path, learner, block=37), tmp_path / "a")
    for chunk, jobs in ((100, 1), (1000, 3)):
        assert bytes_of(run_of(path, learner, block=37, chunk=chunk, jobs=jobs), tmp_path / "b") == expected


def test_strips_are_shuffled_as_in_the_textbook(tmp_path):
    """Several windows of strips, against `partial_fit` of the same order in memory."""
    path = write_rows(tmp_path / "x")
    rows = read(path)
    draws = textbook.Draws.seeded(0)
    order = [row for _ in range(3) for row in textbook.strip_order(300, draws, window=130)]
    expected = rosenblatt.AveragedPerceptron().partial_fit(rows.X[order], rows.y[order])
    run = run_of(path, block=130, max_iter=3, tol=None)
    np.testing.assert_array_equal(run.model().linear().weights, expected.coef_)


@pytest.mark.parametrize("memory", [MEMORY, 0])
@pytest.mark.parametrize("shuffle", [True, "rows", False])
@pytest.mark.parametrize("learner", ["averaged", "voted", "pocket", "arow"])
def test_data_of_many_windows_gives_the_bits_of_fit(tmp_path, monkeypatch, learner, shuffle, memory):
    """In memory, and from strips that were written to a file."""
    monkeypatch.setattr("rosenblatt.learners.files.run.MEMORY", memory)
    count = 20_000
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(count, 3)), 3)
    y = (X @ [1.0, -2.0, 0.5] + rng.normal(size=count) > 0).astype(int)
    path = tmp_path / "x"
    path.write_text("".join(f"{label} 1:{a} 2:{b} 3:{c}\n" for label, (a, b, c) in zip(y, X.tolist(), strict=True)))
    given = {"max_iter": 2, "tol": None, "shuffle": shuffle}
    run, rows = run_of(path, learner, **given), read(path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = CLASSES[learner](**given).fit(rows.X, rows.y)
    assert run.stopping.history.mistakes == fitted.history_.mistakes
    few = rows.X[:200]
    np.testing.assert_array_equal(run.model().decision_function(few), fitted.decision_function(few))


def test_without_shuffling_the_order_is_that_of_the_file(tmp_path):
    path = write_rows(tmp_path / "x")
    rows = read(path)
    expected = rosenblatt.Perceptron().partial_fit(rows.X, rows.y).partial_fit(rows.X, rows.y)
    run = run_of(path, "perceptron", block=64, max_iter=2, tol=None, shuffle=False)
    np.testing.assert_array_equal(run.model().linear().weights, expected.coef_)


def test_blocks_hold_what_they_may_and_end_where_the_rows_say(tmp_path):
    path = write_rows(tmp_path / "x", count=100)
    reader = open_dataset(path)
    whole = read(path)
    for rows, values in ((10, 10**6), (10**6, 40), (7, 40), (1, 1)):
        cuts = []
        for chunk in (64, 1 << 20):
            reader.chunk = chunk
            blocks = list(iter_blocks(reader, reader.scan_classes(), rows=rows, values=values))
            assert np.concatenate([b.values for b in blocks]).tolist() == whole.values.tolist()
            assert all(len(b) <= rows and (len(b.values) <= values or len(b) == 1) for b in blocks)
            cuts.append([len(b) for b in blocks])
        assert cuts[0] == cuts[1]


@pytest.mark.parametrize(("learner", "given"), LEARNERS_AND_PENALTIES)
@pytest.mark.parametrize("classes", [2, 3])
def test_a_run_resumed_after_any_group_ends_with_the_same_bits(tmp_path, learner, given, classes):
    path = write_rows(tmp_path / "x", count=150, classes=classes)
    options = {"block": 40, "max_iter": 3, "tol": None, **given}
    expected = bytes_of(run_of(path, learner, **options), tmp_path / "expected")
    saved = []

    def on_group(run):
        saved.append(tmp_path / f"checkpoint{len(saved)}")
        save_checkpoint(run, saved[-1], {"mine": 1})

    run = begin(open_dataset(path, format="svmlight"), learner, **options)
    save_checkpoint(run, tmp_path / "start", {"mine": 1})
    run.run(on_group=on_group, on_epoch=on_group)
    for checkpoint in [tmp_path / "start", *saved]:
        resumed, extra = load_checkpoint(checkpoint)
        assert extra == {"mine": 1}
        resumed.run()
        assert bytes_of(resumed, tmp_path / "resumed") == expected, checkpoint.name


def test_a_cache_is_used_again_and_gives_the_same_bits(tmp_path, monkeypatch):
    path = write_rows(tmp_path / "x")
    expected = bytes_of(run_of(path, block=64), tmp_path / "a")
    for turn in range(2):
        run = begin(open_dataset(path, format="svmlight"), block=64)
        if turn == 1:  # nothing is parsed
            monkeypatch.setattr(type(run.reader), "__iter__", None)
        run.run(cache=str(tmp_path / "cache"))
        assert bytes_of(run, tmp_path / "b") == expected


def test_a_cache_of_other_data_is_not_used(tmp_path):
    path = write_rows(tmp_path / "x")
    begin(open_dataset(path, format="svmlight"), block=64).run(cache=str(tmp_path / "cache"))
    write_rows(path, seed=1)
    expected = bytes_of(run_of(path, block=64), tmp_path / "a")
    run = begin(open_dataset(path, format="svmlight"), block=64)
    run.run(cache=str(tmp_path / "cache"))
    assert bytes_of(run, tmp_path / "b") == expected


def test_a_broken_cache_is_refused(tmp_path):
    path = write_rows(tmp_path / "x")
    begin(open_dataset(path, format="svmlight")).run(cache=str(tmp_path / "cache"))
    (blocks,) = (tmp_path / "cache").iterdir()
    data = bytearray(blocks.read_bytes())
    data[100] ^= 1
    blocks.write_bytes(data)
    with pytest.raises(DataError, match="the cache is broken"):
        begin(open_dataset(path, format="svmlight")).run(cache=str(tmp_path / "cache"))


def test_a_store_counts_what_small_blocks_take(tmp_path):
    reader = open_dataset(write_rows(tmp_path / "x"))
    with BlockStore(memory=100_000) as store:
        for block in iter_blocks(reader, reader.scan_classes(), rows=1):
            store.add(block)
        assert 20 < len(store._held) < 40 < len(store)


def test_a_store_holds_some_blocks_in_memory_and_the_others_on_disk(tmp_path):
    path = write_rows(tmp_path / "x")
    reader = open_dataset(path)
    blocks = list(iter_blocks(reader, reader.scan_classes(), rows=50))
    with BlockStore(memory=8000) as store:
        for block in blocks:
            store.add(block)
        assert 0 < len(store._held) < len(blocks)
        order = [3, 0, 5, 1, 2, 4]
        (group,) = store.iter_groups([order])
        assert group.blocks == order
        expected = join_batches([blocks[k] for k in order])
        for name in ("starts", "indices", "values", "codes"):
            np.testing.assert_array_equal(getattr(group.rows, name), getattr(expected, name))


@pytest.mark.parametrize("length", [1, 7, 32, 10**6])
def test_strips_hold_so_many_rows_wherever_the_reader_cuts(tmp_path, length):
    path = write_rows(tmp_path / "x", count=100)
    reader, whole = open_dataset(path), read(path)
    for chunk in (64, 300, 1 << 20):
        reader.chunk = chunk
        batches = list(iter_strips(reader, reader.scan_classes(), length))
        assert all(len(batch) % length == 0 for batch in batches[:-1])
        joined = join_batches(batches)
        assert joined.values.tolist() == whole.values.tolist()
        assert joined.starts.tolist() == whole.starts.tolist()


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("memory", [0, 3000, MEMORY])  # in the file, some in memory, all in memory
def test_strips_come_back_in_any_order_from_wherever_they_are(tmp_path, memory, weighted):
    reader = open_dataset(write_rows(tmp_path / "x"))
    reader.chunk = 1000
    batches = list(iter_strips(reader, reader.scan_classes(), 16))
    if weighted:  # some of the pieces have weights, and others none
        batches = [replace(b, weights=np.arange(len(b)) + 0.5) if k % 2 else b for k, b in enumerate(batches)]
    expected = join_batches(batches)
    strips = [expected.part(at, min(at + 16, len(expected))) for at in range(0, len(expected), 16)]
    order = np.random.default_rng(0).permutation(len(strips)).tolist()

    def check(found, wanted):
        for name in ("starts", "indices", "values", "codes"):
            np.testing.assert_array_equal(getattr(found, name), getattr(wanted, name))
        weights = [np.ones(len(each)) if each.weights is None else each.weights for each in (found, wanted)]
        np.testing.assert_array_equal(*weights)

    with BlockStore(memory=memory) as store:
        for batch in batches:
            store.add_strips(batch, 16)
        assert (len(store), store.rows) == (len(strips), len(expected))
        store.flush()
        share = store._file._held_ends[-1] / store.bytes
        assert {0: share == 0, 3000: 0 < share < 1, MEMORY: share == 1}[memory]
        for group in store.iter_groups([order[:5], order[5:6], order[6:]]):
            check(group.rows, join_batches([strips[k] for k in group.blocks]))
        check(store.whole().rows, expected)
        for group in store.iter_groups([order, list(range(len(strips)))]):  # what was held is gone, the whole is not
            check(group.rows, join_batches([strips[k] for k in group.blocks]))


def test_weights_of_rows_reach_the_learner(tmp_path):
    (tmp_path / "x.vw").write_text("1 2.5 |f a\n-1 |f b\n1 0.5 |f b a\n" * 20)
    run = begin(open_dataset(tmp_path / "x.vw", bits=10), "perceptron", max_iter=2, block=7)
    run.run()
    rows = read(tmp_path / "x.vw", bits=10)
    assert set(rows.sample_weight) == {2.5, 1.0, 0.5}
    one = begin(open_dataset(tmp_path / "x.vw", bits=10), "perceptron", max_iter=2, shuffle=False, tol=None)
    one.run()
    fitted = rosenblatt.Perceptron(shuffle=False, max_iter=2, tol=None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted.fit(rows.matrix(1 << 10), rows.y, sample_weight=rows.sample_weight)
    np.testing.assert_array_equal(one.model().linear().weights, fitted.coef_)


def test_convergence_is_verified_for_margin_rules(tmp_path):
    (tmp_path / "x").write_text("1 1:1\n0 1:-1\n" * 50)
    run = run_of(tmp_path / "x", "pa1", max_iter=20, block=30)
    assert run.stopping.stop_reason == "converged"
    assert run_of(tmp_path / "x", "perceptron", max_iter=1).stopping.stop_reason == "max_iter"


def test_data_that_cannot_be_learned_from(tmp_path):
    (tmp_path / "x").write_text("1 1:1\n1 2:1\n")
    with pytest.raises(LabelError, match="the data has one class only, 1"):
        run_of(tmp_path / "x")
    (tmp_path / "x").write_text("# nothing\n")
    with pytest.raises(LabelError, match="the data has no labels"):
        run_of(tmp_path / "x")
    (tmp_path / "x").write_text("1 1:1\n0 2000000000:1\n")
    with pytest.raises(DataError, match="would need 15 GB of weights"):
        run_of(tmp_path / "x")


def test_options_that_mean_nothing():
    with pytest.raises(ParameterError, match="learner='svm'"):
        make_params("svm")
    with pytest.raises(ParameterError, match="max_iter=0"):
        make_params("averaged", max_iter=0)
    with pytest.raises(ParameterError, match="eta0=-1"):
        make_params("averaged", eta0=-1)
    with pytest.raises(ParameterError, match="keep='vote': must be 'last' or 'average'"):
        make_params("arow", keep="vote")
    with pytest.raises(ParameterError, match="keep='vote' needs weights that change by updates alone"):
        make_params("voted", penalty="l1")


def test_a_checkpoint_holds_only_the_variances_that_have_moved(tmp_path):
    path = write_rows(tmp_path / "x")
    path.write_text(path.read_text() + "1 5000:1\n")
    run = run_of(path, "arow", max_iter=1)
    save_checkpoint(run, tmp_path / "c", {})
    tensors = read_container(tmp_path / "c", "checkpoint")[1]
    moved = np.flatnonzero(run.state.arrays["variances"][0] != 1)
    np.testing.assert_array_equal(tensors["state.variances.columns"], moved)
    resumed, _ = load_checkpoint(tmp_path / "c")
    np.testing.assert_array_equal(resumed.state.arrays["variances"], run.state.arrays["variances"])


def test_a_checkpoint_of_changed_data_is_refused(tmp_path):
    path = write_rows(tmp_path / "x")
    save_checkpoint(begin(open_dataset(path, format="svmlight")), tmp_path / "c", {})
    write_rows(path, seed=3)
    with pytest.raises(DataError, match="the data has changed since the checkpoint was written"):
        load_checkpoint(tmp_path / "c")


def test_a_model_is_no_checkpoint(tmp_path):
    path = write_rows(tmp_path / "x")
    save(run_of(path).model(), tmp_path / "m")
    with pytest.raises(ModelError, match="is a rosenblatt model, not a checkpoint"):
        load_checkpoint(tmp_path / "m")


@pytest.mark.slow
def test_names_that_come_late_in_large_data_are_kept(tmp_path):
    path = tmp_path / "large.vw"
    filler = b" | the same words again and again in every line of this long file\n"
    with open(path, "wb") as file:
        for k in range(70):
            file.write((b"%+d" % (-1) ** k + filler) * (1_000_000 // len(filler)))
        file.write(b"+1 | rare\n-1 | scarce\n")
    run = begin(open_dataset(path), "perceptron", max_iter=1, shuffle=False)
    run.run()
    assert {"rare", "scarce"} <= set(run.model().names.values())
