"""Walks without robots: they are recorded as they happen, and crowds are laid out at the density asked for."""

import numpy as np
import pytest

from agora.maps.grid import Map
from agora.pedestrians.models.helbing import Helbing
from agora.pedestrians.models.waypoint import Waypoint
from agora.seeds import Stream
from agora.validation.walk import fill, speeds, walk

PLANE = Map.open((-4.3, 1.7), (25.0, 14.0))


def test_somebody_alone_walks_at_the_preferred_speed_and_stops_at_the_last_waypoint():
    seen = walk(Waypoint(), PLANE, [(0.0, 5.0)], [[(4.0, 5.0), (4.0, 8.0)]], 8.0, speed=1.3, tolerance=0.1)
    assert np.hypot(*seen.velocity[1:20, 0].T) == pytest.approx(np.full(19, 1.3), abs=1e-3)
    assert seen.position[-1, 0] == pytest.approx((4.0, 8.0), abs=0.02)
    assert seen.time[1] == pytest.approx(0.1)
    assert seen.passed(2.6)[0] == pytest.approx(2.0, abs=0.11)
    assert seen.passed(4.5)[0] == np.inf


def test_relaxation_from_rest_is_exponential():
    seen = walk(Helbing(relaxation_time=0.8), PLANE, [(0.0, 5.0)], [[(24.0, 5.0)]], 3.0, speed=1.2, dt=0.01, every=10)
    assert seen.velocity[:, 0, 0] == pytest.approx(1.2 * (1 - np.exp(-seen.time / 0.8)), abs=0.01)


def test_a_part_of_a_walk_begins_and_ends_where_asked():
    part = walk(Waypoint(), PLANE, [(0.0, 5.0)], [[(24.0, 5.0)]], 5.0).during(1.0, 2.0)
    assert part.time == pytest.approx(np.arange(1.0, 2.0, 0.1))
    assert len(part.position) == len(part.velocity) == 10


@pytest.mark.parametrize("density", [0.3, 1.0, 4.0])
def test_a_box_is_filled_at_the_density_and_nobody_is_close_by_chance(density):
    places = fill(Stream("fill", 3, "validation"), (-3.2, 4.1), (16.8, 10.1), density)
    assert len(places) / 120.0 == pytest.approx(density, rel=0.12)
    apart = np.hypot(*(places[:, None] - places).transpose(2, 0, 1)) + 9.0 * np.eye(len(places))
    assert apart.min() > 0.4 / np.sqrt(density)
    assert (places.min(0) >= (-3.2, 4.1)).all()
    assert (places.max(0) <= (16.8, 10.1)).all()


def test_preferred_speeds_are_those_of_suites():
    drawn = speeds(Stream("speeds", 3, "validation"), 4000)
    assert drawn.mean() == pytest.approx(1.34, abs=0.02)
    assert np.abs(drawn - 1.34).max() <= 0.52
