"""Distances to walls, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from agora.metrics import wall_distance
from recordings import Wall, drive


def test_clearing_distance_is_the_walls_clearance_less_the_radius():
    # away from a wall 0.1 m thick along 0.6 rad through (1, 2)
    time = np.linspace(0.0, 5.0, 501)
    out = 0.8 + 0.4 * time
    recording = drive(time, 1.0 - np.sin(0.6) * out, 2.0 + np.cos(0.6) * out, map=Wall((1.0, 2.0), 0.6))
    assert wall_distance.clearing_distance_min(recording) == pytest.approx(0.8 - 0.05 - 0.3)
    assert wall_distance.clearing_distance_average(recording) == pytest.approx(1.8 - 0.05 - 0.3, abs=0.003)
    assert wall_distance.clearing_distance_min(drive(time, time, time)) is None
    nowhere = Wall((1.0, 2.0), 0.6)
    nowhere.gap = lambda points: np.full(len(points), np.inf)
    assert wall_distance.clearing_distance_average(drive(time, time, time, map=nowhere)) is None


def test_obstacle_safety_is_the_time_near_walls():
    # the outline is 0.45 m less 0.04 m/s away from the wall: below 0.3 m after 3.75 of 10 s
    time = np.linspace(0.0, 10.0, 1001)
    out = 0.05 + 0.3 + 0.45 - 0.04 * time
    recording = drive(time, 1.0 - np.sin(0.6) * out, 2.0 + np.cos(0.6) * out, map=Wall((1.0, 2.0), 0.6))
    assert wall_distance.obstacle_safety(recording) == pytest.approx(0.625, abs=0.002)
