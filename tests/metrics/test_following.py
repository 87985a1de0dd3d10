"""Finding, following and giving way, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from agora.metrics import following
from recordings import among, drive

TIME = np.linspace(0.0, 20.0, 2001)


def chase(heading=0.7, speed=1.0, until=20.0, bearing=0.7):
    """A pedestrian stands 6.5 m from (2, -1) in direction ``bearing``; the robot drives along 0.7 rad until 5 m on, and stands."""
    along = np.minimum(speed * TIME, 5.0)
    x, y = 2.0 + np.cos(0.7) * along, -1.0 + np.sin(0.7) * along
    twist = np.stack((np.where(speed * TIME < 5.0, speed, 0.0), 0 * TIME, 0 * TIME), 1)
    crowd = among(TIME, (2.0 + 6.5 * np.cos(bearing), -1.0 + 6.5 * np.sin(bearing)), present=(until > TIME)[:, None])
    return drive(TIME, x, y, heading, twist, **crowd)


def test_somebody_is_found_two_metres_ahead():
    # 2 m away after 4.5 s; a robot at its top speed of 1 m/s needs as long, one at half of it twice
    assert following.found_human(chase()) == 1.0
    assert following.first_encounter_spl(chase()) == pytest.approx(1.0, abs=0.003)
    assert following.first_encounter_spl(chase(speed=0.5)) == pytest.approx(0.5, abs=0.002)
    # found from then on, 15.5 s of the 15.5 s that were left; leaving after 10 s leaves 5.5 s of those
    assert following.follow_ratio(chase()) == pytest.approx(1.0, abs=0.003)
    assert following.follow_ratio(chase(until=10.0)) == pytest.approx(5.5 / 15.5, abs=0.003)


@pytest.mark.parametrize(("off", "found"), [(59.0, 1.0), (61.0, 0.0)])
def test_who_is_sixty_degrees_off_the_heading_is_not_found(off, found):
    aside = chase(heading=0.7 + np.radians(off))
    assert following.found_human(aside) == found
    assert following.first_encounter_spl(aside) == pytest.approx(found, abs=0.003)
    assert following.follow_ratio(aside) == pytest.approx(found, abs=0.003)


def test_nearer_than_a_metre_is_too_near():
    near = drive(TIME, 0 * TIME, 0 * TIME + 3.0, 0.0, np.zeros((2001, 3)), **among(TIME, (0.9, 3.0)))
    assert following.found_human(near) == 0.0 and following.first_encounter_spl(near) == 0.0


def test_backing_up_and_yielding_happen_beside_people():
    # near until 8 s: backs up for 2 s, stands for 3 s, drives on; then stands again with nobody near
    vx = np.where(TIME < 2.0, -0.2, np.where(TIME < 5.0, 0.0, np.where(TIME < 8.0, 0.5, 0.0)))
    walk = np.where(TIME < 8.0, 1.4, 1.6)
    twist = np.stack((vx, 0 * TIME, 0 * TIME), 1)
    recording = drive(TIME, 0 * TIME + 5.0, 0 * TIME - 2.0, 1.1, twist, **among(TIME, (5.0 - walk, -2.0)))
    assert following.backup_ratio(recording) == pytest.approx(0.1, abs=1e-3)
    assert following.yield_ratio(recording) == pytest.approx(0.15, abs=1e-3)


def test_without_pedestrians_nobody_is_found():
    alone = drive(TIME, TIME, TIME, 0.8)
    assert following.found_human(alone) == following.backup_ratio(alone) == following.yield_ratio(alone) == 0.0
    assert following.first_encounter_spl(alone) is None and following.follow_ratio(alone) is None
