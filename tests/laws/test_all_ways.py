"""All ways to a model agree: for every learner and every parameter at another value than its default, the same rows
give the same predictions and probabilities by whichever way, or a clear error.

The ways: fit; save and load; pickle; partial_fit in any cut, also after a load; streams of dicts; frames, files and
text; a checkpoint that is resumed; a model that continues with a file; a cluster of one shard; a server, its model
file, its restart and a replay of its log; a model of a file, chosen or named, that learns on in any of them.
"""

import asyncio
import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from length import LONG, up_to
from registry import LEARNERS, Learner
from written import reloaded

import rosenblatt
from rosenblatt.errors import RosenblattError
from rosenblatt.io import open_dataset
from rosenblatt.training.checkpoint import restore, save_checkpoint
from rosenblatt.training.run import TrainingRun
from rosenblatt.training.train import continue_training, train_dataset

pytestmark = pytest.mark.filterwarnings("ignore")
CASES = [
    pytest.param(learner, params, id=f"{learner.name}-{name}")
    for learner in LEARNERS.values()
    for name, params in learner.cases()
]

PLAIN = [case for case in CASES if not case.values[0].wrapper]  # files and clusters take no wrapper
STREAMS = [case for case in CASES if case.values[0].streams]


def rows(learner: Learner, count: int = 80) -> tuple[Any, Any]:
    """Rows of few bits, so that sums are exact and a file holds them as they are."""
    random = np.random.default_rng(5)
    X = np.round(random.normal(size=(count, 5)) * 4) / 4
    margin = X @ np.array([1.0, -2.0, 0.5, 0.0, 1.0]) + 0.25
    if learner.regression:
        return X, np.round(margin * 4) / 4 * 100
    return X, np.where(margin + random.normal(size=count) > 0, "yes", "no")


def said(model: Any, X: Any) -> list[Any]:
    """Everything that a model says of these rows."""
    found = [np.asarray(model.predict(X)).tolist()]
    if hasattr(model, "predict_proba"):
        try:
            found.append(np.asarray(model.predict_proba(X)).tolist())
        except RosenblattError:  # a loaded model without a calibrator
            found.append(None)
    else:
        found.append(None)
    return found


@pytest.mark.parametrize(("learner", "params"), CASES)
def test_save_load_and_pickle(learner: Learner, params: dict[str, Any]) -> None:
    X, y = rows(learner)
    fitted = learner.make(**params).fit(X, y)
    loaded = reloaded(fitted)
    for model in (loaded, reloaded(loaded), pickle.loads(pickle.dumps(fitted))):
        assert said(model, X) == said(fitted, X)


@pytest.mark.parametrize(("learner", "params"), STREAMS)
def test_partial_fit_in_any_cut_also_after_a_load(learner: Learner, params: dict[str, Any]) -> None:
    X, y = rows(learner)
    whole, cut = learner.make(**params), learner.make(**params)
    try:
        whole.partial_fit(X[:50], y[:50]).partial_fit(X[50:], y[50:])
    except RosenblattError:
        with pytest.raises(RosenblattError):
            cut.partial_fit(X[:50], y[:50])
        return
    cut.partial_fit(X[:50], y[:50])
    middle = 80 if learner.wrapper else 63  # a calibrator scores each batch before the batch is learned
    for model in (reloaded(cut), pickle.loads(pickle.dumps(cut))):
        model.partial_fit(X[50:middle], y[50:middle])
        if middle < 80:
            model.partial_fit(X[middle:], y[middle:])
        assert said(model, X) == said(whole, X)


