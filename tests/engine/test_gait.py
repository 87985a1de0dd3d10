"""Steps as the kernel makes them are those of a plain twin, and what impatience changes."""

from __future__ import annotations

import numpy as np
import pytest
from tests.engine.test_published_collision_resolution_parity import crowded

from agora.core.jit import bind
from agora.draft.steps import Steps
from agora.engine.collision_parts import ALL, NOTHING
from agora.engine.gait import Ahead, Gait, Turning, walk
from agora.world import records

H = 0.05
STEPS = Steps(lateral=1.1, on_the_spot=2.2)


def stepped(crowd, v, sees=0, minds=ALL, held=0.0, steps=STEPS):
    """Return the velocities v (W, P, 2) after `walk`, and everybody's gait; all faced along +y."""
    worlds, slots = v.shape[:2]
    gait = Gait(*np.zeros((7, worlds, slots), np.float32))
    gait.facing_y[...], gait.held[...] = 1.0, held
    clock = records.status(worlds, 2, slots, delay=0).clock
    clock.done[:] = False
    x, y, none = v[..., 0].copy(), v[..., 1].copy(), np.zeros((worlds, slots), np.int32)
    given = (
        np.full_like(none, minds),
        crowd.pedestrians,
        crowd.traits,
        crowd.waypoints,
        records.replay(worlds, slots),
        crowd.robots,
        clock,
        none,
    )
    head = np.float32(2 * H), np.int64(2), Turning.of(steps), np.int64(sees)
    bind(walk, *head, *given, Ahead(*np.zeros((5, worlds, slots), np.float32)), gait, x, y)(0, worlds)
    return np.stack([x, y], -1), gait


def plain(now, asked, fastest):
    """One step of one pedestrian that faced along +y, in float64."""
    speed, facing = np.hypot(*now), np.pi / 2
    if speed > 0.1:
        facing = np.arctan2(now[1], now[0])
    speed = min(speed, fastest)
    most = np.arcsin(H * min(STEPS.on_the_spot, STEPS.lateral / max(speed, 1e-6)))
    if np.hypot(*asked) > 0.02:
        facing += np.clip(np.angle(np.exp(1j * (np.arctan2(asked[1], asked[0]) - facing))), -most, most)
    ahead = np.array([np.cos(facing), np.sin(facing)])
    return np.clip(max(asked @ ahead, 0.0), speed - 3.0 * H, speed + 1.5 * H) * ahead


def test_steps_are_those_of_the_plain_twin():
    for seed in range(4):
        crowd, v, _ = crowded(seed, 1.0)
        people = crowd.pedestrians
        found, gait = stepped(crowd, v)
        for w, i in np.argwhere(people.active & (gait.held == 0.0)):
            now = np.array([people.vx[w, i], people.vy[w, i]], float)
            way = np.array([gait.way_x[w, i], gait.way_y[w, i]], float)
            if now @ way < 0.3 * crowd.traits.speed[w, i] or (way == 0.0).all():
                continue
            expected = plain(now, v[w, i].astype(float), 1.3 * float(crowd.traits.speed[w, i]))
            assert found[w, i] == pytest.approx(expected, abs=2e-3)


def test_the_faster_somebody_walks_the_slower_it_turns():
    crowd, v, _ = crowded(3, 1.0)
    people = crowd.pedestrians
    v[...] = (-2.0, 0.0)
    people.vx[...], people.vy[...] = 0.0, np.linspace(0.15, 1.3, people.vy.size).reshape(people.vy.shape)
    for lateral in (0.4, 1.2):
        found, gait = stepped(crowd, v, minds=ALL, steps=Steps(lateral=lateral))
        turned = np.arctan2(-gait.facing_x, gait.facing_y)
        some = people.active & (gait.held == 0.0) & (people.vy < 1.3 * crowd.traits.speed)
        expected = np.minimum(2.5, lateral / people.vy) * H
        assert some.sum() > 5
        assert turned[some] == pytest.approx(expected[some], rel=0.01)


def test_people_of_models_that_mind_nobody_are_left_alone():
    crowd, v, _ = crowded(2, 1.0)
    found, _ = stepped(crowd, v, minds=NOTHING)
    assert (found == v).all()


def test_only_who_is_kept_from_going_on_gets_impatient():
    crowd, v, _ = crowded(1, 1.0)
    people = crowd.pedestrians
    _, gait = stepped(crowd, v)
    far = np.hypot(crowd.waypoints.x - people.x, crowd.waypoints.y - people.y) > 2.1
    going = people.vx * gait.way_x + people.vy * gait.way_y
    slow = people.active & far & (going < 0.29 * crowd.traits.speed)
    assert slow.sum() > 3
    assert gait.held[slow] == pytest.approx(H)
    assert (gait.held[people.active & (going > 0.31 * crowd.traits.speed)] == 0.0).all()
    _, calmed = stepped(crowd, v, held=0.5)
    assert (calmed.held[people.active & (going > 0.31 * crowd.traits.speed)] < 0.5).all()
