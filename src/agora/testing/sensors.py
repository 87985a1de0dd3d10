"""The contract of sensors."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from agora.core.state import Array
from agora.interfaces.channel import Sensor
from agora.registry import KINDS
from agora.testing.crowds import crowd, standing
from agora.testing.errors import ContractError
from agora.testing.guard import pure
from agora.testing.scenes import Move
from agora.world.world import World

_ROBOTS = (0, 1)
_KNOWN = frozenset({"path", "pedestrians", "robots", "scan", "costmap", "semantics"})


def check_sensor(sensor: Sensor, *, tolerance: float = 1e-3, agreement: float = 0.98) -> None:
    """Check a sensor against the contract of `agora.interfaces.channel.Sensor`.

    Readings are finite and between the bounds of their fields, in a crowd and with nobody about; nothing but ``out`` is written
    to, no global generator is drawn from, and the same world gives the same bits. A world alone gives what it gives among others,
    a robot alone what it gives beside another. In a scene that is moved as a whole, readings in the frames "robot" and "sensor"
    are the same, and places in the frame "map" are moved.

    Args:
        sensor: to check.
        tolerance: of readings in the moved scene, in the unit of the field.
        agreement: share of the readings that must agree there: a ray along a corner may pass it or not.

    Raises:
        ContractError: it breaks a clause.
    """
    check = _Check(sensor, type(sensor).__name__)
    check.says()
    check.measures()
    check.worlds_and_robots_are_alone()
    check.moved(tolerance, agreement)


@dataclass(frozen=True)
class _Bound:
    """A sensor at work in some worlds."""

    out: dict[str, Array]
    measure: Callable[[int, int], None] = field(repr=False)


@dataclass(frozen=True)
class _Check:
    """The clauses."""

    sensor: Sensor
    name: str

    def fail(self, clause: str) -> ContractError:
        """The error for a clause."""
        return ContractError(f"{self.name}: {clause}")

    def bind(self, world: World, robots: Sequence[int] = _ROBOTS) -> _Bound:
        """The sensor on some robots of every world."""
        worlds = world.layout.worlds
        out = {name: np.full((worlds, len(robots), *one.shape), 77, one.kind) for name, one in self.sensor.fields.items()}
        return _Bound(out, self.sensor.bind(world, robots, out))

    def read(self, world: World, robots: Sequence[int] = _ROBOTS) -> dict[str, Array]:
        """What the sensor measures in every world, checked."""
        bound = self.bind(world, robots)
        state = {"people": world.pedestrians, "traits": world.traits, "robots": world.robots, "maps": world.maps}
        with pure(self.name, **state):
            bound.measure(0, world.layout.worlds)
        for name, one in self.sensor.fields.items():
            read = bound.out[name]
            if not np.isfinite(read).all():
                raise self.fail(f"{name} is not finite: {read[~np.isfinite(read)][0]}")
            if read.size and not (read.min() >= one.low and read.max() <= one.high):
                raise self.fail(f"{name} is between {read.min():g} and {read.max():g}, its field says {one.low:g} to {one.high:g}")
        return bound.out

    def says(self) -> None:
        """Its name and its fields."""
        if self.sensor.channel in _KNOWN or not self.sensor.channel.isidentifier():
            raise self.fail(f"channel: expected a name of its own for the {KINDS['channels']}, got {self.sensor.channel!r}")
        if not self.sensor.fields:
            raise self.fail("fields: it measures nothing")
        for name, one in self.sensor.fields.items():
            if one.frame == "map" and one.shape[-1:] not in ((2,), (3,)):
                raise self.fail(f"{name}: in the frame map it must end with x and y, its shape is {one.shape}")

    def measures(self) -> None:
        """Readings in crowds, with nobody about, and again."""
        for seed in (1, 2, 3):
            world = standing(crowd(seed=seed))
            first, again = self.read(world), self.read(world)
            for name, read in first.items():
                if not np.array_equal(read, again[name]):
                    raise self.fail(f"{name}: the same world gives other numbers the second time")
        self.read(standing(crowd((0,))))

    def worlds_and_robots_are_alone(self) -> None:
        """A world, and a robot, alone."""
        starts = crowd()
        whole = self.read(standing(starts))
        for number, start in enumerate(starts):
            alone = self.read(standing((start,), slots=standing(starts).slots))
            part = self.bind(standing(starts))
            part.measure(number, number + 1)
            for name, read in whole.items():
                if not np.array_equal(read[number], alone[name][0]):
                    raise self.fail(f"worlds are mixed: {name} of world {number} among others and alone")
                others = np.delete(part.out[name], number, axis=0)
                if not np.array_equal(read[number], part.out[name][number]) or (others != 77).any():
                    raise self.fail(f"worlds are mixed: {name} where world {number} alone is measured")
        for robot in _ROBOTS:
            own = self.read(standing(starts), (robot,))
            for name, read in whole.items():
                if not np.array_equal(read[:, robot], own[name][:, 0]):
                    raise self.fail(f"robots are mixed: {name} of robot {robot} beside another and alone")

    def moved(self, tolerance: float, agreement: float) -> None:
        """In a scene that is moved as a whole."""
        for clause, move in {"shifted": Move(-32.0, 16.0), "turned by 90 degrees": Move(turn=math.pi / 2)}.items():
            here, there = (self.read(standing(crowd(move=m), move=m)) for m in (Move(), move))
            for name, one in self.sensor.fields.items():
                expected = here[name].astype(float)
                if one.frame == "map":
                    expected[..., :2] = move.points(expected[..., :2])
                close = np.abs(there[name] - expected) <= tolerance
                if close.mean() < agreement:
                    raise self.fail(f"{name}: in the scene {clause} {1.0 - close.mean():.0%} of the readings are others")
