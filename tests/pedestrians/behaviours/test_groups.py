"""The behaviour `groups`: who leads, who follows where, who stands and talks, who comes and goes."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from tests.engines import engine as engine_at

from agora.core.state import SOCIAL_STATES
from agora.errors import InputError
from agora.maps.grid import Map
from agora.pedestrians.behaviours.groups import Groups
from agora.pedestrians.shared.formations import formation, o_space_radius
from agora.registry import available, make
from agora.seeds import Stream
from agora.world.start import PedestrianStarts
from starts import start

DT = 0.1
ROWS = Groups(spacing=0.8, drift=0.0, drift_time=0.01)  # members keep fixed places
TALKING, LISTENING, WALKING, IDLE = (SOCIAL_STATES.index(s) for s in ("talking", "listening", "walking", "idle"))
FIELD = Map.open((-7.3, -9.1), (40.7, 13.9), name="field")
BEND = Map.from_shapes(
    segments=[(-3, -2.6, 12.6, -2.6), (12.6, -2.6, 12.6, 14), (-3, 2.6, 7.4, 2.6), (7.4, 2.6, 7.4, 14), (-3, -2.6, -3, 2.6)],
    bounds=(-4, -3.2, 13.2, 14),
    name="bend",
)


def crowd(position, route, *, group, ids=None, speed=1.2, mode=2, heading=None, state=None):
    """Simulated pedestrians; ``route`` (K, 2) is everybody's, or (n, K, 2)."""
    position = np.asarray(position, float)
    n = len(position)
    way = np.broadcast_to(np.asarray(route, float), (n, *np.shape(route)[-2:])).copy()
    return PedestrianStarts(
        position=position,
        speed=np.broadcast_to(np.asarray(speed, float), n).copy(),
        radius=np.full(n, 0.25),
        group=np.broadcast_to(np.asarray(group, np.int32), n).copy(),
        id=np.arange(n, dtype=np.int32) * 3 + 5 if ids is None else np.asarray(ids, np.int32),
        waypoints=way,
        waypoint_count=np.full(n, way.shape[1], np.int32),
        mode=np.full(n, mode, np.int32),
        tolerance=np.full(n, 0.5),
        velocity=np.zeros((n, 2)),
        heading=np.zeros(0) if heading is None else np.asarray(heading, float),
        state=np.zeros(0, np.int32) if state is None else np.asarray(state, np.int32),
    )


def cluster(count, at=(-1.0, 0.3), turn=0.4):
    angle = turn + 2 * np.pi * np.arange(count) / count
    return np.asarray(at) + 0.8 * (count > 1) * np.stack((np.cos(angle), np.sin(angle)), -1)


def episode(people, place=FIELD, seed=5):
    corner = np.array([place.origin[0] + 0.3, place.origin[1] + 0.3, 0.0])
    made = start(corner, (*(corner[:2] + (place.size[0] - 0.6, 0.0)), 0.0), people, place, timeout=1000.0)
    return dataclasses.replace(made, seed=seed)


def engine_of(starts, groups=None, model="waypoint", *, slots=0, threads=1, worlds=0):
    behaviours = (groups,) if groups else ()
    seeing = {"crowd": make("crowd_models", model), "behaviours": behaviours, "sees_robots": False, "ends": 0}
    return engine_at(starts, DT, worlds=worlds, slots=slots, threads=threads, **seeing)


def run(engine, seconds, world=0, count=None):
    """Positions (T, n, 2) and headings (T, n) of one world's first pedestrians."""
    count = count or int(engine.world.traits.count[world])
    place, heading = [], []
    for _ in range(round(seconds / DT)):
        engine.step()
        now = engine.world.pedestrians
        place.append(np.stack((now.x[world, :count], now.y[world, :count]), -1))
        heading.append(now.heading[world, :count].copy())
    return np.array(place), np.array(heading)


def company(engine):
    return engine.crowd.behaviours[0].attached.company


def turning(heading):
    """Total turning of each, rad."""
    return np.abs(np.pi - np.mod(np.pi - np.diff(heading, axis=0), 2 * np.pi)).sum(0)


def leader_of(engine, slot=0, world=0):
    return int(company(engine).leader[world, slot])


