"""The state of moving doors: which of its map's stages each world is in."""

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
    """The doors in a batch of worlds; some worlds may not have a door.

    Args:
        world: the worlds.

    Attributes:
        share: (W,) opening of each door, 0 to 1.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        self.share: Floats = np.ones(world.layout.worlds, np.float32)
        self._doors: dict[int, tuple[Door, int]] = {}

    def reset(self, world: int, place: Map) -> None:
        """Close the door in a world that begins an episode, if the map has one."""
        self._doors.pop(world, None)
        self.share[world] = 1.0
        if place.door is not None:
            self._doors[world] = place.door, int(self._world.maps.index[world])
            self.share[world] = 0.0
            self._show(world)

    def step(self) -> None:
        """Advance the doors in the worlds that are not done by one physics step."""
        worlds = self._world
        for world, (door, _) in self._doors.items():
            if not worlds.status.clock.done[world]:
                time = float(worlds.status.clock.step[world]) * worlds.dt
                self.share[world] = door.next(float(self.share[world]), time, worlds.dt, self._held(world, door))
                self._show(world)

    def _show(self, world: int) -> None:
        """Make the current door leaves part of the world's map."""
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
