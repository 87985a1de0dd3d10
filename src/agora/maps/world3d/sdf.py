"""SDFormat 1.6 worlds for Gazebo 11: ground, sun, one static model for the walls, and one for each piece of furniture."""

from __future__ import annotations

import math
from collections.abc import Iterable
from xml.etree import ElementTree as Xml

from agora.maps.furniture import Box, Colour, Cylinder
from agora.maps.world3d.solids import FLOOR, Prism, SolidGroup, Solids

__all__ = ["model_sdf"]


def sdf(world: Solids) -> str:
    """Return the text of a self-contained world file."""
    root = Xml.Element("sdf", version="1.6")
    place = Xml.SubElement(root, "world", name=world.name)
    physics = Xml.SubElement(place, "physics", name="default", type="ode")
    for key, text in (("max_step_size", "0.001"), ("real_time_factor", "1"), ("real_time_update_rate", "1000")):
        _leaf(physics, key, text)
    scene = Xml.SubElement(place, "scene")
    for key, text in (("ambient", "0.5 0.5 0.5 1"), ("background", "0.8 0.8 0.8 1"), ("shadows", "false")):
        _leaf(scene, key, text)
    _sun(place)
    _ground(place, world.bounds)
    walls = _model(place, "walls", 0.0, 0.0, 0.0)
    for body in world.walls:
        _parts(walls, body, _pose(body))
    for body in world.furniture:
        _parts(_model(place, body.name, body.x, body.y, body.heading), body, (0.0, 0.0, 0.0))
    Xml.indent(root)
    return '<?xml version="1.0"?>\n' + Xml.tostring(root, encoding="unicode") + "\n"


def model_sdf(name: str, bodies: Iterable[SolidGroup]) -> str:
    """Return the text of one static model in the map frame, in the form that ``/gazebo/spawn_sdf_model`` takes."""
    root = Xml.Element("sdf", version="1.6")
    link = _model(root, name, 0.0, 0.0, 0.0)
    for body in bodies:
        _parts(link, body, _pose(body))
    return Xml.tostring(root, encoding="unicode")


def _leaf(parent: Xml.Element, tag: str, *values: float | str) -> Xml.Element:
    leaf = Xml.SubElement(parent, tag)
    leaf.text = " ".join(value if isinstance(value, str) else f"{value:.9g}" for value in values)
    return leaf


def _sun(place: Xml.Element) -> None:
    sun = Xml.SubElement(place, "light", name="sun", type="directional")
    for key, text in (
        ("cast_shadows", "false"),
        ("pose", "0 0 10 0 0 0"),
        ("diffuse", "0.8 0.8 0.8 1"),
        ("specular", "0.2 0.2 0.2 1"),
        ("direction", "-0.5 0.1 -0.9"),
    ):
        _leaf(sun, key, text)


def _ground(place: Xml.Element, bounds: tuple[float, float, float, float]) -> None:
    x0, y0, x1, y1 = bounds
    link = _model(place, "ground_plane", (x0 + x1) / 2, (y0 + y1) / 2, 0.0)
    for tag in ("collision", "visual"):
        holder = Xml.SubElement(link, tag, name=tag)
        plane = Xml.SubElement(Xml.SubElement(holder, "geometry"), "plane")
        _leaf(plane, "normal", "0 0 1")
        _leaf(plane, "size", x1 - x0, y1 - y0)
        if tag == "visual":
            _material(holder, FLOOR)


def _model(place: Xml.Element, name: str, x: float, y: float, heading: float) -> Xml.Element:
    """Add a static model, and return its only link."""
    model = Xml.SubElement(place, "model", name=name)
    _leaf(model, "static", "true")
    _leaf(model, "pose", x, y, 0.0, 0.0, 0.0, heading)
    return Xml.SubElement(model, "link", name="link")


def _pose(body: SolidGroup) -> tuple[float, float, float]:
    return body.x, body.y, body.heading


def _parts(link: Xml.Element, body: SolidGroup, pose: tuple[float, float, float]) -> None:
    """Add a body's parts to a link, given the body's pose in the link's frame."""
    x, y, heading = pose
    c, s = math.cos(heading), math.sin(heading)
    for k, part in enumerate(body.parts):
        px, py = (0.0, 0.0) if isinstance(part, Prism) else (part.x, part.y)
        z = part.z if isinstance(part, Prism) else part.z + part.height / 2
        for tag in ("collision", "visual"):
            holder = Xml.SubElement(link, tag, name=f"{body.name}_{k}_{tag}")
            _leaf(holder, "pose", x + c * px - s * py, y + s * px + c * py, z, 0.0, 0.0, heading)
            _geometry(Xml.SubElement(holder, "geometry"), part)
            if tag == "visual":
                _material(holder, part.colour)


def _geometry(holder: Xml.Element, part: Box | Cylinder | Prism) -> None:
    if isinstance(part, Box):
        _leaf(Xml.SubElement(holder, "box"), "size", part.length, part.width, part.height)
    elif isinstance(part, Cylinder):
        cylinder = Xml.SubElement(holder, "cylinder")
        _leaf(cylinder, "radius", part.radius)
        _leaf(cylinder, "length", part.height)
    else:
        line = Xml.SubElement(holder, "polyline")
        for point in part.outline.tolist():
            _leaf(line, "point", *point)
        _leaf(line, "height", part.height)


def _material(visual: Xml.Element, colour: Colour) -> None:
    material = Xml.SubElement(visual, "material")
    for key in ("ambient", "diffuse"):
        _leaf(material, key, *colour, 1.0)
