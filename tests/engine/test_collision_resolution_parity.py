"""The kernel of the last step of those who yield is its plain twin."""

from __future__ import annotations

import numpy as np
import pytest
from tests.engine.plain_collision_resolution import held_apart
from tests.engine.plain_published_collision_resolution import ALL, NOTHING, ROBOTS
from tests.engine.test_published_collision_resolution_parity import crowded

from agora.core.jit import bind
from agora.engine.collision_resolution import keep_apart
from agora.engine.gait import Gait
from agora.world import records


def ways(shape, seed, alike):
    """Gaits with ways in all directions, or in one, and here and there none; half of the people are impatient."""
    rng = np.random.default_rng(seed)
    gait = Gait(*np.zeros((7, *shape), np.float32))
    angle = 0.3 + (0.2 * rng.normal(size=shape) if alike else rng.uniform(-np.pi, np.pi, shape))
    goes = rng.uniform(size=shape) < 0.9
    gait.way_x[...], gait.way_y[...] = goes * np.cos(angle), goes * np.sin(angle)
    gait.held[...] = np.clip(rng.uniform(-1.0, 1.0, shape), 0.0, 1.0)
    gait.door[...] = rng.uniform(size=shape) < 0.3
    return gait


def compiled(crowd, v, minds, h, sees, gait):
    x, y = v[..., 0].copy(), v[..., 1].copy()
    worlds, slots = x.shape
    clock = records.status(worlds, 2, slots, delay=0).clock
    clock.done[:] = False
    given = (minds, crowd.pedestrians, crowd.traits, crowd.waypoints, records.replay(worlds, slots), crowd.robots)
    step = np.float32(2 * h), np.int64(2), np.int64(sees)
    bind(keep_apart, *step, *given, crowd.robot_traits, crowd.maps, clock, gait, x, y)(0, worlds)
    return np.stack([x, y], -1)


@pytest.mark.parametrize("sees", [0, 1, 3])
@pytest.mark.parametrize(("spread", "alike"), [(0.3, True), (0.3, False), (0.5, False), (0.5, True)])
def test_the_kernel_is_its_plain_twin(spread, alike, sees):
    changed, turned = 0, 0.0
    for seed in range(4):
        crowd, v, number = crowded(seed, spread)
        minds = np.array([ALL, ROBOTS, NOTHING], np.int32)[number]
        gait = ways(number.shape, seed, alike)
        (expected, most), found = held_apart(crowd, minds, 0.05, v, sees, gait), compiled(crowd, v, minds, 0.05, sees, gait)
        off = np.abs(found - expected).max(-1)
        assert off[crowd.pedestrians.active].max() < 5e-4
        changed, turned = changed + (np.abs(found - v).max(-1) > 1e-3).sum(), max(turned, most)
    assert changed > (10 if sees else 0)
    assert not (sees and alike and spread < 0.5) or turned > 0.05
