"""TD3 and BC see the same and drive the same robot; TD3 gets through more cylinders than a robot that looks at nothing."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from agora.learning.run import play
from agora.planners.learned.bc import Bc
from agora.planners.learned.td3 import Td3
from agora.planners.local.go_to_goal import GoToGoal
from agora.policies.encoding import Observe
from agora.policies.policy import TrainedRobot
from agora.robots.model import load_robot
from agora.tasks.suite import load_suite


@pytest.mark.parametrize("planner", [Td3(), Bc()])
def test_its_file_names_the_robot_of_its_training_and_what_it_sees(planner):
    lidar = load_robot("jackal_rl").lidar
    assert planner.policy.body == TrainedRobot(-1.0, 2.0, 0.0, float(np.float32(3.14)), lidar.angle_min, lidar.angle_max)
    assert planner.policy.observe == Observe(90, scan_range=5.0, goal_range=10.0)
    assert planner.declares.needs == {"scan"}
    assert planner.declares.label == "small"


def test_the_robot_of_the_training_is_that_of_dynabarn_with_a_narrower_span():
    narrow, wide = load_robot("jackal_rl"), load_robot("jackal_barn")
    assert (narrow.vx, narrow.omega) == ((-1.0, 2.0), 3.14)
    same = {"name": wide.name, "vx": wide.vx, "omega": wide.omega, "source": wide.source}
    assert dataclasses.replace(narrow, **same) == wide


def test_trial_comes_farther_than_cloning_and_than_driving_blind():
    """In the first 40 of the worlds by which the policies were chosen."""
    suite = load_suite("td3_training")
    few = dataclasses.replace(suite.stage("validation"), episodes=40)
    suite = dataclasses.replace(suite, stages=tuple(few if s.name == few.name else s for s in suite.stages))
    td3, bc, blind = (play(suite, "validation", planner).reached for planner in (Td3(), Bc(), GoToGoal()))
    assert td3 > 1.5 * bc
    assert td3 > 1.5 * blind
