"""Shards in threads of this process: what they learn, and what they refuse."""

import numpy as np
import pytest
import scipy.sparse as sp

from rosenblatt import (
    AROW,
    AutoPerceptron,
    AveragedPerceptron,
    KernelPerceptron,
    NormalizedPerceptron,
    PassiveAggressive,
    PassiveAggressiveRegression,
    Perceptron,
    PocketPerceptron,
    VotedPerceptron,
    cluster,
    save,
)
from rosenblatt.cluster import rows as shard_rows
from rosenblatt.cluster import run, training
from rosenblatt.cluster.change import Packed
from rosenblatt.cluster.rows import cut_shards
from rosenblatt.errors import DataError, LabelError, ParameterError

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

LEARNERS = [
    Perceptron(max_iter=3),
    AveragedPerceptron(max_iter=3),
    NormalizedPerceptron(max_iter=3, keep="average"),
    PassiveAggressive(max_iter=3, variant="PA-II", keep="average"),
    AROW(max_iter=3),
    AROW(max_iter=3, keep="average"),
    PassiveAggressive(max_iter=3, penalty="l2", keep="average"),
    Perceptron(max_iter=3, penalty="l1", alpha=1e-5),
    AveragedPerceptron(max_iter=3, shuffle=False),
    Perceptron(max_iter=3, init="random"),
    PassiveAggressive(max_iter=3, class_weight="balanced"),
    PassiveAggressive(max_iter=3, class_weight={0: 0.0, 1: 2.0}),
]


def fitted(learner, X, y, weights=None):
    return type(learner)(**learner.get_params()).fit(X, y, sample_weight=weights)


def mixed(X, y, learner, **how):
    return cluster.train(None, (X, y), learner, **how)


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: repr(learner)[:60])
@pytest.mark.parametrize("kind", ["float64", "float32", "sparse"])
def test_one_shard_is_the_plain_learner(rows, learner, kind):
    X, y = rows
    X = sp.csr_array(np.where(abs(X) > 1, X, 0)) if kind == "sparse" else X.astype(kind)
    plain, found = fitted(learner, X, y), mixed(X, y, learner, shards=1)
    same = found.learner
    assert np.array_equal(plain.coef_, same.coef_)
    assert np.array_equal(plain.intercept_, same.intercept_)
    assert found.history.mistakes == plain.history_.mistakes
    if isinstance(learner.class_weight, str):
        return
    # The state, too: learning goes on alike.
    assert np.array_equal(plain.partial_fit(X[:99], y[:99]).coef_, same.partial_fit(X[:99], y[:99]).coef_)


def test_one_shard_with_weights_is_the_plain_learner(rows, tmp_path):
    X, y = rows
    weights = np.random.default_rng(1).integers(0, 3, len(y)).astype(float)
    learner = PassiveAggressive(max_iter=3)
    plain = fitted(learner, X, y, weights)
    found = cluster.train(None, (X, y, weights), learner, shards=1)
    save(plain, tmp_path / "plain")
    save(found.model, tmp_path / "mixed")
    assert (tmp_path / "plain").read_bytes() == (tmp_path / "mixed").read_bytes()


@pytest.mark.parametrize("told", [{}, {"keep": "average"}, {"variant": "PA-II", "penalty": "l2"}], ids=str)
def test_one_shard_of_numbers_is_the_plain_learner(told, tmp_path):
    rng = np.random.default_rng(4)
    X, weights = rng.standard_normal((500, 4)), rng.integers(0, 3, 500).astype(float)
    y = X @ [1.0, -2.0, 0.5, 3.0] + 0.1 * rng.standard_normal(500)
    learner = PassiveAggressiveRegression(max_iter=3, C=0.1, scale_target=False, **told)
    save(fitted(learner, X, y, weights), tmp_path / "plain")
    save(cluster.train(None, (X, y, weights), learner, shards=1).model, tmp_path / "mixed")
    assert (tmp_path / "plain").read_bytes() == (tmp_path / "mixed").read_bytes()


def numbers_by_hand(X, y, shards, epochs, epsilon):
    """PA regression, mixed once per epoch by rows; with an intercept."""
    cuts = np.array_split(np.arange(len(y)), shards)
    X = np.hstack([X, np.ones((len(X), 1))])
    w = np.zeros(X.shape[1])
    for _ in range(epochs):
        ends = []
        for cut in cuts:
            v = w.copy()
            for i in cut:
                away = y[i] - v @ X[i]
                v += np.sign(away) * max(0.0, abs(away) - epsilon) / (X[i] @ X[i]) * X[i]
            ends.append(v * len(cut))
        w = sum(ends) / len(y)
    return w


