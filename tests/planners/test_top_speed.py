"""Robots drive as the robot can, whatever plans for them."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from agora.core.recording import Recording
from agora.episode import Conditions, Episodes
from agora.maps.grid import Map
from agora.optics.lidar import Lidar
from agora.planners.presets import named_planner
from agora.registry import ready
from agora.robots.model import RobotModel, load_robot, robot_names
from agora.world.start import PedestrianStarts, RobotStart, Start

PLACE = Map.open((-7.3, -4.1), (40.0, 30.0))
HEADING = 0.3
LEARNED = {
    "ag_rl",
    "all_in_one",
    "applr",
    "bc",
    "ds_rnn",
    "ga3c_cadrl",
    "iplanner",
    "learned_dwa",
    "lflh",
    "policy",
    "rlca",
    "rosnav_rl",
    "td3",
    "trail",
}
"""Planners that have learned how fast to drive."""
PLANNERS = sorted(set(ready("planners")) - LEARNED)


def sighted(name: str) -> RobotModel:
    """A robot with the lidar that all have here: some planners drive by that alone, and robots of a batch have the same sensors."""
    return replace(load_robot(name), lidar=Lidar(beams=90, range_max=12.0))


def start(model: RobotModel, way: float, timeout: float, turn: float = 0.0, **more: float) -> Start:
    goal = np.array([way * math.cos(HEADING), way * math.sin(HEADING), HEADING + turn])
    robot = RobotStart(model, np.array([0.0, 0.0, HEADING]), goal[None])
    given = {"timeout": timeout, "goal_tolerance": 0.3} | more
    return Start(f"ahead/{model.name}/0", 5, PLACE, (robot,), PedestrianStarts.none(), **given)


def driven(planner: str, starts: list[Start]) -> list[Recording]:
    found = dict(Episodes(starts, named_planner(planner)[1].part, Conditions()))
    return [found[k][0] for k in range(len(starts))]


def fastest(recording: Recording) -> float:
    return float(np.hypot(recording.twist[:, 0], recording.twist[:, 1]).max())


@pytest.mark.parametrize("planner", PLANNERS)
def test_every_planner_drives_every_robot_as_fast_as_it_can(planner):
    models = [sighted(name) for name in robot_names()]
    for model, recording in zip(models, driven(planner, [start(m, 25.0, 4.0) for m in models]), strict=True):
        assert fastest(recording) == pytest.approx(model.vx[1], rel=0.02), model.name


@pytest.mark.parametrize(
    ("preset", "speed"),
    [
        *(("dwa_ros", 0.55), ("teb_ros", 0.4), ("trajectory_rollout_ros", 0.55)),
        *(("social_force_socnavbench", 1.2), ("sampling_socnavbench", 1.2), ("dragon_barn", 0.55)),
        ("brne_ros", 0.6),
    ],
)
def test_a_preset_holds_a_fast_robot_to_the_published_speed(preset, speed):
    (recording,) = driven(preset, [start(load_robot("jackal"), 12.0, 5.0)])
    assert 0.95 * speed <= fastest(recording) <= 1.01 * speed


@pytest.mark.parametrize("planner", ["dwa", "teb", "trajectory_rollout", "orca", "pure_pursuit"])
def test_a_fast_robot_stops_at_its_goal_and_before_it_is_past(planner):
    (recording,) = driven(planner, [start(load_robot("jackal"), 9.0, 20.0, goal_tolerance=0.05, heading_tolerance=0.0)])
    along = recording.pose[:, :2] @ (math.cos(HEADING), math.sin(HEADING))
    assert along.max() < 9.0 + 0.3 and fastest(recording) > 1.9
    assert abs(recording.twist[-1, 0]) < 0.1


@pytest.mark.parametrize("planner", PLANNERS)
def test_every_planner_ends_at_the_heading_that_the_task_asks_for(planner):
    turns = {"burger": -1.3, "jackal": 2.6, "pioneer3dx": -1.3, "ridgeback": 2.6, "go1": -1.3}
    asked = {"goal_tolerance": 0.6, "heading_tolerance": 0.4}
    starts = [start(sighted(name), 2.0, 30.0, turn, **asked) for name, turn in turns.items()]
    for recording in driven(planner, starts):
        assert recording.outcome.label == "reached" and recording.clipped == 0
        assert abs(math.remainder(recording.pose[-1, 2] - recording.goal[2], math.tau)) <= 0.4


def test_where_any_heading_will_do_nobody_turns():
    wide = {"goal_tolerance": 0.6, "heading_tolerance": math.pi}
    one, other = driven("orca", [start(load_robot("jackal"), 4.0, 20.0, turn, **wide) for turn in (0.0, 2.6)])
    assert (one.pose == other.pose).all()


def test_a_car_keeps_the_heading_that_it_comes_with_unless_its_planner_plans_poses():
    asked = [start(load_robot("f1tenth"), 4.0, 15.0, 2.6, goal_tolerance=0.6, heading_tolerance=0.5)]
    assert [driven(planner, asked)[0].outcome.label for planner in ("orca", "teb")] == ["timeout", "reached"]
