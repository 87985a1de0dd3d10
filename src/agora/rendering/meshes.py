"""Agora's own meshes, from which people and their objects are composed.

Each mesh is of about unit size in its own frame, and is scaled when it is drawn. Limbs hang down from their upper joint at the
origin to z = -1.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from agora.core.state import Doubles, Ints

__all__ = ["Mesh"]

_AROUND = 10  # number of corners of a ring
_SPOKES = 6


class Mesh(NamedTuple):
    """A triangle mesh.

    Attributes:
        corners: (V, 3) positions of the vertices.
        triangles: (T, 3) indices of vertices, counter-clockwise when seen from outside.
    """

    corners: Doubles
    triangles: Ints

    def moved(self, at: ArrayLike = (0.0, 0.0, 0.0), size: ArrayLike = (1.0, 1.0, 1.0), pitch: float = 0.0) -> Mesh:
        """Return the mesh scaled, then rotated about y, then translated."""
        c, s = math.cos(pitch), math.sin(pitch)
        turn = np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])
        return Mesh(self.corners * np.asarray(size, float) @ turn.T + np.asarray(at, float), self.triangles)

    def normals(self) -> Doubles:
        """Return the outward normal at each vertex (V, 3): the area-weighted mean of the normals of its triangles."""
        a, b, c = (self.corners[self.triangles[:, k]] for k in range(3))
        faces, found = np.cross(b - a, c - a), np.zeros_like(self.corners)
        for k in range(3):
            np.add.at(found, self.triangles[:, k], faces)
        return np.asarray(found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-12))


def joined(meshes: Sequence[Mesh]) -> Mesh:
    """Return several meshes joined into one."""
    starts = np.cumsum([0, *(len(mesh.corners) for mesh in meshes)])
    triangles = [mesh.triangles + start for mesh, start in zip(meshes, starts, strict=False)]
    return Mesh(np.vstack([mesh.corners for mesh in meshes]), np.vstack(triangles).astype(np.int32))


def loft(rings: ArrayLike, around: int = _AROUND, square: float = 2.0, fine: bool = True) -> Mesh:
    """Return the surface over a stack of rings, closed by a point at the bottom and at the top.

    Args:
        rings: (K, 5) height, half length along x, half width along y, and centre x and y of each ring, from the bottom up.
        around: number of corners of each ring.
        square: exponent of the superellipses; larger values are squarer.
        fine: whether all rings and corners are used; otherwise, about half of each.
    """
    table = np.asarray(rings, float)
    if not fine:
        around = max(4, around // 2)
        table = np.vstack([table[:1], table[1:-1][:: 2 if len(table) > 5 else 1], table[-1:]])
    turn = 2.0 * math.pi * np.arange(around) / around
    c, s = (np.sign(f) * np.abs(f) ** (2.0 / square) for f in (np.cos(turn), np.sin(turn)))
    z, a, b, x, y = (table[:, k, None] for k in range(5))
    sides = np.stack([x + a * c, y + b * s, np.broadcast_to(z, (len(table), around))], axis=-1).reshape(-1, 3)
    ends = [[table[k, 3], table[k, 4], table[k, 0]] for k in (0, -1)]
    corners = np.vstack([sides, ends])
    bottom, top, last = len(sides), len(sides) + 1, (len(table) - 1) * around
    triangles = []
    for k in range(around):
        n = (k + 1) % around
        triangles += [(bottom, n, k), (top, last + k, last + n)]
        for row in range(0, last, around):
            triangles += [(row + k, row + n, row + around + k), (row + n, row + around + n, row + around + k)]
    return Mesh(corners, np.array(triangles, np.int32))


def ball(rings: int = 6, around: int = _AROUND) -> Mesh:
    """Return a sphere of radius 1."""
    angle = np.linspace(-0.5 * math.pi, 0.5 * math.pi, rings + 2)[1:-1]
    inner = np.column_stack([np.sin(angle), np.cos(angle), np.cos(angle), 0.0 * angle, 0.0 * angle])
    first, last = np.zeros((1, 5)), np.zeros((1, 5))
    first[0, 0], last[0, 0] = -1.0, 1.0
    first[0, 1:3] = last[0, 1:3] = 1e-3
    return loft(np.vstack([first, inner, last]), around)


def block() -> Mesh:
    """Return a box with sharp edges that extends from -1 to 1 along each axis."""
    corners: list[list[float]] = []
    triangles: list[tuple[int, ...]] = []
    for axis in range(3):
        for side in (-1.0, 1.0):
            start = 4 * (len(corners) // 4)
            for u, v in ((-1, -1), (1, -1), (1, 1), (-1, 1)):
                corner = [0.0, 0.0, 0.0]
                corner[axis], corner[(axis + 1) % 3], corner[(axis + 2) % 3] = side, u, v
                corners.append(corner)
            faces = [(0, 1, 2), (0, 2, 3)] if side > 0 else [(0, 2, 1), (0, 3, 2)]
            triangles += [tuple(start + k for k in face) for face in faces]
    return Mesh(np.array(corners), np.array(triangles, np.int32))


def tube(ends: ArrayLike, radius: float, around: int = 6) -> Mesh:
    """Return a cylindrical bar between two points (2, 3)."""
    first, last = np.asarray(ends, float)
    axis = last - first
    length = float(np.linalg.norm(axis))
    axis /= length
    side = np.cross(axis, [0.0, 0.0, 1.0] if abs(axis[2]) < 0.9 else [1.0, 0.0, 0.0])
    side /= np.linalg.norm(side)
    bar = loft([[0.0, radius, radius, 0.0, 0.0], [length, radius, radius, 0.0, 0.0]], around)
    return Mesh(bar.corners @ np.stack([side, np.cross(axis, side), axis]) + first, bar.triangles)


def ring(radius: float, thick: float, around: int = 20, section: int = 5) -> Mesh:
    """Return a tyre (torus) about the y axis."""
    turn, small = (2.0 * math.pi * np.arange(n) / n for n in (around, section))
    reach = radius + thick * np.cos(small)
    corners = np.stack(
        [
            reach * np.cos(turn)[:, None],
            np.broadcast_to(thick * np.sin(small), (around, section)),
            reach * np.sin(turn)[:, None],
        ],
        axis=-1,
    ).reshape(-1, 3)
    triangles = []
    for i in range(around):
        for j in range(section):
            a, b = i * section + j, i * section + (j + 1) % section
            c, d = ((i + 1) % around) * section + j, ((i + 1) % around) * section + (j + 1) % section
            triangles += [(a, b, c), (b, d, c)]
    return Mesh(corners, np.array(triangles, np.int32))


@functools.cache
def library() -> Mapping[str, Mesh]:
    """Return all meshes by name: first the fine meshes, then, in the same order, the coarse meshes for people who are far away."""
    coarse = {f"{name}_far": mesh for name, mesh in _meshes(False).items()}
    return {**_meshes(True), **coarse}


def _meshes(fine: bool) -> dict[str, Mesh]:
    return {
        "pelvis": _pelvis(fine),
        "torso": _torso(1.0, 0.82, fine),
        "torso_slim": _torso(0.88, 0.70, fine),
        "head": _head(fine),
        "face": _face(),
        "hair": _hair(fine),
        "hair_long": joined([_hair(fine), _mane(fine)]),
        "hair_bun": joined([_hair(fine), ball(4 if fine else 2, 8 if fine else 5).moved((-0.46, 0.0, 0.66), (0.15, 0.15, 0.15))]),
        "cap": _cap(fine),
        "upper_arm": _limb([(0.0, 1.0), (0.12, 1.08), (0.45, 0.95), (1.0, 0.78)], fine),
        "forearm": _limb([(0.0, 1.0), (0.25, 1.06), (0.6, 0.85), (1.0, 0.62)], fine),
        "hand": _hand(fine),
        "thigh": _limb([(0.0, 1.0), (0.15, 1.12), (0.5, 0.98), (1.0, 0.74)], fine),
        "shank": _shank(fine),
        "foot": _foot(fine),
        "skirt": loft([[-1.0, 1.25, 1.12, 0.0, 0.0], [-0.45, 1.05, 1.02, 0.0, 0.0], [0.1, 0.78, 0.92, 0.0, 0.0]], 10, 2.0, fine),
        "bag": _bag(fine),
        "stick": joined([tube([[0.0, 0.0, -1.0], [0.0, 0.0, 0.0]], 0.016), tube([[-0.05, 0.0, 0.0], [0.09, 0.0, 0.0]], 0.022)]),
        "phone": block().moved(size=(0.005, 0.037, 0.075)),
        "stool": _stool(fine),
        "chair": _chair(fine),
        "wheel": _wheel(fine),
        "post": loft([[0.0, 1.0, 1.0, 0.0, 0.0], [0.97, 1.0, 1.0, 0.0, 0.0], [1.0, 0.95, 0.95, 0.0, 0.0]], 20, 2.0, fine),
    }


def _limb(profile: Sequence[tuple[float, float]], fine: bool) -> Mesh:
    """A limb with round ends, given by a profile of (distance from the upper joint, radius)."""
    rows = [(1.0 + 0.06, 0.45 * profile[-1][1]), *((1.0 + 0.02, 0.85 * profile[-1][1]),), *reversed(profile)]
    rows += [(-0.07, 0.8 * profile[0][1]), (-0.12, 0.4 * profile[0][1])]
    return loft([[-down, radius, radius, 0.0, 0.0] for down, radius in rows], 8, 2.0, fine)


def _shank(fine: bool) -> Mesh:
    rows = [(1.02, 0.5, 0.0), (0.98, 0.60, 0.0), (0.65, 0.68, -0.05), (0.3, 1.05, -0.22), (0.12, 0.98, -0.1), (0.0, 0.95, 0.0)]
    rows += [(-0.06, 0.8, 0.0), (-0.1, 0.4, 0.0)]
    return loft([[-down, radius, 0.95 * radius, back, 0.0] for down, radius, back in rows], 8, 2.0, fine)


def _pelvis(fine: bool) -> Mesh:
    """The pelvis, from the crotch to the waist; a width of 1 is half the hip width."""
    rows = [[-0.42, 0.30, 0.55, 0.0, 0.0], [-0.25, 0.72, 0.92, -0.04, 0.0], [0.05, 0.82, 1.0, -0.08, 0.0]]
    return loft([*rows, [0.5, 0.70, 0.92, -0.02, 0.0], [1.0, 0.60, 0.84, 0.0, 0.0], [1.12, 0.35, 0.5, 0.0, 0.0]], 12, 2.0, fine)


def _torso(shoulders: float, waist: float, fine: bool) -> Mesh:
    """The torso, from the waist to the neck, z from 0 to 1; a width of 1 is half the shoulder width."""
    rows = [
        [-0.20, 0.44, 0.62 * waist, -0.02, 0.0],
        [-0.17, 0.66, 0.97 * waist, -0.02, 0.0],
        [-0.02, 0.63, 0.97 * waist, 0.0, 0.0],
        [0.22, 0.62, waist, 0.02, 0.0],
        [0.50, 0.74, 0.90 * shoulders, 0.06, 0.0],
        [0.70, 0.74, 0.99 * shoulders, 0.03, 0.0],
        [0.84, 0.60, 0.98 * shoulders, -0.04, 0.0],
        [0.93, 0.44, 0.72 * shoulders, -0.06, 0.0],
        [0.985, 0.30, 0.36 * shoulders, -0.05, 0.0],
        [1.03, 0.24, 0.26, -0.02, 0.0],
    ]
    return loft(rows, 14, 2.4, fine)


def _head(fine: bool) -> Mesh:
    """Neck, jaw, skull, nose and ears; the neck starts at the origin, and the crown is at z = 1."""
    rows = [
        [-0.12, 0.22, 0.24, -0.06, 0.0],
        [0.10, 0.21, 0.21, -0.03, 0.0],
        [0.19, 0.22, 0.21, 0.0, 0.0],
        [0.225, 0.26, 0.19, 0.10, 0.0],
        [0.30, 0.335, 0.255, 0.06, 0.0],
        [0.42, 0.365, 0.30, 0.03, 0.0],
        [0.58, 0.385, 0.32, 0.0, 0.0],
        [0.74, 0.39, 0.325, -0.02, 0.0],
        [0.88, 0.31, 0.265, -0.03, 0.0],
        [0.97, 0.17, 0.15, -0.03, 0.0],
        [1.0, 0.05, 0.05, -0.03, 0.0],
    ]
    nose = loft([[0.43, 0.05, 0.055, 0.40, 0.0], [0.47, 0.085, 0.06, 0.405, 0.0], [0.62, 0.03, 0.03, 0.375, 0.0]], 6)
    ears = [ball(3, 6).moved((-0.02, side * 0.325, 0.55), (0.06, 0.03, 0.095)) for side in (-1, 1)]
    return joined([loft(rows, 14), nose, *ears]) if fine else loft(rows, 12, 2.0, False)


def _face() -> Mesh:
    """Eyes, brows and mouth, placed on `_head`."""
    parts = []
    for side in (-1, 1):
        parts.append(ball(3, 6).moved((0.352, side * 0.125, 0.60), (0.022, 0.042, 0.022)))
        parts.append(block().moved((0.36, side * 0.13, 0.665), (0.018, 0.065, 0.011)))
    parts.append(ball(3, 6).moved((0.388, 0.0, 0.355), (0.018, 0.085, 0.014)))
    return joined(parts)


def _hair(fine: bool) -> Mesh:
    """A cap of hair over `_head`, open to the face."""
    rows = [
        [0.42, 0.15, 0.28, -0.28, 0.0],
        [0.55, 0.22, 0.335, -0.215, 0.0],
        [0.70, 0.32, 0.348, -0.12, 0.0],
        [0.80, 0.405, 0.335, -0.035, 0.0],
        [0.90, 0.355, 0.29, -0.03, 0.0],
        [1.0, 0.21, 0.18, -0.03, 0.0],
        [1.035, 0.06, 0.06, -0.03, 0.0],
    ]
    return loft(rows, 12, 2.0, fine)


def _mane(fine: bool) -> Mesh:
    rows = [[-0.10, 0.06, 0.22, -0.30, 0.0], [0.1, 0.12, 0.30, -0.27, 0.0], [0.45, 0.17, 0.345, -0.24, 0.0]]
    return loft([*rows, [0.7, 0.2, 0.34, -0.2, 0.0], [0.78, 0.1, 0.2, -0.18, 0.0]], 10, 2.0, fine)


def _cap(fine: bool) -> Mesh:
    rows = [[0.70, 0.41, 0.345, -0.02, 0.0], [0.82, 0.40, 0.34, -0.02, 0.0], [0.96, 0.30, 0.26, -0.03, 0.0]]
    peak = loft([[0.70, 0.20, 0.25, 0.36, 0.0], [0.725, 0.20, 0.25, 0.36, 0.0]], 10, 2.0, fine)
    return joined([loft([*rows, [1.05, 0.12, 0.1, -0.03, 0.0]], 12, 2.0, fine), peak])


def _hand(fine: bool) -> Mesh:
    """A hand that hangs down with its palm to the left, the fingers slightly bent and the thumb forward."""
    rows = [
        [-1.0, 0.10, 0.08, 0.02, 0.06],
        [-0.92, 0.17, 0.10, 0.01, 0.05],
        [-0.62, 0.21, 0.115, 0.0, 0.0],
        [-0.35, 0.23, 0.13, 0.0, 0.0],
        [-0.1, 0.17, 0.14, 0.0, 0.0],
        [0.06, 0.12, 0.12, 0.0, 0.0],
    ]
    thumb = loft([[-0.62, 0.05, 0.05, 0.25, 0.03], [-0.45, 0.07, 0.065, 0.26, 0.02], [-0.18, 0.07, 0.07, 0.12, 0.0]], 6)
    return joined([loft(rows, 8), thumb]) if fine else loft(rows, 5, 2.0, False)


def _foot(fine: bool) -> Mesh:
    """A shoe, with the sole at z = 0 and the ankle above the origin; a length of 1 is the length of the whole foot."""
    rows = [
        [0.0, 0.47, 0.15, 0.22, 0.0],
        [0.05, 0.50, 0.18, 0.22, 0.0],
        [0.13, 0.49, 0.175, 0.21, 0.0],
        [0.21, 0.40, 0.15, 0.13, 0.0],
        [0.30, 0.24, 0.135, -0.02, 0.0],
        [0.42, 0.15, 0.12, -0.06, 0.0],
        [0.46, 0.10, 0.09, -0.06, 0.0],
    ]
    return loft(rows, 14, 2.6, fine)


def _bag(fine: bool) -> Mesh:
    """A backpack on `_torso`."""
    rows = [[0.18, 0.24, 0.42, -0.95, 0.0], [0.3, 0.34, 0.5, -0.95, 0.0], [0.7, 0.33, 0.5, -0.92, 0.0]]
    pack = loft([*rows, [0.85, 0.2, 0.35, -0.85, 0.0]], 10, 2.0, fine)
    strap = np.array([[0.53, 0.46, 0.40], [0.55, 0.46, 0.70], [0.40, 0.42, 0.93]])
    sides = [strap * (1.0, side, 1.0) for side in (-1.0, 1.0)]
    straps = [tube(side[k : k + 2], 0.07, 4) for side in sides for k in (0, 1)]
    return joined([pack, *straps]) if fine else pack


def _stool(fine: bool) -> Mesh:
    """A stool with a seat of height 1, in the frame of the ground."""
    seat = loft([[0.92, 0.36, 0.36, 0.0, 0.0], [1.0, 0.38, 0.38, 0.0, 0.0]], 12, 2.0, fine)
    feet = [np.array([x, y, 0.0]) for x in (-0.34, 0.34) for y in (-0.34, 0.34)]
    return joined([seat, *(tube([foot, 0.7 * foot + (0.0, 0.0, 0.95)], 0.035, 5 if fine else 3) for foot in feet)])


def _chair(fine: bool) -> Mesh:
    """The frame of a wheelchair, m: seat, back, arms, foot rest and castors."""
    around = 6 if fine else 3
    parts = [
        block().moved((0.02, 0.0, 0.47), (0.22, 0.21, 0.025)),
        block().moved((-0.21, 0.0, 0.72), (0.02, 0.20, 0.22), pitch=-0.1),
        block().moved((0.44, 0.0, 0.10), (0.09, 0.17, 0.012)),
    ]
    for y in (-0.23, 0.23):
        parts += [
            tube([[-0.24, y, 0.42], [-0.28, y, 0.96]], 0.014, around),
            tube([[-0.28, y, 0.95], [-0.40, y, 0.93]], 0.018, around),
            tube([[-0.22, y, 0.66], [0.18, y, 0.66]], 0.02, around),
            tube([[0.18, y, 0.66], [0.22, y, 0.44]], 0.014, around),
            tube([[-0.24, y, 0.44], [0.24, y, 0.44]], 0.014, around),
            tube([[0.24, y, 0.44], [0.40, 0.8 * y, 0.10]], 0.014, around),
            tube([[0.25, y, 0.44], [0.25, y, 0.12]], 0.012, around),
            ring(0.07, 0.018, 10 if fine else 5, 4 if fine else 3).moved((0.25, y, 0.088)),
        ]
    return joined(parts)


def _wheel(fine: bool) -> Mesh:
    """A wheel of radius 1 about y, with its hand rim."""
    spokes = [
        tube([[0.0, 0.0, 0.0], [0.93 * math.cos(a), 0.0, 0.93 * math.sin(a)]], 0.02, 3)
        for a in 2.0 * math.pi * np.arange(_SPOKES) / _SPOKES
    ]
    tyre = ring(0.95, 0.05, 18 if fine else 10, 4 if fine else 3)
    return joined([tyre, ring(0.84, 0.02, 14 if fine else 8, 3).moved((0.0, 0.08, 0.0)), *spokes])
