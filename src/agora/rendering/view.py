"""Renders a scene as seen by a camera: colour, depth, and the class of each pixel."""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from agora.core.jit import hidden, kernel
from agora.core.state import Array, Bools, Doubles, Ints
from agora.optics.camera import Camera
from agora.rendering import context
from agora.rendering.gait import Frames
from agora.rendering.scene import CLASSES, SCREEN, Scene, mujoco
from agora.rendering.shapes import PARTS, Looks

__all__ = ["View"]

NEAR, FAR = 0.05, 60.0
"""Minimum and maximum distance from the camera at which objects are drawn, m."""

_HORIZON, _ZENITH = (214.0, 224.0, 233.0), (132.0, 168.0, 205.0)
_SHOWN, _HIDDEN = 0, 1  # groups of geoms that are drawn and not drawn
_FACE = 70.0  # px, minimum height of a person whose face is drawn
_FINE = 110.0  # px, minimum height of a person drawn with fine meshes
_SHADOW = len(PARTS)
_SHADOW_HEIGHT = 0.002  # m
_REACH, _WIDE = 1.25, 0.95  # m, from a person's centre to the farthest body part, and to the farthest part sideways
_LEAF = 2.2  # m, height of the leaves of a door


@dataclass(frozen=True)
class Eye:
    """A camera at its position in the world.

    Attributes:
        camera: focal lengths and principal point; its pose on the robot is not used.
        width: width of the image, px.
        height: height of the image, px.
        place: (3,) position in the map frame, m.
        turn: (3, 3) rotation from the optical frame (x to the right, y down, z ahead) to the map frame.
    """

    camera: Camera
    width: int
    height: int
    place: Doubles
    turn: Doubles

    @staticmethod
    def on(camera: Camera, width: int, height: int, pose: Array) -> Eye:
        """Return a camera on a robot at a pose (3,), m and rad; if the pose is zero, the camera's own pose is in the map frame."""
        x, y, heading = (float(v) for v in pose)
        c, s = math.cos(heading), math.sin(heading)
        base = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        place = base @ (camera.x, camera.y, camera.z) + (x, y, 0.0)
        return Eye(camera, width, height, place, base @ camera.rotation())

    def misses(self, middle: Doubles, radius: Doubles) -> Bools:
        """Return which spheres (K,), given by centre (K, 3) and radius (K,), m, are outside the image; False for NaN values."""
        own, optics = (middle - self.place) @ self.turn, self.camera
        outside = own[:, 2] < -radius
        edges: tuple[tuple[float, float, float, int], ...] = (
            (1.0, -0.5 - optics.cx, optics.fx, 0),
            (-1.0, self.width - 0.5 - optics.cx, optics.fx, 0),
        )
        edges += ((1.0, -0.5 - optics.cy, optics.fy, 1), (-1.0, self.height - 0.5 - optics.cy, optics.fy, 1))
        for side, pixels, focal, axis in edges:
            slope = pixels / focal
            outside |= side * (own[:, axis] - slope * own[:, 2]) < -radius * math.hypot(1.0, slope)
        return np.asarray(outside)

    def doubled(self) -> Eye:
        """Return a camera with the same view and twice as many rows and columns."""
        optics = self.camera
        twice = {"fx": 2.0 * optics.fx, "fy": 2.0 * optics.fy, "cx": 2.0 * optics.cx + 0.5, "cy": 2.0 * optics.cy + 0.5}
        return replace(self, camera=replace(optics, **twice), width=2 * self.width, height=2 * self.height)


