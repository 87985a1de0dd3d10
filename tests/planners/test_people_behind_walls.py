"""A person who stands or walks behind a full wall changes nothing in a robot's drive, whatever the planner."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.starts import people, start

from agora.episode import Conditions, Episodes
from agora.maps.grid import Map
from agora.optics.lidar import Lidar
from agora.pedestrians.models.waypoint import Waypoint
from agora.planners.adapters import declaration_of
from agora.planners.presets import named_planner
from agora.registry import ready
from agora.robots.model import load_robot

ROBOT = replace(load_robot("jackal"), lidar=Lidar(beams=90, range_max=12.0))
LANE = Map.from_shapes(
    segments=[[-1.0, 0.8, 11.0, 0.8], [-1.0, -0.8, 11.0, -0.8], [-1.0, 2.2, 11.0, 2.2]],
    bounds=(-1.0, -1.5, 11.0, 3.5),
    resolution=0.05,
    name="lane",
)
READ = {"pedestrians", "costmap", "semantics"}


def reads_pedestrians(name: str) -> bool:
    """Whether a planner's channels show pedestrians."""
    return bool(READ & set(declaration_of(named_planner(name)[1].part).channels))


PLANNERS = [name for name in sorted(ready("planners")) if reads_pedestrians(name)]


def driven(name, crowd):
    """Poses of a robot in a lane of 1.6 m, with people beyond one of its walls."""
    one = start(pose=(0.0, -0.1, 0.05), goal=(10.0, 0.0, 0.0), crowd=crowd, place=LANE, model=ROBOT, timeout=1.5)
    [(_, [recording])] = Episodes([one], named_planner(name)[1].part, Conditions(crowd=Waypoint(), ends=0))
    return recording.pose


@pytest.mark.parametrize("name", PLANNERS)
def test_people_behind_a_full_wall_change_nothing(name):
    behind = people([(1.4, 1.25), (2.9, 1.3)], [[(1.4, 1.25)], [(-0.5, 1.3)]], speed=np.array([0.5, 1.3]))
    np.testing.assert_array_equal(driven(name, behind), driven(name, None))
