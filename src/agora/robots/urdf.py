"""Robot descriptions as URDF, for robot_state_publisher, RViz and MuJoCo.

Frames: the model's ``base_frame``, on the ground at the base; ``base_link`` at the same place, if the base frame has another name;
``body``, which has all of the mass; the ``sensor_frame`` at the lidar; and ``camera_optical`` at the camera. The publisher adds
prefixes (``<robot>/``), using ``tf_prefix``.
"""

from __future__ import annotations

from collections.abc import Iterable
from xml.etree import ElementTree as Xml

from agora.maps.furniture import BLUE, Colour
from agora.robots.body import Body, Part, body
from agora.robots.model import RobotModel

__all__ = ["OPTICAL", "urdf"]

OPTICAL = "camera_optical"
"""Frame of a camera: z points ahead, x to the right and y down, like the columns and rows of its images."""
_STRAIGHT = (0.0, 0.0, 0.0)


def urdf(model: RobotModel, paint: Colour = BLUE) -> str:
    """Return the URDF of a robot, as text that does not refer to any files.

    Args:
        model: model of the robot.
        paint: colour of the hull: red, green and blue in [0, 1].
    """
    built = body(model)
    root = Xml.Element("robot", name=model.name)
    base = model.base_frame
    Xml.SubElement(root, "link", name=base)
    link = Xml.SubElement(root, "link", name="body")
    _inertial(link, built)
    for k, part in enumerate(built.parts):
        for tag in ("visual", "collision") if part.solid else ("visual",):
            holder = Xml.SubElement(link, tag, name=f"part_{k}_{tag}")
            _origin(holder, (part.x, part.y, part.z), (part.roll, 0.0, part.heading))
            _geometry(Xml.SubElement(holder, "geometry"), part)
            if tag == "visual":
                material = Xml.SubElement(holder, "material", name=f"colour_{k}")
                Xml.SubElement(material, "color", rgba=_numbers(*(paint if part.colour == BLUE else part.colour), 1.0))
    _fixed(root, base, "body")
    if base != "base_link":
        Xml.SubElement(root, "link", name="base_link")
        _fixed(root, base, "base_link")
    if model.lidar:
        Xml.SubElement(root, "link", name=model.sensor_frame)
        place = model.lidar.x, model.lidar.y, built.scan_height
        _fixed(root, base, model.sensor_frame, place, (0.0, 0.0, model.lidar.heading))
    if (camera := model.camera) is not None and not camera.fixed:
        Xml.SubElement(root, "link", name=OPTICAL)
        _fixed(root, base, OPTICAL, (camera.x, camera.y, camera.z), camera.pinhole.optical_angles)
    Xml.indent(root)
    return '<?xml version="1.0"?>\n' + Xml.tostring(root, encoding="unicode") + "\n"


def _numbers(*values: float) -> str:
    return " ".join(f"{value:.9g}" for value in values)


def _origin(holder: Xml.Element, place: Iterable[float], angles: Iterable[float] = _STRAIGHT) -> None:
    Xml.SubElement(holder, "origin", xyz=_numbers(*place), rpy=_numbers(*angles))


def _inertial(link: Xml.Element, built: Body) -> None:
    holder = Xml.SubElement(link, "inertial")
    _origin(holder, built.centre.tolist())
    Xml.SubElement(holder, "mass", value=_numbers(built.mass))
    axes = {"x": 0, "y": 1, "z": 2}
    pairs = ("xx", "xy", "xz", "yy", "yz", "zz")
    Xml.SubElement(holder, "inertia", {f"i{p}": _numbers(built.inertia[axes[p[0]], axes[p[1]]]) for p in pairs})


def _geometry(holder: Xml.Element, part: Part) -> None:
    if part.shape == "box":
        Xml.SubElement(holder, "box", size=_numbers(*part.size))
    else:
        Xml.SubElement(holder, "cylinder", radius=_numbers(part.size[0]), length=_numbers(part.size[1]))


def _fixed(
    root: Xml.Element, parent: str, child: str, place: Iterable[float] = _STRAIGHT, angles: Iterable[float] = _STRAIGHT
) -> None:
    joint = Xml.SubElement(root, "joint", name=f"{child}_joint", type="fixed")
    _origin(joint, place, angles)
    Xml.SubElement(joint, "parent", link=parent)
    Xml.SubElement(joint, "child", link=child)
