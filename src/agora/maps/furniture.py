"""Furniture: Agora's own simple models, made of boxes and cylinders and used in maps, pictures and 3-D worlds."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from agora.config import load
from agora.core.state import Doubles
from agora.errors import UnknownNameError
from agora.ranges import Turns
from agora.share import data_home

__all__ = ["Cylinder", "Furniture", "MODELS", "ORANGE", "model_of"]

Colour = tuple[float, float, float]
WOOD, STEEL, CLOTH, LEAF = (0.72, 0.53, 0.34), (0.55, 0.58, 0.62), (0.30, 0.42, 0.55), (0.30, 0.52, 0.28)
WHITE, DARK, ORANGE, YELLOW = (0.92, 0.92, 0.90), (0.20, 0.21, 0.24), (0.85, 0.45, 0.15), (0.90, 0.72, 0.20)
BLUE = (0.0, 0.45, 0.70)


@dataclass(frozen=True)
class Box:
    """A box that stands on its bottom face.

    Attributes:
        x: centre of the bottom face in the model's frame, x, m.
        y: centre of the bottom face in the model's frame, y, m.
        z: centre of the bottom face in the model's frame, z, m.
        length: size along x, m.
        width: size along y, m.
        height: size along z, m.
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
        x: centre of the bottom face in the model's frame, x, m.
        y: centre of the bottom face in the model's frame, y, m.
        z: centre of the bottom face in the model's frame, z, m.
        radius: radius of the cylinder, m.
        height: height of the cylinder, m.
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
    """A place at which a pedestrian uses a piece of furniture.

    Attributes:
        x: pose of the pedestrian in the model's frame, x, m.
        y: pose of the pedestrian in the model's frame, y, m.
        heading: pose of the pedestrian in the model's frame, heading, rad.
        use: activity of the pedestrian at this place.
    """

    x: float
    y: float
    heading: Turns
    use: Literal["sit", "work", "stand", "queue"]


@dataclass(frozen=True)
class FurnitureModel:
    """A kind of furniture. Models that stand against a wall have their back towards -y and their front towards +y; free-standing
    seats face +x.

    Attributes:
        name: name of the model in scenario files.
        parts: solids of the model. Solids on the floor are obstacles for robots and pedestrians; the other solids do not extend
            beyond the solids on the floor.
        spots: places where pedestrians use the furniture.
    """

    name: str
    parts: tuple[Box | Cylinder, ...]
    spots: tuple[Spot, ...] = ()

    @property
    def radius(self) -> float:
        """Radius of the disc around the model's origin that contains the model, m."""
        reach = 0.0
        for part in self.parts:
            if isinstance(part, Cylinder):
                reach = max(reach, math.hypot(part.x, part.y) + part.radius)
            else:
                reach = max(reach, math.hypot(abs(part.x) + part.length / 2, abs(part.y) + part.width / 2))
        return reach

    @property
    def extent(self) -> tuple[float, float, float, float]:
        """Bounding box of the model along its axes: x0, y0, x1, y1, m."""
        boxes = []
        for part in self.parts:
            a, b = (part.radius, part.radius) if isinstance(part, Cylinder) else (part.length / 2, part.width / 2)
            boxes.append((part.x - a, part.y - b, part.x + a, part.y + b))
        low, high = np.min(boxes, axis=0), np.max(boxes, axis=0)
        return float(low[0]), float(low[1]), float(high[2]), float(high[3])


@dataclass(frozen=True)
class Furniture:
    """A piece of furniture with its pose on a map.

    Attributes:
        model: name of the model in `MODELS`.
        x: pose in the map frame, x, m.
        y: pose in the map frame, y, m.
        heading: pose in the map frame, heading, rad.
    """

    model: str
    x: float
    y: float
    heading: Turns = 0.0

    def polygons(self) -> list[Doubles]:
        """The outlines (4, 2) of the boxes on the floor, counter-clockwise, m."""
        turn = np.array([[math.cos(self.heading), math.sin(self.heading)], [-math.sin(self.heading), math.cos(self.heading)]])
        outlines = []
        for part in model_of(self.model).parts:
            if isinstance(part, Box) and part.z == 0.0:
                corners = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * (part.length / 2, part.width / 2) + (part.x, part.y)
                outlines.append(corners @ turn + (self.x, self.y))
        return outlines

    def discs(self) -> Doubles:
        """The outlines (K, 3) of the cylinders on the floor: x, y, radius, m."""
        c, s = math.cos(self.heading), math.sin(self.heading)
        round_parts = [p for p in model_of(self.model).parts if isinstance(p, Cylinder) and p.z == 0.0]
        rows = [(self.x + c * p.x - s * p.y, self.y + s * p.x + c * p.y, p.radius) for p in round_parts]
        return np.array(rows, np.float64).reshape(-1, 3)

    def spots(self) -> list[tuple[Spot, Doubles]]:
        """Return the spots at which pedestrians use the piece, each with its pose (3,) in the map frame."""
        c, s = math.cos(self.heading), math.sin(self.heading)
        return [
            (spot, np.array([self.x + c * spot.x - s * spot.y, self.y + s * spot.x + c * spot.y, self.heading + spot.heading]))
            for spot in model_of(self.model).spots
        ]


