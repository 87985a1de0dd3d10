"""Trackers for several robots, and their tracks."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from agora.core.jit import bind
from agora.core.state import Array, Bools, Floats
from agora.optics.lidar import Lidar
from agora.perception.detector import Detections
from agora.perception.tracker import Filters, Tracker, empty_tracks, tell, track
from agora.world.tracks import Tracks

ALL = slice(None)


class Following:
    """Trackers for N robots; rows are independent of each other.

    Args:
        tracker: parameters of the trackers.
        detections: detections of the rows; a reference is kept.
        pose: (N, 3) poses of the robots at the time of the detections; a reference is kept.
        lidar: lidar whose scans show which positions are empty.
        ranges: (N, B) ranges of these scans, m; a reference is kept. (N, 0) if there are no scans; undetected people then count as
            hidden.
        reach: maximum distance of detections, m.

    Attributes:
        tracks: confirmed tracks; written by `tell`.
        filters: states of the trackers.
    """

    def __init__(
        self, tracker: Tracker, detections: Detections, pose: Floats, lidar: Lidar, ranges: Floats, reach: np.float32
    ) -> None:
        rows = len(pose)
        self.filters, self.tracks = Filters.of(rows, tracker), empty_tracks(rows, tracker.most)
        self.due, self._dt, self._age = np.zeros(rows, np.bool_), np.zeros(rows, np.float32), np.zeros(rows, np.float32)
        seen, t = (detections, lidar.record(), ranges, reach, pose, self.filters), self.tracks
        self.work = bind(track, tracker.record(), self._dt, self.due, *seen)
        told = (t.position, t.velocity, t.radius, t.present, t.id, t.group)
        self._tell = bind(tell, self.filters, self._age, np.float32(tracker.radius), *told)

    def prepare(self, due: Bools, dt: ArrayLike, rows: slice = ALL) -> None:
        """Set which of the given rows (K,) have new detections, and the time (K,) since their previous detections, s; 0 for the
        first ones.
        """
        self.due[rows] = due
        self._dt[rows] = dt

    def tell(self, age: Floats | float, rows: slice = ALL) -> Tracks:
        """Return the confirmed tracks of the given rows, extrapolated by ``age`` (K,) seconds from their last detections.

        The next call overwrites the result.
        """
        self._age[rows] = age
        self._tell(*rows.indices(len(self._age))[:2])
        return self.tracks

    def forget(self, rows: Array | slice) -> None:
        """Delete all tracks of the given rows."""
        self.filters.forget(rows)
