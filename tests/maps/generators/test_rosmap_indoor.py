"""Rooms and corridors: their widths, their number, that the robot passes."""

import numpy as np
import pytest
from scipy.ndimage import binary_opening
from tests.maps.generators.places import box, generated, zones

from agora.errors import InputError, PlacementError


def test_there_is_a_room_for_each_iteration_and_one_in_the_centre():
    place = generated("rosmap_indoor", iterations=7, width=20.0, height=26.0)
    assert len(zones(place, "room")) == 8
    assert len(zones(place, "corridor")) == 7
    assert zones(place, "room")[0].contains([2.65, 17.2])


@pytest.mark.parametrize("radius", [0.45, 0.8])
def test_a_corridor_is_everywhere_as_wide_as_asked_for(radius):
    wide = round(2 * radius / 0.1)
    for n in range(5):
        # rooms of a corridor's width: corridors alone; every free cell is in a free square of that width
        place = generated("rosmap_indoor", n, corridor_radius=radius, iterations=6, room=(0.1, 0.1), passage=0.3)
        free = ~place.map.occupied
        assert free.any()
        assert (binary_opening(free, np.ones((wide, wide), bool)) == free).all()
        assert not (binary_opening(free, np.ones((2 * wide + 1, 2 * wide + 1), bool)) == free).all()


def test_zones_of_rooms_and_corridors_are_free_and_cover_all_that_is():
    place = generated("rosmap_indoor", 1)
    centres = place.map.centre_of(*np.nonzero(~place.map.occupied))
    covered = np.zeros(len(centres), bool)
    for zone in place.zones:
        covered |= zone.contains(centres)
    walls = place.map.centre_of(*np.nonzero(place.map.occupied))
    assert covered.all()
    assert not any(zone.contains(walls).any() for zone in place.zones)


def test_rooms_have_the_edges_asked_for():
    place = generated("rosmap_indoor", 2, room=(2.0, 3.0), iterations=9, width=30.0, height=25.0)
    edges = np.array([np.diff(box(zone), axis=0)[0] for zone in zones(place, "room")])
    assert edges.max() <= 3.0 + 0.1
    inside = (edges >= 2.0 - 0.1).all(1)
    assert inside.sum() >= 5


def test_a_corridor_that_is_too_narrow_for_the_robot_is_an_error():
    with pytest.raises(PlacementError, match=r"^corridor_radius 0.4: a robot with a passage width of 0.5 m needs at least 0.6 m"):
        generated("rosmap_indoor", corridor_radius=0.4)


def test_rooms_need_least_and_most():
    with pytest.raises(InputError, match="room: must be"):
        generated("rosmap_indoor", room=(3.0, 2.0))
