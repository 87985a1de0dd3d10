"""The entries that the worlds of an environment play, one after another."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from hashlib import blake2b

import numpy as np

from agora.core.state import Array
from agora.errors import PlacementError
from agora.tasks.drawn import Drawn
from agora.world.start import Start

__all__ = ["OF_A_SEED", "Entries"]

OF_A_SEED = 2**21
"""Entries that each seed has. The first of seed s has the number (s + 1) times this many; seeds from 2**40 on are hashed."""

_TRIES = 50  # entries in turn for which there is no room


class Entries:
    """World w of W plays w, w + W, w + 2 W, ... of the stage's own entries, or of a seed's.

    Entries for whose people or robots there is no room are left out.

    Args:
        starts: the episodes.
        worlds: W.
        finite: whether a seed has as many entries as the stage, not `OF_A_SEED`.
    """

    def __init__(self, starts: Drawn, worlds: int, *, finite: bool) -> None:
        self._starts, self._worlds, self._finite = starts, worlds, finite
        self._first, self._next = np.zeros(worlds, np.int64), np.arange(worlds)

    def some(self, count: int) -> list[Start]:
        """Return the first episodes of the stage, or fewer where there is no room.

        Raises:
            PlacementError: there is none.
        """
        found: list[Start] = []
        for number in range(min(count + _TRIES, len(self._starts))):
            with suppress(PlacementError):
                found.append(self._starts.draw(number))
            if len(found) == count:
                break
        return found or [self._starts.draw(0)]

    def of_seed(self, worlds: Array, seed: int) -> None:
        """Let worlds play the entries of a seed, from its first on."""
        self._first[worlds], self._next[worlds] = _first_of(seed), worlds

    def from_entry(self, worlds: Array, entry: int) -> None:
        """Let worlds play the stage's own entries; the one that world 0 plays has this number."""
        self._first[worlds], self._next[worlds] = 0, entry + worlds

    def draw(self, world: int) -> tuple[int, Start]:
        """Return the number of the entry that a world plays now, and the entry.

        Raises:
            PlacementError: there is no room for several in turn.
        """
        for _ in range(_TRIES - 1):
            with suppress(PlacementError):
                return self._drawn(world)
        return self._drawn(world)

    def _drawn(self, world: int) -> tuple[int, Start]:
        number = self._number(world)
        self._next[world] += self._worlds
        return number, self._starts.draw(number)

    def soon(self, worlds: Sequence[int]) -> None:
        """Have the next entries of worlds drawn ahead of time."""
        self._starts.soon([self._number(w) for w in worlds])

    def _number(self, world: int) -> int:
        """The number of the entry that a world plays next."""
        first, after = int(self._first[world]), int(self._next[world])
        return first + after % (OF_A_SEED if first and not self._finite else len(self._starts))


def _first_of(seed: int) -> int:
    """The number of the first entry of a seed."""
    number = seed if seed < 2**40 else 2**40 + int.from_bytes(blake2b(str(seed).encode(), digest_size=5).digest(), "big")
    return (number + 1) * OF_A_SEED
