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
"""What robots read by one channel: the array of each of its fields. Its first axes are (W, R) in `Bound`, and N = W R in
observations; for one robot it has neither."""


@dataclass(frozen=True)
class Field:
    """An array of a channel, as one robot reads it.

    Attributes:
        shape: shape of the array; () for a number. An axis that the batch decides has a name instead of a length.
        unit: unit such as "m", "m/s", "rad"; "" for a plain number.
        frame: frame of places and directions; "" if there are none. In the frame "map" arrays in m are places and end with x and y;
            arrays in m/s, and others, are directions and end so too; angles and lengths have the frame "".
        low: least value.
        high: largest value.
        kind: type of the numbers.
        where: name of a field of flags with the first axes of this one; numbers are invalid where the flag is False.
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

    def sized(self, sizes: Mapping[str, int] = {}) -> tuple[int, ...]:  # noqa: B006 - nobody writes to it
        """The shape in a batch in which the named axes have these lengths."""
        return tuple(sizes[axis] if isinstance(axis, str) else axis for axis in self.shape)

    @property
    def is_fixed(self) -> bool:
        """True if every axis has the same length in every batch."""
        return not any(isinstance(axis, str) for axis in self.shape)


class Channel(Protocol):
    """A channel in a planner's ``needs`` in place of a name: a frozen dataclass whose fields are the channel's parameters."""

    @property
    def channel(self) -> str:
        """Its name in ``needs``, which is its registered name."""


@dataclass(frozen=True, eq=False)
class Bound:
    """A channel bound to the robots of a batch.

    Functions of (first, last) work on the worlds ``first <= w < last``; threads call them for different worlds. The observer calls
    the functions of a channel after those of the channels that it needs.

    Attributes:
        reading: (W, R, ...) array of each field, which the functions write.
        measure: called at the stage's sensor period; its values remain until the next call. None if nothing is measured.
        read: called before the robots' knowledge is asked for. None if nothing changes in between.
        begin: called with (world, robot, model) when an episode begins; it clears the memory of the previous robot.
        views: fields of an `agora.interfaces.Observation` for it; if None, the observation's ``sensors`` hold the reading.
        part: object that implements the channel, for code that knows it.
        heavy: whether ``read`` is slow enough to use threads; otherwise one thread reads all worlds.
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
    """The sources that a channel may read: the world, the channels that it needs, and the channels that the simulator measures.

    All of it is read-only.

    Attributes:
        world: the worlds. ``world.robots`` and ``world.pedestrians`` hold the present positions.
        readings: readings of the channels that it needs, by their names.
        pose: (W, R, 3) poses of the robots, m and rad.
        time: returns the time (W, R), s since each episode began; for robots driven from outside, on the clock of their scans.
        measured: (W, R) time of the last measurement of each robot's sensors, s; NaN if there is none. It is written before
            ``measure``.
        offers: channels that the simulator measures, by their names.
        parts: objects that implement the channels that it needs, by their names, for code that knows them.
    """

    world: World
    readings: Mapping[str, Reading]
    pose: Floats
    time: Callable[[], Doubles]
    measured: Doubles
    offers: Mapping[str, Offer] = field(default_factory=dict)
    parts: Mapping[str, Any] = field(default_factory=dict)

    def room(self, fields: Mapping[str, Field], **sizes: int) -> Reading:
        """Return an array of zeros (W, R, *shape) for each field.

        Args:
            fields: of the channel. **sizes: lengths of the named axes.
        """
        layout = self.world.layout
        return {name: np.zeros((layout.worlds, layout.robots, *one.sized(sizes)), one.kind) for name, one in fields.items()}

    def offered(self, channel: Provider) -> Bound:
        """Return a channel as the simulator measures it.

        Raises:
            InputError: the simulator does not.
        """
        if channel.channel not in self.offers:
            there = f"; {nearest(channel.channel, self.offers)}" if self.offers else ""
            raise InputError(f"channel {channel.channel}: the simulator does not provide it{there}")
        return self.offers[channel.channel](channel, self)


Offer: TypeAlias = "Callable[[Provider, Source], Bound]"
"""Binds a channel that a simulator measures: of the channel with its parameters, and its source."""


@runtime_checkable
class Provider(Protocol):
    """A registered channel.

    A robot's model may list it in its ``sensors``, with its own parameters. Parameters in a planner's ``needs`` take precedence.
    """

    @property
    def channel(self) -> str:
        """Its name in ``needs``, which is its registered name."""

    @property
    def fields(self) -> Mapping[str, Field]:
        """The fields that one robot reads, by name."""

    @property
    def needs(self) -> Collection[str | Channel]:
        """Names of the channels that it depends on, or channels with their own parameters."""

    def bind(self, source: Source) -> Bound:
        """Return the channel bound to the robots of a batch.

        Raises:
            InputError: it cannot be measured here.
        """


@dataclass(frozen=True)
class Setting:
    """The sensors of a robot and the perception of its stage, from which channels are made.

    Attributes:
        lidar: lidar of the robot; None if it has none.
        own: the robot's other sensors, by the names of their channels.
        perception: source of its knowledge of pedestrians.
        layers: layers that add costs near pedestrians to its costmaps.
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
            given: parameters, as a planner's ``needs`` or a robot's model hold them; None if the channel is only named.
            setting: setting of the robot.
        """


def channels_of(needs: Collection[str | Channel]) -> dict[str, Channel | None]:
    """Return channels by their names: with their own parameters if ``needs`` holds them, None if it only names them."""
    return {name: None for name in needs if isinstance(name, str)} | {one.channel: one for one in needs if not isinstance(one, str)}