@pytest.mark.parametrize(("learner", "params"), PLAIN)
def test_a_file_gives_what_arrays_give(learner: Learner, params: dict[str, Any], tmp_path: Path) -> None:
    X, y = rows(learner)
    if not learner.regression:
        y = np.where(y == "yes", 1, -1)
    if "class_weight" in params:
        params = params | {"class_weight": {-1: 1.0, 1: 2.5}}
    path = tmp_path / "rows.svm"
    pairs = (" ".join(f"{k}:{v!r}" for k, v in enumerate(row) if v) for row in X.tolist())
    path.write_text("".join(f"{label} {text}\n" for label, text in zip(y.tolist(), pairs, strict=True)))
    try:
        model = rosenblatt.train(path, learner.make(**params))
    except RosenblattError as error:
        assert any(name in str(error) for name in params), error  # noqa: PT017 - it says which parameter
        return
    fitted = learner.make(**params).fit(X if learner.kernel else sp.csr_array(X), y)
    assert np.asarray(model.predict(X)).tolist() == pytest.approx(fitted.predict(X).tolist(), rel=1e-9)


def sources(learner: Learner, folder: Path) -> dict[str, tuple[Any, Any]]:
    """The same rows as a frame, as files, and as text; each with the rows to predict as a user has them."""
    X, y = rows(learner, 60)
    frame = pd.DataFrame(X, columns=list("abcde")).assign(color=np.resize(["red", "green", "blue"], 60), label=y)
    frame.to_csv(folder / "rows.csv", index=False)
    frame.to_parquet(folder / "rows.parquet")
    found = dict.fromkeys(("frame", "rows.csv", "rows.parquet")[: up_to(3, short=2)], frame.drop(columns="label"))
    if not learner.regression:
        texts = [" ".join(f"{'no' * (v < 0)}word{k}" for k, v in enumerate(row) if v) for row in X.tolist()]
        (folder / "rows.tsv").write_text("".join(f"{label}\t{text}\n" for label, text in zip(y, texts, strict=True)))
        found["rows.tsv"] = texts
    return {name: (frame if name == "frame" else folder / name, probe) for name, probe in found.items()}


