"""Detects people in images, locates them using a depth image of the same view, and tracks them like people detected in scans."""

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
    """Locates people from their boxes in an image.

    The distance to a person is the depth in the central part of its box, excluding the background, plus half the thickness of a
    body.

    Attributes:
        core: fraction of a box's width and height, around its centre, that is evaluated.
        nearer: quantile of the depths in this central part that is taken as the depth of the person. With the median, the
            background has too much influence: at distances between 1 and 1.5 m, people were located 0.1 m too far away.
        least: minimum fraction of the pixels in the central part that must have a valid depth; otherwise the person is not
            reported.
        reach: maximum accepted depth, m.
        half_body: distance from the front of a body to its axis, m.
        deviation: standard deviation of the centre of a box from the axis of the body, m.
        noise: standard deviation of depth at 1 m, m; it grows with the square of the depth. 0.0016 corresponds to 4 cm at 5 m, from
            K. Khoshelham and S. O. Elberink, "Accuracy and resolution of Kinect depth data for indoor mapping applications",
            Sensors 12, 2012.
    """

    core: Fraction = 0.5
    nearer: Fraction = 0.25
    least: Fraction = 0.1
    reach: Positive = 8.0
    half_body: NotNegative = 0.12
    deviation: Positive = 0.1
    noise: NotNegative = 0.0016

    def locate(self, boxes: Boxes, depth: Array, camera: Camera) -> Doubles:
        """Return x and y (in metres, in the robot's frame) and the variance of each coordinate (in m2) of the people with valid
        depths, as (K, 3).

        Args:
            boxes: boxes in pixels of the depth image.
            depth: (rows, columns) depths along the optical axis, m; non-finite or 0 if unknown.
            camera: camera of the depth image.
        """
        found = [
            ((left + right) / 2 - 0.5, (top + bottom) / 2 - 0.5, away)  # the origin is the centre of the first pixel
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
        """Return the representative depth in the central part of a box; 0 if too few pixels have a valid depth."""
        (left, right), (top, bottom) = (self._middle(*ends) for ends in (across, along))
        seen = depth[top:bottom, left:right]
        known = seen[(seen > 0.0) & (seen <= self.reach)]  # NaN fails both comparisons
        return float(np.quantile(known, self.nearer)) if known.size and known.size >= self.least * seen.size else 0.0

    def _middle(self, low: float, high: float) -> tuple[int, int]:
        """Return the first pixel, and one more than the last pixel, of the central part of an interval."""
        rim = 0.5 * (1.0 - self.core) * (high - low)
        first = max(math.floor(low + rim), 0)
        return first, max(math.ceil(high - rim), first + 1)


class ImageTracker:
    """Detects people in the colour and depth images of robots' cameras and tracks them; each row is an independent robot.

    Args:
        detector: detector of people in images.
        camera: camera model of both images.
        locator: parameters of the locator.
        tracker: parameters of the tracker.
        rows: number of robots N.

    Attributes:
        camera: camera model of the next images; it may be replaced before every image if the camera's mount moves.
        boxes: boxes in the last image that `see` processed.
        detections: positions of the people in each robot's last image.
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
        """Process a colour and a depth image of a single robot, and return the confirmed tracks in the map frame, as one row.

        The arguments are those of `look`.

        Raises:
            InputError: as for `look`.
        """
        self.boxes = self.look(image, depth, pose, dt)
        return self.tell(0.0)

    def look(self, image: Array, depth: Array, pose: ArrayLike, dt: float, row: int = 0) -> Boxes:
        """Process a colour and a depth image, and return the boxes of people; can be called concurrently for different rows.

        Args:
            image: (rows, columns, 3) uint8 RGB image.
            depth: (rows, columns) depth along the optical axis, m, aligned with the image pixel by pixel; non-finite or 0 if
                unknown.
            pose: (3,) pose of the robot in the map frame, m and rad.
            dt: time since the previous image, s; 0 for the first image.
            row: index of the robot.

        Raises:
            InputError: the two images differ in size, or the detector's ``detect`` raised this error.
        """
        image, depth = np.asarray(image), np.asarray(depth)
        if depth.shape != image.shape[:2]:
            raise InputError(
                f"depth: expected {image.shape[:2]}, the size of the image, got {depth.shape}; the camera driver registers it"
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
        """Return the confirmed tracks of the given rows, extrapolated by ``age`` (K,) seconds from their last images.

        The next call overwrites the result.
        """
        return self._following.tell(age, rows)

    def forget(self, rows: slice = ALL) -> None:
        """Delete all tracks of the given rows."""
        self._following.forget(rows)
