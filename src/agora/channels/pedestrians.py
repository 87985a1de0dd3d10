"""The "pedestrians" channel: the pedestrians that each robot knows of. Depending on the level of perception, these are all
pedestrians, the pedestrians in view, the visible pedestrians, or tracks.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from agora.channels.camera import Camera
from agora.channels.camera_tracks import CameraTracks, needed
from agora.channels.rows import flat, reading_of, track_fields, tracks_of
from agora.core.jit import bind, lean_kernel
from agora.core.state import Bools, Ints
from agora.errors import InputError
from agora.interfaces import Bound, Channel, Field, Setting, Source
from agora.optics.lidar import Lidar
from agora.perception.perception import TRACKS, Perception, ScanTracker
from agora.perception.sight import is_parted, see
from agora.perception.tracker import empty_tracks
from agora.perception.view import Belief, watch

_CLOCK = 6  # number of decimals to which times between scans are rounded, so that times from stamps and from steps agree


@lean_kernel
def _gather(
    walls, people, traits, minds, robots, maps, seen, position, velocity, radius, present, identity, group, kind, first, last
):  # fmt: skip
    """Write the true states of the pedestrians that a robot sees; by default, these are the pedestrians not hidden by a wall."""
    count = robots.x.shape[1]
    for w in range(first, last):
        m = maps.index[w]
        for r in range(count):
            n, x, y = w * count + r, robots.x[w, r], robots.y[w, r]
            for i in range(people.x.shape[1]):
                px, py, vx, vy = people.x[w, i], people.y[w, i], people.vx[w, i], people.vy[w, i]
                position[n, i, 0], position[n, i, 1], velocity[n, i, 0], velocity[n, i, 1] = px, py, vx, vy
                there = people.active[w, i] and seen[n, i]
                if there and walls:
                    there = not is_parted(maps, m, x, y, px, py, vx, vy, traits.radius[w, i])
                radius[n, i], present[n, i] = traits.radius[w, i], there
                identity[n, i], group[n, i], kind[n, i] = traits.id[w, i], traits.group[w, i], minds.type[w, i]


@dataclass(frozen=True)
class KnownPedestrians:
    """The pedestrians that a robot knows of.

    Attributes:
        perception: the stage's perception of pedestrians.
        lidar: lidar of the robot, if the perception needs scans.
        camera: camera of the robot, if the perception needs images.
    """

    channel: ClassVar[str] = "pedestrians"

    perception: Perception = field(default_factory=lambda: Perception("truth"))
    lidar: Lidar | None = None
    camera: Camera | None = None

    @staticmethod
    def from_setting(given: Any, setting: Setting) -> KnownPedestrians:
        """Return the channel for the stage's perception."""
        told = KnownPedestrians(setting.perception)
        if setting.perception.source == "camera":
            return replace(told, camera=setting.own.get("camera"))
        return replace(told, lidar=setting.lidar) if told.reads_scans else told

    @property
    def reads_scans(self) -> bool:
        """True if the robot's knowledge of pedestrians comes from scans."""
        return self.perception.source in ("visible", "tracked")

    @property
    def names_slots(self) -> bool:
        """True if the slots correspond to the slots of the world's pedestrians."""
        return self.perception.source not in TRACKS

    @property
    def needs(self) -> Collection[str | Channel]:
        """Return the channels that the perception needs: scans or images, and the other robots, which report their own positions so
        that they are not detected as people.

        Raises:
            InputError: images are needed but the robots have no camera of their own, or scans are needed but the robots have no
                lidar.
        """
        if self.perception.source == "camera":
            return needed(self.camera)
        if self.reads_scans and self.lidar is None:
            raise InputError(f"pedestrians: {self.perception.source} needs a lidar, but the robots have none")
        return {"visible": ("scan",), "tracked": ("scan", "robots")}.get(self.perception.source, ())

    @property
    def fields(self) -> Mapping[str, Field]:
        """Return the fields of `agora.interfaces.Tracks`; types are not available from scans."""
        return track_fields("pedestrians", typed=self.names_slots)

    def bind(self, source: Source) -> Bound:
        """Return the perceiver for a batch.

        Raises:
            InputError: the file of the image detector is missing.
        """
        told: Perceiver | CameraTracks
        if self.camera is not None:
            told = CameraTracks(source, self.perception, self.camera)
        else:
            told = Perceiver(source, self.perception, self.lidar)
        views = {"pedestrians": told.tracks}
        measure = told.measure if self.reads_scans or self.camera is not None else None
        return Bound(reading_of(told.tracks, source.world), measure, told.read, told.begin, lambda: views, told)


