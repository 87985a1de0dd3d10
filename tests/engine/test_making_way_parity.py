"""The kernels that note progress and have people make way are their plain twins."""

from __future__ import annotations

import numpy as np
import pytest
from tests.engine.plain_making_way import progress_after, ways_made
from tests.engine.test_published_collision_resolution_parity import crowded

from agora.core import state
from agora.core.jit import bind, kernel
from agora.core.state import SOCIAL_STATES
from agora.engine.making_way import make_way
from agora.engine.progress import Progress, record_progress
from agora.world import records

SITTING, WALKING = SOCIAL_STATES.index("sitting"), SOCIAL_STATES.index("walking")


@kernel
def _note(h, people, traits, progress, left):
    for w in range(left.shape[0]):
        for i in range(left.shape[1]):
            record_progress(h, people, traits, progress, w, i, left[w, i])


@pytest.mark.parametrize("seed", range(4))
def test_progress_is_that_of_the_twin(seed):
    rng = np.random.default_rng(seed)
    crowd, _, _ = crowded(seed, 0.5)
    people, traits, shape = crowd.pedestrians, crowd.traits, crowd.pedestrians.x.shape
    progress = Progress.of_nobody(*shape)
    progress.from_x[...] = people.x + rng.uniform(-0.4, 0.4, shape)
    progress.from_y[...] = people.y + rng.uniform(-0.4, 0.4, shape)
    progress.stalled[...], progress.aware[...] = rng.uniform(0.0, 4.0, shape), rng.uniform(0.0, 6.0, shape)
    traits.speed[...] = rng.uniform(0.0, 1.6, shape) * (rng.uniform(size=shape) < 0.8)
    left = rng.uniform(0.0, 3.0, shape).astype(np.float32)
    before = np.stack([progress.from_x, progress.from_y, progress.stalled, progress.aware], -1).astype(float)
    _note(np.float32(0.1), people, traits, progress, left)
    found = np.stack([progress.from_x, progress.from_y, progress.stalled, progress.aware], -1)
    for w, i in np.ndindex(shape):
        given = (people.x[w, i], people.y[w, i]), traits.speed[w, i], people.active[w, i], left[w, i]
        assert found[w, i] == pytest.approx(progress_after(before[w, i], 0.1, *given), abs=1e-5)
    waits = (progress.stalled > 1.5).sum(axis=1)
    assert np.array_equal(progress.stopped, waits) and waits.sum() > 2


@pytest.mark.parametrize("spread", [0.3, 0.5, 0.8])
def test_people_make_way_as_the_twin(spread):
    changed = 0
    for seed in range(4):
        rng = np.random.default_rng(seed)
        crowd, _, _ = crowded(seed, spread)
        people, traits, goals, shape = crowd.pedestrians, crowd.traits, crowd.waypoints, crowd.pedestrians.x.shape
        progress, minds, angle = Progress.of_nobody(*shape), state.minds(*shape), rng.uniform(-np.pi, np.pi, shape)
        progress.ahead_x[...], progress.ahead_y[...] = np.cos(angle), np.sin(angle)
        progress.stalled[...] = rng.uniform(0.0, 5.0, shape)
        progress.stopped[...] = 1
        asks = rng.uniform(size=shape) < 0.3
        stands = rng.uniform(size=shape) < 0.6
        minds.state[...] = np.where(rng.uniform(size=shape) < 0.2, SITTING, WALKING)
        traits.speed[stands] = 0.0
        traits.speed[~stands] = 1.0
        goals.x[...], goals.y[...] = people.x + 2.0, people.y
        clock = records.status(shape[0], 2, shape[1], delay=0).clock
        clock.done[:] = False
        before = np.stack([goals.x, goals.y, traits.speed], -1)
        expected = [ways_made(crowd, progress, asks, (stands & (minds.state != SITTING))[w], w) for w in range(shape[0])]
        bind(make_way, np.int64(1), crowd.maps, people, traits, goals, minds, clock, progress, asks)(0, shape[0])
        found = np.stack([goals.x, goals.y, traits.speed], -1)
        for w, i in np.ndindex(shape):
            if i < traits.count[w]:
                assert found[w, i] == pytest.approx(expected[w].get(i, before[w, i]), abs=1e-3), (seed, w, i)
        changed += sum(map(len, expected))
    assert changed > 20
