"""BRNE: what its game must give, its masks, and its plain twin."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from tests.planners.local.brne import twin
from tests.planners.local.observations import beside, observe, tracks

from agora.config import build, plain
from agora.core.recording import Reason
from agora.errors import InputError
from agora.planners.local.brne import Brne
from agora.planners.local.brne._game import deviations
from agora.planners.presets import named_planner
from agora.predictors.goal_directed import GoalDirected

POSE = (2.1, -1.3, 0.7)
TOP, FASTEST = 0.9, 1.2
BARE = Brne(wall_horizon=0.0, follow_path=False)


def placed(points, pose=POSE):
    """Points or directions of a robot's frame in the map's; directions for the pose (0, 0, heading)."""
    c, s = math.cos(pose[2]), math.sin(pose[2])
    return np.asarray(points, float) @ np.array([[c, s], [-s, c]]) + pose[:2]


def seen(places=(), velocities=(), *, goal=(9.0, 0.0), robots=None, radius=0.3, **more):
    """One robot of 0.25 m among people, all in its frame."""
    turned = (0.0, 0.0, POSE[2])
    people = tracks(placed(np.reshape(places, (-1, 2)))[None], placed(np.reshape(velocities, (-1, 2)), turned)[None], radius)
    given = {"holonomic": False, "max_vx": TOP, "max_omega": FASTEST, "max_ax": 2.0} | more
    return observe([POSE], [placed(goal)], pedestrians=people, robots=robots, **given)


def driven(planner, *args, memory=None, **more):
    answer = planner.act(seen(*args, **more), memory or {})
    return float(answer.twists[0, 0]), float(answer.twists[0, 2]), Reason(int(answer.notes["reason"][0]))


@pytest.mark.parametrize("a", [(15.0, 3.0, 20.0), (4.0, 1.0, 80.0)])
def test_ways_that_meet_cost_a3_and_ways_far_apart_nothing(a, rng):
    way = np.cumsum(rng.normal(0, 0.1, (1, 25, 2)), axis=1)
    assert twin.cost(way, way, *a)[0, 0] == a[2]
    assert twin.cost(way, way + (3.0, 0.0), *a)[0, 0] < 1e-12
    nearer, farther = (twin.cost(way, way + (d, 0.0), *a)[0, 0] for d in (0.4, 0.7))
    assert a[2] > nearer > farther > 0.0


def test_a_pedestrian_wanders_as_the_process_says():
    factor = deviations(25, 0.1, 0.2, 0.2)
    variance = (factor @ factor.T).diagonal()
    times = 0.1 * np.arange(1, 26)
    assert variance == pytest.approx(0.2 * (1 - np.exp(-0.4 * times**2) / (1 + 5e-4)), abs=1e-5)
    assert np.triu(factor, 1).max() == 0.0


def test_a_mirrored_scene_gives_mirrored_ways_and_the_same_weights(rng):
    ways = rng.normal(0, 0.5, (3, 36, 25, 2)).cumsum(axis=2) * 0.1 + np.array([[0, 0], [1.5, 0.4], [1.0, -0.8]])[:, None, None]
    weights = twin.equilibrium(ways, (0.3, 0.3, 0.4), 15.0, 3.0, 20.0, 0.6)
    mirrored = twin.equilibrium(ways * (1.0, -1.0), (0.3, 0.3, 0.4), 15.0, 3.0, 20.0, 0.6)
    assert np.abs(weights - mirrored).max() < 1e-10
    assert np.abs(weights.mean(axis=1) - 1.0).max() < 1e-12 and weights.std() > 0.1
    expected = [(w[..., None, None] * x).mean(axis=1) for w, x in ((weights, ways), (mirrored, ways * (1.0, -1.0)))]
    assert np.abs(expected[0] * (1.0, -1.0) - expected[1]).max() < 1e-10


def test_the_robot_mirrors_in_a_mirrored_place_where_nobody_walks():
    for planner in (BARE, replace(BARE, cost_a1=4.0, cost_a2=1.0, cost_a3=80.0)):
        places = np.array([(1.6, 0.3), (2.2, -1.4)])
        v, w, _ = driven(planner, places, 0 * places, goal=(6.0, 0.7))
        mirrored_v, mirrored_w, _ = driven(planner, places * (1, -1), 0 * places, goal=(6.0, -0.7))
        assert v == pytest.approx(mirrored_v, abs=1e-5) and w == pytest.approx(-mirrored_w, abs=1e-5) and abs(w) > 0.05


def test_it_is_its_plain_twin(rng):
    agents = 0
    for scene in range(10):
        count = (0, 1, 3, 6)[scene % 4]
        places = np.stack([rng.uniform(0.9, 4.5, count), rng.uniform(-1.5, 1.5, count)], -1)
        velocities = rng.normal(0, 0.6, (count, 2))
        planner = replace(BARE, samples=(36, 196)[scene % 2], seed=scene)
        goal = (rng.uniform(5, 8), rng.uniform(-3, 3))
        turned = (0.0, 0.0, POSE[2])
        o = seen(places[: count - 1], velocities[: count - 1], goal=goal)
        if count:
            o = replace(o, robots=tracks(placed(places[-1:])[None], placed(velocities[-1:], turned)[None], 0.5))
        people = [
            (placed(p), placed(v, turned), 0.5 if k == count - 1 else 0.3)
            for k, (p, v) in enumerate(zip(places, velocities, strict=True))
        ]
        call, memory = scene % 3, {}
        for _ in range(call):
            memory = planner.act(o, memory).memory
        twist = planner.act(o, memory).twists[0]
        v, w, weights, _ = twin.command(planner, np.array(POSE), placed(goal), 0.25, people, TOP, FASTEST, call)
        assert twist[0] == pytest.approx(v, abs=1e-3) and twist[2] == pytest.approx(w, abs=1e-3)
        agents = max(agents, 0 if weights is None else len(weights))
    assert agents == 5


def test_who_meets_head_on_yields_and_the_other_is_expected_to():
    v, w, reason = driven(BARE, [(2.4, 0.12)], [(-0.8, 0.0)])
    person = (placed((2.4, 0.12)), placed((-0.8, 0.0), (0.0, 0.0, POSE[2])), 0.3)
    *_, weights, ways = twin.command(BARE, np.array(POSE), placed((9.0, 0.0)), 0.25, [person], TOP, FASTEST)
    robot, other = ((w[:, None] * x[:, -1]).mean(axis=0) for w, x in zip(weights, ways, strict=True))
    assert w < -0.05 and 0.0 < v < TOP and reason == Reason.NONE
    assert robot[1] < -0.05 and other[1] > 0.12 + 0.05


def test_the_same_call_gives_the_same_bits_and_the_next_one_other_samples():
    o = seen([(1.8, 0.2), (2.6, -0.5)], [(-0.7, 0.0), (0.0, 0.5)])
    first = BARE.act(o, {})
    again, after = BARE.act(o, {}), BARE.act(o, first.memory)
    assert (first.twists == again.twists).all() and (first.twists != after.twists).any()
    assert (replace(BARE, seed=1).act(o, {}).twists != first.twists).any()


def test_with_nobody_near_it_drives_as_fast_as_it_can_and_who_is_beyond_the_activation_distance_is_nobody():
    far = driven(BARE, [(6.1, 0.0)], [(-1.0, 0.0)])
    assert far == driven(BARE) and far[0] == pytest.approx(TOP, abs=1e-6) and abs(far[1]) < 1e-5
    assert driven(replace(BARE, activation=6.2), [(6.1, 0.0)], [(-1.0, 0.0)]) != far


def test_the_nearest_count_and_no_more():
    near, all_of_them = [(1.5, 0.3), (2.0, -0.6)], [(1.5, 0.3), (3.0, 0.1), (2.0, -0.6), (3.5, 0.0)]
    still = np.zeros((4, 2))
    assert driven(replace(BARE, max_agents=3), all_of_them, still) == driven(BARE, near, still[:2])
    assert driven(BARE, all_of_them, still) != driven(BARE, near, still[:2])


def test_it_stands_where_every_sample_comes_too_near_somebody():
    v, w, reason = driven(BARE, [(0.0, -0.62)], [(0.0, 0.0)])
    assert (v, w, reason) == (0.0, 0.0, Reason.WAITING)
    v, w, reason = driven(replace(BARE, close_stop=0.5), [(0.0, -0.62)], [(0.0, 0.0)])
    assert v > 0.0 and w > 0.0 and reason == Reason.NONE


def test_large_bodies_are_kept_away_from_as_small_ones_are_by_their_outlines():
    place, still, planner = [(1.6, 0.9)], [(0.0, 0.0)], replace(BARE, close_stop=0.5)
    small = driven(planner, place, still)
    large = driven(planner, place, still, radius=0.8)
    as_points = driven(replace(planner, bodies=10.0), place, still, radius=0.8)
    assert large[1] < small[1] - 0.1 and as_points == small


def wall(planner, segments, **more):
    """The twist beside walls of the robot's frame, of which there is a costmap."""
    o = beside(seen(**more), [np.ravel(placed(np.reshape(ends, (2, 2)))) for ends in segments], cell=0.05)
    answer = planner.act(o, {})
    return float(answer.twists[0, 0]), float(answer.twists[0, 2]), Reason(int(answer.notes["reason"][0]))


