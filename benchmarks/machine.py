"""What a benchmark ran on: the machine, the versions, the commit."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

HERE = Path(__file__).parent
PEERS = [line for line in (HERE / "requirements.txt").read_text().splitlines() if not line.startswith("#")]


def facts() -> dict[str, str]:
    """One line per fact, in the order in which they are shown."""
    from rosenblatt.engine import ISA

    caches = [path.read_text().strip() for path in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("*/size"))]
    kilobytes = _find(r"MemTotal:\s*(\d+)", Path("/proc/meminfo"))
    found = {
        "processor": _find(r"model name\s*:\s*(.+)", Path("/proc/cpuinfo")) or platform.processor(),
        "cores": str(os.cpu_count()),
        "caches": ", ".join(caches),
        "memory": f"{int(kilobytes) / 2**20:.0f} GiB" if kilobytes else "",
        "system": f"{platform.system()} {platform.release()}, {platform.machine()}",
        "compiler": _run("c++", "--version").partition("\n")[0],
        "Python": platform.python_version(),
        "engine": f"built for {ISA}",
        "load when started": " ".join(f"{load:.1f}" for load in os.getloadavg()),
        "commit": _commit(),
    }
    for package in ("rosenblatt", "numpy", "scipy", *PEERS):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return {name: value for name, value in found.items() if value}


def _find(pattern: str, path: Path) -> str:
    match = re.search(pattern, path.read_text()) if path.exists() else None
    return match[1].strip() if match else ""


def _commit() -> str:
    commit = _run("git", "rev-parse", "--short=12", "HEAD").strip()
    changed = _run("git", "status", "--porcelain", "--", "engine", "src", "benchmarks/*.py").strip()
    return f"{commit}, with changes that are not committed" if commit and changed else commit


def _run(*words: str) -> str:
    if shutil.which(words[0]) is None:
        return ""
    return subprocess.run(words, capture_output=True, text=True, cwd=HERE.parent).stdout
