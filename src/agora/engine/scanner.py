"""Lidars at work: the scans of a batch."""

from __future__ import annotations

from collections.abc import Iterable
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
    """

    def __init__(self, world: World, lidar: Lidar) -> None:
        self._world = world
        self._ranges = np.zeros((world.layout.worlds, world.layout.robots, lidar.beams), np.float32)
        generations = ((people, world.traits, robots) for people, robots in map(world.generation, (0, 1)))
        self._bound = [lidar.bind(*moving, world.robot_traits, world.maps, self._ranges) for moving in generations]

    def scan(self, worlds: Iterable[int] | None = None) -> Floats:
        """Return the ranges (W, R, B) that are measured now, m, without noise; overwritten by the next call.

        Args:
            worlds: which are scanned; the ranges of the others stay as they are. All where None.
        """
        scanner = self._bound[self._world.now]
        if worlds is None:
            self._world.threads.everywhere(scanner)
            return self._ranges
        for w in worlds:
            scanner(w, w + 1)
        return self._ranges
