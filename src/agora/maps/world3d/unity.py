"""A scene for Unity as JSON: boxes, cylinders, prisms and furniture with poses, in Unity's frame.

Unity is left-handed with y up and z forward. As in Unity's ROS packages, a point (x, y, z) in the map frame becomes (-y, z, x). A
heading in radians, counter-clockwise, becomes a yaw about y in degrees, clockwise as seen from above. Sizes are along the body's
own x, y and z in Unity's frame: right, up, forward.
"""

from __future__ import annotations

import json
import math
from typing import Any

from agora.maps.furniture import Box, Cylinder
from agora.maps.world3d.solids import FLOOR, Prism, SolidGroup, Solids


def unity(world: Solids) -> str:
    """Return the text of a scene with ``floor``, ``walls`` and ``furniture``; the poses of parts are relative to their bodies."""
    x0, y0, x1, y1 = world.bounds
    document = {
        "format": "agora-scene",
        "version": 1,
        "name": world.name,
        "axes": "left-handed, y up, z forward, metres, degrees clockwise about y; (x, y, z) of ROS is (-y, z, x) here",
        "floor": {"position": _at((x0 + x1) / 2, (y0 + y1) / 2, 0.0), "size": [y1 - y0, 0.0, x1 - x0], "colour": list(FLOOR)},
        "walls": [_body(body) for body in world.walls],
        "furniture": [_body(body) for body in world.furniture],
    }
    return json.dumps(document, indent=1, allow_nan=False) + "\n"


def _at(x: float, y: float, z: float) -> list[float]:
    return [-y + 0.0, z, x]


def _body(body: SolidGroup) -> dict[str, Any]:
    pose = {"position": _at(body.x, body.y, 0.0), "yaw": -math.degrees(body.heading) + 0.0}
    model = {} if body.model is None else {"model": body.model}
    return {"name": body.name, **model, **pose, "parts": [_part(part) for part in body.parts]}


def _part(part: Box | Cylinder | Prism) -> dict[str, Any]:
    """Return a part in its body's frame; its position is its centre or, for a prism, its bottom face."""
    colour = {"colour": list(part.colour)}
    if isinstance(part, Prism):
        outline = [[-y + 0.0, x] for x, y in part.outline.tolist()]
        return {"kind": "prism", "position": _at(0.0, 0.0, part.z), "outline": outline, "height": part.height, **colour}
    middle = {"position": _at(part.x, part.y, part.z + part.height / 2)}
    if isinstance(part, Box):
        return {"kind": "box", **middle, "size": [part.width, part.height, part.length], **colour}
    return {"kind": "cylinder", **middle, "radius": part.radius, "height": part.height, **colour}
