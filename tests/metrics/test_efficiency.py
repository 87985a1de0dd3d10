"""Efficiency: lengths, ratios, BARN's score."""

from __future__ import annotations

import csv
import dataclasses
import json
from collections import defaultdict

import numpy as np
import pytest

from agora.core.recording import ContactKind, Outcome
from agora.metrics import efficiency, planning_time
from agora.metrics.efficiency import barn_run_score
from recordings import drive, touching

HALF_TURN = np.linspace(0.0, np.pi, 401)


def half_circle(**changes):
    """Radius 2 m about (1, -3), counter-clockwise, in 8 s with uneven time stamps."""
    time = 8.0 * (HALF_TURN / np.pi) ** 1.3
    return drive(time, 1.0 + 2.0 * np.cos(HALF_TURN), -3.0 + 2.0 * np.sin(HALF_TURN), **changes)


def straight(**changes):
    """10 m along 3-4-5 in 20 s."""
    time = np.array([0.0, 1.0, 5.0, 5.5, 12.0, 20.0])
    return drive(time, 2.0 + 0.3 * time, 5.0 + 0.4 * time, **changes)


def test_path_length_of_a_straight_line_and_a_half_circle():
    # Arena 3.0's code gives 18.0 m and 11.8 m: it takes the heading for a coordinate
    assert efficiency.path_length(straight()) == pytest.approx(10.0)
    assert efficiency.path_length(half_circle()) == pytest.approx(2.0 * np.pi, rel=1e-5)


def test_turning_on_the_spot_travels_nothing():
    assert efficiency.path_length(drive([0.0, 1.0, 2.0], [3.0] * 3, [4.0] * 3, [0.0, 1.5, 3.0])) == 0.0


def test_ratios_of_a_half_circle():
    recording = half_circle()
    assert efficiency.path_length_ratio(recording) == pytest.approx(np.pi / 2, rel=1e-5)
    assert efficiency.path_efficiency(recording) == pytest.approx(2 / np.pi, rel=1e-5)
    assert efficiency.spl(recording) == pytest.approx(2 / np.pi, rel=1e-5)


def test_spl_is_zero_without_success_and_never_above_one():
    assert efficiency.spl(half_circle(outcome=Outcome.TIMEOUT)) == 0.0
    assert efficiency.spl(half_circle(contacts=touching(ContactKind.WALL))) == 0.0
    assert efficiency.spl(half_circle(shortest_path=7.0)) == 1.0


def test_where_no_path_is_known_a_success_has_no_spl():
    recording = half_circle(shortest_path=float("inf"))
    assert efficiency.spl(recording) is None
    assert efficiency.path_efficiency(recording) is None
    assert efficiency.barn_score(recording) is None
    assert efficiency.spl(half_circle(shortest_path=float("inf"), outcome=Outcome.TIMEOUT)) == 0.0


def test_time_to_goal_is_only_for_those_who_reached_it():
    assert efficiency.time_to_goal(straight()) == 20.0
    late = straight(outcome=Outcome.TIMEOUT)
    assert efficiency.time_to_goal(late) is None
    assert efficiency.path_traversal_time(late) == 20.0


def test_path_irregularity_of_a_straight_path_off_the_origin_is_zero():
    # SocNavBench's code gives 0.88 rad 5 m off the origin: it takes the position for the heading
    assert efficiency.path_irregularity(straight()) == pytest.approx(0.0, abs=1e-7)


def test_path_irregularity_of_a_half_circle_to_its_end_is_a_quarter_of_half_a_turn():
    # the angle between tangent and chord is half the angle still to turn: from pi/2 down to 0 at constant speed
    steady = drive(HALF_TURN, 1.0 + 2.0 * np.cos(HALF_TURN), -3.0 + 2.0 * np.sin(HALF_TURN))
    assert efficiency.path_irregularity(steady) == pytest.approx(np.pi / 4, rel=5e-3)


def test_path_irregularity_follows_the_motion_in_time_and_not_the_samples():
    # 6 s straight at the goal, 4 s wait, 2 s straight away from it: a quarter of the time in motion at pi
    time = np.array([0.0, 1.0, 1.5, 6.0, 7.0, 10.0, 12.0])
    x = np.array([0.0, 1.0, 1.5, 6.0, 6.0, 6.0, 4.0])
    back_and_forth = drive(time, x, np.full(7, 3.0), 0.0, goal=np.array([9.0, 3.0, 0.0]))
    assert efficiency.path_irregularity(back_and_forth) == pytest.approx(np.pi / 4)
    assert efficiency.path_irregularity(drive([0.0, 5.0], [1.0, 1.0], [2.0, 2.0], 0.3)) is None


