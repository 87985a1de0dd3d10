"""Apartment: its rooms, their doors, what stands in them."""

import numpy as np
import pytest
from tests.maps.generators.places import generated, models, zones

from agora.errors import PlacementError


@pytest.mark.parametrize("bedrooms", [1, 3])
def test_it_has_its_rooms_each_with_a_door(bedrooms):
    place = generated("apartment", bedrooms=bedrooms, width=15.0)
    labels = {zone.label for zone in zones(place, "room")}
    assert labels == {"living_room", "kitchen", "bathroom", *(f"bedroom {k + 1}" for k in range(bedrooms))}
    assert len(zones(place, "door")) == len(labels)
    (hallway,) = zones(place, "corridor")
    middle = [door.polygons[0].mean(0) for door in zones(place, "door")]
    assert place.map.gap(middle).min() > 0.3
    assert all(hallway.contains(door.polygons[0]).any() for door in zones(place, "door"))


def test_furniture_is_in_the_room_that_it_is_for():
    kinds = {"double_bed": "bedroom", "sofa": "living_room", "fridge": "kitchen", "shower": "bathroom", "wardrobe": "bedroom"}
    found = dict.fromkeys(kinds, 0)
    for n in range(10):
        place = generated("apartment", n)
        rooms = zones(place, "room")
        for piece in place.furniture:
            if piece.model in kinds:
                (room,) = (zone.label for zone in rooms if zone.contains([piece.x, piece.y]))
                assert room.startswith(kinds[piece.model])
                found[piece.model] += 1
    assert found["double_bed"] >= 14
    assert min(found.values()) >= 7


def test_what_is_furnished_is_a_share():
    bare, some, all_ = (
        np.mean([sum(models(generated("apartment", n, furnished=share)).values()) for n in range(6)]) for share in (0.0, 0.4, 1.0)
    )
    assert bare == 0
    assert 0.2 * all_ < some < 0.7 * all_


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"bedrooms": 9}, r"^bedrooms 9: there is no room for 10 rooms of 2.00 m side by side"),
        ({"hallway": 8.0}, "^hallway 8: it leaves no space for rooms of 2.00 m on both sides"),
    ],
)
def test_what_does_not_fit_is_an_error_that_names_it(values, message):
    with pytest.raises(PlacementError, match=message):
        generated("apartment", **values)
