"""Hospital ward: rooms, beds, doors, the nurses' place."""

import numpy as np
import pytest
from tests.maps.generators.places import generated, models, zones

from agora.errors import PlacementError


def test_every_room_has_its_beds_and_a_door_and_one_is_the_nurses():
    for n in range(4):
        place = generated("hospital_ward", n, occupancy=1.0, beds=2, width=27.0, height=17.0)
        rooms = zones(place, "room")
        assert len(rooms) == 2 * 6 - 1
        assert len(zones(place, "door")) == len(rooms)
        assert len(zones(place, "staff")) == 1
        beds = np.array([(f.x, f.y) for f in place.furniture if f.model == "hospital_bed"])
        assert [int(room.contains(beds).sum()) for room in rooms] == [2] * len(rooms)
        assert models(place)["bedside_cabinet"] == len(beds)


@pytest.mark.parametrize(("occupancy", "low", "high"), [(0.0, 0, 0), (0.5, 230, 310)])
def test_a_bed_is_there_with_its_chance(occupancy, low, high):
    beds = [
        models(generated("hospital_ward", n, occupancy=occupancy, resolution=0.2, height=18.0))["hospital_bed"] for n in range(21)
    ]
    assert low <= sum(beds) <= high  # of 21 x 13 x 2 = 546: 273, five deviations are 58


def test_the_corridor_runs_the_long_way_and_has_its_width():
    for size, along in (((30.0, 16.0), 0), ((16.0, 30.0), 1)):
        place = generated("hospital_ward", 1, width=size[0], height=size[1], corridor_width=2.9)
        (hall,) = zones(place, "corridor")
        extent = np.ptp(hall.polygons[0], axis=0)
        assert extent[1 - along] == pytest.approx(2.9)
        assert extent[along] == pytest.approx(29.8)
        free = place.map.centre_of(*np.nonzero(~place.map.occupied))
        assert hall.contains(free).sum() == 29 * 298


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"beds": 6}, r"^beds 6: the rooms are 6.50 m deep, but must be at least 15.\d\d m"),
        ({"corridor_width": 1.0}, "^corridor_width 1: a robot with a passage width of 0.5 m needs at least 1.2 m"),
        ({"room_width": 40.0}, "^room_width 40: no room fits"),
    ],
)
def test_what_does_not_fit_is_an_error_that_names_it(values, message):
    with pytest.raises(PlacementError, match=message):
        generated("hospital_ward", **values)