class View:
    """A scene for rendering in one thread.

    Args:
        scene: scene to draw.
    """

    def __init__(self, scene: Scene) -> None:
        mj = self._mj = mujoco()
        context.current()
        self.scene = scene
        self._model = copy.copy(scene.model)
        self._data = mj.MjData(self._model)
        mj.mj_kinematics(self._model, self._data)
        mj.mj_camlight(self._model, self._data)
        self._drawn = mj.MjvScene(self._model, maxgeom=self._model.ngeom + 8)
        self._drawn.flags[mj.mjtRndFlag.mjRND_SHADOW] = False
        self._drawn.flags[mj.mjtRndFlag.mjRND_REFLECTION] = False
        self._drawn.flags[mj.mjtRndFlag.mjRND_SKYBOX] = False
        self._options, self._free = mj.MjvOption(), mj.MjvCamera()
        self._options.geomgroup[:] = 0
        self._options.geomgroup[_SHOWN] = 1
        self._gl = mj.MjrContext(self._model, mj.mjtFontScale.mjFONTSCALE_50)
        mj.mjr_setBuffer(mj.mjtFramebuffer.mjFB_OFFSCREEN, self._gl)
        self._gl.readDepthMap = mj.mjtDepthMap.mjDEPTH_ZEROFAR
        self._size = (self._gl.offWidth, self._gl.offHeight)
        self._shown = np.ones(self._model.ngeom, np.bool_)
        self._people = slice(scene.people, scene.people + scene.slots * (len(PARTS) + 1))
        self._looks: Looks | None = None
        self._leaves_shown = False
        self._there = np.zeros((scene.slots, len(PARTS) + 1), np.bool_)
        self._place: Doubles = np.zeros((scene.slots, len(PARTS) + 1, 3))
        self._turn: Doubles = np.zeros((scene.slots, len(PARTS) + 1, 3, 3))
        self._turn[:, _SHADOW] = np.diag([0.27, 0.27, _SHADOW_HEIGHT])

    def dress(self, looks: Looks) -> None:
        """Set the appearance of the people in all slots."""
        if self._looks is looks:
            return
        self._looks = looks
        scene, people = self.scene, self._people
        shape = (scene.slots, len(PARTS) + 1)
        mesh, colour = np.zeros(shape, np.int32), np.ones((*shape, 4))
        mesh[:, :_SHADOW], colour[:, :_SHADOW, :3] = looks.mesh, looks.colour
        mesh[:, _SHADOW], colour[:, _SHADOW] = len(scene.names), (0.0, 0.0, 0.0, 0.28)
        self._model.geom_rgba[people] = colour.reshape(-1, 4)
        self._mesh, self._far = mesh, mesh + np.append(np.full(_SHADOW, len(scene.names) // 2, np.int32), 0)

    def close(self) -> None:
        """Release the OpenGL resources."""
        context.current()
        self._gl.free()

    def pose(self, people: Frames, there: Array, robots: Array, active: Array, door: float = 1.0) -> None:
        """Set the poses of everything in the scene.

        Args:
            people: poses of the body parts of the people in all slots.
            there: (slots,) whether the person is in the world.
            robots: (R, 3) poses of the robots, m and rad.
            active: (R,) whether the robot is in the world.
            door: fraction to which the map's door is open.
        """
        scene, data = self.scene, self._data
        self._place[:, :_SHADOW], self._turn[:, :_SHADOW] = people.place, people.turn
        self._place[:, _SHADOW, :2] = people.place[:, 0, :2]
        self._there[:, :_SHADOW], self._there[:, _SHADOW] = people.shown & there[:, None], there
        self._active = active.copy()
        self._open(door)
        for (first, last), (x, y, heading) in zip(scene.robots, robots, strict=True):
            c, s = math.cos(heading), math.sin(heading)
            base = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
            mesh = self._model.geom_dataid[first:last]
            data.geom_xpos[first:last] = scene.offset[0][mesh] @ base.T + (x, y, 0.0)
            data.geom_xmat[first:last] = (base @ scene.offset[1][mesh]).reshape(-1, 9)

    def _open(self, share: float) -> None:
        """Set the poses of the leaves of the map's door."""
        scene, door = self.scene, self.scene.door
        if door is None:
            return
        leaves = door.leaves(share)
        self._leaves_shown = bool(leaves)
        for number, leaf in enumerate(leaves, scene.leaves):
            along, across, mesh = 0.5 * (leaf[1] - leaf[0]), 0.5 * (leaf[3] - leaf[0]), self._model.geom_dataid[number]
            turn = np.array([[along[0], across[0], 0.0], [along[1], across[1], 0.0], [0.0, 0.0, 0.5 * _LEAF]])
            self._data.geom_xpos[number] = (*leaf.mean(axis=0), 0.5 * _LEAF) + turn @ scene.offset[0][mesh]
            self._data.geom_xmat[number] = (turn @ scene.offset[1][mesh]).ravel()

    def look(self, eye: Eye, hidden: int = -1) -> None:
        """Prepare the scene for rendering with a camera; the robot with the number ``hidden`` is not drawn."""
        mj, scene = self._mj, self.scene
        self._shown[:] = ~eye.misses(scene.bounds[:, :3], scene.bounds[:, 3])
        middle = self._place[:, _SHADOW] + (0.0, 0.0, 0.9)
        tall = 1.7 * eye.camera.fy / np.maximum(np.linalg.norm(middle - eye.place, axis=1), 0.1)
        away = eye.misses(middle, np.full(len(middle), _REACH)) | ~self._there.any(axis=1)
        if eye.place[2] < SCREEN:
            _hide(scene.screens, eye.place, middle, _WIDE, away, 0, len(away))
        seen = self._there & ~away[:, None]
        seen[:, PARTS.index("face")] &= tall > _FACE
        self._shown[self._people] = seen.ravel()
        mesh = np.where(tall[:, None] > _FINE, self._mesh, self._far)
        self._model.geom_dataid[self._people] = mesh.ravel()
        place = self._place + np.einsum("spij,spj->spi", self._turn, scene.offset[0][mesh])
        self._data.geom_xpos[self._people] = place.reshape(-1, 3)
        self._data.geom_xmat[self._people] = (self._turn @ scene.offset[1][mesh]).reshape(-1, 9)
        if scene.leaves >= 0:
            self._shown[scene.leaves : scene.leaves + 2] = self._leaves_shown
        for number, (first, last) in enumerate(scene.robots):
            self._shown[first:last] = self._active[number] and number != hidden
        self._model.geom_group[:] = np.where(self._shown, _SHOWN, _HIDDEN)
        mj.mjv_updateScene(self._model, self._data, self._options, None, self._free, mj.mjtCatBit.mjCAT_ALL, self._drawn)
        self._aim(eye)

    def _aim(self, eye: Eye) -> None:
        """Set the rendering camera and the light next to it."""
        optics, half = eye.camera, 0.5
        left, right = (-half - optics.cx) / optics.fx, (eye.width - half - optics.cx) / optics.fx
        top, bottom = (half + optics.cy) / optics.fy, (optics.cy - eye.height + half) / optics.fy
        for one in self._drawn.camera:
            one.pos, one.forward, one.up = eye.place, eye.turn[:, 2], -eye.turn[:, 1]
            one.frustum_near, one.frustum_far = NEAR, FAR
            one.frustum_center, one.frustum_width = 0.5 * (left + right) * NEAR, 0.5 * (right - left) * NEAR
            one.frustum_top, one.frustum_bottom = top * NEAR, bottom * NEAR
        for light in list(self._drawn.lights)[: self._drawn.nlight]:
            if light.headlight:
                light.pos, light.dir = eye.place, eye.turn[:, 2]

    def colours(self, eye: Eye, image: Array | None, depth: Array | None, smooth: bool = False) -> None:
        """Render the scene prepared by `look`.

        If the camera is inside something solid, all outputs are 0.

        Args:
            eye: camera that was passed to `look`.
            image: (rows, columns, 3) uint8, output.
            depth: (rows, columns) float32, output: depth along the optical axis, m; `FAR` where there is nothing. Not available
                with ``smooth``.
            smooth: whether each pixel is the mean of four.
        """
        if self.scene.inside(eye.place):
            for array in (image, depth):
                if array is not None:
                    array[...] = 0
            return
        if smooth and image is not None:
            double = eye.doubled()
            fine = np.empty((eye.height, 2, eye.width, 2, 3), np.uint8)
            self._aim(double)
            self.colours(double, fine.reshape(2 * eye.height, 2 * eye.width, 3), None)
            self._aim(eye)
            image[...] = fine.mean(axis=(1, 3), dtype=np.float32).astype(np.uint8)
            return
        self._draw(eye, False)
        rgb, z = np.empty((eye.height, eye.width, 3), np.uint8), np.empty((eye.height, eye.width), np.float32)
        self._mj.mjr_readPixels(rgb, z, mj_rect(eye), self._gl)
        if image is not None:
            optics = eye.camera
            _develop(rgb, z, optics.fx, optics.fy, optics.cx, optics.cy, *eye.turn[2], image, 0, eye.height)
        if depth is not None:
            _measure(z, depth, 0, eye.height)

    def _draw(self, eye: Eye, labels: bool) -> None:
        mj = self._mj
        context.current()
        if eye.width > self._size[0] or eye.height > self._size[1]:
            self._size = max(eye.width, self._size[0]), max(eye.height, self._size[1])
            mj.mjr_resizeOffscreen(*self._size, self._gl)
        mj.mjr_setBuffer(mj.mjtFramebuffer.mjFB_OFFSCREEN, self._gl)  # the buffer of another view may be bound
        self._drawn.flags[mj.mjtRndFlag.mjRND_SEGMENT] = labels
        self._drawn.flags[mj.mjtRndFlag.mjRND_IDCOLOR] = labels
        mj.mjr_render(mj_rect(eye), self._drawn, self._gl)

    def labels(self, eye: Eye, depth: Array | None = None) -> tuple[Array, Array]:
        """Return what each pixel (rows, columns) shows in the scene prepared by `look`: its index in `CLASSES`, and the slot of the
        person or the number of the robot, -1 elsewhere. A camera inside something solid sees nothing.

        Args:
            eye: camera that was passed to `look`.
            depth: output array for the depth, as in `colours`; None to omit the depth.
        """
        number = self.numbers(eye, depth)
        drawn = np.flatnonzero(self._shown)
        kind = np.concatenate([[0], self.scene.kinds[drawn]]).astype(np.uint8)[number]
        owner = np.concatenate([[-1], self.scene.owner[drawn]]).astype(np.int32)[number]
        return kind, np.where(kind >= CLASSES.index("person"), owner, -1)

    def numbers(self, eye: Eye, depth: Array | None = None) -> Ints:
        """Return a number for the object that each pixel (rows, columns) shows, 0 for nothing; the numbers do not identify objects
        across images.

        Args:
            eye: camera that was passed to `look`.
            depth: output array for the depth, as in `colours`; None to omit the depth.
        """
        size = (eye.height, eye.width)
        if self.scene.inside(eye.place):
            if depth is not None:
                depth[...] = 0.0
            return np.zeros(size, np.int32)
        self._draw(eye, True)
        rgb, z = np.empty((*size, 3), np.uint8), None if depth is None else np.empty(size, np.float32)
        self._mj.mjr_readPixels(rgb, z, mj_rect(eye), self._gl)
        if depth is not None and z is not None:
            _measure(z, depth, 0, eye.height)
        number: Ints = rgb[::-1].astype(np.int32) @ np.array([1, 256, 65536], np.int32)
        number[number > np.count_nonzero(self._shown)] = 0
        return number


def mj_rect(eye: Eye) -> Any:
    """Return the part of the frame buffer that an image occupies."""
    return mujoco().MjrRect(0, 0, eye.width, eye.height)


@hidden
def _meets(screen, x, y, dx, dy):
    """Return whether the segment from (x, y) by (dx, dy) intersects a wall."""
    c, s = screen[2], screen[3]
    px, py = c * (x - screen[0]) + s * (y - screen[1]), c * (y - screen[1]) - s * (x - screen[0])
    vx, vy = c * dx + s * dy, c * dy - s * dx
    low, high = 0.0, 1.0
    for p, v, half in ((px, vx, screen[4]), (py, vy, screen[5])):
        if abs(v) < 1e-12:
            if abs(p) > half:
                return False
            continue
        a, b = (-half - p) / v, (half - p) / v
        low, high = max(low, min(a, b)), min(high, max(a, b))
    return low <= high


@kernel
def _hide(screens, eye, middle, wide, away, first, last):
    """Mark people who are completely behind a single large wall: both edges of the cone that contains a person intersect the wall
    in front of the person.
    """
    for p in range(first, last):
        x, y = middle[p, 0] - eye[0], middle[p, 1] - eye[1]
        far = math.sqrt(x * x + y * y)
        if away[p] or far <= wide + 0.1:
            continue
        free, sine = (far - wide) / far, wide / far
        cosine = math.sqrt(1.0 - sine * sine)
        for k in range(len(screens)):
            left = _meets(screens[k], eye[0], eye[1], free * (cosine * x - sine * y), free * (cosine * y + sine * x))
            if left and _meets(screens[k], eye[0], eye[1], free * (cosine * x + sine * y), free * (cosine * y - sine * x)):
                away[p] = True
                break


@kernel
def _develop(rgb, z, fx, fy, cx, cy, right, down, ahead, image, first, last):
    """Write rows of an image from the OpenGL buffers, whose first row is the lowest; pixels that show nothing get the colour of the
    sky.

    Args:
        rgb: colour buffer.
        z: depth buffer; 0 where there is nothing.
        fx: horizontal focal length, px.
        fy: vertical focal length, px.
        cx: column of the principal point, px.
        cy: row of the principal point, px.
        right: vertical component of the optical frame's x axis (right).
        down: vertical component of the optical frame's y axis (down).
        ahead: vertical component of the optical frame's z axis (ahead).
        image: output array.
    """
    rows, columns = z.shape
    for v in range(first, last):
        for u in range(columns):
            if z[rows - 1 - v, u] > 0.0:
                for k in range(3):
                    image[v, u, k] = rgb[rows - 1 - v, u, k]
                continue
            x, y = (u - cx) / fx, (v - cy) / fy
            up = min(max((right * x + down * y + ahead) / math.sqrt(x * x + y * y + 1.0), 0.0), 1.0)
            for k in range(3):
                image[v, u, k] = np.uint8((1.0 - up) * _HORIZON[k] + up * _ZENITH[k])


@kernel
def _measure(z, depth, first, last):
    """Write rows of depths along the optical axis, m, from the depth buffer, in which 0 is the farthest."""
    rows = len(z)
    c, d = 0.5 * (FAR + NEAR) / (FAR - NEAR) - 0.5, FAR * NEAR / (FAR - NEAR)
    for v in range(first, last):
        for u in range(z.shape[1]):
            depth[v, u] = np.float32(d / (np.float64(z[rows - 1 - v, u]) + c))
