"""Lidars at work: the scans of a batch."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

import numpy as np

from agora.core.state import Floats

if TYPE_CHECKING:
    from agora.sensors.lidar import Lidar
    from agora.world.world import World


class Scanner:
    """A lidar on every robot of a batch.

    Args:
        world: the worlds. lidar: on every robot.
        ranges: (W, R, B) where what it measures is written, m; an array of its own where not given.
    """

    def __init__(self, world: World, lidar: Lidar, ranges: Floats | None = None) -> None:
        layout = world.layout
        self._world = world
        self._ranges = np.zeros((layout.worlds, layout.robots, lidar.beams), np.float32) if ranges is None else ranges
        noise = lidar.bind_noise(world.status.clock.key, world.status.clock.step, self._ranges)
        generations = ((people, world.traits, robots) for people, robots in map(world.generation, (0, 1)))
        self._bound = [(lidar.bind(*moving, world.robot_traits, world.maps, self._ranges), *noise) for moving in generations]

    def scan(self, worlds: Collection[int] | None = None) -> Floats:
        """Return the ranges (W, R, B) that are measured now, m; overwritten by the next call.

        Args:
            worlds: which are scanned; the ranges of the others stay as they are. All where None.
        """
        kernels = self._bound[self._world.now]
        if worlds is None:
            self._world.threads.everywhere(*kernels)
        else:
            self._world.threads.at(worlds, *kernels)
        return self._ranges
