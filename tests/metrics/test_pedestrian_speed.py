"""Speeds of pedestrians, by hand; the robot's radius is 0.3 m, a pedestrian's 0.25 m."""

from __future__ import annotations

import numpy as np
import pytest

from agora.metrics import pedestrian_speed
from recordings import among, drive

TIME = np.linspace(0.0, 10.0, 2001)
TOUCH = 0.55
TILT = 0.7


def beside(*gaps, time=TIME):
    """A robot that stands at (6, -1.5), and pedestrians in direction ``TILT`` whose discs are ``gaps`` away from its own."""
    c, s = np.cos(TILT), np.sin(TILT)
    walks = [(6.0 + c * (TOUCH + gap), -1.5 + s * (TOUCH + gap)) for gap in gaps]
    still = np.zeros_like(time)
    return drive(time, still + 6.0, still - 1.5, TILT, np.zeros((len(time), 3)), **among(time, *walks))


def test_speeds_of_pedestrians_count_while_they_are_there():
    # one walks at 1.2 m/s all 10 s; a nearer one at 0.4 m/s leaves after 5 s
    recording = beside(3.0 + 1.2 * TIME, 1.0 + 0.4 * TIME)
    recording.pedestrian_present[TIME >= 5.0, 1] = False
    assert pedestrian_speed.pedestrian_speed_average(recording) == pytest.approx((12.0 + 2.0) / 15.0, abs=1e-3)
    assert pedestrian_speed.closest_pedestrian_speed_average(recording) == pytest.approx(0.8, abs=1e-3)
