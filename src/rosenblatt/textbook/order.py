"""Chapter 5: the order of a shuffled epoch."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Draws:
    """Random numbers: xoshiro256++ (Blackman and Vigna 2019), seeded by splitmix64.

    >>> Draws.seeded(0).below(6)
    1
    """

    state: list[int]

    @classmethod
    def seeded(cls, seed: int) -> Draws:
        """The numbers of a seed."""
        words, z = [], seed
        for _ in range(4):
            z = (z + 0x9E3779B97F4A7C15) % 2**64
            x = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
            x = (x ^ (x >> 27)) * 0x94D049BB133111EB % 2**64
            words.append(x ^ (x >> 31))
        return cls(words)

    def next(self) -> int:
        """The next 64 bits."""
        a, b, c, d = self.state
        result = (_rotated((a + d) % 2**64, 23) + a) % 2**64
        c, d = c ^ a, d ^ b
        self.state = [a ^ d, b ^ c, c ^ (b << 17) % 2**64, _rotated(d, 45)]
        return result

    def below(self, bound: int) -> int:
        """A whole number from 0 to bound - 1, each as likely as any other (Lemire 2019)."""
        while True:
            product = (self.next() >> 32) * bound
            if product % 2**32 >= 2**32 % bound:
                return product >> 32

    def shuffle(self, items: list[int]) -> list[int]:
        """The items in random order (Fisher and Yates)."""
        items = list(items)
        for i in range(len(items) - 1):
            j = i + self.below(len(items) - i)
            items[i], items[j] = items[j], items[i]
        return items


def _rotated(x: int, k: int) -> int:
    return (x << k | x >> (64 - k)) % 2**64


def strip_order(n: int, draws: Draws, window: int = 8192) -> list[int]:
    """Strips of consecutive rows in random order, and the rows of a window of strips shuffled again.

    A window has up to 256 strips. Of as many neighbors as there are windows each window gets one, so that it has rows
    from all over. Rows that fit into one window are one strip: they are simply shuffled.

    >>> sorted(strip_order(10, Draws.seeded(0), window=4)) == list(range(10))
    True
    """
    length = max(1, n if n <= window else window // 256)
    strips = [list(range(at, min(at + length, n))) for at in range(0, n, length)]
    most = max(1, window // length)
    windows: list[list[int]] = [[] for _ in range(0, max(1, len(strips)), most)]
    for at in range(0, len(strips), len(windows)):
        neighbors = list(range(at, min(at + len(windows), len(strips))))
        for rows, strip in zip(windows, draws.shuffle(neighbors), strict=False):
            rows += strips[strip]
    return [row for rows in windows for row in draws.shuffle(rows)]
