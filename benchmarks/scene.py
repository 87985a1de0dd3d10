"""The benchmark scenes: walled halls full of pedestrians, run in the engine."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from agora.channels.scan import Scanner
from agora.draft.periods import Periods
from agora.engine.conditions import Conditions
from agora.engine.engine import Engine
from agora.maps.grid import Map
from agora.optics.lidar import Lidar
from agora.pedestrians.models.helbing import Helbing
from agora.robots.model import RobotModel
from agora.world.start import PedestrianStarts, RobotStart, Start

RESOLUTION, CELLS, MAPS, DT = 0.05, 400, 16, 0.1
LIDAR = Lidar(beams=360, angle_min=0.0, angle_max=2 * math.pi, range_max=10.0)
MIDDLE = 1.5
"""Radius around the centre of a hall within which no pedestrian starts, m. A pedestrian starting there would slow down near its
goal, which is opposite the centre, and the C code does not slow pedestrians down.
"""
SOCIAL_FORCE = Helbing(repulsion=3.0, length=0.5, anisotropy=0.3)  # the model used in kernels.c
ROBOT = RobotModel("disc", "differential", 0.3, (0.0, 1.0), 1.0, lidar=LIDAR)


@cache
def hall(number: int) -> Map:
    """Return a hall of 20 x 20 m with eight blocks and four thin walls, different for each number."""
    rng = np.random.default_rng([17, number])
    occupied = np.zeros((CELLS, CELLS), np.bool_)
    for _ in range(8):
        corner, size = rng.integers(20, 360, 2), rng.integers(4, 30, 2)
        occupied[corner[0] : corner[0] + size[0], corner[1] : corner[1] + size[1]] = True
    for upright in (True, True, False, False):
        (row, column), length = rng.integers(20, 300, 2), rng.integers(40, 100)
        size = (length, 2) if upright else (2, length)
        occupied[row : row + size[0], column : column + size[1]] = True
    occupied[[0, -1]] = occupied[:, [0, -1]] = True
    return Map(f"hall {number}", RESOLUTION, (0.0, 0.0), occupied)


def free_points(rng: np.random.Generator, place: Map, count: int, gap: float, others: np.ndarray | None = None) -> np.ndarray:
    """Return points (count, 2) in a hall, at least 1 m from its border, ``gap`` from its walls, twice ``gap`` from other points (N,
    2), and `MIDDLE` from its centre.
    """
    points = np.empty((0, 2))
    while len(points) < count:
        drawn = rng.uniform(1.0, CELLS * RESOLUTION - 1.0, (4 * count, 2))
        column, row = (drawn / RESOLUTION).astype(int).T
        free = place.clearance[row, column] > gap
        free &= np.hypot(*(drawn - 0.5 * CELLS * RESOLUTION).T) > MIDDLE
        if others is not None:
            free &= np.linalg.norm(drawn[:, None] - others, axis=-1).min(1) > 2 * gap
        points = np.vstack([points, drawn[free]])
    return points[:count]


@dataclass(frozen=True)
class Scene:
    """The initial state of pedestrians and robots in W worlds.

    Attributes:
        maps: (W,) map of each world.
        position, velocity, goal: (W, P, 2).
        radius, speed: (W, P).
        robot: (W, 3) pose.
        group: (W, P) number of the walking group, -1 for none.
    """

    maps: list[Map]
    position: np.ndarray
    velocity: np.ndarray
    goal: np.ndarray
    radius: np.ndarray
    speed: np.ndarray
    robot: np.ndarray
    group: np.ndarray


def halls(worlds: int, pedestrians: int, different: int = MAPS) -> Scene:
    """Return halls in which every pedestrian walks to the point opposite the centre of the hall; world w uses hall w modulo
    ``different``.
    """
    rng = np.random.default_rng(5)
    maps = [hall(w % different) for w in range(worlds)]
    position = np.stack([free_points(rng, m, pedestrians, 0.3) for m in maps])
    robot = np.stack([free_points(rng, m, 1, 0.4, p)[0] for m, p in zip(maps, position, strict=True)])
    return Scene(
        maps=maps,
        position=position,
        velocity=rng.normal(0.0, 0.5, position.shape),
        goal=CELLS * RESOLUTION - position,
        radius=rng.uniform(0.2, 0.3, position.shape[:2]),
        speed=rng.uniform(1.0, 1.5, position.shape[:2]),
        robot=np.column_stack([robot, rng.uniform(-math.pi, math.pi, worlds)]),
        group=np.full(position.shape[:2], -1, np.int32),
    )


def companies(worlds: int, groups: int) -> Scene:
    """Return the halls with groups of three, who start side by side and walk together."""
    rng, places = np.random.default_rng(6), halls(worlds, 3 * groups)
    turn = np.arange(3) * 2 * math.pi / 3
    ring = 0.7 * np.stack([np.cos(turn), np.sin(turn)], -1)
    centre = np.stack([free_points(rng, m, groups, 1.0) for m in places.maps])
    position = (centre[:, :, None] + ring).reshape(worlds, -1, 2)
    goal = (CELLS * RESOLUTION - centre[:, :, None] + ring).reshape(worlds, -1, 2)
    group = np.broadcast_to(np.repeat(np.arange(groups, dtype=np.int32), 3), places.group.shape)
    return replace(places, position=position, velocity=np.zeros_like(position), goal=goal, group=group)


def crowd(
    position: np.ndarray, goal: np.ndarray, place: Map, *, radius: float, speed: float, group: np.ndarray | None = None
) -> Scene:
    """Return one world with identical pedestrians, initially at rest, who walk from (P, 2) to (P, 2)."""
    count = len(position)
    return Scene(
        maps=[place],
        position=position[None],
        velocity=np.zeros((1, count, 2)),
        goal=goal[None],
        radius=np.full((1, count), radius),
        speed=np.full((1, count), speed),
        robot=np.zeros((1, 3)),
        group=np.full((1, count), -1, np.int32) if group is None else group[None],
    )


def starts_of(scene: Scene, robots: bool, goal: np.ndarray | None = None) -> list[Start]:
    """Return the scene as episodes that never end; if no robot goals (W, 2) are given, they are out of reach."""
    count = scene.radius.shape[1]
    whole = np.ones(count, np.int32)
    aim = np.full((len(scene.maps), 2), -50.0) if goal is None else goal
    return [
        Start(
            entry=f"scene/{w}",
            seed=0,
            map=place,
            robots=(RobotStart(ROBOT, scene.robot[w], np.append(aim[w], 0.0)[None]),) if robots else (),
            pedestrians=PedestrianStarts(
                position=scene.position[w],
                speed=scene.speed[w],
                radius=scene.radius[w],
                group=scene.group[w],
                id=np.arange(1, count + 1, dtype=np.int32),
                waypoints=scene.goal[w][:, None],
                waypoint_count=whole,
                mode=0 * whole,
                tolerance=np.full(count, 0.5),
                velocity=scene.velocity[w],
            ),
            timeout=1e6,
            goal_tolerance=0.3,
        )
        for w, place in enumerate(scene.maps)
    ]


class Worlds:
    """A scene in an engine; contacts do not end episodes, so every world continues forever.

    Args:
        scene: initial scene. crowd: crowd model.
        robots: whether each world has its robot.
        dt: physics step, s.
        threads: number of the engine's threads.
        behaviours: behaviours of the pedestrians.
        sees_robots: whether pedestrians react to robots.
    """

    def __init__(
        self,
        scene: Scene,
        model: object,
        *,
        robots: bool = False,
        dt: float = DT,
        threads: int = 1,
        behaviours: tuple = (),
        sees_robots: bool = False,
    ) -> None:
        starts = starts_of(scene, robots)
        conditions = Conditions(Periods(dt, dt, dt, dt), model, behaviours, sees_robots=sees_robots, ends=0)
        self.engine = Engine.of(starts, conditions, threads=threads)
        self.world = self.engine.world
        self.scanner = Scanner(self.world, LIDAR)
        for w, start in enumerate(starts):
            self.engine.reset(w, start)
        self._kept = [array.copy() for array in self._state()]

    def restart(self) -> None:
        """Reset pedestrians and robots to the start of the scene."""
        for array, value in zip(self._state(), self._kept, strict=True):
            array[...] = value

    def _state(self) -> list[np.ndarray]:
        return [*self.world.pedestrians, *self.world.robots]
