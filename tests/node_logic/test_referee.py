"""The referee judges what it only sees as the engine judges what it does."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.starts import people, start
from tests.suites import stage, write_world

from agora.config import build
from agora.core.recording import ContactKind, Outcome
from agora.draft.stage import Stage
from agora.maps.grid import Map
from agora.node_logic.one_world import OneWorld
from agora.node_logic.referee import Referee
from agora.robots.model import load_robot


@pytest.fixture
def of(tmp_path) -> Stage:
    write_world(tmp_path / "hall")
    return build(stage(tmp_path / "hall", "helbing", 1), Stage)


def driven(begun, of, twist, *, seen_every=1):
    """A robot driven by the engine, and the referee who sees it every so many steps."""
    native, referee = OneWorld(), Referee(skin=0.0)
    for simulator in (native, referee):
        simulator.begin(begun, of, ["bot"], 0.0)
    contacts = ([], [])
    while not native.done:
        native.command(np.array([twist], np.float32), {})
        native.advance()
        if native.step % seen_every == 0 or native.done:
            robots = native.robots
            poses = np.stack([robots.x[0], robots.y[0], robots.heading[0]], -1).astype(float)
            referee.observe(native.step, poses, np.stack([robots.vx[0], robots.vy[0], robots.omega[0]], -1))
        for made, simulator in zip(contacts, (native, referee), strict=True):
            made.extend(contact for _, contact in simulator.contacts())
    return native, referee, contacts


@pytest.mark.parametrize("seen_every", [1, 3])
def test_a_robot_that_arrives_has_reached_its_goal_at_the_same_step(of, seen_every):
    begun = start(pose=(-3.1, 0.4, 0.3), goal=(1.2, 1.7, 0.0))
    native, referee, _ = driven(begun, of, (0.8, 0.0, 0.0), seen_every=seen_every)
    assert native.standing()[0].outcome == Outcome.REACHED == referee.standing()[0].outcome
    assert abs(native.standing()[0].end_time - referee.standing()[0].end_time) < 1e-9


def test_a_curve_is_followed_to_where_the_robot_is(of):
    begun = start(pose=(0.3, -0.2, 2.9), goal=(9.0, 9.0, 0.0), timeout=2.0)
    native, referee, _ = driven(begun, of, (0.7, 0.0, 1.1))
    assert referee.standing()[0].outcome == Outcome.TIMEOUT
    for name in ("x", "y", "heading", "vx", "omega", "world_vx", "world_vy"):
        assert getattr(referee.robots, name) == pytest.approx(getattr(native.robots, name), abs=1e-6), name


def test_who_stands_in_the_way_is_touched_at_the_moment_the_engine_says(of):
    crowd = people([(1.5, 0.1)], waypoints=[[(1.5, 0.1)]])
    begun = start(pose=(-1.0, 0.0, 0.0), goal=(4.0, 0.0, 0.0), crowd=crowd)
    native, referee, (theirs, ours) = driven(begun, of, (0.9, 0.0, 0.0))
    assert native.standing()[0].outcome == Outcome.PEDESTRIAN_COLLISION == referee.standing()[0].outcome
    assert [c.kind for c in ours] == [ContactKind.PEDESTRIAN] and ours[0].party == theirs[0].party
    assert ours[0].time == pytest.approx(theirs[0].time, abs=1e-4)


def test_a_robot_held_a_little_off_a_wall_has_touched_it(of):
    walls = Map.from_shapes(segments=[(2.0, -3.0, 2.0, 3.0)], bounds=(-4.0, -3.5, 5.0, 3.5))
    begun = start(place=walls, pose=(-1.0, 0.2, 0.0), goal=(4.0, 0.2, 0.0))
    radius = begun.robots[0].model.radius
    for skin, outcome in ((0.01, Outcome.WALL_COLLISION), (0.0, -1)):
        referee = Referee(skin)
        referee.begin(begun, of, ["bot"], 0.0)
        for k in range(1, 60):
            x = min(-1.0 + 0.05 * k, 2.0 - radius - 0.005)
            referee.observe(k, np.array([[x, 0.2, 0.0]]), np.zeros((1, 3), np.float32))
        assert referee.standing()[0].outcome == outcome


def test_commands_beyond_the_limits_are_cut_and_counted(of):
    begun = start(pose=(0.0, 0.0, 0.0), goal=(4.0, 0.0, 0.0))
    begun = replace(begun, robots=(replace(begun.robots[0], model=load_robot("burger")),))
    referee = Referee()
    referee.begin(begun, of, ["bot"], 0.0)
    assert referee.allowed(0, np.array([1.0, 0.5, -9.0], np.float32)) == pytest.approx([0.22, 0.0, -2.84])
    assert referee.allowed(0, np.array([0.1, 0.0, 0.3], np.float32)) == pytest.approx([0.1, 0.0, 0.3])
    assert referee.standing()[0].clipped == 1
    assert referee.models[0].name == "burger"


def test_a_robot_whose_planner_failed_has_ended(of):
    begun = start(pose=(0.0, 0.0, 0.0), goal=(4.0, 0.0, 0.0))
    referee = Referee()
    referee.begin(begun, of, ["bot"], 0.0)
    referee.fail(0, "no path")
    assert referee.standing()[0].outcome == Outcome.PLANNER_FAILED and referee.standing()[0].failure == "no path"
    assert referee.done


def test_a_robot_that_was_seen_nowhere_is_lost_where_it_was_last(of):
    begun = start(pose=(0.0, 0.0, 0.0), goal=(4.0, 0.0, 0.0))
    referee = Referee()
    referee.begin(begun, of, ["bot"], 0.0)
    referee.observe(2, np.array([[0.1, 0.0, 0.0]]), np.array([[1.0, 0.0, 0.0]], np.float32))
    referee.observe(4, np.array([[np.nan, np.nan, 0.0]]), np.array([[1.0, 0.0, 0.0]], np.float32))
    (standing,) = referee.standing()
    assert standing.outcome == Outcome.SIMULATOR_FAILED and "not finite" in standing.failure
    assert referee.done and referee.robots.x[0, 0] == pytest.approx(0.1) and np.isfinite(np.array(referee.robots[:6])).all()
