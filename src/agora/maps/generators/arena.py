"""Arena 3.0's map generators under their own names, with their own parameters.

Arena gives lengths in cells of ``map_properties.resolution``, whereas Agora gives them in metres. A radius of ``r`` cells makes
squares and corridors ``1 + 2 r`` cells wide, so it becomes ``(r + 0.5) * resolution``. Distances between rows are given in half
cells.

Arena's cells are 0.5 m wide. Agora's cells are finer, because robots and pedestrians know walls only as precisely as the map's
cells.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from agora.config import build, build_component, parse_component, parse_parameters
from agora.errors import InputError, UnknownNameError, nearest
from agora.ranges import Within
from agora.registry import Named, available

__all__ = ["from_arena", "parse_generator"]

_FINE = 0.1  # length of a cell, m


@dataclass(frozen=True)
class MapProperties:
    """The size of Arena's maps.

    Attributes:
        width: number of columns.
        height: number of rows.
        resolution: length of a cell, m.
    """

    width: Annotated[int, Within(1, 10_000)] = 60
    height: Annotated[int, Within(1, 10_000)] = 60
    resolution: Annotated[float, Within(0.01, 100.0)] = 0.5


@dataclass(frozen=True)
class ArenaGenerator:
    """Arena's ``map_generator.yaml`` file, and the ``map_generator`` field of its curricula.

    Attributes:
        algorithm: name of the algorithm: ``barn``, ``rosnav``, ``rosmap``, or a name from the paper.
        algorithm_config: parameters of the algorithm, including ``map_type`` for ``rosnav`` and ``rosmap``.
        map_properties: size of the map.
        episode_per_map: number of episodes on each map.
        generation_timeout: maximum time to generate a map, s; not used by Agora.
    """

    algorithm: str
    algorithm_config: dict[str, Any] = field(default_factory=dict)
    map_properties: MapProperties = field(default_factory=MapProperties)
    episode_per_map: int = 5
    generation_timeout: float = 10.0


Translation = dict[str, tuple[str, Callable[[float, float], float] | None] | None]
"""For each of Arena's parameters: the name in Agora and a converter of (value, resolution); None if there is no counterpart."""


def _radius(cells: float, resolution: float) -> float:
    """Convert a radius in cells, counted on each side of a centre cell, to metres."""
    return (cells + 0.5) * resolution


def _halves(cells: float, resolution: float) -> float:
    """Convert a number of half cells to metres."""
    return 0.5 * cells * resolution


_NUMBER: Translation = {"obstacle_num": ("obstacle_num", None)}
_SPACED: Translation = {**_NUMBER, "obstacle_extra_radius": ("obstacle_extra_radius", _radius)}
_CORRIDORS: Translation = {"corridor_radius": ("corridor_radius", _radius), "iterations": ("iterations", None)}
_ALGORITHMS: dict[str, tuple[str, Translation, dict[str, float]]] = {
    "barn": (
        "barn",
        {"fill_pct": ("fill_pct", None), "smooth_iter": ("smooth_iter", None), "seed": None},
        {"fill_pct": 0.2, "smooth_iter": 5},
    ),
    "rosnav_outdoor": ("rosnav_outdoor", _SPACED, {"obstacle_num": 10, "obstacle_extra_radius": 1}),
    "rosnav_indoor": ("rosmap_indoor", _CORRIDORS, {"corridor_radius": 5, "iterations": 100}),
    "rosmap_outdoor": ("rosmap_outdoor", _SPACED, {"obstacle_num": 15, "obstacle_extra_radius": 5}),
    "rosmap_indoor": ("rosmap_indoor", _CORRIDORS, {"corridor_radius": 4, "iterations": 10}),
    "rosmap_canteen": (
        "canteen",
        {**_SPACED, "chair_chance": ("chair_chance", None)},
        {"obstacle_num": 15, "obstacle_extra_radius": 5, "chair_chance": 0.4},
    ),
    "rosmap_warehouse": (
        "industrial_hall",
        {
            **_NUMBER,
            "rack_chance": ("rack_chance", None),
            "pallet_jacks": ("pallet_jacks", None),
            "vert_dist_shelfs_min": ("aisle", _halves),
            "vert_dist_shelfs_max": None,
            "hor_dist_shelfs_min": None,
            "hor_dist_shelfs_max": None,
        },
        {"obstacle_num": 20, "pallet_jacks": 3},
    ),
    "rosmap_office": (
        "office",
        {
            **_NUMBER,
            "vert_dist_table_min": ("aisle", _halves),
            "vert_dist_table_max": None,
            "hor_dist_table_min": None,
            "hor_dist_table_max": None,
            "row_chance": None,
        },
        {"obstacle_num": 24},
    ),
}
"""By algorithm and map type: the generator in Agora, its parameters, and Arena's defaults."""

