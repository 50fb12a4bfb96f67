"""Shards in threads of this process: what they learn, and which errors they raise."""

import numpy as np
import pytest
from registry import LINEAR, each
from rejected import rejected

import rosenblatt as rb
from rosenblatt.cluster.averaging import SparseColumns
from rosenblatt.theory import joint_bound, perceptron_bound

# A cluster learns classes jointly, and keeps the last weights or an average.
TAKEN = [
    "last",
    "margin",
    "average",
    "normalized",
    "l2",
    "average l1",
    "PA-I average elasticnet",
    "PA-I average",
    "AROW",
]


def fitted(learner, X, y, weights=None):
    return type(learner)(**learner.get_params()).fit(X, y, sample_weight=weights)


def mixed(X, y, learner, **how):
    return rb.cluster.train(None, (X, y), learner, **how)


@pytest.mark.parametrize("mixing", ["mean", "momentum"])
@each({name: LINEAR[name] for name in TAKEN})
def test_threads_do_not_change_a_bit(rows, make, mixing):
    learner, told = make().set_params(max_iter=3), {"shards": 5, "mixing": mixing}
    found = [rb.cluster.train(f"threads:{jobs}", rows, learner, **told).learner for jobs in (1, 3)]
    assert np.array_equal(found[0].coef_, found[1].coef_)


@pytest.mark.parametrize(
    "learner",
    [
        rb.PassiveAggressive(max_iter=3),
        rb.PassiveAggressiveRegression(max_iter=3, scale_target=False),
        rb.PassiveAggressiveRegression(max_iter=3, keep="average", scale_target=False),
        rb.PassiveAggressiveRegression(max_iter=3, variant="PA-II", penalty="l2", scale_target=False),
    ],
    ids=lambda learner: repr(learner)[:60],
)
def test_one_shard_with_weights_is_the_plain_learner_to_the_byte(rows, learner, tmp_path):
    weights = np.random.default_rng(1).integers(0, 3, len(rows[1])).astype(float)
    rb.save(fitted(learner, *rows, weights), tmp_path / "plain")
    rb.save(rb.cluster.train(None, (*rows, weights), learner, shards=1).learner, tmp_path / "mixed")
    assert (tmp_path / "plain").read_bytes() == (tmp_path / "mixed").read_bytes()


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
    last = mixed(X, y, rb.Perceptron(max_iter=3, shuffle=False), shards=4, mixing="mean").learner
    average = mixed(X, y, rb.AveragedPerceptron(max_iter=3, shuffle=False), shards=4, mixing="mean")
    np.testing.assert_allclose(np.c_[last.coef_, last.intercept_], w, rtol=1e-12, atol=1e-12)
    found = average.learner
    np.testing.assert_allclose(np.c_[found.coef_, found.intercept_], mean, rtol=1e-12, atol=1e-12)
    assert average.history.mistakes == mistakes
    several = mixed(X, y, rb.Perceptron(max_iter=2), shards=3, mixing="mean", mixes=7)
    assert several.learner.states[0].counter("seen") == 2 * len(y)  # parts of an epoch are all of it


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
    found = mixed(X, y, rb.Perceptron(max_iter=1000), shards=shards, mixing="mean", mixes=mixes)
    assert found.stop_reason == "converged"
    assert found.learner.score(X, y) == 1.0
    bound = perceptron_bound if classes == 2 else joint_bound
    weights = np.squeeze(found.learner.coef_), np.squeeze(found.learner.intercept_)
    assert sum(found.history.mistakes) / shards < bound(X, y, *weights) + 1  # which is rounded down


@pytest.mark.parametrize("mixing", ["mean", "momentum"])
def test_converged_means_that_nothing_was_left_to_do(mixing):
    X, y = separable(3)
    found = mixed(X, y, rb.Perceptron(max_iter=2000), shards=4, mixing=mixing)
    assert found.stop_reason == "converged"
    assert (found.history.mistakes[-1], found.history.updates[-1]) == (0, 0)
    assert found.learner.score(X, y) == 1.0


