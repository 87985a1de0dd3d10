"""The scene that cameras see: a place, its furniture, robots and people, as a single MuJoCo model.

Nothing is simulated: the world's poses are written to the arrays from which MuJoCo takes the poses of the geoms it draws. Walls and
furniture are joined into one mesh per colour and per square of the floor, because rendering time grows with the number of objects.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from agora.core.state import Array, Doubles, Ints
from agora.extras import missing
from agora.maps.doors import Door
from agora.maps.furniture import STEEL, Box, Colour, Cylinder
from agora.maps.place import Place
from agora.maps.world3d.solids import SolidGroup, solids
from agora.maps.world3d.triangles import mesh as triangles_of
from agora.maps.world3d.triangles import outline_of
from agora.rendering.meshes import Mesh, block, joined, library, loft
from agora.rendering.shapes import PARTS
from agora.robots.body import body
from agora.robots.model import RobotModel

__all__ = ["CLASSES", "Scene"]

CLASSES = ("nothing", "floor", "wall", "furniture", "person", "robot")
"""The classes that a pixel can show; a segmentation contains indices into this tuple."""

_NOTHING, _FLOOR, _WALL, _FURNITURE, _PERSON, _ROBOT = range(len(CLASSES))
_SQUARE = 6.0  # m, side of the floor squares within which walls are joined into one mesh
SCREEN = 2.3
"""Height of walls that hide everyone behind them from lower cameras, m."""
_LARGE, _SCREENS = 0.6, 256  # minimum length of such a wall, m, and maximum number of such walls
_MARGIN = 40.0  # m, margin of floor around the map
_SHADOW = 0.002  # m
_PARTS_OF_A_PERSON = len(PARTS) + 1  # including the shadow


def mujoco() -> Any:
    """Return the ``mujoco`` package.

    Raises:
        InputError: the package is not installed.
    """
    try:
        import mujoco
    except ImportError as error:
        raise missing("cameras need", "mujoco", "mujoco") from error
    return mujoco


@dataclass(frozen=True, eq=False)
class Scene:
    """A compiled place with slots for people and robots.

    Attributes:
        model: the MuJoCo model; rendering threads use copies.
        names: names of the meshes of people, ordered by their numbers.
        kinds: (G,) class of each geom, an index in `CLASSES`.
        owner: (G,) slot of the person, or number of the robot, to which each geom belongs; -1 for neither.
        people: number of the first geom of the first person.
        slots: number of people.
        robots: numbers of each robot's first geom and of the geom after its last.
        offset: translation (meshes, 3) and rotation (meshes, 3, 3) that MuJoCo applied to the vertices of each mesh.
        door: the map's door; None if there is none.
        leaves: number of the first of the two leaves of the map's door; -1 if there is no door.
        solid: solid bodies, which a camera may be inside.
        bounds: (G, 4) centre and radius of each static geom, m; NaN for other geoms.
    """

    model: Any
    names: tuple[str, ...]
    kinds: Ints
    owner: Ints
    people: int
    slots: int
    robots: tuple[tuple[int, int], ...]
    offset: tuple[Doubles, Doubles]
    door: Door | None
    leaves: int
    solid: tuple[SolidGroup, ...]
    bounds: Doubles

    @staticmethod
    def of(place: Place, robots: Sequence[RobotModel] = (), slots: int = 16) -> Scene:
        """Return the scene of a place with some robots and with slots for people.

        Raises:
            InputError: MuJoCo is not installed, or a furniture model is unknown.
        """
        return _Builder(place, slots).built(robots)

    @cached_property
    def _blocks(self) -> list[tuple[Doubles, float, float]]:
        """The outline (V, 2) of each solid part in the map frame, counter-clockwise, and its minimum and maximum z."""
        found = []
        for group in self.solid:
            c, s = math.cos(group.heading), math.sin(group.heading)
            for part in group.parts:
                outline = outline_of(part) @ np.array([[c, s], [-s, c]]) + (group.x, group.y)
                found.append((outline, part.z, part.z + part.height))
        return found

    @cached_property
    def _boxes(self) -> Doubles:
        """The bounds (B, 6) of each solid part: minimum and maximum x, y and z."""
        rows = [[*outline.min(axis=0), *outline.max(axis=0), low, high] for outline, low, high in self._blocks]
        return np.array(rows).reshape(-1, 6)

    @cached_property
    def screens(self) -> Doubles:
        """The large walls (K, 6) that hide people behind them: centre, direction, half length and half width, m."""
        found = []
        for group in self.solid:
            for part in group.parts:
                if isinstance(part, Box) and part.z == 0.0 and part.height >= SCREEN and max(part.length, part.width) >= _LARGE:
                    c, s = math.cos(group.heading), math.sin(group.heading)
                    at = (group.x + c * part.x - s * part.y, group.y + s * part.x + c * part.y)
                    found.append((*at, c, s, 0.5 * part.length, 0.5 * part.width))
        found.sort(key=lambda row: (-max(row[4], row[5]), row))
        return np.array(found[:_SCREENS]).reshape(-1, 6)

    def inside(self, point: ArrayLike) -> bool:
        """Return whether a point (3,) is inside a wall or a piece of furniture."""
        x, y, z = np.asarray(point, float)
        b = self._boxes
        near = (b[:, 0] <= x) & (x <= b[:, 2]) & (b[:, 1] <= y) & (y <= b[:, 3]) & (b[:, 4] <= z) & (z <= b[:, 5])
        return any(_within(self._blocks[k][0], x, y) for k in np.flatnonzero(near))


class _Builder:
    """A scene that is being built."""

    def __init__(self, place: Place, slots: int) -> None:
        self._mujoco, self._place, self._slots = mujoco(), place, slots
        self._spec = self._mujoco.MjSpec()
        self._kinds: list[int] = []
        self._owner: list[int] = []
        self._bounds: list[tuple[float, float, float, float]] = []

    def built(self, robots: Sequence[RobotModel]) -> Scene:
        names = tuple(library())
        for name, mesh in library().items():
            self._mesh(name, mesh, mesh.normals())
        self._look()
        self._floor()
        world = solids(self._place)
        self._still(world.walls, _WALL)
        self._still(world.furniture, _FURNITURE)
        leaves = self._leaves()
        people = len(self._kinds)
        for slot in range(self._slots):
            for part in (*PARTS, "shadow"):
                self._geom(_PERSON if part != "shadow" else _FLOOR, slot, mesh=names[0] if part != "shadow" else "shadow")
        spans = []
        for number, robot in enumerate(robots):
            first = len(self._kinds)
            self._robot(number, robot)
            spans.append((first, len(self._kinds)))
        model = self._spec.compile()
        turn = np.zeros((model.nmesh, 9))
        for k in range(model.nmesh):
            self._mujoco.mju_quat2Mat(turn[k], model.mesh_quat[k])
        return Scene(
            model,
            names,
            np.array(self._kinds, np.int32),
            np.array(self._owner, np.int32),
            people,
            self._slots,
            tuple(spans),
            (model.mesh_pos.copy(), turn.reshape(-1, 3, 3)),
            self._place.map.door,
            leaves,
            world.bodies,
            np.array(self._bounds),
        )

    def _look(self) -> None:
        """Set the lights of the scene, and the material of the floor."""
        spec, mj = self._spec, self._mujoco
        spec.visual.quality.offsamples = spec.visual.quality.shadowsize = 0
        spec.visual.headlight.ambient = [0.42, 0.42, 0.43]
        spec.visual.headlight.diffuse = [0.34, 0.34, 0.33]
        spec.visual.headlight.specular = [0.0, 0.0, 0.0]
        lamp = spec.worldbody.add_light()
        lamp.type, lamp.castshadow = mj.mjtLightType.mjLIGHT_DIRECTIONAL, False
        lamp.dir, lamp.pos = [0.0, 0.0, -1.0], [0.0, 0.0, 20.0]
        lamp.diffuse, lamp.ambient, lamp.specular = [0.36, 0.36, 0.34], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]
        shadow = loft([[0.0, 1.0, 1.0, 0.0, 0.0], [1.0, 0.96, 0.96, 0.0, 0.0]], 16)
        self._mesh("shadow", shadow)
        tiles = spec.add_texture(name="tiles")
        tiles.type, tiles.builtin, tiles.mark = (
            mj.mjtTexture.mjTEXTURE_2D,
            mj.mjtBuiltin.mjBUILTIN_FLAT,
            mj.mjtMark.mjMARK_EDGE,
        )
        tiles.rgb1, tiles.rgb2, tiles.markrgb = [1.0, 1.0, 1.0], [1.0, 1.0, 1.0], [0.86, 0.86, 0.86]
        tiles.width = tiles.height = 128
        floor = spec.add_material(name="floor")
        floor.textures[mj.mjtTextureRole.mjTEXROLE_RGB] = "tiles"
        floor.texuniform, floor.texrepeat = True, [2.0, 2.0]
        floor.specular = floor.shininess = 0.0

    def _floor(self) -> None:
        m = self._place.map
        middle = [2.0 * round((m.origin[k] + 0.5 * m.size[k]) / 2.0) for k in (0, 1)]
        half = [0.5 * m.size[k] + _MARGIN for k in (0, 1)]
        geom = self._geom(_FLOOR, -1)
        geom.type = self._mujoco.mjtGeom.mjGEOM_PLANE
        geom.material = "floor"
        geom.size, geom.pos, geom.rgba = [*half, 1.0], [*middle, 0.0], [0.60, 0.585, 0.56, 1.0]

    def _geom(self, kind: int, owner: int, mesh: str = "", bounds: tuple[float, float, float, float] | None = None) -> Any:
        geom = self._spec.worldbody.add_geom()
        geom.contype = geom.conaffinity = 0
        if mesh:
            geom.type, geom.meshname = self._mujoco.mjtGeom.mjGEOM_MESH, mesh
        self._kinds.append(kind)
        self._owner.append(owner)
        self._bounds.append(bounds or (math.nan,) * 4)
        return geom

    def _mesh(self, name: str, mesh: Mesh, normals: Array | None = None) -> None:
        made = self._spec.add_mesh(name=name)
        made.inertia = self._mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL
        made.uservert, made.userface = mesh.corners.ravel().tolist(), mesh.triangles.ravel().tolist()
        if normals is not None:
            made.usernormal = normals.ravel().tolist()

    def _still(self, bodies: Sequence[SolidGroup], kind: int) -> None:
        """Add static bodies, joined by colour and floor square."""
        groups: dict[tuple[Colour, int, int], list[Mesh]] = {}
        for group in bodies:
            c, s = math.cos(group.heading), math.sin(group.heading)
            for part in group.parts:
                corners, _, faces = triangles_of(part)
                at = np.column_stack([c * corners[:, 0] - s * corners[:, 1], s * corners[:, 0] + c * corners[:, 1], corners[:, 2]])
                at += (group.x, group.y, 0.0)
                middle = 0.5 * (at.min(axis=0) + at.max(axis=0))
                square = (int(middle[0] // _SQUARE), int(middle[1] // _SQUARE))
                groups.setdefault((part.colour, *square), []).append(Mesh(at, faces))
        for (colour, *_), meshes in groups.items():
            whole = joined(meshes)
            name = f"{CLASSES[kind]}_{len(self._kinds)}"
            self._mesh(name, whole)
            middle = 0.5 * (whole.corners.min(axis=0) + whole.corners.max(axis=0))
            radius = float(np.linalg.norm(whole.corners - middle, axis=1).max())
            geom = self._geom(kind, -1, name, (*middle.tolist(), radius))
            geom.rgba = [*colour, 1.0]

    def _leaves(self) -> int:
        """Add the leaves of the map's door; return the number of the first leaf, or -1 if there is no door."""
        if self._place.map.door is None:
            return -1
        first = len(self._kinds)
        self._mesh("leaf", block())
        for _ in range(2):
            self._geom(_WALL, -1, "leaf").rgba = [*STEEL, 1.0]
        return first

    def _robot(self, number: int, model: RobotModel) -> None:
        """Add a robot, with its parts joined by colour."""
        groups: dict[Colour, list[Mesh]] = {}
        for part in body(model).parts:
            c, s = math.cos(part.heading), math.sin(part.heading)
            if part.shape == "box":
                own = block().corners * 0.5 * np.array(part.size), block().triangles
            else:
                radius, length = part.size
                own = _cylinder(radius, length)
            corners = own[0]
            if part.roll:
                cr, sr = math.cos(part.roll), math.sin(part.roll)
                corners = corners @ np.array([[1, 0, 0], [0, cr, -sr], [0, sr, cr]]).T
            corners = corners @ np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]).T + (part.x, part.y, part.z)
            groups.setdefault(part.colour, []).append(Mesh(corners, own[1]))
        for colour, meshes in groups.items():
            name = f"robot_{number}_{len(self._kinds)}"
            self._mesh(name, joined(meshes))
            self._geom(_ROBOT, number, name).rgba = [*colour, 1.0]


def _within(outline: Doubles, x: float, y: float) -> bool:
    """Return whether a point is inside a polygon (V, 2), i.e. whether a ray from it crosses an odd number of edges."""
    (ax, ay), (bx, by) = outline.T, np.roll(outline, -1, axis=0).T
    crosses = (ay > y) != (by > y)
    at = ax + (y - ay) / np.where(by == ay, 1.0, by - ay) * (bx - ax)
    return bool((crosses & (at > x)).sum() % 2)


def _cylinder(radius: float, length: float) -> tuple[Doubles, Ints]:
    corners, _, faces = triangles_of(Cylinder(0.0, 0.0, -0.5 * length, radius, length))
    return corners, faces
