"""The "robots" channel: the positions of the other robots in each robot's world."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import ClassVar

from agora.channels.rows import reading_of, track_fields
from agora.core.jit import bind, lean_kernel
from agora.interfaces import Bound, Channel, Field, Source
from agora.perception.tracker import empty_tracks


@lean_kernel
def _gather_robots(robots, traits, position, velocity, radius, present, identity, first, last):
    count = robots.x.shape[1]
    for w in range(first, last):
        for r in range(count):
            n = w * count + r
            q = 0
            for other in range(count):
                if other == r:
                    continue
                position[n, q, 0], position[n, q, 1] = robots.x[w, other], robots.y[w, other]
                velocity[n, q, 0], velocity[n, q, 1] = robots.world_vx[w, other], robots.world_vy[w, other]
                radius[n, q], present[n, q] = traits.radius[w, other], robots.active[w, other]
                identity[n, q] = other
                q += 1


@dataclass(frozen=True)
class OtherRobots:
    """The other robots, which report their positions to each other."""

    channel: ClassVar[str] = "robots"
    needs: ClassVar[Collection[str | Channel]] = ()

    @property
    def fields(self) -> Mapping[str, Field]:
        """Return the fields of `agora.interfaces.Tracks`."""
        return track_fields("robots")

    def bind(self, source: Source) -> Bound:
        """Return the tracks of a batch."""
        world = source.world
        t = empty_tracks(world.layout.worlds * world.layout.robots, max(world.layout.robots - 1, 0))
        out = (t.position, t.velocity, t.radius, t.present, t.id)
        kernels = [bind(_gather_robots, world.generation(g)[1], world.robot_traits, *out) for g in (0, 1)]

        def gather(first: int, last: int) -> None:
            kernels[world.now](first, last)

        return Bound(reading_of(t, world), read=gather, views=lambda: {"robots": t})
