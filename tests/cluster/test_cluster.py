"""Workers that are processes of their own: every kind of source, and the same bits however many there are."""

import threading
import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import rosenblatt
from rosenblatt import AveragedPerceptron, PassiveAggressive, cluster, save
from rosenblatt.cluster.hands import Workers
from rosenblatt.cluster.parts import Part
from rosenblatt.cluster.rows import Shape, assemble
from rosenblatt.errors import ClusterError, DataError, ParameterError

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
pytest.importorskip("distributed")

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
    return cluster.train(client, source, params, shards=shards, mixes=3, patience=600, **how)


def equal(found, expected):
    return np.array_equal(found.learner.coef_, expected.coef_) and np.array_equal(
        found.learner.intercept_, expected.intercept_
    )


@pytest.mark.slow
def test_any_number_of_workers_gives_the_same_bits(client, chunks, expected):
    import distributed

    assert equal(train(client, chunks), expected)  # two
    told = {"threads_per_worker": 1, "processes": True, "dashboard_address": ":0", "silence_logs": 50}
    with (
        distributed.LocalCluster(n_workers=4, **told) as other,
        distributed.Client(other, set_as_default=False) as four,
    ):
        found = train(four, chunks)
        assert equal(found, expected)
        four.retire_workers(list(four.scheduler_info(n_workers=-1)["workers"])[1:])
        assert len(four.scheduler_info(n_workers=-1)["workers"]) == 1
        assert equal(train(four, chunks), expected)
    assert found.losses == 0


def test_persisted_collections_stay_where_they_are(client, chunks, expected):
    X, y = persisted = client.persist(list(chunks))
    found = train(client, persisted)
    assert equal(found, expected)
    assert found.shards == X.numblocks[0]
    assert cluster.evaluate(client, persisted, found.learner).accuracy == found.learner.score(*map(np.asarray, (X, y)))


def test_a_shard_that_is_a_part_is_no_copy_of_it(rows):
    X, y = rows
    part = Part.of_arrays(X, y)
    shape = Shape(np.unique(y), X.shape[1], X.dtype)
    assert np.shares_memory(assemble([part], [(0, len(X))], shape).X, X)
    assert not np.shares_memory(assemble([part, part], [(0, len(X)), (0, 1)], shape).X, X)


def test_chunks_may_be_sparse_or_cut_by_columns(client, chunks, expected):
    X, y = chunks
    found = train(client, (X.map_blocks(sp.csr_array), y))
    np.testing.assert_allclose(found.learner.coef_, expected.coef_, rtol=1e-9, atol=1e-9)
    assert equal(train(client, (X.rechunk((600, 5)), y)), expected)


def test_delayed_batches(client, rows, expected):
    X, y = rows

    def batch(X, y):  # made here, so that it travels with its code: workers cannot import a test
        return X, y

    batches = [dask.delayed(batch)(X[at : at + 600], y[at : at + 600]) for at in range(0, 3000, 600)]
    assert equal(train(client, batches), expected)
    assert equal(train(client, client.compute(batches)), expected)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Dask currently has limited support:UserWarning")
def test_frames_are_read_as_files_are(client, rows):
    pandas, dd = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    X, y = rows
    frame = pandas.DataFrame(X, columns=[f"c{j}" for j in range(12)])
    frame["color"] = np.where(X[:, 0] > 0, "red", "blue")
    frame["label"] = [f"class {code}" for code in y]
    parts = dd.from_pandas(frame, npartitions=4)
    found = train(client, parts, shards=1, params="averaged")
    plain = rosenblatt.train(frame, "averaged", max_iter=2)
    assert np.array_equal(found.model.linear().weights, plain.linear().weights)
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
    pandas = pytest.importorskip("pandas")
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
        (folder / f"{k}.tsv").write_text(
            "".join(
                f"{label}\tword{label} and word{abs(int(x[0]))}\n" for x, label in zip(X[part], y[part], strict=True)
            )
        )
    return folder


