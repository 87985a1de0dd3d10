"""The promises of Move Base Flex's exe_path and get_path, kept by planners of the library."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest

from agora.core.recording import Reason
from agora.interfaces import Answer, Declaration
from agora.maps.grid import Map
from agora.node_logic.move_base_flex import Execution, ExePath, FlexError, GetPath, Terms, path_to
from agora.node_logic.navigator import Navigator
from agora.planners.presets import named_planner
from agora.registry import Named
from agora.robots.model import load_robot

YARD = Map.from_shapes(
    polygons=[[[2.0, 1.0], [5.5, 1.0], [5.5, 1.6], [2.0, 1.6]]], bounds=(-7.3, -4.1, 12.7, 9.9), resolution=0.1, name="yard"
)
ROBOT = load_robot("burger")
USUAL = Terms()
BEGIN, GOAL = (0.4, -0.3, 0.7), (3.0, -2.0, -1.1)


@dataclass(frozen=True)
class Does:
    """Says the same at every step: a speed, a reason, or that it has failed."""

    speed: float = 0.0
    reason: Reason = Reason.NONE
    fails: bool = False
    declares: ClassVar[Declaration] = Declaration(needs=("path",), notes=("reason",))

    def act(self, observation, memory):
        if self.fails:
            raise ValueError("no solution")
        count = len(observation.pose)
        twists = np.tile(np.array([self.speed, 0.0, 0.0], np.float32), (count, 1))
        return Answer(twists, notes={"reason": np.full(count, self.reason, np.int8)})


class Drive:
    """A robot that does what an execution tells it."""

    def __init__(self, planner, terms=USUAL, pose=BEGIN):
        self.nav = Navigator.on_map(YARD, [ROBOT], planner, names=["r2"], patience=0.5)
        self.execution = Execution(self.nav, terms)
        self.pose, self.time, self.obeys = np.array(pose), 20.0, True
        self.execution.begin(self.time)

    def follow(self, path=((1.5, -1.0, 0.0), GOAL), tolerances=None):
        self.execution.follow(np.array(path, float).reshape(-1, 3), self.pose, tolerances)
        return self

    def step(self):
        self.nav.see_robot(0, self.pose, (0.0, 0.0, 0.0), self.time)
        if self.nav.beams(0):
            self.nav.see_scan(0, np.full(self.nav.beams(0), 3.0), self.time)
        driven = self.execution.step(self.time)
        vx, _, omega = driven.twist * self.obeys
        self.pose = self.pose + 0.1 * np.array([vx * math.cos(self.pose[2]), vx * math.sin(self.pose[2]), omega])
        self.time += 0.1
        return driven

    def end(self, most=700):
        for _ in range(most):
            if (driven := self.step()).over:
                return driven
        raise AssertionError(f"not over after {most} steps")


def test_a_path_is_followed_to_its_end_and_another_on_the_way_moves_the_end_without_a_stop():
    drive = Drive(named_planner("pure_pursuit")[1].part).follow()
    steps = [drive.step() for _ in range(25)]
    assert {step.outcome for step in steps} == {ExePath.SUCCESS} and not any(step.over for step in steps)
    assert steps[-1].twist[0] > 0.1
    drive.follow([(1.5, -1.0, 0.0), (4.0, -3.0, 0.3)])
    assert drive.step().twist[0] > 0.1, "it goes on"
    last = drive.end()
    assert (last.outcome, last.twist.tolist()) == (ExePath.SUCCESS, [0.0, 0.0, 0.0])
    assert math.dist(drive.pose[:2], (4.0, -3.0)) <= 0.2 and abs(drive.pose[2] - 0.3) <= 0.3


def test_the_tolerances_of_a_goal_are_its_own_and_count_for_the_planner_too():
    fine = Drive(named_planner("pure_pursuit")[1].part).follow(tolerances=(0.05, math.pi))
    assert fine.end().outcome == ExePath.SUCCESS
    assert math.dist(fine.pose[:2], GOAL[:2]) <= 0.05
    coarse = Drive(named_planner("pure_pursuit")[1].part).follow(tolerances=(1.0, math.pi))
    coarse.end()
    assert 0.9 < math.dist(coarse.pose[:2], GOAL[:2]) <= 1.0
    coarse.execution.begin(coarse.time)
    coarse.follow([(1.5, -1.0, 0.0), GOAL]).end()
    assert math.dist(coarse.pose[:2], GOAL[:2]) <= 0.2, "the next goal has the usual ones"


def test_a_path_of_one_pose_leads_there_from_where_the_robot_is():
    drive = Drive(named_planner("pure_pursuit")[1].part).follow([GOAL])
    assert drive.end().outcome == ExePath.SUCCESS
    assert math.dist(drive.pose[:2], GOAL[:2]) <= 0.2


@pytest.mark.parametrize(
    ("path", "outcome", "words"),
    [
        ([], ExePath.INVALID_PATH, "the path is empty"),
        ([(0.5, 0.0, 0.0), (math.nan, 0.0, 0.0)], ExePath.INVALID_PATH, "non-finite"),
        ([(0.5, 0.0, 0.0), (2.0, 9.95, 0.0)], ExePath.OUT_OF_MAP, r"outside the map, at \(2\.00, 9\.95\)"),
    ],
)
def test_a_path_that_cannot_be_followed_is_refused_with_its_outcome(path, outcome, words):
    with pytest.raises(FlexError, match=words) as refused:
        Drive(Does()).follow(path)
    assert refused.value.outcome == outcome


@pytest.mark.parametrize(
    ("planner", "outcome", "words"),
    [
        (Does(fails=True), ExePath.NO_VALID_CMD, "no solution"),
        (Does(reason=Reason.BLOCKED), ExePath.BLOCKED_PATH, "blocked"),
        (Does(reason=Reason.START_IN_CONTACT), ExePath.COLLISION, "start in contact"),
        (Does(reason=Reason.NOT_CONVERGED), ExePath.NO_VALID_CMD, "not converged"),
    ],
)
def test_a_robot_that_stands_for_an_error_says_which_until_patience_or_retries_end(planner, outcome, words):
    drive = Drive(planner, Terms(controller_patience=1.0)).follow()
    first = drive.step()
    assert (first.outcome, first.over) == (outcome, False) and words in first.message
    last = drive.end()
    assert last.outcome == ExePath.PAT_EXCEEDED and words in last.message
    assert 0.99 < drive.time - 0.1 - 20.0 < 1.11, "the first step after a second"
    retried = Drive(planner, Terms(controller_max_retries=2)).follow()
    assert [(step.outcome, step.over) for step in (retried.step(), retried.step(), retried.step())] == [
        (outcome, False), (outcome, False), (outcome, True),
    ]  # fmt: skip


def test_a_robot_that_moves_or_waits_for_a_reason_that_is_none_of_its_planners_has_a_valid_command():
    for planner in (Does(0.1, Reason.BLOCKED), Does(0.0, Reason.WAITING), Does()):
        drive = Drive(planner, Terms(controller_patience=0.5)).follow()
        steps = [drive.step() for _ in range(12)]
        assert {(step.outcome, step.over) for step in steps} == {(ExePath.SUCCESS, False)}
    assert Drive(Does(0.0, Reason.WAITING)).follow().step().message == "waiting"


def test_a_valid_command_in_between_begins_patience_anew():
    drive = Drive(Does(reason=Reason.BLOCKED), Terms(controller_patience=1.0)).follow()
    for k in range(30):
        blocked = k % 8 != 0
        object.__setattr__(drive.nav._planner, "reason", Reason.BLOCKED if blocked else Reason.NONE)
        assert not drive.step().over


def test_a_robot_on_one_spot_for_too_long_oscillates_and_one_that_creeps_does_not():
    terms = Terms(oscillation_timeout=1.0, oscillation_distance=0.05)
    stuck = Drive(Does(0.1), terms).follow()
    stuck.obeys = False
    last = stuck.end()
    assert last.outcome == ExePath.OSCILLATION and 0.99 < stuck.time - 0.1 - 20.0 < 1.11
    creeping = Drive(Does(0.06), terms).follow()
    assert not any(creeping.step().over for _ in range(40))
    assert not any(Drive(Does(), replace(terms, oscillation_timeout=0.0)).follow().step().over for _ in range(3))


def test_old_odometry_is_a_step_without_a_valid_command():
    drive = Drive(Does(0.1), Terms(controller_patience=2.0)).follow()
    drive.step()
    late = drive.execution.step(20.8)
    assert (late.outcome, late.twist.tolist()) == (ExePath.NO_VALID_CMD, [0.0, 0.0, 0.0])
    assert late.message == "odometry of r2 is 0.80 s old (limit: 0.5 s): the robot stops"
    assert drive.execution.step(22.2).outcome == ExePath.PAT_EXCEEDED


def maker(name):
    return Named.of("global_planners", name).part


@pytest.mark.parametrize("name", ["a_star", "navfn", "hybrid_a_star"])
def test_a_path_begins_at_the_robot_goes_around_and_ends_with_the_goals_heading(name):
    path = path_to(maker(name), ROBOT, YARD, (3.0, 0.2, 0.7), (4.5, 2.6, -2.0))
    assert path.shape[1] == 3 and path[-1] == pytest.approx((4.5, 2.6, -2.0), abs=0.1)
    assert path[0, :2] == pytest.approx((3.0, 0.2), abs=0.1)
    assert YARD.clearance_at(path[:, :2]).min() > ROBOT.radius - 0.06
    legs = np.diff(path[:, :2], axis=0)
    along = np.cos(path[:-1, 2]) * legs[:, 0] + np.sin(path[:-1, 2]) * legs[:, 1]
    assert (along[:-3] > 0).mean() > 0.9, "the poses look along the path"


@pytest.mark.parametrize(
    ("here", "goal", "outcome", "words"),
    [
        ((3.0, 1.3, 0.0), GOAL, GetPath.BLOCKED_START, r"the start \(3\.00, 1\.30\) is 0\.00 m"),
        (BEGIN, (3.0, 1.3, 0.0), GetPath.BLOCKED_GOAL, r"the goal \(3\.00, 1\.30\) is 0\.00 m"),
        (BEGIN, (3.0, -4.07, 0.0), GetPath.BLOCKED_GOAL, r"the goal \(3\.00, -4\.07\) is 0\.03 m from the border of the map"),
        (BEGIN, (3.0, -4.2, 0.0), GetPath.OUT_OF_MAP, "the goal .* outside the map"),
        (BEGIN, (math.nan, 0.0, 0.0), GetPath.INVALID_GOAL, "the goal contains a non-finite value"),
        ((0.0, math.inf, 0.0), GOAL, GetPath.INVALID_START, "the start contains a non-finite value"),
    ],
)
def test_why_there_is_no_path(here, goal, outcome, words):
    with pytest.raises(FlexError, match=words) as refused:
        path_to(maker("a_star"), ROBOT, YARD, here, goal)
    assert refused.value.outcome == outcome


def test_where_no_way_is_wide_enough_there_is_no_path():
    wall = Map.from_shapes(
        segments=[[2.0, -2.0, 2.0, 0.4], [2.0, 0.6, 2.0, 3.0]], bounds=(-1.0, -2.0, 5.0, 3.0), resolution=0.05, name="wall"
    )
    with pytest.raises(FlexError, match=r"no path from \(0\.00, 0\.50\) to \(4\.00, 0\.50\)") as refused:
        path_to(maker("a_star"), ROBOT, wall, (0.0, 0.5, 0.0), (4.0, 0.5, 0.0))
    assert refused.value.outcome == GetPath.NO_PATH_FOUND


def test_a_goal_too_near_a_wall_is_moved_as_far_as_the_tolerance_allows():
    goal = (3.7, 0.95, 0.4)  # 0.05 m below the block
    with pytest.raises(FlexError):
        path_to(maker("a_star"), ROBOT, YARD, BEGIN, goal, 0.02)
    end = path_to(maker("a_star"), ROBOT, YARD, BEGIN, goal, 0.3)[-1]
    assert math.dist(end[:2], goal[:2]) <= 0.3 and end[2] == pytest.approx(0.4)
    assert YARD.clearance_at(end[:2]) > ROBOT.radius - 0.03 and end[1] < 0.95