@pytest.mark.parametrize("count", [2, 3, 4, 6])
def test_followers_walk_at_their_places_in_the_row_and_as_fast_as_their_leader(count):
    engine = engine_of([episode(crowd(cluster(count), [(30.0, 2.0)], group=0))], ROWS)
    place, _ = run(engine, 14.0)
    leader, c = leader_of(engine), company(engine)
    ahead, aside = c.ahead[0, :count].astype(float), c.aside[0, :count].astype(float)
    course = place[-1, leader] - place[-2, leader]
    course /= np.hypot(*course)
    offset = place[-1] - place[-1, leader]
    assert offset @ course == pytest.approx(np.where(np.arange(count) == leader, 0, ahead), abs=0.12)
    assert offset @ (-course[1], course[0]) == pytest.approx(np.where(np.arange(count) == leader, 0, aside), abs=0.12)
    steps = np.hypot(*(place[-1] - place[-2]).T) / DT
    assert steps == pytest.approx([1.2] * count, abs=0.05)


def test_the_group_walks_at_the_pace_of_its_slowest_member():
    engine = engine_of([episode(crowd(cluster(3), [(30.0, 2.0)], group=0, speed=[1.4, 0.8, 1.2]))], ROWS)
    place, _ = run(engine, 18.0)
    assert np.hypot(*(place[-1] - place[-21]).T) / 2.0 == pytest.approx([0.8] * 3, abs=0.05)


def walk_round_the_corner(model, count, groups):
    people = crowd(cluster(count), [(10.0, 0.0), (10.0, 10.0)], group=0)
    engine = engine_of([episode(people, BEND)], groups, model)
    place, heading = run(engine, 26.0)
    leader = leader_of(engine) if groups else 0
    return place, heading, leader


@pytest.mark.parametrize("count", [2, 3, 5])
def test_nobody_spins_on_a_way_with_a_corner(count):
    place, heading, leader = walk_round_the_corner("waypoint", count, Groups())
    length = np.hypot(*np.diff(place, axis=0).transpose(2, 0, 1)).sum(0)
    turned = turning(heading)
    assert turned[leader] / length[leader] < 0.1
    assert (turned / length < 0.45).all(), turned / length
    assert np.hypot(*(place[-1] - (10.0, 10.0)).T).max() < 2.2


@pytest.mark.slow
@pytest.mark.parametrize("model", sorted(set(available("crowd_models")) - {"spinny", "leader_follower"}))
def test_groups_keep_together_under_every_crowd_model(model):
    # spinny's people go nowhere; those of leader_follower follow leaders of its own
    people = crowd(cluster(3), [(30.0, 2.0)], group=0)
    engine = engine_of([episode(people)], Groups(), model)
    place, heading = run(engine, 24.0)
    leader = leader_of(engine)
    apart = np.hypot(*(place - place[:, leader : leader + 1]).transpose(2, 0, 1))
    assert apart[50:].max() < (5.0 if model == "helbing_simple" else 3.0)  # which pushes with 2 m/s2, a metre away with 0.7
    assert place[-1, :, 0].min() > (12.0 if model == "helbing_simple" else 18.0)
    more = (5 if model == "pysocial" else 3) * np.pi  # whose forces push members of a row to and fro
    assert turning(heading[:200]).max() < turning(heading[:200])[leader] + more


def test_a_ring_of_goals_tears_a_group_where_one_is_in_a_wall_and_the_behaviour_does_not():
    # everybody's goal is the leader's and an offset, as in Arena: one lies behind the wall at y = 2.6
    ring = np.array([(0.0, 0.0), (0.5, 0.0), (0.0, 1.0)])
    corner = np.array([9.0, 2.25])
    route = np.stack((corner + ring, np.array([3.0, -1.0]) + ring), 1)
    people = crowd(cluster(3), route, group=0, mode=0)
    behind = {}
    for groups in (None, Groups()):
        bounded = Map.from_shapes(segments=[(-3, 2.6, 14, 2.6)], bounds=(-4, -4, 14, 4), name="wall")
        engine = engine_of([episode(people, bounded)], groups, "pysocial")
        place, heading = run(engine, 20.0)
        spread = np.hypot(*(place[-1] - place[-1, :1]).T).max()
        behind[groups is None] = spread, turning(heading[60:]).max()
    torn, together = behind[True], behind[False]
    assert torn[0] > 2.5 > together[0]


