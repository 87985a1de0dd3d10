"""Pictures and videos from a camera on a robot, taken while an episode is running."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image

from agora.channels.camera import Camera
from agora.core.state import Array
from agora.errors import InputError
from agora.rendering.scene import CLASSES
from agora.rendering.studio import Studio
from agora.rendering.view import Eye

if TYPE_CHECKING:
    from agora.world.world import World

__all__ = ["SHOWN", "Reel", "Sights"]

SHOWN = ("rgb", "depth", "segmentation")
"""The pictures shown side by side."""

CLASS_COLOURS = {
    "nothing": (30, 30, 34),
    "floor": (128, 120, 110),
    "wall": (205, 202, 192),
    "furniture": (70, 145, 90),
    "person": (222, 70, 60),
    "robot": (60, 105, 225),
}
"""Colours of the classes in a segmentation; people get slightly different shades."""

_DEPTHS = np.array([(253, 231, 37), (94, 201, 98), (33, 145, 140), (59, 82, 139), (68, 1, 84)], np.float32)  # near to far
_SHADES = 7  # number of shades for people


class Sights:
    """A camera on a robot in the first world of a batch.

    Args:
        world: worlds of the batch.
        camera: camera parameters; rate, latency and noise are ignored.
        robot: number of the robot.
        show: names of the pictures to show (see `SHOWN`), from left to right.

    Attributes:
        buried: whether the camera was inside a wall or a piece of furniture when the last picture was taken; that picture is black.

    Raises:
        InputError: the robot or a name in ``show`` is unknown.
    """

    def __init__(self, world: World, camera: Camera, robot: int = 0, show: Sequence[str] = ("rgb",)) -> None:
        if not 0 <= robot < world.layout.robots:
            raise InputError(f"robot: expected 0 to {world.layout.robots - 1}, got {robot}")
        if not show or not set(show) <= set(SHOWN):
            raise InputError(f"show: expected one or more of {', '.join(SHOWN)}, got {', '.join(show) or 'nothing'}")
        self._world, self._robot, self._show = world, robot, tuple(show)
        self._camera = replace(camera, what=("rgb", "depth", "segmentation"))
        self._studio = Studio(world)
        self.buried = False

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the pictures, px."""
        return len(self._show) * self._camera.width, self._camera.height

    @property
    def time(self) -> float:
        """Time since the start of the episode, s."""
        return float(self._world.status.clock.step[0]) * self._world.dt

    def walk(self) -> None:
        """Move people to their current positions; frequent calls make their gait more accurate."""
        self._studio.walk(0)

    def picture(self) -> Array:
        """Return the current picture (rows, columns, 3) uint8."""
        camera, view = self._camera, self._studio.view(0)
        pose = np.zeros(3) if camera.fixed else self._studio.poses(0)[self._robot]
        eye = Eye.on(camera.pinhole, camera.width, camera.height, pose)
        self.buried = view.scene.inside(eye.place)
        view.look(eye, -1 if camera.fixed else self._robot)
        return np.hstack([getattr(self, f"_{name}")(view, eye) for name in self._show])

    def _rgb(self, view: Any, eye: Eye) -> Array:
        image = np.zeros((eye.height, eye.width, 3), np.uint8)
        view.colours(eye, image, None, self._camera.smooth)
        return image

    def _depth(self, view: Any, eye: Eye) -> Array:
        depth = np.zeros((eye.height, eye.width), np.float32)
        view.colours(eye, None, depth)
        share = np.clip(depth / self._camera.depth_max, 0.0, 1.0) * (len(_DEPTHS) - 1)
        number = np.minimum(share.astype(int), len(_DEPTHS) - 2)
        part = (share - number)[..., None]
        image: Array = ((1.0 - part) * _DEPTHS[number] + part * _DEPTHS[number + 1]).astype(np.uint8)
        image[(depth > self._camera.depth_max) | (depth < self._camera.depth_min)] = 0
        return image

    def _segmentation(self, view: Any, eye: Eye) -> Array:
        kind, owner = view.labels(eye)
        image: Array = np.array([CLASS_COLOURS[name] for name in CLASSES], np.float32)[kind]
        shade = 1.0 - 0.45 * (owner * 3 % _SHADES) / _SHADES
        return np.where((kind == CLASSES.index("person"))[..., None], image * shade[..., None], image).astype(np.uint8)


def save_picture(path: Path, picture: Array) -> None:
    """Write a picture (rows, columns, 3) uint8 as PNG."""
    part = path.with_name(f".{path.stem}.part.png")
    try:
        Image.fromarray(picture).save(part)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


class Reel:
    """A video that is written picture by picture; the file appears when it is complete.

    Args:
        path: path of the video, which must end in ``.mp4``.
        size: width and height, px, both even.
        rate: pictures per second.

    Raises:
        InputError: the size is not valid for a video.
    """

    def __init__(self, path: Path, size: tuple[int, int], rate: float) -> None:
        import av

        each = Fraction(rate).limit_denominator(1000)

        if size[0] % 2 or size[1] % 2:
            raise InputError(f"{path}: video frames need an even width and height, got {size[0]} x {size[1]}")
        self._path, self._part = path, path.with_name(f".{path.stem}.part.mp4")
        self._container = av.open(str(self._part), "w", options={"movflags": "+faststart", "fflags": "+bitexact"})
        self._stream = self._container.add_stream("libx264", rate=each, options={"preset": "veryfast", "crf": "20", "threads": "2"})
        self._stream.width, self._stream.height = size
        self._stream.pix_fmt, self._stream.time_base = "yuv420p", 1 / each
        self._count = 0

    def add(self, picture: Array) -> None:
        """Add a picture (rows, columns, 3) uint8."""
        import av

        frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(picture), format="rgb24")
        frame.pts, self._count = self._count, self._count + 1
        self._container.mux(self._stream.encode(frame))

    def __enter__(self) -> Reel:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if kind is None:
            self._container.mux(self._stream.encode())
        self._container.close()
        if kind is None and self._count:
            self._part.replace(self._path)
        self._part.unlink(missing_ok=True)
