"""Scores made of metrics, by hand."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from agora.core.recording import ContactKind, Outcome
from agora.metrics import composite, forces, personal_zones
from recordings import among, drive, touching

TIME = np.linspace(0.0, 10.0, 1001)


def arriving(**changes):
    """5 m in 10 s, twice around L* = 4 m at a top speed of 1 m/s; somebody stands 0.3 m beside the line at x = 4."""
    x = 1.5 + 0.5 * TIME
    return drive(TIME, x, np.full_like(TIME, -3.0), 0.0, **{**among(TIME, (4.0, -2.7)), "shortest_path": 4.0, **changes})


def test_robosense_weighs_success_path_and_space():
    # within 1 m for 2 sqrt(1 - 0.09) / 0.5 of 10 s; SPL 4 / 5
    space = 1.0 - 2.0 * np.sqrt(0.91) / 0.5 / 10.0
    assert composite.robosense_total(arriving()) == pytest.approx(0.4 + 0.3 * 0.8 + 0.3 * space, abs=0.001)
    failed = arriving(outcome=Outcome.TIMEOUT)
    assert composite.robosense_total(failed) == pytest.approx(0.3 * space, abs=0.001)


def test_igibson_is_the_mean_of_time_and_space():
    # within 0.5 m for 2 * 0.4 / 0.5 s of 10; STL = 4 s / 10 s
    space = 1.0 - 2.0 * 0.4 / 0.5 / 10.0
    assert composite.igibson_social(arriving()) == pytest.approx(0.5 * (0.4 + space), abs=0.001)
    touched = arriving(contacts=touching(ContactKind.WALL))
    assert composite.igibson_social(touched) == pytest.approx(0.5 * space, abs=0.001)


def test_a_success_without_a_known_way_has_no_score():
    unknown = arriving(shortest_path=np.inf)
    assert composite.robosense_total(unknown) is None and composite.igibson_social(unknown) is None
    alone = dataclasses.replace(arriving(), **among(TIME))
    assert composite.robosense_total(alone) == pytest.approx(0.4 + 0.24 + 0.3)


WEIGHTS = {  # robot_sf, snqi_weights_camera_ready_v3.json
    "success": 0.19045845847432735,
    "time": 0.09491099136070058,
    "collisions": 0.10483542508043969,
    "near": 0.30825830332144416,
    "comfort": 0.17983060763794978,
    "force": 0.0692114485473155,
    "jerk": 0.05249476557782281,
}


def beside(gap, seconds=3.0, step=0.1, **changes):
    """The robot stands for some time at (5, -2), with somebody who stands a gap away."""
    time = np.arange(round(seconds / step) + 1) * step
    place = np.full_like(time, 5.0), np.full_like(time, -2.0)
    return drive(time, *place, 0.4, np.zeros((len(time), 3)), **among(time, (5.0, -1.45 + gap)), **changes)


def test_snqi_of_a_quick_success_alone_is_its_success_less_its_time():
    # a sixth of the time limit of 60 s; nobody is near, and a constant speed has no jerk
    alone = arriving(**among(TIME))
    assert composite.snqi(alone) == pytest.approx(WEIGHTS["success"] - WEIGHTS["time"] / 6.0)
    slower = dataclasses.replace(alone, outcome=Outcome.TIMEOUT)
    assert composite.snqi(slower) == pytest.approx(-WEIGHTS["time"])


def test_snqi_counts_a_contact_once_and_a_near_miss_in_steps_of_the_baseline():
    failed = {"outcome": Outcome.TIMEOUT, "contacts": touching(ContactKind.WALL, ContactKind.PEDESTRIAN)}
    lost = WEIGHTS["time"] + WEIGHTS["collisions"]
    far, near = beside(0.6, **failed), beside(0.3, seconds=1.0, **failed)
    assert personal_zones.near_misses_robot_sf(near) == 11.0 and forces.force_exceed_events(near) == 0.0
    assert composite.snqi(far) == pytest.approx(-lost)
    assert composite.snqi(near) == pytest.approx(-lost - WEIGHTS["near"] * 11.0 / 21.0)
    rarer = beside(0.3, seconds=1.0, step=0.2, **failed)  # 6 samples of two steps
    assert composite.snqi(rarer) == pytest.approx(-lost - WEIGHTS["near"] * 12.0 / 21.0)
    assert composite.snqi(beside(0.3, seconds=9.0, **failed)) == pytest.approx(-lost - WEIGHTS["near"]), "clipped at the p95 of 21"


def test_snqi_weighs_forces_and_jerk():
    # 21 samples of 2.1 exp(-0.03 / (0.35 * 3.4)) = 2.05 m/s2: all of the exposure, and 20 of the 49 events from median to p95
    pressed = beside(-0.52, seconds=2.0, outcome=Outcome.TIMEOUT)
    twist = np.zeros((21, 3))
    twist[:, 0] = 1.2
    pressed = dataclasses.replace(pressed, twist=twist, pose=pressed.pose + (0.0, 0.0, np.pi / 2 - 0.4))
    assert forces.force_exceed_events(pressed) == 21.0 and personal_zones.near_misses_robot_sf(pressed) == 0.0
    expected = WEIGHTS["time"] + WEIGHTS["comfort"] + WEIGHTS["force"] * 20.0 / 49.0
    assert composite.snqi(pressed) == pytest.approx(-expected)
    # speeds 0, 0.1, 0, 0.1 ... m/s each 0.1 s: accelerations of 1 and -1 m/s2, which change by 2 m/s2 in a step, above the p95
    shaking = beside(9.0, seconds=2.0, outcome=Outcome.TIMEOUT)
    twist = np.zeros((21, 3))
    twist[1::2, 0] = 0.1
    assert composite.snqi(dataclasses.replace(shaking, twist=twist)) == pytest.approx(-WEIGHTS["time"] - WEIGHTS["jerk"])
    # accelerations of 0.2 and -0.2 m/s2 change by 0.4 m/s2
    gentle = dataclasses.replace(shaking, twist=0.2 * twist)
    share = (0.4 - 0.07293007251387372) / (0.8018190086690077 - 0.07293007251387372)
    assert composite.snqi(gentle) == pytest.approx(-WEIGHTS["time"] - WEIGHTS["jerk"] * share)


def test_snqi_takes_another_baseline_as_fields():
    near = beside(0.3, seconds=1.0, outcome=Outcome.TIMEOUT)
    other = composite.Snqi(time=0.0, near_misses=composite.Penalty(0.5, median=1.0, p95=5.0))
    assert other(near) == pytest.approx(-0.5)
    same = composite.Penalty(2.0, median=3.0, p95=3.0)
    assert (same(2.0), same(3.5), same(9.0)) == (0.0, 1.0, 2.0), "a baseline without spread is measured in units"
