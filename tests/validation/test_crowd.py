"""Many walks at once are those of one at a time."""

import numpy as np
from tests.ways import line, scene

from agora.pedestrians.helbing import Helbing
from agora.validation.crowd import Crowd, simulate
from agora.validation.stretches import of_scene


def test_a_batch_of_worlds_does_what_each_world_does_alone():
    one = of_scene(scene(line((0, 0), (1.3, 0)), line((9, 0.3), (-1.1, 0)), line((2, 4), (0.2, -1.0))))[0]
    other = of_scene(scene(line((0, 0), (0.9, 0.1))))[0]
    starts = [one.start([0, 1, 2]), other.start([0]), one.start([1])]
    together = simulate(Crowd(Helbing()), starts, 4.0, every=8)
    for start, seen in zip(starts, together, strict=True):
        assert seen.shape == (11, len(start.pedestrians.id), 4)
        assert np.array_equal(simulate(Crowd(Helbing()), [start], 4.0, every=8)[0], seen)
