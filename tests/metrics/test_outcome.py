"""Outcome: what counts as success, as a contact, as progress."""

from __future__ import annotations

import numpy as np
import pytest

from agora.core.recording import ContactKind, Outcome
from agora.metrics import outcome
from recordings import among, drive, touching

PEDESTRIAN, WALL, ROBOT = ContactKind.PEDESTRIAN, ContactKind.WALL, ContactKind.ROBOT


def ended(how, *contacts):
    return drive([0.0, 1.0, 2.5], [1.0, 2.0, 3.0], [5.0, 5.0, 5.5], outcome=how, contacts=touching(*contacts))


@pytest.mark.parametrize(
    ("how", "contacts", "success", "socnavbench", "k2", "reached"),
    [
        (Outcome.REACHED, (), 1, 1, 1, 1),
        (Outcome.REACHED, (WALL,), 0, 1, 1, 1),
        (Outcome.REACHED, (PEDESTRIAN,), 0, 0, 1, 1),
        (Outcome.REACHED, (WALL, ROBOT), 0, 1, 0, 1),
        (Outcome.TIMEOUT, (), 0, 0, 0, 0),
        (Outcome.PEDESTRIAN_COLLISION, (PEDESTRIAN,), 0, 0, 0, 0),
    ],
)
def test_each_paper_calls_something_else_a_success(how, contacts, success, socnavbench, k2, reached):
    recording = ended(how, *contacts)
    assert outcome.success(recording) == success
    assert outcome.success_socnavbench(recording) == socnavbench
    assert outcome.success_k2(recording) == k2
    assert outcome.reached(recording) == reached


@pytest.mark.parametrize("how", list(Outcome))
@pytest.mark.parametrize("contacts", [(), (PEDESTRIAN,)])
def test_socnavbench_success_and_failure_cases_exclude_each_other(how, contacts):
    recording = ended(how, *contacts)
    cases = [
        outcome.success_socnavbench(recording),
        outcome.timeout(recording),
        outcome.failure_pedestrian_collision(recording),
        outcome.failure_wall_collision(recording),
    ]
    others = how in (Outcome.ROBOT_COLLISION, Outcome.PLANNER_FAILED, Outcome.OUT_OF_MAP, Outcome.SIMULATOR_FAILED)
    assert sum(cases) == (0 if others else 1)


def test_contacts_are_counted_by_what_was_touched():
    recording = ended(Outcome.TIMEOUT, WALL, PEDESTRIAN, WALL, ROBOT, WALL, PEDESTRIAN)
    assert outcome.collisions(recording) == 6
    assert outcome.collisions_pedestrian(recording) == 2
    assert outcome.collisions_wall(recording) == 3
    assert outcome.collisions_robot(recording) == 1


def test_goal_traversal_ratio_is_for_incomplete_episodes_only():
    there = {"goal": np.array([11.0, 5.0, 0.0])}
    stuck = drive([0.0, 1.0, 2.5], [1.0, 4.0, 8.5], [5.0, 5.0, 5.0], outcome=Outcome.TIMEOUT, **there)
    assert outcome.goal_traversal_ratio(stuck) == pytest.approx(0.25)
    assert outcome.final_goal_distance(stuck) == pytest.approx(2.5)
    done = drive([0.0, 1.0, 2.5], [1.0, 4.0, 10.9], [5.0, 5.0, 5.0], **there)
    assert outcome.goal_traversal_ratio(done) is None
    assert outcome.goal_traversal_ratio(drive([0.0, 1.0], [1.0, 1.0], [2.0, 2.0], outcome=Outcome.TIMEOUT)) is None


def test_stalled_time_uses_the_clock_and_not_the_sample_count():
    # 0.5 s moving, 0.1 + 0.2 + 3 s standing, 1 s moving
    stop = drive([0.0, 0.5, 0.6, 0.8, 3.8, 4.8], [0.0, 0.5, 0.5, 0.5, 0.5, 1.5], [2.0] * 6, 0.3)
    assert outcome.stalled_time(stop) == pytest.approx(3.3)
    creeping = drive([0.0, 10.0], [0.0, 0.4], [0.0, 0.0], 0.0)
    assert outcome.stalled_time(creeping) == pytest.approx(10.0)


@pytest.mark.parametrize("omega", [-1.0, 1.0])
def test_turning_on_the_spot_either_way_is_no_stop_for_hunavsim(omega):
    time = np.linspace(0.0, 2.0, 21)
    turn = drive(time, np.full(21, 4.0), np.full(21, -1.0), 0.4 + omega * time)
    assert outcome.stalled_time_hunavsim(turn) == 0.0
    assert outcome.stalled_time(turn) == pytest.approx(2.0)


