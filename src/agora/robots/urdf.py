"""Robot descriptions as URDF, for robot_state_publisher, RViz and MuJoCo.

Frames: the model's ``base_frame`` on the ground at the base, ``base_link`` at the same place where that has another name, ``body``
with all mass, and the ``sensor_frame`` at the lidar. A prefix (``<robot>/``) is the publisher's business (``tf_prefix``).
"""

from __future__ import annotations

from xml.etree import ElementTree as Xml

from agora.robots.body import Body, Part, body
from agora.robots.model import RobotModel

__all__ = ["urdf"]


def urdf(model: RobotModel) -> str:
    """Return the URDF of a robot; it names no file."""
    built = body(model)
    root = Xml.Element("robot", name=model.name)
    base = model.base_frame
    Xml.SubElement(root, "link", name=base)
    link = Xml.SubElement(root, "link", name="body")
    _inertial(link, built)
    for k, part in enumerate(built.parts):
        for tag in ("visual", "collision") if part.solid else ("visual",):
            holder = Xml.SubElement(link, tag, name=f"part_{k}_{tag}")
            _origin(holder, part.x, part.y, part.z, part.roll, part.heading)
            _geometry(Xml.SubElement(holder, "geometry"), part)
            if tag == "visual":
                material = Xml.SubElement(holder, "material", name=f"colour_{k}")
                Xml.SubElement(material, "color", rgba=_numbers(*part.colour, 1.0))
    _fixed(root, base, "body")
    if base != "base_link":
        Xml.SubElement(root, "link", name="base_link")
        _fixed(root, base, "base_link")
    if model.lidar:
        Xml.SubElement(root, "link", name=model.sensor_frame)
        _fixed(root, base, model.sensor_frame, model.lidar.x, model.lidar.y, built.scan_height, model.lidar.heading)
    Xml.indent(root)
    return '<?xml version="1.0"?>\n' + Xml.tostring(root, encoding="unicode") + "\n"


def _numbers(*values: float) -> str:
    return " ".join(f"{value:.9g}" for value in values)


def _origin(holder: Xml.Element, x: float, y: float, z: float, roll: float = 0.0, heading: float = 0.0) -> None:
    Xml.SubElement(holder, "origin", xyz=_numbers(x, y, z), rpy=_numbers(roll, 0.0, heading))


def _inertial(link: Xml.Element, built: Body) -> None:
    holder = Xml.SubElement(link, "inertial")
    _origin(holder, *built.centre.tolist())
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
    root: Xml.Element, parent: str, child: str, x: float = 0.0, y: float = 0.0, z: float = 0.0, heading: float = 0.0
) -> None:
    joint = Xml.SubElement(root, "joint", name=f"{child}_joint", type="fixed")
    _origin(joint, x, y, z, heading=heading)
    Xml.SubElement(joint, "parent", link=parent)
    Xml.SubElement(joint, "child", link=child)
