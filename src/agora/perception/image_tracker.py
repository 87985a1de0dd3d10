"""People in images and where they are, by a depth image of the same view; tracked like those of scans."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from agora.core.state import Array, Doubles
from agora.errors import InputError
from agora.perception.detector import Detections
from agora.perception.following import Following
from agora.perception.images import Boxes, FindsPeople
from agora.perception.tracker import Tracker
from agora.sensors.camera import Camera
from agora.sensors.lidar import Lidar
from agora.world.tracks import Tracks

__all__ = ["ImageTracker", "Locator"]


@dataclass(frozen=True)
class Locator:
    """The places of people in boxes of an image.

    Somebody is as far away as the median of the depths in the middle of their box, and half a body more.

    Attributes:
        core: share of a box's width and height, in its middle, that is looked at.
        least: least share of these pixels with a depth; without it nobody is reported.
        reach: largest depth that counts, m.
        half_body: distance from the front of a body to its axis, m.
        deviation: deviation of the middle of a box from the axis of a body, m.
        noise: noise of a depth of 1 m, m; it grows with the square of the depth. 0.0016 is the 4 cm at 5 m of K. Khoshelham and S.
            O. Elberink, "Accuracy and resolution of Kinect depth data for indoor mapping applications", Sensors 12, 2012.
    """

    core: float = 0.5
    least: float = 0.1
    reach: float = 8.0
    half_body: float = 0.12
    deviation: float = 0.1
    noise: float = 0.0016

    def __post_init__(self) -> None:
        for name in ("core", "least"):
            if not 0.0 < getattr(self, name) <= 1.0:
                raise ValueError(f"{name} must be above 0 and at most 1, got {getattr(self, name)}")
        for name in ("reach", "deviation"):
            if not 0.0 < getattr(self, name) < math.inf:
                raise ValueError(f"{name} must be a finite number above 0, got {getattr(self, name)}")
        for name in ("half_body", "noise"):
            if not 0.0 <= getattr(self, name) < math.inf:
                raise ValueError(f"{name} must be a finite number, at least 0, got {getattr(self, name)}")

    def locate(self, boxes: Boxes, depth: Array, camera: Camera) -> Doubles:
        """Return (K, 3) place, m, in the robot's frame, and variance of either coordinate, m2, of the people whose depth is seen.

        Args:
            boxes: boxes in px of the depth image.
            depth: (rows, columns) depths along the optical axis, m; not finite or 0 where unknown.
            camera: camera of the depth image.
        """
        found = [
            ((left + right) / 2 - 0.5, (top + bottom) / 2 - 0.5, away)  # the middle of the first pixel is the origin
            for left, top, right, bottom in boxes.corners.astype(float)
            if (away := self._depth(depth, (left, right), (top, bottom))) > 0.0
        ]
        u, v, depths = np.reshape(found, (-1, 3)).T
        x, y, _ = (camera.on_robot(u, v, depths) - (camera.x, camera.y, 0.0)).T
        flat = np.hypot(x, y)
        behind = np.divide(flat + self.half_body, flat, out=np.ones_like(flat), where=flat > 0.0)
        variance = self.deviation**2 + (self.noise * depths**2) ** 2
        return np.stack((camera.x + behind * x, camera.y + behind * y, variance), -1)

    def _depth(self, depth: Array, across: tuple[float, float], along: tuple[float, float]) -> float:
        """The median of the depths in the middle of a box; 0 where there are too few."""
        (left, right), (top, bottom) = (self._middle(*ends) for ends in (across, along))
        seen = depth[top:bottom, left:right]
        known = seen[(seen > 0.0) & (seen <= self.reach)]  # what is not a number is neither
        return float(np.median(known)) if known.size and known.size >= self.least * seen.size else 0.0

    def _middle(self, low: float, high: float) -> tuple[int, int]:
        """First and one more than the last pixel of the middle of an extent."""
        rim = 0.5 * (1.0 - self.core) * (high - low)
        first = max(math.floor(low + rim), 0)
        return first, max(math.ceil(high - rim), first + 1)


class ImageTracker:
    """Finds people in the images of one robot's camera, with depth, and follows them.

    Args:
        detector: detector of people in an image.
        camera: camera of both images.
        locator: parameters of the locator.
        tracker: parameters of the tracker.

    Attributes:
        camera: camera of the next images; another one may be set for every image, where its mount moves.
        boxes: boxes in the last image.
        detections: places of these boxes.
        filters: state of the tracker.
    """

    def __init__(
        self, detector: FindsPeople, camera: Camera, locator: Locator | None = None, tracker: Tracker | None = None
    ) -> None:
        self.camera, self._detector, self._locator = camera, detector, locator or Locator()
        rules = tracker or Tracker()
        self.boxes = Boxes(np.zeros((0, 4), np.float32), np.zeros(0, np.float32), np.zeros(0, np.int32))
        self.detections, self._pose = Detections.room(1, rules.most), np.zeros((1, 3), np.float32)
        no_scan = np.zeros((1, 0), np.float32)
        self._following = Following(rules, self.detections, self._pose, Lidar(), no_scan, np.float32(self._locator.reach))
        self.filters = self._following.filters

    def see(self, image: Array, depth: Array, pose: ArrayLike, dt: float) -> Tracks:
        """Take an image and its depth, and return the tracks of believed pedestrians, one row, in the map's frame.

        Args:
            image: (rows, columns, 3) uint8, red, green and blue.
            depth: (rows, columns) m along the optical axis, of the same view pixel by pixel; not finite or 0 where it is not known.
            pose: (3,) of the robot in the map.
            dt: time after the image before, s; 0 for the first.

        Raises:
            InputError: the images are not of one size, or as `detect` of the detector.
        """
        image, depth = np.asarray(image), np.asarray(depth)
        if depth.shape != image.shape[:2]:
            raise InputError(
                f"depth: expected {image.shape[:2]}, as the image, got {depth.shape}; the camera's driver registers it"
            )
        self.boxes = self._detector.detect(image)
        self._pose[0] = pose
        heading, seen, most = float(self._pose[0, 2]), self.detections, self.detections.x.shape[1]
        x, y, variance = self._locator.locate(self.boxes, depth, self.camera)[:most].T
        seen.count[0] = count = len(x)
        seen.x[0, :count] = self._pose[0, 0] + math.cos(heading) * x - math.sin(heading) * y
        seen.y[0, :count] = self._pose[0, 1] + math.sin(heading) * x + math.cos(heading) * y
        seen.variance[0, :count] = variance
        self._following.prepare(np.ones(1, np.bool_), dt)
        self._following.work(0, 1)
        return self.tell(0.0)

    def tell(self, age: float) -> Tracks:
        """Return the tracks of believed pedestrians ``age`` s after the last image; overwritten by the next call."""
        return self._following.tell(age)

    def forget(self) -> None:
        """Know of nobody."""
        self._following.forget(slice(None))
