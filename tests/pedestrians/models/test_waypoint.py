from __future__ import annotations

import numpy as np
import pytest

from agora.pedestrians.models.waypoint import Waypoint
from pedestrians import crowds


def test_walks_straight_at_the_preferred_speed_blind_to_all():
    crowd = crowds.placed([(0.0, 0.0), (0.3, 0.4)], goal=[(6.0, 8.0), (6.0, 8.0)], speed=[1.5, 0.5], maps=crowds.wall_at(1.0))
    crowd = crowds.with_robot(crowd, (0.1, 0.1))
    velocity = crowds.forces(Waypoint(), crowd)[0, :2]
    assert velocity == pytest.approx(np.array([[0.9, 1.2], [0.3, 0.4]]), rel=1e-6)


@pytest.mark.parametrize("dt", [0.05, 0.1, 0.4])
def test_the_last_step_ends_on_the_waypoint(dt):
    crowd = crowds.placed([(2.0, -1.0)], goal=[(2.03, -0.96)], speed=1.3)
    velocity = crowds.forces(Waypoint(), crowd, dt=dt)[0, 0]
    assert np.array([2.0, -1.0]) + dt * velocity == pytest.approx([2.03, -0.96], abs=1e-6)


def test_on_the_waypoint_a_pedestrian_stands():
    assert np.array_equal(crowds.forces(Waypoint(), crowds.placed([(2.0, -1.0)]))[0, 0], [0.0, 0.0])
