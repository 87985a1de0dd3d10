"""Observations for a batch whose robots may have different sensors."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from agora.channels.costmap import LocalCostmap
from agora.channels.path import HeldPaths
from agora.core.state import Array, Bools, Doubles, Floats
from agora.engine.observe import Observer
from agora.engine.wiring import Wiring
from agora.errors import InputError, UnknownNameError
from agora.interfaces import Setting
from agora.interfaces.channel import Reading, channels_of
from agora.planners.adapters import call
from agora.registry import available

if TYPE_CHECKING:
    from agora.engine.conditions import Conditions
    from agora.interfaces import Answer, Channel, Memory, Observation
    from agora.interfaces.channel import Offer
    from agora.maps.grid import Map
    from agora.optics.lidar import Lidar
    from agora.registry import Named
    from agora.robots.model import RobotModel
    from agora.world.world import World


def recordable_channels(names: Collection[str]) -> tuple[str, ...]:
    """Return the given channel names without duplicates.

    Raises:
        UnknownNameError: a name is unknown.
    """
    for name in names:
        if name not in available("channels"):
            raise UnknownNameError("channel", name, available("channels"))
    return tuple(dict.fromkeys(names))


def wiring_of(
    needs: Collection[str | Channel],
    conditions: Conditions,
    lidar: Lidar | None,
    sensors: Sequence[Named],
    record: Collection[str] = (),
) -> Wiring:
    """Return the channels of a robot with the given lidar and other sensors.

    Args:
        needs: channels that the planner reads.
        conditions: conditions of the episodes.
        lidar: lidar of the robot; a lidar in the conditions takes precedence.
        sensors: other sensors of the robot.
        record: names of channels that are recorded.

    Raises:
        InputError: a channel does not exist, or it needs a sensor that the robot lacks.
    """
    setting = Setting(conditions.lidar or lidar, {one.name: one.part for one in sensors}, conditions.perception, conditions.layers)
    wiring = Wiring.of([name if one is None else one for name, one in channels_of(needs).items()], setting, record)
    for provider, _ in wiring.order:
        if isinstance(provider, LocalCostmap):
            provider.check_lidar()
    return wiring


class Observers:
    """Groups robots that have the same channels, with one `Observer` per group. Robots with the same sensors have the same
    channels, so there is usually only one observer.

    Args:
        world: state of the worlds.
        needs: channels that the planner reads.
        conditions: conditions of the episodes.
        models: models of the robots.
        record: names of channels that are recorded (`recordable_channels`).
        offers: channels that the simulator measures, keyed by channel name.

    Attributes:
        record: names of channels that are recorded, without duplicates.
        kinds: the channels of each observer.

    Raises:
        InputError: a channel does not exist.
    """

    def __init__(
        self,
        world: World,
        needs: Collection[str | Channel],
        conditions: Conditions,
        models: Sequence[RobotModel],
        record: Collection[str] = (),
        offers: Mapping[str, Offer] | None = None,
    ) -> None:
        self._world, self._conditions, self._needed = world, conditions, needs
        self.record = recordable_channels(record)
        self._known: dict[tuple[Lidar | None, tuple[Named, ...]], Wiring] = {}
        kinds = [self._kind(model.lidar, model.sensors) for model in models] or [self._kind(None, ())]
        self.kinds = list(dict.fromkeys(kinds))
        self._each = [Observer(world, kind, conditions.periods.control, offers) for kind in self.kinds]
        self._number = [self.kinds.index(kind) for kind in kinds]
        self._rows = np.tile(np.array(self._number[: world.layout.robots], np.int64), world.layout.worlds)

    def _kind(self, lidar: Lidar | None, sensors: tuple[Named, ...]) -> Wiring:
        """Return the channels of a robot with the given sensors."""
        if (lidar, sensors) not in self._known:
            self._known[lidar, sensors] = wiring_of(self._needed, self._conditions, lidar, sensors, self.record)
        return self._known[lidar, sensors]

    @property
    def one(self) -> Observer:
        """The observer of the first robot, which is shared by all robots with the same sensors."""
        return self._each[0]

    def number(self, robot: int) -> int:
        """Return the number of a robot's observer, which is also the index of its observation in the result of `observe`."""
        return self._number[robot]

    def of(self, robot: int) -> Observer:
        """Return the observer of a robot."""
        return self._each[self._number[robot]]

    def of_robot(self, robot: int, seen: Sequence[Observation], memory: Memory) -> tuple[Observation, Memory]:
        """Return the part of the observations, and of the memory returned by `ask`, that belongs to robots with the same sensors as
        the given robot.
        """
        number = self.number(robot)
        return seen[number], memory if len(seen) == 1 else memory.get(str(number), {})

    def place(self, world: int, robot: int, model: RobotModel) -> None:
        """Set a robot's model at the start of an episode.

        Raises:
            InputError: the robot's sensors differ from those of the robots with the same index in the other worlds.
        """
        if self._kind(model.lidar, model.sensors) != self.kinds[self._number[robot]]:
            raise InputError(f"robot {robot}: {model.name} has different sensors from the same robot in other worlds of the batch")
        for observer in self._each:
            observer.place(world, robot, model)

    @property
    def read_paths(self) -> bool:
        """True if any robot's planner reads global paths."""
        return any(self._paths)

    @property
    def _paths(self) -> list[HeldPaths]:
        """Return the global paths of each observer that uses global paths."""
        return [held for observer in self._each if (held := observer.part(HeldPaths)) is not None]

    def set_path(self, world: int, robot: int, path: Floats | Doubles) -> None:
        """Give a robot its global path (K, 2); (0, 2) if there is none. Does nothing if no channel reads paths."""
        for held in self._paths:
            held.set(world, robot, path)

    def path(self, world: int, robot: int) -> Floats:
        """Return the global path (K, 2) of a robot, m; (0, 2) if there is none."""
        held = self.of(robot).part(HeldPaths)
        return np.zeros((0, 2), np.float32) if held is None else held.of(world, robot)

    def layer_costs(self, world: int, robot: int, place: Map) -> Array:
        """Return the costs (rows, columns) uint8 that the layers add to the whole map for the pedestrians that a robot knows of."""
        return self.of(robot).layer_costs(world, robot, place)

    def measure(self, worlds: Collection[int] | None = None) -> None:
        """Measure the channels that are due at the sensor period, in all or some worlds; readings remain valid until the next
        measurement.
        """
        for observer in self._each:
            observer.measure(worlds)

    def clear_scans(self) -> None:
        """Set all scans to scans in which no beam hits anything."""
        for scans in (observer.scans for observer in self._each):
            if scans is not None and scans.lidar is not None:
                scans.ranges[...] = scans.lidar.range_max

    def read_at(self, time: float) -> None:
        """Set the current time on the clock of the external scans, in seconds."""
        for observer in self._each:
            observer.now = time

    def recorded_readings(self, world: int, robot: int) -> dict[str, Reading]:
        """Return copies of the latest readings of a robot's recorded channels, keyed by channel name; a reading has one array per
        field.
        """
        return self.of(robot).recorded_readings(world, robot)

    def observe(self) -> tuple[Observation, ...]:
        """Return the observation of each group of robots: everything that the robot of each row currently knows."""
        return tuple(observer.observe() for observer in self._each)

    def ask(self, planner: Any, seen: Sequence[Observation], memory: Memory, active: Bools) -> tuple[Answer, dict[int, str]]:
        """Return the planner's commands for the given observations and, for rows in which the planner failed, the reasons
        (`agora.planners.adapters.call`).

        Args:
            planner: planner of every robot.
            seen: observations returned by `observe`.
            memory: memory returned by the previous call; {} at the start.
            active: (N,) rows that are in use.
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
