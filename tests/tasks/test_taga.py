"""TAGA's environment is that of its authors' code, and going round groups does there what it is for."""

from __future__ import annotations

import numpy as np
import pytest

from agora.episode import Conditions, Episodes
from agora.errors import InputError
from agora.metrics.quantities.groups import inside_groups
from agora.pedestrians.behaviours.restless import Restless
from agora.pedestrians.models.waypoint import Waypoint
from agora.planners.presets import named_planner
from agora.registry import make
from agora.tasks.suite import load_suite
from starts import people, start


@pytest.fixture(scope="module")
def begun():
    suite = load_suite("taga")
    return [suite.start(f"seed_{1 + k % 5}", k) for k in range(30)]


def test_the_robot_crosses_the_arena(begun):
    ways = np.array([[s.robots[0].pose[:2], s.robots[0].goals[0, :2]] for s in begun])
    assert np.abs(ways).max() <= 6.0 and np.hypot(*(ways[:, 1] - ways[:, 0]).T).min() >= 8.0
    assert np.abs(ways).mean() > 2.5, "all of the arena is used"


def test_two_groups_of_three_or_four_stand_and_the_first_is_on_the_robots_way(begun):
    sizes, off = [], []
    for s in begun:
        crowd = s.pedestrians
        assert len(crowd.id) == 20 and set(crowd.group.tolist()) == {-1, 0, 1}
        standing = crowd.group >= 0
        assert not crowd.speed[standing].any() and (crowd.speed[~standing] >= 0.5).all() and crowd.speed.max() <= 1.0
        assert crowd.radius.min() >= 0.3 and crowd.radius.max() <= 0.5
        sizes += [int((crowd.group == g).sum()) for g in (0, 1)]
        robot = s.robots[0]
        middle = robot.pose[:2] + 0.7 * (robot.goals[0, :2] - robot.pose[:2])
        off.append(np.hypot(*(crowd.position[crowd.group == 0].mean(0) - middle)))
        members = crowd.position[standing]
        apart = np.hypot(*(members[:, None] - members).transpose(2, 0, 1)) + 9.0 * np.eye(len(members))
        assert apart.min() >= 0.9
        assert np.hypot(*(members - robot.goals[0, :2]).T).min() >= 0.9 and np.hypot(*(members - robot.pose[:2]).T).min() >= 0.9
    assert set(sizes) == {3, 4} and np.median(off) < 1.0


def test_the_others_start_on_the_circle_and_first_go_to_the_other_side(begun):
    for s in begun:
        walks = s.pedestrians.group < 0
        place, first = s.pedestrians.position[walks], s.pedestrians.waypoints[walks, 0]
        away = np.hypot(*place.T)
        assert (np.abs(away - 6.0 * np.sqrt(2.0)) <= 0.75 * np.sqrt(2.0)).all() and first == pytest.approx(-place)


@pytest.mark.parametrize(
    ("field", "message"),
    [
        ({"groups": 6}, "people must be enough"),
        ({"share": 1.0}, "share"),
        ({"speed": (0.0, 1.0)}, "speed"),
        ({"apart": -1.0}, "apart"),
    ],
)
def test_what_cannot_be_is_refused(field, message):
    with pytest.raises(InputError, match=message):
        make("worlds", "crossing_groups", **field)


def test_half_of_the_restless_turn_to_their_next_waypoint_every_five_seconds():
    places = np.column_stack((np.linspace(-5.0, 5.0, 40), np.zeros(40)))
    route = np.stack([np.column_stack((places[:, 0], np.full(40, y))) for y in (90.0, -90.0, 91.0, -91.0)], 1)
    crowd = people(places, route, speed=0.1, radius=0.05, mode=0)
    turned = []
    for k in range(10):
        begun = start(pose=(-6.0, -3.0, 0.0), crowd=crowd, entry=f"test/restless/{k}", timeout=10.5)
        conditions = Conditions(crowd=Waypoint(), behaviours=(Restless(),), ends=0)
        ((_, (made,)),) = list(Episodes([begun], named_planner("go_to_goal:speed=0.01")[1].part, conditions))
        up = made.pedestrian_velocity[..., 1] > 0
        change = np.flatnonzero((up[1:] != up[:-1]).any(1))
        assert np.allclose(made.time[change + 1] % 5.0, 0.0, atol=0.11) or np.allclose(made.time[change] % 5.0, 0.0, atol=0.11)
        turned += [(up[made.time < 4.9][-1] != up[np.searchsorted(made.time, 6.0)]).mean()]
    assert np.mean(turned) == pytest.approx(0.5, abs=0.1)


def test_fewer_robots_go_through_groups_with_either_and_with_the_improved_one_hardly_any(begun):
    conditions = Conditions.of(load_suite("taga").stage("seed_1"))

    def intrusions(text):
        episodes = Episodes(begun, named_planner(text)[1].part, conditions)
        return np.mean([inside_groups(recordings[0]).any() for _, recordings in episodes])

    alone, taga = intrusions("orca_attngraph:follow_path=false"), intrusions("orca_attngraph:follow_path=false+taga")
    around = intrusions("orca_attngraph+around_groups:straight=true")
    assert alone > 0.3 and taga < 0.6 * alone and around < 0.5 * alone