_BACK = -math.pi / 2
"""Heading of a person who stands in front of a piece of furniture and faces it."""

_SIT = Spot(0.0, 0.0, 0.0, "sit")


def _block(
    name: str, length: float, width: float, height: float, colour: Colour, *more: Box | Cylinder, stand: bool = False
) -> FurnitureModel:
    """Return a model made of a box, the parts on it, and a spot in front of it."""
    spots = (Spot(0.0, width / 2 + 0.35, _BACK, "stand"),) if stand else ()
    return FurnitureModel(name, (Box(0.0, 0.0, 0.0, length, width, height, colour), *more), spots)


def _bed(name: str, width: float, length: float, colour: Colour) -> FurnitureModel:
    """Return a bed with its head at -y, and a spot for a person standing next to it."""
    body, side = Box(0.0, 0.0, 0.0, width, length, 0.55, colour), width / 2 + 0.35
    head, pillow = (
        Box(0.0, 0.05 - length / 2, 0.55, width, 0.1, 0.4, WOOD),
        Box(0.0, 0.4 - length / 2, 0.55, 0.7 * width, 0.4, 0.1, WHITE),
    )
    return FurnitureModel(name, (body, head, pillow), (Spot(side, 0.0, math.pi, "stand"), Spot(-side, 0.0, 0.0, "stand")))


def _seats(name: str, length: float, width: float, seats: int, colour: Colour, *more: Box) -> FurnitureModel:
    """Return a seat for ``seats`` people facing +y."""
    places = tuple(Spot(length * ((k + 0.5) / seats - 0.5), 0.05, math.pi / 2, "sit") for k in range(seats))
    return FurnitureModel(name, (Box(0.0, 0.0, 0.0, length, width, 0.45, colour), *more), places)


def _desk(name: str, length: float, width: float) -> FurnitureModel:
    """Return a desk with a screen at its back, and a spot for a person working at it."""
    screen = Box(0.0, -0.25 * width, 0.74, 0.55, 0.06, 0.4, DARK)
    body = Box(0.0, 0.0, 0.0, length, width, 0.74)
    return FurnitureModel(name, (body, screen), (Spot(0.0, width / 2 + 0.35, _BACK, "work"),))


def _jack(name: str, load: float, colour: Colour) -> FurnitureModel:
    """Return a pallet jack with its forks pointing to +x under a load of a given height, its handle at -x, and a spot for the
    person who pulls it.
    """
    body, handle = Box(-0.55, 0.0, 0.0, 0.4, 0.55, 0.6, colour), Box(-0.7, 0.0, 0.6, 0.06, 0.3, 0.65, DARK)
    forks: tuple[Box, ...] = tuple(Box(0.2, y, 0.0, 1.1, 0.16, 0.2, STEEL) for y in (-0.18, 0.18))
    loaded = (Box(0.2, 0.0, 0.0, 1.1, 0.8, 0.15 + load, WOOD),) if load else ()
    return FurnitureModel(name, (body, handle, *forks, *loaded), (Spot(-1.1, 0.0, 0.0, "work"),))


_COUNTER = FurnitureModel(
    "counter",
    (Box(0.0, 0.0, 0.0, 2.0, 0.8, 0.9, STEEL), Box(0.0, 0.3, 0.9, 2.0, 0.06, 0.4, WHITE)),
    (*(Spot(x, 0.8, _BACK, "queue") for x in (-0.6, 0.0, 0.6)), Spot(0.0, -0.75, math.pi / 2, "work")),
)

_ARENA = (
    FurnitureModel("chair", (Box(0.0, 0.0, 0.0, 0.45, 0.45, 0.45), Box(-0.2, 0.0, 0.45, 0.05, 0.45, 0.45)), (_SIT,)),
    _block("cleaner", 0.9, 0.55, 0.5, YELLOW, Box(-0.25, 0.0, 0.5, 0.35, 0.5, 0.5, CLOTH)),
    _block("cuboid", 0.8, 0.8, 0.8, STEEL),
    FurnitureModel("cylinder", (Cylinder(0.0, 0.0, 0.0, 0.25, 1.0, STEEL),)),
    _block("long_shelf", 2.7, 1.0, 3.0, ORANGE, stand=True),
    FurnitureModel(
        "office_chair", (Cylinder(0.0, 0.0, 0.0, 0.3, 0.48, DARK), Box(-0.2, 0.0, 0.48, 0.06, 0.36, 0.5, DARK)), (_SIT,)
    ),
    _desk("office_desk", 1.6, 0.8),
    _block("pallet", 1.2, 0.8, 0.15, WOOD),
    _block("pallet2", 1.2, 1.0, 0.15, WOOD, Box(0.0, 0.0, 0.15, 1.1, 0.9, 0.9, (0.76, 0.62, 0.44))),
    _jack("pallet_jack_1", 0.0, ORANGE),
    _jack("pallet_jack_2", 0.6, YELLOW),
    _jack("pallet_jack_3", 1.2, STEEL),
    FurnitureModel("random", (Box(0.1, 0.0, 0.0, 0.5, 0.4, 0.6, CLOTH), Cylinder(-0.2, 0.1, 0.0, 0.2, 0.9, ORANGE))),
    _block("shelf", 1.8, 0.5, 2.0, STEEL, stand=True),
    FurnitureModel("table", (Cylinder(0.0, 0.0, 0.0, 0.5, 0.75),)),
    FurnitureModel("tree", (Cylinder(0.0, 0.0, 0.0, 0.25, 1.8, WOOD), Cylinder(0.0, 0.0, 1.8, 0.25, 2.2, LEAF))),
)  # fmt: skip

