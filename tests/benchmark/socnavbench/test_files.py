"""A run's episodes in the files of SocNavBench: its names, its keys, and numbers that are those of its code."""

from __future__ import annotations

import csv
import json
import math

import numpy as np
import pytest
from tests.small_sets import played_socnavbench
from tests.suites import planners, write_world
from tests.suites import suite as small_suite

from agora.benchmark.bench import run_all
from agora.benchmark.request import Options, Request
from agora.benchmark.socnavbench.files import write_socnavbench_files
from agora.errors import InputError, ResultsError, UnknownNameError
from agora.tasks.suite import load_suite

AGENT = [
    "name",
    "start_config",
    "goal_config",
    "current_config",
    "trajectory",
    "radius",
    "collision_cooldown",
    "last_collision_t",
]
SCORES = [
    *("success", "termination_cause", "map", "total_sim_time_taken", "sim_time_budget", "wall_wait_time", "robot_speed"),
    *("robot_motion_energy", "robot_acceleration", "robot_jerk", "path_length", "path_length_ratio", "goal_traversal_ratio"),
    *("path_irregularity", "closest_pedestrian_distance", "time_to_collision", "num_recv_joystick", "num_exec_robot"),
]


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """The rows of go_to_goal in two episodes, and the folder of the files."""
    home = tmp_path_factory.mktemp("run")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AGORA_DATA", str(played_socnavbench(home / "data")))
        rows = run_all(Request(load_suite("socnavbench"), planners("go_to_goal"), home / "run", Options(workers=0)))
        places = write_socnavbench_files(home / "out", home / "run")
        assert places == [home / "out" / "test_go_to_goal" / name for name in ("t_one", "t_two")]
        with pytest.raises(ResultsError, match="t_one: already exists; choose another folder"):
            write_socnavbench_files(home / "out", home / "run")
        with pytest.raises(UnknownNameError, match="did you mean"):
            write_socnavbench_files(home / "out", home / "run", ["socnavbench/curated/2/go_to_goal"])
    return rows, places


def states(place):
    """Every state by its time, s."""
    files = (place / "sim_state_data").glob("sim_state_*.json")
    read = {float(file.stem.removeprefix("sim_state_")): json.loads(file.read_text()) for file in files}
    return dict(sorted(read.items()))


def test_states_have_what_their_reader_reads(written):
    found = states(written[1][0])
    times, first = list(found), next(iter(found.values()))
    assert times[:3] == [0.0, 0.05, 0.1] and first["sim_t"] == 0.0
    assert list(first) == [
        *("robot_on", "environment", "episode_name", "pedestrians", "robots", "delta_t", "episode_max_time", "sim_t")
    ]
    assert first["episode_name"] == "t_one" and np.shape(first["environment"]["map_traversible"]) == (24, 32)
    assert "environment" not in found[0.05] and (found[0.05]["delta_t"], found[0.05]["episode_max_time"]) == (0.05, 6.0)
    for time, state in found.items():
        robot = state["robots"]["robot_agent"]
        for one in (robot, *state["pedestrians"].values()):
            assert list(one) == AGENT and np.shape(one["trajectory"])[::2] == (1, 3)
            assert one["trajectory"][0][-1] == one["current_config"]
        assert len(robot["trajectory"][0]) == times.index(time) + 1
    assert first["robots"]["robot_agent"]["start_config"] == pytest.approx([1.0, 2.0, 0.3]), "from the map's corner"
    walker = found[1.0]["pedestrians"]["prerec_0000"]
    assert walker["current_config"][:2] == pytest.approx([3.0, 2.0], abs=1e-5) and walker["radius"] == pytest.approx(0.2)
    assert "prerec_0003" not in first["pedestrians"] and "prerec_0003" in found[0.6]["pedestrians"]


