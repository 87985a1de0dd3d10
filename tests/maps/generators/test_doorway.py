"""Doorway: doors of their width in a wall between two rooms."""

import numpy as np
import pytest
from tests.maps.generators.places import generated, zones

from agora.errors import PlacementError


@pytest.mark.parametrize("doors", [1, 3])
def test_the_wall_has_doors_of_their_width(doors):
    along = set()
    for n in range(8):
        place = generated("doorway", n, door=1.5, doors=doors, thickness=0.3)
        inner = ~place.map.occupied[1:-1, 1:-1]
        upright = inner.any(1).all() and (inner.sum(0) == 15 * doors).sum() == 3
        lying = (inner.sum(1) == 15 * doors).sum() == 3
        assert upright != lying
        along.add(upright)
        assert len(zones(place, "door")) == doors
        walls = (inner.shape[0] if upright else inner.shape[1]) - 15 * doors
        assert (~inner).sum() == 3 * walls
    assert along == {True, False}


def test_the_rooms_are_free_and_share_the_place():
    place = generated("doorway", 2)
    first, second = zones(place, "room")
    free = place.map.centre_of(*np.nonzero(~place.map.occupied))
    walls = place.map.centre_of(*np.nonzero(place.map.occupied))
    assert not first.contains(walls).any()
    assert not second.contains(walls).any()
    assert (first.contains(free) | second.contains(free)).mean() > 0.98
    assert not (first.contains(free) & second.contains(free)).any()


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"door": 0.9}, "^door 0.9: a robot with a passage width of 0.5 m needs at least 1.2 m"),
        ({"doors": 30}, r"^doors 30: there is room for only \d+ doors of 1.2 m"),
        ({"thickness": 15.0}, "^thickness 15: it does not leave space for two rooms of 1.2 m"),
    ],
)
def test_what_does_not_fit_is_an_error_that_names_it(values, message):
    with pytest.raises(PlacementError, match=message):
        generated("doorway", **values)