@pytest.mark.parametrize("ending", ["svm", "parquet", "csv", "jsonl", "tsv"])
def test_one_shard_of_files_is_the_command_to_the_byte(client, files, tmp_path, ending):
    data = str(files / f"*.{ending}")
    save(rosenblatt.train(data, "pa1", max_iter=2), tmp_path / "plain")
    save(train(client, data, shards=1, params="pa1").model, tmp_path / "mixed")
    assert (tmp_path / "plain").read_bytes() == (tmp_path / "mixed").read_bytes()


@pytest.mark.parametrize("ending", ["svm", "csv"])
def test_files_give_the_bits_of_threads(client, files, ending):
    data = str(files / f"*.{ending}")
    found, threads = (train(who, data, shards=7, params="pa1") for who in (client, None))
    assert np.array_equal(found.model.linear().weights, threads.model.linear().weights)
    assert np.array_equal(cluster.predict(client, data, found.model), cluster.predict(None, data, found.model))
    assert cluster.evaluate(client, data, found.model).to_json() == cluster.evaluate(None, data, found.model).to_json()


def test_a_long_file_is_cut_at_lines(monkeypatch, files):
    from rosenblatt.cluster import sources

    whole = train(None, files / "0.svm", shards=3, params="averaged")
    monkeypatch.setattr(sources, "LEAST_SPAN", 1000)
    opened = sources.begin_files([str(files / "0.svm")], {}, 50)
    assert len(opened.sources) > 10
    read = b"".join(source.open().read() for source in opened.sources)
    assert read == (files / "0.svm").read_bytes()
    cut = train(None, files / "0.svm", shards=3, params="averaged")
    assert np.array_equal(cut.model.linear().weights, whole.model.linear().weights)


def test_addresses_are_read_by_the_workers(client, files):
    pytest.importorskip("fsspec")
    found = train(client, f"file://{files}/*.svm", shards=4, params="averaged")
    plain = train(client, str(files / "*.svm"), shards=4, params="averaged")
    assert np.array_equal(found.model.linear().weights, plain.model.linear().weights)


def test_a_bad_line_is_named(client, tmp_path):
    (tmp_path / "good.svm").write_text("1 1:1\n0 1:-1\n" * 50)
    (tmp_path / "bad.svm").write_text("1 1:1\n0 1:nan\n")
    with pytest.raises(DataError, match=r"bad\.svm, line 2: feature 1 is nan"):
        train(client, str(tmp_path / "*.svm"), shards=2, params="averaged")
    found = train(client, str(tmp_path / "*.svm"), shards=2, params="averaged", reading={"skip_bad": True})
    assert found.bad_lines == 1


def test_parts_without_rows_and_workers_without_data(client, rows):
    X, y = rows

    def batch(X, y):  # made here, so that it travels with its code: workers cannot import a test
        return X, y

    batches = [dask.delayed(lambda *rows: rows)(X[part], y[part]) for part in (slice(0), slice(None), slice(0))]
    found = train(client, batches, shards=1)  # the other worker has nothing to do
    assert np.array_equal(found.learner.coef_, train(None, rows, shards=1).learner.coef_)
    with pytest.raises(DataError, match="no rows"):
        train(client, batches[:1])


@pytest.mark.filterwarnings("ignore:Dask currently has limited support:UserWarning")
def test_partitions_without_rows(client, rows, chunks, expected):
    pandas, dd = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    X, y = chunks
    nothing = X[:, 0] > np.inf
    both = [da.concatenate([each[nothing], each]) for each in (X, y)]
    assert equal(train(client, both), expected)
    frame = pandas.DataFrame(rows[0], columns=[f"c{j}" for j in range(12)]).assign(label=rows[1])
    parts = dd.from_pandas(frame, npartitions=3)
    found = train(client, dd.concat([parts[parts["c0"] > np.inf], parts]), shards=1, params="averaged")
    plain = rosenblatt.train(frame, "averaged", max_iter=2)
    assert np.array_equal(found.model.linear().weights, plain.linear().weights)


def test_workers_may_come_late(chunks, expected):
    import distributed

    told = {"n_workers": 0, "threads_per_worker": 1, "processes": False, "dashboard_address": ":0"}
    with (
        distributed.LocalCluster(**told, silence_logs=50) as other,
        distributed.Client(other, set_as_default=False) as late,
    ):
        timer = threading.Timer(0.5, other.scale, [1])  # while the files are looked for
        timer.start()

        def one_more(run):
            if len(run.stopping.history) == 1:
                other.scale(2)
                late.wait_for_workers(2)

        assert equal(train(late, chunks, on_run=one_more), expected)
        timer.join()


