"""What a reader has met so far."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Tally:
    """What a reader has met so far."""

    bytes: int = 0
    lines: int = 0
    bad: int = 0
    first_bad: list[str] = field(default_factory=list)
    strange: dict[str, dict[str, int]] = field(default_factory=dict)  # cells that are not what their column is

    def add_strange(self, found: dict[str, dict[str, int]]) -> None:
        if not found:
            return  # pyarrow takes longer to load than a small file to learn
        from rosenblatt.data.cells import merge_strange

        for name, words in found.items():
            merge_strange(self.strange.setdefault(name, {}), words)
