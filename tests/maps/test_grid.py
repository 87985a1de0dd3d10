"""Maps: cells, exact shapes, fields and the true gap."""

import numpy as np
import pytest

from agora.core.field import clearance_at
from agora.core.jit import kernel
from agora.errors import InputError
from agora.maps.grid import LARGEST, Map
from agora.maps.store import build_store

ORIGIN = (-3.2, 1.7)
SHAPES = {
    "segments": [[-2.0, 2.0, 0.4, 3.3], [1.0, 4.0, 1.0, 4.0]],
    "discs": [[0.5, 4.6, 0.4], [-2.5, 5.0, 0.11]],
    "polygons": ([[-1.5, 4.0], [-0.2, 4.4], [-1.2, 5.2], [-1.0, 4.6]],),
}


def crooked(rng, shapes=False, resolution=0.13, fill=0.04):
    return Map("crooked", resolution, ORIGIN, rng.random((29, 37)) < fill, **(SHAPES if shapes else {}))


def to_segment(points, segment):
    start, along = np.array(segment[:2]), np.array(segment[2:]) - segment[:2]
    t = np.clip((points - start) @ along / max(along @ along, 1e-12), 0, 1)
    return np.linalg.norm(points - start - t[:, None] * along, axis=1)


def in_polygon(point, polygon):
    """The winding number, an oracle that shares nothing with the even-odd rule."""
    offset = np.asarray(polygon) - point
    angles = np.arctan2(offset[:, 1], offset[:, 0])
    turns = (np.diff(np.append(angles, angles[0])) + np.pi) % (2 * np.pi) - np.pi
    return abs(turns.sum()) > np.pi


def to_shapes(points, m):
    edges = [np.append(p[i - 1], p[i]) for p in m.polygons for i in range(len(p))]
    every = [to_segment(points, s) for s in (*m.segments, *edges)]
    every += [np.maximum(np.hypot(*(points - d[:2]).T) - d[2], 0) for d in m.discs]
    best = np.min(every, axis=0)
    best[[any(in_polygon(p, polygon) for polygon in m.polygons) for p in points]] = 0
    return best


def to_squares(points, m):
    centres = m.centre_of(*np.nonzero(m.occupied))
    beyond = np.maximum(np.abs(points[:, None] - centres) - 0.5 * m.resolution, 0)
    return np.hypot(beyond[..., 0], beyond[..., 1]).min(1)


def test_distance_is_that_to_the_nearest_occupied_centre(rng):
    m = crooked(rng)
    centres, walls = m.centre_of(*np.indices(m.shape)), m.centre_of(*np.nonzero(m.occupied))
    brute = np.linalg.norm(centres[:, :, None] - walls, axis=-1).min(-1)
    assert m.distance.dtype == np.float32
    np.testing.assert_allclose(m.distance, brute, atol=1e-6)
    assert (m.distance[m.occupied] == 0).all()


def test_a_map_without_obstacles_is_a_kilometre_from_everything():
    m = Map.open((2.0, -1.0), (5.05, 0.5), resolution=0.1)
    assert m.shape == (15, 31)
    assert (m.clearance == 1000).all()
    assert m.gap([[2.5, 0.0]]) == np.inf


def test_clearance_is_the_smaller_of_cells_and_exact_shapes(rng):
    m = crooked(rng, shapes=True)
    centres = m.centre_of(*np.indices(m.shape)).reshape(-1, 2)
    brute = np.minimum(to_shapes(centres, m), m.distance.ravel())
    np.testing.assert_allclose(m.clearance.ravel(), brute, atol=2e-6)
    assert (brute == 0).sum() > m.occupied.sum()


def test_clearance_without_shapes_is_the_distance_itself(rng):
    m = crooked(rng)
    assert m.clearance is m.distance


def test_shapes_over_the_border_are_cut_and_not_lost():
    m = Map.from_shapes(polygons=[[[-1, -1], [0.5, -1], [0.5, 0.5], [-1, 0.5]]], bounds=(0, 0, 2, 1), resolution=0.1)
    assert (m.clearance[:5, :5] == 0).all()
    assert m.clearance[7, 12] == pytest.approx(np.hypot(0.75, 0.25))


