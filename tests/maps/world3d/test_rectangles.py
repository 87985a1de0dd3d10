"""Rectangles cover cells exactly once, with as few as there can be."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from agora.maps.world3d.rectangles import rectangles, run_count


def counts(shape, found):
    covered = np.zeros(shape, int)
    for row, column, rows, columns in found:
        covered[row : row + rows, column : column + columns] += 1
    return covered


def fewest(cells):
    """The size of the smallest partition, by trying all of them."""
    rows, columns = cells.shape

    @cache
    def of(left):
        if not left:
            return 0
        row, column = divmod((left & -left).bit_length() - 1, columns)
        best = rows * columns
        for height in range(1, rows - row + 1):
            for width in range(1, columns - column + 1):
                line = ((1 << width) - 1) << (row * columns + column)
                mask = sum(line << (k * columns) for k in range(height))
                if mask & left != mask:
                    break
                best = min(best, 1 + of(left & ~mask))
        return best

    return of(sum(1 << k for k in np.flatnonzero(cells).tolist()))


@given(st.tuples(st.integers(1, 5), st.integers(1, 6)).flatmap(lambda shape: arrays(np.bool_, shape)))
@settings(max_examples=300, deadline=None)
def test_every_cell_is_covered_once_and_no_partition_is_smaller(cells):
    found = rectangles(cells)
    np.testing.assert_array_equal(counts(cells.shape, found), cells)
    assert len(found) == fewest(cells)


@pytest.mark.parametrize("fill", [0.05, 0.4, 0.6, 0.95])
def test_noise_is_covered_once(fill):
    cells = np.random.default_rng(3).random((83, 141)) < fill
    found = rectangles(cells)
    np.testing.assert_array_equal(counts(cells.shape, found), cells)
    assert len(found) <= run_count(cells)


def test_a_frame_with_a_cross_of_walls_needs_seven_rectangles_and_many_more_runs():
    cells = np.zeros((40, 60), bool)
    cells[:2] = cells[-2:] = True
    cells[:, :3] = cells[:, -3:] = True
    cells[18:21] = cells[:, 30:32] = True
    assert len(rectangles(cells)) == 7
    assert run_count(cells) == 106


def test_nothing_gives_nothing_and_everything_gives_one():
    assert rectangles(np.zeros((3, 5), bool)).shape == (0, 4)
    assert rectangles(np.ones((3, 5), bool)).tolist() == [[0, 0, 3, 5]]
