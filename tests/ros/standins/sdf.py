"""The part of SDF that the stand-ins read."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ElementTree

import numpy as np

from standins.world import Body


def numbers(element: ElementTree.Element | None, count: int) -> np.ndarray:
    """The numbers in an element, zeros where there is none."""
    return np.zeros(count) if element is None else np.array([float(v) for v in element.text.split()])


def add_shape(body: Body, collision: ElementTree.Element) -> None:
    """Add what a collision element occupies on the floor: a box, a cylinder, a sphere or a polyline."""
    x, y, _, _, _, heading = numbers(collision.find("pose"), 6)
    turn = np.array([[math.cos(heading), -math.sin(heading)], [math.sin(heading), math.cos(heading)]])
    radius = collision.findtext("geometry/cylinder/radius") or collision.findtext("geometry/sphere/radius")
    box, corners = collision.find("geometry/box/size"), collision.findall("geometry/polyline/point")
    if radius is not None:
        body.discs.append((x, y, float(radius)))
    elif box is not None:
        length, width, _ = numbers(box, 3)
        outline = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * (length / 2, width / 2)
        body.polygons.append(outline @ turn.T + (x, y))
    elif corners:
        body.polygons.append(np.array([numbers(corner, 2) for corner in corners]) @ turn.T + (x, y))