def test_path_irregularity_of_socnavbench_is_of_the_heading():
    """A robot that backs up to its goal, one that stands and looks past it, and one that crabs at 30 degrees."""
    time = np.array([0.0, 1.0, 4.0])
    backing = drive(time, 1.0 + time, np.full(3, 3.0), np.pi, goal=np.array([9.0, 3.0, 0.0]))
    assert efficiency.path_irregularity(backing) == pytest.approx(0.0)
    assert efficiency.path_irregularity_socnavbench(backing) == pytest.approx(np.pi)
    looking = drive(time, np.ones(3), np.full(3, 2.0), 0.4, goal=np.array([5.0, 2.0, 0.0]))
    assert efficiency.path_irregularity(looking) is None and efficiency.path_irregularity_socnavbench(looking) == pytest.approx(0.4)
    crab = drive(time, 1.0 + time, np.full(3, 3.0), np.pi / 6, goal=np.array([9.0, 3.0, 0.0]))
    assert efficiency.path_irregularity_socnavbench(crab) == pytest.approx(np.pi / 6)
    assert efficiency.path_irregularity_socnavbench(drive(time, np.ones(3), np.ones(3), 0.4)) is None


def test_barn_score_compares_with_the_reference_path_where_the_world_has_one():
    time = np.array([0.0, 0.2, 20.2])
    recording = drive(time, np.array([0.0, 0.1, 10.0]), np.full(3, 3.0), 0.0, shortest_path=9.0, reference_path=10.0)
    assert efficiency.barn_score(recording) == pytest.approx(5.0 / 20.0)
    assert efficiency.barn_score(dataclasses.replace(recording, reference_path=None)) == pytest.approx(4.5 / 20.0)


def test_planning_time_is_a_mean_over_calls_and_marked_as_timing():
    assert planning_time.planning_time(straight(planning_time=np.array([0.01, 0.02, 0.06]))) == pytest.approx(0.03)
    assert planning_time.planning_time(straight()) is None
    assert {"planning_time", "planning_time_deviation", "deadline_misses", "asked_again"} == planning_time.TIMING


def test_planning_times_spread_and_miss_the_control_period():
    # the longest of the uneven steps is 8 s
    calls = straight(planning_time=np.array([1.0, 1.0, 5.0, 9.0, 9.0]))
    assert planning_time.planning_time_deviation(calls) == pytest.approx(np.sqrt((16.0 + 16.0 + 0.0 + 16.0 + 16.0) / 5.0))
    assert planning_time.deadline_misses(calls) == pytest.approx(2.0 / 5.0)
    assert planning_time.deadline_misses(straight(planning_time=np.full(5, 8.0))) == 0.0, "in time to the second"
    for none in (straight(), drive([0.0], [1.0], [2.0], planning_time=np.array([0.1]))):
        assert planning_time.deadline_misses(none) is None
    assert planning_time.planning_time_deviation(straight()) is None


@pytest.mark.parametrize(("time", "score"), [(1.0, 0.25), (20.0, 0.25), (25.0, 0.2), (40.0, 0.125), (99.0, 0.125)])
def test_barn_score_is_clipped_on_both_sides(time, score):
    assert barn_run_score(True, 5.0, time, 4.0) == pytest.approx(score)
    assert barn_run_score(False, 5.0, time, 4.0) == 0.0


def test_barn_score_of_dynabarns_twenty_metres_falls_with_time():
    # in BARN's code the path of worlds from 300 on is -31 m long and every success scores 0.125
    scores = [barn_run_score(True, 10.0, time, 2.0) for time in (10.0, 30.0, 79.0)]
    assert scores == pytest.approx([0.5, 1 / 3, 10 / 79])


def test_barn_clock_starts_when_the_robot_has_moved_a_decimetre():
    time = np.array([0.0, 7.0, 8.0, 9.0, 28.0])
    x = np.array([0.0, 0.05, 0.1, 1.0, 10.0])
    recording = drive(time, x, np.full(5, 3.0), 0.0, shortest_path=10.0)
    assert efficiency.barn_score(recording) == pytest.approx(5.0 / 20.0)
    assert efficiency.barn_score_2022(recording) == pytest.approx(5.0 / 20.0)
    fast = drive(time / 4, x, np.full(5, 3.0), 0.0, shortest_path=10.0)
    assert efficiency.barn_score(fast) == pytest.approx(0.5)
    assert efficiency.barn_score_2022(fast) == pytest.approx(0.25)