def test_followers_drift_about_their_places_as_far_and_as_long_as_the_fields_say():
    groups, seen = Groups(drift=0.3, drift_time=2.0, gain=3.0), []
    engine = engine_of([episode(crowd(cluster(2), [(30.0, 2.0)], group=0, speed=0.02), seed=k) for k in range(40)], groups)
    c = company(engine)
    for _ in range(400):
        engine.step()
        drift = np.stack((c.drift_x[:, :2], c.drift_y[:, :2]))
        seen.append(drift[:, c.leader[:, :2] != np.arange(2)])
    seen = np.array(seen)[100:]
    assert np.abs(seen.mean()) < 0.05
    assert seen.std() == pytest.approx(0.3, rel=0.1)
    assert (seen[:-20] * seen[20:]).mean() / seen.var() == pytest.approx(math.exp(-1.0), abs=0.08)


def test_a_follower_begins_with_the_deviation_that_its_first_position_shows():
    begins = np.array([(0.0, 0.0), (0.5, 1.4)])
    engine = engine_of([episode(crowd(begins, [(30.0, 0.0)], group=0))], Groups(drift=0.0, drift_time=50.0))
    place, _ = run(engine, 6.0)
    assert place[-1, 1] - place[-1, 0] == pytest.approx(begins[1] - begins[0], abs=0.2)


def test_walking_back_reverses_the_row_and_nobody_changes_sides():
    engine = engine_of([episode(crowd(cluster(2), [(8.0, 0.3), (-5.0, 0.3)], group=0, mode=0))], Groups())
    place, _ = run(engine, 16.0)
    leader = leader_of(engine)
    other = 1 - leader
    side = np.sign(place[:, other, 1] - place[:, leader, 1])
    assert place[:, leader, 0].max() > 7.0 > 3.0 > place[-1, leader, 0]
    assert (side[30:] == side[30]).all()


def test_in_a_narrow_passage_followers_walk_in_file_and_beside_again_after_it():
    posts = [(x, y, x, side * 6.0) for x in (4, 10) for side, y in ((-1, -0.55), (1, 0.55))]
    walls = [*posts, (4, -0.55, 10, -0.55), (4, 0.55, 10, 0.55)]
    passage = Map.from_shapes(segments=walls, bounds=(-6, -7, 24, 7), name="passage")
    engine = engine_of([episode(crowd(cluster(3, (-3.0, 0.0)), [(3.0, 0.0), (11.0, 0.0), (20.0, 0.0)], group=0), passage)], ROWS)
    place, _ = run(engine, 24.0)
    within = (place[..., 0] > 4.6) & (place[..., 0] < 9.4)
    assert within.any(0).all() and np.abs(place[..., 1][within]).max() < 0.3
    assert np.ptp(place[-1, :, 1]) == pytest.approx(1.6, abs=0.2)


@pytest.mark.parametrize("model", ["waypoint", "anticipation"])
@pytest.mark.parametrize("goal", [-5.0, 20.0])
def test_who_is_ahead_of_the_leader_in_a_narrow_passage_goes_on_ahead(model, goal):
    walls = [(x, y, x, side * 6.0) for x in (4, 10) for side, y in ((-1, -0.55), (1, 0.55))]
    walls += [(4, -0.55, 10, -0.55), (4, 0.55, 10, 0.55)]
    passage = Map.from_shapes(segments=walls, bounds=(-6, -7, 24, 7), name="passage")
    engine = engine_of([episode(crowd([(6.4, 0.05), (7.3, -0.05)], [(goal, 0.0)], group=0), passage)], ROWS, model)
    place, _ = run(engine, 14.0)
    assert (np.abs(place[-1, :, 0] - goal) < 1.5).all()
    there = np.flatnonzero((np.abs(place[..., 0] - 6.85) > 4.0).all(1))[0]
    assert there * DT < 6.0, "out of the passage at 0.9 m/s or more"
    assert np.ptp(place[-1, :, 1]) > 0.6, "beside each other again"


def test_a_leader_waits_for_who_is_behind_but_not_for_ever():
    people = crowd(cluster(2), [(30.0, 0.3)], group=0)
    groups = Groups(patience=8.0)
    engine = engine_of([episode(people)], groups)
    run(engine, 1.0)
    leader = leader_of(engine)
    follower = 1 - leader
    speeds = []
    for _ in range(120):
        for generation, _ in map(engine.world.generation, (0, 1)):
            generation.x[0, follower], generation.y[0, follower] = -3.0, 0.0
        engine.step()
        speeds.append(float(engine.world.traits.speed[0, leader]))
    assert min(speeds[:80]) == pytest.approx(0.36, abs=1e-5)
    assert speeds[-20] == pytest.approx(1.2)
    place, _ = run(engine, 25.0)
    assert np.hypot(*(place[-1, 0] - place[-1, 1])) < 1.2


