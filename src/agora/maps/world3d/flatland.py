"""Models for Flatland (https://flatland-simulator.readthedocs.io): everything that stands on the floor, as one static body."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from agora.core.state import Doubles
from agora.maps.furniture import Box, Cylinder
from agora.maps.world3d.solids import Prism, SolidGroup
from agora.maps.world3d.triangles import triangulate

__all__ = ["model_yaml"]


def model_yaml(bodies: Iterable[SolidGroup]) -> str:
    """Return the text (JSON, which is valid YAML) of a model in the map frame, made of circles and of convex polygons with 3 or 4
    corners.

    Parts that begin above the floor are omitted, because Flatland is two-dimensional.

    Raises:
        InputError: the edges of a polygon cross.
    """
    footprints = [footprint for body in bodies for footprint in _footprints(body)]
    return json.dumps({"bodies": [{"name": "walls", "type": "static", "color": [0.5, 0.5, 0.5, 1.0], "footprints": footprints}]})


def _footprints(body: SolidGroup) -> Iterator[dict[str, Any]]:
    turn = np.array([[math.cos(body.heading), math.sin(body.heading)], [-math.sin(body.heading), math.cos(body.heading)]])
    for part in body.parts:
        if part.z > 0.0:
            continue
        if isinstance(part, Cylinder):
            centre = np.array([part.x, part.y]) @ turn + (body.x, body.y)
            yield {"type": "circle", "center": centre.tolist(), "radius": part.radius, "density": 0.0}
            continue
        for outline in _convex(part):
            yield {"type": "polygon", "points": (outline @ turn + (body.x, body.y)).tolist(), "density": 0.0}


def _convex(part: Box | Prism) -> list[Doubles]:
    """Return the outlines of a part in its body's frame, each of them convex."""
    if isinstance(part, Box):
        half = (part.length / 2, part.width / 2)
        return [np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * half + (part.x, part.y)]
    return [part.outline[corners] for corners in triangulate(part.outline)]
