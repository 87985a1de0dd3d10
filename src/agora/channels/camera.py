"""The "camera" channel: colour, depth and segmentation images of what a robot sees, rendered by `agora.rendering`."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, NamedTuple

import numpy as np

from agora.core.state import Array
from agora.errors import InputError
from agora.interfaces import Bound, Channel, Field, Source
from agora.optics.camera import Camera as Pinhole
from agora.ranges import Checked, Distance, Duration, Length, Within
from agora.rendering.noise import NOISES, Noise
from agora.rendering.scene import CLASSES
from agora.rendering.studio import Studio
from agora.rendering.view import FAR, NEAR, Eye

if TYPE_CHECKING:
    from agora.robots.model import RobotModel
    from agora.world.world import World

__all__ = ["Camera"]

Pixels = Annotated[int, Within(1, 4096)]
What = Literal["rgb", "depth", "segmentation"]

_NEVER = -(2**31)


@dataclass(frozen=True)
class Camera(Checked):
    """A camera on a robot, or fixed in the world.

    Attributes:
        what: kinds of images that the camera takes: ``rgb``; ``depth``; ``segmentation``, which adds the ``instance`` field.
        width: width of an image, px.
        height: height of an image, px.
        view: horizontal angle of view, rad; ignored if ``fx`` is given.
        fx: focal length along the rows, px; by default derived from ``view``.
        fy: focal length along the columns, px; by default ``fx``.
        cx: principal point, x, px; by default the centre.
        cy: principal point, y, px; by default the centre.
        x: position on the robot's base, x, m; in the map frame for a fixed camera.
        y: position, y, m.
        z: position, z, m above the ground.
        roll: rotation about x, rad; roll, pitch and yaw are applied in this order, as in URDF.
        pitch: rotation about y, rad; a camera that looks slightly down has a small positive pitch.
        yaw: rotation about z, rad.
        fixed: whether the camera is fixed in the world; otherwise it moves with the robot.
        depth_min: minimum measured depth, m.
        depth_max: maximum measured depth, m. Pixels without a reading are 0.
        noise: noise of the depth: ``none``, ``structured_light`` or ``time_of_flight`` (`agora.rendering.noise`).
        lost: probability that a pixel of a noisy depth image has no reading.
        rate: images per second, at most one per sensor period of the stage; 0 for one image in every period.
        latency: time from exposure until the robot receives the image, s; until the first image arrives, all pixels are 0.
        smooth: whether edges in ``rgb`` are antialiased, with four samples per pixel; rendering takes longer.
    """

    channel: ClassVar[str] = "camera"
    needs: ClassVar[Collection[str | Channel]] = ()

    what: tuple[What, ...] = ("rgb", "depth")
    width: Pixels = 160
    height: Pixels = 120
    view: Annotated[float, Within(0.05, 3.0)] = 1.2
    fx: Length | None = None
    fy: Length | None = None
    cx: float | None = None
    cy: float | None = None
    x: Annotated[float, Within(-1e5, 1e5)] = 0.1
    y: Annotated[float, Within(-1e5, 1e5)] = 0.0
    z: Distance = 0.8
    roll: float = 0.0
    pitch: float = 0.0
    yaw: float = 0.0
    fixed: bool = False
    depth_min: Distance = 0.1
    depth_max: Annotated[float, Within(0.0, FAR, above=True)] = 10.0
    noise: Noise = "none"
    lost: Annotated[float, Within(0.0, 1.0)] = 0.0
    rate: Annotated[float, Within(0.0, 1e4)] = 0.0
    latency: Duration = 0.0
    smooth: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.what:
            raise InputError("camera: what: expected at least one of rgb, depth, segmentation, got none")
        if not self.depth_min < self.depth_max:
            raise InputError(f"camera: depth_min must be below depth_max, got {self.depth_min:g} and {self.depth_max:g}")
        assert self.pinhole  # runs the checks in `Pinhole`

    @cached_property
    def pinhole(self) -> Pinhole:
        """Return the intrinsics and the pose, as `agora.optics.camera` defines them."""
        fx = self.fx or 0.5 * self.width / math.tan(0.5 * self.view)
        fy = self.fy or fx
        cx = 0.5 * (self.width - 1) if self.cx is None else self.cx
        cy = 0.5 * (self.height - 1) if self.cy is None else self.cy
        return Pinhole(fx, fy, cx, cy, self.x, self.y, self.z, self.roll, self.pitch, self.yaw)

    def with_images(self, *what: What) -> Camera:
        """Return a copy of the camera that also takes the given kinds of images."""
        return replace(self, what=tuple(dict.fromkeys((*self.what, *what))))

    @property
    def fields(self) -> Mapping[str, Field]:
        """Return the fields: the images of one robot, with rows from the top and columns from the left."""
        size = (self.height, self.width)
        every = {
            "rgb": {"rgb": Field((*size, 3), low=0, high=255, kind=np.uint8)},
            "depth": {"depth": Field(size, "m", "sensor", low=0.0, high=self.depth_max + 1.0)},
            "segmentation": {
                "segmentation": Field(size, low=0, high=len(CLASSES) - 1, kind=np.uint8),
                "instance": Field(size, low=-1, high=2**31 - 1, kind=np.int32),
            },
        }
        return {name: field for what in every if what in self.what for name, field in every[what].items()}

    def bind(self, source: Source) -> Bound:
        """Return the cameras of a batch, provided by the simulator or by `Cameras`."""
        if self.channel in source.offers:
            return source.offered(self)
        cameras = Cameras(source.world, self, source.room(self.fields))
        read = cameras.show if self.latency else None
        return Bound(cameras.reading, cameras.measure, read, begin=cameras.begin, part=cameras)


class _Image(NamedTuple):
    """The images that a camera took during a step, and the robot's pose (3,) in that step."""

    step: int
    pose: Array
    images: dict[str, Array]


