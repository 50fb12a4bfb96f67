"""Workers that are killed, schedulers that are lost, runs that are resumed: the same bytes at the end.

Those that start and kill processes take minutes: ``make lost-workers`` runs them, with thirty kills.
"""

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from rosenblatt import AveragedPerceptron, Perceptron, __version__, cluster, save
from rosenblatt.cluster import hands as hands_module
from rosenblatt.cluster.hands import Lost, Workers
from rosenblatt.cluster.versions import check_versions
from rosenblatt.errors import ClusterError, DataError, ModelError, ParameterError

da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")

# Sockets that the event loop of the cluster closes in its own time.
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
KILLS = int(os.environ.get("ROSENBLATT_KILLS", 0))
takes_minutes = pytest.mark.skipif(not KILLS, reason="takes minutes: make lost-workers")
COMMAND = [sys.executable, "-m", "rosenblatt.cli.main"]


def endless(epochs):
    """A learner that uses all of its epochs."""
    return AveragedPerceptron(max_iter=epochs, tol=None)


class Killer(threading.Thread):
    """Kills workers that have work to do, at random moments while epochs are learned."""

    def __init__(self, client, kills):
        super().__init__(daemon=True)
        self.client, self.kills, self.random = client, kills, random.Random(kills)
        self.run_under_way, self.over, self.killed = None, threading.Event(), []

    def run(self):
        while not self.over.wait(self.random.uniform(0.1, 1.0)) and len(self.killed) < self.kills:
            run = self.run_under_way
            gone = {victim for victim, _ in self.killed}
            busy = sorted(worker for worker, tasks in self.client.processing().items() if tasks and worker not in gone)
            if run is None or not busy:
                continue
            victim = self.random.choice(busy)
            pid = self.client.run(os.getpid, workers=[victim])[victim]
            at = len(run.judge.history), run.place
            os.kill(pid, signal.SIGKILL)
            if run.judge.stop_reason is None:
                self.killed.append((victim, at))


@takes_minutes
@pytest.mark.parametrize("every_mix", [False, True], ids=["from time to time", "after every mix"])
def test_killed_workers_change_nothing(client, rows, tmp_path, every_mix):
    X, y = rows
    chunks = da.from_array(X, chunks=(500, 12)), da.from_array(y, chunks=500)
    told = {"shards": 6, "mixes": 4, "patience": 600}
    expected = cluster.train(None, rows, endless(30), **told)
    told |= {"checkpoint": tmp_path / "checkpoint"} if every_mix else {}
    killer, losses = Killer(client, KILLS), 0
    killer.start()
    try:
        while killer.is_alive():
            found = cluster.train(
                client, chunks, endless(30), on_run=lambda run: setattr(killer, "run_under_way", run), **told
            )
            killer.run_under_way = None
            losses += found.losses
            assert np.array_equal(found.learner.coef_, expected.learner.coef_)
            assert found.history.mistakes == expected.history.mistakes
    finally:
        killer.over.set()
        killer.join()
        client.wait_for_workers(2, timeout=120)
    assert len(killer.killed) == KILLS
    assert losses > 0  # of the state that is mixed, and not of rows alone


@pytest.fixture
def strict(client):
    """A scheduler that gives a task up with the first worker that it loses, not with the fourth."""

    def allow(failures):
        client.run_on_scheduler(lambda dask_scheduler: setattr(dask_scheduler, "allowed_failures", failures))

    allow(0)
    yield client
    allow(3)
    client.wait_for_workers(2, timeout=120)


def test_a_task_that_dask_gives_up_is_run_again(strict, tmp_path, monkeypatch):
    def die_once(path):  # made here, so that it travels with its code: workers cannot import a test
        if not path.exists():
            path.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return 7

    hands = Workers(strict, patience=60)
    first = hands.submit(die_once, tmp_path / "first")
    assert hands.results([hands.submit(lambda seven: seven + 1, first)]) == [8]
    monkeypatch.setattr(hands_module, "MOST_RETRIES", 0)
    with pytest.raises(Lost, match=r"Attempted to run task .*die_once"):
        hands.results([hands.submit(die_once, tmp_path / "second")])


class Patient:
    """A client of a cluster without workers."""

    status = "running"

    def scheduler_info(self, n_workers=-1):
        return {"workers": {}}


def test_a_cluster_without_workers_is_an_error_not_a_wait():
    with pytest.raises(ClusterError, match=r"no worker for 0\.2 s"):
        Workers(Patient(), patience=0.2).hold(1)


