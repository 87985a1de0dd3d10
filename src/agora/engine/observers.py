"""Observations of a batch whose robots may have different sensors."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from agora.core.state import Array, Bools, Doubles, Floats
from agora.costmap.window import Window
from agora.engine.observe import BUILT_IN, Observer
from agora.errors import InputError, UnknownNameError
from agora.interfaces.channel import Reading, Sensor, channels_of
from agora.planners.lift import call
from agora.registry import available, make

if TYPE_CHECKING:
    from agora.engine.conditions import Conditions
    from agora.interfaces import Answer, Channel, Memory, Observation
    from agora.maps.grid import Map
    from agora.robots.model import RobotModel
    from agora.sensors.lidar import Lidar
    from agora.world.world import World


def recordable(names: Collection[str]) -> tuple[str, ...]:
    """Return names of channels that a recording can keep, each once: "scan" and those of sensors.

    Raises:
        UnknownNameError: another name.
    """
    known = ["scan", *available("channels")]
    for name in names:
        if name not in known:
            raise UnknownNameError("sensor", name, known)
    return tuple(dict.fromkeys(names))


class Observers:
    """One `Observer` for all robots that have the same lidar and the same other sensors; mostly there is one for all.

    Args:
        world: the worlds.
        needs: the channels that the planner reads.
        conditions: of the episodes.
        models: of the robots.
        record: names of channels that are recorded (`recordable`).

    Attributes:
        channels: by name, as in ``needs``.

    Raises:
        InputError: a channel that is not there.
    """

    def __init__(
        self,
        world: World,
        needs: Collection[str | Channel],
        conditions: Conditions,
        models: Sequence[RobotModel],
        record: Collection[str] = (),
    ) -> None:
        self._world, self._conditions = world, conditions
        self.channels, self.record = channels_of(needs), recordable(record)
        window = self.channels.get("costmap")
        seen_by_it = {"scan"} & (window.needs if isinstance(window, Window) else set())
        self._scans = bool(seen_by_it or "scan" in {*self.channels, *self.record} or conditions.perception.source != "truth")
        kinds = [self._kind(model) for model in models] or [(conditions.lidar, ())]
        seen = (conditions.layers, conditions.perception)
        self._kinds = list(dict.fromkeys(kinds))
        known = [one if one is not None else name for name, one in self.channels.items() if name in BUILT_IN]
        self._each = [
            Observer(world, [*known, *self._needed(sensors)], conditions.periods.control, lidar, *seen, [*self.record, *sensors])
            for lidar, sensors in self._kinds
        ]
        self._number = [self._kinds.index(kind) for kind in kinds]
        self._rows = np.tile(np.array(self._number[: world.layout.robots], np.int64), world.layout.worlds)

    def _kind(self, model: RobotModel) -> tuple[Lidar | None, tuple[Sensor, ...]]:
        """The lidar of a robot where scans are read, and its other sensors that are read: the planner's, else the robot's own."""
        own = {sensor.name: sensor.part for sensor in model.sensors}
        sensors: list[Any] = []
        for name, given in (dict.fromkeys(self.record) | self.channels).items():
            if name not in BUILT_IN:
                sensors.append(given if given is not None else own[name] if name in own else make("channels", name))
        return (self._conditions.lidar or model.lidar) if self._scans else None, tuple(sensors)

    def _needed(self, sensors: Sequence[Sensor]) -> list[Sensor]:
        """Those of the sensors that the planner reads."""
        return [sensor for sensor in sensors if sensor.channel in self.channels]

    @property
    def one(self) -> Observer:
        """The observer of the first robot, which is that of all where they have the same sensors."""
        return self._each[0]

    @property
    def sensors(self) -> frozenset[str]:
        """The channels that the library does not know by itself."""
        return frozenset(self.channels.keys() - BUILT_IN)

    def number(self, robot: int) -> int:
        """The number of a robot's observer, and of what it sees in `observe`."""
        return self._number[robot]

    def of(self, robot: int) -> Observer:
        """The observer of a robot."""
        return self._each[self._number[robot]]

    def of_robot(self, robot: int, seen: Sequence[Observation], memory: Memory) -> tuple[Observation, Memory]:
        """The part of what was seen, and of the memory after `ask`, that is for robots like this one."""
        number = self.number(robot)
        return seen[number], memory if len(seen) == 1 else memory.get(str(number), {})

    def place(self, world: int, robot: int, model: RobotModel) -> None:
        """Say which robot a row is: an episode begins.

        Raises:
            InputError: it has other sensors than the robots of this number in the batch.
        """
        if self._kind(model) != self._kinds[self._number[robot]]:
            raise InputError(f"robot {robot}: {model.name} has other sensors than the batch's other robots of this number")
        for observer in self._each:
            observer.place(world, robot, model)

    def set_path(self, world: int, robot: int, path: Floats | Doubles) -> None:
        """Give a row its global path (K, 2); (0, 2) for none."""
        for observer in self._each:
            observer.set_path(world, robot, path)

    def layer_costs(self, world: int, robot: int, place: Map) -> Array:
        """Return the costs (rows, columns) uint8 that layers put on the whole map, by what a robot knows of pedestrians now."""
        return self.of(robot).layer_costs(world, robot, place)

    def scan(self, worlds: Collection[int] | None = None) -> None:
        """Measure now what sensors measure, everywhere or in some worlds; it stays until the next time."""
        for observer in self._each:
            observer.scan(worlds)

    def see_nothing(self) -> None:
        """Take scans in which nothing is met."""
        for observer in self._each:
            observer.ranges[...] = 0.0 if observer.lidar is None else observer.lidar.range_max

    def read_at(self, time: float) -> None:
        """Say what moment it is, s, on the clock of scans that come from elsewhere."""
        for observer in self._each:
            observer.now = time

    def forget(self) -> None:
        """Know of no pedestrian but by what is scanned from now on."""
        for observer in self._each:
            observer.forget()

    def recorded(self, world: int, robot: int) -> dict[str, Reading]:
        """Copies of what a robot's recorded channels have measured last, by their names: arrays of its fields."""
        row = world * self._world.layout.robots + robot
        return {name: {key: array[row].copy() for key, array in self.of(robot).recorded(name).items()} for name in self.record}

    def observe(self) -> tuple[Observation, ...]:
        """Return what every row knows now, for each kind of robot."""
        return tuple(observer.observe() for observer in self._each)

    def ask(self, planner: Any, seen: Sequence[Observation], memory: Memory, active: Bools) -> tuple[Answer, dict[int, str]]:
        """Return what a planner answers to `observe`, and why rows failed (`agora.planners.lift.call`).

        Args:
            planner: of every robot. seen: as of `observe`.
            memory: of the call before; {} at the start. active: (N,) rows that count.
        """
        ranges = self.one.everywhere if self._world.threads.several else None
        if len(seen) == 1:
            return call(planner, seen[0], memory, active, ranges)
        twists: Floats = np.zeros((len(active), 3), np.float32)
        notes: dict[str, Array] = {}
        after: Memory = {}
        failures: dict[int, str] = {}
        for number, one in enumerate(seen):
            mine: Bools = self._rows == number
            answer, failed = call(planner, one, memory.get(str(number), {}), active & mine, ranges)
            after[str(number)], failures = answer.memory, failures | failed
            twists[mine] = answer.twists[mine]
            for name, note in answer.notes.items():
                notes.setdefault(name, np.zeros_like(note))[mine] = note[mine]
        return type(answer)(twists, after, notes), failures