class Perceiver:
    """Provides each robot in a batch with the pedestrians that it knows of.

    Args:
        source: the worlds and the channels that `KnownPedestrians` needs.
        perception: source and parameters of the robots' knowledge of pedestrians.
        lidar: lidar of every robot; may be None for the levels "truth" and "view".

    Attributes:
        tracks: tracks of the pedestrians, written by `read`.
    """

    def __init__(self, source: Source, perception: Perception, lidar: Lidar | None = None) -> None:
        world = source.world
        self._source, self._world, self._count = source, world, world.layout.robots
        rows, level = world.layout.worlds * self._count, perception.source
        self._lidar, self._level, self._when = lidar, level, np.full(rows, np.nan)
        self._map_index: Ints = np.zeros(rows, np.int32)
        self._scans: ScanTracker | None = None
        if level == "tracked" and lidar is not None:
            robots = tracks_of(source.readings["robots"])
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
                hide = np.bool_(level == "truth" and perception.walls)
                self._gather.append(bind(_gather, hide, *about, machines, world.maps, self._seen, *out))

    def begin(self, world: int, robot: int, model: Any = None) -> None:
        """Begin a new episode for a robot."""
        row = world * self._count + robot
        self._when[row] = np.nan
        if self._scans is not None:
            self._scans.forget(slice(row, row + 1))
        elif self._level == "view":
            self._belief.forget(row)
        elif self._level == "visible":
            self._seen[row] = False

    def measure(self, first: int, last: int) -> None:
        """Process the new scans in worlds ``first <= w < last``; a second scan with the same time has no effect."""
        rows = slice(first * self._count, last * self._count)
        time = flat(self._source.measured[first:last])
        since = np.round(time - self._when[rows], _CLOCK)
        fresh: Bools = np.isfinite(time) & ~(since <= 0.0)  # the first scan of an episode is always new
        ranges = flat(self._source.readings["scan"]["ranges"][first:last])
        if self._scans is not None:
            scans, pose = self._scans, flat(self._source.pose[first:last])
            self._map_index[rows] = np.repeat(self._world.maps.index[first:last], self._count)
            scans.ranges[rows], scans.pose[rows] = ranges, pose
            scans.prepare(fresh, np.nan_to_num(since), rows)
            scans.work(rows.start, rows.stop)
        elif self._lidar is not None:
            self._see(first, last, fresh)
        self._when[rows] = np.where(fresh, time, self._when[rows])

    def _see(self, first: int, last: int, fresh: Bools) -> None:
        """Find the pedestrians hit by a beam in worlds ``first <= w < last``, in rows with a new scan."""
        self._gather[self._world.now](first, last)
        count, t, source = self._count, self.tracks, self._source
        lidar, rows = self._lidar, slice(first * count, last * count)
        assert lidar is not None
        there = np.repeat(self._world.pedestrians.active[first:last], count, axis=0)
        scans = (flat(source.readings["scan"]["ranges"][first:last]), flat(source.pose[first:last]))
        slack = np.float32(1e-3 + 4.0 * lidar.noise)
        see(lidar.record(), slack, *scans, fresh, t.position[rows], t.radius[rows], there, self._seen[rows], 0, len(fresh))

    def read(self, first: int, last: int) -> None:
        """Write the current tracks in worlds ``first <= w < last``."""
        rows = slice(first * self._count, last * self._count)
        if self._scans is not None:
            time = flat(self._source.time()[first:last])
            age = np.nan_to_num(np.round(time - self._when[rows], _CLOCK))
            self._scans.tell(np.maximum(age, 0.0).astype(np.float32), rows)
            return
        if self._level == "view":
            self._now[rows] = flat(self._source.time()[first:last])
        self._gather[self._world.now](first, last)
