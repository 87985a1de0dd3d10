"""Nobody waits for a waypoint on which somebody else stands, or from which walls keep people off."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.engines import engine as engine_at
from tests.starts import people, plane, start

from agora.core.state import LEAVE, STAY
from agora.maps.grid import Map
from agora.pedestrians.models.anticipation import Anticipation
from agora.pedestrians.models.deep_social_force import DeepSocialForce
from agora.registry import available, make

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


IN_A_CORNER = Map.from_shapes(polygons=[[(5, -4), (9, -4), (9, 3), (5, 3)], [(-4, 3), (9, 3), (9, 4), (-4, 4)]], resolution=0.05)
IN_A_BAY = Map.from_shapes(segments=[(5, 1.5, 5, 2.5), (4, 1.5, 5, 1.5), (4, 2.5, 5, 2.5), (-4, 5, 9, 5)], resolution=0.05)


def sent(model, place, waypoint, mode=STAY, seconds=20.0):
    """Return the places of a pedestrian, (N, 2), sent to a waypoint beside walls and back, and whether it is there at the end."""
    crowd = people([(2.0, 1.5)], [[waypoint, (2.0, 2.5)][: 1 if mode == LEAVE else 2]], speed=1.2, mode=mode)
    crowd = replace(crowd, tolerance=np.array([0.5]))
    one = start(pose=(-3.0, -2.0, 0.0), goal=(90.0, 90.0, 0.0), crowd=crowd, place=place, timeout=600.0)
    engine = engine_at([one], DT, crowd=model, careful=True, ends=0)
    path = []
    for _ in range(round(seconds / DT)):
        engine.step()
        path.append((engine.world.pedestrians.x[0, 0], engine.world.pedestrians.y[0, 0]))
    return np.array(path), bool(engine.world.pedestrians.active[0, 0])


@pytest.mark.parametrize("name", sorted(set(available("crowd_models")) - {"spinny"}))  # which turns about as it likes
def test_nobody_waits_for_ever_for_a_waypoint_in_a_corner_of_walls(name):
    path, _ = sent(make("crowd_models", name), IN_A_CORNER, (4.98, 2.98))
    assert nearest(path, 4.98, 2.98) < 0.8  # in the corner
    assert nearest(path, 2.0, 2.5) < 0.5  # and on to the next one


def test_nobody_waits_for_ever_for_an_exit_from_which_walls_keep_people_off():
    path, is_there = sent(DeepSocialForce(), IN_A_BAY, (4.98, 2.0), LEAVE)
    assert 0.6 < nearest(path, 4.98, 2.0) < 1.5  # the forces of the bay's walls add up to more than its own
    assert not is_there


def test_a_pedestrian_that_stops_beside_a_waypoint_in_the_open_does_not_pass_it():
    path = walked(robot=(2.4, 1.9, 0.0), standing=(2.2, 0.2))
    assert nearest(path, 3.0, 1.0) <= 0.3
