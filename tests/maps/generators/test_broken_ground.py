"""Broken ground: gaps and steps from wall to wall, with a bridge or a ramp in each."""

from __future__ import annotations

import numpy as np
import pytest
from tests.maps.generators.places import box, generated, zones

from agora.errors import InputError
from agora.maps.ground import met_by
from agora.planners.global_.astar import geodesic_length


@pytest.mark.parametrize("number", range(4))
def test_wheels_get_everywhere_over_bridges_and_ramps_and_legs_straight_across(number):
    place = generated("broken_ground", number)
    wheels, legs = met_by(place.map, 0.0, 0.0), met_by(place.map, 0.1, 0.1)
    (x0, y0), (x1, y1) = np.array(place.map.origin), np.array(place.map.origin) + place.map.size
    ways = [((x0 + 0.9, y), (x1 - 0.9, y)) for y in (y0 + 1.0, y1 - 1.0)]
    straight = x1 - x0 - 1.8
    assert [geodesic_length(legs, *way, 0.4) for way in ways] == pytest.approx([straight, straight], abs=0.1)
    assert max(geodesic_length(wheels, *way, 0.4) for way in ways) > straight + 1.0
    assert not legs.occupied[1:-1, 1:-1].any()


def test_gaps_and_steps_take_turns_and_steps_go_up_and_down():
    place = generated("broken_ground", 1, breaks=4, gap=0.2, step=0.12, width=26.0)
    ground = place.map.ground
    missing = np.isneginf(ground).sum(axis=0)
    assert sorted(np.flatnonzero(missing > 0) - np.flatnonzero(missing > 0)[0])[:2] == [0, 1]
    assert (missing > 0).sum() == 2 * 2
    heights = np.unique(ground[np.isfinite(ground)].round(3))
    assert (heights.min(), heights.max()) == (0.0, pytest.approx(0.12))
    assert np.abs(ground[:, 1]).max() == np.abs(ground[:, -2]).max() == 0.0
    assert (len(zones(place, "passage")), len(zones(place, "entrance"))) == (4, 2)


def test_ramps_rise_as_slowly_as_they_are_told():
    place = generated("broken_ground", 2, breaks=1, slope=0.05)
    for number in range(6):
        place = generated("broken_ground", number, breaks=1, slope=0.05)
        low, high = box(zones(place, "passage")[0])
        row = place.map.cell_of((low + high) / 2)[0]
        rise = np.abs(np.diff(place.map.ground[row]))
        assert np.nanmax(rise) < 0.05 * place.map.resolution + 1e-3


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"breaks": 40}, r"breaks 40: there is room for only \d+ breaks of .* m each, in a place of"),
        ({"slope": 0.5}, "slope 0.5: on cells of 0.1 m, the slope itself has steps higher than 0.02 m"),
    ],
)
def test_what_has_no_room_is_an_error_that_says_why(values, message):
    with pytest.raises(InputError, match=message):
        generated("broken_ground", **values)