def test_scores_are_those_of_its_code(written):
    rows, places = written
    for row, place in zip(rows, places, strict=True):
        scores = json.loads((place / f"episode_score_{place.name}.json").read_text())
        assert list(scores) == SCORES
        *_, final = states(place).values()
        way = np.array(final["robots"]["robot_agent"]["trajectory"][0])
        goal = np.array(states(place)[0.0]["robots"]["robot_agent"]["goal_config"])
        steps = np.diff(way[:, :2], axis=0)
        length = np.hypot(*steps.T).sum()
        assert scores["path_length"] == pytest.approx(length, rel=1e-4)
        assert scores["path_length_ratio"] == pytest.approx((length + 1e-5) / math.dist(way[0, :2], goal[:2]), rel=1e-4)
        assert scores["robot_motion_energy"] == pytest.approx(((steps / 0.05) ** 2).sum(), rel=1e-3)
        assert scores["robot_speed"] == pytest.approx(np.hypot(*steps.T) / 0.05, abs=1e-4)
        assert np.shape(scores["robot_acceleration"]) == (len(steps) - 1, 2) and np.shape(scores["robot_jerk"])[1] == 2
        to_goal, place_of = way[-1, :2] - way[:-1, :2], way[:-1, :2]
        cosines = (to_goal * place_of).sum(1) / (np.hypot(*to_goal.T) * np.hypot(*place_of.T))
        assert scores["path_irregularity"] == pytest.approx((np.arccos(cosines).sum() + 0.5 * np.pi) / len(way), rel=1e-3)
        assert (scores["success"], scores["termination_cause"], scores["map"]) == (True, "Success", "M")
        assert scores["total_sim_time_taken"] == pytest.approx(row["duration"])
        assert scores["num_exec_robot"] == len(steps) == len(scores["time_to_collision"])
        assert len(scores["closest_pedestrian_distance"]) == len(way) and min(scores["time_to_collision"]) >= -1.0


def test_collisions_cool_down_and_the_log_counts_them(written):
    (row, _), (place, free) = written
    found = states(place)
    colder = [state["pedestrians"]["prerec_0002"]["collision_cooldown"] for state in found.values()]
    assert max(colder) == 19 and colder[0] == 0, "1 s is 20 steps, of which the one of the collision has passed"
    touched = [time for time, value in zip(found, colder, strict=True) if value == 19]
    assert found[touched[0]]["robots"]["robot_agent"]["last_collision_t"] == pytest.approx(touched[0])
    assert found[0.0]["robots"]["robot_agent"]["last_collision_t"] == 1e8
    everybody = [name for state in found.values() for name, one in state["pedestrians"].items() if one["collision_cooldown"] == 19]
    log = (place / "episode_log.txt").read_text()
    assert len(everybody) == row["collisions_pedestrian.socnavbench_code"] and "prerec_0002" in everybody
    assert f"Robot collided with {len(everybody)} agent(s)\nCollided with: {', '.join(everybody)}\n" in log
    assert "Episode name: t_one\nBuilding name: M\n" in log and "Time budget: 6.000\nTotal agents in scene: 3\n" in log
    assert "Robot collided with 0 agent(s)\nNum commands" in (free / "episode_log.txt").read_text()


def test_the_table_has_a_line_a_sample_and_a_column_for_everybody(written):
    place = written[1][0]
    with (place / "joystick_data" / "agent_data.csv").open() as file:
        header, *lines = list(csv.reader(file))
    found = states(place)
    assert header == ["", "robot_agent", "prerec_0000", "prerec_0002", "prerec_0003"] and len(lines) == len(found)
    for line, (time, state) in zip(lines, found.items(), strict=True):
        assert float(line[0]) == pytest.approx(time)
        everybody = state["robots"] | state["pedestrians"]
        assert [name for name, cell in zip(header[1:], line[1:], strict=True) if cell] == sorted(everybody, key=header.index)
        assert [float(part) for part in line[1].strip("[]").split()] == pytest.approx(
            everybody["robot_agent"]["current_config"], abs=1e-5
        )


def test_a_run_of_another_suite_is_refused(tmp_path):
    small = small_suite(write_world(tmp_path / "room"), episodes=1, timeout=1.0)
    run_all(Request(small, planners("go_to_goal"), tmp_path / "run", Options(workers=0)))
    with pytest.raises(InputError, match="is not a curated SocNavBench episode"):
        write_socnavbench_files(tmp_path / "out", tmp_path / "run")
