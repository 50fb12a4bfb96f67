"""What a benchmark ran on: the machine, the versions, the commit."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = ("rosenblatt", "numpy", "scipy", "scikit-learn", "vowpalwabbit", "river", "mlxtend", "liblinear-official")


def facts() -> dict[str, str]:
    """One line a fact, in the order in which they are shown."""
    from rosenblatt.engine import ISA

    found = {
        "processor": _find(r"model name\s*:\s*(.+)", Path("/proc/cpuinfo")) or platform.processor(),
        "cores": str(os.cpu_count()),
        "last-level cache": _cache(),
        "memory": _memory(),
        "system": f"{platform.system()} {platform.release()}, {platform.machine()}",
        "compiler": _run("c++", "--version").partition("\n")[0],
        "Python": platform.python_version(),
        "engine": f"built for {ISA}",
        "load when started": " ".join(f"{load:.1f}" for load in os.getloadavg()),
        "commit": _commit(),
    }
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return {name: value for name, value in found.items() if value}


def _find(pattern: str, path: Path) -> str:
    match = re.search(pattern, path.read_text()) if path.exists() else None
    return match[1].strip() if match else ""


def _cache() -> str:
    sizes = [
        path.read_text().strip() for path in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*/size"))
    ]
    return sizes[-1].replace("K", " KiB").replace("M", " MiB") if sizes else ""


def _memory() -> str:
    kilobytes = _find(r"MemTotal:\s*(\d+)", Path("/proc/meminfo"))
    return f"{int(kilobytes) / 2**20:.0f} GiB" if kilobytes else ""


def _commit() -> str:
    commit = _run("git", "rev-parse", "--short=12", "HEAD").strip()
    changed = _run("git", "status", "--porcelain", "--", "engine", "src", "benchmarks/*.py").strip()
    return f"{commit}, with changes that are not committed" if commit and changed else commit


def _run(*words: str) -> str:
    if shutil.which(words[0]) is None:
        return ""
    return subprocess.run(words, capture_output=True, text=True, cwd=Path(__file__).parent.parent).stdout
