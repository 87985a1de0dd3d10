"""The rolling window: aligned with the map, equal to the whole map's costs, and pedestrians in it."""

import numpy as np
import pytest

from agora.core.jit import bind
from agora.costmap.inflation import LETHAL, NO_INFORMATION, cost_of, inflate
from agora.costmap.window import Window, fill_windows
from agora.errors import InputError
from agora.maps.grid import Map
from agora.maps.store import build_store


def windows(window, maps, index, pose, inscribed, position=None, radius=None, present=None):
    n, side = len(pose), window.cells
    position = np.zeros((n, 0, 2), np.float32) if position is None else np.asarray(position, np.float32)
    radius = np.full(position.shape[:2], 0.3, np.float32) if radius is None else np.asarray(radius, np.float32)
    present = np.ones(position.shape[:2], np.bool_) if present is None else np.asarray(present)
    cost, origin = np.full((n, side, side), 77, np.uint8), np.full((n, 2), np.nan, np.float32)
    store = build_store(maps, np.zeros(1, np.int64))
    rows = (np.asarray(index, np.int32), window.filling, np.asarray(pose, np.float32), np.asarray(inscribed, np.float32))
    bind(fill_windows, store, *rows, position, radius, present, cost, origin)(0, n)
    return cost, origin


def brute(window, m, pose, inscribed, position=(), radius=()):
    """One window in float64, cell by cell."""
    cell, side = window.resolution, window.cells
    corner = np.floor((np.array(pose[:2], np.float64) - m.origin) / cell) - side // 2
    origin = np.array(m.origin) + corner * cell
    ij = np.indices((side, side))
    centres = origin + (np.stack((ij[1], ij[0]), -1) + 0.5) * cell
    row, column = m.cell_of(np.clip(centres, m.origin, np.array(m.origin) + m.size - 1e-6))
    distance = m.clearance_at(centres)
    if cell != m.resolution:
        distance = np.where(m.occupied[row, column], 0.0, distance - max(0.5 * (m.resolution - cell), 0.0))
    cost = cost_of(distance, inscribed, window.inflation_radius, window.cost_scaling, touch=0.5 * cell)
    for p, r in zip(position, radius, strict=True):
        away = np.linalg.norm(centres - p, axis=-1) - r
        cost = np.maximum(cost, cost_of(away, inscribed, window.inflation_radius, window.cost_scaling, touch=0.5 * cell))
    cost[~m.contains(centres)] = NO_INFORMATION
    return cost, origin


@pytest.fixture
def maps(rng):
    fine = Map("fine", 0.05, (-3.2, 1.75), rng.random((120, 170)) < 0.004, discs=[[0.2, 3.3, 0.41]])
    coarse = Map("coarse", 0.15, (4.5, -2.1), rng.random((50, 37)) < 0.01)
    return [fine, coarse]


POSES = [[-1.03, 3.37, 0.4], [7.11, 1.52, -2.0], [1.43, 5.29, 3.0], [5.01, -1.83, 1.1]]
INDEX, INSCRIBED = [0, 1, 0, 1], [0.3, 0.21, 0.45, 0.3]


def test_windows_of_two_maps_equal_the_plain_twin(maps, rng):
    window = Window(size=3.7, inflation_radius=0.62, cost_scaling=4.0)
    position = np.array(POSES)[:, None, :2] + rng.uniform(-2.3, 2.3, (4, 6, 2))
    radius = rng.uniform(0.15, 0.5, (4, 6))
    present = rng.random((4, 6)) < 0.6
    cost, origin = windows(window, maps, INDEX, POSES, INSCRIBED, position, radius, present)
    for n in range(4):
        seen = present[n]
        expected, corner = brute(window, maps[INDEX[n]], POSES[n], INSCRIBED[n], position[n][seen], radius[n][seen])
        np.testing.assert_allclose(origin[n], corner, atol=1e-5)
        off = cost[n].astype(int) - expected
        assert np.abs(off).max() <= 1
        assert (off != 0).mean() < 3e-3
        assert {0, 253, 254} <= set(np.unique(cost[n]))


