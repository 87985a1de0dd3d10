"""Every behaviour that can be had by name keeps the contract, and bad ones do not."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from agora.registry import available, make
from agora.testing import ContractError, check_behaviour


@pytest.mark.parametrize("name", sorted(available("behaviours")))
def test_a_registered_behaviour_keeps_the_contract(name):
    check_behaviour(make("behaviours", name))


@dataclass(frozen=True)
class Hurried:
    """Goes to its own place of departure, faster by and by: plain NumPy, as a newcomer writes it."""

    gain: float = 0.1
    spoil: Callable[[Any, int, int], None] = lambda world, first, last: None

    def __post_init__(self) -> None:
        if not self.gain >= 0:
            raise ValueError("gain")

    def attach(self, world: Any, every: int, sees: int) -> Any:
        return Attached(self, world)


class Attached:
    def __init__(self, hurried: Hurried, world: Any) -> None:
        self.hurried, self.world = hurried, world
        self.home = np.zeros((2, *world.pedestrians.x.shape), np.float32)

    def reset(self, world: int, start: Any) -> None:
        self.home[:, world, : len(start.pedestrians.id)] = start.pedestrians.position.T

    def think(self, generation: int) -> Callable[[int, int], None]:
        def decide(first: int, last: int) -> None:
            world = self.world
            for w in range(first, last):
                if world.status.clock.done[w]:
                    continue
                n = world.traits.count[w]
                world.waypoints.x[w, :n], world.waypoints.y[w, :n] = self.home[:, w, :n]
                world.traits.speed[w, :n] = world.minds.speed[w, :n] * np.float32(1 + self.hurried.gain)
            self.hurried.spoil(world, first, last)

        return decide


def test_a_decent_behaviour_in_numpy_passes():
    check_behaviour(Hurried())


def divides_by_zero(world, first, last):
    world.traits.speed[first:last] = np.inf


def pushes_people(world, first, last):
    world.pedestrians.x[first:last] += np.float32(0.01)


def changes_lists(world, first, last):
    world.waypoints.list_x[first:last] += np.float32(0.01)


def draws_from_nowhere(world, first, last):
    world.traits.speed[first:last] += np.float32(np.random.default_rng().uniform(0, 0.1))


def draws_from_the_global_generator(world, first, last):
    world.traits.speed[first:last] += np.float32(np.random.uniform(0, 0.1))  # noqa: NPY002


def mixes_worlds(world, first, last):
    world.traits.speed[first:last] *= np.float32(1 + 0.01 * (last - first))


def counts_slots(world, first, last):
    world.traits.speed[first:last] *= np.float32(1 + 0.01 * world.slots)


def looks_into_empty_slots(world, first, last):
    world.traits.speed[first:last] *= np.float32(1) + np.abs(world.pedestrians.x[first:last, 1:2]) % np.float32(1)


def goes_on_for_ever(world, first, last):
    world.minds.energy[first:last] *= np.float32(0.99)


def drifts_north(world, first, last):
    here = ~world.status.clock.done[first:last, None]
    world.waypoints.y[first:last] = np.where(here, world.pedestrians.y + 1, world.waypoints.y)[first:last]


def goes_mad(world, first, last):
    world.minds.state[first:last] = 99


def talks_to_strangers(world, first, last):
    world.minds.partner[first:last] = 4321


BAD = {
    divides_by_zero: "the preferred speed inf",
    pushes_people: "read-only",
    changes_lists: "read-only",
    draws_from_nowhere: "not deterministic",
    draws_from_the_global_generator: "global random generator",
    mixes_worlds: "worlds affect each other",
    counts_slots: "the number of slots changes the result",
    looks_into_empty_slots: "empty slots change the result",
    goes_on_for_ever: "in a finished world",
    drifts_north: "turned",
    goes_mad: "type, reaction and state 0, 0, 99",
    talks_to_strangers: "refers to an absent pedestrian",
}


@pytest.mark.parametrize(("spoil", "reason"), BAD.items(), ids=lambda value: getattr(value, "__name__", ""))
def test_a_bad_behaviour_fails_for_its_own_reason(spoil, reason):
    with pytest.raises(ContractError, match=reason):
        check_behaviour(dataclasses.replace(Hurried(), spoil=spoil))


def test_a_parameter_that_may_be_nan_is_named():
    @dataclass(frozen=True)
    class Careless(Hurried):
        gain: float = 0.1

        def __post_init__(self) -> None:
            pass

    assert math.isnan(Careless(math.nan).gain)
    with pytest.raises(ContractError, match="parameter gain accepts NaN"):
        check_behaviour(Careless())
