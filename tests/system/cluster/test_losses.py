"""Workers that are killed, schedulers that are lost, runs that are resumed; the command on a cluster."""

import itertools
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from functools import partial
from types import SimpleNamespace

import dask.array as da
import numpy as np
import pytest
from command import COMMAND, run
from rejected import rejected

from rosenblatt import AveragedPerceptron, Perceptron, __version__, cluster, save
from rosenblatt.cluster import executor as executor_module
from rosenblatt.cluster.executor import DaskExecutor, WorkerLost, check_versions
from rosenblatt.cluster.run import ClusterRun

# Sockets that the event loop of the cluster closes in its own time.
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
KILLS = int(os.environ.get("ROSENBLATT_KILLS", 3))


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
            at = len(run.stopping.history), run.mixes_done
            os.kill(pid, signal.SIGKILL)
            if run.stopping.stop_reason is None:
                self.killed.append((victim, at))


@pytest.mark.slow
@pytest.mark.parametrize("every_mix", [False, True], ids=["from time to time", "after every mix"])
def test_killed_workers_change_nothing(client, rows, tmp_path, every_mix):
    X, y = rows
    chunks = da.from_array(X, chunks=(500, 12)), da.from_array(y, chunks=500)
    told = {"shards": 6, "mixes": 4, "worker_timeout": 600}
    expected = cluster.train(None, rows, endless(30), **told)
    told |= {"checkpoint": tmp_path / "checkpoint"} if every_mix else {}
    killer, losses = Killer(client, KILLS), 0

    def start(run):
        killer.run_under_way = run
        run.run()

    killer.start()
    try:
        while killer.is_alive():
            found = cluster.train(client, chunks, endless(30), on_run=start, **told)
            killer.run_under_way = None
            losses += found.retries
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

    executor = DaskExecutor(strict, 60)
    first = executor.submit(die_once, tmp_path / "first")
    assert executor.results([executor.submit(lambda seven: seven + 1, first)]) == [8]
    monkeypatch.setattr(executor_module, "MOST_RETRIES", 0)
    with pytest.raises(WorkerLost, match="die_once"):
        executor.results([executor.submit(die_once, tmp_path / "second")])


def test_rows_that_nobody_can_make_again_are_an_error_at_once(client, rows):
    X, y = rows
    batches = client.scatter([(X[k::4], y[k::4]) for k in range(4)])
    pids = client.run(os.getpid)

    def kill(run):
        if len(run.stopping.history) == 1:
            os.kill(pids[next(iter(client.who_has(batches[:1]).values()))[0]], signal.SIGKILL)

    with rejected("cluster"):
        on_run = partial(ClusterRun.run, on_epoch=kill)
        cluster.train(client, batches, endless(500), shards=4, mixes=2, worker_timeout=600, on_run=on_run)
    client.wait_for_workers(2, timeout=120)


def test_a_cluster_without_workers_is_an_error_not_a_wait():
    client = SimpleNamespace(status="running", scheduler_info=lambda n_workers: {"workers": {}})
    with rejected("cluster", "0.2 s"):
        DaskExecutor(client, 0.2).scatter(1)


class Stop(Exception):
    """Ends a run."""


@pytest.mark.parametrize("moment", range(2, 13))
def test_resumed_from_every_mix_to_the_same_bytes(rows, tmp_path, moment, monkeypatch):
    how, steps = {"shards": 4, "mixes": 3}, itertools.count()
    save(cluster.train(None, rows, endless(4), **how).model, tmp_path / "whole")
    how |= {"checkpoint": tmp_path / "checkpoint"}

    def stop(*told):
        if next(steps) == moment - 1:
            raise Stop
        return average(*told)

    average = ClusterRun._average
    monkeypatch.setattr(ClusterRun, "_average", stop)
    with pytest.raises(Stop):
        cluster.train(None, rows, endless(4), **how)
    monkeypatch.undo()
    save(cluster.train(None, rows, endless(4), resume=True, **how).model, tmp_path / "resumed")
    assert (tmp_path / "resumed").read_bytes() == (tmp_path / "whole").read_bytes()
    longer = cluster.train(None, rows, endless(5), resume=True, **how)  # more epochs than before
    assert longer.history.mistakes == cluster.train(None, rows, endless(5), shards=4, mixes=3).history.mistakes


