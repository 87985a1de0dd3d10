"""Robots as models of Flatland."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest

from agora.errors import InputError
from agora.optics.lidar import Lidar
from agora.robots.flatland import disc_yaml, robot_yaml
from agora.robots.model import load_robot, robot_names


def parts(text: str):
    model = json.loads(text)
    return model["bodies"][0], {plugin["type"]: plugin for plugin in model["plugins"]}


@pytest.mark.parametrize("fork", [False, True])
@pytest.mark.parametrize("beams", [2, 7, 360, 667, 720])
def test_the_laser_has_as_many_beams_as_the_lidar_by_either_way_of_counting(fork, beams):
    lidar = Lidar(beams=beams, angle_min=-1.9, angle_max=2.1, x=0.11, y=-0.03, heading=0.2)
    _, plugins = parts(robot_yaml(replace(load_robot("jackal"), lidar=lidar), "bot", 0.1, fork=fork))
    angle = plugins["Laser"]["angle"]
    intervals = round((angle["max"] - angle["min"]) / angle["increment"])
    assert (intervals if fork else intervals + 1) == beams
    last = angle["min"] + (beams - 1) * angle["increment"]
    assert last == pytest.approx(2.1) and last <= angle["max"]
    assert plugins["Laser"]["origin"] == [0.11, -0.03, 0.2]


def test_limits_are_the_models_and_0_where_there_is_none():
    jackal = replace(load_robot("jackal"), ax=1.5, deceleration=2.5, alpha=None)
    _, plugins = parts(robot_yaml(jackal, "bot", 0.1))
    assert plugins["DiffDrive"]["linear_dynamics"] == {"acceleration_limit": 1.5, "deceleration_limit": 2.5}
    assert plugins["DiffDrive"]["angular_dynamics"] == {"acceleration_limit": 0.0, "deceleration_limit": 0.0}
    _, plugins = parts(robot_yaml(jackal, "bot", 0.1, fork=True))
    assert not {"linear_dynamics", "angular_dynamics"} & set(plugins["DiffDrive"])


def test_the_outline_is_the_footprint_or_the_disc():
    burger, square = load_robot("burger"), [(-0.2, -0.1), (0.3, -0.1), (0.3, 0.2), (-0.2, 0.2)]
    body, _ = parts(robot_yaml(replace(burger, footprint=()), "bot", 0.1))
    assert body["footprints"][0] == {"type": "circle", "radius": burger.radius, "density": 1.0}
    body, _ = parts(robot_yaml(replace(burger, radius=math.hypot(0.3, 0.2), footprint=tuple(square)), "bot", 0.1))
    assert body["footprints"][0]["points"] == [list(corner) for corner in square]


def test_topics_are_the_robots_and_a_robot_without_lidar_has_no_laser():
    _, plugins = parts(robot_yaml(replace(load_robot("jackal"), lidar=None), "my_bot", 0.1))
    assert set(plugins) == {"DiffDrive"}
    assert plugins["DiffDrive"]["twist_sub"] == "my_bot/flatland/cmd_vel"


@pytest.mark.parametrize("name", robot_names())
def test_robots_that_flatland_cannot_move_are_refused_and_the_others_are_not(name):
    model = load_robot(name)
    if model.kinematics in ("differential", "legged") and not model.vy:
        robot_yaml(model, "bot", 0.1)
    else:
        with pytest.raises(InputError, match=f"robot {name}: Flatland"):
            robot_yaml(model, "bot", 0.1)


def test_an_outline_of_too_many_corners_is_refused():
    corners = tuple((0.3 * math.cos(a), 0.3 * math.sin(a)) for a in [k * math.tau / 9 for k in range(9)])
    with pytest.raises(InputError, match="9 corners, but Box2D takes at most 8"):
        robot_yaml(replace(load_robot("burger"), radius=0.31, footprint=corners), "bot", 0.1)


def test_a_pedestrian_pushes_nothing():
    body = json.loads(disc_yaml(0.27))["bodies"][0]
    assert body["type"] == "kinematic" and not body["footprints"][0]["collision"] and body["footprints"][0]["radius"] == 0.27
