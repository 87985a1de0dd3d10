"""The crowd as seen by a user-written model, through views that are created once and copy only the distances to walls."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from agora.core.answers import blame, numbers
from agora.core.field import clearance_at
from agora.core.jit import bind, kernel
from agora.core.state import STAY, Floats, Pedestrians, Robots, Waypoints, read_only
from agora.errors import InputError
from agora.interfaces import CrowdModel, CrowdScene

if TYPE_CHECKING:
    from agora.world.world import World

_ARRIVAL = np.float32(1.0)  # s


@kernel
def _walls(x, y, maps, distance, direction, first, last):
    for w in range(first, last):
        for i in range(distance.shape[1]):
            d, nx, ny = clearance_at(maps, maps.index[w], x[w, i], y[w, i])
            distance[w, i] = d
            direction[w, i, 0] = nx
            direction[w, i, 1] = ny


class CrowdReader:
    """Calls a user-written crowd model on one generation of the worlds' state."""

    def __init__(
        self,
        model: CrowdModel,
        world: World,
        people: Pedestrians,
        robots: Robots,
        goals: Waypoints,
        sees_pedestrians: bool,
        sees_robots: bool,
        dt: float,
        out: Floats,
    ) -> None:
        shape = (world.layout.worlds, world.slots)
        self._model, self._people, self._robots, self._goals, self._world = model, people, robots, goals, world
        self._distance, self._direction = np.zeros(shape, np.float32), np.zeros((*shape, 2), np.float32)
        self._fill_walls = bind(_walls, people.x, people.y, world.maps, self._distance, self._direction)
        self._sees = (sees_pedestrians, sees_robots)
        self._dt, self._out = dt, out

    def compute(self) -> None:
        """Write the model's output to ``out`` (2, W, P).

        Raises:
            ComponentError: the model raised an exception, or its output has the wrong shape or is non-finite for an active
                pedestrian.
        """
        people, robots, traits, goals = self._people, self._robots, self._world.traits, self._goals
        self._fill_walls(0, self._world.layout.worlds)
        sees_pedestrians, sees_robots = self._sees
        scene = CrowdScene(
            position=read_only(np.stack([people.x, people.y], -1)),
            velocity=read_only(np.stack([people.vx, people.vy], -1)),
            waypoint=read_only(np.stack([goals.x, goals.y], -1)),
            radius=read_only(traits.radius),
            preferred_speed=read_only(self._speed()),
            active=read_only(people.active),
            group=read_only(traits.group),
            id=read_only(traits.id),
            heading=read_only(people.heading),
            type=read_only(self._world.minds.type),
            state=read_only(self._world.minds.state),
            wall_distance=read_only(self._distance),
            wall_direction=read_only(self._direction),
            clearance=self._clearance,
            robot_position=read_only(np.stack([robots.x, robots.y], -1)),
            robot_velocity=read_only(np.stack([robots.world_vx, robots.world_vy], -1)),
            robot_radius=read_only(self._world.robot_traits.radius),
            robot_active=read_only(robots.active & sees_robots),
            sees_pedestrians=sees_pedestrians,
            dt=self._dt,
        )
        who = f"crowd model {type(self._model).__name__}"
        with blame(who):
            given = self._model.compute(scene)
        answer = numbers(who, "an answer", given, scene.position.shape, where=people.active).astype(np.float32)
        self._out[0], self._out[1] = np.where(people.active, answer[..., 0], 0), np.where(people.active, answer[..., 1], 0)

    def _speed(self) -> Floats:
        """Return the preferred speeds (W, P), m/s. Near a last waypoint at which the pedestrian stays, they are reduced so that it
        would take at least one second to arrive.
        """
        people, goals = self._people, self._goals
        stays = (goals.mode == STAY) & (goals.index >= goals.count - 1)
        way = np.hypot(goals.x - people.x, goals.y - people.y)
        return np.where(stays, np.minimum(self._world.traits.speed, way / _ARRIVAL), self._world.traits.speed)

    def _clearance(self, points: Floats) -> tuple[Floats, Floats]:
        """Return the distances (W, K) from points (W, K, 2) to the nearest wall, m, and the unit vectors (W, K, 2) away from that
        wall.
        """
        points = np.asarray(points, np.float32)
        worlds = self._world.layout.worlds
        if points.ndim != 3 or points.shape[0] != worlds or points.shape[2] != 2:
            raise InputError(f"crowd model {type(self._model).__name__}: clearance of points {points.shape}, not ({worlds}, K, 2)")
        x, y = (np.ascontiguousarray(points[..., axis]) for axis in (0, 1))
        distance, direction = np.zeros(x.shape, np.float32), np.zeros(points.shape, np.float32)
        _walls(x, y, self._world.maps, distance, direction, 0, worlds)
        return distance, direction
