"""Robots as parameters of Move Base Flex: what costmap_2d, DWA and TEB would do with them."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest
import yaml

from agora.errors import InputError, UnknownNameError
from agora.robots.mbf import CONTROLLERS, PEOPLE, mbf_parameters
from agora.robots.model import load_robot, robot_names

DRIVEN = [name for name in robot_names() if load_robot(name).kinematics != "ackermann"]


def parameters(name="jackal", robot="bot", controller="dwa", people="cloud", **changes):
    return mbf_parameters(replace(load_robot(name), **changes), robot, controller, people)


def layers(costmap):
    return [(plugin["name"], plugin["type"]) for plugin in costmap["plugins"]]


@pytest.mark.parametrize("controller", CONTROLLERS)
@pytest.mark.parametrize("name", DRIVEN)
def test_no_controller_may_do_what_the_robot_cannot(name, controller):
    model, limits = load_robot(name), parameters(name, controller=controller)[controller]
    assert 0.0 < limits["max_vel_x"] <= min(model.vx[1], 1.0)
    assert limits["max_vel_y"] <= model.vy and 0.0 < limits["max_vel_theta"] <= model.omega
    assert limits["max_vel_x"] <= limits["max_vel_trans"] and limits["max_vel_y"] <= limits["max_vel_trans"]
    assert limits["acc_lim_x"] <= (model.ax or math.inf) and limits["acc_lim_theta"] <= (model.alpha or math.inf)
    if controller == "dwa":
        assert model.vx[0] <= limits["min_vel_x"] <= 0.0 <= limits["min_vel_trans"] < limits["max_vel_trans"]
        assert limits["min_vel_theta"] <= limits["max_vel_theta"]
        assert (limits["vy_samples"] > 1) == (model.vy > 0.0) == (limits["acc_lim_y"] > 0.0)
    elif model.vx[0] < 0.0:
        assert limits["max_vel_x_backwards"] <= -model.vx[0] and limits["weight_kinematics_forward_drive"] == 1.0
    else:  # TEB refuses 0: a robot without reverse has it made expensive, as TEB's own warning asks for
        assert limits["max_vel_x_backwards"] > 0.0 and limits["weight_kinematics_forward_drive"] == 1000.0


@pytest.mark.parametrize("people", PEOPLE)
@pytest.mark.parametrize("controller", CONTROLLERS)
@pytest.mark.parametrize("name", DRIVEN)
def test_roslaunch_reads_back_what_was_written(name, controller, people):
    given = parameters(name, controller=controller, people=people)
    assert yaml.safe_load(json.dumps(given)) == given


def test_frames_are_those_of_the_ros_graph():
    given = parameters("burger", "my_bot", "teb")
    assert (given["robot_frame"], given["map_frame"], given["odom_topic"]) == ("my_bot/base_footprint", "map", "odom")
    assert {given[f"{which}_costmap"]["robot_base_frame"] for which in ("global", "local")} == {"my_bot/base_footprint"}
    assert (given["global_costmap"]["global_frame"], given["local_costmap"]["global_frame"]) == ("map", "my_bot/odom")
    assert given["teb"]["map_frame"] == "my_bot/odom", "that of the costmap it plans in"
    assert given["controllers"] == [{"name": "teb", "type": "teb_local_planner/TebLocalPlannerROS"}]


def test_the_outline_is_the_footprint_or_the_disc():
    corners = ((-0.2, -0.1), (0.3, -0.1), (0.3, 0.2), (-0.2, 0.2))
    box = parameters(controller="teb", footprint=corners, radius=math.hypot(0.3, 0.2))
    disc = parameters(controller="teb", footprint=(), radius=0.31)
    for which in ("global_costmap", "local_costmap"):
        assert box[which]["footprint"] == [list(corner) for corner in corners] and "robot_radius" not in box[which]
        assert disc[which]["robot_radius"] == 0.31 and "footprint" not in disc[which]
        assert disc[which]["inflation"]["inflation_radius"] == pytest.approx(0.61)
    assert box["teb"]["footprint_model"] == {"type": "polygon", "vertices": [list(corner) for corner in corners]}
    assert disc["teb"]["footprint_model"] == {"type": "circular", "radius": 0.31}


def test_everything_that_marks_is_inflated_and_the_map_comes_first():
    for people in PEOPLE:
        given = parameters(people=people)
        assert layers(given["global_costmap"])[0] == ("static", "costmap_2d::StaticLayer")
        for which in ("global_costmap", "local_costmap"):
            assert layers(given[which])[-1] == ("inflation", "costmap_2d::InflationLayer")


def test_a_cloud_of_people_marks_around_the_robot_and_no_farther_than_the_scan_clears():
    given = parameters("burger", "my_bot")
    for which in ("global_costmap", "local_costmap"):
        layer = given[which]["obstacles"]
        assert layer["observation_sources"].split() == ["scan", "people"]
        scan, people = layer["scan"], layer["people"]
        assert (scan["topic"], scan["marking"], scan["clearing"]) == ("scan", True, True)
        assert (people["topic"], people["marking"], people["clearing"]) == ("people_cloud", True, False)
        assert people["sensor_frame"] == "my_bot/base_footprint", (
            "costmap_2d counts the range from here, else from the map's origin"
        )
        assert people["obstacle_range"] <= scan["raytrace_range"] == load_robot("burger").lidar.range_max


def test_a_grid_of_people_adds_to_the_map_and_takes_nothing_from_it():
    world, local = (parameters(people="grid")[f"{which}_costmap"] for which in ("global", "local"))
    assert ("people", "costmap_2d::StaticLayer") in layers(world)
    assert world["people"]["use_maximum"] is True and world["people"]["map_topic"] == "people_grid"
    assert world["obstacles"]["observation_sources"] == "scan"
    assert len(layers(local)) == 2, "a static layer is of the map's frame; nearby the scan sees people"
    assert "people" not in str(parameters(people="none"))


def test_what_is_not_there_is_refused_with_what_is():
    with pytest.raises(InputError, match="robot f1tenth has car-like steering"):
        parameters("f1tenth")
    with pytest.raises(UnknownNameError, match="did you mean 'teb'"):
        parameters(controller="tep")
    with pytest.raises(UnknownNameError, match="did you mean 'cloud'"):
        parameters(people="clod")