@pytest.mark.long
@pytest.mark.parametrize(("learner", "params"), PLAIN)
def test_frames_files_and_text_also_saved_pickled_and_resumed(
    learner: Learner, params: dict[str, Any], tmp_path: Path
) -> None:
    made, expected = learner.make(**params), None
    for name, (source, probe) in sources(learner, tmp_path).items():
        if LONG and name.endswith("tsv") and "init" in params:
            continue  # a random weight for each of a million hashes
        saved = tmp_path / "run"

        def on_run(run: TrainingRun, saved: Path = saved, name: str = name) -> None:
            resumable = name != "frame"  # a frame is gone when its process is
            run.run(on_epoch=lambda run: save_checkpoint(run, saved) if resumable and not saved.exists() else None)

        how: dict[str, Any] = {"bits": up_to(20, short=6)} | ({} if name.endswith("tsv") else {"label": "label"})
        try:
            trained = train_dataset(open_dataset(source, **how), made, on_run=on_run).model
        except RosenblattError as error:
            assert any(each in str(error) for each in params), error  # noqa: PT017 - it says which parameter
            return
        found = said(trained, probe)
        if "label" in how:
            expected = expected or found
            assert found == expected, name
        rosenblatt.save(trained, tmp_path / "model")
        assert said(rosenblatt.load(tmp_path / "model"), probe) == found
        assert said(pickle.loads(pickle.dumps(trained)), probe) == found
        if saved.exists():

            def resume(run: TrainingRun, saved: Path = saved) -> None:
                restore(run, saved)
                run.run()

            rosenblatt.save(train_dataset(open_dataset(source, **how), made, on_run=resume).model, tmp_path / "again")
            assert (tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()
        saved.unlink(missing_ok=True)


# Kernels and regressions do not continue with files; each file holds out rows of its own, and a pocket is checked on
# the rows of a file.
EXACT = [
    case
    for case in PLAIN
    for learner, params in [case.values]
    if not (learner.kernel or learner.regression or "early_stopping" in params)
    and learner.cls is not rosenblatt.PocketPerceptron
]


@pytest.mark.parametrize(("learner", "params"), EXACT)
def test_a_model_that_continues_with_a_file_is_one_of_both_files(
    learner: Learner, params: dict[str, Any], tmp_path: Path
) -> None:
    X, y = rows(learner)
    pairs = (" ".join(f"{k}:{v!r}" for k, v in enumerate(row)) for row in X.tolist())
    lines = [f"{label} {text}\n" for label, text in zip(y, pairs, strict=True)]
    for name, part in (("first", lines[:50]), ("second", lines[50:]), ("both", lines)):
        (tmp_path / name).write_text("".join(part).replace("yes", "1").replace("no", "-1"))
    if "class_weight" in params:
        params = params | {"class_weight": {"-1": 1.0, "1": 2.5}}
    made = learner.make(**{**params, "max_iter": 1, "shuffle": False})
    how = {"format": "svmlight"}
    try:
        loaded = reloaded(train_dataset(open_dataset(tmp_path / "first", **how), made).model)
        model = continue_training(loaded, open_dataset(tmp_path / "second", **how, encoder=loaded.encoder)).model
    except RosenblattError as error:
        assert any(each in str(error) for each in [*params, "keep"]), error  # noqa: PT017
        return
    assert said(model, X) == said(train_dataset(open_dataset(tmp_path / "both", **how), made).model, X)


# Rows of the others have other columns, or columns that are known only when they come.
NAMED = [case for case in PLAIN if not case.values[0].kernel and not {"hash_bits", "init"} & case.values[1].keys()]


@pytest.mark.parametrize(("learner", "params"), NAMED)
def test_a_stream_of_dicts_gives_what_rows_give(learner: Learner, params: dict[str, Any]) -> None:
    X, y = rows(learner)
    dicts = [{f"f{k}": v for k, v in enumerate(row)} for row in X.tolist()]
    one, many, batch = (learner.make(**params) for _ in range(3))
    try:
        batch.partial_fit(X, y, **({} if learner.regression else {"classes": ["no", "yes"]}))
    except RosenblattError:
        with pytest.raises(RosenblattError):
            one.learn_one(dicts[0], y.tolist()[0])
        return
    for features, label in zip(dicts, y.tolist(), strict=True):
        one.learn_one(features, label)
    many.learn_many(dicts, y.tolist())
    loaded, expected = reloaded(one), [one.predict_one(features) for features in dicts]
    again = [loaded.predict_one(features) for features in dicts]
    assert again == (pytest.approx(expected, rel=1e-12) if learner.regression else expected)  # a sum in another order
    assert [pickle.loads(pickle.dumps(one)).predict_one(features) for features in dicts] == expected
    assert [many.predict_one(features) for features in dicts] == expected
    if learner.regression:
        assert expected == pytest.approx(batch.predict(X).tolist(), rel=1e-9)
    elif y.tolist()[0] != y.tolist()[1]:  # else the first rows count only where both classes are known
        assert expected == batch.predict(X).tolist()


# Streams in names of other columns than rows have, and those of an estimator that holds another.
OTHER = [case for case in STREAMS if case not in NAMED and case.values[0].cls is not rosenblatt.AutoPerceptron]


@pytest.mark.parametrize(("learner", "params"), OTHER)
def test_a_stream_of_dicts_goes_on_after_a_load_and_a_pickle(learner: Learner, params: dict[str, Any]) -> None:
    X, y = rows(learner)
    dicts, labels = [{f"f{k}": v for k, v in enumerate(row)} for row in X.tolist()], y.tolist()

    def learn(model: Any, begin: int, end: int) -> Any:
        for features, label in zip(dicts[begin:end], labels[begin:end], strict=True):
            model.learn_one(features, label)
        return model

    def said_of_dicts(model: Any) -> list[Any]:
        each = model.predict_proba_one if learner.probabilities else model.predict_one
        return [each(features) for features in dicts]

    try:
        whole = learn(learner.make(**params), 0, 80)
    except RosenblattError as error:
        assert any(each in str(error) for each in params), error  # noqa: PT017 - it says which parameter
        return
    part = learn(learner.make(**params), 0, 50)
    for again in (reloaded(part).learner_, pickle.loads(pickle.dumps(part)), learn(learner.make(**params), 0, 50)):
        assert said_of_dicts(learn(again, 50, 80)) == said_of_dicts(whole)
    if hasattr(whole, "learn_many"):
        assert said_of_dicts(learner.make(**params).learn_many(dicts, labels)) == said_of_dicts(whole)


@pytest.mark.parametrize(("learner", "params"), [case for case in PLAIN if not case.values[0].kernel])
def test_a_cluster_of_one_shard_is_a_fit(learner: Learner, params: dict[str, Any]) -> None:
    from rosenblatt import cluster

    X, y = rows(learner)
    if learner.cls is rosenblatt.PassiveAggressiveRegression:
        params = {"scale_target": False, **params}  # no worker sees all targets
    try:
        model = cluster.train("threads:1", (X, y), learner.make(**params), shards=1).model
    except RosenblattError as error:
        assert any(name in str(error) for name in [*params, "keep"]), error  # noqa: PT017
        return
    assert said(model, X)[0] == said(learner.make(**params).fit(X, y), X)[0]


# Parameters that change what one example teaches, or that a server does not accept.
LIVE = {"C", "average", "class_weight", "early_stopping", "fit_intercept", "keep", "multiclass", "penalty", "r", "tie"}
SERVED = [
    pytest.param(learner, params, id=case.id)
    for case in CASES
    for learner, params in [case.values]
    if set(params) <= LIVE and not (learner.wrapper or learner.kernel or learner.regression)
]


def serve(trainer: Any, examples: list[Any], labels: list[Any], sizes: list[int], **options: Any) -> tuple[Any, bytes]:
    """Learn examples in requests of these sizes: the server's predictions of all of them, and its model file."""
    from rosenblatt.service.app import App
    from rosenblatt.service.config import ServiceLimits

    async def ask(method: str, path: str, body: Any = None) -> Any:
        content, sent = json.dumps(body).encode(), []
        headers = [(b"host", b"localhost"), (b"content-type", b"application/json")]

        async def receive() -> Any:
            return {"type": "http.request", "body": content}

        async def send(message: Any) -> None:
            sent.append(message)

        scope = {"type": "http", "method": method, "path": path, "query_string": b"", "headers": headers}
        await App(trainer, ServiceLimits())(scope, receive, send)
        assert sent[0]["status"] == 200, sent
        return sent[1]["body"] if path == "/model/file" else json.loads(sent[1]["body"])

    async def run() -> tuple[Any, bytes]:
        trainer.loop = asyncio.get_running_loop()
        trainer.start()
        for at, size in enumerate(sizes):
            part = slice(sum(sizes[:at]), sum(sizes[:at]) + size)
            await ask("POST", "/learn", {"rows": examples[part], "labels": labels[part]})
        body = {"rows": examples, "min_seq": trainer.log.last, **options}
        found = (await ask("POST", "/predict", body))["predictions"]
        file = await ask("GET", "/model/file")
        trainer.stop()
        await asyncio.to_thread(trainer.join)
        trainer.log.close()
        return found, file

    return asyncio.run(run())


@pytest.mark.parametrize(("learner", "params"), SERVED)
def test_a_server_its_file_its_restart_and_a_replay_are_a_stream(
    learner: Learner, params: dict[str, Any], tmp_path: Path
) -> None:
    from rosenblatt.service.config import ServiceLimits
    from rosenblatt.service.online_model import model_bytes
    from rosenblatt.service.replay import replay
    from rosenblatt.service.trainer import new_record, open_trainer

    made, log = learner.make(**params), str(tmp_path / "log.sqlite")
    try:
        trainer = open_trainer(log, ServiceLimits(), new_record(made.params()))
    except RosenblattError as error:
        said = str(error)
        assert any(name in said for name in params) or "vote" in said
        assert not list(tmp_path.iterdir())
        return
    X, y = rows(learner)
    dicts, labels = [{f"f{k}": v for k, v in enumerate(row)} for row in X.tolist()], y.tolist()
    found, file = serve(trainer, dicts, labels, [1, 30, 49])
    again, file_again = serve(open_trainer(log, ServiceLimits()), dicts, labels, [])  # from the snapshot
    for features, label in zip(dicts, labels, strict=True):
        made.learn_one(features, label)
    (tmp_path / "served.model").write_bytes(file)
    loaded = rosenblatt.load(tmp_path / "served.model")
    served = [each["label"] for each in found]
    assert found == again
    assert served == [made.predict_one(features) for features in dicts]
    assert served == [loaded.predict_one(features) for features in dicts]
    assert file == file_again == model_bytes(replay(log))
    if learner.name == made.params().learner:  # not scikit-learn's name for another one
        rosenblatt.save(made, tmp_path / "stream.model")
        assert file == (tmp_path / "stream.model").read_bytes()


AUTOMATIC: list[dict[str, Any]] = [
    {},
    {"class_weight": {"no": 1.0, "yes": 2.5}},
    {"max_iter": 2},
    {"random_state": 7},
    {"scoring": "balanced_accuracy"},
]
ON_FILES = [pytest.param(None, each, id=f"auto-{each}") for each in AUTOMATIC]
ON_FILES += [case for case in SERVED if case.id in {each.id for each in EXACT}][:: (1 if LONG else 4)]


@pytest.mark.parametrize(("learner", "params"), ON_FILES)
def test_a_model_of_a_file_learns_on_alike_in_python_from_a_file_and_served(
    learner: Learner | None, params: dict[str, Any], tmp_path: Path
) -> None:
    from rosenblatt.service.config import ServiceLimits
    from rosenblatt.service.replay import replay
    from rosenblatt.service.trainer import model_record, open_trainer

    X, y = rows(learner or LEARNERS["Perceptron"])
    frame = pd.DataFrame(X, columns=list("abcde")).assign(color=np.resize(["red", "green", "blue"], len(X)), label=y)
    frame[:40].to_csv(tmp_path / "first.csv", index=False)
    frame[40:].to_csv(tmp_path / "second.csv", index=False)
    examples, labels = frame[40:].drop(columns="label"), y[40:].tolist()
    path, log = tmp_path / "model", str(tmp_path / "log.sqlite")
    made, how = ("auto", {"products": False, **params}) if learner is None else (learner.make(**params), {})
    trained = rosenblatt.train(tmp_path / "first.csv", made, label="label", bits=6, **how)
    rosenblatt.save(trained, path)
    at_once, one_by_one, on_file = (rosenblatt.load(path) for _ in range(3))
    try:
        at_once.partial_fit(examples, labels)
    except RosenblattError as error:
        assert any(each in str(error) for each in params), error  # noqa: PT017 - it says which parameter
        return
    trained.partial_fit(examples, labels)
    dicts = examples.to_dict("records")
    for row, label in zip(dicts, labels, strict=True):
        one_by_one.learn_one(row, label)
    expected = said(at_once, examples)
    assert (expected[1] is not None) == (learner is None)
    assert said(one_by_one, examples) == said(pickle.loads(pickle.dumps(at_once)), examples) == expected
    assert said(trained, examples) == expected
    second = open_dataset(tmp_path / "second.csv", encoder=on_file.encoder)
    try:
        assert said(continue_training(on_file, second).model, examples) == expected
        record = model_record(str(path))
    except RosenblattError as error:
        assert "vote" in str(error) or any(each in str(error) for each in [*params, "keep"]), error  # noqa: PT017
        return
    options = {"probabilities": True} if expected[1] is not None else {}
    found, file = serve(open_trainer(log, ServiceLimits(), record), dicts, labels, [1, 20, 19], **options)
    assert [each["label"] for each in found] == expected[0]
    if options:
        assert [list(each["probabilities"].values()) for each in found] == expected[1]
    (tmp_path / "served.model").write_bytes(file)
    assert said(rosenblatt.load(tmp_path / "served.model"), examples) == expected
    assert said(replay(log), examples) == expected