_MORE = (
    _seats("armchair", 0.8, 0.8, 1, CLOTH, Box(0.0, -0.3, 0.45, 0.8, 0.2, 0.4, CLOTH)),
    _block("bathtub", 1.7, 0.75, 0.55, WHITE),
    _bed("bed", 0.9, 2.0, CLOTH),
    _block("bedside_cabinet", 0.45, 0.4, 0.6, WOOD),
    _seats("bench", 1.5, 0.45, 2, WOOD),
    _block("bookcase", 1.0, 0.35, 2.0, WOOD, stand=True),
    _block("cabinet", 0.9, 0.45, 1.2, WOOD, stand=True),
    _block("coffee_table", 1.0, 0.5, 0.45, WOOD),
    _COUNTER,
    _block("curtain", 1.8, 0.06, 2.0, CLOTH),
    _desk("desk", 1.2, 0.6),
    _block("dining_table", 1.4, 0.8, 0.75, WOOD),
    _bed("double_bed", 1.6, 2.0, CLOTH),
    _block("fridge", 0.6, 0.65, 1.9, WHITE, stand=True),
    _bed("hospital_bed", 1.0, 2.1, WHITE),
    _block("kitchen_unit", 1.8, 0.6, 0.9, WHITE, stand=True),
    _block("meeting_table", 2.4, 1.1, 0.75, WOOD),
    FurnitureModel("plant", (Cylinder(0.0, 0.0, 0.0, 0.25, 0.4, WOOD), Cylinder(0.0, 0.0, 0.4, 0.25, 0.9, LEAF))),
    _block("printer", 0.7, 0.6, 1.0, WHITE, stand=True),
    _block("rack", 2.7, 0.6, 3.0, STEEL, stand=True),
    _block("separator", 1.6, 0.06, 1.4, CLOTH),
    _block("shower", 0.9, 0.9, 2.0, WHITE),
    _seats("sofa", 2.0, 0.9, 2, CLOTH, Box(0.0, -0.35, 0.45, 2.0, 0.2, 0.4, CLOTH)),
    _block("stove", 0.6, 0.6, 0.9, DARK, stand=True),
    _seats("toilet", 0.4, 0.7, 1, WHITE, Box(0.0, -0.25, 0.45, 0.4, 0.2, 0.4, WHITE)),
    _block("tv_stand", 1.4, 0.4, 0.5, WOOD, Box(0.0, 0.0, 0.5, 1.2, 0.06, 0.7, DARK)),
    _block("wardrobe", 1.5, 0.6, 2.1, WOOD, stand=True),
    _block("washbasin", 0.6, 0.45, 0.85, WHITE, stand=True),
)  # fmt: skip

MODELS = {model.name: model for model in (*_ARENA, *_MORE)}
"""All models by name. They include the names of Arena's static obstacles; the shapes are our own."""


@dataclass(frozen=True)
class ModelFile:
    """The keys of a file ``obstacles/<name>.yaml`` in the data folder, which defines a user's own model.

    Attributes:
        name: name of the model in scenario files.
        boxes: boxes that the model is made of.
        cylinders: cylinders that the model is made of.
        source: source of the model's dimensions.
    """

    name: str
    boxes: tuple[Box, ...] = ()
    cylinders: tuple[Cylinder, ...] = ()
    source: str = ""

    def __post_init__(self) -> None:
        if not self.boxes and not self.cylinders:
            raise ValueError(f"boxes: expected a box or a cylinder, {self.name!r} has neither")


def model_of(name: str) -> FurnitureModel:
    """Return the model with a given name, from `MODELS` or from a file in the data folder.

    Raises:
        UnknownNameError: there is no such model.
        InputError: the file is invalid.
    """
    if name in MODELS:
        return MODELS[name]
    own = {path.stem: path for path in (data_home() / "obstacles").glob("*.yaml")}
    if name not in own:
        raise UnknownNameError("furniture model", name, [*MODELS, *own])
    return _read(own[name], own[name].stat().st_mtime_ns)


@functools.cache
def _read(path: Path, changed: int) -> FurnitureModel:
    """Return the model in a file; cached until the file changes."""
    file = load(path, ModelFile)
    return FurnitureModel(path.stem, (*file.boxes, *file.cylinders))
