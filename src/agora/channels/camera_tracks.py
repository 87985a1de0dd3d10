"""Tracks of the people in the images of robots' cameras, for the perception level "camera"."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from agora.channels.camera import Camera, Cameras
from agora.channels.rows import flat
from agora.core.state import Doubles
from agora.errors import InputError
from agora.interfaces import Source
from agora.perception.image_tracker import ImageTracker
from agora.perception.perception import Perception
from agora.robots.model import load_robot, robot_names

_CLOCK = 6  # number of decimals to which times between images are rounded


def needed(camera: Camera | None) -> tuple[Camera, ...]:
    """Return the camera in whose images people are detected: the robot's own camera, with colour and depth.

    Raises:
        InputError: the robots have no camera, or the camera is fixed in the world.
    """
    if camera is None:
        having = [name for name in robot_names() if load_robot(name).camera is not None]
        raise InputError(f"pedestrians: camera needs a robot with a camera; choose one of: {', '.join(having)}")
    if camera.fixed:
        raise InputError("pedestrians: camera needs a camera on the robot, but the robots' camera is fixed in the world")
    return (camera.with_images("rgb", "depth"),)


class CameraTracks:
    """Detects the people in the camera images of a batch's robots; each image is processed once, on arrival.

    Args:
        source: the worlds, and the camera.
        perception: parameters of the perception of pedestrians.
        camera: camera of every robot.

    Attributes:
        tracks: tracks of the pedestrians, written by `read`.
    """

    def __init__(self, source: Source, perception: Perception, camera: Camera) -> None:
        layout, sight = source.world.layout, perception.camera
        self._source, self._count, rows = source, layout.robots, layout.worlds * layout.robots
        self._when: Doubles = np.full(rows, np.nan)
        rules = replace(perception.tracker, keep=max(perception.tracker.keep, sight.keep))
        self._tracker = ImageTracker(sight.made(), camera.pinhole, sight.locator, rules, rows)
        self.tracks = self._tracker.tracks

    def begin(self, world: int, robot: int, model: Any = None) -> None:
        """Begin a new episode for a robot."""
        row = world * self._count + robot
        self._when[row] = np.nan
        self._tracker.forget(slice(row, row + 1))

    def measure(self, first: int, last: int) -> None:
        """Process the new images in worlds ``first <= w < last``."""
        images = self._source.readings["camera"]
        for w in range(first, last):
            for r in range(self._count):
                n, (taken, pose) = w * self._count + r, self._taken(w, r)
                since = np.round(taken - self._when[n], _CLOCK)
                if not np.isfinite(taken) or since <= 0.0:  # the first image of an episode is always new
                    continue
                self._tracker.look(images["rgb"][w, r], images["depth"][w, r], pose, float(np.nan_to_num(since)), n)
                self._when[n] = taken

    def _taken(self, w: int, r: int) -> tuple[float, Any]:
        """Return the time at which the robot's current image was taken, s (NaN if there is none), and the robot's pose (3,) at that
        time.
        """
        cameras = self._source.parts["camera"]
        if not isinstance(cameras, Cameras):  # simulated cameras have a new image at each measurement
            return float(self._source.measured[w, r]), self._source.pose[w, r]
        step = cameras.shown[w, r]
        return (float(step * self._source.world.dt) if step >= 0 else np.nan), cameras.pose[w, r]

    def read(self, first: int, last: int) -> None:
        """Write the current tracks in worlds ``first <= w < last``."""
        rows = slice(first * self._count, last * self._count)
        age = np.nan_to_num(np.round(flat(self._source.time()[first:last]) - self._when[rows], _CLOCK))
        self._tracker.tell(np.maximum(age, 0.0).astype(np.float32), rows)
