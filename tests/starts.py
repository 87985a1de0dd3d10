"""Starts for tests: crooked places, few lines."""

from __future__ import annotations

import numpy as np

from agora.maps.grid import Map
from agora.robots.model import RobotModel
from agora.world.start import PedestrianStarts, RobotStart, Start

DISC = RobotModel(name="disc", kinematics="differential", radius=0.25, vx=(-0.5, 1.0), omega=2.0)


def plane(width: float = 20.0, height: float = 14.0) -> Map:
    return Map.open((-7.3, -4.1), (-7.3 + width, -4.1 + height))


def people(places, waypoints, speed=1.0, radius=0.3, mode=2, first_id=11) -> PedestrianStarts:
    places = np.asarray(places, float).reshape(-1, 2)
    n = len(places)
    route = np.asarray(waypoints, float).reshape(n, -1, 2)
    return PedestrianStarts(
        position=places,
        speed=np.full(n, speed),
        radius=np.full(n, radius),
        group=np.full(n, -1, np.int32),
        id=np.arange(first_id, first_id + n, dtype=np.int32),
        waypoints=route,
        waypoint_count=np.full(n, route.shape[1], np.int32),
        mode=np.full(n, mode, np.int32),
        tolerance=np.full(n, 0.3),
        velocity=np.zeros((n, 2)),
    )


def start(
    pose=(0.0, 0.0, 0.3),
    goal=(4.0, 3.0, 0.0),
    crowd: PedestrianStarts | None = None,
    place: Map | None = None,
    model: RobotModel = DISC,
    entry: str = "test/stage/0",
    **more,
) -> Start:
    goals = np.asarray(goal, float).reshape(-1, 3)
    robots = (RobotStart(model, np.asarray(pose, float), goals),)
    given = {"timeout": 20.0, "goal_tolerance": 0.3} | more
    return Start(entry, 5, place or plane(), robots, crowd or PedestrianStarts.none(), **given)