def test_resumed_from_every_mix_to_the_same_bytes(rows, tmp_path):
    path, told = tmp_path / "checkpoint", {"shards": 4, "mixes": 3, "checkpoint": tmp_path / "checkpoint"}
    expected = cluster.train(None, rows, Perceptron(max_iter=4, tol=None), shards=4, mixes=3)
    save(expected.model, tmp_path / "whole")

    class Stop(Exception):
        pass

    for moment in range(1, 12):
        count = 0

        def stop(moment=moment):
            nonlocal count
            count += 1
            if count > 4 * moment:  # in the middle of the next mix
                raise Stop

        path.unlink(missing_ok=True)
        learner = Perceptron(max_iter=4, tol=None)
        with pytest.raises(Stop):
            _interrupted(rows, learner, told, stop)
        assert path.exists()
        found = cluster.train(None, rows, Perceptron(max_iter=4, tol=None), resume=True, **told)
        save(found.model, tmp_path / "resumed")
        assert (tmp_path / "resumed").read_bytes() == (tmp_path / "whole").read_bytes()


def _interrupted(rows, learner, told, stop):
    """A run in which a shard's pass fails at some moment."""
    from rosenblatt.cluster import shard

    learn = shard.learn
    try:
        shard.learn = lambda *args: (stop(), learn(*args))[1]
        cluster.train(None, rows, learner, **told)
    finally:
        shard.learn = learn


def test_a_checkpoint_is_of_these_rows_and_options(rows, tmp_path):
    X, y = rows
    path = tmp_path / "checkpoint"
    cluster.train(None, rows, Perceptron(max_iter=2), shards=4, checkpoint=path)
    told = {"checkpoint": path, "resume": True}
    with pytest.raises(DataError, match="the data has changed"):
        cluster.train(None, (X + 1, y), Perceptron(max_iter=4), shards=4, **told)
    with pytest.raises(ParameterError, match="written with mixing='momentum', not 'mean'"):
        cluster.train(None, rows, Perceptron(max_iter=4), shards=4, mixing="mean", **told)
    with pytest.raises(ParameterError, match="written with learner='perceptron'"):
        cluster.train(None, rows, AveragedPerceptron(max_iter=4), shards=4, **told)
    with pytest.raises(ParameterError, match="max_iter=1: 2 epochs have been learned already"):
        cluster.train(None, rows, Perceptron(max_iter=1), shards=4, **told)
    data = path.read_bytes()
    path.write_bytes(data[:-9])
    with pytest.raises(ModelError, match="truncated"):
        cluster.train(None, rows, Perceptron(max_iter=4), shards=4, **told)


def test_weights_of_rows_are_part_of_the_data(rows, tmp_path):
    told = {"checkpoint": tmp_path / "checkpoint", "shards": 2, "mixes": 1}
    weights = 1.0 + np.arange(len(rows[1])) % 2
    cluster.train(None, (*rows, weights), Perceptron(max_iter=1), **told)
    with pytest.raises(DataError, match="the data has changed"):
        cluster.train(None, (*rows, weights[::-1]), Perceptron(max_iter=2), resume=True, **told)


def test_a_run_that_had_all_its_epochs_goes_on_with_more(rows, tmp_path):
    told = {"shards": 4, "mixes": 2}
    whole = cluster.train(None, rows, Perceptron(max_iter=3, tol=None), **told)
    told |= {"checkpoint": tmp_path / "checkpoint"}
    cluster.train(None, rows, Perceptron(max_iter=2, tol=None), **told)
    found = cluster.train(None, rows, Perceptron(max_iter=3, tol=None), resume=True, **told)
    assert found.history.mistakes == whole.history.mistakes
    assert np.array_equal(found.learner.coef_, whole.learner.coef_)


class Without:
    """A client of a worker without the library: what Dask gives for it."""

    def run(self, function, on_error):
        assert (function(), on_error) == (__version__, "return")
        return {"tcp://host:1": __version__, "tcp://host:2": ModuleNotFoundError("No module named 'rosenblatt'")}


def test_a_worker_without_the_library_is_named():
    with pytest.raises(ClusterError, match="the worker tcp://host:2 has no rosenblatt: install version"):
        check_versions(Without())


@pytest.fixture
def start(tmp_path):
    """Starts a scheduler and two workers, as a user would start them: their address, and the scheduler."""
    processes = []

    def command(*words):
        told = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "start_new_session": True}
        processes.append(subprocess.Popen([sys.executable, "-m", "dask", *words, "--no-dashboard"], **told))
        return processes[-1]

    def start(name):
        known = tmp_path / name
        scheduler = command("scheduler", "--host", "127.0.0.1", "--port", "0", "--scheduler-file", str(known))
        while not known.exists() or not known.read_text().endswith("}"):
            assert scheduler.poll() is None
            time.sleep(0.1)
        where = ["--scheduler-file", str(known), "--local-directory", str(tmp_path)]
        for _ in range(2):
            command("worker", "--nthreads", "1", "--no-nanny", "--memory-limit", "1GB", *where)
        return f"file:{known}", scheduler

    yield start
    for process in processes:
        process.kill()
        process.wait()


