"""The "scan" channel: the ranges of each robot's lidar, and the lidars of a batch."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from agora.channels.rows import flat
from agora.core.state import Floats, read_only
from agora.interfaces import Bound, Channel, Field, Provider, Reading, Setting, Source
from agora.optics.lidar import Lidar

if TYPE_CHECKING:
    from agora.world.world import World


@dataclass(frozen=True)
class Scan:
    """The scan of a robot's lidar.

    Attributes:
        lidar: lidar of the robot; None if the robot has no lidar.
    """

    channel: ClassVar[str] = "scan"
    needs: ClassVar[Collection[str | Channel]] = ()

    lidar: Lidar | None = None

    @staticmethod
    def from_setting(given: Any, setting: Setting) -> Scan:
        """Return the scan of the robot's lidar."""
        return Scan(setting.lidar)

    @property
    def fields(self) -> Mapping[str, Field]:
        """Return the fields: one range per beam."""
        if self.lidar is None:
            return {"ranges": Field((0,), "m", "sensor")}
        return {"ranges": Field((self.lidar.beams,), "m", "sensor", low=0.0, high=self.lidar.range_max)}

    def bind(self, source: Source) -> Bound:
        """Return the scans of a batch, from a provider or from `Scanner`."""
        if self.channel in source.offers:
            return source.offered(self)
        scans = HeldScans(self.lidar, source.room(self.fields))
        measure = None if self.lidar is None else Scanner(source.world, self.lidar, scans.reading["ranges"]).work
        return Bound(scans.reading, measure, views=scans.views, part=scans)


def received(scan: Provider, source: Source) -> Bound:
    """Return the scans of a batch from an external provider (`agora.interfaces.Offer`)."""
    assert isinstance(scan, Scan)
    scans = HeldScans(scan.lidar, source.room(scan.fields))
    return Bound(scans.reading, views=scans.views, part=scans)


class HeldScans:
    """Scans that are kept until the next scan arrives.

    Args:
        lidar: lidar of every robot; None if the robots have no lidar.
        reading: (W, R, B) ranges, m.

    Attributes:
        lidar: lidar of every robot; None if the robots have no lidar.
        reading: (W, R, B) ranges, m.
        ranges: (N, B) ranges of the last scan, m.
    """

    def __init__(self, lidar: Lidar | None, reading: Reading) -> None:
        self.lidar, self.reading = lidar, reading
        self.ranges: Floats = flat(reading["ranges"])
        self._shown: dict[str, Any] = {}
        if lidar is not None:
            pose = np.array([lidar.x, lidar.y, lidar.heading], np.float32)
            self._shown = {"scan": read_only(self.ranges), "scan_angles": read_only(lidar.angles)}
            self._shown |= {"scan_pose": read_only(pose), "scan_range": lidar.range_max}

    def views(self) -> Mapping[str, Any]:
        """Return the fields that observations expose."""
        return self._shown


class Scanner:
    """A lidar on every robot of a batch.

    Args:
        world: the worlds.
        lidar: lidar on every robot.
        ranges: (W, R, B) array for the measured ranges, m; a new array by default.
    """

    def __init__(self, world: World, lidar: Lidar, ranges: Floats | None = None) -> None:
        layout = world.layout
        self._world = world
        self._ranges = np.zeros((layout.worlds, layout.robots, lidar.beams), np.float32) if ranges is None else ranges
        noise = lidar.bind_noise(world.status.clock.key, world.status.clock.step, self._ranges)
        generations = ((people, world.traits, robots) for people, robots in map(world.generation, (0, 1)))
        self._bound = [(lidar.bind(*moving, world.robot_traits, world.maps, self._ranges), *noise) for moving in generations]

    def work(self, first: int, last: int) -> None:
        """Scan in the worlds ``first <= w < last``."""
        for kernel in self._bound[self._world.now]:
            kernel(first, last)

    def scan(self) -> Floats:
        """Return the current ranges (W, R, B) in all worlds, m; the array is overwritten by the next call."""
        self._world.threads.everywhere(*self._bound[self._world.now])
        return self._ranges
