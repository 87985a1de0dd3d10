"""Roads lead round everything, through every gap in which the disc fits, and are about as short as can be."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from tests.places import furnished, moved, rooms, shaped

from agora.draft.placement import component_of
from agora.maps.grid import Map
from agora.maps.roads import radius_class, roads_of
from agora.planners.global_.astar import geodesic_length
from agora.testing.crowds import hall
from agora.testing.scenes import Move

MOVES = {
    "turned": Move(turn=0.5 * np.pi),
    "turned twice": Move(turn=np.pi),
    "mirrored": Move(mirror=True),
    "mirrored and turned": Move(3.2, -6.4, turn=-0.5 * np.pi, mirror=True),
    "24 m away": Move(24.0, -24.0),
    "1,024 m away": Move(1024.0, -1024.0),
}


def square(cells: int) -> Map:
    """A square hall with a pillar in its middle, which looks the same from four sides and in the mirror."""
    side = 0.1 * cells
    return Map.from_shapes(discs=[[0.5 * side + 1.3, 0.5 * side - 2.1, 0.9]], bounds=(1.3, -2.1, 1.3 + side, -2.1 + side))


def gap(width: float, *, turn: float = 0.0) -> Map:
    """A wall from (-4, 0) to (4, 0) with a gap about (1, 0), turned about the origin, between two rooms that know no other way."""
    s, c = np.sin(turn), np.cos(turn)
    wall = np.array([[-4.0, 0.0, 1 - width / 2, 0.0], [1 + width / 2, 0.0, 4.0, 0.0]])
    box = np.array([[-4.0, -3.0, 4.0, -3.0], [4.0, -3.0, 4.0, 3.0], [4.0, 3.0, -4.0, 3.0], [-4.0, 3.0, -4.0, -3.0]])
    lines = np.vstack([wall, box]).reshape(-1, 2, 2) @ np.array([[c, s], [-s, c]])
    return Map.from_shapes(segments=lines.reshape(-1, 4) + [3.1, -1.7, 3.1, -1.7], resolution=0.05)


def placed(x: float, y: float, turn: float = 0.0) -> tuple[float, float]:
    """A point of `gap` on its map."""
    s, c = np.sin(turn), np.cos(turn)
    return c * x - s * y + 3.1, s * x + c * y - 1.7


def test_where_there_is_nothing_there_are_no_roads():
    assert roads_of(Map.open((-3.0, 2.0), (9.0, 7.0)), 0.3) is None


@pytest.mark.parametrize("turn", [0.0, 0.4, 2.0])
def test_the_disc_gets_through_a_gap_that_is_wider_and_not_through_a_narrower_one(turn):
    ends = placed(-2.0, -1.5, turn), placed(2.5, 1.2, turn)
    assert roads_of(gap(0.75, turn=turn), 0.3).reaches(*ends)
    assert not roads_of(gap(0.55, turn=turn), 0.3).reaches(*ends)
    assert roads_of(gap(0.55, turn=turn), 0.2).reaches(*ends)


@pytest.mark.parametrize("place", [rooms(), furnished().map, furnished(exact=True).map])
def test_points_are_joined_exactly_where_a_disc_finds_a_way_from_cell_to_cell(place):
    roads, parts = roads_of(place, 0.3), component_of(place, 0.3)
    cells = np.argwhere(parts > 0)
    draws = np.random.default_rng(3).integers(len(cells), size=(60, 2))
    for a, b in draws:
        ends = place.centre_of(*cells[a]), place.centre_of(*cells[b])
        assert roads.reaches(*ends) == (parts[tuple(cells[a])] == parts[tuple(cells[b])])


def test_every_place_is_free_and_every_way_goes_on():
    roads = roads_of(furnished().map, 0.3)
    assert (furnished().map.clearance_at(roads.place) >= 0.3 - 1e-3).all()
    for a in range(len(roads.place)):
        for b in np.flatnonzero(np.isfinite(roads.cost[a])):
            hop, left = a, len(roads.place)
            while hop != b:
                onward = roads.after[hop, b]
                assert roads.cost[onward, b] < roads.cost[hop, b]
                hop, left = onward, left - 1
                assert left > 0


def test_ways_are_hardly_longer_than_the_shortest():
    place = rooms()
    roads = roads_of(place, 0.3)
    ratios = []
    for a, b in itertools.combinations(range(len(roads.place)), 2):
        shortest = geodesic_length(place, roads.place[a], roads.place[b], 0.3)
        way, hop = 0.0, a
        while hop != b:
            onward = roads.after[hop, b]
            way, hop = way + float(np.hypot(*(roads.place[onward] - roads.place[hop]))), onward
        if 2.0 < shortest < np.inf:
            ratios.append(way / shortest)
    assert len(ratios) > 50 and min(ratios) > 0.97 and np.median(ratios) < 1.05 and max(ratios) < 1.7


def test_a_point_in_furniture_stands_for_the_free_space_beside_it_and_one_deep_in_a_wall_for_nothing():
    cells = np.zeros((80, 100), np.bool_)
    cells[:, 60:] = True
    roads = roads_of(Map("half", 0.1, (2.0, -3.0), cells), 0.3)
    assert roads.reaches((3.0, 0.0), (8.3, 1.0))
    assert not roads.reaches((3.0, 0.0), (11.0, 1.0))


def test_radii_are_rounded_up():
    assert [radius_class(r) for r in (0.3, 0.301, 0.225, 0.45)] == pytest.approx([0.3, 0.35, 0.25, 0.45])


@pytest.mark.parametrize("place", [rooms(), furnished().map, shaped().map, hall(), gap(0.9), square(80), square(81)])
@pytest.mark.parametrize("move", MOVES.values(), ids=MOVES)
def test_roads_turn_mirror_and_move_with_their_map(place, move):
    here, there = roads_of(place, 0.3), roads_of(moved(place, move), 0.3)
    apart = np.hypot(*np.moveaxis(move.points(here.place.astype(float))[:, None] - there.place, -1, 0))
    twin = apart.argmin(axis=1)
    assert sorted(twin) == list(range(len(there.place))) and apart.min(axis=1).max() < 1e-3
    np.testing.assert_allclose(there.cost[np.ix_(twin, twin)], here.cost, atol=0.01)