@kernel
def _read(maps, m, points, out):
    for i in range(len(points)):
        out[i] = clearance_at(maps, m, points[i, 0], points[i, 1])[0]


def test_clearance_at_is_what_kernels_read(rng):
    m = crooked(rng, shapes=True)
    points = rng.uniform((-4, 1), (2.5, 6.5), (500, 2)).astype(np.float32)
    out = np.empty(500, np.float32)
    _read(build_store([Map.open((0, 0), (1, 1)), m], [1]), 1, points, out)
    np.testing.assert_allclose(m.clearance_at(points), out, atol=2e-5)


def test_clearance_at_a_centre_is_the_cells_value_and_linear_between(rng):
    m = crooked(rng, shapes=True)
    centre, right = m.centre_of(7, 11), m.centre_of(7, 12)
    assert m.clearance_at(centre) == pytest.approx(m.clearance[7, 11], abs=1e-5)
    mixed = 0.7 * m.clearance[7, 11] + 0.3 * m.clearance[7, 12]
    assert m.clearance_at(0.7 * centre + 0.3 * right) == pytest.approx(mixed, abs=1e-5)


def test_cells_and_centres_are_inverse_where_the_origin_has_unequal_parts(rng):
    m = crooked(rng)
    rows, columns = np.indices(m.shape)
    np.testing.assert_array_equal(np.stack(m.cell_of(m.centre_of(rows, columns))), [rows, columns])
    np.testing.assert_allclose(m.centre_of(0, 2), [-3.2 + 2.5 * 0.13, 1.7 + 0.5 * 0.13])
    assert m.cell_of([-3.19, 1.7 + 28.5 * 0.13])[0] == 28
    row, column = m.cell_of([-1e12, 1e300])
    assert column < 0 and row >= m.shape[0]
    assert m.size == pytest.approx((37 * 0.13, 29 * 0.13))


def test_contains_is_the_rectangle(rng):
    m = crooked(rng)
    x1, y1 = -3.2 + 37 * 0.13, 1.7 + 29 * 0.13
    points = [[-3.2, 1.7], [-3.21, 2], [0, 1.69], [x1 - 1e-6, y1 - 1e-6], [x1 + 1e-6, 3], [0, y1 + 1e-6]]
    assert m.contains(points).tolist() == [True, False, False, True, False, False]


@pytest.mark.parametrize("shapes", [False, True])
def test_gap_is_the_distance_to_squares_and_shapes_also_outside_the_map(rng, shapes):
    m = crooked(rng, shapes)
    points = rng.uniform((-4, 1), (2.5, 6.5), (400, 2))
    brute = np.minimum(to_squares(points, m), to_shapes(points, m)) if shapes else to_squares(points, m)
    np.testing.assert_allclose(m.gap(points), brute, atol=1e-9)
    np.testing.assert_allclose(m.gap(points, 0.2), np.minimum(brute, 0.2), atol=1e-9)


def test_gap_counts_unknown_cells_when_asked():
    unknown = np.zeros((6, 8), bool)
    unknown[4, 6] = True
    m = Map("partly", 0.5, (1.0, -2.0), np.zeros((6, 8), bool), unknown)
    point = [[2.0, -1.0]]
    assert m.gap(point) == np.inf
    assert m.gap(point, unknown=True) == pytest.approx(np.hypot(4.0 - 2.0, 0.0 + 1.0))


def test_from_shapes_leaves_the_margin_about_them():
    m = Map.from_shapes(segments=[[1, 2, 4, 3]], discs=[[0, 0, 0.5]], margin=0.7, resolution=0.25)
    assert m.origin == pytest.approx((-1.2, -1.2))
    assert m.size[0] >= 5.9 - 1e-9
    assert m.size[1] >= 4.9 - 1e-9
    assert m.size[0] < 5.9 + 0.25


