"""Corridor: its width, alcoves, things along the walls, what does not fit."""

import numpy as np
import pytest
from tests.maps.generators.places import box, generated, models, zones

from agora.errors import PlacementError


def test_the_corridor_is_as_wide_as_asked_for_and_all_else_is_wall():
    place = generated("corridor", corridor_width=2.3, alcoves=0, obstacle_num=0)
    grid = place.map.occupied
    assert (np.flatnonzero(~grid.all(1)).size, np.flatnonzero(~grid.all(0)).size) == (23, 298)
    assert (~grid).sum() == 23 * 298
    (hall,) = zones(place, "corridor")
    assert hall.area == pytest.approx(2.3 * 29.8)


@pytest.mark.parametrize("number", [1, 6])
def test_alcoves_are_recesses_of_their_width(number):
    for n in range(4):
        place = generated("corridor", n, alcoves=number, alcove_width=1.9, obstacle_num=0)
        found = zones(place, "alcove")
        assert len(found) == number
        free = place.map.centre_of(*np.nonzero(~place.map.occupied))
        for zone in found:
            assert np.ptp(box(zone), axis=0) == pytest.approx([1.9, 1.5])
            assert zone.contains(free).sum() == 19 * 15


def test_things_stand_along_the_walls_and_leave_a_way():
    for n in range(4):
        place = generated("corridor", n, obstacle_num=7, passage=0.6)
        assert sum(models(place).values()) == 7
        (hall,) = zones(place, "corridor")
        low, high = box(hall)
        for piece in place.furniture:
            assert min(piece.y - low[1], high[1] - piece.y) < 0.3


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"corridor_width": 9.0}, "^corridor_width 9: it does not fit"),
        (
            {"corridor_width": 1.0, "obstacle_num": 0},
            "^corridor_width 1: a robot with a passage width of 0.5 m needs at least 1.20 m",
        ),
        ({"corridor_width": 1.7}, "^corridor_width 1.7: a robot with a passage width of 0.5 m needs at least 1.90 m"),
        ({"alcoves": 40}, "^alcoves 40: there is room for only 28 alcoves of 2 m"),
        ({"alcoves": 1, "corridor_width": 7.8}, "^alcoves 1: there is room for only 0"),
        ({"obstacle_num": 60}, r"^obstacle_num 60: there is room for only \d+ objects next to the alcoves"),
    ],
)
def test_what_does_not_fit_is_an_error_that_names_it(values, message):
    with pytest.raises(PlacementError, match=message):
        generated("corridor", **values)
