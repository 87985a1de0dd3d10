"""Properties of the places of every generator, by other means than theirs: shapely, a flood fill, another corner of the world."""

import math
from dataclasses import replace

import numpy as np
import pytest
import shapely
from tests.maps.generators.places import clear_cells, flooded, generated, stream
from tests.places import moved

from agora.errors import InputError
from agora.maps.furniture import model_of
from agora.maps.roads import roads_of
from agora.maps.ways import length_of, way
from agora.registry import available, make
from agora.testing.guard import identical
from agora.testing.scenes import Move

NAMES = sorted(available("map_generators"))


def shapes(piece):
    return [shapely.Polygon(p) for p in piece.polygons()] + [shapely.Point(x, y).buffer(r, 64) for x, y, r in piece.discs()]


@pytest.mark.parametrize("name", NAMES)
def test_the_robot_gets_everywhere_it_fits(name):
    for number, passage in ((0, 0.33), (1, 0.5)):
        place = generated(name, number, passage=passage)
        clear = clear_cells(place, passage)
        assert clear.any()
        assert (flooded(clear) == clear).all()


def touched(place):
    """Cells (rows, columns) whose square shares an area with a piece of furniture."""
    cells, half = np.zeros(place.map.shape, bool), place.map.resolution / 2
    for shape in (shape for piece in place.furniture for shape in shapes(piece)):
        low, high = np.reshape(shape.bounds, (2, 2))
        (row, last_row), (column, last_column) = place.map.cell_of([low, high])
        grid = np.mgrid[row : last_row + 1, column : last_column + 1].reshape(2, -1)
        x, y = place.map.centre_of(*grid).T
        squares = shapely.box(x - half, y - half, x + half, y + half)
        cells[tuple(grid)] |= shapely.area(shapely.intersection(shape, squares)) > 1e-6
    return cells


@pytest.mark.parametrize("name", NAMES)
def test_every_cell_that_furniture_touches_is_occupied(name):
    place = generated(name, 2, passage=0.4)
    assert not (touched(place) & ~place.map.occupied).any()


@pytest.mark.parametrize("name", ["apartment", "hospital_ward"])
def test_walls_between_rooms_meet_without_a_gap(name):
    place = generated(name, 1)
    free = place.map.centre_of(*np.nonzero(~place.map.occupied))
    assert np.any([zone.contains(free) for zone in place.zones], axis=0).all()


@pytest.mark.parametrize("name", ["canteen", "industrial_hall", "rosmap_outdoor"])
def test_in_a_hall_nothing_else_is_occupied(name):
    place = generated(name, 1)
    inner = (slice(1, -1), slice(1, -1))
    assert (place.map.occupied[inner] == touched(place)[inner]).mean() > 0.9995


@pytest.mark.parametrize("name", NAMES)
def test_furniture_stands_inside_the_outer_wall_and_not_in_other_furniture(name):
    place = generated(name, 3, passage=0.35)
    x, y = place.map.origin
    inner = shapely.box(x, y, x + place.map.size[0], y + place.map.size[1]).buffer(-place.map.resolution + 1e-6, join_style="mitre")
    outlines = [shapely.union_all(shapes(piece)) for piece in place.furniture]
    tree = shapely.STRtree(outlines)
    for k, outline in enumerate(outlines):
        assert inner.covers(outline), place.furniture[k]
        for n in tree.query(outline):
            assert n == k or outline.intersection(outlines[n]).area < 1e-4, (place.furniture[k], place.furniture[n])


@pytest.mark.parametrize("name", NAMES)
def test_the_same_place_elsewhere_is_the_same_place(name):
    here = make("map_generators", name, x=0.0, y=0.0).generate(stream(4))
    there = make("map_generators", name, x=-31.7, y=12.3).generate(stream(4))
    assert there.map.origin == (-31.7, 12.3)
    assert (here.map.occupied == there.map.occupied).all()
    for one, other in zip(here.furniture, there.furniture, strict=True):
        assert one.model == other.model
        assert np.allclose([other.x - one.x, other.y - one.y, other.heading - one.heading], [-31.7, 12.3, 0.0])
    for one, other in zip(here.zones, there.zones, strict=True):
        assert replace(one, polygons=()).label == other.label
        assert all(np.allclose(b - a, [-31.7, 12.3]) for a, b in zip(one.polygons, other.polygons, strict=True))


@pytest.mark.parametrize("name", NAMES)
def test_a_place_depends_on_the_stream_alone_and_other_streams_give_others(name):
    generator = make("map_generators", name, x=2.0, y=-1.0)
    places = [generator.generate(stream(n)) for n in (0, 1, 2, 0)]
    assert identical(places[0], places[3])
    assert not any(identical(places[0], p) for p in places[1:3])


@pytest.mark.parametrize("name", NAMES)
def test_the_map_is_walled_has_the_size_asked_for_and_bears_the_name(name):
    defaults = make("map_generators", name)
    place = generated(name, 5, width=defaults.width + 0.04, height=defaults.height + 1.0, resolution=0.1)
    grid = place.map.occupied
    assert place.map.shape == (math.ceil((defaults.height + 1.0) / 0.1), math.ceil((defaults.width + 0.04) / 0.1 - 1e-9))
    assert grid[[0, -1]].all() and grid[:, [0, -1]].all()
    assert place.map.name == name


@pytest.mark.parametrize("name", NAMES)
def test_every_zone_has_room_for_a_pedestrian(name):
    place = generated(name, 6)
    free = place.map.centre_of(*np.nonzero(clear_cells(place, 0.3)))
    assert place.zones
    assert len({zone.label for zone in place.zones}) == len(place.zones)
    for zone in place.zones:
        assert zone.contains(free).any(), zone.label


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "values",
    [
        {"width": 0.3},
        {"height": math.inf},
        {"resolution": 0.0},
        {"x": math.nan},
        {"passage": -0.1},
        {"width": 1e5, "resolution": 1.0},
    ],
)
def test_a_size_that_makes_no_place_is_refused_by_name(name, values):
    with pytest.raises(InputError, match=next(iter(values))):
        make("map_generators", name, **values)


@pytest.mark.parametrize("name", NAMES)
def test_a_robot_that_is_too_large_is_an_error_that_says_so(name):
    with pytest.raises(InputError, match=r"in a place of .* m$"):
        generated(name, passage=6.0)


def test_every_model_that_stands_somewhere_is_in_the_catalogue():
    standing = {piece.model for name in NAMES for piece in generated(name, 7).furniture}
    assert len(standing) > 25
    assert all(model_of(name).name == name for name in standing)


@pytest.mark.parametrize("name", NAMES)
def test_paths_through_a_turned_mirrored_or_moved_place_are_equally_long(name):
    place = generated(name, 1).map
    ends = place.centre_of(*np.argwhere(place.clearance > 0.4)[::97].T).astype(float)
    ends = np.random.default_rng(4).permutation(ends)[:24].reshape(-1, 2, 2) + 0.013
    lengths = [length_of(way(place, 0.3, *pair)) for pair in ends]
    assert max(lengths) > 5.0
    for move in (Move(turn=0.5 * math.pi), Move(24.0, -1024.0, turn=math.pi, mirror=True)):
        there = moved(place, move)
        assert roads_of(there, 0.3).place.shape == roads_of(place, 0.3).place.shape
        assert [length_of(way(there, 0.3, *move.points(pair))) for pair in ends] == pytest.approx(lengths, abs=0.02)
