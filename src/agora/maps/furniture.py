"""Furniture: simple models of our own, made of boxes and cylinders, which maps, pictures and 3-D worlds are drawn from."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from agora.core.state import Doubles
from agora.errors import UnknownNameError

Colour = tuple[float, float, float]
WOOD, STEEL, CLOTH, LEAF = (0.72, 0.53, 0.34), (0.55, 0.58, 0.62), (0.30, 0.42, 0.55), (0.30, 0.52, 0.28)


@dataclass(frozen=True)
class Box:
    """A box on its bottom face.

    Attributes:
        x, y, z: centre of the bottom face in the model's frame, m.
        length, width, height: along x, y and z, m.
        colour: red, green, blue in [0, 1].
    """

    x: float
    y: float
    z: float
    length: float
    width: float
    height: float
    colour: Colour = WOOD


@dataclass(frozen=True)
class Cylinder:
    """An upright cylinder.

    Attributes:
        x, y, z: centre of the bottom face in the model's frame, m.
        radius, height: m.
        colour: red, green, blue in [0, 1].
    """

    x: float
    y: float
    z: float
    radius: float
    height: float
    colour: Colour = WOOD


@dataclass(frozen=True)
class Spot:
    """Where a pedestrian uses a piece of furniture.

    Attributes:
        x, y, heading: pose of the pedestrian in the model's frame, m and rad.
        use: what it does there.
    """

    x: float
    y: float
    heading: float
    use: Literal["sit", "work", "stand", "queue"]


@dataclass(frozen=True)
class Model:
    """A kind of furniture.

    Attributes:
        name: as scenario files name it.
        parts: what it is made of; all of them are in the way of robots and pedestrians.
        spots: where pedestrians use it.
    """

    name: str
    parts: tuple[Box | Cylinder, ...]
    spots: tuple[Spot, ...] = ()

    @property
    def radius(self) -> float:
        """Radius of the disc about the model's origin that holds it, m."""
        reach = 0.0
        for part in self.parts:
            if isinstance(part, Cylinder):
                reach = max(reach, math.hypot(part.x, part.y) + part.radius)
            else:
                reach = max(reach, math.hypot(abs(part.x) + part.length / 2, abs(part.y) + part.width / 2))
        return reach


@dataclass(frozen=True)
class Furniture:
    """A piece of furniture at its place.

    Attributes:
        model: a name in `MODELS`.
        x, y, heading: pose in the map frame, m and rad.
    """

    model: str
    x: float
    y: float
    heading: float = 0.0

    def polygons(self) -> list[Doubles]:
        """The boxes' outlines (4, 2), counter-clockwise, m."""
        turn = np.array([[math.cos(self.heading), math.sin(self.heading)], [-math.sin(self.heading), math.cos(self.heading)]])
        outlines = []
        for part in model_of(self.model).parts:
            if isinstance(part, Box):
                corners = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * (part.length / 2, part.width / 2) + (part.x, part.y)
                outlines.append(corners @ turn + (self.x, self.y))
        return outlines

    def discs(self) -> Doubles:
        """The cylinders' outlines (K, 3): x, y, radius, m."""
        c, s = math.cos(self.heading), math.sin(self.heading)
        round_parts = [p for p in model_of(self.model).parts if isinstance(p, Cylinder)]
        rows = [(self.x + c * p.x - s * p.y, self.y + s * p.x + c * p.y, p.radius) for p in round_parts]
        return np.array(rows, np.float64).reshape(-1, 3)

    def spots(self) -> list[tuple[Spot, Doubles]]:
        """Where pedestrians use it, with the pose (3,) in the map frame."""
        c, s = math.cos(self.heading), math.sin(self.heading)
        return [
            (spot, np.array([self.x + c * spot.x - s * spot.y, self.y + s * spot.x + c * spot.y, self.heading + spot.heading]))
            for spot in model_of(self.model).spots
        ]


_ALL = (
    Model("chair", (Box(0.0, 0.0, 0.0, 0.45, 0.45, 0.9),), (Spot(0.0, 0.0, 0.0, "sit"),)),
    Model("table", (Cylinder(0.0, 0.0, 0.0, 0.5, 0.75),)),
    Model("shelf", (Box(0.0, 0.0, 0.0, 1.8, 0.5, 2.0, STEEL),), (Spot(0.0, 0.6, -math.pi / 2, "stand"),)),
    Model("tree", (Cylinder(0.0, 0.0, 0.0, 0.25, 3.0, LEAF),)),
)

MODELS = {model.name: model for model in _ALL}
"""Every model by name. The names of Arena's obstacles are among them; the shapes are our own."""


def model_of(name: str) -> Model:
    """Return the model of a name.

    Raises:
        UnknownNameError: no such model.
    """
    if name not in MODELS:
        raise UnknownNameError("furniture model", name, MODELS)
    return MODELS[name]
