"""Episodes that cannot go well, whichever planner drives: the robot stands or backs out, and the record says why."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.learned import learned
from tests.starts import DISC as BLIND
from tests.starts import people, start

from agora.core.recording import Outcome, Reason
from agora.episode import Conditions, Episodes
from agora.maps.grid import Map
from agora.metrics.planner_notes import main_reason
from agora.optics.lidar import Lidar
from agora.pedestrians.models.waypoint import Waypoint
from agora.planners.local.teb import Teb
from agora.registry import make, ready
from agora.robots.model import RobotModel
from agora.world.records import END_WALL

LIDAR = Lidar(beams=90, range_max=12.0)
DISC = replace(BLIND, lidar=LIDAR)
BOX = RobotModel(
    name="box",
    kinematics="differential",
    radius=0.37,
    footprint=((0.3, -0.2), (0.3, 0.2), (-0.3, 0.2), (-0.3, -0.2)),
    vx=(-0.5, 1.0),
    omega=2.0,
    lidar=LIDAR,
)
BLOCK = np.array([[4.0, 2.1], [6.2, 2.6], [5.9, 4.4], [3.8, 4.1]])
CELL = [[-3.0, -2.0, -1.2, -2.3], [-1.2, -2.3, -1.0, -0.4], [-1.0, -0.4, -2.8, -0.2], [-2.8, -0.2, -3.0, -2.0]]
PLACE = Map.from_shapes(bounds=(-7.3, -4.1, 12.7, 9.9), polygons=(BLOCK,), segments=CELL, discs=[[0.4, 6.0, 0.5]])
PLANNERS = sorted(set(ready("planners")) - learned())  # what those do at a wall, they have learned
HERE = (0.3, 1.1, 0.4)


NO_WAY = {"shut in": {"pose": (-2.0, -1.2, 0.7)}, "a goal in a wall": {"goal": (5.0, 3.3, 0.0)}}
IN_A_WALL = {
    f"a {model.name} in a wall": {"pose": (0.4, 5.3, 1.2), "goal": (5.0, 8.0, 0.0), "model": model} for model in (DISC, BOX)
}
IN_SOMEBODY = {"in a pedestrian": {"crowd": people([(0.6, 1.3)], [(0.6, 1.3)], speed=0.0)}}


def played(planner, *cases):
    begun = [
        start(**({"model": DISC, "pose": HERE, "goal": (9.0, 4.7, 0.0), "place": PLACE, "timeout": 1.5} | changes))
        for changes in cases
    ]
    return [recording for _, (recording,) in sorted(Episodes(begun, planner, Conditions(crowd=Waypoint(), ends=END_WALL)))]


@pytest.mark.parametrize("name", PLANNERS)
def test_whichever_planner_drives_a_start_that_cannot_go_well_the_robot_does_no_harm_and_the_record_says_why(name):
    planner = make("planners", name)
    bad = NO_WAY | IN_A_WALL | IN_SOMEBODY
    made = dict(zip(bad, played(planner, *bad.values()), strict=True))
    for one in (made[case] for case in NO_WAY):
        assert one.shortest_path == np.inf
        if "path" in planner.declares.channels:
            assert (one.pose == one.pose[0]).all() and one.outcome == Outcome.TIMEOUT
            assert main_reason(one) == "no_path" and (one.reason == Reason.NO_PATH).all()
    for one in (made[case] for case in IN_A_WALL):
        assert Reason.START_IN_CONTACT in one.reason[:1] or one.reason[0] == Reason.ESCAPING
        gap = np.hypot(*(one.pose[:, :2] - (0.4, 6.0)).T)
        assert gap.min() > gap[0] - 1e-3, "it is deeper in the wall"
    for one in (made[case] for case in IN_SOMEBODY):
        assert one.reason[0] in (Reason.START_IN_CONTACT, Reason.ESCAPING)


def test_a_robot_beside_a_wall_or_a_pedestrian_is_not_in_contact():
    # a box 0.2 m wide to either side, along the wall, whose disc of 0.36 m is in it
    beside = {"pose": (0.4 + 0.71, 6.0, np.pi / 2), "goal": (1.1, 9.0, 0.0), "model": BOX}
    for made in played(make("planners", "go_to_goal"), beside, {"crowd": people([(0.3, 1.66)], [(0.3, 1.66)], speed=0.0)}):
        assert (made.reason == Reason.NONE).all()


def test_a_solver_that_does_not_converge_is_a_robot_that_stands_and_a_reason():
    # the weight of obstacles near enough grows by this factor in each outer iteration, until it overflows
    (made,) = played(Teb(weight_adapt_factor=1e8, no_outer_iterations=6, min_obstacle_dist=3.0), {})
    assert (made.pose == made.pose[0]).all() and made.failure == ""
    assert main_reason(made) == "not_converged"


LANE = [(1.0, 1.6, 6.0, 1.6), (1.0, 2.5, 6.0, 2.5), (1.0, 2.5, 1.0, 8.0), (1.0, 1.6, 1.0, -6.0)]
BLOCKED = Map.from_shapes(bounds=(-7.0, -6.0, 12.0, 8.0), segments=[*CELL, *LANE])


def stood(made):
    """Return at which calls the robot had moved less than 0.1 m in the last 5 s; there are ten calls per second."""
    place, since, found = made.pose[0, :2], 0, []
    for k in range(len(made.time) - 1):
        if np.hypot(*(made.pose[k, :2] - place)) > 0.1:
            place, since = made.pose[k, :2], k
        found.append(k - since >= 50)
    return np.array(found)


@pytest.mark.parametrize("name", sorted(ready("planners")))
def test_a_robot_that_is_shut_in_or_in_a_lane_where_somebody_stands_has_a_reason_once_it_has_stood_for_five_seconds(name):
    somebody = people([(3.0, 2.05)], [(3.0, 2.05)], speed=0.0, radius=0.4)
    given = {"goal": (9.0, 2.0, 0.0), "place": BLOCKED, "model": replace(DISC, ax=2.0), "crowd": somebody}
    starts = [
        start(pose=(-2.0, -1.2, 0.7), timeout=6.5, **given),
        start(pose=(1.9, 2.05, 0.0), timeout=8.0, **given),
    ]
    for _, (made,) in Episodes(starts, make("planners", name), Conditions(crowd=Waypoint(), ends=END_WALL)):
        assert (made.reason[stood(made)] != Reason.NONE).all()
