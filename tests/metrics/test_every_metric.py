"""Properties of all metrics: names, meaning, symmetries, edge cases."""

from __future__ import annotations

import dataclasses
import importlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agora.core.recording import Outcome
from agora.interfaces import Metric
from agora.maps.grid import Map
from recordings import Wall, among, crowded, drive

FAMILIES = (
    *("outcome", "blame", "efficiency", "planning_time", "motion", "twists", "conflict", "encounters"),
    *("pedestrian_distance", "wall_distance", "personal_zones", "pedestrian_speed", "gaussian_spaces"),
    *("attention", "following", "groups", "forces", "composite", "clean"),
)
MODULES = [importlib.import_module(f"agora.metrics.{name}") for name in FAMILIES]
FOUND = [
    (variable, value)
    for module in MODULES
    for variable, value in vars(module).items()
    if isinstance(value, Metric) and value.function.__module__ == module.__name__
]
METRICS = {value.name: value for _, value in FOUND}
WALL = ((18.0, 1.0), 0.4)
SAMPLING = {
    *("curvature_normalised", "roughness"),  # of neighbouring samples
    *("pedestrian_force_q50", "pedestrian_force_q90", "pedestrian_force_q95", "comfort_exposure", "snqi"),  # of all samples
    *("personal_space_intrusion_share.srpb", "closest_pedestrian_distance_average.hunavsim", "near_misses.robot_sf"),
    *("encounter_survival_rate", "encounter_speed_average", "encounter_distance_average"),  # of the shortest encounter, too
    "first_encounter_spl",  # of two short times
    "time_headway_min",  # of a moment behind somebody, which may lie between two samples
}


def evaluate(recording):
    return {name: metric(recording) for name, metric in METRICS.items()}


def test_names_are_unique_and_those_of_the_functions():
    assert len(FOUND) == len(METRICS)
    assert [variable for variable, _ in FOUND] == [value.name.replace(".", "_") for _, value in FOUND]


@pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS.keys())
def test_each_metric_says_what_it_is(metric):
    assert metric.formula and metric.source and metric.version >= 1
    assert metric.direction in ("higher", "lower", "neutral")
    assert metric.function.__doc__
    if metric.unit == "0/1":
        assert metric(crowded(people=2)) in (0.0, 1.0)


@settings(max_examples=25, deadline=None)
@given(st.floats(-3.1, 3.1), st.floats(-50, 50), st.floats(-50, 50), st.integers(0, 1000), st.sampled_from([0, 1, 6]))
def test_moving_and_turning_the_whole_scene_changes_nothing(angle, dx, dy, seed, people):
    time = np.cumsum(np.random.default_rng(seed).uniform(0.02, 0.4, 150))
    here = dataclasses.replace(crowded(time, people, seed), map=Wall(*WALL), outcome=Outcome.REACHED)
    c, s = np.cos(angle), np.sin(angle)
    turn, shift = np.array([[c, s], [-s, c]]), np.array([dx, dy])
    pose, goal = here.pose.copy(), here.goal.copy()
    for place in (pose, goal):
        place[..., :2] = place[..., :2] @ turn + shift
        place[..., 2] = (place[..., 2] + angle + np.pi) % (2 * np.pi) - np.pi
    there = dataclasses.replace(
        here,
        pose=pose,
        goal=goal,
        pedestrian_position=here.pedestrian_position @ turn + shift,
        pedestrian_velocity=here.pedestrian_velocity @ turn,
        pedestrian_heading=here.pedestrian_heading + angle,
        map=Wall(tuple(np.array(WALL[0]) @ turn + shift), WALL[1] + angle),
    )
    expected = evaluate(here)
    for name, value in evaluate(there).items():
        assert value == (None if expected[name] is None else pytest.approx(expected[name], rel=1e-6, abs=1e-6)), name


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([1, 5, 12]))
def test_sampling_the_same_motion_differently_changes_little(seed, people):
    """Every 0.05 s against uneven steps of 0.02 to 0.1 s; durations to 0.6 s, values to 3 percent and 0.06."""
    steps = np.random.default_rng(seed).uniform(0.02, 0.1, 600)
    uneven = np.concatenate(([0.0], np.cumsum(steps) * 30.0 / steps.sum()))
    even, other = (evaluate(crowded(t, people, seed)) for t in (np.linspace(0.0, 30.0, 601), uneven))
    for name, value in other.items():
        if name in SAMPLING or METRICS[name].formula.startswith(("number of", "sum over samples")):
            continue
        tolerance = 0.6 if METRICS[name].unit == "s" else 0.06
        assert value == (None if even[name] is None else pytest.approx(even[name], rel=0.03, abs=tolerance)), name


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000))
def test_slots_of_absent_pedestrians_influence_nothing(seed):
    full = crowded(np.linspace(0.0, 20.0, 101), 6, seed)
    rng = np.random.default_rng(seed)
    slots = np.array([0, 2, 3, 6, 7, 9])

    def wider(values, fill):
        wide = np.broadcast_to(np.asarray(fill, values.dtype), (*values.shape[:1], 10, *values.shape[2:])).copy()
        wide[:, slots] = values
        return wide

    changes = {
        name: wider(getattr(full, name), rng.normal(0, 5))
        for name in ("pedestrian_position", "pedestrian_velocity", "pedestrian_heading")
    }
    padded = dataclasses.replace(
        full,
        **changes,
        pedestrian_present=wider(full.pedestrian_present, False),
        pedestrian_radius=wider(full.pedestrian_radius[None], 9.0)[0],
        pedestrian_id=wider(full.pedestrian_id[None], -1)[0],
        pedestrian_group=wider(full.pedestrian_group, 3),
    )
    assert evaluate(padded) == evaluate(full)


