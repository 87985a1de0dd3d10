"""The body of a robot: simple solids on wheels or legs, from which URDF, SDF and inertia are generated.

Contacts occur at the model's outline, a disc or polygon. No solid part is above the model's height, so the lidar can see over the
body.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from agora.core.state import Doubles
from agora.maps.furniture import BLUE, DARK, STEEL, WHITE, Colour
from agora.robots.model import RobotModel, radius_inside

__all__ = ["body"]

DENSITY = 300.0
"""Density of a robot whose mass is unknown, kg per cubic metre of the cylinder around its outline; about that of the Jackal."""
HOUSING = 0.06
"""Height of the lidar, m; its beams are emitted at half this height."""


@dataclass(frozen=True)
class Part:
    """A box or a cylinder, in the robot's frame, in which z is 0 on the ground.

    Attributes:
        shape: kind of solid; a cylinder's axis is z if ``roll`` is 0, and y if ``roll`` is a quarter turn.
        size: length, width and height of a box, or radius and length of a cylinder, m.
        x: position of the centre, x, m.
        y: position of the centre, y, m.
        z: position of the centre, z, m.
        roll: rotation about the x axis, rad.
        heading: rotation about the z axis, applied after the roll, rad.
        colour: red, green, blue in [0, 1].
        solid: whether the part has mass and takes part in contacts; other parts are only visible.
    """

    shape: Literal["box", "cylinder"]
    size: tuple[float, ...]
    x: float
    y: float
    z: float
    roll: float = 0.0
    heading: float = 0.0
    colour: Colour = STEEL
    solid: bool = True

    @property
    def volume(self) -> float:
        """Volume of the part, m3."""
        if self.shape == "box":
            return math.prod(self.size)
        return math.pi * self.size[0] ** 2 * self.size[1]

    def inertia(self) -> Doubles:
        """Inertia tensor (3, 3) about the centre, along the robot's axes and per unit mass, m2."""
        if self.shape == "box":
            squares = np.square(self.size)
            moments = (squares.sum() - squares) / 12
        else:
            r, length = self.size
            across = (3 * r * r + length * length) / 12
            moments = np.array([across, across, r * r / 2])
        (cr, sr), (ch, sh) = ((math.cos(a), math.sin(a)) for a in (self.roll, self.heading))
        turn: Doubles = np.array([[ch, -sh, 0], [sh, ch, 0], [0, 0, 1]]) @ np.array([[1, 0, 0], [0, cr, -sr], [0, sr, cr]])
        own: Doubles = turn @ np.diag(moments) @ turn.T
        return own


@dataclass(frozen=True)
class Body:
    """The solids and the mass of a robot.

    Attributes:
        parts: solid parts and parts that are only visible.
        mass: mass of the robot, kg, distributed evenly over the volume of the solid parts.
        centre: (3,) centre of mass, m.
        inertia: (3, 3) inertia tensor about the centre of mass, along the robot's axes, kg m2.
        scan_height: height of the lidar's beams above the ground, m.
    """

    parts: tuple[Part, ...]
    mass: float
    centre: Doubles
    inertia: Doubles
    scan_height: float


def body(model: RobotModel) -> Body:
    """Return the body of a robot."""
    height = height_of(model)
    mass = model.mass or DENSITY * math.pi * model.radius**2 * height
    parts = (*_carriage(model, height), *_marks(model, height))
    solid = [part for part in parts if part.solid]
    shares = mass * np.array([part.volume for part in solid]) / sum(part.volume for part in solid)
    places = np.array([(part.x, part.y, part.z) for part in solid])
    centre = shares @ places / mass
    inertia = np.zeros((3, 3))
    for share, part, arm in zip(shares, solid, places - centre, strict=True):
        inertia += share * (part.inertia() + arm @ arm * np.eye(3) - np.outer(arm, arm))
    return Body(parts, mass, centre, inertia, height + HOUSING / 2)


def inner_radius(model: RobotModel) -> float:
    """Return the radius of the disc inside the outline that determines the size of wheels and legs, m. The disc is centred on the
    base or, if the base is outside the outline, on the middle of the outline.
    """
    corners = np.array(model.footprint).reshape(-1, 2)
    return model.inscribed_radius or radius_inside(tuple(map(tuple, corners - corners.mean(0))))


def height_of(model: RobotModel) -> float:
    """Return the height of the robot, m: the model's height or, if it is not given, the model's radius but at most 0.3 m."""
    return model.height or min(model.radius, 0.3)


def _carriage(model: RobotModel, height: float) -> Iterator[Part]:
    """Yield the wheels or legs and the hull above them, from the ground up to ``height``."""
    if model.kinematics == "legged":
        below, thick = 0.55 * height, 0.06 * height
        reach = (0.85 * inner_radius(model) - thick) / math.sqrt(2)
        for x, y in _corners(reach, reach):
            yield Part("cylinder", (thick, below), x, y, below / 2, colour=DARK)
    else:
        r = min(0.28 * height, 0.3 * inner_radius(model))
        below = 2.1 * r
        yield from _wheels(model, r, 0.6 * r)
        yield from _hull(model, 0.5 * r, below, 0.6, DARK)
        if model.kinematics == "differential" and not _box(model):
            for x in (-0.75, 0.75):
                yield Part("cylinder", (0.5 * r, below), x * inner_radius(model), 0.0, below / 2, colour=DARK)
    middle = below + 0.6 * (height - below)
    yield from _hull(model, below, middle, 1.0, STEEL)
    yield from _hull(model, middle, height, 0.85, BLUE)