def test_walls_drop_samples_and_where_none_is_left_it_slows_down_and_turns():
    free = replace(BARE, wall_horizon=1.0)
    for side in (1.0, -1.0):
        along, goal = [(-0.5, 0.33 * side, 2.0, 0.33 * side)], (6.0, 2.0 * side)
        unseen = wall(BARE, along, goal=goal)
        v, w, _ = wall(free, along, goal=goal)
        assert v > 0.2 and w * side < 0.1 < 0.25 < unseen[1] * side
    v, w, _ = wall(free, [(0.4, -2.0, 0.4, 2.0)])
    assert v < 0.2
    v, w, reason = wall(free, [(0.2, -2.0, 0.2, 2.0)])
    assert v == 0.0 and reason == Reason.START_IN_CONTACT


def test_a_corridor_is_about_the_line_to_the_goal():
    pushed = [(1.5, 0.2)], [(0.0, 0.0)]
    wide, narrow = driven(replace(BARE, corridor=2.0), *pushed), driven(replace(BARE, corridor=0.2), *pushed)
    assert abs(narrow[1]) < abs(wide[1])
    outside = replace(BARE, corridor=0.2)
    memory = outside.act(seen(*pushed), {}).memory
    memory["begin"] = placed([(-3.0, 4.0)]).astype(np.float32)
    assert driven(outside, *pushed, memory=memory)[2] == Reason.BLOCKED