@pytest.mark.parametrize("far", [1e5, 1e9, 1e30])
def test_a_robot_that_a_simulator_threw_far_away_holds_no_metric_up(far):
    """The last sample of a drive lies somewhere else."""
    base = crowded(np.arange(12) * 0.3, 3)
    pose = base.pose.copy()
    pose[-1, 0] += far
    evaluate(dataclasses.replace(base, pose=pose, map=Map.open((-20.0, -11.0), (45.0, 30.0))))


@pytest.mark.parametrize("people", [0, 1, 3])
@pytest.mark.parametrize("samples", [1, 2, 3])
@pytest.mark.parametrize("outcome", [Outcome.REACHED, Outcome.TIMEOUT])
def test_the_shortest_recordings_have_finite_values_or_none(samples, people, outcome):
    time = np.arange(samples) * 0.3
    base = crowded(time, people)
    for recording in (
        dataclasses.replace(base, outcome=outcome, map=Wall(*WALL)),
        drive(time, np.full(samples, 2.0), np.full(samples, 5.0), 0.4, outcome=outcome, **among(time, *[(2.0, 5.0)] * people)),
    ):
        for name, value in evaluate(recording).items():
            assert value is None or (type(value) is float and np.isfinite(value)), name


def test_one_sample_has_no_duration_and_no_motion():
    values = evaluate(crowded([0.0], 3))
    for name, value in values.items():
        if METRICS[name].unit == "s" and "collision" not in name:
            assert not value, name
        if METRICS[name].unit in ("m/s", "m/s2", "m/s3", "1/m", "rad/m") and METRICS[name].group != "forces":
            assert value is None, name
    assert values["path_irregularity"] is None


def test_metrics_change_nothing_in_the_recording_and_give_the_same_twice():
    recording = crowded(people=5)
    arrays = {name: value.copy() for name, value in vars(recording).items() if isinstance(value, np.ndarray)}
    first = evaluate(recording)
    for name, value in arrays.items():
        assert np.array_equal(getattr(recording, name), value), name
    assert evaluate(recording) == first
    assert evaluate(dataclasses.replace(recording)) == first


def behind_a_wall(gap: float):
    """A drive along a wall, with people who stand and walk on its other side, so far from it."""
    time = np.arange(0.0, 8.05, 0.1)
    wall = Map.from_shapes(segments=[[-3.0, 0.0, 14.0, 0.0]], bounds=(-3.0, -4.0, 14.0, 9.0), resolution=0.05)
    people = among(time, (9.0 - 1.1 * time, gap), (3.3, gap), (4.0, gap), heading=-1.57)
    return dataclasses.replace(drive(time, time, np.full(len(time), -0.4), np.full(len(time), 0.05), **people), map=wall)


def test_each_metric_says_whether_walls_between_robot_and_pedestrians_count():
    near, nearer, far = (evaluate(behind_a_wall(gap)) for gap in (0.35, 0.2, 5.0))
    changed = {n for n in METRICS if near[n] != pytest.approx(nearer[n]) or near[n] != pytest.approx(far[n])}
    of_walls = {name for name in changed if name.startswith(("obstacle_force_on_pedestrians", "pedestrian_force_q"))}
    assert {name for name in changed - of_walls if METRICS[name].walls != "ignored"} == set()
    assert len(changed) > 40 and "closest_pedestrian_distance_min" in changed
    respected = {name for name, metric in METRICS.items() if metric.walls == "respected"}
    assert {"closest_pedestrian_distance_min.in_sight", "time_in_private_zone.in_sight"} < respected
    assert near["closest_pedestrian_distance_min.in_sight"] == 10.0 and near["time_in_private_zone.in_sight"] == 0.0
    assert near["closest_pedestrian_distance_min"] < 0.5 < near["time_in_private_zone.outline"]


def test_without_walls_between_the_variants_of_people_in_sight_are_the_others():
    open_air = crowded(people=6)
    for name, other in (("closest_pedestrian_distance_min", ""), ("time_in_private_zone", ".outline")):
        assert METRICS[f"{name}.in_sight"](open_air) == METRICS[name + other](open_air)
