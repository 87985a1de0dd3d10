"""A scene with one kind of bad input per robot, which planners must handle."""

from __future__ import annotations

import dataclasses
import functools
import math
from typing import Any

import numpy as np

from agora.core.state import Array, Floats
from agora.costmap.window import Window
from agora.interfaces import Observation, SemanticWindow
from agora.testing.guard import freeze
from agora.testing.scenes import costmap_of, observation

INPUTS = (
    "no path",
    "a goal inside a wall",
    "no pedestrians",
    "beams at the largest range",
    "beams of range 0",
    "beams that are NaN",
    "a wall in the robot",
    "a pedestrian in the robot",
    "500 pedestrians",
)
"""Kinds of bad input, one for each robot of `bad_inputs`."""

NO_PATH, _GOAL, _NOBODY, _FAR, _ZERO, _NAN, WALL, PERSON, _CROWD = range(len(INPUTS))
BEARING = 0.35
"""Bearing of the touched wall or pedestrian relative to the robot's heading, rad."""

_SLOTS, _FEW = 750, 5  # pedestrian slots, of which two out of three are in use
_INTO, _BODY = 0.45, 0.3  # m, between centres; the wall is as small as the walls in `observation`


@functools.lru_cache(maxsize=32)
def bad_inputs(
    window: Window | None = None, semantics: SemanticWindow | None = None, **kind: Any
) -> tuple[Observation, Observation]:
    """Return an irregular scene with one kind of bad input per robot, and the same scene with valid paths and beams.

    Robots that touch an object are at rest.

    Args:
        window: window of the costmap.
        semantics: window of the semantic maps.
        **kind: kind of the robots, as for `agora.testing.observation`.
    """
    rows, window = len(INPUTS), window or Window(size=6.0)
    plain = observation(rows, _SLOTS, seed=4, window=dataclasses.replace(window, sources=("map",)), semantics=semantics, **kind)
    o: Observation = _copied(plain)
    assert o.pedestrians is not None and o.scan is not None and o.path_count is not None
    people, walls = o.pedestrians, np.full((rows, 1, 2), 1e3)
    o.path_count[NO_PATH] = 0
    walls[_GOAL] = o.goal[_GOAL, :2]
    people.present[:_CROWD, _FEW:], people.present[[_NOBODY, WALL, PERSON]] = False, False
    o.scan[_FAR], o.scan[_ZERO], o.scan[_NAN] = o.scan_range, 0.0, np.nan
    o.twist[[WALL, PERSON]] = 0.0
    walls[WALL] = _before(o.pose[WALL])
    people.position[PERSON, 0], people.velocity[PERSON, 0] = _before(o.pose[PERSON]), 0.0
    people.radius[PERSON, 0], people.present[PERSON, 0] = _BODY, True
    bad = dataclasses.replace(o, costmap=costmap_of(window, o.pose, walls, people, o.radius))
    freeze(bad)
    return bad, dataclasses.replace(bad, path_count=plain.path_count, scan=plain.scan)


def _before(pose: Floats) -> Array:
    """Return the centre of the object that touches the robot's front, slightly to its left."""
    angle = float(pose[2]) + BEARING
    return pose[:2] + _INTO * np.array((math.cos(angle), math.sin(angle)))


def _copied(value: Any) -> Any:
    """Return a copy of a record, including its arrays."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.replace(value, **{name: _copied(part) for name, part in vars(value).items()})
    if isinstance(value, dict):
        return {name: _copied(part) for name, part in value.items()}
    return value.copy() if isinstance(value, np.ndarray) else value
