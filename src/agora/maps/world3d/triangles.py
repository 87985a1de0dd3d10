"""Solids as triangles: closed surfaces whose normals point outwards."""

from __future__ import annotations

import math

import numpy as np

from agora.core.state import Doubles, Ints
from agora.errors import InputError
from agora.maps.furniture import Box, Cylinder
from agora.maps.world3d.solids import Prism

SIDES = 24
"""Number of corners of the polygon that approximates a circle; the corners lie on the circle."""


def mesh(part: Box | Cylinder | Prism) -> tuple[Doubles, Doubles, Ints]:
    """Return a part's surface: corners (V, 3), unit normals (V, 3), and triangles (T, 3), counter-clockwise as seen from outside.

    Each corner belongs to only one face, so that faces are shaded flat. Coordinates are in the body's frame, with z up, m.

    Raises:
        InputError: the edges of a prism's outline cross.
    """
    outline = outline_of(part)
    count = len(outline)
    following = np.roll(outline, -1, axis=0)
    edges = following - outline
    outward = np.column_stack([edges[:, 1], -edges[:, 0]]) / np.hypot(*edges.T)[:, None]
    low, high = part.z, part.z + part.height
    sides = np.stack([_at(outline, low), _at(following, low), _at(following, high), _at(outline, high)], axis=1).reshape(-1, 3)
    quads = np.arange(0, 4 * count, 4)[:, None, None] + np.array([[0, 1, 2], [0, 2, 3]])
    caps = triangulate(outline)
    corners = np.vstack([sides, _at(outline, high), _at(outline, low)])
    normals = np.vstack(
        [np.repeat(_at(outward, 0.0), 4, axis=0), np.tile([0.0, 0.0, 1.0], (count, 1)), np.tile([0.0, 0.0, -1.0], (count, 1))]
    )
    triangles = np.vstack([quads.reshape(-1, 3), caps + 4 * count, caps[:, ::-1] + 5 * count])
    return corners, normals, triangles.astype(np.int32)


def outline_of(part: Box | Cylinder | Prism) -> Doubles:
    """Return the bottom face (V, 2) of a part in the body's frame, counter-clockwise, m."""
    if isinstance(part, Prism):
        return part.outline
    if isinstance(part, Cylinder):
        angle = np.arange(SIDES) * (math.tau / SIDES)
        return np.asarray(part.radius * np.column_stack([np.cos(angle), np.sin(angle)]) + (part.x, part.y))
    return np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * (part.length / 2, part.width / 2) + (part.x, part.y)


def _at(points: Doubles, z: float) -> Doubles:
    return np.column_stack([points, np.full(len(points), z)])


def triangulate(polygon: Doubles) -> Ints:
    """Return the triangles (V - 2, 3) of a simple counter-clockwise polygon (V, 2), computed by ear clipping (Meisters 1975).

    Raises:
        InputError: the polygon's edges cross.
    """
    wrong = InputError("polygons: the edges of a polygon cross or touch, so it does not bound a solid")
    if _crosses(polygon):
        raise wrong
    left, made = list(range(len(polygon))), []
    while len(left) > 3:
        for k in range(len(left)):
            ear = (left[k - 1], left[k], left[(k + 1) % len(left)])
            if _is_ear(polygon, ear, left):
                break
        else:
            raise wrong
        made.append(ear)
        left.pop(k)
    return np.array([*made, tuple(left)], np.int32)


def _crosses(polygon: Doubles) -> bool:
    """Return whether two edges of a polygon intersect at a point inside both."""
    a, b = polygon, np.roll(polygon, -1, axis=0)
    start = np.array([np.sign(_turn(*edge, a)) for edge in zip(a, b, strict=True)])
    apart = start * np.roll(start, -1, axis=1) < 0
    return bool((apart & apart.T).any())


def _is_ear(polygon: Doubles, ear: tuple[int, int, int], left: list[int]) -> bool:
    """Return whether a corner and its neighbours form a triangle that lies inside the polygon and contains none of the remaining
    corners.
    """
    a, b, c = polygon[list(ear)]
    turn = _turn(a, b, c)
    if turn < 0.0:
        return False
    others = polygon[[k for k in left if k not in ear]]
    others = others[~((others == a) | (others == b) | (others == c)).all(axis=1)]
    if turn == 0.0:
        return True
    inside = (_turn(a, b, others) >= 0) & (_turn(b, c, others) >= 0) & (_turn(c, a, others) >= 0)
    return not inside.any()


def _turn(a: Doubles, b: Doubles, c: Doubles) -> Doubles:
    """Return twice the area of the triangles a, b, c (..., 2); positive if they turn left."""
    return np.asarray((b[0] - a[0]) * (c[..., 1] - a[1]) - (b[1] - a[1]) * (c[..., 0] - a[0]))