def test_numbers_are_mixed_as_classes_are():
    rng = np.random.default_rng(4)
    X = rng.standard_normal((90, 3))
    y = X @ [1.0, -2.0, 0.5] + 1.0
    learner = PassiveAggressiveRegression(variant="PA", max_iter=3, shuffle=False, epsilon=0.2, scale_target=False)
    found = mixed(X, y, learner, shards=3, mixing="mean")
    w = numbers_by_hand(X, y, shards=3, epochs=3, epsilon=0.2)
    np.testing.assert_allclose(np.r_[found.learner.coef_, found.learner.intercept_], w, rtol=1e-10)
    np.testing.assert_allclose(cluster.predict(None, X, found.model), X @ w[:3] + w[3], rtol=1e-10)
    with pytest.raises(LabelError, match="not a number"):
        mixed(X, ["a"] * 90, learner, shards=2)


@pytest.mark.parametrize("mixing", ["mean", "momentum"])
@pytest.mark.parametrize("learner", LEARNERS[:8], ids=lambda learner: repr(learner)[:60])
def test_threads_do_not_change_a_bit(rows, learner, mixing):
    found = [mixed(*rows, learner, shards=5, mixing=mixing, n_jobs=jobs).learner for jobs in (1, 3)]
    assert np.array_equal(found[0].coef_, found[1].coef_)


def averaged_by_hand(X, y, shards, epochs):
    """Iterative parameter mixing by its definition: the mean of the weights after every row of every shard."""
    cuts = np.array_split(np.arange(len(y)), shards)
    w, total, seen = np.zeros((3, X.shape[1] + 1)), np.zeros((3, X.shape[1] + 1)), 0
    X = np.hstack([X, np.ones((len(X), 1))])
    mistakes = []
    for _ in range(epochs):
        ends, wrong = [], 0
        for cut in cuts:
            v = w.copy()
            for i in cut:
                scores = v @ X[i]
                others = np.where(np.arange(3) == y[i], -np.inf, scores)
                if scores[y[i]] <= others.max():
                    v[y[i]] += X[i]
                    v[others.argmax()] -= X[i]
                    wrong += 1
                total += v
                seen += 1
            ends.append(v * len(cut))
        w = sum(ends) / len(y)
        mistakes.append(wrong)
    return w, total / seen, mistakes


def test_mean_is_the_published_procedure_and_averages_are_exact():
    rng = np.random.default_rng(3)
    X = rng.integers(-3, 4, (120, 5)).astype(float)
    y = rng.integers(0, 3, 120)
    w, mean, mistakes = averaged_by_hand(X, y, shards=4, epochs=3)
    last = mixed(X, y, Perceptron(max_iter=3, shuffle=False), shards=4, mixing="mean").learner
    average = mixed(X, y, AveragedPerceptron(max_iter=3, shuffle=False), shards=4, mixing="mean")
    np.testing.assert_allclose(np.c_[last.coef_, last.intercept_], w, rtol=1e-12, atol=1e-12)
    found = average.learner
    np.testing.assert_allclose(np.c_[found.coef_, found.intercept_], mean, rtol=1e-12, atol=1e-12)
    assert average.history.mistakes == mistakes


def test_parts_of_an_epoch_are_all_of_it(rows):
    found = mixed(*rows, Perceptron(max_iter=2), shards=3, mixing="mean", mixes=7)
    assert found.rows == len(rows[1])
    assert found.traffic.mixes == 14
    assert found.learner.learned.counted("seen") == 2 * len(rows[1])


