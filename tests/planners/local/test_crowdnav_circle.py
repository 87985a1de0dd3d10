"""CrowdNav's circle crossing through the engine and the one episode loop, from CrowdNav's own seeds and constants."""

from __future__ import annotations

import numpy as np
import pytest

from agora.core.recording import Outcome
from agora.draft.periods import Periods
from agora.episode import Conditions, Episodes
from agora.maps.grid import Map
from agora.pedestrians.models.orca import Orca
from agora.planners.local.orca import OrcaPlanner
from agora.robots.model import load_robot
from agora.world.start import PedestrianStarts, RobotStart, Start
from pedestrians.models.test_crowdnav_circle import CASES, CIRCLE, DT, LAST, RADIUS, SPEED, starts

PLANE = Map.open((-30.0, -30.0), (30.0, 30.0), resolution=1.0)


def start(case: int) -> Start:
    places = starts(case)
    n = len(places)
    crowd = PedestrianStarts(
        position=places,
        speed=np.full(n, SPEED),
        radius=np.full(n, RADIUS),
        group=np.full(n, -1, np.int32),
        id=np.arange(n, dtype=np.int32),
        waypoints=-places[:, None],
        waypoint_count=np.ones(n, np.int32),
        mode=np.full(n, 2, np.int32),
        tolerance=np.full(n, 0.1),
        velocity=np.zeros((n, 2)),
    )
    robot = RobotStart(load_robot("crowdnav"), np.array([0.0, -CIRCLE, 0.0]), np.array([[0.0, CIRCLE, 0.0]]))
    return Start(f"crowdnav/circle/{case}", 0, PLANE, (robot,), crowd, timeout=LAST, goal_tolerance=RADIUS)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("visible", "success", "collision", "timeout", "time"),
    [(False, 0.426, 0.568, 0.006, 10.86), (True, 1.0, 0.0, 0.0, 10.02)],
    ids=["invisible", "visible"],
)
def test_orca_in_the_circle_gives_crowdnavs_numbers(visible, success, collision, timeout, time):
    conditions = Conditions(periods=Periods(DT, DT, DT, DT), crowd=Orca(), sees_robots=visible)
    recordings = [r[0] for _, r in Episodes([start(c) for c in range(CASES)], OrcaPlanner(follow_path=False), conditions)]
    ended = np.array([r.outcome for r in recordings])
    assert np.mean(ended == Outcome.REACHED) == pytest.approx(success, abs=0.01)
    assert np.mean(ended == Outcome.PEDESTRIAN_COLLISION) == pytest.approx(collision, abs=0.01)
    assert np.mean(ended == Outcome.TIMEOUT) == pytest.approx(timeout, abs=0.01)
    assert np.mean([r.time[-1] for r in recordings if r.outcome == Outcome.REACHED]) == pytest.approx(time, abs=0.1)
