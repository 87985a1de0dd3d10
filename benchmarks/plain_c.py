"""Compiles kernels.c and calls it on the arrays of a scene."""

from __future__ import annotations

import ctypes
import math
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

import numpy as np
from scene import LIDAR, MAPS, Scene, hall

from agora.core import float_mode

FLAGS = ["-O3", "-march=native", "-ffast-math", "-mprefer-vector-width=512", "-shared", "-fPIC"]


@cache
def library() -> ctypes.CDLL | None:
    """Return the compiled kernels; None without gcc."""
    gcc = shutil.which("gcc")
    if gcc is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "kernels.so"
        subprocess.run([gcc, *FLAGS, "-o", target, Path(__file__).parent / "potential.c", "-lm"], check=True)
        loaded = ctypes.CDLL(str(target))
        float_mode.set_usual()  # a library compiled with -ffast-math makes the process flush denormals to zero
        return loaded


class PlainC:
    """The scene of `scene.halls` in plain C.

    Attributes:
        robot: (3, W) pose of each robot.
        ranges: (W, beams) ranges of its scan, m.
        people: x, y, vx, vy of the pedestrians, (W, P) each.
    """

    def __init__(self, scene: Scene) -> None:
        kernels = library()
        if kernels is None:
            raise RuntimeError("there is no gcc")
        worlds, count = scene.radius.shape
        pairs = [np.moveaxis(a, -1, 0) for a in (scene.position, scene.velocity, scene.goal)]
        x, y, vx, vy, gx, gy = (np.array(part, np.float32, order="C") for pair in pairs for part in pair)
        radius, speed = scene.radius.astype(np.float32), scene.speed.astype(np.float32)
        field = np.stack([hall(number).distance for number in range(min(MAPS, worlds))])
        index = np.arange(worlds, dtype=np.int32) % MAPS
        angles = 2 * math.pi / LIDAR.beams * np.arange(LIDAR.beams)
        beams = np.stack([np.cos(angles), np.sin(angles)]).astype(np.float32)
        self.robot = np.ascontiguousarray(scene.robot.T, np.float32)
        self.ranges = np.zeros((worlds, LIDAR.beams), np.float32)
        self.people = (x, y, vx, vy)
        self._begin = [a.copy() for a in self.people]
        forces = (*self.people, gx, gy, radius, speed, field, index, np.zeros_like(x), np.zeros_like(x))
        rays = (x, y, radius, *self.robot, *beams, field, index, self.ranges)
        sizes = ctypes.c_int(worlds), ctypes.c_int(count)
        self._arrays = forces, rays
        self._forces, self._rays = ((*sizes, *(ctypes.c_void_p(a.ctypes.data) for a in arrays)) for arrays in self._arrays)
        self._social_force, self._evacuation, self._scan = kernels.social_force, kernels.evacuation, kernels.scan

    def step(self) -> None:
        """Move the pedestrians with the social force model."""
        self._social_force(*self._forces)

    def evacuate(self) -> None:
        """Move the pedestrians by one substep of the evacuation model."""
        self._evacuation(*self._forces)

    def scan(self) -> None:
        """Scan from the robots' positions."""
        self._scan(*self._rays)

    def restart(self) -> None:
        """Reset pedestrians and robots to the start of the scene."""
        for array, value in zip(self.people, self._begin, strict=True):
            array[...] = value
