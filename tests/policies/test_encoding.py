"""The geometry in a policy's vector has a fixed scale, and its actions span the robot's limits."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from agora.errors import InputError
from agora.interfaces import Limits, Tracks
from agora.policies.encoding import Observe, action_size, to_actions, to_twists
from agora.robots.model import load_robot
from agora.testing.scenes import Move, observation

SCENE = {"rows": 5, "pedestrians": 9, "beams": 91, "max_vy": 0.3}


def twin(o, see: Observe) -> np.ndarray:
    """The same in float64, one row after the other."""
    rows = []
    for n in range(len(o.pose)):
        x, y, heading = o.pose[n].astype(float)
        into = np.array([[math.cos(heading), math.sin(heading)], [-math.sin(heading), math.cos(heading)]])
        cuts = [b * o.scan.shape[1] // see.beams for b in range(see.beams + 1)]
        scan = [min(o.scan[n, a:b].min() / see.scan_range, 1.0) for a, b in zip(cuts, cuts[1:], strict=False)]
        goal = into @ (o.goal[n, :2] - (x, y))
        distance = np.hypot(*goal)
        polar = [min(distance / see.goal_range, 1.0), *(goal / distance)]
        m = o.limits
        twist = o.twist[n] / (max(m.max_vx[n], -m.min_vx[n]), max(m.max_vy[n], 1e-6), m.max_omega[n])
        places = o.pedestrians.position[n] - (x, y)
        near = np.hypot(*places.T)
        order = [i for i in np.argsort(near) if o.pedestrians.present[n, i] and near[i] <= see.pedestrian_range]
        people = np.zeros((see.pedestrians, 5))
        for k, i in enumerate(order[: see.pedestrians]):
            velocity = into @ o.pedestrians.velocity[n, i] / see.pedestrian_speed
            people[k] = [*(into @ places[i] / see.pedestrian_range), *velocity, 1.0]
        rows.append(np.clip(np.concatenate([scan, polar, twist, people.ravel()]), -1, 1))
    return np.array(rows)


@pytest.mark.parametrize("see", [Observe(7, 6.0, 5.0, 4), Observe(91, 6.0, 30.0, 2, 2.5, 0.4), Observe(36, pedestrians=8)])
def test_a_vector_is_what_plain_geometry_says(see):
    o = observation(**SCENE)
    assert see(o) == pytest.approx(twin(o, see), abs=3e-6)


def test_no_scan_and_no_pedestrians_leave_goal_and_twist():
    o, see = observation(**SCENE), Observe(beams=0)
    assert see(o) == pytest.approx(twin(o, Observe(1))[:, 1:7], abs=3e-6)
    assert see.needs == frozenset()
    assert Observe(pedestrians=1).needs == {"scan", "pedestrians"}


def test_a_goal_to_the_left_and_behind_reads_so():
    o = observation(rows=1)
    pose = np.array([[2.0, -1.0, 0.5]], np.float32)
    bearing = 2.3
    goal = np.array([[2.0 + 6.0 * math.cos(0.5 + bearing), -1.0 + 6.0 * math.sin(0.5 + bearing), 1.0]], np.float32)
    seen = Observe(0, goal_range=8.0)(dataclasses.replace(o, pose=pose, goal=goal))[0]
    assert seen[:3] == pytest.approx([0.75, math.cos(bearing), math.sin(bearing)], abs=1e-6)


def test_at_the_goal_the_bearing_is_straight_ahead():
    o = observation(rows=2)
    assert Observe(0)(dataclasses.replace(o, goal=o.pose))[:, :3].tolist() == [[0.0, 1.0, 0.0]] * 2


def test_moving_and_turning_the_whole_scene_changes_nothing():
    see = Observe(13, pedestrians=4)
    here = see(observation(**SCENE))
    there = see(observation(**SCENE, move=Move(-13.0, 4.5, 2.1)))
    assert there == pytest.approx(here, abs=2e-5)


def test_the_nearest_pedestrians_come_first_and_farther_ones_than_the_range_not_at_all():
    o, see = observation(**SCENE), Observe(0, pedestrians=9, pedestrian_range=3.0)
    people = see(o)[:, see.parts["pedestrians"]].reshape(5, 9, 5)
    distance, there = np.hypot(people[..., 0], people[..., 1]), people[..., 4] == 1
    apart = np.hypot(*np.moveaxis(o.pedestrians.position - o.pose[:, None, :2], 2, 0))
    assert there.sum(1).tolist() == (o.pedestrians.present & (apart <= 3.0)).sum(1).tolist()
    assert 0 < there.sum() < o.pedestrians.present.sum()
    for row, seen in zip(distance, there, strict=True):
        assert (np.diff(row[seen]) >= 0).all()
        assert seen[: seen.sum()].all()
    assert not people[~there].any()


def test_empty_slots_change_no_bit():
    o, see = observation(**SCENE), Observe(20, pedestrians=3)
    padded = {}
    for field in dataclasses.fields(Tracks):
        values = getattr(o.pedestrians, field.name)
        wide = np.full((5, 16, *values.shape[2:]), 1, values.dtype)
        wide[:, 2:11] = values
        padded[field.name] = wide
    padded["present"][:, :2] = padded["present"][:, 11:] = False
    assert np.array_equal(see(dataclasses.replace(o, pedestrians=Tracks(**padded))), see(o))


def test_rows_are_written_alone_as_together():
    o, see = observation(**SCENE), Observe(20, pedestrians=3)
    out = np.full((5, see.length), 7.0, np.float32)
    see.write(o, out, 2, 4)
    assert np.array_equal(out[2:4], see(o)[2:4])
    assert (out[[0, 1, 4]] == 7).all()


def test_every_value_is_within_its_bounds_however_large_what_is_seen():
    o, see = observation(**SCENE), Observe(9, 0.7, 0.1, 6, 20.0, 1e-3)
    wild = dataclasses.replace(o, twist=o.twist * np.float32(-5000.0), goal=o.goal * np.float32(30.0))
    for seen in (see(o), see(wild)):
        assert (seen >= see.low).all()
        assert (seen <= see.high).all()
    assert (np.abs(see(wild)[:, see.parts["twist"]]) == 1).all()


def test_the_parts_cover_the_vector():
    see = Observe(11, pedestrians=2)
    assert {k: (s.start, s.stop) for k, s in see.parts.items()} == {
        "scan": (0, 11),
        "goal": (11, 14),
        "twist": (14, 17),
        "pedestrians": (17, 27),
    }
    assert see.length == len(see.low) == len(see.high) == 27
    assert see.low.tolist() == [0.0] * 12 + [-1.0] * 5 + [-1.0] * 4 + [0.0] + [-1.0] * 4 + [0.0]


@pytest.mark.parametrize("wrong", [{"beams": -1}, {"pedestrians": 1.5}, {"scan_range": 0.0}, {"goal_range": math.inf}])
def test_what_makes_no_observation_is_refused(wrong):
    with pytest.raises(InputError, match=next(iter(wrong))):
        Observe(**wrong)


def test_more_values_than_beams_are_refused():
    with pytest.raises(InputError, match="lidar, 91, got 92"):
        Observe(92)(observation(**SCENE))


@pytest.mark.parametrize("name", ["burger", "f1tenth", "ridgeback", "jackal_barn", "go1"])
def test_actions_go_from_limit_to_limit(name):
    model = load_robot(name)
    limits = model.limits(3)
    size = action_size(limits)
    assert size == (3 if model.vy else 2)
    actions = np.array([[-1.0] * size, [1.0] * size, [9.0] * size])
    vx, vy, omega = to_twists(actions, limits).T
    low, high = np.float32(model.vx)
    assert vx.tolist() == [low, high, high]
    assert vy.tolist() == [-np.float32(model.vy), np.float32(model.vy), np.float32(model.vy)]
    circle = np.abs(vx) / model.turning_radius if model.turning_radius else np.inf
    fastest = np.minimum(np.float32(model.omega), circle)
    assert omega == pytest.approx(fastest * np.array([-1, 1, 1]), rel=1e-6)


def test_a_planners_twists_survive_the_way_through_actions(rng):
    m = observation(rows=40, max_vy=0.3).limits
    twists = rng.uniform(-1, 1, (40, 3)) * (0.45, 0.3, 1.2) + (0.35, 0.0, 0.0)
    assert to_twists(to_actions(twists, m), m) == pytest.approx(twists, abs=1e-6)


def test_a_robot_that_cannot_move_has_actions_all_the_same():
    still = Limits(np.array([False]), *(np.zeros(1, np.float32) for _ in range(8)))
    assert to_actions(np.zeros((1, 3)), still).tolist() == [[0.0, 0.0]]
    assert to_twists(np.ones((1, 2)), still).tolist() == [[0.0, 0.0, 0.0]]


def test_an_action_that_is_no_number_gives_a_twist_that_is_none():
    limits = load_robot("burger").limits(2)
    twists = to_twists(np.array([[np.nan, 0.2], [0.1, 0.2]]), limits)
    assert np.isnan(twists[0, 0])
    assert np.isfinite(twists[1]).all()


def test_earlier_scans_follow_the_latest_first_and_are_the_first_one_at_the_start(rng):
    see = Observe(beams=4, pedestrians=1, scans=3)
    plain = Observe(beams=4, pedestrians=1)
    o = observation(rows=3, pedestrians=2, beams=91)
    scans = [rng.uniform(0.2, 14.0, o.scan.shape).astype(np.float32) for _ in range(4)]
    begins = [[True] * 3, [False] * 3, [False, True, False], [False] * 3]
    before, seen = np.full((3, see.length), 7.0, np.float32), []
    for scan, fresh in zip(scans, begins, strict=True):
        now = dataclasses.replace(o, scan=scan)
        row = see(now)
        for _ in range(2):  # to do it twice changes nothing
            see.remember(row, before, np.array(fresh))
        assert np.array_equal(row[:, : plain.length], plain(now))
        seen.append(row)
        before = row
    pooled = [plain(dataclasses.replace(o, scan=scan))[:, :4] for scan in scans]
    first = see.parts["earlier"].start
    assert first == plain.length and see.length == plain.length + 8
    assert (see.low[first:] == 0.0).all() and len(see.low) == len(see.high) == see.length
    expected = {0: [0, 0, 0], 1: [0, 0, 0], 2: [1, 2, 1], 3: [2, 2, 2]}
    for t, ks in expected.items():
        for n, k in enumerate(ks):
            assert np.array_equal(seen[t][n, first : first + 4], pooled[k][n])
    oldest = {1: [0, 0, 0], 2: [0, 2, 0], 3: [1, 2, 1]}
    for t, ks in oldest.items():
        for n, k in enumerate(ks):
            assert np.array_equal(seen[t][n, first + 4 :], pooled[k][n])


def test_scans_are_remembered_by_who_has_any():
    assert Observe(beams=3).length == Observe(beams=3, scans=1).length
    with pytest.raises(InputError, match="scans must be 1 where beams is 0"):
        Observe(beams=0, scans=2)
    with pytest.raises(InputError, match="scans: expected an integer of at least 1"):
        Observe(scans=0)
