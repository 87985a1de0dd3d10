"""Nobody waits for a waypoint on which somebody else stands."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from tests.engines import engine as engine_at
from tests.starts import people, plane, start

from agora.pedestrians.anticipation import Anticipation

DT = 0.05


def walked(robot=(3.1, 1.0, 0.4), command=0.0, standing=(11.0, 8.0), seconds=20.0, **more):
    """Return the places of the first pedestrian, (N, 2), on the way from (-2, 1) by (3, 1) to (3, 5)."""
    ways = np.array([[(3.0, 1.0), (3.0, 5.0)], [standing, standing]])
    crowd = people([(-2.0, 1.0), standing], [ways[0, -1], standing], speed=np.array([1.2, 0.01]))
    crowd = replace(crowd, waypoints=ways, waypoint_count=np.array([2, 1]), tolerance=np.array([0.3, 0.3]))
    one = start(pose=robot, goal=(90.0, 90.0, 0.0), crowd=crowd, place=plane(), timeout=600.0)
    crowd_model = {"crowd": Anticipation(), "careful": True, "ends": 0} | more
    engine = engine_at([one], DT, **crowd_model)
    path = []
    for _ in range(round(seconds / DT)):
        engine.step(np.array([[[command, 0.0, 0.0]]], np.float32))
        path.append((engine.world.pedestrians.x[0, 0], engine.world.pedestrians.y[0, 0]))
    return np.array(path)


def nearest(path, x, y):
    return np.hypot(path[:, 0] - x, path[:, 1] - y).min()


def test_a_robot_on_a_waypoint_is_passed():
    path = walked()
    assert nearest(path, 3.1, 1.0) > 0.55  # a pedestrian of 0.3 m and a robot of 0.25 m do not touch
    assert nearest(path, 3.0, 1.0) > 0.3  # which is the tolerance: the waypoint itself was not reached
    assert nearest(path, 3.0, 5.0) < 0.3


def test_a_pedestrian_on_a_waypoint_is_passed():
    path = walked(robot=(-6.0, 8.0, 0.0), standing=(3.0, 1.0), seconds=12.0)
    assert nearest(path, 3.0, 1.0) > 0.3
    assert nearest(path, 3.0, 5.0) < 0.3


def test_as_published_it_is_waited_for():
    assert nearest(walked(careful=False), 3.0, 5.0) > 2.0


def test_a_robot_that_nobody_sees_takes_nothing():
    assert nearest(walked(sees_robots=False), 3.0, 1.0) < 0.3


def test_who_stands_beside_the_waypoint_does_not_take_it():
    path = walked(robot=(3.1, 0.2, 0.0))
    assert nearest(path, 3.0, 1.0) <= 0.3
    assert nearest(path, 3.0, 5.0) < 0.3


def test_who_drives_over_it_does_not_take_it():
    path = walked(robot=(-0.5, 1.4, -0.1), command=0.9, seconds=40.0)
    assert nearest(path, 3.0, 1.0) <= 0.3
