"""Channels: the parts of a robot's perception."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, runtime_checkable

import numpy as np

from agora.core.state import Array, Doubles, Floats
from agora.errors import InputError, nearest
from agora.interfaces.costmap_layer import CostmapLayer
from agora.optics.lidar import Lidar
from agora.perception.perception import Perception
from agora.world.threads import Work
from agora.world.world import World

if TYPE_CHECKING:
    from agora.robots.model import RobotModel

Frame = Literal["robot", "sensor", "map", ""]

Reading: TypeAlias = dict[str, Array]
"""A reading of one channel: an array for each of its fields. The leading axes of the arrays are (W, R) in `Bound` and (N,) in
observations, with N = W R; arrays for a single robot have no leading axis.
"""


@dataclass(frozen=True)
class Field:
    """One array of a channel, as read by a single robot.

    Attributes:
        shape: shape of the array; () for a scalar. An axis whose length depends on the batch has a name instead of a length.
        unit: unit such as "m", "m/s" or "rad"; "" if dimensionless.
        frame: coordinate frame of positions and directions; "" if the field contains neither. In the frame "map", arrays in m are
            positions, and arrays in other units (such as m/s) are directions; the last axis of both ends with x and y. Angles and
            lengths have the frame "".
        low: minimum value.
        high: maximum value.
        kind: data type of the array.
        where: name of a Boolean field with the same leading axes as this field; values are invalid where it is False.
    """

    shape: tuple[int | str, ...]
    unit: str = ""
    frame: Frame = ""
    low: float = -math.inf
    high: float = math.inf
    kind: Any = np.float32
    where: str = ""

    def __post_init__(self) -> None:
        if not self.low < self.high:
            raise InputError(f"low must be below high, got {self.low} and {self.high}")

    def sized(self, sizes: Mapping[str, int] = {}) -> tuple[int, ...]:  # noqa: B006 - no code writes to it
        """Return the shape of the array, given the lengths of its named axes in a batch."""
        return tuple(sizes[axis] if isinstance(axis, str) else axis for axis in self.shape)

    @property
    def is_fixed(self) -> bool:
        """True if the shape is the same in every batch."""
        return not any(isinstance(axis, str) for axis in self.shape)


class Channel(Protocol):
    """A channel with parameters, which may replace a channel's name in a planner's ``needs``: a frozen dataclass whose fields are
    the parameters.
    """

    @property
    def channel(self) -> str:
        """Registered name of the channel, which planners use in ``needs``."""


@dataclass(frozen=True, eq=False)
class Bound:
    """A channel bound to the robots of a batch.

    Functions of (first, last) work on the worlds ``first <= w < last``; several threads may call them at the same time for
    different worlds. The observer calls a channel's functions after those of its dependencies.

    Attributes:
        reading: one (W, R, ...) array per field; ``measure`` and ``read`` write into these arrays.
        measure: function called once per sensor period of the stage; the values remain valid until the next call. None if the
            channel measures nothing.
        read: function called before each observation. None if nothing changes between measurements.
        begin: function called with (world, robot, model) when an episode begins; it clears the memory that remains from the
            previous episode.
        views: the `agora.interfaces.Observation` fields that show this channel; if None, the reading is in the observation's
            ``sensors``.
        part: object that implements the channel, for code that uses it directly.
        heavy: whether ``read`` is so slow that it should run on several threads; otherwise one thread reads all worlds.
    """

    reading: Reading
    measure: Work | None = None
    read: Work | None = None
    begin: Callable[[int, int, RobotModel], None] | None = None
    views: Callable[[], Mapping[str, Any]] | None = None
    part: Any = None
    heavy: bool = False


@dataclass(frozen=True, eq=False)
class Source:
    """The data that a channel may read: the world, the channel's dependencies, and the channels that the simulator measures.

    All of the data is read-only.

    Attributes:
        world: state of the worlds. ``world.robots`` and ``world.pedestrians`` hold the current positions.
        readings: readings of the channel's dependencies, keyed by channel name.
        pose: (W, R, 3) poses of the robots in the map frame, m and rad.
        time: function that returns the time since the start of each robot's episode (W, R), s; for externally driven robots, the
            time on the clock of their scans.
        measured: (W, R) time of the last measurement of each robot's sensors, s; NaN before the first measurement. It is updated
            before ``measure`` is called.
        offers: channels that the simulator measures, keyed by channel name.
        parts: objects that implement the channel's dependencies, keyed by channel name, for code that uses them directly.
    """

    world: World
    readings: Mapping[str, Reading]
    pose: Floats
    time: Callable[[], Doubles]
    measured: Doubles
    offers: Mapping[str, Offer] = field(default_factory=dict)
    parts: Mapping[str, Any] = field(default_factory=dict)

    def room(self, fields: Mapping[str, Field], **sizes: int) -> Reading:
        """Return a zero-filled array (W, R, *shape) for each field.

        Args:
            fields: fields of the channel. **sizes: lengths of the named axes.
        """
        layout = self.world.layout
        return {name: np.zeros((layout.worlds, layout.robots, *one.sized(sizes)), one.kind) for name, one in fields.items()}

    def offered(self, channel: Provider) -> Bound:
        """Return the channel as measured by the simulator.

        Raises:
            InputError: the simulator does not measure this channel.
        """
        if channel.channel not in self.offers:
            there = f"; {nearest(channel.channel, self.offers)}" if self.offers else ""
            raise InputError(f"channel {channel.channel}: the simulator does not provide it{there}")
        return self.offers[channel.channel](channel, self)


Offer: TypeAlias = "Callable[[Provider, Source], Bound]"
"""Function that binds a channel measured by a simulator. Its arguments are the channel with its parameters, and the source."""


@runtime_checkable
class Provider(Protocol):
    """A registered channel.

    A robot model may list the channel in its ``sensors`` and set its parameters. Parameters in a planner's ``needs`` take
    precedence.
    """

    @property
    def channel(self) -> str:
        """Registered name of the channel, which planners use in ``needs``."""

    @property
    def fields(self) -> Mapping[str, Field]:
        """The fields of a single robot's reading, keyed by field name."""

    @property
    def needs(self) -> Collection[str | Channel]:
        """The channel's dependencies: names of channels, or channel objects with parameters."""

    def bind(self, source: Source) -> Bound:
        """Return the channel bound to the robots of a batch.

        Raises:
            InputError: the channel cannot be measured in this setup.
        """


