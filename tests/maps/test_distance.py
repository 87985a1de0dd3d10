"""The distance field of the cells: parity with SciPy to the bit, and with a look at every pair."""

import numpy as np
import pytest
from scipy.ndimage import distance_transform_edt

from agora.maps.distance import FAR, cell_distance


def by_scipy(occupied, resolution):
    return distance_transform_edt(~occupied, sampling=resolution).astype(np.float32)


def test_the_field_is_that_of_scipy_to_the_bit(rng):
    for _ in range(400):
        occupied = rng.random(rng.integers(1, 45, 2)) < rng.choice([0.5, 0.1, 0.01, 0.002])
        occupied.flat[rng.integers(occupied.size)] = True
        resolution = float(rng.uniform(0.01, 2.0))
        assert np.array_equal(cell_distance(occupied, resolution), by_scipy(occupied, resolution))


@pytest.mark.parametrize("shape", [(1, 1), (1, 37), (29, 1), (2, 2), (300, 11), (11, 300)])
def test_edge_cases_of_the_shape(shape):
    for where in ((0, 0), (-1, -1), (0, -1), (shape[0] // 2, shape[1] // 2)):
        occupied = np.zeros(shape, bool)
        occupied[where] = True
        assert np.array_equal(cell_distance(occupied, 0.05), by_scipy(occupied, 0.05))


def test_the_field_is_the_least_distance_over_all_pairs(rng):
    occupied = rng.random((17, 26)) < 0.03
    rows, columns = np.nonzero(occupied)
    y, x = np.mgrid[:17, :26]
    expected = 0.3 * np.sqrt(((y[..., None] - rows) ** 2 + (x[..., None] - columns) ** 2).min(-1))
    assert cell_distance(occupied, 0.3) == pytest.approx(expected, rel=1e-6)


def test_a_long_way_is_exact():
    occupied = np.zeros((2, 16384), bool)
    occupied[0, 0] = True
    field = cell_distance(occupied, 0.5)
    assert field[1, -1] == np.float32(0.5 * np.sqrt(16383.0**2 + 1.0))


def test_nothing_is_far_and_everything_is_near():
    assert (cell_distance(np.zeros((3, 4), bool), 0.1) == FAR).all()
    assert (cell_distance(np.ones((3, 4), bool), 0.1) == 0).all()


def test_a_turned_view_is_taken_as_it_is(rng):
    occupied = rng.random((23, 40)) < 0.05
    assert np.array_equal(cell_distance(occupied.T[:, ::-1], 0.1), cell_distance(occupied, 0.1).T[:, ::-1])