def test_a_checkpoint_is_of_these_rows_and_options(rows, tmp_path):
    X, y = rows
    path = tmp_path / "checkpoint"
    cluster.train(None, rows, Perceptron(max_iter=2), shards=4, checkpoint=path)
    told = {"checkpoint": path, "resume": True}
    for other in ((X + 1, y), (X, y, 1.0 + np.arange(len(y)) % 2)):
        with rejected("data"):
            cluster.train(None, other, Perceptron(max_iter=4), shards=4, **told)
    for learner, how, facts in (
        (Perceptron(max_iter=4), {"mixing": "mean"}, ["mixing='momentum'", "'mean'"]),
        (AveragedPerceptron(max_iter=4), {}, ["learner='Perceptron'", "'AveragedPerceptron'"]),
        (Perceptron(max_iter=1), {}, ["max_iter=1", "2 epochs"]),
    ):
        with rejected("parameter", *facts):
            cluster.train(None, rows, learner, shards=4, **told, **how)
    path.write_bytes(path.read_bytes()[:-9])
    with rejected("model", "truncated"):
        cluster.train(None, rows, Perceptron(max_iter=4), shards=4, **told)


@pytest.mark.parametrize(("version", "fact"), [(None, "no rosenblatt"), ("99.0", "rosenblatt 99.0")])
def test_a_worker_with_another_version_or_none_is_named(version, fact):
    class Client:
        def get_versions(self, packages):
            found = {"tcp://host:1": __version__, "tcp://host:2": version}
            return {"workers": {address: {"packages": {packages[0]: each}} for address, each in found.items()}}

    with rejected("cluster", "tcp://host:2", fact):
        check_versions(Client())


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
def files(write_svmlight, tmp_path):
    write_svmlight(tmp_path)
    return str(tmp_path / "*.svm")


@pytest.mark.slow
def test_a_lost_scheduler_and_a_resumed_command(start, files, tmp_path):
    told = ["--learner", "averaged", "--max-iter", "40", "--mixes", "3", "--tol", "-1", "--shards", "4"]
    whole = [*COMMAND, "train", files, "-o", str(tmp_path / "whole"), *told, "--cluster", "threads:2", "--json"]
    done = subprocess.run([*whole, "--quiet"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)
    assert facts["cluster"]["shards"] == 4

    saved, (address, scheduler) = tmp_path / "checkpoint", start("first.json")
    on_cluster = [*COMMAND, "train", files, "-o", str(tmp_path / "model"), *told, "--cluster", address]
    run = subprocess.Popen(
        [*on_cluster, "--checkpoint", str(saved), "--checkpoint-every", "0"], stderr=subprocess.PIPE, text=True
    )
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
        resume = [*on_cluster[:-1], where, "--checkpoint", str(saved), "--resume"]
        done = subprocess.run([*resume, "--quiet"], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert (tmp_path / "model").read_bytes() == (tmp_path / "whole").read_bytes()
        (tmp_path / "model").unlink()


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ("--cluster nonsense", 2, "'nonsense' is not a cluster: use tcp://HOST:PORT"),
        ("--cluster local:0", 2, "'local:0' is not a cluster"),
        ("--shards 3", 2, "--shards needs --cluster"),
        ("--cluster threads --learner voted --shards 2", 2, "keep='vote' cannot be averaged"),
        ("--cluster file:nowhere.json", 1, "there is no cluster at file:nowhere.json"),
        ("--cluster threads --validation x", 2, "--validation cannot be combined with --cluster"),
    ],
)
def test_wrong_use_of_the_command(files, tmp_path, monkeypatch, words, code, said):
    monkeypatch.setattr(executor_module, "CONNECT_TIMEOUT", 1)
    assert said in run("train", files, "-o", tmp_path / "model", *words.split(), check=code).stderr
    assert not (tmp_path / "model").exists()


def test_ctrl_c_reaches_the_command_and_not_its_workers():
    program = (
        "import os, signal, time\n"
        "from rosenblatt.cluster.executor import connect\n"
        "try:\n    with connect('local:1'):\n        os.killpg(0, signal.SIGINT)\n        time.sleep(60)\n"
        "except KeyboardInterrupt:\n    print('interrupted')\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, start_new_session=True)
    assert (done.stdout, done.stderr) == ("interrupted\n", "")
