"""A robot's knowledge of pedestrians: the truth, those in its view or in sight of its lidar, or tracks from scans or images."""

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
"""What planners perceive of pedestrians: the true state of all except people behind walls, the state of people in a cone ahead with
belief about people who left it, the state of people whom the robot's lidar reaches, or tracks from the robot's scans or camera
images."""

LEVELS: tuple[Level, ...] = ("truth", "view", "visible", "tracked", "camera")
TRACKS: tuple[Level, ...] = ("tracked", "camera")
"""Levels at which pedestrians are tracks, of which nothing but the motion is known."""


@dataclass(frozen=True)
class Perception:
    """The source of a robot's knowledge of pedestrians.

    Attributes:
        source: level of perception.
        detector: detector, for the level ``tracked``.
        tracker: tracker, for the levels ``tracked`` and ``camera``.
        view: cone, for the level ``view``.
        camera: detector in the camera's images, for the level ``camera``.
        walls: whether walls hide pedestrians, for the level ``truth``: those that no straight line from the robot reaches, now and
            on their predicted path for two seconds (`agora.perception.sight.is_parted`).
    """

    source: Level
    detector: Detector = field(default_factory=Detector)
    tracker: Tracker = field(default_factory=Tracker)
    view: View = field(default_factory=View)
    camera: InImages = field(default_factory=InImages)
    walls: bool = True

    def unread(self) -> dict[str, str]:
        """The parameters that the level does not read, and why."""
        levels = {"truth": ("walls",), "view": ("view",), "tracked": ("detector", "tracker"), "camera": ("camera", "tracker")}
        read = levels.get(self.source, ())
        return {
            name: f"with source: {self.source}" for name in ("detector", "tracker", "view", "camera", "walls") if name not in read
        }

    def files(self) -> list[Path]:
        """The files that it reads."""
        return self.camera.files() if self.source == "camera" else []


class ScanTracker:
    """Detector and tracker of N robots with the same lidar; rows share nothing.

    Args:
        lidar: lidar of every robot.
        perception: parameters of detector and tracker.
        rows: number of rows N.
        maps: known walls; None for none.
        map_index: (N,) map of each row, kept, so that it may be changed; None for the first in all rows.
        robots: known other robots of each row, kept; None for none.

    Attributes:
        tracks: confirmed tracks; written by `tell`.
        detections: detections in the last scan.
        filters: states of the trackers.
        ranges: (N, B) m and pose: (N, 3), of the last scan, to be written before `work`.
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
        """Say which of some rows (K,) have a new scan in ``ranges``, and how many s (K,) after the one before; 0 for the first."""
        self._following.prepare(due, dt, rows)

    def work(self, first: int, last: int) -> None:
        """Take the scans of rows ``first <= n < last`` that `prepare` has named."""
        self._detect(first, last)
        self._following.work(first, last)

    def see(self, ranges: ArrayLike, pose: ArrayLike, dt: float) -> Tracks:
        """Take scans (N, B) of robots at poses (N, 3), ``dt`` s after the ones before, and return the tracks of believed
        pedestrians.
        """
        self.ranges[...] = ranges
        self.pose[...] = pose
        self.prepare(np.ones(len(self.pose), np.bool_), dt)
        self.work(0, len(self.pose))
        return self.tell(0.0)

    def tell(self, age: Floats | float, rows: slice = ALL) -> Tracks:
        """Return the tracks of believed pedestrians, ``age`` (K,) s after the last scan of some rows; overwritten by the next
        call.
        """
        return self._following.tell(age, rows)

    def forget(self, rows: Array | slice) -> None:
        """Make rows know of nobody."""
        self._following.forget(rows)
