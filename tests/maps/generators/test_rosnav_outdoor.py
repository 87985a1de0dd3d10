"""Blocks: their size and number; a yard that is too full."""

import numpy as np
import pytest
from scipy.ndimage import label
from tests.maps.generators.places import generated

from agora.errors import PlacementError


def test_one_block_is_a_square_of_its_edge():
    sizes = []
    for n in range(12):
        grid = generated("rosnav_outdoor", n, obstacle_num=1, obstacle_extra_radius=0.7).map.occupied[1:-1, 1:-1]
        rows, columns = (np.flatnonzero(grid.any(axis)) for axis in (1, 0))
        sizes.append((len(rows), len(columns)))
        assert grid.sum() == len(rows) * len(columns)
    assert sizes.count((14, 14)) >= 8
    assert max(max(s) for s in sizes) == 14


def test_as_many_blocks_as_asked_for():
    found = [
        label(generated("rosnav_outdoor", n, obstacle_num=6, obstacle_extra_radius=0.2).map.occupied[2:-2, 2:-2])[1]
        for n in range(20)
    ]
    assert max(found) == 6
    assert np.mean(found) > 5


def test_no_blocks_leave_an_empty_yard():
    assert not generated("rosnav_outdoor", obstacle_num=0, height=12.0).map.occupied[1:-1, 1:-1].any()


def test_a_yard_that_is_too_full_is_an_error_that_says_so():
    with pytest.raises(
        PlacementError, match=r"^obstacle_num 500: a robot with a passage width of 0.5 m .* in 20 tries, in a place of 10 x 10 m"
    ):
        generated("rosnav_outdoor", obstacle_num=500, width=10.0, height=10.0)
