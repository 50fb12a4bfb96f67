"""Workers that are processes of their own: every kind of source, and the same bits however many there are."""

import warnings

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas
import pytest
import scipy.sparse as sp
from rejected import rejected

import rosenblatt
from rosenblatt import AveragedPerceptron, cluster, save
from rosenblatt.cluster.executor import DaskExecutor
from rosenblatt.errors import DataError

# Sockets that the event loop of the cluster closes in its own time.
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
SHARDS = 5


@pytest.fixture(scope="module")
def chunks(rows):
    X, y = rows
    return da.from_array(X, chunks=(600, 12)), da.from_array(y, chunks=600)


@pytest.fixture(scope="module")
def expected(rows):
    """What threads of this process learn from the same shards."""
    return train(None, rows).learner


def train(client, source, shards=SHARDS, params=None, **how):
    """Two epochs with three mixes each: every mix is some dozens of tasks."""
    if isinstance(params, str) and params != "auto":
        how = {"max_iter": 2, **how}
    params = params or AveragedPerceptron(max_iter=2)
    return cluster.train(client, source, params, shards=shards, mixes=3, worker_timeout=600, **how)


def equal(found, expected):
    return np.array_equal(found.learner.coef_, expected.coef_) and np.array_equal(
        found.learner.intercept_, expected.intercept_
    )


def test_collections_and_delayed_batches(client, rows, chunks, expected):
    X, y = chunks
    persisted = client.persist([X, y])
    found = train(client, persisted)
    assert equal(found, expected)
    assert cluster.evaluate(client, persisted, found.learner).accuracy == found.learner.score(*rows)
    assert equal(train(client, (X.rechunk((600, 5)), y)), expected)
    sparse = train(client, (X.map_blocks(sp.csr_array), y))
    np.testing.assert_allclose(sparse.learner.coef_, expected.coef_, rtol=1e-9, atol=1e-9)
    batches = [dask.delayed(lambda *rows: rows)(*(each[at : at + 600] for each in rows)) for at in range(0, 3000, 600)]
    assert equal(train(client, batches), expected)
    assert equal(train(client, client.compute(batches)), expected)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Dask currently has limited support:UserWarning")