def test_sums_of_sparse_columns():
    rng = np.random.default_rng(0)
    dense = [np.where(rng.random((2, 50)) < share, rng.integers(1, 9, (2, 50)), 0.0) for share in (0.05, 0.05, 0.9)]
    used = [np.flatnonzero(matrix.any(axis=0)) for matrix in dense[:2]] + [None]
    sparse = [
        SparseColumns(50, columns, {"steps": matrix if columns is None else matrix[:, columns]})
        for matrix, columns in zip(dense, used, strict=True)
    ]
    for i in range(3):
        for j in range(3):
            total, found = sparse[i] + sparse[j], np.zeros((2, 50))
            found[:, slice(None) if total.columns is None else total.columns] = total.values["steps"]
            assert np.array_equal(found, dense[i] + dense[j])


@pytest.mark.parametrize(
    ("learner", "options", "words"),
    [
        (rb.VotedPerceptron(), {}, "keep='vote' cannot be averaged"),
        (rb.AutoPerceptron(), {}, "not a learner or params"),
        (rb.PocketPerceptron(), {}, "keep='pocket'"),
        (rb.Perceptron(keep="tail"), {}, "keep='tail'"),
        (rb.KernelPerceptron(), {}, "KernelPerceptron cannot learn on a cluster"),
        (rb.Perceptron(early_stopping=True), {}, "early_stopping=True"),
        (rb.Perceptron(n_init=3), {}, "n_init=3"),
        (rb.Perceptron(multiclass="ovr"), {}, "multiclass='ovr'"),
        (rb.Perceptron(eta0=-1), {}, "eta0"),
        (print, {}, "not a learner or params"),
        ("averaged", {"mixing": "sum"}, "mixing='sum': must be"),
        ("averaged", {"mixes": 0}, "mixes=0"),
        ("averaged", {"shards": 2.5}, "shards=2.5"),
    ],
    ids=str,
)
def test_unsupported_params_are_an_error_with_the_reason(rows, learner, options, words):
    with rejected("parameter", words):
        mixed(*rows, learner, **{"shards": 2} | options)


def test_data_that_cannot_be_learned(rows):
    X, y = rows
    with rejected("label"):
        mixed(X, np.zeros(len(X), int), "averaged", shards=2)
    with rejected("data", "3000 rows"):
        mixed(X, y[:-1], "averaged", shards=2)
    bad = X.copy()
    bad[7, 3] = np.nan
    with rejected("data", "NaN", "row 7"):
        mixed(bad, y, "averaged", shards=2)
    with rejected("parameter", "int"):
        rb.cluster.train(None, 5, "averaged")
    with rejected("label", "y"):
        mixed(X, ["a"] * len(X), "pa1-regression", scale_target=False)
    assert mixed(X[:7], [0, 1, 0, 1, 2, 1, 0], "averaged", shards=50).shards == 7  # no more shards than rows


def test_the_choice_on_a_cluster_has_probabilities_and_weights(rows):
    X, y = rows
    found = rb.cluster.train(None, (X, y % 2), "auto", max_iter=2, class_weight={0: 3.0}, shards=3)
    assert found.held is not None
    assert found.params.class_weight == {0: 3.0, 1: 1.0}
    np.testing.assert_allclose(found.model.predict_proba(X[:5]).sum(axis=1), 1.0)


@pytest.mark.parametrize(
    "classes",
    [[False, True], np.array([3, 7], np.uint8), [0.0, 2.0], ["no", "yes"]],
    ids=["bool", "uint8", "float", "str"],
)
def test_evaluate_and_predict_are_those_of_one_pass(rows, classes):
    X, _y = rows
    y = np.asarray(classes)[(X[:, 0] > 0).astype(int)]
    learner = fitted(rb.AveragedPerceptron(max_iter=1), X, y)
    assert np.array_equal(rb.cluster.predict(None, X, learner), learner.predict(X))
    assert rb.cluster.evaluate(None, (X, y), learner).accuracy == learner.score(X, y)
    weights = np.arange(len(y)) % 3
    found = rb.cluster.evaluate(None, (X, y, weights), learner).accuracy
    assert found == pytest.approx(learner.score(X, y, sample_weight=weights), rel=1e-12)
