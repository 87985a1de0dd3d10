"""People who walk unsteadily: how far, for how long, and whom it spares."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from tests.engines import engine
from tests.pedestrians.crowds import random_crowd
from tests.starts import people, start

from agora.core.jit import bind
from agora.core.state import minds as minds_of
from agora.draft.unsteady import Unsteady
from agora.engine.unsteady import Deviations, Process, waver
from agora.pedestrians.models.anticipation import Anticipation
from agora.pedestrians.models.waypoint import Waypoint
from agora.seeds import Stream
from agora.world import records
from agora.world.trajectories import Trajectories

HOW = Unsteady(pace=0.2, pace_time=2.0, direction=0.15, direction_time=4.0)
PERIOD = 0.1


def crowd_of(seed):
    """A crowd of whom everybody has an id of its own."""
    crowd = random_crowd(np.random.default_rng(seed))
    crowd.traits.id[...] = 5 + np.arange(crowd.traits.id.size).reshape(crowd.traits.id.shape)
    return crowd


def deviations(shape):
    return Deviations(np.zeros(shape, np.bool_), *np.zeros((2, *shape), np.float32))


def wavered(crowd, off, how=HOW, step=0, replay=None, crowd_minds=None):
    """Speeds (W, P) and points (W, P, 2) that `waver` makes of a crowd's, whose deviations it changes."""
    worlds, slots = crowd.pedestrians.x.shape
    clock = records.status(worlds, 2, slots, delay=0).clock
    clock.done[:], clock.key[:], clock.step[:] = False, np.arange(worlds) + 77, step
    traits, x, y = crowd.traits._replace(speed=crowd.traits.speed.copy()), *np.zeros((2, worlds, slots), np.float32)
    processes = Process.of(how.pace, how.pace_time, PERIOD), Process.of(how.direction, how.direction_time, PERIOD)
    minds = crowd_minds if crowd_minds is not None else minds_of(worlds, slots)
    given = crowd.pedestrians, traits, minds, crowd.waypoints, replay or records.replay(worlds, slots), clock, off
    bind(waver, *processes, *given, x, y)(0, worlds)
    return traits.speed, np.stack([x, y], -1), clock


def plain(crowd, w, i, clock, before, how=HOW):
    """Deviations of one pedestrian in float64, from those ``before``, None at the beginning; and the speed and point of it."""
    place = np.array([crowd.pedestrians.x[w, i], crowd.pedestrians.y[w, i]], float)
    v = np.array([crowd.pedestrians.vx[w, i], crowd.pedestrians.vy[w, i]], float)
    way = np.array([crowd.waypoints.x[w, i], crowd.waypoints.y[w, i]], float) - place
    speed, group = float(crowd.traits.speed[w, i]), crowd.traits.group[w, i]
    who, use = (group, 981) if group >= 0 else (crowd.traits.id[w, i], 979)
    stream = Stream("", 0, "", int(who), int(clock.step[w]))
    stream.key = clock.key[w]
    z = math.sqrt(12.0) * (stream.uniform(shape=use + 2)[use:] - 0.5)
    off = []
    for k, (size, time) in enumerate(((how.pace, how.pace_time), (how.direction, how.direction_time))):
        kept = math.exp(-PERIOD / time)
        off.append(size * z[k] if before is None else kept * before[k] + size * math.sqrt(1.0 - kept**2) * z[k])
    if before is None and np.hypot(*v) > 0.01:
        off[0] = np.hypot(*v) / speed - 1.0
    if before is None and np.hypot(*v) > 0.2:
        off[1] = math.atan2(way[0] * v[1] - way[1] * v[0], way @ v)
    off = [np.clip(off[0], -0.9, 1.0), np.clip(off[1], -1.2, 1.2)]
    turned = off[1] * min(np.hypot(*way) / 2.0, 1.0)
    turn = np.array([[np.cos(turned), -np.sin(turned)], [np.sin(turned), np.cos(turned)]])
    return off, speed * (1.0 + off[0]), place + turn @ way


def test_deviations_are_those_of_the_plain_twin():
    for seed in range(3):
        crowd = crowd_of(seed)
        off, known = deviations(crowd.pedestrians.x.shape), {}
        for step in (0, 2, 4):
            speed, point, clock = wavered(crowd, off, step=step)
            for w, i in np.argwhere(crowd.pedestrians.active):
                known[w, i], expected, there = plain(crowd, w, i, clock, known.get((w, i)))
                assert (off.pace[w, i], off.direction[w, i]) == pytest.approx(known[w, i], abs=2e-5)
                assert speed[w, i] == pytest.approx(expected, abs=5e-5)
                assert point[w, i] == pytest.approx(there, abs=2e-3)
        assert not off.known[~crowd.pedestrians.active].any()


def test_deviations_have_the_size_and_the_memory_that_the_fields_say():
    crowd = crowd_of(5)
    for field in (crowd.pedestrians.vx, crowd.pedestrians.vy):
        field[...] = 0.0
    off, seen = deviations(crowd.pedestrians.x.shape), []
    for step in range(3000):
        wavered(crowd, off, step=step)
        seen.append(np.stack([off.pace, off.direction])[:, crowd.pedestrians.active & (crowd.traits.group < 0)])
    seen = np.array(seen)
    assert seen.std((0, 2)) == pytest.approx([0.2, 0.15], rel=0.1)
    for k, time in enumerate((2.0, 4.0)):
        later = round(time / PERIOD)
        assert (seen[:-later, k] * seen[later:, k]).mean() / seen[:, k].var() == pytest.approx(math.exp(-1.0), abs=0.08)


