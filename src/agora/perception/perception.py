"""A robot's knowledge of pedestrians: ground truth, the pedestrians in view or visible to its lidar, or tracks from its sensors."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from agora.core.jit import bind
from agora.core.state import Array, Bools, Floats, Ints, Maps
from agora.maps.grid import Map
from agora.maps.store import build_store
from agora.optics.lidar import Lidar
from agora.perception.detector import Detections, Detector, detect, no_robots
from agora.perception.following import ALL, Following
from agora.perception.in_images import InImages
from agora.perception.tracker import Tracker
from agora.perception.view import View
from agora.world.tracks import Tracks

__all__ = ["Perception", "ScanTracker"]

Level = Literal["truth", "view", "visible", "tracked", "camera"]
"""What planners know about pedestrians: ``truth``, the true state of everyone except people behind walls; ``view``, the true state
of people in a cone ahead, and the assumed state of people who have left it; ``visible``, the true state of people whom the robot's
lidar hits; ``tracked`` and ``camera``, tracks from the robot's scans or camera images."""

LEVELS: tuple[Level, ...] = ("truth", "view", "visible", "tracked", "camera")
TRACKS: tuple[Level, ...] = ("tracked", "camera")
"""Levels at which pedestrians are tracks: only their motion is known."""


@dataclass(frozen=True)
class Perception:
    """The source of a robot's knowledge about pedestrians.

    Attributes:
        source: level of perception.
        detector: parameters of the detector in scans, for the ``tracked`` level.
        tracker: parameters of the tracker, for the ``tracked`` and ``camera`` levels.
        view: cone of view, for the ``view`` level.
        camera: parameters of the detector in the camera's images, for the ``camera`` level.
        walls: whether walls hide pedestrians, for the ``truth`` level. A pedestrian is hidden if no straight line from the robot
            reaches it now or on its predicted path over the next two seconds (`agora.perception.sight.is_parted`).
    """

    source: Level
    detector: Detector = field(default_factory=Detector)
    tracker: Tracker = field(default_factory=Tracker)
    view: View = field(default_factory=View)
    camera: InImages = field(default_factory=InImages)
    walls: bool = True

    def unread(self) -> dict[str, str]:
        """The parameters that the level does not use, and why."""
        levels = {"truth": ("walls",), "view": ("view",), "tracked": ("detector", "tracker"), "camera": ("camera", "tracker")}
        read = levels.get(self.source, ())
        return {
            name: f"with source: {self.source}" for name in ("detector", "tracker", "view", "camera", "walls") if name not in read
        }

    def files(self) -> list[Path]:
        """Return the files that this level of perception reads."""
        return self.camera.files() if self.source == "camera" else []


class ScanTracker:
    """Detector and tracker for N robots with the same lidar; rows are independent of each other.

    Args:
        lidar: lidar of every robot.
        perception: parameters of the detector and the tracker.
        rows: number of rows N.
        maps: known walls; None if there is no map.
        map_index: (N,) map of each row; a reference is kept, so the caller may change it. None uses the first map in all rows.
        robots: other robots known in each row; a reference is kept. None if there are none.

    Attributes:
        tracks: confirmed tracks; written by `tell`.
        detections: detections in the last scan.
        filters: states of the trackers.
        ranges: (N, B) ranges of the last scan, m; write them, and ``pose`` (N, 3), before calling `work`.
    """

    def __init__(
        self,
        lidar: Lidar,
        perception: Perception | None = None,
        rows: int = 1,
        maps: Maps | None = None,
        map_index: Ints | None = None,
        robots: Tracks | None = None,
    ) -> None:
        chosen = perception or Perception("tracked")
        detector, tracker = chosen.detector, chosen.tracker
        if maps is None:
            maps, map_index = build_store([Map.open((-1.0, -1.0), (1.0, 1.0), resolution=0.5)], [0]), np.full(rows, -1, np.int32)
        self.ranges, self.pose = np.zeros((rows, lidar.beams), np.float32), np.zeros((rows, 3), np.float32)
        self.map_index = np.zeros(rows, np.int32) if map_index is None else map_index
        self.detections, search = Detections.room(rows, tracker.most), detector.record(lidar)
        self._following = Following(tracker, self.detections, self.pose, lidar, self.ranges, search.reach)
        self.tracks, self.filters = self._following.tracks, self._following.filters
        others = no_robots(rows) if robots is None else (robots.position, robots.radius, robots.present)
        scene = (self.ranges, self.pose, self._following.due, maps, self.map_index, *others)
        self._detect = bind(detect, search, lidar.record(), *scene, self.detections)

    def prepare(self, due: Bools, dt: ArrayLike, rows: slice = ALL) -> None:
        """Set which of the given rows (K,) have a new scan in ``ranges``, and the time (K,) since the previous scan, s; 0 for a
        first scan.
        """
        self._following.prepare(due, dt, rows)

    def work(self, first: int, last: int) -> None:
        """Process the new scans, as set by `prepare`, of rows ``first <= n < last``."""
        self._detect(first, last)
        self._following.work(first, last)

    def see(self, ranges: ArrayLike, pose: ArrayLike, dt: float) -> Tracks:
        """Process scans (N, B) of robots at poses (N, 3), ``dt`` seconds after the previous scans, and return the confirmed
        tracks.
        """
        self.ranges[...] = ranges
        self.pose[...] = pose
        self.prepare(np.ones(len(self.pose), np.bool_), dt)
        self.work(0, len(self.pose))
        return self.tell(0.0)

    def tell(self, age: Floats | float, rows: slice = ALL) -> Tracks:
        """Return the confirmed tracks of the given rows, extrapolated by ``age`` (K,) seconds from their last scans.

        The next call overwrites the result.
        """
        return self._following.tell(age, rows)

    def forget(self, rows: Array | slice) -> None:
        """Delete all tracks of the given rows."""
        self._following.forget(rows)
