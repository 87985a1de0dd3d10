"""The last step's kernel is its plain twin."""

from __future__ import annotations

import numpy as np
import pytest
from tests.engine.plain_published_collision_resolution import ALL, NOTHING, ROBOTS, held_back
from tests.pedestrians.crowds import random_crowd
from tests.pedestrians.twins import clearance

from agora.core.jit import bind
from agora.engine.published_collision_resolution import keep_apart_as_published
from agora.world import records


def crowded(seed, spread):
    """A crowd drawn together, and velocities at which many would collide."""
    rng = np.random.default_rng(seed)
    crowd = random_crowd(rng, counts=(23, 0, 1, 14, 30))
    for w in range(5):
        for at, middle in ((crowd.pedestrians, 3.0), (crowd.robots, 2.5)):
            corner = crowd.maps.origin_x[crowd.maps.index[w]], crowd.maps.origin_y[crowd.maps.index[w]]
            for values, start in zip((at.x, at.y), corner, strict=True):
                values[w] = start + middle + spread * (values[w] - start - 6.0)
        for i in np.flatnonzero(crowd.pedestrians.active[w]):  # in a wall no direction leads away from it
            free, _ = clearance(crowd.maps, crowd.maps.index[w], crowd.pedestrians.x[w, i], crowd.pedestrians.y[w, i])
            crowd.pedestrians.active[w, i] = free > 0.1
    crowd.robots.world_vx[...] = rng.uniform(-1.0, 1.0, crowd.robots.x.shape)
    crowd.robots.world_vy[...] = rng.uniform(-1.0, 1.0, crowd.robots.x.shape)
    crowd.traits.id[...] = rng.permuted(np.tile(np.arange(crowd.traits.id.shape[1], dtype=np.int32), (5, 1)), axis=1)
    v = rng.normal(0.0, 0.8, (*crowd.pedestrians.x.shape, 2)).astype(np.float32)
    number = rng.choice(3, size=v.shape[:2], p=(0.8, 0.1, 0.1)).astype(np.int32)
    return crowd, v, number


def compiled(crowd, v, number, h, sees):
    x, y = v[..., 0].copy(), v[..., 1].copy()
    worlds, slots = x.shape
    clock = records.status(worlds, 2, slots, delay=0).clock
    clock.done[:] = False
    minds = np.array([ALL, ROBOTS, NOTHING], np.int32)
    given = (minds[number], crowd.pedestrians, crowd.traits, crowd.waypoints, records.replay(worlds, slots), crowd.robots)
    step = np.float32(2 * h), np.int64(2), np.int64(sees)
    bind(keep_apart_as_published, *step, *given, crowd.robot_traits, crowd.maps, clock, x, y)(0, worlds)
    return np.stack([x, y], -1)


@pytest.mark.parametrize("sees", [0, 1, 2, 3])
@pytest.mark.parametrize("spread", [0.25, 0.5, 1.0])
def test_the_kernel_is_its_plain_twin(spread, sees):
    changed = 0
    for seed in range(6):
        crowd, v, number = crowded(seed, spread)
        expected, found = held_back(crowd, number, 0.05, v, sees), compiled(crowd, v, number, 0.05, sees)
        off = np.abs(found - expected).max(-1)
        assert off[crowd.pedestrians.active].max() < 2e-4
        changed += (np.abs(found - v).max(-1) > 1e-3).sum()
    assert changed > 3
