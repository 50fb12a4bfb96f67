"""Every file is written by one writer: whole and in place, or not at all."""

from __future__ import annotations

import contextlib
import fcntl
import io
import os
import stat
import subprocess
import sys
import threading
import warnings
from pathlib import Path
from typing import Any

import pytest

from rosenblatt.errors import ModelError, ParameterError
from rosenblatt.io.atomic import check_outputs, check_writable, write_atomic, writing


def left_in(folder: Path) -> list[str]:
    return sorted(os.listdir(folder))


def test_a_new_file_has_the_mode_of_new_files(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_atomic(tmp_path / "x", b"new")
    finally:
        os.umask(before)
    assert (tmp_path / "x").read_bytes() == b"new"
    assert stat.S_IMODE((tmp_path / "x").stat().st_mode) == 0o640
    assert left_in(tmp_path) == ["x"]


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o664])
def test_a_file_that_is_replaced_keeps_its_mode(tmp_path: Path, mode: int) -> None:
    (tmp_path / "x").write_bytes(b"old")
    (tmp_path / "x").chmod(mode)
    write_atomic(tmp_path / "x", b"new")
    assert stat.S_IMODE((tmp_path / "x").stat().st_mode) == mode


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
def test_a_file_that_is_replaced_keeps_its_owner(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"old")
    os.chown(tmp_path / "x", 1234, 2345)
    write_atomic(tmp_path / "x", b"new")
    assert ((tmp_path / "x").stat().st_uid, (tmp_path / "x").stat().st_gid) == (1234, 2345)


def test_an_error_leaves_what_was_there(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"old")
    with pytest.raises(KeyError), writing(tmp_path / "x") as file:  # noqa: PT012
        file.write(b"n" * 100_000)
        raise KeyError
    assert (tmp_path / "x").read_bytes() == b"old"
    assert left_in(tmp_path) == ["x"]


def test_an_error_of_the_writer_is_not_taken_for_one_of_the_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), writing(tmp_path / "x"):
        (tmp_path / "missing").read_bytes()
    with pytest.raises(OSError, match="from elsewhere"), writing(tmp_path / "x"):
        raise OSError("from elsewhere")


def test_symbolic_links_are_followed(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "x").write_bytes(b"old")
    (tmp_path / "link").symlink_to("there/x")
    write_atomic(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "there" / "x").read_bytes() == b"new"
    (tmp_path / "dangling").symlink_to("there/y")
    write_atomic(tmp_path / "dangling", b"new")
    assert (tmp_path / "there" / "y").read_bytes() == b"new"
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(ModelError, match="circle"):
        write_atomic(tmp_path / "a", b"new")


def test_a_named_pipe_is_written_through(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append((tmp_path / "pipe").read_bytes()))
    reader.start()
    write_atomic(tmp_path / "pipe", b"through")
    reader.join()
    assert got == [b"through"]
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


@pytest.mark.parametrize("name", ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "link"])
@pytest.mark.parametrize("into", ["pipe", "file"])
def test_standard_output_by_any_name(tmp_path: Path, name: str, into: str) -> None:
    """Also where it is a regular file, with something in it already: replacing or truncating that would lose it."""
    (tmp_path / "link").symlink_to("/dev/stdout")
    code = f"from rosenblatt.io.atomic import write_atomic; print('a'); write_atomic({name!r}, b'b\\n'); print('c')"
    command = [sys.executable, "-c", code]
    if into == "pipe":
        found = subprocess.run(command, cwd=tmp_path, capture_output=True, check=True).stdout
    else:
        with open(tmp_path / "out", "wb") as out:
            subprocess.run(command, cwd=tmp_path, stdout=out, check=True)
        found = (tmp_path / "out").read_bytes()
    assert found == b"a\nb\nc\n"
    assert not (tmp_path / "-").exists()
    assert Path("/dev/stdout").is_symlink()


def test_standard_output_that_takes_only_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    write_atomic("-", "größe\n".encode())
    assert sys.stdout.getvalue() == "größe\n"  # type: ignore[attr-defined]


