"""Planners drive robots that accelerate slowly: their dynamic window holds hardly more than the present speed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.starts import DISC

from agora.core.recording import Outcome
from agora.episode import Conditions, Episodes
from agora.maps.grid import Map
from agora.planners.presets import named_planner
from agora.robots.model import RobotModel
from agora.world.start import PedestrianStarts, RobotStart, Start

HEAVY = replace(DISC, name="heavy", radius=0.63, vx=(-0.3, 0.8), omega=0.5, ax=0.08, alpha=0.15)
CAR = RobotModel(
    name="car", kinematics="ackermann", radius=0.4, footprint=((0.37, 0.13), (-0.1, 0.13), (-0.1, -0.13), (0.37, -0.13)),
    vx=(-0.18, 0.18), omega=0.5, ax=0.1, wheelbase=0.26, max_steering=0.45,
)  # fmt: skip
FLOOR = Map.from_shapes(segments=[[-7.0, -7.0, 7.0, -7.0]], bounds=(-7.0, -7.0, 7.0, 7.0), name="floor")
STEERED = ("dwa", "dwa_tuned", "go_to_goal", "orca", "pure_pursuit", "sipp", "teb", "teb_ros")
TURNING = (*STEERED, "recovering", "trajectory_rollout", "social_force")
"""Planners that bring the heavy robot to a goal in any direction; those of `STEERED` bring the car there as well."""


@pytest.mark.parametrize(("robot", "planner"), [*((HEAVY, name) for name in TURNING), *((CAR, name) for name in STEERED)])
def test_a_robot_that_accelerates_slowly_reaches_a_goal_in_every_direction(robot, planner):
    goals = [np.array([[4.0 * np.cos(angle), 4.0 * np.sin(angle), 0.0]]) for angle in np.arange(8) * np.pi / 4.0]
    starts = [
        Start(f"slow/{k}", 5, FLOOR, (RobotStart(robot, np.zeros(3), goal),), PedestrianStarts.none(), timeout=100.0)
        for k, goal in enumerate(goals)
    ]
    outcomes = [recording.outcome for _, [recording] in Episodes(starts, named_planner(planner)[1].part, Conditions())]
    assert outcomes == [Outcome.REACHED] * 8
