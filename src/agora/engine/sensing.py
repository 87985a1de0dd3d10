"""Sensors at work: readings at the sensor period, kept until the next period."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

import numpy as np

from agora.core.state import Array, read_only
from agora.interfaces.channel import Reading, Sensor

if TYPE_CHECKING:
    from agora.world.world import World


class Sensing:
    """A sensor on every robot of a batch.

    Args:
        world: the worlds. sensor: on every robot.

    Attributes:
        reading: of every row, which is robot r of world w at ``w * R + r``; overwritten by `take`.
    """

    def __init__(self, world: World, sensor: Sensor) -> None:
        self._world = world
        worlds, robots = world.layout.worlds, world.layout.robots
        out: dict[str, Array] = {
            name: np.zeros((worlds, robots, *field.shape), field.kind) for name, field in sensor.fields.items()
        }
        self._measure = sensor.bind(world, range(robots), out)
        self.reading: Reading = {name: read_only(array.reshape(worlds * robots, *array.shape[2:])) for name, array in out.items()}

    def take(self, worlds: Collection[int] | None = None) -> None:
        """Measure now, everywhere or in some worlds."""
        if worlds is None:
            self._world.threads.everywhere(self._measure)
            return
        self._world.threads.at(worlds, self._measure)
