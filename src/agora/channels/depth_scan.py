"""The "depth_scan" channel: a planar scan computed from a camera's depth image."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Annotated, ClassVar

import numpy as np

from agora.channels.camera import Camera
from agora.core.angles import wrap_below_pi
from agora.core.state import Doubles
from agora.errors import InputError
from agora.interfaces import Bound, Channel, Field, Source
from agora.ranges import Checked, Distance, Length, Within

__all__ = ["DepthScan"]


@dataclass(frozen=True)
class DepthScan(Checked):
    """The distance to the nearest point in each direction of a camera's view, between two heights.

    Beams start at the camera's position projected onto the ground; the first beam is at the right edge of the view.

    Attributes:
        camera: camera on the robot; only its depth image is used.
        beams: number of beams, evenly spaced over the camera's view.
        low: minimum height above the ground that is considered, m; it excludes the ground itself.
        high: maximum height that is considered, m.
        range_max: maximum reading, m; also the reading if the nearest point is farther away or there is no point.
    """

    channel: ClassVar[str] = "depth_scan"

    camera: Camera = field(default_factory=lambda: Camera(what=("depth",)))
    beams: Annotated[int, Within(2, 4096)] = 64
    low: Distance = 0.08
    high: Length = 1.8
    range_max: Length = 10.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.low < self.high:
            raise InputError(f"depth_scan: low must be below high, got {self.low:g} and {self.high:g}")
        if self.camera.fixed:
            raise InputError("depth_scan: its camera must be on the robot, not fixed in the world")

    @property
    def needs(self) -> Collection[str | Channel]:
        """Return the camera whose depth images are used."""
        return (self.camera.with_images("depth"),)

    @property
    def angles(self) -> Doubles:
        """Bearing of each beam (beams,) relative to the robot's heading, rad, counter-clockwise."""
        middle = self.camera.yaw
        half = self._half
        return middle + np.linspace(-half, half, 2 * self.beams + 1)[1::2]

    @property
    def _half(self) -> float:
        """Half the camera's angle of view, rad."""
        pinhole = self.camera.pinhole
        edges = (-0.5 - pinhole.cx, self.camera.width - 0.5 - pinhole.cx)
        return math.atan(max(abs(edge) for edge in edges) / pinhole.fx)

    @property
    def fields(self) -> Mapping[str, Field]:
        """Return the fields: one range per beam."""
        return {"ranges": Field((self.beams,), "m", "sensor", low=0.0, high=self.range_max)}

    def bind(self, source: Source) -> Bound:
        """Return the scans of a batch."""
        depths, out = source.readings["camera"]["depth"], source.room(self.fields)
        camera, pinhole = self.camera, self.camera.pinhole
        v, u = np.mgrid[: camera.height, : camera.width]
        place = np.array([pinhole.x, pinhole.y, pinhole.z])
        rays = (pinhole.on_robot(u, v, 1.0) - place).reshape(-1, 3)
        away = np.hypot(rays[:, 0], rays[:, 1])
        bearing = wrap_below_pi(np.arctan2(rays[:, 1], rays[:, 0]) - camera.yaw)
        beam = np.floor((bearing + self._half) / (2.0 * self._half) * self.beams).astype(int)
        inside = (beam >= 0) & (beam < self.beams)

        def read(first: int, last: int) -> None:
            for w in range(first, last):
                for r in range(depths.shape[1]):
                    depth = depths[w, r].reshape(-1)
                    height = place[2] + depth * rays[:, 2]
                    counts = inside & (depth > 0.0) & (height > self.low) & (height < self.high)
                    nearest = np.full(self.beams, self.range_max, np.float32)
                    np.minimum.at(nearest, beam[counts], (depth[counts] * away[counts]).astype(np.float32))
                    out["ranges"][w, r] = nearest

        return Bound(out, read=read, heavy=True)
