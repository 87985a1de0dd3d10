"""MuJoCo XML (MJCF): static bodies on a floor; prisms are convex meshes whose corners are stored in the file."""

from __future__ import annotations

import math
from xml.etree import ElementTree as Xml

import numpy as np

from agora.core.state import Doubles
from agora.maps.furniture import Box, Colour
from agora.maps.world3d.solids import FLOOR, Prism, SolidGroup, Solids
from agora.maps.world3d.triangles import triangulate

_FLAT = 1e-9  # m2


def mjcf(world: Solids) -> str:
    """Return the text of a model file."""
    x0, y0, x1, y1 = world.bounds
    middle, reach = ((x0 + x1) / 2, (y0 + y1) / 2), math.hypot(x1 - x0, y1 - y0) / 2
    root = Xml.Element("mujoco", model=world.name)
    Xml.SubElement(root, "compiler", angle="radian")
    Xml.SubElement(root, "statistic", center=_text(*middle, 0.0), extent=_text(reach))
    visual = Xml.SubElement(root, "visual")
    Xml.SubElement(visual, "global", offwidth="1920", offheight="1080")
    Xml.SubElement(visual, "map", znear="0.005", zfar="10")
    Xml.SubElement(visual, "headlight", ambient="0.45 0.45 0.45", diffuse="0.35 0.35 0.35", specular="0 0 0")
    assets, place = Xml.SubElement(root, "asset"), Xml.SubElement(root, "worldbody")
    Xml.SubElement(
        place, "light", type="directional", pos=_text(*middle, 20.0), dir="-0.5 0.3 -0.9", diffuse="0.4 0.4 0.4", castshadow="false"
    )
    at, size = _text(*middle, 0.0), _text((x1 - x0) / 2, (y1 - y0) / 2, 0.1)
    Xml.SubElement(place, "geom", name="floor", type="plane", pos=at, size=size, rgba=_rgba(FLOOR))
    for body in world.bodies:
        _body(place, assets, body)
    Xml.indent(root)
    return Xml.tostring(root, encoding="unicode") + "\n"


def _body(place: Xml.Element, assets: Xml.Element, body: SolidGroup) -> None:
    holder = Xml.SubElement(place, "body", name=body.name, pos=_text(body.x, body.y, 0.0), euler=_text(0.0, 0.0, body.heading))
    for k, part in enumerate(body.parts):
        name, colour = f"{body.name}_{k}", _rgba(part.colour)
        if isinstance(part, Prism):
            for j, piece in enumerate(_convex(part.outline)):
                corners = np.vstack([np.column_stack([piece, np.full(len(piece), z)]) for z in (part.z, part.z + part.height)])
                mesh = f"{name}_{j}"
                Xml.SubElement(assets, "mesh", name=mesh, vertex=_text(*corners.ravel().tolist()))
                Xml.SubElement(holder, "geom", name=mesh, type="mesh", mesh=mesh, rgba=colour)
            continue
        half = part.height / 2
        size = (part.length / 2, part.width / 2, half) if isinstance(part, Box) else (part.radius, half)
        kind = "box" if isinstance(part, Box) else "cylinder"
        at = _text(part.x, part.y, part.z + half)
        Xml.SubElement(holder, "geom", name=name, type=kind, size=_text(*size), pos=at, rgba=colour)


def _convex(outline: Doubles) -> list[Doubles]:
    """Return the convex pieces of a counter-clockwise polygon: the polygon itself, or its triangles."""
    before, after = outline - np.roll(outline, 1, axis=0), np.roll(outline, -1, axis=0) - outline
    triangles = outline[triangulate(outline)]
    if (before[:, 0] * after[:, 1] - before[:, 1] * after[:, 0] >= 0).all():
        return [outline]
    sides = triangles[:, 1:] - triangles[:, :1]
    area = sides[:, 0, 0] * sides[:, 1, 1] - sides[:, 0, 1] * sides[:, 1, 0]
    return list(triangles[area > _FLAT])


def _text(*values: float) -> str:
    return " ".join(f"{value:.9g}" for value in values)


def _rgba(colour: Colour) -> str:
    return _text(*colour, 1.0)
