"""Workers that are killed, schedulers that are lost, runs that are resumed: the same bytes at the end.

Those that start and kill processes take minutes: ``ROSENBLATT_KILLS=30`` in the environment runs them.
"""

import os
import random
import signal
import threading

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
takes_minutes = pytest.mark.skipif(not KILLS, reason="takes minutes: ROSENBLATT_KILLS=30")


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
            at = len(run.stopping.history), run.place
            os.kill(pid, signal.SIGKILL)
            if run.stopping.stop_reason is None:
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


def test_rows_that_nobody_can_make_again_are_an_error_at_once(client, rows):
    X, y = rows
    batches = client.scatter([(X[k::4], y[k::4]) for k in range(4)])
    pids, epochs = client.run(os.getpid), []

    def kill(run):
        epochs.append(run)
        if len(epochs) == 2:
            os.kill(pids[next(iter(client.who_has(batches[:1]).values()))[0]], signal.SIGKILL)

    with pytest.raises(ClusterError, match="they cannot be made again: name files"):
        cluster.train(client, batches, endless(500), shards=4, mixes=2, patience=600, on_run=kill)
    client.wait_for_workers(2, timeout=120)


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
    with pytest.raises(ParameterError, match="written with learner='Perceptron', not 'AveragedPerceptron'"):
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
