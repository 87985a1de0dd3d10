"""TRAIL sees scans, people and its path as in training, and gets through people that a robot that looks at nothing runs into."""

from __future__ import annotations

import dataclasses

from agora.learning.run import play
from agora.planners.learned.trail import Trail
from agora.planners.local.pure_pursuit import PurePursuit
from agora.policies.encoding import Observe
from agora.policies.policy import TrainedRobot
from agora.robots.model import load_robot
from agora.tasks.suite import load_suite


def test_its_file_names_the_robot_of_its_training_and_what_it_sees():
    planner, lidar = Trail(), load_robot("drl_vo").lidar
    assert planner.policy.body == TrainedRobot(0.0, 0.5, 0.0, 2.0, lidar.angle_min, lidar.angle_max)
    assert planner.policy.observe == Observe(60, scan_range=10.0, goal_range=2.0, lookahead=2.0, pedestrians=6, scans=3)
    assert planner.declares.needs == {"scan", "pedestrians", "path"}
    assert (planner.declares.label, planner.declares.top_speed, planner.declares.period) == ("small", 0.5, 0.1)


def test_it_gets_through_people_whom_a_robot_that_looks_at_nothing_meets():
    """In the first 80 halls with 14 people; over all 200 it reaches .62, and a robot that follows its path alone .44."""
    suite = load_suite("drl_vo")
    few = dataclasses.replace(suite.stage("hall_14"), episodes=80)
    suite = dataclasses.replace(suite, stages=(few,))
    ours, blind = (play(suite, few.name, planner).reached for planner in (Trail(), PurePursuit()))
    assert ours > blind + 8