def separable(classes):
    rng = np.random.default_rng(5)
    X = rng.standard_normal((1500, 6))
    scores = X @ rng.standard_normal((6, classes))
    first, second = np.sort(scores, axis=1)[:, -1], np.sort(scores, axis=1)[:, -2]
    kept = first - second > 0.3
    return X[kept], scores[kept].argmax(axis=1)


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("shards", [2, 7])
@pytest.mark.parametrize("mixes", [1, 3])
def test_the_mean_keeps_the_mistake_bound(classes, shards, mixes):
    """McDonald, Hall and Mann 2010, theorem 3: with equal shares, mistakes / shards <= c R²/γ²."""
    X, y = separable(classes)
    X, y = X[: len(y) // shards * shards], y[: len(y) // shards * shards]
    found = mixed(X, y, Perceptron(max_iter=1000), shards=shards, mixing="mean", mixes=mixes)
    assert found.stop_reason == "converged"
    assert found.learner.score(X, y) == 1.0
    radius = 1 + np.square(X).sum(axis=1).max()
    W = np.c_[found.learner.coef_, found.learner.intercept_]
    scores = np.c_[X, np.ones(len(X))] @ W.T
    if classes == 2:
        margins = (2 * y - 1) * scores[:, 0]
    else:
        right = scores[np.arange(len(y)), y].copy()
        scores[np.arange(len(y)), y] = -np.inf
        margins = right - scores.max(axis=1)
    margin = margins.min() / np.linalg.norm(W)
    assert sum(found.history.mistakes) / shards <= (1 if classes == 2 else 2) * radius / margin**2 * (1 + 1e-6)


@pytest.mark.parametrize("mixing", ["mean", "momentum"])
def test_converged_means_that_nothing_was_left_to_do(mixing):
    X, y = separable(3)
    found = mixed(X, y, Perceptron(max_iter=2000), shards=4, mixing=mixing)
    assert found.stop_reason == "converged"
    assert (found.history.mistakes[-1], found.history.updates[-1]) == (0, 0)
    assert found.learner.score(X, y) == 1.0


@pytest.mark.parametrize("learner", [AveragedPerceptron(max_iter=2), AROW(max_iter=2), PassiveAggressive(max_iter=2)])
def test_columns_without_values_change_nothing(monkeypatch, learner):
    rng = np.random.default_rng(0)
    X = sp.csr_array(sp.random(400, 9000, density=0.002, random_state=0, format="csr"))
    y = rng.integers(0, 3, 400)
    narrow = mixed(X, y, learner, shards=4).learner
    monkeypatch.setattr(shard_rows, "_narrowed", lambda X: (X, None))
    monkeypatch.setattr(training, "WIDE", 10**9)
    assert np.array_equal(narrow.coef_, mixed(X, y, learner, shards=4).learner.coef_)


def test_sums_of_packed_matrices():
    rng = np.random.default_rng(0)
    dense = [np.where(rng.random((2, 50)) < share, rng.integers(1, 9, (2, 50)), 0.0) for share in (0.05, 0.05, 0.9)]
    packed = [Packed.of({"weights": matrix}, {}) for matrix in dense]
    assert [each.columns is None for each in packed] == [False, False, True]
    for i in range(3):
        for j in range(3):
            assert np.array_equal(packed[i].plus(packed[j]).matrix("weights"), dense[i] + dense[j])
    only = np.array([0, 7, 49], np.int32)
    for each, matrix in zip(packed, dense, strict=True):
        assert np.array_equal(each.matrix("weights", only=only), matrix[:, only])


@pytest.mark.parametrize("shards", [2, 3, 7, 8, 9, 17])
def test_how_many_are_added_at_once_changes_no_bit(rows, monkeypatch, shards):
    X, y = rows
    found = []
    for width in (2, 4, 8):
        monkeypatch.setattr(run, "SMALL_WIDTH", width)
        found.append(mixed(X, y, AveragedPerceptron(max_iter=2), shards=shards, mixes=2))
    assert all(np.array_equal(each.learner.coef_, found[0].learner.coef_) for each in found)
    assert found[2].traffic.up <= found[0].traffic.up


def test_float32_travels_as_float32(rows):
    X, y = rows
    half, whole = (mixed(X.astype(kind), y, Perceptron(max_iter=2), shards=4, mixing="mean") for kind in ("f4", "f8"))
    assert 2 * half.traffic.up == whole.traffic.up


def test_shards_are_cut_by_the_rows_alone():
    for sizes in ([5], [3, 0, 9, 1], [0, 0, 4], [7] * 9):
        total = sum(sizes)
        for shards in range(1, total + 1):
            cuts = cut_shards(sizes, shards)
            assert len(cuts) == shards
            assert all(cuts)
            taken = [(p, row) for cut in cuts for p, begin, end in cut for row in range(begin, end)]
            assert taken == [(p, row) for p, size in enumerate(sizes) for row in range(size)]


@pytest.mark.parametrize(
    ("learner", "words"),
    [
        (VotedPerceptron(), "keep='vote' cannot be mixed: the answer is a sequence"),
        (AutoPerceptron(scoring="f1"), "scoring='f1' has no meaning on a cluster"),
        (PocketPerceptron(), "keep='pocket' cannot be mixed: a challenger"),
        (Perceptron(keep="tail"), "keep='tail' cannot be mixed"),
        (KernelPerceptron(), "KernelPerceptron cannot learn on a cluster: shards have different support rows"),
        (Perceptron(early_stopping=True), "early_stopping=True has no meaning on a cluster"),
        (Perceptron(n_init=3), "n_init=3"),
        (Perceptron(multiclass="ovr"), "multiclass='ovr'"),
        (Perceptron(eta0=-1), "eta0"),
        (print, "no params"),
    ],
    ids=str,
)
def test_what_cannot_be_mixed_is_refused_with_the_reason(rows, learner, words):
    with pytest.raises(ParameterError, match=words):
        mixed(*rows, learner, shards=2)


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"mixing": "sum"}, "mixing='sum': must be"),
        ({"mixes": 0}, "mixes=0"),
        ({"shards": 0}, "shards=0"),
        ({"shards": 2.5}, "shards=2.5"),
    ],
)
def test_options_that_mean_nothing(rows, how, words):
    with pytest.raises(ParameterError, match=words):
        mixed(*rows, "averaged", **how)


