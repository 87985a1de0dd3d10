"""Knowledge of pedestrians, as rows: all pedestrians, those in view, visible ones, or tracks."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from agora.core.jit import bind, lean_kernel
from agora.core.state import Array, Bools, Doubles, Floats, Ints
from agora.errors import InputError
from agora.interfaces import Tracks
from agora.perception.perception import Perception, ScanTracker
from agora.perception.sight import see
from agora.perception.tracker import empty_tracks
from agora.perception.view import Belief, watch

if TYPE_CHECKING:
    from agora.sensors.lidar import Lidar
    from agora.world.world import World

_CLOCK = 6  # decimals of the times between scans: those of stamps and of steps are the same


@lean_kernel
def _gather(count, people, traits, minds, seen, position, velocity, radius, present, identity, group, kind, first, last):
    for w in range(first, last):
        for r in range(count):
            n = w * count + r
            for i in range(people.x.shape[1]):
                position[n, i, 0], position[n, i, 1] = people.x[w, i], people.y[w, i]
                velocity[n, i, 0], velocity[n, i, 1] = people.vx[w, i], people.vy[w, i]
                radius[n, i], present[n, i] = traits.radius[w, i], people.active[w, i] and seen[n, i]
                identity[n, i], group[n, i], kind[n, i] = traits.id[w, i], traits.group[w, i], minds.type[w, i]


class Perceiver:
    """Tells the robots of a batch of its pedestrians.

    Args:
        world: the worlds.
        perception: source and parameters of the knowledge.
        lidar: of every robot; None is enough for the truth and for a view.
        pose: (N, 3) of the robots, kept, as `read` and `scanned` find it.
        robots: tracks of the other robots for each row; None for nothing.

    Attributes:
        tracks: of the pedestrians, written by `read`.
    """

    def __init__(
        self, world: World, perception: Perception, lidar: Lidar | None, pose: Floats, robots: Tracks | None = None
    ) -> None:
        self._world, self._pose, rows, count = world, pose, len(pose), world.layout.robots
        level = perception.source
        self._lidar, self._level, self._when = lidar, level, np.full(rows, np.nan)
        if self.reads_scans and lidar is None:
            raise InputError(f"pedestrians: {level} needs a lidar, and the robots have none")
        self._map_index: Ints = np.zeros(rows, np.int32)
        self._scans: ScanTracker | None = None
        if level == "tracked" and lidar is not None:
            self._scans = ScanTracker(lidar, perception, rows, world.maps, self._map_index, robots)
            self.tracks = self._scans.tracks
            return
        kind = np.zeros((rows, world.slots), np.int32)
        self.tracks = t = replace(empty_tracks(rows, world.slots), type=kind)
        self._seen: Bools = np.full(t.present.shape, level == "truth")
        self._now, self._belief = np.zeros(rows), Belief.room(rows, world.slots if level == "view" else 0)
        out = (t.position, t.velocity, t.radius, t.present, t.id, t.group, kind)
        self._gather: list[Any] = []
        for people, machines in (world.generation(g) for g in (0, 1)):
            about = (people, world.traits, world.minds)
            if level == "view":
                mine = (machines, world.robot_traits, self._now, self._belief)
                self._gather.append(bind(watch, perception.view.cone(), *about, *mine, *out))
            else:
                self._gather.append(bind(_gather, np.int64(count), *about, self._seen, *out))

    @property
    def reads_scans(self) -> bool:
        """Whether it must be told of scans."""
        return self._level in ("visible", "tracked")

    @property
    def names_slots(self) -> bool:
        """Whether the slots of `tracks` are those of the world's pedestrians."""
        return self._scans is None

    def forget(self, row: int) -> None:
        """Begin afresh with a row: an episode begins."""
        self._when[row] = np.nan
        if self._scans is not None:
            self._scans.forget(slice(row, row + 1))
        elif self._level == "view":
            self._belief.forget(row)
        elif self.reads_scans:
            self._seen[row] = False

    def scanned(self, rows: slice | Array, ranges: Floats, time: Doubles | float) -> None:
        """Take a new scan of some rows: ``ranges`` (N, B) m and `pose` are those of all, ``time`` (N,) s of the scans.

        A scan of the moment of the last one changes nothing.
        """
        fresh = np.zeros(len(self._when), np.bool_)
        fresh[rows] = True
        since = np.round(time - self._when, _CLOCK)
        fresh &= ~(since <= 0.0)  # nothing is at or before the moment of a first scan
        if self._scans is not None:
            count = self._world.layout.robots
            self._map_index.reshape(-1, count)[...] = self._world.maps.index[:, None]
            self._scans.ranges[...] = ranges
            self._scans.pose[...] = self._pose
            self._scans.prepare(fresh, np.nan_to_num(since))
            work = self._scans.work
            self._world.threads.everywhere(lambda first, last: work(first * count, last * count))
        elif self._lidar is not None:
            t = self.read()
            there = np.repeat(self._world.pedestrians.active, self._world.layout.robots, axis=0)
            slack = np.float32(1e-3 + 4.0 * self._lidar.noise)
            see(self._lidar.record(), slack, ranges, self._pose, fresh, t.position, t.radius, there, self._seen, 0, len(fresh))
        self._when = np.where(fresh, time, self._when)

    def read(self, time: Doubles | float = 0.0) -> Tracks:
        """Return who is where at ``time`` (N,) s; overwritten by the next call."""
        if self._scans is not None:
            age = np.nan_to_num(np.round(time - self._when, _CLOCK))
            return self._scans.tell(np.maximum(age, 0.0).astype(np.float32))
        self._now[...] = time
        self._gather[self._world.now](0, self._world.layout.worlds)
        return self.tracks
