"""Office: workplaces of desk, chair and separator in rows; meeting rooms; storage."""

import math

import numpy as np
import pytest
from tests.maps.generators.places import generated, models, zones

from agora.errors import PlacementError


@pytest.mark.parametrize(("number", "rooms", "storage"), [(0, 0, 0), (1, 0, 3), (40, 2, 8), (24, 1, 0)])
def test_there_is_as_much_as_asked_for(number, rooms, storage):
    place = generated("office", obstacle_num=number, meeting_rooms=rooms, storage=storage)
    found = models(place)
    assert found["office_desk"] == found["office_chair"] == found["separator"] == number
    assert found["meeting_table"] == rooms
    assert found["chair"] == 6 * rooms
    assert sum(found[m] for m in ("cabinet", "printer", "bookcase", "plant")) == storage
    assert len(zones(place, "workplace")) == number
    assert len(zones(place, "door")) == rooms


def test_who_works_sits_on_the_chair_and_has_the_separator_ahead():
    place = generated("office", 2)
    desks, chairs, separators = ([f for f in place.furniture if f.model == m] for m in ("office_desk", "office_chair", "separator"))
    for desk, chair, separator in zip(desks, chairs, separators, strict=True):
        ((spot, pose),) = desk.spots()
        assert spot.use == "work"
        assert pose[:2] == pytest.approx((chair.x, chair.y))
        assert math.cos(pose[2] - chair.heading) == pytest.approx(1.0)
        ahead = np.array([math.cos(chair.heading), math.sin(chair.heading)])
        assert ahead @ (desk.x - chair.x, desk.y - chair.y) == pytest.approx(0.75)
        assert ahead @ (separator.x - chair.x, separator.y - chair.y) == pytest.approx(1.19)


def test_desks_are_back_to_back():
    # with every place taken, each separator has its partner behind it
    place = generated("office", 1, obstacle_num=72, meeting_rooms=0, storage=0, width=27.0, height=18.0)
    separators = np.array([(f.x, f.y) for f in place.furniture if f.model == "separator"])
    apart = np.hypot(*(separators[:, None] - separators).transpose(2, 0, 1)) + 9.0 * np.eye(len(separators))
    assert apart.min(1) == pytest.approx(0.06)


def test_the_door_of_a_meeting_room_is_a_way_into_it():
    place = generated("office", 4, meeting_rooms=2, door=1.4)
    rooms = [zone for zone in zones(place, "room") if zone.label.startswith("meeting")]
    assert len(rooms) == 2
    for door in zones(place, "door"):
        (corners,) = door.polygons
        assert min(np.ptp(corners, axis=0)) == pytest.approx(1.4)
        assert place.map.gap([corners.mean(0)])[0] >= 0.7 - 1e-9


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"obstacle_num": 500}, r"^obstacle_num 500: there is room for only \d+ workplaces with 1.6 m aisles"),
        ({"meeting_rooms": 9}, r"^meeting_rooms 9: each needs 5.20 x 5.00 m"),
        ({"storage": 90}, "^storage 90: there is room for"),
    ],
)
def test_what_does_not_fit_is_an_error_that_names_it(values, message):
    with pytest.raises(PlacementError, match=message):
        generated("office", **values)
