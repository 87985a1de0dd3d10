"""People in images and where they are, by a depth image of the same view; tracked like those of scans."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from agora.core.state import Array, Doubles, Floats
from agora.errors import InputError
from agora.optics.camera import Camera
from agora.optics.lidar import Lidar
from agora.perception.detector import Detections
from agora.perception.following import ALL, Following
from agora.perception.images import Boxes, FindsPeople
from agora.perception.tracker import Tracker
from agora.ranges import Checked, Fraction, NotNegative, Positive
from agora.world.tracks import Tracks

__all__ = ["ImageTracker", "Locator"]


@dataclass(frozen=True)
class Locator(Checked):
    """The places of people in boxes of an image.

    The distance of a person is the depth in the middle of its box, without the background, plus half a body.

    Attributes:
        core: share of a box's width and height, in its middle, that is evaluated.
        nearer: quantile of these depths that is used. With the median, the background has too much influence: between 1 and 1.5 m,
            people were placed 0.1 m too far away.
        least: smallest share of these pixels with a depth; with less, nobody is reported.
        reach: largest accepted depth, m.
        half_body: distance from the front of a body to its axis, m.
        deviation: deviation of the middle of a box from the axis of a body, m.
        noise: noise of a depth of 1 m, m; it grows with the square of the depth. 0.0016 is the 4 cm at 5 m of K. Khoshelham and S.
            O. Elberink, "Accuracy and resolution of Kinect depth data for indoor mapping applications", Sensors 12, 2012.
    """

    core: Fraction = 0.5
    nearer: Fraction = 0.25
    least: Fraction = 0.1
    reach: Positive = 8.0
    half_body: NotNegative = 0.12
    deviation: Positive = 0.1
    noise: NotNegative = 0.0016

    def locate(self, boxes: Boxes, depth: Array, camera: Camera) -> Doubles:
        """Return (K, 3) place, m, in the robot's frame, and variance of either coordinate, m2, of the people whose depth is seen.

        Args:
            boxes: boxes in px of the depth image.
            depth: (rows, columns) depths along the optical axis, m; not finite or 0 if unknown.
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
        """The depth that counts in the middle of a box; 0 where there are too few."""
        (left, right), (top, bottom) = (self._middle(*ends) for ends in (across, along))
        seen = depth[top:bottom, left:right]
        known = seen[(seen > 0.0) & (seen <= self.reach)]  # what is not a number is neither
        return float(np.quantile(known, self.nearer)) if known.size and known.size >= self.least * seen.size else 0.0

    def _middle(self, low: float, high: float) -> tuple[int, int]:
        """First and one more than the last pixel of the middle of an extent."""
        rim = 0.5 * (1.0 - self.core) * (high - low)
        first = max(math.floor(low + rim), 0)
        return first, max(math.ceil(high - rim), first + 1)


class ImageTracker:
    """Finds people in the images of robots' cameras, with depth, and follows them; rows are robots and share nothing.

    Args:
        detector: detector of people in an image.
        camera: camera of both images.
        locator: parameters of the locator.
        tracker: parameters of the tracker.
        rows: number of robots N.

    Attributes:
        camera: camera of the next images; it may be replaced for every image if its mount moves.
        boxes: boxes in the last image that `see` processed.
        detections: places of the boxes in every robot's last image.
        filters: states of the trackers.
        tracks: confirmed tracks; written by `tell`.
    """

    def __init__(
        self,
        detector: FindsPeople,
        camera: Camera,
        locator: Locator | None = None,
        tracker: Tracker | None = None,
        rows: int = 1,
    ) -> None:
        self.camera, self._detector, self._locator = camera, detector, locator or Locator()
        rules = tracker or Tracker()
        self.boxes = Boxes(np.zeros((0, 4), np.float32), np.zeros(0, np.float32), np.zeros(0, np.int32))
        self.detections, self._pose = Detections.room(rows, rules.most), np.zeros((rows, 3), np.float32)
        no_scan = np.zeros((rows, 0), np.float32)
        self._following = Following(rules, self.detections, self._pose, Lidar(), no_scan, np.float32(self._locator.reach))
        self.filters, self.tracks = self._following.filters, self._following.tracks

    def see(self, image: Array, depth: Array, pose: ArrayLike, dt: float) -> Tracks:
        """Take an image and its depth of one robot, and return the tracks of believed pedestrians, one row, in the map's frame.
        The arguments are those of `look`.

        Raises:
            InputError: as `look`.
        """
        self.boxes = self.look(image, depth, pose, dt)
        return self.tell(0.0)

    def look(self, image: Array, depth: Array, pose: ArrayLike, dt: float, row: int = 0) -> Boxes:
        """Take an image and its depth, and return the boxes in it; threads may do so at once for different rows.

        Args:
            image: (rows, columns, 3) uint8, red, green and blue.
            depth: (rows, columns) m along the optical axis, of the same view pixel by pixel; not finite or 0 where it is not known.
            pose: (3,) of the robot in the map.
            dt: time after the image before, s; 0 for the first.
            row: robot.

        Raises:
            InputError: the images are not of one size, or as `detect` of the detector.
        """
        image, depth = np.asarray(image), np.asarray(depth)
        if depth.shape != image.shape[:2]:
            raise InputError(
                f"depth: expected {image.shape[:2]}, as the image, got {depth.shape}; the camera's driver registers it"
            )
        boxes = self._detector.detect(image)
        self._pose[row] = pose
        heading, seen, most = float(self._pose[row, 2]), self.detections, self.detections.x.shape[1]
        x, y, variance = self._locator.locate(boxes, depth, self.camera)[:most].T
        seen.count[row] = count = len(x)
        seen.x[row, :count] = self._pose[row, 0] + math.cos(heading) * x - math.sin(heading) * y
        seen.y[row, :count] = self._pose[row, 1] + math.sin(heading) * x + math.cos(heading) * y
        seen.variance[row, :count] = variance
        self._following.prepare(np.ones(1, np.bool_), dt, slice(row, row + 1))
        self._following.work(row, row + 1)
        return boxes

    def tell(self, age: Floats | float, rows: slice = ALL) -> Tracks:
        """Return the tracks of believed pedestrians, ``age`` (K,) s after the last image of some rows; overwritten by the next
        call.
        """
        return self._following.tell(age, rows)

    def forget(self, rows: slice = ALL) -> None:
        """Make rows know of nobody."""
        self._following.forget(rows)