def test_data_that_cannot_be_learned(rows):
    X, y = rows
    with pytest.raises(LabelError, match="one class only"):
        mixed(X, np.zeros(len(X), int), "averaged", shards=2)
    with pytest.raises(DataError, match="a part of X has 3000 rows"):
        mixed(X, y[:-1], "averaged", shards=2)
    bad = X.copy()
    bad[7, 3] = np.nan
    with pytest.raises(DataError, match="NaN in row 7"):
        mixed(bad, y, "averaged", shards=2)
    with pytest.raises(ParameterError, match="a source of type int"):
        cluster.train(None, 5, "averaged")


def test_more_shards_than_rows(rows):
    X, _y = rows
    found = mixed(X[:7], [0, 1, 0, 1, 2, 1, 0], "averaged", shards=50)
    assert found.shards == 7


def test_evaluate_and_predict_are_those_of_one_pass(rows):
    X, y = rows
    learner = fitted(AveragedPerceptron(max_iter=2), X, y)
    assert cluster.evaluate(None, (X, y), learner).accuracy == learner.score(X, y)
    assert np.array_equal(cluster.predict(None, X, learner), learner.predict(X))


@pytest.mark.parametrize(
    "classes",
    [[False, True], np.array([3, 7], np.uint8), [0.0, 2.0], ["no", "yes"]],
    ids=["bool", "uint8", "float", "str"],
)
def test_labels_of_any_kind_are_evaluated(rows, classes):
    X, _y = rows
    y = np.asarray(classes)[(X[:, 0] > 0).astype(int)]
    learner = fitted(AveragedPerceptron(max_iter=1), X, y)
    assert cluster.evaluate(None, (X, y), learner).accuracy == learner.score(X, y)
    weights = np.arange(len(y)) % 3
    found = cluster.evaluate(None, (X, y, weights), learner).accuracy
    assert found == pytest.approx(learner.score(X, y, sample_weight=weights), rel=1e-12)


def test_the_choice_on_a_cluster_has_probabilities_and_weights(rows):
    X, y = rows
    found = cluster.train(None, (X, y % 2), AutoPerceptron(max_iter=2, class_weight={0: 3.0}), shards=3)
    assert found.held is not None
    assert found.params.class_weight == {0: 3.0, 1: 1.0}
    np.testing.assert_allclose(found.model.predict_proba(X[:5]).sum(axis=1), 1.0)


def test_bytes_per_epoch_are_those_of_its_mixes(rows):
    found = mixed(*rows, Perceptron(max_iter=2, tol=None), shards=4, mixing="mean", mixes=3)
    traffic, facts = found.traffic, found.facts()["cluster"]
    assert traffic.mixes == 6
    assert facts["bytes_per_epoch"] == (traffic.up + traffic.down) // 2
