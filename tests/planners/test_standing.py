"""Whichever planner drives, a robot that has stood for 5 s has a reason in its recording."""

from __future__ import annotations

import numpy as np
import pytest
from tests.starts import people, start

from agora.core.recording import Outcome, Reason
from agora.episode import Conditions, Episodes
from agora.maps.grid import Map
from agora.pedestrians.waypoint import Waypoint
from agora.registry import make, ready
from agora.robots.model import RobotModel
from agora.sensors.lidar import Lidar
from agora.world.records import END_WALL

DISC = RobotModel(
    name="disc", kinematics="differential", radius=0.25, vx=(0.0, 1.0), omega=2.0, ax=2.0, lidar=Lidar(beams=90, range_max=12.0)
)
CELL = [(-3.0, -2.0, -1.2, -2.0), (-1.2, -2.0, -1.2, 0.0), (-1.2, 0.0, -3.0, 0.0), (-3.0, 0.0, -3.0, -2.0)]
LANE = [(1.0, 1.6, 6.0, 1.6), (1.0, 2.5, 6.0, 2.5), (1.0, 2.5, 1.0, 8.0), (1.0, 1.6, 1.0, -6.0)]
PLACE = Map.from_shapes(bounds=(-7.0, -6.0, 12.0, 8.0), segments=[*CELL, *LANE])


def stood(made):
    """Return at which calls the robot had not moved 0.1 m for 5 s, ten calls a second."""
    place, since, found = made.pose[0, :2], 0, []
    for k in range(len(made.time) - 1):
        if np.hypot(*(made.pose[k, :2] - place)) > 0.1:
            place, since = made.pose[k, :2], k
        found.append(k - since >= 50)
    return np.array(found)


@pytest.mark.parametrize("name", sorted(ready("planners")))
def test_a_robot_that_is_shut_in_or_in_a_lane_where_somebody_stands_has_a_reason_once_it_has_stood_for_five_seconds(name):
    blocked = people([(3.0, 2.05)], [(3.0, 2.05)], speed=0.0, radius=0.4)
    starts = [
        start(pose=(-2.1, -1.0, 0.7), goal=(9.0, 2.0, 0.0), place=PLACE, model=DISC, crowd=blocked, timeout=6.5),
        start(pose=(1.9, 2.05, 0.0), goal=(9.0, 2.0, 0.0), place=PLACE, model=DISC, crowd=blocked, timeout=8.0),
    ]
    for _, (made,) in Episodes(starts, make("planners", name), Conditions(crowd=Waypoint(), ends=END_WALL)):
        stands = stood(made)
        assert (made.reason[stands] != Reason.NONE).all()
        assert stands.any() or made.outcome != Outcome.TIMEOUT or np.ptp(made.pose[-50:, :2], axis=0).max() > 0.05
