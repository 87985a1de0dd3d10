"""Whole episodes: a scene that is turned, mirrored or moved as a whole plays like the original.

Positions are float32, and crowds amplify rounding. A decision due at one step may fall on the next step. So two episodes
count as equal if people and robots stay within `APART` of each other for `SECONDS`, and end alike.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from agora.episode import Conditions, Episodes
from agora.maps.grid import Map
from agora.planners.presets import named_planner
from agora.registry import available, make
from agora.testing.crowds import hall
from agora.testing.scenes import Move
from agora.world.start import RobotStart, Start
from tests.places import moved
from tests.starts import DISC, people

APART, SECONDS = 0.15, 6.0  # m, about the distance that a person walks in a step of 0.1 s
HERE = Move()
TURNED = (Move(turn=0.5 * math.pi), Move(turn=math.pi), Move(turn=-0.5 * math.pi))
SHIFTED = (Move(3.2, -6.4), Move(24.0, -24.0), Move(1024.0, -1024.0))
MIRRORED = (Move(mirror=True), Move(turn=0.5 * math.pi, mirror=True))
HANDED = {"anticipation", "spinny"}
"""Crowd models in which people pass on a fixed side or turn round in a fixed direction."""


def door() -> Map:
    """A hall of 13 x 8.1 m, divided by a wall with a 1.1 m door."""
    bounds = (-3.7, 2.3, 9.3, 10.4)
    return Map.from_shapes(segments=[[3.0, 2.3, 3.0, 5.9], [3.0, 7.0, 3.0, 10.4]], bounds=bounds, name="door")


def scene(place: Map, move: Move, seed: int, size: int = 6) -> Start:
    """A robot and people that walk between random places, all moved together."""
    rng = np.random.default_rng(seed)
    points: list[np.ndarray] = []
    while len(points) < 3 * size + 2:
        point = rng.uniform(place.origin, np.add(place.origin, place.size))
        apart = [np.hypot(*(point - other)) for other in points[: size + 2]]
        if place.gap(point[None])[0] > 0.5 and place.margin(point[None])[0] > 0.5 and min(apart, default=9.0) > 0.9:
            points.append(point)
    while np.hypot(*(points[size] - points[size + 1])) < 5.0:
        points = [*points[1:], points[0]]
    ways = move.points(np.reshape(points[size + 2 :], (size, 2, 2)))
    crowd = people(move.points(np.array(points[:size])), ways, speed=1.2, radius=0.27, mode=0)
    robot = RobotStart(DISC, move.poses(np.array([*points[size], 0.7])), move.poses(np.array([[*points[size + 1], -2.0]])))
    return Start(f"symmetry/{seed}", 5, moved(place, move), (robot,), crowd, timeout=SECONDS)


def check(place: Map, moves: tuple[Move, ...], seed: int, planner: str = "pure_pursuit", apart: float = APART, **more) -> None:
    """Play a scene and its images together, and compare them in the frame of the scene."""
    starts = [scene(place, move, seed) for move in (HERE, *moves)]
    found = {n: one[0] for n, one in Episodes(starts, named_planner(planner)[1].part, Conditions(ends=0, **more))}
    here = found[0]
    assert len(here.time) > 40 and np.hypot(*np.diff(here.pedestrian_position, axis=0).T).sum(1).min() > 1.0
    for n, move in enumerate(moves, 1):
        there = found[n]
        assert (there.outcome, len(there.time)) == (here.outcome, len(here.time)), move
        assert np.hypot(*(move.points(here.pose[:, :2]) - there.pose[:, :2]).T).max() < apart, move
        away = np.moveaxis(move.points(here.pedestrian_position) - there.pedestrian_position, -1, 0)
        assert np.hypot(*away).max() < apart, move


@pytest.mark.parametrize("model", sorted(available("crowd_models")))
def test_people_walk_round_walls_alike_in_a_turned_mirrored_or_moved_scene(model):
    moves = TURNED + SHIFTED + (() if model in HANDED else MIRRORED)
    check(hall(), moves, seed=2, crowd=(make("crowd_models", model),), routes=True)


@pytest.mark.parametrize("place", [hall(), door()], ids=["hall", "door"])
@pytest.mark.parametrize("yields", [True, False])
def test_people_walk_alike_in_such_a_scene_if_nobody_steps_into_anybody(place, yields):
    """A blocked pedestrian steps aside to the right, which becomes the left in a mirror image."""
    crowd = (make("crowd_models", "anticipation"),)
    check(place, TURNED + SHIFTED, seed=1, crowd=crowd, routes=True, careful=True, yields=yields)
