"""Do all workers have this version of the library?

Invariant: a worker with another version, or with none, is named before any work is handed out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rosenblatt import __version__
from rosenblatt.errors import ClusterError


def check_versions(client: Any) -> None:
    """Raise if a worker that is there has another version: it would learn other bits, or fail in its own words."""
    try:
        found: dict[str, Any] = client.run(_asking(), on_error="return")
    except Exception:  # no worker yet, or one that has just left: the work itself tells what is wrong
        return
    for worker, version in sorted(found.items()):
        if isinstance(version, ImportError):
            raise ClusterError(f"the worker {worker} has no rosenblatt: install version {__version__} on every machine")
        if isinstance(version, str) and version != __version__:
            raise ClusterError(
                f"the worker {worker} has rosenblatt {version}, and this process {__version__}: "
                "install the same version on every machine"
            )


def _asking() -> Callable[[], str]:
    """A function that travels with its code, so that a worker without the library can run it."""

    def version() -> str:
        import rosenblatt

        return str(rosenblatt.__version__)

    return version
