"""Robots as data."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import replace

import numpy as np
import pytest

from agora.core.state import ACKERMANN, LEGGED, robot_traits
from agora.costmap.window import inscribed_radius
from agora.errors import InputError, UnknownNameError
from agora.robots.body import body
from agora.robots.model import RobotModel, load_robot, radius_inside, robot_names

ARENA = {  # arena-rosnav's table: radius, vx, vy, omega, beams, field of view in degrees, range
    "burger": (0.113, 0.22, 0.0, 2.84, 360, 360, 3.5),
    "waffle": (0.208, 0.26, 0.0, 1.82, 360, 360, 3.5),
    "jackal": (0.267, 2.0, 0.0, 4.0, 720, 270, 30.0),
    "dingo": (0.378, 1.3, 0.0, 2.356, 720, 270, 30.0),
    "tiago": (0.27, 1.5, 0.0, 2.0, 666, 220, 25.0),
    "agvota": (0.629, 0.5, 0.0, 0.4, 720, 180, 30.0),
    "laikago": (0.629, 0.5, 0.0, 0.4, 720, 180, 30.0),
    "go1": (0.347, 0.8, 0.8, 1.2, 512, 180, 5.6),
    "buddy": (0.347, 0.8, 0.8, 1.2, 1800, 360, 80.0),
    "youbot": (0.347, 0.8, 0.8, 1.2, 512, 180, 5.6),
    "ridgeback": (0.625, 1.1, 0.5, 2.0, 720, 270, 10.0),
    "cob4": (0.36, 1.1, 0.2, 0.8, 720, 360, 29.5),
    "rto": (0.225, 2.78, 2.78, 1.0, 552, 275, 50.0),
    "rto_lab": (0.225, 2.78, 2.78, 1.0, 683, 240, 5.6),
}
SQUARE = ((0.2, 0.2), (-0.2, 0.2), (-0.2, -0.2), (0.2, -0.2))


def car(**changes):
    values = {"name": "car", "kinematics": "ackermann", "radius": 0.5, "vx": (0.0, 2.0), "omega": 1.0}
    return RobotModel(**(values | {"wheelbase": 0.7, "max_steering": 0.5} | changes))


def disc(**changes):
    return RobotModel(**({"name": "disc", "kinematics": "differential", "radius": 0.3, "vx": (-0.5, 1.0), "omega": 2.0} | changes))


def test_every_robot_that_ships_loads_under_its_own_name_and_says_where_its_numbers_come_from():
    names = robot_names()
    assert set(ARENA) | {"pioneer3dx", "crowdnav", "jackal_barn", "f1tenth"} <= set(names)
    for name in names:
        robot = load_robot(name)
        assert robot.name == name
        assert len(robot.source) > 20


@pytest.mark.parametrize("name", ARENA)
def test_arena_robots_have_exactly_the_numbers_of_arena(name):
    radius, vx, vy, omega, beams, view, reach = ARENA[name]
    robot = load_robot(name)
    assert (robot.radius, robot.vx, robot.vy, robot.omega) == (radius, (-vx, vx), vy, omega)
    assert (robot.lidar.beams, robot.lidar.range_max, robot.lidar.rate) == (beams, reach, 10.0)
    assert robot.lidar.angle_max == pytest.approx(math.radians(view) / 2, abs=1e-5)
    assert robot.lidar.angle_min == pytest.approx(-math.radians(view) / 2, abs=1e-5)


def test_the_pioneer_of_socnavbench_has_no_limits_of_acceleration():
    limits = load_robot("pioneer3dx").limits(2)
    assert limits.max_ax.min() >= 1e5
    assert (limits.min_vx[0], limits.max_vx[1], limits.max_omega[0]) == (0.0, np.float32(1.2), np.float32(1.1))


def test_an_unknown_robot_is_answered_with_the_nearest_name():
    with pytest.raises(UnknownNameError, match="did you mean 'jackal'"):
        load_robot("jakcal")


def test_a_robot_is_read_from_a_file_too_and_a_wrong_key_is_named_with_its_line(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text("name: mine\nkinematics: differential\nradius: 0.3\nvx: [0, 1]\nomega: 1\n")
    assert load_robot(path).name == "mine"
    path.write_text("name: mine\nkinematics: differential\nradius: 0.3\nvx: [0, 1]\nomgea: 1\n")
    with pytest.raises(InputError, match=r"mine\.yaml:5: omgea: unknown key; did you mean 'omega'"):
        load_robot(str(path))


def test_the_record_gets_the_robot_in_the_chosen_worlds_and_slot_only():
    traits = robot_traits(3, 2, corners=5)
    before = [field.copy() for field in traits]
    f1tenth = load_robot("f1tenth")
    f1tenth.fill(traits, np.array([0, 2]), 1)
    assert (traits.kinematics[[0, 2], 1] == ACKERMANN).all()
    assert traits.vertices[2, 1] == 4
    np.testing.assert_array_equal(traits.footprint_x[0, 1, :4], np.float32([0.455, -0.125, -0.125, 0.455]))
    assert traits.max_deceleration[0, 1] == traits.max_ax[0, 1] == np.float32(9.51)
    assert traits.max_steering_rate[0, 1] == np.float32(3.2)
    for field, old in zip(traits, before, strict=True):
        np.testing.assert_array_equal(field[1], old[1])
        np.testing.assert_array_equal(field[:, 0], old[:, 0])


def test_a_slot_that_held_a_polygon_holds_a_disc_after_a_disc_is_filled_in():
    traits = robot_traits(1, 1, corners=4)
    load_robot("jackal_barn").fill(traits, slice(None), 0)
    load_robot("go1").fill(traits, slice(None), 0)
    assert traits.vertices[0, 0] == 0
    assert not traits.footprint_x.any() and not traits.footprint_y.any()
    assert traits.kinematics[0, 0] == LEGGED


def test_a_record_without_room_for_the_corners_is_refused():
    with pytest.raises(InputError, match="4 corners, but the record has room for 1"):
        load_robot("jackal_barn").fill(robot_traits(1, 1), 0, 0)


def test_the_smallest_curve_is_that_of_the_bicycle_model_and_others_turn_in_place():
    assert car().limits(3).turning_radius == pytest.approx(0.7 / math.tan(0.5))
    assert disc().limits(1).turning_radius[0] == 0.0


def test_only_robots_that_move_sideways_are_told_that_they_can():
    assert load_robot("go1").limits(1).holonomic[0]
    assert not load_robot("laikago").limits(1).holonomic[0]
    assert not load_robot("jackal").limits(1).holonomic[0]


@pytest.mark.parametrize(
    ("make", "changes", "message"),
    [
        (disc, {"kinematics": "hover"}, "^kinematics: expected one of"),
        (disc, {"vx": (0.1, 1.0)}, "^vx must be"),
        (disc, {"radius": 0.0}, r"^radius: expected a number in \(0, 100\], got 0.0"),
        (disc, {"omega": -1.0}, r"^omega: expected a number in \[0, 100\], got -1.0"),
        (disc, {"vy": 0.1}, "^vy must be 0"),
        (disc, {"ax": -1.0}, r"^ax: expected a number in \(0, 10000\] or nothing, got -1.0"),
        (disc, {"wheelbase": 0.5}, "^wheelbase and steering"),
        (disc, {"footprint": SQUARE[::-1]}, "^footprint must be a convex"),
        (disc, {"footprint": ((0.1, 0.0), (-0.1, 0.0))}, "^footprint must be a convex"),
        (disc, {"footprint": ((0.2, 0.0), (0.0, 0.05), (-0.2, 0.2), (-0.1, 0.0), (-0.2, -0.2))}, "^footprint must be a convex"),
        (disc, {"footprint": SQUARE, "radius": 0.25}, "^radius must enclose the footprint: expected at least 0.283"),
        (car, {"wheelbase": None}, "^kinematics ackermann needs"),
        (car, {"max_steering": 1.6}, "^max_steering must be below"),
    ],
)
def test_what_no_robot_can_be_is_refused_and_the_field_is_named_first(make, changes, message):
    with pytest.raises(ValueError, match=message):
        make(**changes)


def test_a_star_that_winds_around_twice_is_no_convex_footprint():
    angles = 2 * math.pi * np.arange(5) * 2 / 5
    star = tuple((0.2 * math.cos(a), 0.2 * math.sin(a)) for a in angles)
    with pytest.raises(ValueError, match="convex"):
        disc(footprint=star)


def test_models_are_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        disc().radius = 1.0


def test_legs_step_and_wheels_do_not():
    assert (load_robot("go1").step, load_robot("go1").span, load_robot("jackal").step) == (0.1, 0.1, 0.0)
    for key in ("step", "span"):
        with pytest.raises(ValueError, match=f"{key} must be 0 unless kinematics is legged, got kinematics differential"):
            replace(load_robot("jackal"), **{key: 0.1})


@pytest.mark.parametrize("turn", [1, -1])
@pytest.mark.parametrize(
    ("shift", "radius"),
    [((0.0, 0.0), 0.2), ((0.05, -0.1), 0.1), ((0.2, 0.0), 0.0), ((0.5, 0.1), 0.0), ((-0.3, 0.3), 0.0)],
)
def test_the_disc_inside_an_outline_is_about_the_base_and_there_is_none_if_the_base_is_outside(shift, radius, turn):
    corners = (np.array(SQUARE) + shift)[::turn]
    assert radius_inside(tuple(map(tuple, corners))) == pytest.approx(radius, abs=1e-12)
    np.testing.assert_allclose(inscribed_radius(np.stack([corners, corners])), radius, atol=1e-12)


@pytest.mark.parametrize("kinematics", ["differential", "holonomic", "legged", "ackermann"])
def test_a_robot_whose_base_is_outside_its_outline_has_a_body(kinematics):
    ahead = ((0.9, 0.2), (0.4, 0.2), (0.4, -0.2), (0.9, -0.2))
    make = car if kinematics == "ackermann" else disc
    robot = make(radius=0.95, footprint=ahead, kinematics=kinematics)
    assert robot.inscribed_radius == 0.0
    built = body(robot)
    assert built.mass > 1.0 and all(min(part.size) > 0.0 for part in built.parts)
