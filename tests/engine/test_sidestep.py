"""Recorded pedestrians step aside for a robot that is about to touch them, and nobody else leaves the recording."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from tests.engines import engine
from tests.pedestrians.crowds import random_crowd
from tests.pedestrians.twins import clearance
from tests.starts import DISC, plane, start

from agora.core.jit import bind
from agora.draft.sidestep import Sidestep
from agora.engine.sidestep import step_aside
from agora.world import records
from agora.world.trajectories import Trajectories

DT = 0.05
HOW = Sidestep(most=0.7)
WALK = Trajectories.of_rows([0.2, 9.0, 0.0, 9.0], [4, 4, 7, 7], [-5.0, 6.0, 8.0, -3.0], [0.4, 2.5, 8.0, 7.7])
"""Somebody who passes (0, 1.3), and somebody far away."""


def walked(pose, command=(0.0, 0.0, 0.0), *, sidestep=HOW, recorded=WALK, place=None, seconds=8.9, robots=None):
    """Places (T, 2, n) of recorded pedestrians of 0.2 m, and those of the robot (T, 2)."""
    one = start(pose=pose, goal=(90.0, 90.0, 0.0), place=place, replay=recorded, replay_radius=0.2, timeout=600.0)
    made = engine([one if robots is None else dataclasses.replace(one, robots=robots)], DT, ends=0, sidestep=sidestep)
    people, robot = [], []
    for _ in range(round(seconds / DT)):
        made.step(None if robots == () else np.array([[command]], np.float32))
        now, at = made.world.pedestrians, made.world.robots
        people.append(np.stack([now.x[0, : recorded.count], now.y[0, : recorded.count]]))
        robot.append((at.x[0, 0], at.y[0, 0]) if at.x.shape[1] else (np.nan, np.nan))
    return np.array(people), np.array(robot)


def off(found, **more):
    """(T, n) how far people are from where they were recorded."""
    plain, _ = walked((0.0, 8.0, 0.0), robots=(), sidestep=None, **more)
    return np.hypot(*np.moveaxis(found - plain, 1, 0))


AWAY = {"in the way": ((0.3, 1.4, 2.0), (0.0, 0.0, 0.0)), "head-on": ((5.0, 2.3, -2.95), (0.9, 0.0, 0.0))}


@pytest.mark.parametrize("case", AWAY)
def test_who_is_about_to_be_touched_steps_aside_and_comes_back_to_the_bit(case):
    found, robot = walked(*AWAY[case])
    gap = np.hypot(*(found[:, :, 0] - robot).T) - 0.2 - DISC.radius
    assert gap.min() > 0.05
    far = off(found)
    assert 0.1 < far[:, 0].max() <= 0.7 and far[0, 0] == far[-1, 0] == 0.0
    assert (far[:, 1] == 0.0).all(), "nobody is near the other one"
    assert np.abs(np.diff(far[:, 0])).max() <= HOW.speed * DT + 1e-5, "nobody jumps"


def test_it_is_the_same_without_a_robot_and_with_one_that_passes_behind():
    assert (off(walked((0.0, 8.0, 0.0), robots=())[0]) == 0.0).all()
    assert (off(walked((-5.5, -2.0, 0.6), (0.3, 0.0, 0.0))[0]) == 0.0).all()


def test_they_do_not_see_a_robot_where_they_see_none():
    one = start(pose=(0.3, 1.4, 2.0), replay=WALK, replay_radius=0.2)
    made = [engine([one], DT, ends=0, sidestep=HOW, sees_robots=sees) for sees in (False, True)]
    for each in made * 90:
        each.step(np.zeros((1, 1, 3), np.float32))
    assert made[0].world.replay.aside_x[0, 0] == 0.0 != made[1].world.replay.aside_x[0, 0]


def test_somebody_who_stands_is_pushed_no_farther_than_the_bound():
    stands = Trajectories.of_rows([0.0, 9.0], [3, 3], [0.1, 0.1], [0.5, 0.5])
    found, robot = walked((-1.5, 0.5, 0.0), (0.2, 0.0, 0.0), recorded=stands)
    far = off(found, recorded=stands)[:, 0]
    assert 0.2 < far.max() <= 0.7 + 1e-5
    assert robot[-1, 0] > 0.1 and far[-1] > 0.2, "nobody comes back into a robot"


def test_the_share_of_those_who_step_aside_is_drawn_once_for_an_episode():
    def stepped(share):
        shared = {"pose": (0.3, 1.4, 2.0), "replay": WALK, "replay_radius": 0.2}
        made = engine([start(entry=f"test/share/{k}", **shared) for k in range(60)], DT, ends=0, sidestep=Sidestep(share=share))
        most = np.zeros(60)
        for _ in range(120):
            made.step(np.zeros((60, 1, 3), np.float32))
            most = np.maximum(most, np.hypot(made.world.replay.aside_x[:, 0], made.world.replay.aside_y[:, 0]))
        return most

    none, some, more, everybody = (stepped(share) for share in (0.0, 0.4, 0.7, 1.0))
    assert not none.any() and everybody.all()
    assert 13 <= (some > 0).sum() <= 35, "60 draws of 0.4"
    assert ((some == everybody) | (some == 0)).all(), "who steps aside does so all the way"
    assert (more[some > 0] > 0).all(), "who steps aside among few does so among more"


def test_nobody_steps_into_a_wall():
    room = plane()
    cells = room.occupied.copy()
    rows = np.arange(cells.shape[0]) * room.resolution + room.origin[1]
    wall = (rows > 0.25) & (rows < 0.55)
    cells[wall] = True
    room = dataclasses.replace(room, occupied=cells)
    along = Trajectories.of_rows([0.0, 9.0], [3, 3], [-5.0, 5.0], [0.0, 0.0])
    found, _ = walked((0.0, -0.2, 1.0), recorded=along, place=room)
    beside, _ = walked((0.0, -0.2, 1.0), recorded=along)
    assert beside[:, 1, 0].max() > 0.1, "without the wall they pass on its side"
    half_a_cell = 0.5 * room.resolution  # as finely as the distance field knows the wall
    assert 0.0 < found[:, 1, 0].max() <= rows[wall].min() - 0.2 + half_a_cell


def moved(crowd, w, i, aside, how, h):
    """The displacement (2,) of pedestrian i after a substep, in plain Python."""
    people, robots = crowd.pedestrians, crowd.robots
    place, going = np.array([people.x[w, i], people.y[w, i]], float), np.array([people.vx[w, i], people.vy[w, i]], float)
    recorded, m, radius = place.copy(), int(crowd.maps.index[w]), float(crowd.traits.radius[w, i])
    place = place + aside

    def first(velocity):
        touching = []
        for r in np.flatnonzero(robots.active[w]):
            d = np.array([robots.x[w, r], robots.y[w, r]], float) - place
            v = np.array([robots.world_vx[w, r], robots.world_vy[w, r]], float) - velocity
            reach = radius + how.margin + float(crowd.robot_traits.radius[w, r])
            a, b, c = v @ v, d @ v, d @ d - reach * reach
            if b < 0 and (c <= 0 or b * b > a * c):
                touching.append((0.0 if c <= 0 else (-b - math.sqrt(b * b - a * c)) / a, r, d, v, reach))
        return min([one for one in touching if one[0] < how.horizon], key=lambda one: one[:2], default=None)

    change = np.zeros(2)
    if threat := first(going):
        _, _, d, v, reach = threat
        nearest = -(d @ v) / (v @ v)
        miss = d + nearest * v
        apart = np.hypot(*miss)
        change = -min((reach - apart) / max(nearest, h), how.speed) * miss / apart
    elif aside.any():
        homeward = -min(how.back / np.hypot(*aside), 1 / h) * aside
        change = np.zeros(2) if first(going + homeward) else homeward

    def shorter(by, less):
        far = np.hypot(*by)
        return max(min(far, how.most) - less, 0.0) / far * by if far else by

    after = shorter(aside + change * h, 0.0)
    if clearance(crowd.maps, m, *(recorded + after))[0] < min(clearance(crowd.maps, m, *recorded)[0], radius):
        return shorter(aside, how.back * h)
    return after


def test_the_kernel_is_its_plain_twin():
    rng, how, changed = np.random.default_rng(2), Sidestep(1.3, 0.15, 0.8, 0.4, 0.5), 0
    for _ in range(4):
        crowd = random_crowd(rng, counts=(23, 0, 1, 14, 30))
        crowd.robots.world_vx[...], crowd.robots.world_vy[...] = rng.uniform(-2, 2, (2, *crowd.robots.x.shape))
        worlds, slots = crowd.pedestrians.x.shape
        replay, clock = records.replay(worlds, slots), records.status(worlds, 2, slots, delay=0).clock
        clock.done[:] = False
        replay.last[...] = 1
        aside = rng.normal(0.0, 0.2, (2, worlds, slots)).astype(np.float32) * (rng.random((worlds, slots)) < 0.5)
        replay.aside_x[...], replay.aside_y[...] = aside
        before = type(crowd.pedestrians)(*(part.copy() for part in crowd.pedestrians))
        before.x[...] += aside[0]
        before.y[...] += aside[1]
        after = type(before)(*(part.copy() for part in crowd.pedestrians))
        numbers = np.array([how.horizon, how.margin, how.speed, how.back, how.most, how.share], np.float32)
        seen = (crowd.traits, replay, crowd.robots, crowd.robot_traits, crowd.maps, clock)
        bind(step_aside, np.float32(0.1), np.int64(2), *numbers, before, after, *seen)(0, worlds)
        for w in range(worlds):
            for i in np.flatnonzero(before.active[w, : crowd.traits.count[w]]):
                expected = moved(crowd, w, i, aside[:, w, i].astype(float), how, 0.05)
                found = np.array([replay.aside_x[w, i], replay.aside_y[w, i]])
                assert found == pytest.approx(expected, abs=2e-4)
                assert (after.x[w, i], after.y[w, i]) == pytest.approx(
                    (crowd.pedestrians.x[w, i] + found[0], crowd.pedestrians.y[w, i] + found[1]), abs=1e-5
                )
                changed += np.abs(found - aside[:, w, i]).max() > 1e-4
    assert changed > 40
