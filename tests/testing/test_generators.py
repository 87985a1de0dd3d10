"""Map generators that can be had by name keep the contract at many sizes, and bad ones do not."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agora.errors import PlacementError
from agora.maps.furniture import Furniture
from agora.maps.generators.canteen import Canteen
from agora.maps.grid import Map
from agora.maps.place import Place
from agora.maps.zones import Zone
from agora.registry import available, make
from agora.seeds import Stream
from agora.testing import ContractError, check_map_generator

NAMES = sorted(available("map_generators"))


@pytest.mark.parametrize("name", NAMES)
def test_a_registered_map_generator_keeps_the_contract(name):
    check_map_generator(make("map_generators", name, x=-6.1, y=17.3))


@settings(max_examples=36, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    name=st.sampled_from(NAMES),
    width=st.floats(14.0, 30.0),
    height=st.floats(12.0, 26.0),
    resolution=st.sampled_from([0.1, 0.13, 0.25]),
    passage=st.floats(0.15, 0.6),
)
def test_a_registered_map_generator_keeps_it_at_other_sizes_or_says_what_does_not_fit(name, width, height, resolution, passage):
    generator = make("map_generators", name, width=width, height=height, resolution=resolution, passage=passage, x=3.3, y=-8.8)
    try:
        generator.generate(Stream("contract/place", 1, "place"))
    except PlacementError as error:
        assert str(error).split()[0] in {*vars(generator)}, error
        return
    check_map_generator(generator, random=False)


@dataclass(frozen=True)
class Bent:
    """A canteen, bent by a function of the place and the stream."""

    bend: object
    passage: float = 0.5

    def generate(self, stream):
        return self.bend(Canteen(obstacle_num=5, resolution=0.2, width=17.0).generate(stream), stream)


def with_a_generator_of_its_own(place, stream):
    return Canteen(obstacle_num=5).generate(Stream("mine", int(np.random.default_rng().integers(1 << 30)), "place"))


def always_the_same(place, stream):
    return Canteen(obstacle_num=5).generate(Stream("mine", 1, "place"))


def from_numpy(place, stream):
    np.random.random()  # noqa: NPY002 - the point
    return place


def forgets_the_furniture(place, stream):
    grid = place.map.occupied.copy()
    grid[1:-1, 1:-1] = False
    return replace(place, map=Map("bare", 0.2, place.map.origin, grid))


def stands_in_another(place, stream):
    table = next(f for f in place.furniture if f.model == "table")
    return replace(place, furniture=(*place.furniture, Furniture("chair", table.x + 0.4, table.y)))


def stands_outside(place, stream):
    return replace(place, furniture=(*place.furniture, Furniture("chair", -20.0, 3.0)))


def has_a_cell_nobody_gets_to(place, stream):
    grid = place.map.occupied.copy()
    grid[:, 40:42] = True
    return replace(place, map=Map("parted", 0.2, place.map.origin, grid))


def has_a_zone_elsewhere(place, stream):
    return replace(place, zones=(Zone.of("far", "room", [[90, 90], [91, 90], [91, 91]]),))


def has_a_zone_in_a_wall(place, stream):
    return replace(place, zones=(Zone.of("wall", "room", [[0.0, 0.0], [0.2, 0.0], [0.2, 0.2], [0.0, 0.2]]),))


@pytest.mark.parametrize(
    ("bend", "reason"),
    [
        (with_a_generator_of_its_own, "not deterministic"),
        (always_the_same, "the same place for every random stream"),
        (from_numpy, "draws from a global"),
        (forgets_the_furniture, "missing from the occupancy"),
        (stands_in_another, "a chair .* is in a table"),
        (stands_outside, "a chair .* is not on the map"),
        (has_a_cell_nobody_gets_to, r"cannot reach all free space: it has \d+ parts"),
        (has_a_zone_elsewhere, "zone 'far' is not on the map"),
        (has_a_zone_in_a_wall, "zone 'wall' contains no free cell"),
        (lambda place, stream: place.map, "expected a Place, got a Map"),
        (lambda place, stream: 1 / 0, "raises ZeroDivisionError"),
        (lambda place, stream: Place(Map("full", 0.2, (0.0, 0.0), np.ones((9, 9), bool)), zones=()), "same place|not fit anywhere"),
    ],
)
def test_a_bad_generator_fails_for_its_own_reason(bend, reason):
    with pytest.raises(ContractError, match=reason):
        check_map_generator(Bent(bend))