def test_an_error_comes_as_it_was_raised(client):
    def fail():  # made here, so that it travels with its code: workers cannot import a test
        class Unsent(Exception):
            def __reduce__(self):
                raise TypeError

        try:
            raise Unsent
        except Unsent as error:
            raise DataError("there is no such file") from error

    hands = Workers(client, patience=60)
    with pytest.raises(DataError, match="there is no such file"):
        hands.results([hands.submit(fail)])


def test_two_fits_at_once(client, chunks, expected):
    other = PassiveAggressive(max_iter=2)
    alone, found = train(client, chunks, params=other), {}
    jobs = {"first": None, "second": other}
    threads = [
        threading.Thread(target=lambda n=n, r=r: found.update({n: train(client, chunks, params=r)}))
        for n, r in jobs.items()
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert equal(found["first"], expected)
    assert equal(found["second"], alone.learner)


def test_what_is_not_on_the_cluster_is_refused(client, rows):
    with pytest.raises(ParameterError, match="X is in this process's memory"):
        train(client, rows)
    with pytest.raises(ParameterError, match="client='tcp://nowhere'"):
        train("tcp://nowhere", rows)
    X, y = rows
    with pytest.raises(DataError, match="rechunk them alike"):
        train(client, (da.from_array(X, chunks=(600, 12)), da.from_array(y, chunks=1500)))


def test_the_choice_is_that_of_one_machine_to_the_byte(client, files, tmp_path):
    save(train(client, str(files / "*.svm"), shards=1, params="auto", max_iter=3).model, tmp_path / "mixed")
    save(rosenblatt.train(str(files / "*.svm"), max_iter=3), tmp_path / "plain")
    assert (tmp_path / "plain").read_bytes() == (tmp_path / "mixed").read_bytes()


def test_numbers_are_learned_from_every_source(client, rows, tmp_path):
    X, _ = rows
    y = (X @ np.arange(12.0)).round(3)
    chunks = da.from_array(X, chunks=(600, 12)), da.from_array(y, chunks=600)
    told = {"shards": 5, "params": "pa1-regression", "C": 0.01, "scale_target": False}
    with pytest.raises(ParameterError, match="scale_target=True"):
        train(client, chunks, **told | {"scale_target": True})
    found = train(client, chunks, **told)
    assert np.array_equal(found.learner.coef_, train(None, (X, y), **told).learner.coef_)
    assert np.array_equal(cluster.predict(client, chunks[0], found.model), found.model.predict(X))
    for k in range(2):
        lines = [
            f"{number:g} " + " ".join(f"{j + 1}:{v:.4g}" for j, v in enumerate(x))
            for x, number in zip(X[k::2], y[k::2], strict=True)
        ]
        (tmp_path / f"{k}.svm").write_text("\n".join(lines) + "\n")
    data = str(tmp_path / "*.svm")
    save(rosenblatt.train(data, "pa1-regression", max_iter=2, scale_target=False), tmp_path / "plain")
    save(train(client, data, shards=1, params="pa1-regression", scale_target=False).model, tmp_path / "mixed")
    assert (tmp_path / "plain").read_bytes() == (tmp_path / "mixed").read_bytes()


def test_workers_must_have_the_same_version(client, chunks, monkeypatch):
    from rosenblatt.cluster import versions

    monkeypatch.setattr(versions, "__version__", "99.0")
    with pytest.raises(
        ClusterError, match=r"worker tcp://.* has rosenblatt .*, and this process 99\.0: install the same"
    ):
        train(client, chunks)


def test_bytes_are_counted(client, chunks):
    found = train(client, chunks, mixing="mean")
    facts = found.facts()["cluster"]
    assert facts["bytes_up_per_mix"] > 0
    assert facts["bytes_down_per_mix"] == 4 * 12 * 8 + 4 * 8  # the weights and intercepts, once
    assert found.traffic.measured > 0
