from __future__ import annotations

import numpy as np

from agora.core.field import clearance_at
from agora.core.jit import kernel
from agora.pedestrians.shared.walls import ROWS, clearances
from pedestrians import crowds


@kernel
def _both(maps, m, x, y, count, cell, scratch, one):
    d, nx, ny = clearances(maps, m, x, y, count, cell, scratch)
    for i in range(count):
        one[0, i], one[1, i], one[2, i] = clearance_at(maps, m, x[i], y[i])
    return d, nx, ny


def test_many_points_read_what_one_point_reads_inside_and_outside_the_map(rng):
    maps = crowds.rooms(2)
    x, y = rng.uniform(-12.0, 20.0, (2, 203)).astype(np.float32)
    for m in (0, 1):
        one = np.zeros((3, 203), np.float32)
        many = np.stack(_both(maps, m, x, y, 203, np.zeros(203, np.int32), np.zeros((ROWS, 203), np.float32), one))
        assert np.abs(many[0] - one[0]).max() < 1e-6
        assert np.abs(many[1:] - one[1:]).max() < 1e-4
        assert one[0].max() > 0.5 > one[0].min()
