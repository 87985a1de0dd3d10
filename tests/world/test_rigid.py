"""Rigid bodies keep their shape, turn with their way, are touched as one, and step aside as one."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from tests.engines import engine
from tests.starts import start

from agora.draft.sidestep import Sidestep
from agora.errors import InputError
from agora.tasks.obstacles.motion_profiles import SHAPES
from agora.world.rigid import ride
from agora.world.trajectories import Trajectories, joined

DT = 0.02
WAY = np.array([[0.0, -6.0, 3.1], [2.1, -3.5, 2.2], [3.0, -2.0, 4.0], [3.9, -2.6, 2.3], [7.3, 2.0, -1.7], [9.0, 2.4, 1.2]])
"""A crooked way with turns to both sides, one of them sharp."""
CROSSWISE = tuple((y, x) for x, y in SHAPES["bar"])


def body(way, centres, *, window=2.0, first_id=31, number=4, period=0.0):
    """A body as recorded trajectories."""
    discs = ride(np.asarray(way, float), np.asarray(centres, float), window)
    count, knots = discs.shape[:2]
    ids, rows = first_id + np.arange(count), discs.reshape(-1, 3)
    same = {"period": np.full(count, period), "body": np.full(count, number)}
    return Trajectories(*rows.T, np.arange(count + 1) * knots, ids, **same)


def played(recorded, pose=(9.0, 8.0, 0.0), command=(0.0, 0.0, 0.0), *, seconds=8.9, radius=0.25, **more):
    """Places and velocities (T, 4, n) of recorded discs, and the contact events as (party, time)."""
    one = start(pose=pose, goal=(90.0, 90.0, 0.0), replay=recorded, replay_radius=radius, timeout=600.0)
    made = engine([one], DT, ends=0, **more)
    found, world = [], made.world
    for _ in range(round(seconds / DT)):
        made.step(np.array([[command]], np.float32))
        now = world.pedestrians
        found.append([array[0, : recorded.count].copy() for array in (now.x, now.y, now.vx, now.vy)])
    events, count = world.status.events, int(world.status.events.count[0])
    return np.array(found), [(int(events.party[0, k]), DT * int(events.step[0, k])) for k in range(count)]


def distances(places):
    """Distances (T, n, n) between discs at places (T, 2, n)."""
    return np.hypot(*np.moveaxis(places[..., :, None] - places[..., None, :], 1, 0))


@pytest.mark.parametrize("shape", SHAPES)
def test_discs_keep_their_distances_while_the_body_moves_and_turns(shape):
    found, _ = played(body(WAY, SHAPES[shape]))
    centres = np.array(SHAPES[shape])
    assert distances(found[:, :2]) == pytest.approx(
        np.broadcast_to(distances(centres.T[None])[0], (len(found), *[len(centres)] * 2)), abs=1e-4
    )
    across = found[:, :2, -1] - found[:, :2, 0]
    assert np.ptp(np.unwrap(np.arctan2(across[:, 1], across[:, 0]))) > 2.0


@pytest.mark.parametrize("shape", SHAPES)
def test_the_velocity_of_a_disc_is_the_change_of_its_place(shape):
    found, _ = played(body(WAY, SHAPES[shape]))
    differences = np.diff(found[:, :2], axis=0) / DT
    told = 0.5 * (found[1:, 2:] + found[:-1, 2:])
    smooth = np.abs(np.diff(found[:, 2:], axis=0)).max(axis=(1, 2)) < 0.2  # no corner of the way in this step
    assert smooth.mean() > 0.9
    assert differences[smooth] == pytest.approx(told[smooth], abs=0.05)


def test_a_disc_moves_as_its_body_does_and_with_its_rotation():
    corner, speed, window = 4.0, 1.5, 2.0
    way = [[0.0, -6.0, 0.0], [corner, 0.0, 0.0], [8.0, 0.0, 6.0]]
    centres = np.array([[0.0, 0.0], [0.8, 0.3], [-0.5, 0.6]])
    recorded, rate = body(way, centres, window=window), 0.5 * math.pi / window
    for time, expected in {2.0: 0.0, 3.3: 0.3 * rate, 4.0: 0.25 * math.pi, 4.6: 1.6 * rate, 6.0: 0.5 * math.pi}.items():
        found = recorded.at(time + 1e-4)
        c, s = math.cos(expected), math.sin(expected)
        arms = centres @ [[c, s], [-s, c]]
        assert found.position - found.position[0] == pytest.approx(arms, abs=5e-4)
        along = np.array([speed, 0.0] if time < corner else [0.0, speed])
        turning = rate if abs(time - corner) < 0.5 * window else 0.0
        rotation = turning * np.column_stack((-arms[:, 1], arms[:, 0]))
        assert found.velocity == pytest.approx(along + rotation, abs=0.02), f"v + omega x r at {time}"


def test_the_origin_of_the_body_is_on_the_way_all_the_time():
    disc = ride(WAY, np.array([[0.0, 0.0]]), 2.0)[0]
    times = np.linspace(0.0, 9.0, 500)
    for axis in (1, 2):
        assert np.interp(times, disc[:, 0], disc[:, axis]) == pytest.approx(np.interp(times, WAY[:, 0], WAY[:, axis]), abs=2e-3)
    assert disc[[0, -1]] == pytest.approx(WAY[[0, -1]])


STRAIGHT = np.array([[0.0, -6.0, 0.0], [8.0, 6.0, 0.0]])


def test_a_robot_beside_the_way_is_missed_by_a_cylinder_and_hit_by_a_bar_that_lies_across():
    beside = (0.0, 0.8, 1.0)  # 0.05 m from a cylinder of 0.5 m that passes a robot of 0.25 m
    assert played(body(STRAIGHT, [(0.0, 0.0)]), beside, radius=0.5)[1] == []
    assert played(body(STRAIGHT, SHAPES["bar"]), beside)[1] == [], "the bar lies along its way and is narrow"
    (hit,) = played(body(STRAIGHT, CROSSWISE), beside)[1]
    assert hit[1] == pytest.approx(3.7, abs=0.1)


def test_a_body_that_passes_over_a_robot_disc_after_disc_is_one_contact_and_two_bodies_are_two():
    along = body(STRAIGHT, SHAPES["bar"])
    (party, moment) = played(along, (0.0, 0.1, 0.0))[1][0]
    assert len(played(along, (0.0, 0.1, 0.0))[1]) == 1
    assert party == 35, "the foremost disc is touched first"
    assert moment == pytest.approx((6.0 - 0.75 - math.sqrt(0.5**2 - 0.1**2)) / 1.5, abs=DT)
    later = body(STRAIGHT + [[1.6, 0.0, 0.0]], SHAPES["bar"], first_id=51)
    assert [party for party, _ in played(joined([along, later]), (0.0, 0.1, 0.0), seconds=9.5)[1]] == [35, 55]
    loose = dataclasses.replace(along, body=np.full(along.count, -1))
    assert len(played(loose, (0.0, 0.1, 0.0))[1]) == 5, "discs of their own are counted each"


def test_a_body_that_comes_again_is_touched_again():
    again = body(STRAIGHT, SHAPES["l"], period=8.0)
    events = played(again, (0.0, 0.1, 0.0), seconds=20.0)[1]
    assert len(events) == 3 and np.diff([time for _, time in events]) == pytest.approx(8.0, abs=2 * DT)


def test_a_body_steps_aside_as_one_and_comes_back_to_the_bit():
    recorded, robot = body(WAY, SHAPES["bar"]), (0.3, 0.1, 2.0)
    alone, hits = played(recorded, robot)
    found, events = played(recorded, robot, sidestep=Sidestep(horizon=1.5, most=1.5))
    assert len(hits) == 1 and events == []
    assert distances(found[:, :2]) == pytest.approx(distances(alone[:, :2]), abs=1e-5)
    off = np.hypot(*np.moveaxis(found[:, :2] - alone[:, :2], 1, 0))
    assert np.ptp(off, axis=1).max() < 1e-5 and 0.1 < off.max() <= 1.5
    assert (off[[0, -1]] == 0.0).all()


def test_a_body_is_the_same_to_the_bit_alone_and_in_a_batch_with_others():
    robot, how = (0.3, 0.1, 2.0), Sidestep(horizon=0.4, most=0.3)
    shared = {"replay_radius": 0.25, "goal": (90.0, 90.0, 0.0)}
    one = start(pose=robot, replay=body(WAY, SHAPES["l"]), **shared)
    other = start(pose=robot, replay=joined([body(WAY, SHAPES["bar"]), body(WAY, SHAPES["l"], first_id=61)]), **shared)
    nobody = start(pose=robot, **shared)
    alone = engine([one], DT, ends=0, sidestep=how)
    among = engine([nobody, other, one], DT, ends=0, sidestep=how, threads=2, slots=48)
    for _ in range(round(8.0 / DT)):
        alone.step(np.zeros((1, 1, 3), np.float32))
        among.step(np.zeros((3, 1, 3), np.float32))
        for mine, theirs in zip(alone.world.pedestrians, among.world.pedestrians, strict=True):
            assert np.array_equal(mine[0, :7], theirs[2, :7])
    assert alone.world.status.events.count.tolist() == [1]
    assert among.world.status.events.count.tolist()[::2] == [0, 1]


def test_bodies_are_numbered_apart_and_their_discs_are_neighbours():
    both = joined([body(WAY, SHAPES["bar"]), body(WAY, SHAPES["l"], first_id=61)])
    assert both.body.tolist() == [4] * 5 + [9] * 7
    assert both.only(both.id > 33).body.tolist() == [4] * 2 + [9] * 7
    with pytest.raises(InputError, match="the discs of a body are not consecutive"):
        dataclasses.replace(both, body=np.array([1, 2, 1, *[-1] * 9]))