def test_a_robot_that_stands_is_stalled_for_hunavsim_too():
    still = drive([0.0, 0.7, 2.0], [4.0] * 3, [-1.0] * 3, 0.4)
    assert outcome.stalled_time_hunavsim(still) == pytest.approx(2.0)


@pytest.mark.parametrize("dt", [0.1, 0.25, 0.7])
def test_failure_to_progress_does_not_scale_with_the_rate(dt):
    # 6 s drive, 13 s wait, 6 s drive: of the windows 0-5, 5-10, 10-15, 15-20, 20-25 only 10-15 lies within the wait
    time = np.append(np.arange(0.0, 25.0, dt), 25.0)
    x = np.interp(time, [0.0, 6.0, 19.0, 25.0], [0.0, 3.0, 3.0, 6.0])
    assert outcome.failure_to_progress(drive(time, x, np.full_like(time, 5.0), 0.0)) == 1


def test_driving_away_is_no_progress_and_an_unfinished_window_does_not_count():
    time = np.linspace(0.0, 14.9, 150)
    away = drive(time, -0.5 * time, np.zeros(150), np.pi, goal=np.array([3.0, 0.0, 0.0]), outcome=Outcome.TIMEOUT)
    assert outcome.failure_to_progress(away) == 2


@pytest.mark.parametrize(("contacts", "expected"), [((WALL, ROBOT), 1.0), ((WALL, ROBOT, PEDESTRIAN), 0.0)])
def test_arenas_code_lets_two_contacts_pass(contacts, expected):
    assert outcome.success_k3(ended(Outcome.REACHED, *contacts)) == expected
    assert outcome.success_k3(ended(Outcome.TIMEOUT, *contacts)) == 0.0


@pytest.mark.parametrize("how", list(Outcome))
def test_leaving_the_map_is_an_end_of_its_own(how):
    assert outcome.out_of_map(ended(how)) == float(how == Outcome.OUT_OF_MAP)


def test_the_nearest_that_the_robot_came_and_the_rest_by_its_way():
    # from (1, 5) past the goal at (4, 5), 0.5 m beside it, to (7, 5.5): 3 m on, of a way of about 6
    recording = drive([0.0, 1.0, 2.0], [1.0, 4.0, 7.0], [5.0, 5.5, 5.5], goal=np.array([4.0, 5.0, 0.0]))
    assert outcome.goal_distance_min(recording) == pytest.approx(0.5)
    rest, way = np.hypot(3.0, 0.5), np.hypot(3.0, 0.5) + 3.0
    assert outcome.final_goal_distance_ratio(recording) == pytest.approx(rest / way)
    assert outcome.final_goal_distance_ratio(drive([0.0, 1.0], [1.0, 1.0], [2.0, 2.0])) is None


def test_sean_looks_a_second_ahead():
    # stands for 4 s of 10, then 0.05 m are covered within 0.05 s at 1 m/s: 0.95 s before that it still stands
    time = np.linspace(0.0, 10.0, 2001)
    recording = drive(time, 3.0 + np.maximum(time - 4.0, 0.0), np.full_like(time, -2.0), 0.0)
    assert outcome.stalled_time_sean(recording) == pytest.approx(3.05, abs=0.01)
    creeping = drive(time, 3.0 + 0.04 * time, np.full_like(time, -2.0), 0.0)
    assert outcome.stalled_time_sean(creeping) == pytest.approx(9.0, abs=0.01)


def blocked(apart=1.9, until=12.0, **crowd):
    """Robot and pedestrian stand for a time, ``apart`` m from each other; then both walk on."""
    time = np.linspace(0.0, 20.0, 401)
    on = np.maximum(time - until, 0.0)
    others = among(time, (4.0 + apart - on, 1.0 - on), **crowd)
    return drive(time, 4.0 + on, np.full_like(time, 1.0), 0.0, **others)


def test_a_deadlock_is_both_standing_beside_each_other_for_five_seconds():
    assert outcome.deadlocks(blocked()) == 1.0 and outcome.deadlock_time(blocked()) == pytest.approx(12.0, abs=0.11)
    for free in (blocked(apart=2.1), blocked(until=4.5), blocked(present=False), drive([0.0, 9.0], [1.0, 1.0], [2.0, 2.0])):
        assert outcome.deadlocks(free) == outcome.deadlock_time(free) == 0.0


def test_socnavgym_counts_samples_without_progress():
    recording = drive(np.arange(5.0), [0.0, -0.5, 1.0, 0.5, 3.0], [2.0] * 5, 0.0, goal=np.array([4.0, 2.0, 0.0]))
    assert outcome.failure_to_progress_socnavgym(recording) == 2.0