@dataclass(frozen=True)
class Setting:
    """The sensors of a robot and the perception settings of its stage, from which channels are created.

    Attributes:
        lidar: lidar of the robot; None if it has none.
        own: other sensors of the robot, keyed by channel name.
        perception: how the robot perceives pedestrians.
        layers: layers that add costs near pedestrians to the robot's costmaps.
    """

    lidar: Lidar | None = None
    own: Mapping[str, Any] = field(default_factory=dict)
    perception: Perception = field(default_factory=lambda: Perception("truth"))
    layers: Sequence[CostmapLayer] = ()


@runtime_checkable
class FromSetting(Protocol):
    """A registered channel whose parameters come from the robot or its stage, such as the scan of the robot's lidar."""

    @staticmethod
    def from_setting(given: Any, setting: Setting) -> Provider:
        """Return the channel for a robot.

        Args:
            given: channel object from a planner's ``needs`` or from a robot model; None if only the channel's name was given.
            setting: sensors and perception of the robot.
        """


def channels_of(needs: Collection[str | Channel]) -> dict[str, Channel | None]:
    """Return a dict from channel names to channel objects, with None for channels that ``needs`` contains only by name."""
    return {name: None for name in needs if isinstance(name, str)} | {one.channel: one for one in needs if not isinstance(one, str)}