def test_the_leader_is_drawn_with_the_episodes_key_by_identity():
    leaders = set()
    for seed in range(12):
        ids = []
        for order in ([0, 1, 2], [2, 0, 1]):
            numbers = np.array([7, 30, 21])[order]
            people = crowd(cluster(3)[order], [(9.0, 2.0)], group=2, ids=numbers)
            engine = engine_of([episode(people, seed=seed)], Groups())
            engine.step()
            ids.append(int(numbers[leader_of(engine)]))
        assert ids[0] == ids[1]
        leaders.add(ids[0])
    assert leaders == {7, 30, 21}


def test_when_the_leader_is_gone_another_leads_on_along_its_own_way():
    engine = engine_of([episode(crowd(cluster(3), [(9.0, 2.0), (20.0, -3.0)], group=0))], Groups())
    run(engine, 10.5)
    gone = leader_of(engine)
    for generation, _ in map(engine.world.generation, (0, 1)):
        generation.active[0, gone] = False
    run(engine, 0.2)
    rest = [i for i in range(3) if i != gone]
    new = leader_of(engine, rest[0])
    assert new in rest and leader_of(engine, rest[1]) == new and leader_of(engine, gone) == -1
    assert engine.world.waypoints.count[0, new] == 2 and engine.world.waypoints.index[0, new] == 1
    place, _ = run(engine, 12.0)
    assert np.hypot(*(place[-1, rest] - (20.0, -3.0)).T).max() < 1.5


def test_lone_walkers_and_groups_of_one_are_left_alone():
    people = crowd([(0.0, 0.0), (3.0, 2.0), (-2.0, 5.0)], [(20.0, 1.0), (1.0, 8.0)], group=[-1, 4, 6])
    one, other = (engine_of([episode(people)], g, "helbing") for g in (None, Groups()))
    assert np.array_equal(run(one, 5.0)[0], run(other, 5.0)[0])


def twin(c, lean, speeds, x, v, u, gain, catch_up, dt, wheel):
    """One decision of a group of two or more in the open, leader first: waypoints and speeds in float64."""
    u = u + v[0] * dt / wheel
    u = u / np.hypot(*u)
    left = np.array([-u[1], u[0]])
    goals, pace, gaps = [], [], [0.0]
    for k in range(1, len(x)):
        way = x[0] + c[k][0] * u + c[k][1] * left - x[k]
        near = np.hypot(*way) < 1.2
        lean[k] = lean[k] + 0.3 * dt * np.array([way @ u, way @ left]) if near else lean[k] * (1 - 0.3 * dt)
        wanted = v[0] + gain * (way + lean[k][0] * u + lean[k][1] * left)
        wanted = wanted - min(wanted @ u, 0.0) * u
        goals.append(x[k] + wanted / gain)
        pace.append(np.clip(np.hypot(*wanted), 0.4 * speeds[k], catch_up * speeds[k]))
        gaps.append(np.hypot(*way))
    share = np.clip((4.0 - max(gaps)) / 2.5, 0.3, 1.0)
    return u, np.array(goals), np.array([share * min(speeds), *pace])


def drifted(engine, order, groups):
    """Deviations (n, 2) of members from their places after the next decision, in float64; 0 for the leader, who comes first."""
    c, clock, kept = company(engine), engine.world.status.clock, math.exp(-DT / groups.drift_time)
    drift = np.stack((c.drift_x[0, order], c.drift_y[0, order]), -1).astype(float)
    for k, i in enumerate(order):
        stream = Stream("", 0, "", int(engine.world.traits.id[0, i]), int(clock.step[0]))
        stream.key = clock.key[0]
        z = math.sqrt(12.0) * (stream.uniform(shape=105)[103:] - 0.5)
        drift[k] = (kept * drift[k] + groups.drift * math.sqrt(1.0 - kept**2) * z) * (k > 0)
    return drift


