"""The state of moving doors: the current door stage of each world's map."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from agora.core.state import Floats
from agora.maps.doors import STAGES

if TYPE_CHECKING:
    from agora.maps.doors import Door
    from agora.maps.grid import Map
    from agora.world.world import World


class Doors:
    """The doors in a batch of worlds, each of which may or may not have a door.

    Args:
        world: state of the worlds.

    Attributes:
        share: (W,) opening of each door, from 0 (closed) to 1 (open).
    """

    def __init__(self, world: World) -> None:
        self._world = world
        self.share: Floats = np.ones(world.layout.worlds, np.float32)
        self._doors: dict[int, tuple[Door, int]] = {}

    def reset(self, world: int, place: Map) -> None:
        """Close the door, if there is one, in a world in which an episode begins."""
        self._doors.pop(world, None)
        self.share[world] = 1.0
        if place.door is not None:
            self._doors[world] = place.door, int(self._world.maps.index[world])
            self.share[world] = 0.0
            self._show(world)

    def step(self) -> None:
        """Advance the doors by one physics step in all unfinished worlds."""
        worlds = self._world
        for world, (door, _) in self._doors.items():
            if not worlds.status.clock.done[world]:
                time = float(worlds.status.clock.step[world]) * worlds.dt
                self.share[world] = door.next(float(self.share[world]), time, worlds.dt, self._held(world, door))
                self._show(world)

    def _show(self, world: int) -> None:
        """Update the door leaves in the world's map."""
        _, whole = self._doors[world]
        share = float(self.share[world])
        self._world.maps.index[world] = whole if share >= 1.0 else whole + 1 + int(share * STAGES)

    def _held(self, world: int, door: Door) -> bool:
        """Return whether a pedestrian or robot is in the doorway."""
        people, robots, sizes = self._world.pedestrians, self._world.robots, self._world.robot_traits
        there, ours = people.active[world], robots.active[world]
        x = np.concatenate([people.x[world, there], robots.x[world, ours]])
        y = np.concatenate([people.y[world, there], robots.y[world, ours]])
        radius = np.concatenate([self._world.traits.radius[world, there], sizes.radius[world, ours]])
        return bool(door.holds(np.stack([x, y], axis=1).astype(np.float64), radius.astype(np.float64)).any())
