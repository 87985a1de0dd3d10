"""Places as models of Flatland: what is occupied on the floor is occupied there, and nothing else."""

from __future__ import annotations

import json

import numpy as np
import pytest
import shapely

from agora.maps.furniture import Furniture
from agora.maps.grid import Map
from agora.maps.place import Place
from agora.maps.world3d.flatland import model_yaml
from agora.maps.world3d.solids import solids

L_SHAPE = [(0.2, 0.1), (1.4, 0.3), (1.3, 0.8), (0.7, 0.7), (0.6, 1.5), (0.1, 1.4)]


def footprints(place: Place):
    bodies = json.loads(model_yaml(solids(place).bodies))["bodies"]
    assert len(bodies) == 1 and bodies[0]["type"] == "static"
    return bodies[0]["footprints"]


def area(parts):
    polygons = [shapely.Polygon(part["points"]) for part in parts if part["type"] == "polygon"]
    circles = [shapely.Point(part.get("center", (0, 0))).buffer(part["radius"], 256) for part in parts if part["type"] == "circle"]
    return shapely.union_all(polygons + circles)


def test_cells_discs_and_polygons_are_where_the_map_has_them():
    occupied = np.zeros((7, 11), bool)
    occupied[1:3, 2:5] = occupied[5, 7] = True
    room = Map(
        "crooked", 0.25, (-1.3, 2.7), occupied, discs=np.array([[0.4, 3.9, 0.3]]), polygons=(np.array(L_SHAPE) + (-1.0, 2.8),)
    )
    shown = area(footprints(Place(room)))
    cells = [
        shapely.box(-1.3 + 0.25 * c, 2.7 + 0.25 * r, -1.3 + 0.25 * (c + 1), 2.7 + 0.25 * (r + 1)) for r, c in np.argwhere(occupied)
    ]
    expected = shapely.union_all([*cells, shapely.Point(0.4, 3.9).buffer(0.3, 256), shapely.Polygon(room.polygons[0])])
    assert shown.symmetric_difference(expected).area < 1e-4


def test_every_polygon_is_one_that_box2d_takes():
    room = Map.from_shapes(polygons=[L_SHAPE], bounds=(-0.5, -0.5, 2.0, 2.0))
    for part in footprints(Place(room)):
        ring = shapely.Polygon(part["points"])
        assert 3 <= len(part["points"]) <= 8
        assert ring.convex_hull.area == pytest.approx(ring.area)


def test_furniture_is_turned_and_what_hangs_in_the_air_is_left_out():
    piece = Furniture("table", 1.2, 0.7, 0.6)
    room = Map.open((-1.0, -2.0), (4.0, 3.0))
    shown = area(footprints(Place(room, (piece,))))
    floor = [shapely.Polygon(outline) for outline in piece.polygons()]
    floor += [shapely.Point(x, y).buffer(r, 256) for x, y, r in piece.discs()]
    assert shown.symmetric_difference(shapely.union_all(floor)).area < 1e-4


def test_an_empty_place_is_an_empty_model():
    assert footprints(Place(Map.open((0.0, 0.0), (2.0, 3.0)))) == []
