"""The catalogue: Arena's names, sizes of real things, spots beside what they are for, outlines at a pose."""

import math

import numpy as np
import pytest

from agora.errors import UnknownNameError
from agora.maps.furniture import MODELS, Box, Cylinder, Furniture, model_of

ARENA = {"chair", "cleaner", "cuboid", "cylinder", "long_shelf", "office_chair", "office_desk", "pallet", "pallet2", "random"}
ARENA |= {"pallet_jack_1", "pallet_jack_2", "pallet_jack_3", "shelf", "table", "tree"}


def test_arenas_static_obstacles_are_all_there():
    assert set(MODELS) >= ARENA


@pytest.mark.parametrize("name", sorted(MODELS))
def test_a_model_has_the_size_of_a_real_thing_and_stands_on_the_floor(name):
    model = MODELS[name]
    x0, y0, x1, y1 = model.extent
    assert model.name == name
    assert 0.3 <= max(x1 - x0, y1 - y0) <= 3.0
    assert min(x1 - x0, y1 - y0) >= 0.05
    assert min(part.z for part in model.parts) == 0.0
    assert 0.1 <= max(part.z + part.height for part in model.parts) <= 4.0
    assert all(0.0 <= c <= 1.0 for part in model.parts for c in part.colour)
    reach = max(math.hypot(x, y) for x in (x0, x1) for y in (y0, y1))
    assert model.radius <= reach + 1e-9


@pytest.mark.parametrize("name", sorted(MODELS))
def test_upper_parts_do_not_reach_over_the_lower_ones(name):
    model = MODELS[name]
    floor = [p for p in model.parts if p.z == 0.0]
    piece = Furniture(name, 0.0, 0.0)
    assert len(piece.polygons()) + len(piece.discs()) == len(floor)
    for part in model.parts:
        a, b = (part.radius, part.radius) if isinstance(part, Cylinder) else (part.length / 2, part.width / 2)
        corners = [(part.x + sx * a, part.y + sy * b) for sx in (-1, 0, 1) for sy in (-1, 0, 1)]
        if isinstance(part, Cylinder):
            corners = [(part.x + a * math.cos(t), part.y + a * math.sin(t)) for t in np.linspace(0.0, 6.0, 12)]
        for x, y in corners:
            assert min(gap(p, x, y) for p in floor) < 1e-9, (part, x, y)


def gap(part, x, y):
    if isinstance(part, Box):
        dx, dy = abs(x - part.x) - part.length / 2, abs(y - part.y) - part.width / 2
        return math.hypot(max(dx, 0.0), max(dy, 0.0))
    return max(math.hypot(x - part.x, y - part.y) - part.radius, 0.0)


@pytest.mark.parametrize("name", sorted(MODELS))
def test_who_uses_a_thing_is_beside_it_and_looks_at_it_or_sits_on_it(name):
    model = MODELS[name]
    for spot in model.spots:
        away = min(gap(part, spot.x, spot.y) for part in model.parts)
        if spot.use == "sit":
            assert away == 0.0
        else:
            assert 0.2 < away < 0.8
            ahead = spot.x + (away + 0.15) * math.cos(spot.heading), spot.y + (away + 0.15) * math.sin(spot.heading)
            assert min(gap(part, *ahead) for part in model.parts) == 0.0


def test_outlines_and_spots_follow_the_pose():
    piece = Furniture("office_desk", 3.0, -2.0, 2 * math.pi / 3)
    (first, pose), corners = piece.spots()[0], piece.polygons()[0]
    c, s = math.cos(piece.heading), math.sin(piece.heading)
    assert sorted(np.hypot(*(corners - (3.0, -2.0)).T)) == pytest.approx([math.hypot(0.8, 0.4)] * 4)
    local = (corners - (3.0, -2.0)) @ np.array([[c, -s], [s, c]])
    assert local == pytest.approx(np.array([[-0.8, -0.4], [0.8, -0.4], [0.8, 0.4], [-0.8, 0.4]]))
    assert pose[:2] == pytest.approx((3.0 - s * 0.75, -2.0 + c * 0.75))
    assert math.cos(pose[2] - piece.heading) == pytest.approx(0.0, abs=1e-12)
    assert first.use == "work"


def test_discs_follow_the_pose():
    (disc,) = Furniture("random", 1.0, 2.0, math.pi / 2).discs()
    assert disc == pytest.approx((1.0 - 0.1, 2.0 - 0.2, 0.2))


def test_a_model_that_nobody_has_is_an_error_with_the_nearest_name():
    with pytest.raises(UnknownNameError, match="no furniture model called 'ofice_desk'; did you mean 'office_desk'"):
        model_of("ofice_desk")
