"""What episodes that cannot go well come to, whichever planner drives: the robot stands or backs out, and the record says why."""

from __future__ import annotations

import numpy as np
import pytest
from tests.learned import learned
from tests.starts import DISC, people, start

from agora.core.recording import Outcome, Reason
from agora.episode import Conditions, Episodes
from agora.maps.grid import Map
from agora.metrics.notes import main_reason
from agora.pedestrians.waypoint import Waypoint
from agora.planners.local.teb import Teb
from agora.registry import make, ready
from agora.robots.model import RobotModel
from agora.world.records import END_WALL

BOX = RobotModel(
    name="box",
    kinematics="differential",
    radius=0.37,
    footprint=((0.3, -0.2), (0.3, 0.2), (-0.3, 0.2), (-0.3, -0.2)),
    vx=(-0.5, 1.0),
    omega=2.0,
)
BLOCK = np.array([[4.0, 2.1], [6.2, 2.6], [5.9, 4.4], [3.8, 4.1]])
CELL = [[-3.0, -2.0, -1.2, -2.3], [-1.2, -2.3, -1.0, -0.4], [-1.0, -0.4, -2.8, -0.2], [-2.8, -0.2, -3.0, -2.0]]
PLACE = Map.from_shapes(bounds=(-7.3, -4.1, 12.7, 9.9), polygons=(BLOCK,), segments=CELL, discs=[[0.4, 6.0, 0.5]])
PLANNERS = sorted(set(ready("planners")) - learned())  # what those do at a wall, they have learned
HERE = (0.3, 1.1, 0.4)


def played(planner, **changes):
    begun = start(**({"pose": HERE, "goal": (9.0, 4.7, 0.0), "place": PLACE, "timeout": 1.5} | changes))
    (((_, (recording,))),) = Episodes([begun], planner, Conditions(crowd=Waypoint(), ends=END_WALL))
    return recording


@pytest.mark.parametrize("name", PLANNERS)
@pytest.mark.parametrize(("pose", "goal"), [((-2.0, -1.2, 0.7), (9.0, 4.7, 0.0)), (HERE, (5.0, 3.3, 0.0))], ids=["shut in", "goal"])
def test_a_robot_that_needs_a_path_and_has_none_stands_and_the_record_says_so(name, pose, goal):
    planner = make("planners", name)
    made = played(planner, pose=pose, goal=goal)
    assert made.shortest_path == np.inf
    if "path" in planner.declares.channels:
        assert (made.pose == made.pose[0]).all() and made.outcome == Outcome.TIMEOUT
        assert main_reason(made) == "no_path" and (made.reason == Reason.NO_PATH).all()


@pytest.mark.parametrize("name", PLANNERS)
@pytest.mark.parametrize("model", [DISC, BOX], ids=lambda model: model.name)
def test_a_robot_that_starts_in_a_wall_is_no_deeper_in_it_at_the_end_and_the_record_says_so(name, model):
    made = played(make("planners", name), pose=(0.4, 5.3, 1.2), goal=(5.0, 8.0, 0.0), model=model)
    assert Reason.START_IN_CONTACT in made.reason[:1] or made.reason[0] == Reason.ESCAPING
    gap = np.hypot(*(made.pose[:, :2] - (0.4, 6.0)).T)
    assert gap.min() > gap[0] - 1e-3


@pytest.mark.parametrize("name", PLANNERS)
def test_a_robot_that_starts_in_a_pedestrian_says_so(name):
    made = played(make("planners", name), crowd=people([(0.6, 1.3)], [(0.6, 1.3)], speed=0.0))
    assert made.reason[0] in (Reason.START_IN_CONTACT, Reason.ESCAPING)


def test_a_robot_beside_a_wall_or_a_pedestrian_is_not_in_contact():
    # a box 0.2 m wide to either side, along the wall, whose disc of 0.36 m is in it
    made = played(make("planners", "go_to_goal"), pose=(0.4 + 0.71, 6.0, np.pi / 2), goal=(1.1, 9.0, 0.0), model=BOX)
    assert (made.reason == Reason.NONE).all()
    made = played(make("planners", "go_to_goal"), crowd=people([(0.3, 1.66)], [(0.3, 1.66)], speed=0.0))
    assert (made.reason == Reason.NONE).all()


def test_a_solver_that_does_not_converge_is_a_robot_that_stands_and_a_reason():
    made = played(Teb(weight_shortest_path=3e38))
    assert (made.pose == made.pose[0]).all() and made.failure == ""
    assert main_reason(made) == "not_converged"