def _wheels(model: RobotModel, r: float, width: float) -> Iterator[Part]:
    """Yield wheels of radius ``r`` inside the outline: four for a car-like, holonomic or rectangular robot, otherwise two."""
    box, inner = _box(model), inner_radius(model)
    if model.kinematics == "ackermann":
        front = min(model.wheelbase or 0.0, model.radius - 2 * r)
        track = (box[3] if box else math.sqrt(max(inner**2 - r**2, 0.0))) - width / 2
        places = [(x, y) for x in (0.0, front) for y in (-track, track)]
    elif box:
        x0, y0, length, half, _ = box
        places = [(x0 + x, y0 + y) for x, y in _corners(length - 1.2 * r, half - width / 2)]
    elif model.kinematics == "holonomic":
        reach = inner / math.sqrt(2)
        places = _corners(reach - r, reach - width / 2)
    else:
        places = [(0.0, side * (math.sqrt(inner**2 - r**2) - width / 2)) for side in (-1.0, 1.0)]
    for x, y in places:
        yield Part("cylinder", (r, width), x, y, r, roll=math.pi / 2, colour=DARK)


def _corners(x: float, y: float) -> list[tuple[float, float]]:
    return [(x, y), (-x, y), (-x, -y), (x, -y)]


def _box(model: RobotModel) -> tuple[float, float, float, float, float] | None:
    """Return the centre, half length, half width and heading of a rectangular footprint; None for other footprints."""
    if len(model.footprint) != 4:
        return None
    corners = np.array(model.footprint)
    edges = np.roll(corners, -1, axis=0) - corners
    if np.abs((edges * np.roll(edges, -1, axis=0)).sum(1)).max() > 1e-9:
        return None
    x, y = corners.mean(0)
    # the edge along x gives the length
    along, across = (edges[0], edges[1]) if abs(edges[0][0]) >= abs(edges[0][1]) else (edges[1], edges[0])
    heading = math.atan2(along[1], along[0])
    heading -= math.pi * round(heading / math.pi)
    return float(x), float(y), float(np.hypot(*along)) / 2, float(np.hypot(*across)) / 2, heading


def _hull(model: RobotModel, low: float, high: float, scale: float, colour: Colour) -> Iterator[Part]:
    """Yield the hull between two heights, with the outline scaled about the base: a cylinder, a box, or a core with a wall along
    every edge.
    """
    z, tall, box = (low + high) / 2, high - low, _box(model)
    if not model.footprint:
        yield Part("cylinder", (scale * model.radius, tall), 0.0, 0.0, z, colour=colour)
    elif box:
        x, y, length, half, heading = box
        yield Part("box", (2 * scale * length, 2 * scale * half, tall), x, y, z, heading=heading, colour=colour)
    else:
        yield from _walls(scale * np.array(model.footprint), z, tall, colour)
        yield Part("cylinder", (0.98 * scale * inner_radius(model), tall), 0.0, 0.0, z, colour=colour)


def _walls(corners: Doubles, z: float, tall: float, colour: Colour) -> Iterator[Part]:
    """Yield a wall along the inside of every edge of a convex polygon, shortened at acute corners so that it stays inside."""
    edges = np.roll(corners, -1, axis=0) - corners
    lengths = np.hypot(*edges.T)
    thick = 0.1 * float(lengths.min())
    headings = np.arctan2(edges[:, 1], edges[:, 0])
    inside = math.pi - (headings - np.roll(headings, 1)) % (2 * math.pi)  # angle at the first corner of each edge
    cut = np.where(inside < math.pi / 2, thick / np.tan(inside), 0.0)
    for corner, length, heading, first, last in zip(corners, lengths, headings, cut, np.roll(cut, -1), strict=True):
        c, s, way = math.cos(heading), math.sin(heading), float(first + length - last) / 2
        x, y = float(corner[0] + c * way - s * thick / 2), float(corner[1] + s * way + c * thick / 2)
        yield Part("box", (float(length - first - last), thick, tall), x, y, z, heading=float(heading), colour=colour)


def _marks(model: RobotModel, height: float) -> Iterator[Part]:
    """Yield the parts that are only visible: a stripe towards the front, and the lidar."""
    box = _box(model)
    front = 0.85 * (box[0] + box[2] if box else inner_radius(model))
    size = (0.5 * front, 0.25 * inner_radius(model), 0.01)
    yield Part("box", size, front - size[0] / 2, 0.0, height + size[2] / 2, colour=WHITE, solid=False)
    if model.lidar:
        radius = min(0.05, 0.25 * inner_radius(model))
        place = (model.lidar.x, model.lidar.y, height + HOUSING / 2)
        yield Part("cylinder", (radius, HOUSING), *place, colour=DARK, solid=False)