@pytest.fixture
def files(rows, tmp_path):
    X, y = rows
    for k in range(4):
        part = slice(750 * k, 750 * k + 750)
        lines = [
            f"{label} " + " ".join(f"{j + 1}:{v:.5g}" for j, v in enumerate(x))
            for x, label in zip(X[part], y[part], strict=True)
        ]
        (tmp_path / f"{k}.svm").write_text("\n".join(lines) + "\n")
    return str(tmp_path / "*.svm")


@takes_minutes
def test_a_lost_scheduler_and_a_resumed_command(start, files, tmp_path):
    told = ["--learner", "averaged", "--max-iter", "60", "--tol", "-1", "--shards", "4"]
    whole = [*COMMAND, "train", files, "-o", str(tmp_path / "whole"), *told, "--cluster", "threads:2", "--json"]
    done = subprocess.run([*whole, "--quiet"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)
    assert facts["cluster"]["shards"] == 4

    saved, (address, scheduler) = tmp_path / "checkpoint", start("first.json")
    on_cluster = [*COMMAND, "train", files, "-o", str(tmp_path / "model"), *told, "--cluster", address]
    run = subprocess.Popen([*on_cluster, "--checkpoint", str(saved), "--every", "0"], stderr=subprocess.PIPE, text=True)
    while not saved.exists():
        assert run.poll() is None, run.stderr.read()
        time.sleep(0.01)
    scheduler.send_signal(signal.SIGKILL)
    _, said = run.communicate(timeout=120)
    assert run.returncode == 1, said
    assert "the scheduler of the cluster is gone" in said
    assert len(said.strip().splitlines()) == 1, said
    assert not (tmp_path / "model").exists()

    saved_bytes, (another, _) = saved.read_bytes(), start("second.json")
    for where in (another, "threads:2"):
        saved.write_bytes(saved_bytes)
        resume = [*COMMAND, "train", "--resume", str(saved), "-o", str(tmp_path / "model"), "--cluster", where]
        done = subprocess.run([*resume, "--quiet"], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert (tmp_path / "model").read_bytes() == (tmp_path / "whole").read_bytes()
        (tmp_path / "model").unlink()


@takes_minutes
def test_the_command_on_a_cluster(start, files, tmp_path):
    address = ["--cluster", start("scheduler.json")[0]]
    told = ["--learner", "averaged", "--shards", "4", "--quiet"]
    for name, where in (("one", address), ("two", ["--cluster", "threads:1"])):
        subprocess.run([*COMMAND, "train", files, "-o", str(tmp_path / name), *told, *where], check=True)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    answers = []
    for where in (address, []):
        done = subprocess.run(
            [*COMMAND, "evaluate", str(tmp_path / "one"), files, "--json", *where], capture_output=True
        )
        answers.append(json.loads(done.stdout))
        done = subprocess.run(
            [*COMMAND, "predict", str(tmp_path / "one"), files, "--scores", *where], capture_output=True
        )
        answers.append(done.stdout)
    assert answers[:2] == answers[2:]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--cluster", "nonsense"], "'nonsense' is no cluster: write tcp://HOST:PORT"),
        (["--cluster", "local:0"], "must be one worker or more"),
        (["--shards", "3"], "--shards is an option of --cluster"),
        (["--cluster", "threads", "--cache", "x"], "--cache and --block have no meaning"),
        (["--cluster", "threads", "--learner", "voted", "--shards", "2"], "keep='vote' cannot be mixed"),
        (["--cluster", "file:nowhere.json"], "there is no cluster at file:nowhere.json"),
        (["--cluster", "threads", "--valid", "x"], "--valid and --cluster: learn without one of them"),
    ],
)
def test_wrong_use_of_the_command(files, tmp_path, monkeypatch, words, said):
    from rosenblatt.cluster import address

    monkeypatch.setattr(address, "WAIT", 1)
    import contextlib
    import io

    from rosenblatt.cli.main import main

    err = io.StringIO()
    with contextlib.redirect_stderr(err):
        code = main(["train", files, "-o", str(tmp_path / "model"), *words])
    assert code in (1, 2)
    assert said in err.getvalue()
    assert not (tmp_path / "model").exists()