def test_what_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    for path, why in [
        (tmp_path, "it is a folder"),
        (tmp_path / "no" / "x", "there is no folder"),
        (tmp_path / "file" / "x", "there is no folder"),
        (tmp_path / ("x" * 250), "its name is too long"),
        ("/dev/full", "No space left on device"),
    ]:
        with pytest.raises(ModelError, match=f"cannot be written: {why}"):
            write_atomic(path, b"x")
    check_writable("-")
    check_writable(tmp_path / "new")


def test_an_output_is_no_input_and_no_other_output(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"")
    (tmp_path / "soft").symlink_to("x")
    os.link(tmp_path / "x", tmp_path / "hard")
    (tmp_path / "folder").symlink_to(".")
    data = [str(tmp_path / "x")]
    for name in ("x", "soft", "hard", "folder/x", "folder/../" + tmp_path.name + "/x"):
        with pytest.raises(ParameterError, match=r"-o .* is an input file"):
            check_outputs({"-o": str(tmp_path / name)}, data)
        with pytest.raises(ParameterError, match=r"--report .* and -o are the same file"):
            check_outputs({"-o": str(tmp_path / "x"), "--report": str(tmp_path / name)}, [])
    check_outputs({"-o": str(tmp_path / "new"), "--report": None}, data)
    check_outputs({"-o": "/dev/null", "--report": "/dev/null"}, ["/dev/null"])
    with pytest.raises(ParameterError):  # neither is there yet
        check_outputs({"-o": str(tmp_path / "new"), "--report": str(tmp_path / "folder" / "new")}, [])


CALLS = [(os, "open"), (fcntl, "flock"), (os, "fsync"), (os, "fchmod"), (os, "replace"), (os, "dup")]


@pytest.mark.parametrize("failure", [OSError(28, "No space left on device"), KeyboardInterrupt()])
@pytest.mark.parametrize("exists", [True, False])
def test_whichever_call_fails_the_old_file_or_the_new_one_is_there(
    tmp_path: Path, failure: BaseException, exists: bool
) -> None:
    """Every call to the system fails once, before it has done anything and after it has."""
    target, outcomes = tmp_path / "x", set()
    for module, name in dict.fromkeys(CALLS):
        for after in (False, True):
            for number in range(4):
                target.unlink(missing_ok=True)
                if exists:
                    target.write_bytes(b"old")
                original, count = getattr(module, name), 0

                def failing(
                    *words: Any, _call: Any = original, _at: int = number, _after: bool = after, **more: Any
                ) -> Any:
                    nonlocal count
                    count += 1
                    if count == _at + 1:
                        if _after:
                            _call(*words, **more)
                        raise failure
                    return _call(*words, **more)

                with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
                    warnings.simplefilter("ignore", ResourceWarning)  # a handle that was opened and never handed over
                    patch.setattr(module, name, failing)
                    with contextlib.suppress(ModelError, OSError, KeyboardInterrupt):
                        write_atomic(target, b"new" * 10_000)
                found = target.read_bytes() if target.exists() else None
                assert found in (b"new" * 10_000, b"old" if exists else None), (name, number, after)
                assert left_in(tmp_path) in (["x"], []), (name, number, after)
                outcomes.add(found)
    assert outcomes == {b"new" * 10_000, b"old" if exists else None}


def test_the_open_files_of_another_process_are_not_ours(tmp_path: Path) -> None:
    """/proc/PID/fd/N names what that process has open, not what stands under the number N here."""
    (tmp_path / "ours").touch()
    with (
        (tmp_path / "theirs").open("wb") as theirs,
        subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=theirs) as other,
    ):
        code = "import sys; from rosenblatt.io.atomic import write_atomic; write_atomic(sys.argv[1], b'new')"
        with (tmp_path / "ours").open("wb") as ours:
            subprocess.run([sys.executable, "-c", code, f"/proc/{other.pid}/fd/1"], stdout=ours, check=True)
        other.communicate()
    assert (tmp_path / "ours").read_bytes() == b""
    assert (tmp_path / "theirs").read_bytes() == b"new"