_IN_ARENA: dict[str, tuple[Any, ...]] = {
    "seed": (None,),
    "row_chance": (0.5, 0.7),
    "hor_dist_table_min": (20, 12),
    "hor_dist_table_max": (22, 13),
    "vert_dist_table_max": (12, 21),
    "hor_dist_shelfs_min": (20, 34),
    "hor_dist_shelfs_max": (22, 38),
    "vert_dist_shelfs_max": (12, 24),
}
"""Parameters without a counterpart in Agora, and their values in Arena's own code and files, which are accepted and ignored."""

_WITHOUT: dict[str, dict[str, Any]] = {
    "rosmap_canteen": {"counter": False},
    "rosmap_warehouse": {"pallets": 0},
    "rosmap_office": {"meeting_rooms": 0, "storage": 0},
}
"""Parameters without a counterpart in Arena's generators."""

_PAPER = {
    "rosnav_canteen": "rosmap_canteen",
    "rosnav_industrial_hall": "rosmap_warehouse",
    "rosnav_office": "rosmap_office",
    "canteen": "rosmap_canteen",
    "industrial_hall": "rosmap_warehouse",
    "warehouse": "rosmap_warehouse",
    "office": "rosmap_office",
}


def from_arena(values: Mapping[str, Any], where: str = "map_generator") -> Named:
    """Return the map generator that Arena's ``algorithm``, ``algorithm_config`` and ``map_properties`` describe.

    Args:
        values: contents of Arena's ``map_generator.yaml``. If Arena does not have the algorithm, it may be one of Agora's
            generators, with that generator's own parameters.
        where: name of the source of these values, for messages.

    Raises:
        InputError: an algorithm, map type, key or value is invalid.
    """
    file = build(dict(values), ArenaGenerator, where)
    given = dict(file.algorithm_config)
    name = file.algorithm.strip().lower().replace(" ", "_").replace("-", "_")
    if name in ("rosnav", "rosmap"):
        kind = str(given.pop("map_type", "indoor" if name == "rosnav" else "outdoor"))
        given = _of_type(given, name, kind)
        name = f"{name}_{kind}"
    name = _PAPER.get(name, name)
    cell = file.map_properties.resolution
    size = {
        "width": file.map_properties.width * cell,
        "height": file.map_properties.height * cell,
        "resolution": cell / math.ceil(cell / _FINE - 1e-9),
    }
    if name not in _ALGORITHMS:
        if name in available("map_generators"):
            return build_component("map_generators", size | given | {"name": name}, where)
        raise UnknownNameError("algorithm of Arena", name, {*_ALGORITHMS, *_PAPER, *available("map_generators")})
    generator, translation, defaults = _ALGORITHMS[name]
    parameters: dict[str, Any] = {"name": generator, **size, **_WITHOUT.get(name, {})}
    for key, value in (defaults | given).items():
        if key not in translation:
            raise InputError(f"{where}: algorithm_config.{key}: unknown key of {name!r}; {nearest(key, translation)}")
        if (target := translation[key]) is None:
            if value not in _IN_ARENA[key]:
                raise InputError(f"{where}: algorithm_config.{key}: has no effect with generator {generator!r}; leave it out")
        else:
            convert = target[1]
            if convert is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
                raise InputError(f"{where}: algorithm_config.{key}: expected a number, got {value!r}")
            parameters[target[0]] = value if convert is None else convert(value, cell)
    if generator == "barn":
        parameters["cell"] = cell
    if name == "rosnav_indoor":
        parameters["room"] = [2 * parameters["corridor_radius"]] * 2
    return build_component("map_generators", parameters, where)


def _of_type(given: Mapping[str, Any], name: str, kind: str) -> dict[str, Any]:
    """Return the parameters for a map type, including the parameters in a group named after the type; groups for other types are
    ignored, as in Arena.
    """
    known = {*_ALGORITHMS, *_PAPER}
    groups = {key: group for key, group in given.items() if f"{name}_{key}" in known and isinstance(group, Mapping)}
    return {key: value for key, value in given.items() if key not in groups} | dict(groups.get(kind, {}))


def parse_generator(text: str, where: str = "algorithm") -> Named:
    """Return the map generator that a string describes in Agora's or Arena's terms, for example ``canteen(width=20)`` or
    ``rosnav(map_type=outdoor)``.

    Raises:
        InputError: there is no such generator, or a parameter is unknown or invalid.
    """
    name, _, rest = text.strip().partition("(")
    if name.strip() in available("map_generators"):
        return parse_component("map_generators", text, where)
    try:
        return from_arena({"algorithm": name, "algorithm_config": parse_parameters(rest.removesuffix(")"), where)}, where)
    except UnknownNameError as error:
        raise UnknownNameError("map generator", name.strip(), available("map_generators")) from error