def test_frames_are_read_as_files_are(client, rows):
    X, y = rows
    frame = pandas.DataFrame(X, columns=[f"c{j}" for j in range(12)])
    frame["color"] = np.where(X[:, 0] > 0, "red", "blue")
    frame["label"] = [f"class {code}" for code in y]
    parts = dd.from_pandas(frame, npartitions=4)
    parts = dd.concat([parts[parts["c0"] > np.inf], parts])  # the first has no rows
    found = train(client, parts, shards=1, params="averaged")
    plain = rosenblatt.train(frame, "averaged", max_iter=2)
    (one, _), (other, _) = found.model.weights(), plain.weights()
    assert np.array_equal(one.columns(), other.columns())
    assert np.array_equal(one.at(one.columns()), other.at(one.columns()))
    several = train(client, parts, shards=4, params="averaged").model
    labels = cluster.predict(client, parts, several)
    assert cluster.evaluate(client, parts, several).accuracy == np.mean(labels == frame["label"].to_numpy())
    X_frame = parts[[f"c{j}" for j in range(12)]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Dask says that strings become objects
        learner = train(client, (X_frame, parts["label"]), shards=4).learner
    assert learner.feature_names_in_.tolist() == [f"c{j}" for j in range(12)]
    assert cluster.evaluate(client, (X_frame, parts["label"]), learner).accuracy == learner.score(
        frame[[f"c{j}" for j in range(12)]], frame["label"]
    )


@pytest.fixture(scope="module")
def files(rows, write_svmlight, tmp_path_factory):
    """The same rows in files of several formats."""
    folder = tmp_path_factory.mktemp("files")
    write_svmlight(folder)
    X, y = rows
    for k in range(4):
        part = slice(750 * k, 750 * k + 750)
        frame = pandas.DataFrame(X[part].round(4), columns=[f"c{j}" for j in range(12)])
        frame["label"] = y[part]
        frame.to_parquet(folder / f"{k}.parquet")
        frame.to_csv(folder / f"{k}.csv", index=False)
        frame.to_json(folder / f"{k}.jsonl", orient="records", lines=True)
        texts = (f"{b}\tword{b} and word{abs(int(x[0]))}\n" for x, b in zip(X[part], y[part], strict=True))
        (folder / f"{k}.tsv").write_text("".join(texts))
    return folder


NUMBERS = {"params": "pa1-regression", "scale_target": False}


@pytest.mark.parametrize(
    ("ending", "options"),
    [
        *((ending, {"params": "pa1"}) for ending in ("svm", "parquet", "csv", "jsonl", "tsv")),
        ("svm", NUMBERS),
        ("svm", {"params": "auto", "max_iter": 3}),
    ],
)
def test_one_shard_of_files_is_the_command_to_the_byte(client, files, tmp_path, ending, options):
    data = str(files / f"*.{ending}")
    save(rosenblatt.train(data, **{"max_iter": 2} | options), tmp_path / "plain")
    save(train(client, data, shards=1, **options).model, tmp_path / "mixed")
    assert (tmp_path / "plain").read_bytes() == (tmp_path / "mixed").read_bytes()


def test_numbers_are_learned_from_collections(client, rows):
    X, y = rows[0], (rows[0] @ np.arange(12.0)).round(3)
    chunks = da.from_array(X, chunks=(600, 12)), da.from_array(y, chunks=600)
    with rejected("parameter", "scale_target=True"):
        train(client, chunks, **NUMBERS | {"scale_target": True})
    found = train(client, chunks, **NUMBERS)
    assert np.array_equal(found.learner.coef_, train(None, (X, y), **NUMBERS).learner.coef_)
    assert np.array_equal(cluster.predict(client, chunks[0], found.model), found.model.predict(X))


def test_files_and_addresses_give_the_bits_of_threads(client, files):
    data, options = str(files / "*.csv"), {"shards": 7, "params": "pa1"}
    found, threads = (train(who, data, **options).model for who in (client, None))
    assert np.array_equal(found.weights()[0].weights, threads.weights()[0].weights)
    assert np.array_equal(cluster.predict(client, data, found), cluster.predict(None, data, found))
    assert cluster.evaluate(client, data, found).to_json() == cluster.evaluate(None, data, found).to_json()
    remote = train(client, f"file://{data}", **options).model
    assert np.array_equal(remote.weights()[0].weights, found.weights()[0].weights)


def test_a_long_file_is_cut_at_lines(monkeypatch, files):
    from rosenblatt.cluster import dataset

    whole = train(None, files / "0.svm", shards=3, params="averaged")
    monkeypatch.setattr(dataset, "LEAST_RANGE", 1000)
    opened = dataset.begin_files([str(files / "0.svm")], {}, 50)
    assert len(opened.sources) > 10
    read = b"".join(block for source in opened.sources for block in source.iter_bytes())
    assert read == (files / "0.svm").read_bytes()
    cut = train(None, files / "0.svm", shards=3, params="averaged")
    assert np.array_equal(cut.model.weights()[0].weights, whole.model.weights()[0].weights)


def test_a_bad_line_is_named(client, tmp_path):
    (tmp_path / "good.svm").write_text("1 1:1\n0 1:-1\n" * 50)
    (tmp_path / "bad.svm").write_text("1 1:1\n0 1:nan\n")
    with rejected("data", "bad.svm", "line 2", "feature 1"):
        train(client, str(tmp_path / "*.svm"), shards=2, params="averaged")
    found = train(client, str(tmp_path / "*.svm"), shards=2, params="averaged", reading={"skip_bad": True})
    assert found.bad_lines == 1


def test_an_error_comes_as_it_was_raised(client):
    def fail():  # made here, so that it travels with its code: workers cannot import a test
        class Unsent(Exception):
            def __reduce__(self):
                raise TypeError

        try:
            raise Unsent
        except Unsent as error:
            raise DataError("there is no such file") from error

    executor = DaskExecutor(client, 60)
    with rejected("data"):
        executor.results([executor.submit(fail)])


def test_what_is_not_on_the_cluster_is_refused(client, rows):
    with rejected("parameter", "X"):
        train(client, rows)
    with rejected("parameter", "client=5"):
        train(5, rows)
    X, y = rows
    with rejected("data", "rechunk"):
        train(client, (da.from_array(X, chunks=(600, 12)), da.from_array(y, chunks=1500)))
