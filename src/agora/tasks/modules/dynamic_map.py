"""A module that generates a new map every few episodes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any

from agora.config import build, load, plain
from agora.draft.surroundings import Surroundings
from agora.errors import InputError
from agora.interfaces import Module, ResetPlan
from agora.maps.generators.arena import ArenaGenerator, from_arena
from agora.ranges import Checked, Within
from agora.registry import Named, Plug
from agora.seeds import Stream
from agora.share import named_file
from agora.tasks.worlds.generated import Generated

__all__ = ["DynamicMap", "generator_of"]

_MOST = 1_000_000


@dataclass(frozen=True)
class DynamicMap(Checked, Module):
    """Arena's ``dynamic_map``: generates a new map every few episodes, which replaces the stage's world.

    Map n depends only on the generator, the seed and n. If k episodes share a map, episode e uses map e // k + ``ahead``.

    Attributes:
        generator: map generator; taken from ``file`` if not given.
        file: Arena's ``map_generator.yaml``: name of a file in ``configs/map_generator``, or a path, which must contain a slash.
        episode_per_map: number of episodes that share a map; taken from ``file`` if 0.
        ahead: number of maps to skip; increases with each request for a new map.
    """

    generator: Annotated[Named, Plug("map_generators")] | None = None
    file: str = "default"
    episode_per_map: Annotated[int, Within(0, _MOST)] = 0
    ahead: Annotated[int, Within(0, _MOST)] = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        try:
            self.resolved()
        except InputError as error:
            raise ValueError(f"file: {error}") from error

    def resolved(self) -> tuple[Named, int]:
        """Return the generator, and the number of episodes that share a map.

        Raises:
            InputError: there is no such file, or it is invalid.
        """
        file, generator = self._read()
        return self.generator or generator, self.episode_per_map or file.episode_per_map

    def files(self) -> list[Path]:
        """Return the ``map_generator.yaml`` file.

        Raises:
            InputError: there is no such file.
        """
        return [named_file("map_generator", self.file, ".yaml")]

    def _read(self) -> tuple[ArenaGenerator, Named]:
        (path,) = self.files()
        return _read_once(path, path.stat().st_mtime_ns)

    @classmethod
    def of(cls, values: Mapping[str, Any], where: str = "DYNAMICMAP") -> DynamicMap:
        """Return the module described by keys of Arena's ``map_generator.yaml``; the keys override
        ``configs/map_generator/default.yaml``.

        An ``algorithm_config`` applies to the ``algorithm`` in the same mapping, so a different algorithm starts from its own
        defaults.

        Raises:
            InputError: a key is unknown, or no generator can be created from the keys; the message begins with ``where``.
        """
        base = plain(cls()._read()[0])
        if "algorithm" in values:
            del base["algorithm_config"]
        file = build(base | dict(values), ArenaGenerator, where)
        return cls(from_arena(plain(file), where), episode_per_map=file.episode_per_map)

    def with_algorithm(self, values: dict[str, Any]) -> DynamicMap:
        """Return the module with a different Arena ``algorithm`` and ``algorithm_config``; the map size and the number of episodes
        per map stay the same.

        Raises:
            InputError: the algorithm is unknown, a parameter is unknown, or a value is rejected.
        """
        return replace(self, generator=from_arena(values | {"map_properties": plain(self._read()[0].map_properties)}))

    def before_reset(self, plan: ResetPlan) -> ResetPlan:
        """Return the plan with the generated world."""
        generator, episodes = self.resolved()
        number = plan.episode // episodes + self.ahead
        world = Named("dynamic_map", _One(Generated(generator, number + 1, plan.seed), number))
        return replace(plan, stage=replace(plan.stage, world=world))


def generator_of(world: Any) -> Named | None:
    """Return the map generator of a world that this module has put into a plan; None for any other world."""
    return world.source.generator if isinstance(world, _One) else None


@dataclass(frozen=True)
class _One:
    """A single place from a source of generated worlds."""

    source: Generated
    number: int

    def names(self) -> list[str]:
        return [f"{self.source.generator.name}-{self.number}"]

    def world(self, name: str, stream: Stream) -> Surroundings:
        return self.source.world(name, stream)


@lru_cache(maxsize=16)
def _read_once(path: Path, changed: int) -> tuple[ArenaGenerator, Named]:
    file = load(path, ArenaGenerator)
    if not 1 <= file.episode_per_map <= _MOST:
        raise InputError(f"{path}: episode_per_map: expected an integer in [1, {_MOST}], got {file.episode_per_map}")
    return file, from_arena(plain(file), str(path))
