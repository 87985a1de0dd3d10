"""Swept contacts happen when geometry says, and not otherwise."""

from __future__ import annotations

import math

import numpy as np
import pytest

from agora.core.contact import NEVER, point_to_polygon, polygon_in_walls, polygons_meet, swept_disc_walls, swept_discs
from agora.core.state import robot_traits
from agora.maps.grid import Map
from agora.maps.store import build_store

F = np.float32


def wall_time(place: Map, x: float, y: float, dx: float, dy: float, radius: float) -> float:
    return float(swept_disc_walls(build_store([place], [0]), 0, F(x), F(y), F(dx), F(dy), F(radius)))


def crooked_map() -> Map:
    occupied = np.zeros((37, 52), bool)
    occupied[11, 30] = True
    occupied[20:23, 8] = True
    return Map("crooked", 0.05, (-1.3, 0.7), occupied)


def test_discs_meet_at_the_time_of_the_closed_form():
    # from 3 m away at 4 m a step towards a disc of summed radius 0.5: after 2.5 m
    assert swept_discs(F(3), F(0), F(-4), F(0), F(0.5)) == pytest.approx(0.625)
    assert swept_discs(F(3), F(0.3), F(-4), F(0), F(0.5)) == pytest.approx((3 - 0.4) / 4)


def test_discs_that_pass_by_or_part_never_meet():
    assert swept_discs(F(3), F(0.6), F(-9), F(0), F(0.5)) == NEVER
    assert swept_discs(F(3), F(0), F(4), F(0), F(0.5)) == NEVER
    assert swept_discs(F(3), F(0), F(-2), F(0), F(0.5)) == NEVER  # not far enough


def test_a_fast_disc_does_not_tunnel_through_a_pedestrian():
    assert swept_discs(F(-10), F(0.1), F(20), F(0), F(0.4)) < 1.0


def test_discs_that_overlap_at_the_start_meet_at_once():
    assert swept_discs(F(0.2), F(0.1), F(1), F(0), F(0.5)) == 0.0


def test_a_disc_stops_at_a_cells_face():
    # cell [11, 30]: x from 0.2 to 0.25, y from 1.25 to 1.30
    assert wall_time(crooked_map(), -0.5, 1.275, 1.0, 0.0, 0.2) == pytest.approx(0.5, abs=1e-4)


def test_a_disc_stops_at_a_cells_corner():
    # heading for the lower-left corner (0.2, 1.25) along the diagonal
    t = wall_time(crooked_map(), 0.2 - 0.5, 1.25 - 0.5, 0.5, 0.5, 0.1)
    assert t == pytest.approx(1 - 0.1 / math.hypot(0.5, 0.5), abs=1e-4)


@pytest.mark.parametrize("angle", np.linspace(0.1, 6.2, 9))
def test_time_of_touching_agrees_with_fine_sampling(angle):
    place, radius = crooked_map(), 0.23
    start, step = np.array([-0.6, 1.6]), 0.9 * np.array([math.cos(angle), math.sin(angle)])
    shares = np.linspace(0, 1, 4001)
    gaps = place.gap(start + shares[:, None] * step) - radius
    touched = np.flatnonzero(gaps <= 0)
    expected = shares[touched[0]] if touched.size else float(NEVER)
    assert wall_time(place, *start, *step, radius) == pytest.approx(expected, abs=5e-4)


def test_segments_and_static_discs_are_walls():
    place = Map.from_shapes(segments=[[2, -1, 2, 1]], discs=[[-2, 0.5, 0.25]])
    assert wall_time(place, 0, 0, 4, 0, 0.5) == pytest.approx(1.5 / 4, abs=1e-4)
    assert wall_time(place, -4, 0.5, 4, 0, 0.25) == pytest.approx(1.5 / 4, abs=1e-4)
    assert wall_time(place, 0, 1.6, 4, 0, 0.5) == NEVER


def test_who_touches_a_wall_may_leave_it():
    place = Map.from_shapes(segments=[[2, -1, 2, 1]])
    assert wall_time(place, 1.5, 0, -0.1, 0, 0.5) == NEVER
    assert wall_time(place, 1.5, 0, 0.1, 0, 0.5) == 0.0


def test_outside_the_map_is_free():
    assert wall_time(crooked_map(), -40.0, 3.0, 5.0, 1.0, 0.3) == NEVER


def box(length: float, width: float, robots: int = 1):
    traits = robot_traits(1, robots, 4)
    traits.footprint_x[..., :] = np.array([1, -1, -1, 1]) * length / 2
    traits.footprint_y[..., :] = np.array([1, 1, -1, -1]) * width / 2
    traits.vertices[...], traits.radius[...] = 4, math.hypot(length, width) / 2
    return traits


def test_distance_to_a_turned_box_is_that_of_geometry():
    traits, heading = box(1.0, 0.4), 0.6
    s, c = math.sin(heading), math.cos(heading)

    def at(along: float, across: float) -> float:
        return float(
            point_to_polygon(traits, 0, 0, F(2), F(-1), F(heading), F(2 + c * along - s * across), F(-1 + s * along + c * across))
        )

    assert at(0.9, 0.1) == pytest.approx(0.4, abs=1e-5)
    assert at(0.1, -0.5) == pytest.approx(0.3, abs=1e-5)
    assert at(0.8, 0.6) == pytest.approx(0.5, abs=1e-5)
    assert at(0.3, 0.1) == 0.0


def test_a_box_fits_through_a_gap_lengthwise_only():
    place = Map.from_shapes(segments=[[0, 0.3, 0, 3], [0, -0.3, 0, -3]])
    store, traits = build_store([place], [0]), box(1.2, 0.4)
    assert not polygon_in_walls(store, 0, traits, 0, 0, F(0), F(0), F(0.0))
    assert polygon_in_walls(store, 0, traits, 0, 0, F(0), F(0), F(math.pi / 2))
    assert polygon_in_walls(store, 0, traits, 0, 0, F(0), F(0.15), F(0.0))


def test_a_box_over_one_cell_or_a_small_disc_touches_it():
    cell, traits = crooked_map(), box(1.0, 0.6)
    assert polygon_in_walls(build_store([cell], [0]), 0, traits, 0, 0, F(0.22), F(1.2), F(0.3))
    disc = Map.from_shapes(discs=[[0.0, 0.0, 0.05]])
    assert polygon_in_walls(build_store([disc], [0]), 0, traits, 0, 0, F(0.1), F(0.1), F(0.3))
    assert not polygon_in_walls(build_store([disc], [0]), 0, traits, 0, 0, F(0.7), F(0.1), F(0.0))


def test_boxes_meet_by_edges_by_containment_and_with_discs():
    traits = box(1.0, 0.4, robots=2)

    def meet(x: float, y: float, heading: float) -> bool:
        return bool(polygons_meet(traits, 0, 0, F(0), F(0), F(0), 1, F(x), F(y), F(heading)))

    assert meet(0.6, 0.0, math.pi / 2)
    assert not meet(0.75, 0.0, math.pi / 2)
    assert not meet(0.0, 0.45, 0.0)
    assert meet(0.0, 0.0, 0.0)
    traits.vertices[0, 1], traits.radius[0, 1] = 0, 0.3
    assert meet(0.7, 0.0, 0.0)
    assert not meet(0.85, 0.0, 0.0)
