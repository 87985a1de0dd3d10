"""Walls and furniture as solids: what is a wall, what is not, and where it stands."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from scipy.ndimage import label
from tests.places import CONCAVE, FURNITURE, furnished, rooms, shaped

from agora.errors import InputError, UnknownNameError
from agora.maps.furniture import Box, Cylinder, Furniture
from agora.maps.grid import Map
from agora.maps.place import Place
from agora.maps.world3d.solids import Prism, solids, wall_cells
from agora.registry import available, make
from agora.seeds import Stream


def test_boxes_of_cells_are_the_walls_and_the_cells_of_furniture_are_not():
    place = furnished()
    bare = rooms().occupied
    assert (place.map.occupied & ~bare).sum() > 100
    np.testing.assert_array_equal(wall_cells(place), bare)
    made = solids(place, height=2.2)
    (cells,) = made.walls
    assert (made.boxes, len(cells.parts), made.bounds) == (8, 8, pytest.approx((-3.2, 1.7, 9.8, 10.7)))
    assert made.runs > 15 * made.boxes
    assert sum(box.length * box.width for box in cells.parts) == pytest.approx(0.01 * bare.sum())
    assert {(box.z, box.height) for box in cells.parts} == {(0.0, 2.2)}
    for box in cells.parts:
        row, column = place.map.cell_of([box.x - box.length / 2 + 0.01, box.y - box.width / 2 + 0.01])
        assert bare[row : row + round(box.width * 10), column : column + round(box.length * 10)].all()


def test_a_wall_that_furniture_stands_flush_against_stays_whole():
    m = rooms()
    shelf = Furniture("shelf", -3.2 + 0.2 + 0.9, 1.7 + 0.2 + 0.25)
    np.testing.assert_array_equal(wall_cells(Place(m, (shelf,))), m.occupied)


def test_shapes_that_are_outlines_of_furniture_are_not_walls():
    place = furnished(exact=True)
    assert [body.name for body in solids(place).walls] == ["cells"]
    started = tuple(np.roll(polygon, 3, axis=0) for polygon in place.map.polygons)
    moved = Place(dataclasses.replace(place.map, polygons=started, discs=[[1.0, 3.7, 0.6]]), FURNITURE)
    assert [body.name for body in solids(moved).walls] == ["cells", "disc_0"]


def test_furniture_keeps_pose_model_and_parts_and_is_numbered():
    made = solids(furnished()).furniture
    assert [body.name for body in made] == ["chair_0", "table_0", "shelf_0", "tree_0", "chair_1"]
    assert [(body.model, body.x, body.y, body.heading) for body in made] == [(f.model, f.x, f.y, f.heading) for f in FURNITURE]
    assert isinstance(made[1].parts[0], Cylinder) and made[0].parts == made[4].parts


def test_segments_discs_and_polygons_stand_where_they_lie():
    cells, segment, disc, polygon = solids(shaped(), thickness=0.08).walls
    (box,) = segment.parts
    assert (segment.x, segment.y, segment.heading) == pytest.approx((-1.0, 8.7, math.atan2(1.4, 2.0)))
    assert (box.length, box.width, box.height) == pytest.approx((math.hypot(2.0, 1.4), 0.08, 2.5))
    assert disc.parts[0].radius == 0.3 and (disc.x, disc.y) == (1.0, 7.0)
    np.testing.assert_allclose(polygon.parts[0].outline + (polygon.x, polygon.y), CONCAVE)


@pytest.mark.parametrize("clockwise", [False, True])
def test_a_polygon_that_is_a_rectangle_is_a_box(clockwise):
    c, s = math.cos(0.7), math.sin(0.7)
    corners = np.array([[-2, -0.5], [2, -0.5], [2, 0.5], [-2, 0.5]]) @ [[c, s], [-s, c]] + (4.0, -3.0)
    m = Map.from_shapes(polygons=[corners[::-1] if clockwise else corners, [[0, 0], [1, 0], [1.3, 1.2], [0, 1]]])
    box, other = solids(Place(m)).walls
    assert isinstance(box.parts[0], Box) and isinstance(other.parts[0], Prism)
    assert (box.x, box.y) == pytest.approx((4.0, -3.0))
    sides = {round(box.heading % math.pi, 6): (box.parts[0].length, box.parts[0].width)}
    assert sides.get(0.7, sides.get(round(0.7 + math.pi / 2, 6), ())[::-1]) == pytest.approx((4.0, 1.0))


def test_what_makes_no_solid_is_refused():
    with pytest.raises(InputError, match="height: expected a number above 0, got 0"):
        solids(shaped(), height=0)
    with pytest.raises(InputError, match="thickness"):
        solids(shaped(), thickness=math.nan)
    with pytest.raises(UnknownNameError, match="did you mean 'chair'"):
        solids(Place(rooms(), (Furniture("chai", 1.0, 4.0),)))


@pytest.mark.parametrize("name", sorted(available("map_generators")))
def test_in_generated_places_cells_are_walls_where_no_furniture_is_and_furniture_leaves_nothing_behind(name):
    place = make("map_generators", name).generate(Stream(name, 3, "place", 0))
    cells = wall_cells(place)
    assert not (cells & ~place.map.occupied).any()
    made = solids(place)
    assert made.boxes <= made.runs and len(made.furniture) == len(place.furniture)
    left, count = label(cells, np.ones((3, 3)))
    whole = left == left[0, 0]
    assert cells[0].all() and cells[-1].all() and cells[:, 0].all() and cells[:, -1].all()
    if place.furniture:  # what is apart from the outer wall is a wall of its own, not a cell that a chair touched
        assert all((left == k).sum() > 3 for k in range(1, count + 1))
    if name in ("canteen", "industrial_hall", "rosmap_outdoor"):
        assert whole[cells].all() and cells[1:-1, 1:-1].sum() == 0
