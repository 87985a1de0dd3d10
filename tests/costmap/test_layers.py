"""Layers about people change where robots go, from the suite file to the robot."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from agora.config import build
from agora.core.state import SOCIAL_STATES
from agora.costmap.personal_space import PersonalSpace
from agora.costmap.semantic import Semantic
from agora.costmap.visibility import Visibility
from agora.episode import Conditions, Episodes
from agora.errors import InputError
from agora.interfaces import Declaration, SemanticWindow
from agora.maps.grid import Map
from agora.pedestrians.models.waypoint import Waypoint
from agora.planners.global_.astar import AStar
from agora.planners.local.pure_pursuit import PurePursuit
from agora.tasks.suite import Suite
from agora.testing import check_planner
from starts import people, start

CORRIDOR = Map.from_shapes(
    polygons=[[[-8, 1.9], [8, 1.9], [8, 2.4], [-8, 2.4]], [[-8, -2.6], [8, -2.6], [8, -2.1], [-8, -2.1]]],
    bounds=(-8.0, -2.7, 8.0, 2.5),
    resolution=0.05,
    name="corridor",
)
OPEN = Map.open((-8.0, -5.0), (8.0, 5.0), resolution=0.1)
STANDING = (0.3, -0.25)


def passes(*layers, crowd=None):
    """The recording of a robot that goes through the corridor past one who stands in it."""
    crowd = crowd or people([STANDING], [STANDING])
    begun = start(pose=(-6.0, -0.4, 0.0), goal=(6.0, -0.4, 0.0), crowd=crowd, place=CORRIDOR, timeout=30.0)
    ((_, (recording,)),) = list(Episodes([begun], PurePursuit(speed=0.8), Conditions(layers=layers, ends=0)))
    return recording


def beside(recording):
    """Return the distance at which the robot passes the pedestrian, centre to centre, m."""
    return np.hypot(*(recording.pose[:, :2] - recording.pedestrian_position[:, 0]).T).min()


def test_a_personal_space_makes_the_path_give_way_to_who_stands_in_the_corridor():
    assert beside(passes()) < 0.2
    assert beside(passes(PersonalSpace())) > 0.6


def test_the_layer_of_a_state_gives_way_to_those_in_that_state_alone():
    phone = Semantic("social_state.phone", radius=1.3)
    assert beside(passes(phone)) == pytest.approx(beside(passes()), abs=1e-6)
    on_the_phone = replace(people([STANDING], [STANDING]), state=np.full(1, SOCIAL_STATES.index("phone"), np.int32))
    assert beside(passes(phone, crowd=on_the_phone)) > 1.1


def test_visibility_leads_away_from_behind_a_back_and_not_from_a_face():
    def way(heading):
        crowd = people([(0.0, -0.5)], [(0.0, -0.5)])
        facing = replace(crowd, heading=np.array([heading]))
        begun = start(pose=(-6.0, 0.0, 0.0), goal=(6.0, 0.0, 0.0), crowd=facing, place=OPEN, timeout=30.0)
        ((_, (recording,)),) = list(Episodes([begun], PurePursuit(), Conditions(layers=(Visibility(cost=250.0),), ends=0)))
        return recording.pose[np.abs(recording.pose[:, 0]).argmin(), 1]

    assert abs(way(np.pi / 2)) < 0.1
    assert abs(way(-np.pi / 2)) > 0.4


def test_a_path_planned_again_gives_way_to_who_came_in_the_meantime():
    def run(replan):
        crowd = people([(7.0, -0.4)], [(-7.0, -0.4)], speed=0.7)
        begun = start(pose=(-6.0, -0.4, 0.0), goal=(6.0, -0.4, 0.0), crowd=crowd, place=CORRIDOR, timeout=30.0)
        conditions = Conditions(crowd=Waypoint(), layers=(PersonalSpace(),), replan=replan, ends=0)
        ((_, (recording,)),) = list(Episodes([begun], PurePursuit(speed=0.8), conditions))
        return recording

    assert beside(run(0.0)) < 0.3
    assert beside(run(0.5)) > 0.9
    assert run(0.5).outcome.label == "reached"


def test_episodes_with_layers_do_not_depend_on_their_batch():
    starts = []
    for k in range(5):
        crowd = people([(0.3 + 0.7 * k, 0.35), (2.1, -0.9)], [(0.3, 0.35), (-5.0, -0.9)], speed=0.8)
        starts.append(start(pose=(-6.0, -0.4, 0.0), goal=(5.0, 0.3, 0.0), crowd=crowd, place=CORRIDOR, entry=f"test/stage/{k}"))
    conditions = Conditions(layers=(PersonalSpace(), Visibility()), replan=0.3)

    def run(worlds, slots=0):
        found = dict(Episodes(starts, PurePursuit(), conditions, worlds=worlds, slots=slots))
        return [found[k][0].pose.tobytes() for k in range(5)]

    assert run(1) == run(5) == run(2, slots=64)


STAGE = {"name": "one", "world": {"name": "open"}, "episodes": 1}


def test_a_suite_file_names_the_layers_and_when_to_plan_again():
    navigation = {"replan": 0.5, "layers": [{"name": "personal_space", "cost": 150.0}, {"name": "semantic", "attribute": "stress"}]}
    suite = build({"name": "s", "stages": [STAGE | {"navigation": navigation}]}, Suite)
    conditions = Conditions.of(suite.stages[0])
    assert conditions.layers == (PersonalSpace(cost=150.0), Semantic("stress"))
    assert conditions.replan == 0.5
    assert isinstance(conditions.global_planner, AStar)


@pytest.mark.parametrize(
    ("navigation", "message"),
    [
        ({"layers": ["personal_spce"]}, "personal_space"),
        ({"layers": [{"name": "semantic", "attribute": "phone"}]}, "social_state.phone"),
        ({"replan": 0.25}, "multiple of periods.control"),
        ({"global_planner": "a_satr"}, "a_star"),
    ],
)
def test_wrong_navigation_is_told_what_would_be_right(navigation, message):
    with pytest.raises(InputError, match=message):
        build({"name": "s", "stages": [STAGE | {"navigation": navigation}]}, Suite)


@dataclass(frozen=True)
class StopsForPhones:
    """Stops where somebody on the phone is ahead, by its semantic map."""

    declares = Declaration(needs=(SemanticWindow(("social_state.phone",), size=8.0, resolution=0.5),), top_speed=0.8)

    def plan(self, observation, memory):
        near = observation.semantics.evidence[0].any()
        return (0.0 if near else min(0.8, observation.limits.max_vx), 0.0, 0.0), memory


def test_a_planner_reads_semantic_maps():
    check_planner(StopsForPhones())
    walking = people([STANDING], [STANDING])
    on_the_phone = replace(walking, state=np.full(1, SOCIAL_STATES.index("phone"), np.int32))
    for crowd, stops in ((on_the_phone, True), (walking, False)):
        begun = start(pose=(-6.0, -0.4, 0.0), goal=(6.0, -0.4, 0.0), crowd=crowd, place=CORRIDOR, timeout=20.0)
        ((_, (recording,)),) = list(Episodes([begun], StopsForPhones(), Conditions(ends=0)))
        assert (recording.outcome.label == "timeout") is stops
        assert not stops or -4.7 < recording.pose[-1, 0] < -3.0
