"""The "lidar_3d" channel: the ranges of a multi-ring lidar, which sees the same scene as cameras (`agora.rendering`)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np

from agora.core.jit import kernel
from agora.core.state import Array, Doubles
from agora.errors import InputError
from agora.interfaces import Bound, Channel, Field, Source
from agora.optics.camera import Camera
from agora.ranges import Checked, Distance, Offset, Within
from agora.rendering.studio import Studio
from agora.rendering.sweep import Sweep
from agora.rendering.view import FAR
from agora.seeds import normal_at

if TYPE_CHECKING:
    from agora.robots.model import RobotModel
    from agora.world.world import World

__all__ = ["Lidar3d"]

_STREAM = np.uint64(0x6C69646172336431)
_STEEPEST = 1.2  # rad


@kernel
def _blur(key, identity, step, deviation, nearest, farthest, ranges, first, last):
    """Add noise to the ranges (rings, beams) of some rings whose beams hit something."""
    for ring in range(first, last):
        for k in range(ranges.shape[1]):
            if nearest < ranges[ring, k] < farthest:
                noise = deviation * normal_at(key, identity, step, ring * ranges.shape[1] + k)
                ranges[ring, k] = np.float32(min(max(ranges[ring, k] + noise, nearest), farthest))


@dataclass(frozen=True)
class Lidar3d(Checked):
    """A multi-ring lidar on a robot.

    Attributes:
        rings: number of rings, from the lowest to the highest.
        beams: number of beams per ring, counter-clockwise, starting directly behind the sensor.
        lowest: elevation of the first ring, rad.
        highest: elevation of the last ring, rad.
        x: position on the robot's base, x, m.
        y: position on the robot's base, y, m.
        z: height above the ground, m.
        heading: direction of azimuth 0 relative to the robot's base, rad.
        range_min: minimum reading, m; also the reading for closer points.
        range_max: maximum reading, m; also the reading if the nearest point is farther away or there is no point.
        noise: standard deviation of readings, m; beams that hit nothing have no noise.
    """

    channel: ClassVar[str] = "lidar_3d"
    needs: ClassVar[Collection[str | Channel]] = ()

    rings: Annotated[int, Within(1, 128)] = 16
    beams: Annotated[int, Within(8, 4096)] = 360
    lowest: Annotated[float, Within(-_STEEPEST, _STEEPEST)] = -0.26
    highest: Annotated[float, Within(-_STEEPEST, _STEEPEST)] = 0.26
    x: Offset = 0.0
    y: Offset = 0.0
    z: Distance = 0.5
    heading: float = 0.0
    range_min: Distance = 0.1
    range_max: Annotated[float, Within(0.0, FAR, above=True)] = 30.0
    noise: Distance = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.lowest <= self.highest:
            raise InputError(f"lidar_3d: lowest must be at most highest, got {self.lowest:g} and {self.highest:g}")
        if not self.range_min < self.range_max:
            raise InputError(f"lidar_3d: range_min must be below range_max, got {self.range_min:g} and {self.range_max:g}")

    @cached_property
    def sweep(self) -> Sweep:
        """Return the directions of the beams."""
        return Sweep(self.rings, self.beams, self.lowest, self.highest)

    @property
    def directions(self) -> Doubles:
        """Return the unit vectors (rings, beams, 3) of the beams in the sensor's frame; multiply them by the ranges to get the
        points.
        """
        elevation, azimuth = self.sweep.elevations[:, None], self.sweep.azimuths
        level = np.cos(elevation)
        return np.stack(np.broadcast_arrays(level * np.cos(azimuth), level * np.sin(azimuth), np.sin(elevation)), axis=-1)

    @property
    def fields(self) -> Mapping[str, Field]:
        """Return the fields: one range per beam of each ring."""
        return {"ranges": Field((self.rings, self.beams), "m", "sensor", low=0.0, high=self.range_max)}

    def bind(self, source: Source) -> Bound:
        """Return the lidars of a batch, provided by the simulator or by `Lidars`."""
        if self.channel in source.offers:
            return source.offered(self)
        lidars = Lidars(source.world, self, source.room(self.fields)["ranges"])
        return Bound({"ranges": lidars.ranges}, lidars.measure, begin=lidars.begin, part=lidars)


class Lidars:
    """A multi-ring lidar on every robot of a batch.

    Args:
        world: the worlds.
        lidar: lidar of every robot.
        ranges: (W, R, rings, beams) array for the measured ranges, m.

    Attributes:
        ranges: (W, R, rings, beams) ranges of the last measurement, m.
    """

    def __init__(self, world: World, lidar: Lidar3d, ranges: Array) -> None:
        self._world, self._lidar, self.ranges = world, lidar, ranges
        self._studio = Studio(world)
        self._mount = Camera(1.0, 1.0, 0.0, 0.0, lidar.x, lidar.y, lidar.z, yaw=lidar.heading)

    def begin(self, world: int, robot: int, model: RobotModel) -> None:
        """Reset the state at the start of an episode."""
        self._studio.forget(world)

    def measure(self, first: int, last: int) -> None:
        """Measure in the worlds ``first <= w < last``."""
        world, lidar = self._world, self._lidar
        for w in range(first, last):
            if world.starts[w] is None:
                continue
            self._studio.walk(w)
            view, poses = self._studio.view(w), self._studio.poses(w)
            for r, ranges in enumerate(self.ranges[w]):
                if not world.robots.active[w, r]:
                    ranges[...] = lidar.range_max
                    continue
                lidar.sweep.measure(view, self._mount, poses[r], r, ranges)
                np.clip(ranges, lidar.range_min, lidar.range_max, out=ranges)
                if lidar.noise > 0.0:
                    clock = world.status.clock
                    given = (clock.key[w] ^ _STREAM, r, clock.step[w], lidar.noise, lidar.range_min, lidar.range_max)
                    _blur(*given, ranges, 0, lidar.rings)