def test_members_of_a_group_share_their_fluctuations_and_strangers_do_not():
    crowd = crowd_of(2)
    for field in (crowd.pedestrians.vx, crowd.pedestrians.vy):
        field[...] = 0.0
    crowd.traits.group[...] = -1
    mine = np.flatnonzero(crowd.pedestrians.active[0])[:4]
    crowd.traits.group[0, mine[:3]] = 6
    off = deviations(crowd.pedestrians.x.shape)
    wavered(crowd, off, step=3)
    assert (off.pace[0, mine[:3]] == off.pace[0, mine[0]]).all() and (off.direction[0, mine[:3]] == off.direction[0, mine[0]]).all()
    assert off.pace[0, mine[3]] != off.pace[0, mine[0]]


def test_followers_of_a_group_do_not_fluctuate_on_top_of_their_leader():
    crowd = crowd_of(2)
    led = minds_of(*crowd.pedestrians.x.shape)
    followers = np.zeros(crowd.pedestrians.x.shape, np.bool_)
    followers[0, :3] = True
    led.led[...] = followers
    off = deviations(crowd.pedestrians.x.shape)
    speed, point, _ = wavered(crowd, off, crowd_minds=led)
    assert (speed[followers] == crowd.traits.speed[followers]).all() and not off.known[followers].any()
    assert (point[followers] == np.stack([crowd.waypoints.x, crowd.waypoints.y], -1)[followers]).all()
    others = crowd.pedestrians.active & ~followers
    assert (speed[others] != crowd.traits.speed[others]).mean() > 0.9


def pace_and_place(mode=2, seconds=20.0, how=HOW, model=None, velocity=(0.0, 0.0)):
    """Places (T, 2) and speeds (T,) of somebody who walks from (-3, 0.4) to (9, 1.7), waypoints of 0.3 m."""
    walker = dataclasses.replace(people([(-3.0, 0.4)], [(9.0, 1.7)], mode=mode), velocity=np.array([velocity]))
    begun = start(pose=(0.0, 8.0, 0.0), crowd=walker)
    made = engine([begun], ends=0, crowd=model or Waypoint(), unsteady=how, routes=True, careful=True)
    place, speed = [], []
    for _ in range(round(seconds / 0.05)):
        made.step(np.zeros((1, 1, 3), np.float32))
        now = made.world.pedestrians
        place.append((now.x[0, 0], now.y[0, 0]))
        speed.append(math.hypot(now.vx[0, 0], now.vy[0, 0]))
    return np.array(place, float), np.array(speed)


def test_who_is_unsteady_leaves_the_straight_line_and_still_arrives_and_stands():
    steady, unsteady = (pace_and_place(mode=0, seconds=30.0, how=how, model=Anticipation()) for how in (None, HOW))
    for place, speed in (steady, unsteady):
        assert place[-1] == pytest.approx([9.0, 1.7], abs=0.5)
        assert speed[-40:].max() < 0.05
    way = np.array([12.0, 1.3]) / np.hypot(12.0, 1.3)
    aside = [np.abs(np.cross(way, place - (-3.0, 0.4))).max() for place, _ in (steady, unsteady)]
    assert aside[0] < 0.02 < 0.1 < aside[1] < 1.5
    assert steady[1][40:160].std() < 0.03 < unsteady[1][40:160].std()


def test_who_begins_on_the_way_keeps_what_its_velocity_shows_for_a_while():
    how = Unsteady(pace=0.0, pace_time=3.0, direction=0.0, direction_time=3.0)
    for velocity in ((0.5, 0.05), (1.3, -0.2)):
        _, speed = pace_and_place(seconds=6.0, how=how, velocity=velocity)
        began = np.hypot(*velocity)
        for after in (1.5, 3.0, 5.0):
            assert speed[round(after / 0.05)] == pytest.approx(1.0 + (began - 1.0) * math.exp(-after / 3.0), abs=0.03)


def test_recorded_people_walk_as_they_were_filmed():
    walks = Trajectories.of_rows([0.0, 9.0], [4, 4], [-5.0, 6.0], [0.4, 2.5])
    made = [engine([start(pose=(0.0, 8.0, 0.0), replay=walks)], ends=0, crowd=Waypoint(), unsteady=how) for how in (None, HOW)]
    for each in made * 60:
        each.step(np.zeros((1, 1, 3), np.float32))
    assert made[0].world.pedestrians.x[0, 0] == made[1].world.pedestrians.x[0, 0]


def test_a_batch_in_threads_does_what_each_world_does_alone():
    starts = [start(crowd=people([(-3.0, k), (5.0, -1.0)], [(9.0, 1.7), (-6.0, k)]), entry=f"test/stage/{k}") for k in (0.4, 2.2)]
    made = [engine(starts, threads=2, crowd=Anticipation(), unsteady=HOW, ends=0)]
    made += [engine([one], crowd=Anticipation(), unsteady=HOW, ends=0) for one in starts]
    for each in made:
        for _ in range(60):
            each.step(np.zeros((each.world.layout.worlds, 1, 3), np.float32))
    for w in range(2):
        assert np.array_equal(made[0].world.pedestrians.x[w], made[1 + w].world.pedestrians.x[0])