def test_the_kernel_agrees_with_its_float64_twin():
    groups = Groups(period=DT)
    speeds = np.array([1.3, 1.1, 1.25, 1.2])
    engine = engine_of([episode(crowd(cluster(4), [(30.0, 6.0)], group=0, speed=speeds))], groups, "helbing")
    run(engine, 2.0)
    leader, c = leader_of(engine), company(engine)
    order = [leader, *(i for i in range(4) if i != leader)]
    for _ in range(30):
        now, u = engine.world.pedestrians, np.array([c.ux[0, leader], c.uy[0, leader]], float)
        x = np.stack((now.x[0, order], now.y[0, order]), -1).astype(float)
        v = np.stack((now.vx[0, order], now.vy[0, order]), -1).astype(float)
        offsets = np.stack((c.ahead[0, order], c.aside[0, order]), -1) + drifted(engine, order, groups)
        along = np.stack((c.lean_x[0, order], c.lean_y[0, order]), -1).astype(float)
        expected = twin(offsets, along, speeds[order], x, v, u, groups.gain, groups.catch_up, DT, groups.wheel)
        engine.step()
        assert [c.ux[0, leader], c.uy[0, leader]] == pytest.approx(expected[0], abs=2e-6)
        followers = order[1:]
        where = np.stack((engine.world.waypoints.x[0, followers], engine.world.waypoints.y[0, followers]), -1)
        assert where == pytest.approx(expected[1], abs=2e-5)
        assert engine.world.traits.speed[0, order] == pytest.approx(expected[2], abs=2e-6)


def talk(count=4, kind="circle", pose=(3.0, 1.0, 0.7), route=None, others=()):
    """A conversation, and others who walk by themselves from (x, y) to (x, y)."""
    place, heading = formation(kind, count, pose)
    route = place[:, None] if route is None else np.broadcast_to(np.asarray(route, float), (count, len(route), 2))
    walkers = np.array(others, float).reshape(-1, 2, 2)
    way = np.concatenate((route, np.repeat(walkers[:, 1:], route.shape[1], 1)))
    n = len(walkers)
    return crowd(
        np.concatenate((place, walkers[:, 0])),
        way,
        group=[0] * count + [-1] * n,
        heading=[*heading, *[0.0] * n],
        state=[TALKING, *[LISTENING] * (count - 1), *[WALKING] * n],
    )


@pytest.mark.parametrize("model", ["helbing", "orca", "waypoint"])
@pytest.mark.parametrize("kind, count", [("face_to_face", 2), ("side_by_side", 2), ("right_angle", 2), ("circle", 5)])
def test_those_who_talk_stand_at_their_places_and_face_the_middle(model, kind, count):
    people = talk(count, kind)
    engine = engine_of([episode(people)], Groups(), model)
    place, heading = run(engine, 8.0)
    assert np.hypot(*(place[-1] - people.position).T).max() < 0.3
    towards = np.arctan2(1.0 - place[-1, :, 1], 3.0 - place[-1, :, 0])
    assert np.cos(heading[-1] - towards).min() > np.cos(0.3)


def test_who_is_pushed_away_comes_back_and_faces_the_others_again():
    people = talk(4)
    engine = engine_of([episode(people)], Groups(), "helbing")
    run(engine, 1.0)
    engine.world.pedestrians.x[0, 2] += 1.3
    engine.world.pedestrians.y[0, 2] -= 0.9
    place, heading = run(engine, 8.0)
    assert np.hypot(*(place[0, 2] - people.position[2])) > 1.2
    assert np.hypot(*(place[-1, 2] - people.position[2])) < 0.3
    towards = np.arctan2(1.0 - place[-1, 2, 1], 3.0 - place[-1, 2, 0])
    assert np.cos(heading[-1, 2] - towards) > np.cos(0.3)