@pytest.mark.parametrize("resolution", [0.05, 0.08, 0.3])
def test_a_window_of_mostly_open_space_equals_the_plain_twin(resolution):
    """Blocks of cells far from everything are written at once; the obstacle is as far as that from some, and near to others."""
    occupied = np.zeros((round(13.2 / resolution), round(18.0 / resolution)), np.bool_)
    occupied[round(4.2 / resolution) : round(4.8 / resolution), round(10.2 / resolution) : round(11.1 / resolution)] = True
    m = Map("open", resolution, (-9.2, -7.1), occupied)
    window = Window(size=6.2, inflation_radius=0.737, cost_scaling=3.0)
    cost, _ = windows(window, [m], [0], [[0.11, -1.37, 0.5]], [0.28])
    expected, _ = brute(window, m, [0.11, -1.37, 0.5], 0.28)
    off = np.abs(cost[0].astype(int) - expected)
    assert off.max() <= 1 and (off != 0).mean() < 3e-3
    assert (expected == 0).mean() > 0.8 and (expected > 200).any()


def test_a_window_of_the_maps_resolution_is_a_cut_of_the_inflated_map(maps):
    m = maps[0]
    window = Window(size=2.0)
    cost, origin = windows(window, maps, [0], [[-0.51, 4.13, 2.2]], [0.33])
    row, column = m.cell_of(origin[0] + 0.01)
    np.testing.assert_array_equal(cost[0], inflate(m, 0.33, 0.55, 10.0)[row : row + 40, column : column + 40])


@pytest.mark.parametrize("coarse", [0.1, 0.5])
def test_a_wall_of_coarse_cells_is_lethal_out_to_its_faces(coarse):
    occupied = np.zeros((round(6 / coarse), round(8 / coarse)), bool)
    occupied[:, round(4 / coarse)] = True  # from x = 4 m on, counted from the corner of the map
    place = Map("wall", coarse, (-3.25, 1.75), occupied)
    window = Window(size=4.0)
    cost, origin = windows(window, [place], [0], [[0.62, 4.7, 0.4]], [0.3])
    x = origin[0, 0] + (np.arange(window.cells) + 0.5) * window.resolution - 0.75
    lethal = (cost[0] == LETHAL)[30:50]
    assert (lethal == ((x > 0.0) & (x < coarse))).all()
    touched = (cost[0] >= 253)[30:50]
    assert (touched == ((x > -0.3) & (x < coarse + 0.3))).mean() > 0.95  # the robot's radius from the faces, but for a cell


def test_shapes_on_a_coarse_map_are_as_large_as_they_are():
    place = Map.from_shapes(discs=[[1.13, 2.08, 0.4]], bounds=(-1.0, -0.5, 3.5, 4.0), resolution=0.1, name="disc")
    cost, origin = windows(Window(size=2.0), [place], [0], [[1.1, 2.0, 0.4]], [0.3])
    ij = np.indices((40, 40))
    centres = origin[0] + (np.stack((ij[1], ij[0]), -1) + 0.5) * 0.05
    away = np.hypot(*(centres - (1.13, 2.08)).transpose(2, 0, 1)) - 0.4
    lethal = cost[0] == LETHAL
    assert lethal[away < -0.01].all()
    assert not lethal[away > 0.04].any()


@pytest.mark.parametrize("resolution", [0.1, 0.15, 0.2, 0.07])
def test_a_finer_window_has_the_corners_of_walls_and_single_cells(rng, resolution):
    m = Map("corners", resolution, (-1.3, 0.45), rng.random((40, 40)) < 0.1)
    middle = np.array(m.origin) + 0.5 * np.array(m.size)
    cost, origin = windows(Window(size=2.5), [m], [0], [[*middle, 0.7]], [0.3])
    ij = np.indices((50, 50))
    row, column = m.cell_of(origin[0] + (np.stack((ij[1], ij[0]), -1) + 0.5) * 0.05)
    assert (cost[0][m.occupied[row, column]] == LETHAL).all()


