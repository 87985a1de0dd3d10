"""Robot setup files of Arena's, the names of robots, and settings by the names that ROS gives them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from agora.config import parse_component
from agora.errors import InputError
from agora.maps.distance import steps_to
from agora.tasks.generator import TaskGenerator
from agora.tasks.robot_setup import read_robot_setup, robot_names
from agora.tasks.settings import Settings
from agora.world.start import PedestrianStarts


def test_a_setup_file_is_one_entry_a_robot_and_honours_the_key_that_arena_ignores(tmp_path: Path) -> None:
    file = tmp_path / "robots.yaml"
    file.write_text("robots:\n- {model: jackal, planner: dwa, agent: jackal, amount: 2}\n- {model: burger, navigation: mbf}\n")
    robots = read_robot_setup(file)
    assert [(r.model, r.local_planner, r.amount, r.navigation) for r in robots] == [("jackal", "dwa", 1, None)] * 2 + [
        ("burger", "", 1, "mbf")
    ]
    file.write_text("robots:\n- model: jackal\n  amount: 0\n")
    with pytest.raises(InputError, match=r"robots.yaml:3: robots\[0\].amount: expected an integer in"):
        read_robot_setup(file)
    file.write_text("robots: []\n")
    with pytest.raises(InputError, match="expected at least one robot"):
        read_robot_setup(file)


def test_robots_are_called_after_their_models() -> None:
    assert robot_names(["jackal", "burger", "jackal"]) == ["jackal_0", "burger", "jackal_1"]


def test_a_generator_places_as_many_robots_as_it_has_models() -> None:
    for mode in ("random", "explore", "guided"):
        start = TaskGenerator(tm_robots=mode, tm_obstacles="none", robot=("burger", "jackal", "burger")).start(2)
        assert [robot.model.name for robot in start.robots] == ["burger", "jackal", "burger"]


def test_settings_by_the_names_of_parameters_give_the_settings_again() -> None:
    settings = Settings().with_parameters({"RANDOM_dynamic_models": "actor1;actor2", "timeout": 7.5})
    values = settings.parameters()
    assert values["RANDOM_dynamic_models"] == "actor1;actor2" and "GUIDED_waypoints" not in values
    assert Settings().with_parameters(values) == settings


def test_a_component_is_written_with_brackets_or_a_colon() -> None:
    assert parse_component("planners", "dwa(sim_time=0.9)") == parse_component("planners", "dwa:sim_time=0.9")
    assert parse_component("planners", " dwa ").name == "dwa"
    with pytest.raises(InputError, match="expected name"):
        parse_component("planners", "dwa(sim_time=0.9")


def test_steps_count_diagonals_once() -> None:
    blocked = np.zeros((3, 5), bool)
    assert (steps_to(blocked) == 5).all()
    blocked[0, 0] = True
    assert steps_to(blocked).tolist() == [[-1, 0, 1, 2, 3], [0, 0, 1, 2, 3], [1, 1, 1, 2, 3]]


def test_pedestrians_go_on_where_they_are_by_their_identity() -> None:
    start = TaskGenerator(seed=3).start(0).pedestrians
    moved = start.moved(np.array([start.id[1], 99]), np.array([[1.5, 2.5], [0, 0]]), np.zeros((2, 2)), np.array([0.25, 0.0]))
    assert moved.position[1].tolist() == [1.5, 2.5] and moved.heading[1] == 0.25
    assert np.array_equal(moved.position[2:], start.position[2:])
    nobody = PedestrianStarts.none().moved(np.zeros(0, np.int32), np.zeros((0, 2)), np.zeros((0, 2)), np.zeros(0))
    assert len(nobody.id) == 0
