"""The command on a cluster: on real schedulers and workers, after a scheduler was lost, and used wrongly.

Those that start several processes take minutes: ``ROSENBLATT_KILLS=30`` in the environment runs them.
"""

import contextlib
import io
import json
import os
import signal
import subprocess
import sys
import time

import pytest

pytest.importorskip("distributed")

# Sockets that the event loop of the cluster closes in its own time.
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
takes_minutes = pytest.mark.skipif("ROSENBLATT_KILLS" not in os.environ, reason="takes minutes: ROSENBLATT_KILLS=30")
COMMAND = [sys.executable, "-m", "rosenblatt"]


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


@takes_minutes
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


@pytest.mark.slow
def test_answers_of_local_workers_are_those_of_one_process(files, tmp_path):
    from rosenblatt.cli.main import main

    model = str(tmp_path / "model")
    assert main(["train", files, "-o", model, "--learner", "averaged", "--max-iter", "2", "--quiet"]) == 0
    for words in (["predict", model, files, "--scores"], ["evaluate", model, files, "--json"]):
        answers = []
        for where in ([], ["--cluster", "local:2"]):
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                assert main([*words, *where]) == 0
            answers.append(out.getvalue())
        assert answers[0] == answers[1]
        assert len(answers[0]) > 1000


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--cluster", "nonsense"], "'nonsense' is no cluster: write tcp://HOST:PORT"),
        (["--cluster", "local:0"], "must be one worker or more"),
        (["--shards", "3"], "--shards needs --cluster"),
        (["--cluster", "threads", "--block", "9"], "--block cannot be combined with --cluster"),
        (["--cluster", "threads", "--learner", "voted", "--shards", "2"], "keep='vote' cannot be mixed"),
        (["--cluster", "file:nowhere.json"], "there is no cluster at file:nowhere.json"),
        (["--cluster", "threads", "--validation", "x"], "--validation cannot be combined with --cluster"),
    ],
)
def test_wrong_use_of_the_command(files, tmp_path, monkeypatch, words, said):
    from rosenblatt.cluster import address

    monkeypatch.setattr(address, "WAIT", 1)
    from rosenblatt.cli.main import main

    err = io.StringIO()
    with contextlib.redirect_stderr(err):
        code = main(["train", files, "-o", str(tmp_path / "model"), *words])
    assert code in (1, 2)
    assert said in err.getvalue()
    assert not (tmp_path / "model").exists()
