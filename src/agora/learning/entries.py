"""The sequence of episodes (entries) that the worlds of an environment play."""

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
"""Number of entries per seed. The first entry of seed s has the number (s + 1) times this value; seeds from 2**40 are hashed."""

_TRIES = 50  # maximum number of consecutive entries that cannot be placed


class Entries:
    """Selects the entries that worlds play: world w of W plays entries w, w + W, w + 2 W, ... of the stage, or of a seed.

    Entries whose people or robots cannot be placed for lack of space are skipped.

    Args:
        starts: the stage's episodes.
        worlds: number of worlds, W.
        finite: whether each seed has as many entries as the stage; otherwise each seed has `OF_A_SEED` entries.
    """

    def __init__(self, starts: Drawn, worlds: int, *, finite: bool) -> None:
        self._starts, self._worlds, self._finite = starts, worlds, finite
        self._first, self._next = np.zeros(worlds, np.int64), np.arange(worlds)

    def some(self, count: int) -> list[Start]:
        """Return the first ``count`` episodes of the stage, or fewer if some cannot be placed.

        Raises:
            PlacementError: no episode can be placed.
        """
        found: list[Start] = []
        for number in range(min(count + _TRIES, len(self._starts))):
            with suppress(PlacementError):
                found.append(self._starts.draw(number))
            if len(found) == count:
                break
        return found or [self._starts.draw(0)]

    def of_seed(self, worlds: Array, seed: int) -> None:
        """Make worlds play the entries of a seed, starting with the first entry."""
        self._first[worlds], self._next[worlds] = _first_of(seed), worlds

    def from_entry(self, worlds: Array, entry: int) -> None:
        """Make worlds play the stage's own entries; world w starts with number ``entry + w``."""
        self._first[worlds], self._next[worlds] = 0, entry + worlds

    def draw(self, world: int) -> tuple[int, Start]:
        """Return the number of the next entry of a world, and the entry itself.

        Raises:
            PlacementError: too many consecutive entries cannot be placed.
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
        """Start generating the next entries of the given worlds in advance."""
        self._starts.soon([self._number(w) for w in worlds])

    def _number(self, world: int) -> int:
        """Return the number of the entry that a world plays next."""
        first, after = int(self._first[world]), int(self._next[world])
        return first + after % (OF_A_SEED if first and not self._finite else len(self._starts))


def _first_of(seed: int) -> int:
    """Return the number of the first entry of a seed."""
    number = seed if seed < 2**40 else 2**40 + int.from_bytes(blake2b(str(seed).encode(), digest_size=5).digest(), "big")
    return (number + 1) * OF_A_SEED
