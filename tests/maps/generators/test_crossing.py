"""Crossing: widths, arms, where they meet."""

import numpy as np
import pytest
from tests.maps.generators.places import box, generated, zones

from agora.errors import InputError, PlacementError


@pytest.mark.parametrize("arms", [3, 4])
def test_the_corridors_have_their_widths_and_arms(arms):
    seen = set()
    for n in range(10):
        place = generated("crossing", n, corridor_width=2.2, crossing_width=3.1, arms=arms, width=17.0, height=13.0)
        (middle,) = zones(place, "crossing")
        assert np.ptp(box(middle), axis=0) == pytest.approx([3.1, 2.2])
        assert len(zones(place, "corridor")) == arms
        cells = sum(round(zone.area / 0.01) for zone in place.zones if "entrance" not in zone.category)
        assert (~place.map.occupied).sum() == cells
        inner = place.map.occupied[1:-1, 1:-1]
        seen.add(tuple(bool((~side).any()) for side in (inner[0], inner[-1], inner[:, 0], inner[:, -1])))
    assert all(sum(open_) == arms for open_ in seen)
    assert len(seen) == (4 if arms == 3 else 1)


def test_without_an_offset_they_meet_in_the_centre():
    (middle,) = zones(generated("crossing", offset=0.0, width=14.0, height=20.0), "crossing")
    assert box(middle).mean(0) == pytest.approx([-7.35 + 7.0, 4.2 + 10.0], abs=0.051)


@pytest.mark.parametrize("name", ["corridor_width", "crossing_width"])
def test_a_width_that_does_not_fit_is_an_error_that_names_it(name):
    for turn in range(3):
        with pytest.raises(PlacementError, match=f"^{name} 1: a robot with a passage width of 0.5 m needs at least 1.2 m"):
            generated("crossing", turn, arms=3, **{name: 1.0})
        with pytest.raises(PlacementError, match=f"^{name} 40: it does not fit"):
            generated("crossing", turn, arms=3, **{name: 40.0})


def test_a_crossing_has_three_or_four_arms():
    with pytest.raises(InputError, match=r"arms: expected an integer in \[3, 4\]"):
        generated("crossing", arms=2)
