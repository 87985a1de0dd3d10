"""Simulators that can be had by name keep their contract, and bad ones do not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from tests.starts import start

from agora.engine.conditions import Conditions
from agora.engine.engine import Engine
from agora.errors import InputError
from agora.registry import available, make
from agora.simulators.native import Native, NativeBodies
from agora.testing import ContractError, check_simulator


@pytest.mark.parametrize("name", sorted(available("simulators")))
def test_a_registered_simulator_keeps_the_contract(name):
    check_simulator(make("simulators", name))


@dataclass(frozen=True)
class Bad:
    """The library's robots, after whose step something is spoilt: called with (bodies, world, next robots, first, last)."""

    spoil: Any
    can = frozenset({"step"})

    def bodies(self, world):
        made, spoil = NativeBodies(world), self.spoil

        class Spoilt:
            walls, reset, sensors, close, kept = made.walls, made.reset, made.sensors, made.close, {}

            def move(self, now):
                step, after = made.move(now), world.generation(1 - now)[1]

                def move(first, last):
                    step(first, last)
                    spoil(self, world, after, first, last)

                return move

        return Spoilt()


def is_nowhere(bodies, world, after, first, last):
    after.x[first:last] = np.nan


def is_too_fast(bodies, world, after, first, last):
    after.vx[first:last] = 9.0


def stays(bodies, world, after, first, last):
    for old, new in zip(world.robots, after, strict=True):
        new[first:last] = old[first:last]


def never_rests(bodies, world, after, first, last):
    after.x[first:last] += np.float32(0.01) * ~world.status.clock.done[first:last, None]


def drives_through_walls(bodies, world, after, first, last):
    there = ~world.status.clock.done[first:last, None] & (bodies.walls[first:last] <= 1.0)
    after.x[first:last] += np.float32(0.05) * np.cos(after.heading[first:last]) * there
    after.y[first:last] += np.float32(0.05) * np.sin(after.heading[first:last]) * there


def hides_walls(bodies, world, after, first, last):
    bodies.walls[first:last] = 2.0


def pushes_pedestrians(bodies, world, after, first, last):
    world.pedestrians.x[first:last] += np.float32(0.01)


def forgets_commands(bodies, world, after, first, last):
    world.commands[first:last] = 0.0


def draws_from_nowhere(bodies, world, after, first, last):
    noise = np.random.default_rng().uniform(0, 1e-3, after.x[first:last].shape).astype(np.float32)
    after.x[first:last] += noise * (world.commands[first:last, :, 0] != 0) * ~world.status.clock.done[first:last, None]


def mixes_worlds(bodies, world, after, first, last):
    drives = (world.commands[first:last, :, 0] != 0) & ~world.status.clock.done[first:last, None]
    after.x[first:last] += np.float32(1e-4) * world.layout.worlds * drives


def remembers_the_last_episode(bodies, world, after, first, last):
    for w in range(first, last):
        bodies.kept[w] = bodies.kept.get(w, 0) + 1
        if world.commands[w].any() and not world.status.clock.done[w]:
            after.x[w] += np.float32(1e-5 * bodies.kept[w])


def moves_who_is_done(bodies, world, after, first, last):
    after.x[first:last] += np.float32(0.01) * world.status.clock.done[first:last, None]


@pytest.mark.parametrize(
    ("spoil", "clause"),
    [
        (is_nowhere, "x is"),
        (is_too_fast, "exceeds its top speed"),
        (stays, r"no more than 0\.000 m in"),
        (never_rests, "commanded to stand"),
        (drives_through_walls, "in a wall"),
        (hides_walls, "was never set"),
        (pushes_pedestrians, "people"),
        (forgets_commands, "the commands have changed"),
        (draws_from_nowhere, "not deterministic"),
        (mixes_worlds, "worlds affect each other"),
        (remembers_the_last_episode, "a reset leaves state"),
        (moves_who_is_done, "a finished world"),
    ],
)
def test_a_bad_simulator_is_found_out(spoil, clause):
    with pytest.raises(ContractError, match=clause):
        check_simulator(Bad(spoil))


def test_a_simulator_whose_time_passes_by_itself_is_refused():
    @dataclass(frozen=True)
    class ByItself(Native):
        can = frozenset({"pause"})  # type: ignore[assignment]

    with pytest.raises(InputError, match="simulator ByItself cannot take single steps"):
        Engine.of([start()], Conditions(simulator=ByItself()))
