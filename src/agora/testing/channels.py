"""The contract for channels."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from agora.core.state import Array
from agora.engine.observe import Observer
from agora.engine.wiring import Wiring
from agora.errors import InputError
from agora.interfaces import Bound, Provider, Setting, Simulator
from agora.optics.lidar import Lidar
from agora.registry import available, load
from agora.simulators.native import NativeBodies
from agora.testing.crowds import DT, crowd, stand, standing
from agora.testing.errors import ContractError
from agora.testing.guard import pure
from agora.testing.scenes import Move, moved_field
from agora.world.start import Start
from agora.world.world import World

_LIDAR = Lidar(beams=61, angle_min=-2.1, angle_max=1.9, range_max=7.0, x=0.1, heading=0.1)
_UNWRITTEN = 77


def check_channel(
    channel: Provider, *, simulator: Simulator | None = None, tolerance: float = 1e-3, agreement: float = 0.98
) -> None:
    """Check a channel against the contract of `agora.interfaces.Provider`.

    Readings are finite and within the bounds of their fields, both in a crowd and without people. The channel writes only its own
    reading, and does not use global random generators. The same world gives bit-identical readings, even after another episode, and
    the same readings on its own as in a batch. If robots swap positions, their readings are swapped. If the whole scene is moved,
    readings in the frames "robot" and "sensor" stay the same, and positions and directions in the frame "map" move with the scene.

    Args:
        channel: channel to check. Its dependencies are computed from the true pedestrians and a lidar.
        simulator: simulator that measures the channel, if the channel needs one.
        tolerance: tolerance of readings in the moved scene, in the field's unit.
        agreement: fraction of readings that must agree in the moved scene; less than 1 because a ray may just hit or miss a corner.

    Raises:
        ContractError: the channel breaks a clause.
    """
    name = type(channel).__name__
    try:
        wiring = Wiring.of((channel,), Setting(_LIDAR))
    except InputError as error:
        raise ContractError(f"{name}: {error}") from error
    check = _Check(wiring, simulator, name)
    check.says()
    check.measures()
    check.begins_afresh()
    check.worlds_and_robots_are_alone()
    check.moved(tolerance, agreement)


@dataclass(frozen=True)
class _Check:
    """The clauses of the contract."""

    wiring: Wiring
    simulator: Simulator | None
    name: str

    @property
    def channel(self) -> Provider:
        """The channel to check."""
        return self.wiring.shown[0][1]

    def fail(self, clause: str) -> ContractError:
        """Return the error for a violated clause."""
        return ContractError(f"{self.name}: {clause}")

    @contextmanager
    def observer(self, world: World) -> Iterator[Observer]:
        """Return an observer with the channel and all of its dependencies, for the robots of every world."""
        bodies = NativeBodies(world) if self.simulator is None else self.simulator.bodies(world)
        try:
            yield Observer(world, self.wiring, DT, bodies.sensors())
        except InputError as error:
            raise self.fail(str(error)) from error
        finally:
            bodies.close()

    def read(self, world: World, starts: Sequence[Start]) -> dict[str, Array]:
        """Return the channel's readings in every world at the beginning of the episodes, after checking them."""
        with self.observer(world) as seen:
            return self.read_by(seen, world, starts)

    def read_by(self, seen: Observer, world: World, starts: Sequence[Start]) -> dict[str, Array]:
        """Return the readings of an observer's channel in every world at the beginning of the episodes, after checking them."""
        _begin(seen, starts)
        bound = seen.bound[self.channel]
        with self._pure(seen, world):
            _work(bound, 0, world.layout.worlds)
        for name, one in self.channel.fields.items():
            read = bound.reading[name]
            if not np.isfinite(read).all():
                raise self.fail(f"{name} is not finite: {read[~np.isfinite(read)][0]}")
            if read.size and not (read.min() >= one.low and read.max() <= one.high):
                raise self.fail(
                    f"{name} is between {read.min():g} and {read.max():g}, but its field says {one.low:g} to {one.high:g}"
                )
        return {name: array.copy() for name, array in bound.reading.items()}

    def _pure(self, seen: Observer, world: World) -> Any:
        """Guard all data that the channel must not write."""
        needed = {one.channel: bound.reading for one, bound in seen.bound.items() if one != self.channel}
        state = {"people": world.pedestrians, "traits": world.traits, "robots": world.robots, "maps": world.maps}
        return pure(self.name, **state, needs=needed)

    def says(self) -> None:
        """Check the channel's name and fields."""
        name, there = self.channel.channel, available("channels")
        if not name.isidentifier() or (name in there and load("channels", name) is not type(self.channel)):
            raise self.fail(f"channel: expected a unique name, got {name!r}")
        if not self.channel.fields:
            raise self.fail("fields: it has no fields")
        for key, one in self.channel.fields.items():
            if one.frame == "map" and one.shape[-1:] not in ((2,), (3,)):
                raise self.fail(f"{key}: in the frame map it must end with x and y, but its shape is {one.shape}")

    def measures(self) -> None:
        """Check the readings in crowds and without people, and check that they are reproducible."""
        for seed in (1, 2, 3):
            starts = crowd(seed=seed)
            world = standing(starts)
            first, again = self.read(world, starts), self.read(world, starts)
            if first.keys() != self.channel.fields.keys():
                raise self.fail(f"it reads {', '.join(first)}; its fields are {', '.join(self.channel.fields)}")
            for name, read in first.items():
                shape = read.shape[2:]
                one = self.channel.fields[name]
                if len(shape) != len(one.shape) or any(a != b for a, b in zip(shape, one.shape, strict=True) if isinstance(b, int)):
                    raise self.fail(f"{name} is of shape {shape}, but its field says {one.shape}")
                if read.dtype != np.dtype(one.kind):
                    raise self.fail(f"{name} is {read.dtype}, but its field says {np.dtype(one.kind)}")
                if not np.array_equal(read, again[name]):
                    raise self.fail(f"{name}: the same world gives different values when read again")
        self.read(standing(crowd((0,))), crowd((0,)))

    def begins_afresh(self) -> None:
        """Check that an episode in the same worlds is unaffected by an earlier one."""
        starts = crowd()
        others = tuple(replace(other, map=start.map) for other, start in zip(crowd(seed=2), starts, strict=True))
        first, world = self.read(standing(starts), starts), standing(starts)
        with self.observer(world) as observer:
            for some in (starts, others, starts):
                stand(world, some)
                read = self.read_by(observer, world, some)
        for name, array in first.items():
            if not np.array_equal(array, read[name]):
                raise self.fail(f"{name}: an episode reads data of the previous one")

    def worlds_and_robots_are_alone(self) -> None:
        """Check that a world gives the same readings on its own, and that robots that swap positions swap their readings."""
        starts = crowd()
        whole = self.read(standing(starts), starts)
        for number, start in enumerate(starts):
            alone = self.read(standing((start,), slots=standing(starts).slots), (start,))
            part = self.part(standing(starts), starts, number)
            for name, read in whole.items():
                if not np.array_equal(read[number], alone[name][0]):
                    raise self.fail(f"worlds affect each other: {name} of world {number} differs in the batch and alone")
                others = np.delete(part[name], number, axis=0)
                unwritten = np.full_like(others, _UNWRITTEN)
                if not np.array_equal(read[number], part[name][number]) or not np.array_equal(others, unwritten):
                    raise self.fail(f"worlds affect each other: {name} differs if only world {number} is measured")
        world = standing(starts)
        for record in (world.robots, world.robot_traits, world.status.goals):
            for array in record:
                array[...] = array[:, ::-1].copy()
        for name, read in self.read(world, starts).items():
            if not np.array_equal(read[:, ::-1], whole[name]):
                raise self.fail(f"robots affect each other: {name} differs if the robots are swapped")

    def part(self, world: World, starts: Sequence[Start], number: int) -> dict[str, Array]:
        """Return the channel's readings when it runs in only one of the worlds; values that it does not write keep a marker."""
        with self.observer(world) as seen:
            _begin(seen, starts)
            bound = seen.bound[self.channel]
            for array in bound.reading.values():
                array[...] = _UNWRITTEN
            _work(bound, number, number + 1)
            return bound.reading

    def moved(self, tolerance: float, agreement: float) -> None:
        """Check how the readings change when the whole scene is moved."""
        for clause, move in {"shifted": Move(-32.0, 16.0), "turned by 90 degrees": Move(turn=math.pi / 2)}.items():
            here, there = (self.read(standing(crowd(move=m), move=m), crowd(move=m)) for m in (Move(), move))
            for name, one in self.channel.fields.items():
                expected = moved_field(one, here[name].astype(float), move)
                close = np.abs(there[name] - expected) <= tolerance
                if one.where:
                    close = close[here[one.where] & there[one.where]]
                if close.size and close.mean() < agreement:
                    raise self.fail(f"{name}: in the scene {clause} {1.0 - close.mean():.0%} of the readings differ")


def _begin(seen: Observer, starts: Sequence[Start]) -> None:
    """Begin the episodes, measure and read all channels once, and then run the checked channel once more."""
    for w, start in enumerate(starts):
        for r, robot in enumerate(start.robots):
            seen.place(w, r, robot.model)
    seen.measure()
    seen.observe()


def _work(bound: Bound, first: int, last: int) -> None:
    """Run a channel in a range of worlds."""
    for work in (bound.measure, bound.read):
        if work is not None:
            work(first, last)