class Cameras:
    """A camera on every robot of a batch.

    Args:
        world: the worlds.
        camera: camera of every robot.
        reading: (W, R, ...) arrays for the camera's images.

    Attributes:
        camera: camera of every robot.
        reading: (W, R, ...) arrays with the camera's images.
        taken: (W, R) physics step of each robot's last image.
        shown: (W, R) physics step at which the image in the reading was taken; negative if there is no image.
        pose: (W, R, 3) pose of the robot at that step, m and rad.
    """

    def __init__(self, world: World, camera: Camera, reading: dict[str, Array]) -> None:
        self._world, self.camera, self.reading = world, camera, reading
        self._studio = Studio(world)
        shape = (world.layout.worlds, world.layout.robots)
        self._period, self._late = (round(time / world.dt) for time in (1.0 / camera.rate if camera.rate else 0.0, camera.latency))
        self.taken, self.shown = (np.full(shape, _NEVER, np.int64) for _ in range(2))
        self.pose = np.zeros((*shape, 3))
        self._held = {name: np.zeros_like(array) for name, array in reading.items()} if self._period or self._late else reading
        self._coming: dict[tuple[int, int], deque[_Image]] = {}
        self._noise = None if camera.noise == "none" else NOISES[camera.noise](camera.lost)

    def begin(self, world: int, robot: int, model: RobotModel) -> None:
        """Reset the state at the start of an episode."""
        self._studio.forget(world)
        self.taken[world, robot] = self.shown[world, robot] = _NEVER
        self._coming[world, robot] = deque()
        for array in (*self.reading.values(), *self._held.values()):
            array[world, robot] = 0

    def measure(self, first: int, last: int) -> None:
        """Take the images that are due in the worlds ``first <= w < last``."""
        for w in range(first, last):
            if self._world.starts[w] is not None:
                self.walk(w)
                self.take(w)
        self.show(first, last)

    def walk(self, w: int) -> None:
        """Move the rendered people in a world to their current positions."""
        self._studio.walk(w)

    def take(self, w: int) -> None:
        """Take the images that are due in a world; the rendered people in the world must be up to date."""
        step, active, view = int(self._world.status.clock.step[w]), self._world.robots.active[w], None
        for r in range(len(active)):
            if step - self.taken[w, r] < self._period:
                continue
            self.taken[w, r], pose = step, self._studio.poses(w)[r]
            images = {name: array[w, r] for name, array in self._held.items()}
            if self._late:
                images = {name: np.zeros_like(array) for name, array in images.items()}
                self._coming.setdefault((w, r), deque()).append(_Image(step, pose, images))
            else:
                self.shown[w, r], self.pose[w, r] = step, pose
            if not active[r]:
                for array in images.values():
                    array[...] = 0
                continue
            view = view or self._studio.view(w)
            self._shoot(view, w, r, step, images)

    def _shoot(self, view: Any, w: int, r: int, step: int, images: dict[str, Array]) -> None:
        """Take the images of one robot."""
        camera = self.camera
        pose = np.zeros(3) if camera.fixed else self._studio.poses(w)[r]
        eye = Eye.on(camera.pinhole, camera.width, camera.height, pose)
        view.look(eye, -1 if camera.fixed else r)
        rgb, depth = images.get("rgb"), images.get("depth")
        if rgb is not None:
            view.colours(eye, rgb, None if camera.smooth else depth, camera.smooth)
        if "segmentation" in images:
            kind, owner = view.labels(eye, depth if rgb is None or camera.smooth else None)
            people, identity = kind == CLASSES.index("person"), self._world.traits.id[w]
            images["segmentation"][...] = kind
            images["instance"][...] = np.where(people, identity[np.where(people, owner, 0)], owner)
        elif depth is not None and (rgb is None or camera.smooth):
            view.colours(eye, None, depth)
        if depth is not None:
            self._read(depth, w, r, step)

    def _read(self, depth: Array, w: int, r: int, step: int) -> None:
        """Convert true depths into readings."""
        camera = self.camera
        depth[(depth < max(camera.depth_min, NEAR)) | (depth > camera.depth_max)] = 0.0
        if self._noise is not None:
            self._noise.disturb(self._world.status.clock.key[w], r, step, depth)
            np.minimum(depth, camera.depth_max + 1.0, out=depth)

    def show(self, first: int, last: int) -> None:
        """Copy the images that have arrived to the readings, in the worlds ``first <= w < last``."""
        for (w, r), coming in self._coming.items():
            while first <= w < last and coming and coming[0].step + self._late <= self._world.status.clock.step[w]:
                come = coming.popleft()
                self.shown[w, r], self.pose[w, r] = come.step, come.pose
                for name, image in come.images.items():
                    self._held[name][w, r] = image
        if self._held is not self.reading:
            for name, array in self._held.items():
                self.reading[name][first:last] = array[first:last]
