"""Reads Arena 3.0's robot and obstacle folders as Agora robots and obstacles."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Xml

import numpy as np

from agora.config import build, load
from agora.errors import InputError
from agora.maps.furniture import Box, Cylinder, ModelFile
from agora.optics.lidar import Lidar
from agora.robots.model import RobotModel
from agora.yaml_tree import read_text, value_text

_HEIGHT = 1.0  # height of shapes for which no height is given, m


@dataclass(frozen=True)
class Laser:
    """The laser of ``model_params.yaml``: ``angle`` has min, max and increment in rad; ``range`` is in m."""

    num_beams: int
    angle: dict[str, float]
    range: float
    update_rate: float = 10.0


@dataclass(frozen=True)
class Continuous:
    """Velocity limits for translation (along x, or a mapping with x and y) and for turning."""

    linear_range: tuple[float, float] | dict[str, tuple[float, float]]
    angular_range: tuple[float, float]


@dataclass(frozen=True)
class ModelParams:
    """The fields of ``model_params.yaml`` that Agora uses."""

    robot_radius: float
    laser: Laser
    continuous: Continuous
    robot_base_frame: str = "base_link"
    robot_sensor_frame: str = "laser"
    is_holonomic: bool = False


def robot_of(folder: Path) -> RobotModel:
    """Return the robot defined by a folder ``entities/robots/<name>``. Accelerations are unlimited, because Arena's file does not
    contain acceleration limits.

    Raises:
        InputError: the file is missing or invalid.
    """
    path = folder / "model_params.yaml"
    values = load(path, dict[str, Any])
    wanted = {key: values[key] for key in ModelParams.__dataclass_fields__ if key in values}
    actions = values.get("actions")
    if isinstance(actions, dict) and "continuous" in actions:
        wanted["continuous"] = actions["continuous"]
    if isinstance(wanted.get("laser"), dict):
        wanted["laser"] = {key: value for key, value in wanted["laser"].items() if key in Laser.__dataclass_fields__}
    params = build(wanted, ModelParams, str(path))
    linear, turn = params.continuous.linear_range, params.continuous.angular_range
    along, sideways = (
        (linear.get("x", (0.0, 0.0)), linear.get("y", (0.0, 0.0))) if isinstance(linear, dict) else (linear, (0.0, 0.0))
    )
    angle = params.laser.angle
    try:
        return RobotModel(
            name=folder.name,
            kinematics="holonomic" if params.is_holonomic else "differential",
            radius=params.robot_radius,
            vx=(min(along[0], 0.0), max(along[1], 0.0)),
            vy=max(map(abs, sideways)) if params.is_holonomic else 0.0,
            omega=max(map(abs, turn)),
            lidar=Lidar(
                beams=params.laser.num_beams,
                angle_min=angle["min"],
                angle_max=angle["max"],
                range_max=params.laser.range,
                rate=params.laser.update_rate,
            ),
            base_frame=params.robot_base_frame,
            sensor_frame=params.robot_sensor_frame,
            source="imported from an Arena installation's model_params.yaml, which has no accelerations",
        )
    except KeyError as error:
        raise InputError(f"{path}: laser.angle.{error.args[0]}: the key is missing") from error
    except ValueError as error:
        raise InputError(f"{path}: {error}") from error


def obstacle_of(folder: Path) -> ModelFile:
    """Return the obstacle defined by a folder ``entities/obstacles/static/<name>``: from its SDF file, or from its flatland file
    with a height of 1 m.

    Raises:
        InputError: neither file consists only of boxes and cylinders, or of polygons that can be replaced by bounding boxes.
    """
    sdf, flatland = (folder / kind / f"{folder.name}.{kind}" for kind in ("sdf", "yaml"))
    reasons = []
    for path, read in ((sdf, _parts_of_sdf), (flatland, _parts_of_flatland)):
        if path.is_file():
            try:
                parts = read(path)
                boxes, cylinders = (tuple(p for p in parts if isinstance(p, kind)) for kind in (Box, Cylinder))
                return ModelFile(folder.name, boxes, cylinders, f"{path.name} of an Arena installation")  # type: ignore[arg-type]
            except InputError as error:
                reasons.append(str(error).splitlines()[0])
    raise InputError("; ".join(reasons) or f"{folder}: neither sdf/{folder.name}.sdf nor yaml/{folder.name}.yaml")


def _parts_of_sdf(path: Path) -> list[Box | Cylinder]:
    """Return the collision shapes in an SDF file."""
    text = read_text(path)
    if "<!ENTITY" in text:
        raise InputError(f"{path}: expected XML without entities, got entities")
    try:
        root = Xml.fromstring(text)
    except Xml.ParseError as error:
        raise InputError(f"{path}:{error.position[0]}: not valid XML: {error}") from error
    parts: list[Box | Cylinder] = []
    for link in root.iter("link"):
        for collision in link.findall("collision"):
            x, y, z, *_, yaw = (a + b for a, b in zip(_pose(link, path), _pose(collision, path), strict=True))
            size, radius, length = (
                collision.findtext(f"geometry/{key}") for key in ("box/size", "cylinder/radius", "cylinder/length")
            )
            if size is not None:
                length_, width, height = _numbers(size, 3, path)
                c, s = abs(math.cos(yaw)), abs(math.sin(yaw))
                parts.append(Box(x, y, max(z - height / 2, 0.0), c * length_ + s * width, s * length_ + c * width, height))
            elif radius is not None and length is not None:
                (r,), (height,) = _numbers(radius, 1, path), _numbers(length, 1, path)
                parts.append(Cylinder(x, y, max(z - height / 2, 0.0), r, height))
            else:
                raise InputError(f"{path}: collision {collision.get('name')!r} is neither a box nor a cylinder")
    if not parts:
        raise InputError(f"{path}: no link has a collision")
    return parts


def _pose(element: Xml.Element, path: Path) -> list[float]:
    return _numbers(element.findtext("pose") or "0 0 0 0 0 0", 6, path)


def _numbers(text: str, count: int, path: Path) -> list[float]:
    try:
        values = [float(word) for word in text.split()]
    except ValueError:
        values = []
    if len(values) != count or not all(map(math.isfinite, values)):
        raise InputError(f"{path}: expected {count} numbers, got {text.strip()!r}")
    return values


@dataclass(frozen=True)
class Footprint:
    """A circle or a polygon of a flatland body."""

    type: str
    radius: float = 0.0
    center: tuple[float, float] = (0.0, 0.0)
    points: tuple[tuple[float, float], ...] = ()


def _parts_of_flatland(path: Path) -> list[Box | Cylinder]:
    """Return the footprints in a flatland file; each polygon is replaced by its axis-aligned bounding box."""
    bodies = load(path, dict[str, Any]).get("bodies")
    parts: list[Box | Cylinder] = []
    for body in bodies if isinstance(bodies, list) else ():
        footprints = body.get("footprints") if isinstance(body, dict) else None
        if not isinstance(footprints, list | None):
            raise InputError(f"{path}: footprints: expected a list, got {value_text(footprints)}")
        for given in footprints or ():
            known = (
                {key: value for key, value in given.items() if key in Footprint.__dataclass_fields__}
                if isinstance(given, dict)
                else given
            )
            footprint = build(known, Footprint, str(path))
            if footprint.type == "circle" and footprint.radius > 0:
                parts.append(Cylinder(*footprint.center, 0.0, footprint.radius, _HEIGHT))
            elif footprint.type == "polygon" and len(footprint.points) >= 3:
                points = np.array(footprint.points)
                (x0, y0), (x1, y1) = points.min(axis=0).tolist(), points.max(axis=0).tolist()
                parts.append(Box((x0 + x1) / 2, (y0 + y1) / 2, 0.0, x1 - x0, y1 - y0, _HEIGHT))
            else:
                raise InputError(f"{path}: a footprint is neither a circle nor a polygon")
    if not parts:
        raise InputError(f"{path}: no body has a footprint")
    return parts
