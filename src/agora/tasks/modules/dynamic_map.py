"""A new map every few episodes."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any

from agora.config import load
from agora.errors import InputError
from agora.maps.place import Place
from agora.registry import Named, Plug
from agora.seeds import Stream
from agora.share import named_file
from agora.tasks.module import Module, Plan
from agora.tasks.world import World


@dataclass(frozen=True)
class MapProperties:
    """Size of a generated map.

    Attributes:
        width, height: cells. resolution: m per cell.
    """

    width: int = 60
    height: int = 60
    resolution: float = 0.5

    def __post_init__(self) -> None:
        for name in ("width", "height"):
            if not 2 <= getattr(self, name) <= 16_384:
                raise ValueError(f"{name} must be in [2, 16384] cells, got {getattr(self, name)}")
        if not 0.001 <= self.resolution <= 100.0:
            raise ValueError(f"resolution must be in [0.001, 100] m, got {self.resolution}")


@dataclass(frozen=True)
class MapGeneratorFile:
    """The keys of Arena 3.0's ``map_generator.yaml``, accepted unchanged.

    Attributes:
        algorithm: a name of Arena: "barn", "rosnav", "canteen", "office", "warehouse" ...
        episode_per_map: episodes before a new map.
        generation_timeout: s; not used, maps are made before the episode.
        map_properties: size.
        algorithm_config: the algorithm's parameters.
    """

    algorithm: str
    episode_per_map: int = 5
    generation_timeout: float = 10.0
    map_properties: MapProperties = field(default_factory=MapProperties)
    algorithm_config: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_episodes("episode_per_map", self.episode_per_map)
        try:
            self.generator()
        except InputError as error:
            raise ValueError(f"algorithm: {error}") from error

    def generator(self) -> Named:
        """The map generator that the file describes."""
        return generator_of_arena(self.algorithm, self.algorithm_config, self.map_properties)


def check_episodes(key: str, count: int) -> None:
    """A number of episodes that share a map.

    Raises:
        ValueError: it is not in range.
    """
    if not 1 <= count <= 1_000_000:
        raise ValueError(f"{key} must be in [1, 1000000], got {count}")


@dataclass(frozen=True)
class DynamicMap(Module):
    """Arena's ``dynamic_map``: every few episodes take place in a newly generated map, whatever world the stage names.

    Attributes:
        generator: map generator.
        file: Arena's ``map_generator.yaml`` instead: a name in ``configs/map_generator`` or a path, which has a slash.
        episode_per_map: episodes that share a map; the file's, or 5, where 0.
    """

    generator: Annotated[Named, Plug("map_generators")] | None = None
    file: str = ""
    episode_per_map: int = 0

    def __post_init__(self) -> None:
        if (self.generator is None) == (not self.file):
            raise ValueError("generator or file must be given, one of them")
        if self.episode_per_map:
            check_episodes("episode_per_map", self.episode_per_map)
        try:
            self.resolved()
        except InputError as error:
            raise ValueError(f"file: {error}") from error

    def resolved(self) -> tuple[Named, int]:
        """The generator, and how many episodes share a map.

        Raises:
            InputError: the file is wrong.
        """
        if self.generator is not None:
            return self.generator, self.episode_per_map or 5
        read = self._read()
        return read.generator(), self.episode_per_map or read.episode_per_map

    def _read(self) -> MapGeneratorFile:
        path = named_file("map_generator", self.file, ".yaml")
        return _read_once(path, path.stat().st_mtime_ns)

    def with_algorithm(self, algorithm: str, config: dict[str, Any]) -> DynamicMap:
        """The module with another algorithm of Arena's; size and episodes for each map stay.

        Raises:
            InputError: no such algorithm, or a parameter that it does not have or refuses.
        """
        properties = MapProperties() if self.generator is not None else self._read().map_properties
        return DynamicMap(generator_of_arena(algorithm, config, properties), episode_per_map=self.resolved()[1])

    def before_reset(self, plan: Plan) -> Plan:
        """Return the plan in the generated world."""
        generator, episodes = self.resolved()
        number = plan.episode // episodes
        world = Named("dynamic_map", OneMap(generator, plan.suite, plan.stage.name, plan.seed, number))
        return replace(plan, stage=replace(plan.stage, world=world))


@dataclass(frozen=True)
class OneMap:
    """The world source of one generated map, the same for every episode that shares it.

    Attributes:
        generator: what makes it. suite, stage, seed, number: what its stream is made of.
    """

    generator: Named
    suite: str
    stage: str
    seed: int
    number: int

    def names(self) -> list[str]:
        """One world."""
        return [f"dynamic_map_{self.number}"]

    def world(self, name: str, stream: Stream) -> World:
        """Return the map; the episode's own stream is not drawn from."""
        place = _generated(self)
        return World(place.map, furniture=place.furniture, zones=place.zones)


@lru_cache(maxsize=32)
def _generated(source: OneMap) -> Place:
    stream = Stream(f"{source.suite}/{source.stage}", source.seed, "map", identity=source.number)
    place: Place = source.generator.part.generate(stream)
    return place


@lru_cache(maxsize=16)
def _read_once(path: Path, changed: int) -> MapGeneratorFile:
    return load(path, MapGeneratorFile)


def generator_of_arena(algorithm: str, config: dict[str, Any], properties: MapProperties) -> Named:
    """Return the map generator for an algorithm of Arena 3.0 with its parameters.

    Raises:
        InputError: no such algorithm, or a parameter that it does not have or refuses.
    """
    raise InputError(f"no algorithm {algorithm!r}")
