"""The robots in RViz: outlines, names and colours."""

from __future__ import annotations

import math

import numpy as np
import pytest
import yaml
from agora_bringup.robot_markers import markers, outline
from agora_bringup.windows import PALETTE, colour_of, configuration, filled
from agora_navigation.messages import on_map
from agora_ros.conversions import to_episode
from tests.starts import start
from visualization_msgs.msg import MarkerArray

from agora.maps.grid import Map
from agora.robots.model import load_robot
from agora.tasks.generator import TaskGenerator
from agora_msgs.msg import Episode, Robot, Robots


def test_the_outline_of_a_polygon_is_its_footprint_and_of_a_disc_a_circle_and_both_are_closed():
    f1tenth, burger = load_robot("f1tenth"), load_robot("burger")
    assert np.array_equal(outline(f1tenth)[:-1], np.array(f1tenth.footprint))
    assert np.hypot(*outline(burger).T) == pytest.approx(burger.radius)
    assert all(np.array_equal(line[0], line[-1]) for line in map(outline, (f1tenth, burger)))


def test_a_name_stands_above_the_robot_and_the_outline_moves_with_its_frame():
    model = load_robot("burger")
    line, word = markers("my robot", 1, model, (2.0, -3.0), 0.3)
    assert line.frame_locked and line.header.frame_id == f"my_robot/{model.base_frame}"
    assert word.text == "my robot" and word.pose.position.y > -3.0 + model.radius
    assert (line.color.r, line.color.g, line.color.b) == (word.color.r, word.color.g, word.color.b) == colour_of(1)


def test_robots_are_told_apart_by_colours_that_nobody_else_has():
    assert len(set(map(colour_of, range(len(PALETTE))))) == len(PALETTE)
    assert colour_of(len(PALETTE)) == colour_of(0)
    begun = Episode(number=1, robots=[Robot(name=name, model="burger") for name in ("a", "b")])
    groups = yaml.safe_load(filled(configuration("nav").read_text(), begun))["Visualization Manager"]["Displays"]
    colours = [
        {d["Color"] for d in group["Displays"] if d["Name"] in ("Goal", "Plan of the interplanner")}
        for group in groups
        if group["Class"] == "rviz/Group"
    ]
    assert colours == [{"0; 114; 178"}, {"0; 158; 115"}]


def test_markers_of_the_episodes_robots_are_published_while_somebody_shows_them(graph, launch_node):
    launch_node("agora_bringup", "robots", state_publisher=False)
    begun = to_episode(start(place=Map.open((0.0, 0.0), (20.0, 10.0))), TaskGenerator().stage.conditions(), [Robot(name="x")], 1)
    graph.publisher("task_generator_server/episode", Episode, latch=True).publish(begun)
    shown = graph.hear("robot_markers", MarkerArray)
    robots = graph.publisher("simulator/robots", Robots)
    message = Robots(name=["x", "spawned"], active=[1, 1], x=[1.5, 0.0], y=[2.5, 0.0])
    for _ in range(3):
        robots.publish(message)
        shown.wait(1)
    assert [marker.text for marker in shown[0].markers if marker.text] == ["x"]


def test_a_costmap_is_told_as_far_as_the_map_goes():
    place = Map("x", 0.1, (-3.0, 5.0), np.zeros((40, 60), np.bool_))  # x from -3 to 3, y from 5 to 9
    cost = np.arange(30 * 50, dtype=np.uint8).reshape(30, 50)
    part, origin, resolution = on_map(cost, np.array([-4.03, 8.01]), 0.1, place)
    rows, columns = part.shape
    assert origin == pytest.approx([-3.03, 8.01]) and (rows, columns) == (10, 40)
    assert np.array_equal(part, cost[:10, 10:])
    centres = origin + resolution * (0.5 + np.array([[0, 0], [columns - 1, rows - 1]]))
    assert place.contains(centres).all()
    whole, *_ = on_map(cost, np.array([30.0, 30.0]), 0.1, place)
    assert whole.shape == cost.shape and math.isclose(resolution, 0.1)