def test_arrays_are_copied_and_read_only():
    cells = np.zeros((3, 4), bool)
    m = Map("own", 0.1, (0, 0), cells)
    cells[1, 1] = True
    assert not m.occupied.any()
    with pytest.raises(ValueError, match="read-only"):
        m.occupied[0, 0] = True


GOOD = {"name": "m", "resolution": 0.1, "origin": (0.0, 1.0), "occupied": np.zeros((3, 5), bool)}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"resolution": 0.0}, "resolution"),
        ({"resolution": float("nan")}, "resolution"),
        ({"origin": (0.0, float("inf"))}, "origin"),
        ({"occupied": np.zeros((1, 5), bool)}, "2 x 2"),
        ({"occupied": np.zeros(5, bool)}, "2 x 2"),
        ({"occupied": np.zeros((2, LARGEST + 1), bool)}, "2 x 2"),
        ({"unknown": np.zeros((5, 3), bool)}, "unknown"),
        ({"segments": [[0, 0, 1]]}, "segments"),
        ({"segments": [[0, 0, 1, float("nan")]]}, "segments"),
        ({"segments": [["a", 0, 1, 1]]}, "segments"),
        ({"segments": [[0, 0, 1], [2, 3]]}, "segments"),
        ({"discs": [[0, 0, -1.0]]}, "discs"),
        ({"polygons": ([[0, 0], [1, 1]],)}, "polygons"),
    ],
)
def test_what_makes_no_map_is_refused_by_name(change, said):
    with pytest.raises(InputError, match=said):
        Map(**{**GOOD, **change})


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "neither bounds nor shapes"),
        ({"bounds": (0, 0, 0, 1)}, "bounds"),
        ({"bounds": (0, 0, 1, float("inf"))}, "bounds"),
        ({"bounds": (0, 0, 1, 1), "resolution": -0.1}, "resolution"),
        ({"bounds": (0, 0, 1e4, 1), "resolution": 0.1}, "too many"),
    ],
)
def test_shapes_that_make_no_map_are_refused_by_name(arguments, said):
    with pytest.raises(InputError, match=said):
        Map.from_shapes(**arguments)


def test_the_margin_is_the_distance_to_the_border_and_negative_beyond_it(rng):
    m = Map.open((-3.2, 1.7), (5.8, 6.7))
    points = [(-3.2, 3.0), (-3.0, 2.0), (1.3, 4.2), (5.5, 6.6), (6.0, 3.0), (-4.0, 0.0)]
    np.testing.assert_allclose(m.margin(points), [0.0, 0.2, 2.5, 0.1, -0.2, -1.7], atol=1e-12)
    assert m.margin((-3.0, 2.0)) == pytest.approx(0.2)


@pytest.mark.parametrize("radius", [0.0, 0.05, 0.29, 0.3, 0.31, 2.0])
def test_a_disc_that_stays_on_the_map_does_not_fit_in_cells_within_its_radius_of_the_border(rng, radius):
    m = crooked(rng, shapes=True, resolution=0.1)
    rows, columns = np.indices(m.shape)
    far_side = 0.1 * (1 + np.minimum(np.minimum(rows, m.shape[0] - 1 - rows), np.minimum(columns, m.shape[1] - 1 - columns)))
    out = far_side < radius - 1e-6
    field = m.clearance_inside(radius)
    np.testing.assert_array_equal(field[~out], m.clearance[~out])
    np.testing.assert_allclose(field[out], np.minimum(m.clearance, far_side)[out], rtol=1e-6)
    assert out.any() or field is m.clearance
    for point in m.centre_of(rows, columns)[::7, ::5].reshape(-1, 2):  # where a disc may be placed, planners may go
        if m.margin(point) >= radius:
            assert not out[m.cell_of(point)]


def test_a_map_with_walls_along_its_border_has_one_field_for_all(rng):
    cells = np.zeros((40, 60), bool)
    cells[:3] = cells[-3:] = cells[:, :3] = cells[:, -3:] = True
    m = Map("walled", 0.1, (1.0, 2.0), cells)
    assert m.clearance_inside(0.3) is m.clearance is m.clearance_inside(0.17)
