"""Channels: what robots perceive, part by part."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np

from agora.core.state import Array
from agora.errors import InputError
from agora.world.world import World

Frame = Literal["robot", "sensor", "map", ""]


@dataclass(frozen=True)
class Field:
    """One array of a sensor, as one robot reads it.

    Attributes:
        shape: of the array; () for a number.
        unit: such as "m", "m/s", "rad"; "" for a plain number.
        frame: in which places and directions are given; "" where there are none. Arrays in the frame "map" end with x and y.
        low, high: the least and the largest value.
        kind: type of the numbers.
    """

    shape: tuple[int, ...]
    unit: str = ""
    frame: Frame = ""
    low: float = -math.inf
    high: float = math.inf
    kind: Any = np.float32

    def __post_init__(self) -> None:
        if not self.low < self.high:
            raise InputError(f"low must be below high, got {self.low} and {self.high}")


class Channel(Protocol):
    """One part of an observation, a frozen dataclass whose fields are its parameters; ``needs`` names it or holds it.

    What the library itself knows are the channels "path", "pedestrians", "robots", "costmap" and "semantics", and the scan of the
    robot's lidar, "scan". Every other channel is a `Sensor`.
    """

    @property
    def channel(self) -> str:
        """Its name in ``needs``: that under which it is registered."""


@runtime_checkable
class Sensor(Protocol):
    """A channel that is measured at the stage's sensor period, and kept in between.

    A robot's model may have it among its ``sensors``, with parameters of its own. Where a planner's ``needs`` hold one with
    parameters, these count.
    """

    @property
    def channel(self) -> str:
        """Its name in ``needs``: that under which it is registered."""

    @property
    def fields(self) -> Mapping[str, Field]:
        """What one robot reads, by name."""

    def bind(self, world: World, robots: Sequence[int], out: Mapping[str, Array]) -> Callable[[int, int], None]:
        """Return the function that measures in the worlds ``first <= w < last``; threads may call it for different worlds.

        Args:
            world: the worlds. It is read at every call: where everybody is now is in ``world.robots`` and ``world.pedestrians``.
            robots: numbers of the robots that have the sensor.
            out: (W, len(robots), *shape) of each field, to be written.
        """


Reading = dict[str, Array]
"""What robots read by one sensor: the array (N, *shape) of each of its fields, read-only; without N for one robot."""


def channels_of(needs: Collection[str | Channel]) -> dict[str, Channel | None]:
    """Return channels by their names: with parameters of their own where ``needs`` holds them, None where it names them alone."""
    return {name: None for name in needs if isinstance(name, str)} | {one.channel: one for one in needs if not isinstance(one, str)}