def test_who_gets_the_groups_number_is_given_room_and_who_loses_it_walks_on():
    people = talk(3, route=[(20.0, 9.0)], others=[((-3.0, -2.0), (15.0, -6.0))])
    engine = engine_of([episode(people)], Groups(), "helbing")
    run(engine, 1.0)
    engine.world.traits.group[0, 3] = 0
    place, _ = run(engine, 10.0)
    away = place[-1] - (3.0, 1.0)
    assert np.hypot(*away.T) == pytest.approx([float(o_space_radius(4))] * 4, abs=0.2)
    bearing = np.sort(np.arctan2(away[:, 1], away[:, 0]))
    assert np.diff(bearing) == pytest.approx([np.pi / 2] * 3, abs=0.25)
    speaker = leader_of(engine)
    assert engine.world.minds.state[0, :4].tolist() == [TALKING if i == speaker else LISTENING for i in range(4)]
    assert engine.world.minds.partner[0, 3] == (-1 if speaker == 3 else engine.world.traits.id[0, speaker])
    engine.world.traits.group[0, 3] = engine.world.traits.group[0, 1] = -1
    place, _ = run(engine, 14.0)
    assert engine.world.minds.state[0, [1, 3]].tolist() == [WALKING, WALKING]
    assert np.hypot(*(place[-1, 3] - (15.0, -6.0))) < 1.5 and np.hypot(*(place[-1, 1] - place[0, 1])) > 8.0
    pair = place[-1, [0, 2]] - (3.0, 1.0)
    assert np.hypot(*pair.T) == pytest.approx([0.75, 0.75], abs=0.2)
    assert np.hypot(*(pair[0] - pair[1])) == pytest.approx(1.5, abs=0.3)


def test_who_is_left_alone_is_in_no_group():
    engine = engine_of([episode(talk(2, "face_to_face"))], Groups())
    run(engine, 0.5)
    engine.world.traits.group[0, 0] = -1
    run(engine, 0.5)
    assert engine.world.traits.group[0, :2].tolist() == [-1, -1]
    assert engine.world.minds.state[0, 1] == IDLE


def visitors(seed=5):
    walkers = [((-6.0, y), (30.0, y)) for y in (-1.5, 0.5, 2.5, 4.0)]
    return episode(talk(3, route=[(25.0, 10.0)], others=walkers), seed=seed)


def test_people_come_and_go_by_chance_and_it_shows_in_their_group():
    groups = Groups(join_rate=0.5, leave_rate=0.1)
    seen = set()
    for seed in range(6):
        engine = engine_of([visitors(seed)], groups)
        sizes = []
        for _ in range(150):
            engine.step()
            sizes.append(int((engine.world.traits.group[0] == 0).sum()))
        seen.add(tuple(sizes))
        assert max(sizes) <= groups.most
    assert len(seen) == 6
    changes = {int(d) for sizes in seen for d in np.diff(sizes)}
    assert {-1, 1} <= changes


def test_nobody_comes_or_goes_where_the_rates_are_zero():
    engine = engine_of([visitors()], Groups())
    run(engine, 12.0)
    assert engine.world.traits.group[0, :7].tolist() == [0, 0, 0, -1, -1, -1, -1]


def test_results_do_not_depend_on_batch_padding_or_threads():
    groups = Groups(join_rate=0.4, leave_rate=0.1)
    walking = episode(crowd(cluster(5), [(9.0, 0.0), (10.0, 8.0)], group=0, mode=0), BEND)
    starts = [visitors(1), walking, visitors(3), episode(crowd(cluster(1), [(3.0, 3.0)], group=1))]
    alone = []
    for each in starts:
        engine = engine_of([each], groups, "helbing")
        alone.append(run(engine, 12.0)[0])
    for slots, threads, repeat in ((0, 1, 1), (48, 1, 1), (0, 2, 10)):
        engine = engine_of(starts * repeat, groups, "helbing", slots=slots, threads=threads)
        worlds = range(len(starts) * repeat)
        for _ in range(120):
            engine.step()
        for w in worlds:
            expected = alone[w % len(starts)][-1]
            n = len(expected)
            got = np.stack((engine.world.pedestrians.x[w, :n], engine.world.pedestrians.y[w, :n]), -1)
            assert np.array_equal(got, expected)
        engine.close()


def test_a_world_that_begins_anew_forgets_its_groups():
    engine = engine_of([visitors(1)], Groups(join_rate=0.5, leave_rate=0.2))
    first = run(engine, 8.0)[0]
    engine.reset(0, visitors(1))
    assert np.array_equal(run(engine, 8.0)[0], first)


@pytest.mark.parametrize(
    "wrong",
    [{"spacing": 0.0}, {"catch_up": 0.5}, {"torn": 1.0}, {"abreast": 0}, {"join_rate": -0.1}, {"gain": float("nan")}, {"most": 0}],
)
def test_parameters_that_make_no_sense_are_refused(wrong):
    with pytest.raises((ValueError, InputError), match=next(iter(wrong))):
        Groups(**wrong)