@pytest.mark.data
def test_barn_scores_of_the_published_dwa_runs(data):
    with (data / "barn" / "dwa_reference_runs.csv").open() as file:
        runs = list(csv.DictReader(file))
    with (data / "barn" / "metrics.csv").open() as file:
        optimal = {row["world"]: float(row["optimal_time_s"]) for row in csv.DictReader(file)}
    assert [np.mean([run[name] == "1" for run in runs]) for name in ("success", "collision", "timeout")] == [0.85, 0.056, 0.094]
    paths = json.loads((data / "barn" / "paths.json").read_text())
    earlier = {world: _length(path, start=-2.0) / 2.0 for world, path in paths.items()}

    def score(times, factor):
        worlds = defaultdict(list)
        for run in runs:
            worlds[run["world"]].append(barn_run_score(run["success"] == "1", times[run["world"]], float(run["time_s"]), factor))
        return np.mean([np.mean(scores) for scores in worlds.values()])

    assert score(optimal, 4.0) == pytest.approx(0.15746, abs=5e-6)
    assert score(optimal, 2.0) == pytest.approx(0.15860, abs=5e-6)
    assert score(earlier, 4.0) == pytest.approx(0.15796, abs=5e-6)
    assert score(earlier, 2.0) == pytest.approx(0.15920, abs=5e-6)


def _length(cells, start):
    """Length of BARN's scoring path from (start, 3) over the reference cells to (start, 13)."""
    path = np.array([(start, 3.0), *((0.15 * r - 4.575, 0.15 * c + 5.075) for r, c in cells), (start, 13.0)])
    return float(np.hypot(*np.diff(path, axis=0).T).sum())


def test_time_is_compared_with_that_of_a_free_run():
    # 10 m at 1 m/s would take 10 of the 20 s; a robot of half that top speed takes no longer than it must
    assert efficiency.time_ratio(straight()) == pytest.approx(2.0)
    assert efficiency.stl(straight()) == pytest.approx(0.5)
    assert efficiency.stl(straight(max_speed=0.4)) == 1.0
    assert efficiency.time_norm(straight()) == pytest.approx(20.0 / 60.0)
    for failed in (straight(outcome=Outcome.TIMEOUT), straight(contacts=touching(ContactKind.WALL))):
        assert efficiency.stl(failed) == 0.0 and efficiency.time_norm(failed) == 1.0
    assert efficiency.time_ratio(straight(outcome=Outcome.TIMEOUT)) is None
    for unknown in (straight(shortest_path=np.inf), straight(shortest_path=0.0)):
        assert efficiency.time_ratio(unknown) is None and efficiency.stl(unknown) is None


def test_each_source_weighs_success_by_its_own_length():
    # a half circle of 2 pi m over a diameter of 4 m, where the shortest way has 5 m
    detour = half_circle(shortest_path=5.0)
    length = 2.0 * np.pi
    assert efficiency.spl_social_jym(detour) == pytest.approx(4.0 / length, rel=1e-4)
    assert efficiency.spl_socnavgym(detour) == pytest.approx(5.0 / length, rel=1e-4)
    assert efficiency.path_efficiency_sean(detour) == pytest.approx(length / 5.0, rel=1e-4)
    touched = half_circle(shortest_path=5.0, contacts=touching(ContactKind.PEDESTRIAN))
    assert efficiency.spl_social_jym(touched) == 0.0
    assert efficiency.spl_socnavgym(touched) == pytest.approx(5.0 / length, rel=1e-4)
    late = half_circle(outcome=Outcome.TIMEOUT)
    assert efficiency.spl_socnavgym(late) == 0.0 and efficiency.path_efficiency_sean(late) is None


def test_seans_irregularity_is_the_turning_that_a_shortest_way_does_not_need():
    # a half circle turns by pi; a way straight across begins with a quarter of a turn
    detour = half_circle(shortest_turn=np.pi / 2)
    assert efficiency.path_irregularity_sean(detour) == pytest.approx(np.pi / 2, abs=0.05)
    sideways = half_circle(heading=0.7, shortest_turn=0.3)
    assert efficiency.path_irregularity_sean(sideways) == pytest.approx(-0.3)
    assert efficiency.path_irregularity_sean(half_circle(shortest_turn=0.1, outcome=Outcome.TIMEOUT)) is None
    assert efficiency.path_irregularity_sean(half_circle()) is None, "nobody recorded the turns"
