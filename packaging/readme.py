"""The README as PyPI shows it: relative links and pictures get the address in pyproject.toml, the one place for it."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any


def with_addresses(readme: str, repository: str) -> str:
    """The text with absolute addresses: pages as the repository shows them, pictures as files."""
    pages = re.sub(r"(?<!!)(\[[^]]*\])\((?!https?:|#)", rf"\1({repository}/blob/main/", readme)
    return re.sub(r"(!\[[^]]*\])\((?!https?:)", rf"\1({repository}/raw/main/", pages)


def dynamic_metadata(field: str, settings: Any) -> dict[str, str]:
    """What scikit-build-core asks for when it builds."""
    readme = Path("README.md").read_text(encoding="utf-8")
    urls = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]
    repository = urls.get("Repository", "").rstrip("/")
    return {"content-type": "text/markdown", "text": with_addresses(readme, repository) if repository else readme}