def test_the_robot_is_in_the_middle_cell_and_the_lattice_does_not_move_with_it(maps):
    window = Window(size=2.0)
    poses = [[-0.5104 + 0.013 * k, 4.1303 + 0.007 * k, 0.0] for k in range(40)]
    _, origin = windows(window, maps, [0] * 40, poses, [0.3] * 40)
    cells = (origin - [-3.2, 1.75]) / 0.05
    np.testing.assert_allclose(cells, np.round(cells), atol=1e-3)
    ahead = (np.array(poses)[:, :2] - origin) / 0.05
    assert (np.floor(ahead) == 20).all()


def test_outside_the_map_nothing_is_known(maps):
    window = Window(size=4.0)
    for index, pose in ((0, [-3.0, 2.0, 0.0]), (1, [9.9, 5.3, 0.0]), (0, [-30.0, 2.0, 0.0]), (1, [6.0, 90.0, 0.0])):
        m = maps[index]
        cost, origin = windows(window, maps, [index], [pose], [0.3])
        ij = np.indices((80, 80))
        centres = origin[0].astype(np.float64) + (np.stack((ij[1], ij[0]), -1) + 0.5) * 0.05
        np.testing.assert_array_equal(cost[0] == NO_INFORMATION, ~m.contains(centres))
        assert (cost[0] == NO_INFORMATION).any()


def test_pedestrians_who_are_absent_or_far_or_not_wanted_leave_no_mark(maps):
    here = [[-1.0, 3.4, 0.0]]
    position = [[[-1.0, 3.9], [60.0, 3.4], [-1.0, -40.0]]]
    bare = windows(Window(size=3.0), maps, [0], here, [0.3])[0]
    for window, present in ((Window(size=3.0), [[False, True, True]]), (Window(size=3.0, sources=("map",)), [[True] * 3])):
        np.testing.assert_array_equal(windows(window, maps, [0], here, [0.3], position, present=present)[0], bare)
    assert (windows(Window(size=3.0), maps, [0], here, [0.3], position)[0] != bare).any()


def test_a_pedestrian_is_lethal_within_its_disc_and_a_corner_of_the_window_is_enough():
    m = Map.open((0.0, -3.0), (20.0, 9.0), resolution=0.05)
    window = Window(size=2.0, inflation_radius=0.4)
    position = np.array([[[6.4, 4.0], [9.23, 3.11]]])
    cost, origin = windows(window, [m], [0], [[5.511, 3.137, 0.7]], [0.2], position, [[0.25, 0.3]])
    ij = np.indices((40, 40))
    centres = origin[0] + (np.stack((ij[1], ij[0]), -1) + 0.5) * 0.05
    away = np.linalg.norm(centres - position[0, 0], axis=-1)
    assert (cost[0][away < 0.25] == LETHAL).all()
    assert (cost[0][away > 0.66] == 0).all()
    assert (cost[0] == LETHAL).sum() > 20


def test_rows_do_not_depend_on_their_neighbours_or_on_the_range(maps, rng):
    window = Window(size=3.0)
    position = np.array(POSES)[:, None, :2] + rng.uniform(-1.5, 1.5, (4, 3, 2))
    together = windows(window, maps, INDEX, POSES, INSCRIBED, position)[0]
    for n in range(4):
        alone = windows(window, maps, INDEX[n : n + 1], POSES[n : n + 1], INSCRIBED[n : n + 1], position[n : n + 1])[0]
        np.testing.assert_array_equal(alone[0], together[n])


@pytest.mark.parametrize("fields", [{"size": 0.0}, {"resolution": -1.0}, {"cost_scaling": float("nan")}, {"size": 0.04}])
def test_a_window_that_makes_no_sense_is_refused(fields):
    with pytest.raises(InputError, match=next(iter(fields))):
        Window(**fields)
