from __future__ import annotations

import numpy as np
import pytest

from agora.core.path import point_ahead

BENT = np.array([[-1.0, 2.0], [2.0, 2.0], [2.0, 2.0], [2.0, -2.0], [7.0, -2.0], [50.0, 50.0]])
USED = 5  # the last point is not of the path


@pytest.mark.parametrize(
    ("at", "lookahead", "expected", "way"),
    [
        ((0.5, 2.4), 1.0, (1.5, 2.0), 10.5),
        ((0.5, 2.4), 3.5, (2.0, 0.0), 10.5),
        ((1.9, 0.3), 2.3, (2.0, -2.0), 7.3),
        ((-4.0, -1.0), 0.6, (-0.4, 2.0), 12.0),
    ],
)
def test_the_point_lies_along_the_path_from_the_nearest_point_on(at, lookahead, expected, way):
    found, x, y, left = point_ahead(BENT, USED, *at, lookahead)
    assert found
    assert (x, y, left) == pytest.approx((*expected, way))


def test_beyond_the_end_it_is_the_end():
    found, *point, left = point_ahead(BENT, USED, 6.5, -2.7, 0.8)
    assert not found
    assert (*point, left) == pytest.approx((7.0, -2.0, 0.5))
    assert point_ahead(BENT, 1, 3.0, 3.0, 0.8) == (False, -1.0, 2.0, 0.0)


def test_without_a_path_it_is_where_the_robot_is():
    assert point_ahead(BENT, 0, 3.0, 4.0, 0.8) == (False, 3.0, 4.0, 0.0)


def test_walking_on_by_steps_is_walking_on_at_once(rng):
    path = np.cumsum(rng.normal(0.4, 0.3, (30, 2)), axis=0)
    fine = np.concatenate([np.linspace(a, b, 40, endpoint=False) for a, b in zip(path[:-1], path[1:], strict=True)] + [path[-1:]])
    _, x, y, way = point_ahead(path, 30, *path[3], 2.2)
    _, u, v, same = point_ahead(fine, len(fine), *path[3], 2.2)
    assert (u, v, same) == pytest.approx((x, y, way), abs=1e-9)


def test_kernels_get_float32():
    one = np.float32(1.0)
    point_ahead(BENT.astype(np.float32), 5, one, one, one)
    signature = next(s for s in point_ahead.overloads if str(s[2]) == "float32")
    assert "float64" not in str(point_ahead.overloads[signature].signature.return_type)
