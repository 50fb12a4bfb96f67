"""Every file is written by one writer: whole and in place, or not at all."""

import contextlib
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
from rejected import rejected

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


def test_a_file_that_is_replaced_keeps_its_owner(tmp_path: Path) -> None:
    owner = (1234, 2345) if os.geteuid() == 0 else (os.geteuid(), os.getgroups()[-1])  # only root may give files away
    (tmp_path / "x").write_bytes(b"old")
    os.chown(tmp_path / "x", *owner)
    with writing(tmp_path / "x") as file:
        file.write(b"new")
        parts = [path for path in tmp_path.iterdir() if path.name != "x"]
        assert [stat.S_IMODE(part.stat().st_mode) for part in parts] == [0o600]  # until it has the mode of the file
    assert ((tmp_path / "x").stat().st_uid, (tmp_path / "x").stat().st_gid) == owner


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
    with pytest.raises(OSError, match="mine"), writing(tmp_path / "x"):
        raise OSError("mine")


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
    with rejected("model", "circle"):
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


@pytest.mark.parametrize("name", ["-", "/dev/stdout", "link"])
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
    for path in (tmp_path, tmp_path / "no" / "x", tmp_path / "file" / "x", tmp_path / ("x" * 250), "/dev/full"):
        with rejected("model", path):
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
        with rejected("parameter", "-o"):
            check_outputs({"-o": str(tmp_path / name)}, data)
        with rejected("parameter", "--report", "-o"):
            check_outputs({"-o": str(tmp_path / "x"), "--report": str(tmp_path / name)}, [])
    check_outputs({"-o": str(tmp_path / "new"), "--report": None}, data)
    check_outputs({"-o": "/dev/null", "--report": "/dev/null"}, ["/dev/null"])
    with pytest.raises(ParameterError):  # neither is there yet
        check_outputs({"-o": str(tmp_path / "new"), "--report": str(tmp_path / "folder" / "new")}, [])


CALLS = ["open", "fsync", "fchmod", "replace"]


@pytest.mark.parametrize("failure", [OSError(28, "No space left on device"), KeyboardInterrupt()])
@pytest.mark.parametrize("exists", [True, False])
def test_whichever_call_fails_the_old_file_or_the_new_one_is_there(
    tmp_path: Path, failure: BaseException, exists: bool
) -> None:
    """Every call to the system fails once, before it has done anything and after it has."""
    target, outcomes = tmp_path / "x", set()
    for name in CALLS:
        for after in (False, True):
            for number in range(4):
                target.unlink(missing_ok=True)
                if exists:
                    target.write_bytes(b"old")
                original, count = getattr(os, name), 0

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
                    patch.setattr(os, name, failing)
                    with contextlib.suppress(ModelError, OSError, KeyboardInterrupt):
                        write_atomic(target, b"new" * 10_000)
                found = target.read_bytes() if target.exists() else None
                assert found in (b"new" * 10_000, b"old" if exists else None), (name, number, after)
                assert left_in(tmp_path) in (["x"], []), (name, number, after)
                outcomes.add(found)
    assert outcomes == {b"new" * 10_000, b"old" if exists else None}