def test_a_car_turns_no_tighter_than_it_can_and_another_turns_in_place_towards_a_goal_behind():
    v, w, _ = driven(BARE, goal=(-3.0, 1.0))
    assert v == 0.0 and w > 0.5
    v, w, _ = driven(BARE, goal=(-3.0, 1.0), turning_radius=0.8)
    assert v > 0.2 and 0.0 < w <= v / 0.8 + 1e-6


def test_presets_have_the_published_costs_and_a_file_names_the_predictor():
    ros, py = (named_planner(name)[1].part for name in ("brne_ros", "brne_py"))
    assert [(p.cost_a1, p.cost_a2, p.cost_a3, p.max_agents, p.activation, p.corridor) for p in (ros, py)] == [
        (15.0, 3.0, 20.0, 5, 6.0, 0.6),
        (4.0, 1.0, 80.0, 8, 3.5, 0.65),
    ]
    other = replace(BARE, prediction=GoalDirected())
    assert build(plain(other), Brne) == other
    o = seen([(2.0, 0.2)], [(-0.6, 0.0)])
    memory = other.act(o, {}).memory
    assert other.act(o, memory).twists.shape == (1, 3)


@pytest.mark.parametrize(
    ("given", "why"),
    [({"samples": 49}, "even"), ({"samples": 200}, "square"), ({"max_agents": 1}, r"max_agents: expected an integer in \[2, 32\]")],
)
def test_numbers_that_make_no_game_are_refused(given, why):
    with pytest.raises(InputError, match=why):
        Brne(**given)
