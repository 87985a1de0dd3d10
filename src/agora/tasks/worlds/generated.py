"""Worlds made by a map generator."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Annotated

from agora.draft.surroundings import Surroundings
from agora.maps.place import Place
from agora.ranges import Checked, Whole, Within
from agora.registry import Named, Plug
from agora.seeds import Stream

__all__ = ["Generated"]

_MOST = 1_000_000


@dataclass(frozen=True)
class Generated(Checked):
    """Places from one map generator, named ``canteen-0``, ``canteen-1``, ...

    Place n depends only on the generator, its parameters, the seed and n. If there are fewer places than episodes, episodes share
    places.

    Attributes:
        generator: map generator.
        count: number of different places.
        seed: seed of the places; if the suite's seed is changed (``--seed``), the places also change.
    """

    generator: Annotated[Named, Plug("map_generators")] = field(default_factory=lambda: Named.of("map_generators", "canteen"))
    count: Annotated[int, Within(1, _MOST)] = 1
    seed: Whole = 0

    def seeded(self, seed: int) -> Generated:
        """Return the source with a different seed: the same number of places from the same generator, but different places."""
        return replace(self, seed=seed)

    def names(self) -> list[str]:
        """Return the names of the places: the generator's name with a number."""
        return [f"{self.generator.name}-{n}" for n in range(self.count)]

    def world(self, name: str, stream: Stream) -> Surroundings:
        """Return a place.

        Raises:
            PlacementError: the generator's parameters cannot be met.
        """
        place = _place(self.generator, self.seed, int(name.rpartition("-")[2]))
        return Surroundings(place.map, furniture=place.furniture, zones=place.zones)


@lru_cache(maxsize=32)
def _place(generator: Named, seed: int, number: int) -> Place:
    """Return place ``number``; the last 32 places are cached."""
    place: Place = generator.part.generate(Stream(generator.name, seed, "place", number))
    return replace(place, map=replace(place.map, name=f"{generator.name}-{number}"))
