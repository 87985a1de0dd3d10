"""Industrial hall: shelves in rows, racks by chance, jacks and pallets at their fronts, aisles."""

import math

import numpy as np
import pytest
from tests.maps.generators.places import box, generated, models, zones

from agora.errors import PlacementError

JACKS = {"pallet_jack_1", "pallet_jack_2", "pallet_jack_3"}


def of(place, *names):
    return [f for f in place.furniture if f.model in names]


@pytest.mark.parametrize(("number", "jacks", "pallets"), [(0, 0, 0), (7, 3, 4), (30, 5, 1)])
def test_there_is_as_much_as_asked_for(number, jacks, pallets):
    place = generated("industrial_hall", obstacle_num=number, pallet_jacks=jacks, pallets=pallets)
    assert len(of(place, "long_shelf")) == number
    assert len(of(place, *JACKS)) == jacks
    assert len(of(place, "pallet", "pallet2")) == pallets


@pytest.mark.parametrize(("chance", "low", "high"), [(0.0, 0, 0), (1.0, 800, 800), (0.25, 150, 250)])
def test_a_shelf_has_a_rack_at_its_back_with_its_chance(chance, low, high):
    places = [generated("industrial_hall", n, obstacle_num=20, rack_chance=chance, resolution=0.2, height=24.0) for n in range(40)]
    racks = sum(models(p)["rack"] for p in places)
    assert low <= racks <= high  # 5 deviations of 800 x 0.25 x 0.75 are 61
    for place in places[:5]:
        shelves = of(place, "long_shelf")
        for rack in of(place, "rack"):
            shelf = min(shelves, key=lambda s: math.hypot(s.x - rack.x, s.y - rack.y))  # noqa: B023 - used at once
            assert math.hypot(shelf.x - rack.x, shelf.y - rack.y) == pytest.approx(0.8)
            assert math.cos(shelf.heading - rack.heading) == pytest.approx(-1.0)


def test_rows_are_along_or_across_and_both_happen():
    headings = set()
    for n in range(12):
        shelves = of(generated("industrial_hall", n), "long_shelf")
        heading = {round(s.heading / (math.pi / 2)) % 4 for s in shelves}
        assert len(heading) == 1
        across = [s.y if heading <= {0, 2} else s.x for s in shelves]
        assert len({round(v, 6) for v in across}) <= 8
        headings |= heading
    assert headings == {0, 1, 2, 3}


def test_aisles_are_as_wide_as_asked_for_and_free_but_for_what_is_parked():
    for n in range(4):
        place = generated("industrial_hall", n, obstacle_num=20, aisle=2.9, pallet_jacks=0, pallets=0)
        centres = place.map.centre_of(*np.nonzero(place.map.occupied))
        for zone in zones(place, "aisle"):
            low, high = box(zone)
            assert min(high - low) >= 2.9 - 1e-9
            margin = 1.01 * place.map.resolution
            assert not ((centres > low + margin) & (centres < high - margin)).all(1).any()


def test_jacks_stand_before_a_shelf_and_leave_the_aisle_a_way():
    place = generated("industrial_hall", 3, pallet_jacks=8, pallets=8)
    shelves = of(place, "long_shelf")
    for piece in of(place, *JACKS, "pallet", "pallet2"):
        shelf = min(shelves, key=lambda s: math.hypot(s.x - piece.x, s.y - piece.y))  # noqa: B023 - used at once
        front = np.array([-math.sin(shelf.heading), math.cos(shelf.heading)])
        assert front @ (piece.x - shelf.x, piece.y - shelf.y) == pytest.approx(1.0)


def test_what_fits_one_way_only_is_set_that_way():
    # 5 m hold one row along the hall with its aisles, and across it not one shelf with the ways at its ends
    turned = {round(s.heading / (math.pi / 2)) % 2 for n in range(8) for s in narrow(n).furniture if s.model == "long_shelf"}
    assert turned == {0}


def narrow(n):
    return generated("industrial_hall", n, width=30.0, height=5.0, obstacle_num=7, pallet_jacks=0, pallets=0, aisle=1.5)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"obstacle_num": 400}, r"^obstacle_num 400: there is room for only \d+ shelves with 2.4 m aisles"),
        ({"obstacle_num": 5, "pallet_jacks": 4, "pallets": 2}, "^pallet_jacks 4: with 2 pallets, .* than the 5 shelves"),
        ({"obstacle_num": 20, "aisle": 12.0}, "^obstacle_num 20"),
    ],
)
def test_what_does_not_fit_is_an_error_that_names_it(values, message):
    with pytest.raises(PlacementError, match=message):
        generated("industrial_hall", **values)
