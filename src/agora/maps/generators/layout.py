"""Layouts of things on a plan: at walls, in rows, at random."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from agora.core.state import Doubles
from agora.maps.furniture import model_of
from agora.seeds import Stream

Rectangle = tuple[float, float, float, float]
"""x0, y0, x1, y1, m."""

Pose = tuple[float, float, float]
"""x, y and heading, m and rad."""

Set = tuple[tuple[str, float, float, float], ...]
"""Furniture that stands together: model, x, y and heading, in a frame whose y = 0 is the back and whose front is +y."""


def at_wall(box: Rectangle, side: int, along: float) -> Pose:
    """Return the pose of a set with its back at a side of a rectangle, its front inwards.

    Args:
        box: rectangle.
        side: 0 the lower, 1 the right, 2 the upper, 3 the left.
        along: distance of the set's origin from the side's first corner, counter-clockwise, m.
    """
    x0, y0, x1, y1 = box
    x, y = ((x0, y0), (x1, y0), (x1, y1), (x0, y1))[side]
    c, s = ((1, 0), (0, 1), (-1, 0), (0, -1))[side]
    return x + c * along, y + s * along, side * math.pi / 2


def length_of(box: Rectangle, side: int) -> float:
    """Length of a side of a rectangle, m."""
    return box[3] - box[1] if side % 2 else box[2] - box[0]


def row(*models: str, gap: float = 0.0) -> Set:
    """Return a set of models side by side, their backs in a line, centred."""
    extents = [model_of(m).extent for m in models]
    x = -0.5 * (sum(e[2] - e[0] for e in extents) + gap * (len(models) - 1))
    pieces = []
    for model, (x0, y0, x1, _) in zip(models, extents, strict=True):
        pieces.append((model, x - x0, -y0, 0.0))
        x += x1 - x0 + gap
    return tuple(pieces)


def outline(set_: Set, pose: Pose = (0.0, 0.0, 0.0)) -> Rectangle:
    """Return the rectangle about a set at a pose; it and its pieces are turned by quarters."""
    boxes = []
    for model, x, y, heading in set_:
        mine = _moved(model_of(model).extent, (x, y, heading))
        boxes.append(_moved(mine, pose))
    low, high = np.min(boxes, axis=0), np.max(boxes, axis=0)
    return float(low[0]), float(low[1]), float(high[2]), float(high[3])


def _moved(box: Rectangle, pose: Pose) -> Rectangle:
    """A rectangle in the frame of a pose that is turned by quarters."""
    c, s = round(math.cos(pose[2])), round(math.sin(pose[2]))
    xs, ys = (c * box[0] - s * box[1], c * box[2] - s * box[3]), (s * box[0] + c * box[1], s * box[2] + c * box[3])
    return min(xs) + pose[0], min(ys) + pose[1], max(xs) + pose[0], max(ys) + pose[1]


def grown(box: Rectangle, margin: float) -> Rectangle:
    """A rectangle with a margin about it; a negative one shrinks it."""
    return box[0] - margin, box[1] - margin, box[2] + margin, box[3] + margin


def apart(box: Rectangle, others: ArrayLike) -> bool:
    """Return whether a rectangle overlaps none of some others (K, 4)."""
    x0, y0, x1, y1 = np.reshape(np.asarray(others, np.float64), (-1, 4)).T
    slack = 1e-9
    return not bool(((x0 < box[2] - slack) & (box[0] < x1 - slack) & (y0 < box[3] - slack) & (box[1] < y1 - slack)).any())


@dataclass(frozen=True)
class FurnitureRows:
    """The slots of furniture in rows.

    Attributes:
        along: x of the middle of each slot.
        lines: y of the lower side of each row.
        aisles: y from and to of the free strips below, between and above the rows.
        crossings: x from and to of the free strips across the rows.
    """

    along: list[float]
    lines: list[float]
    aisles: list[tuple[float, float]]
    crossings: list[tuple[float, float]]


def slots(box: Rectangle, length: float, depth: float, aisle: float, crossing: float, block: int, stream: Stream) -> FurnitureRows:
    """Divide a rectangle into rows of things side by side, with aisles between rows and across them after every ``block`` things.

    Args:
        box: rectangle.
        length: length of a thing and its place, m.
        depth: depth of a thing and its place, m.
        aisle: smallest width of an aisle between and outside the rows, m.
        crossing: width of an aisle across the rows, m.
        block: number of things between crossings.
        stream: divides the rest of the height.
    """
    x0, y0, x1, y1 = box
    whole = block * length + crossing
    blocks, rest = divmod(x1 - x0 - crossing, whole)
    counts = [block] * int(blocks) + ([n] if (n := int((rest - crossing) / length + 1e-9)) > 0 else [])
    used = sum(n * length + crossing for n in counts) + crossing
    along, crossings, x = [], [], x0 + max(x1 - x0 - used, 0.0) / 2 + crossing
    for n in counts:
        crossings.append((x - crossing, x))
        along += [x + (k + 0.5) * length for k in range(n)]
        x += n * length + crossing
    crossings += [(x - crossing, x)] * bool(counts)
    rows = max(int((y1 - y0 - aisle) / (depth + aisle) + 1e-9), 0)
    shares = np.diff(np.sort(stream.uniform(0.0, 1.0, (rows,))), prepend=0.0) * max(y1 - y0 - aisle - rows * (depth + aisle), 0.0)
    lines, aisles, y = [], [], y0
    for share in shares.tolist():
        lines.append(y + aisle + share)
        aisles.append((y, lines[-1]))
        y = lines[-1] + depth
    return FurnitureRows(along, lines, [*aisles, (y, y1)], crossings)


def capacity(box: Rectangle, half: float) -> tuple[int, int]:
    """Return how many squares next to and above each other fit in a rectangle; no more fit in any other order."""
    columns, rows = (max(int((box[k + 2] - box[k]) / (2 * half) + 1e-9), 0) for k in (0, 1))
    return columns, rows


def scatter(stream: Stream, box: Rectangle, half: float, count: int, misses: int = 100) -> Doubles:
    """Return the centres (count, 2) of squares at random places in a rectangle that do not overlap.

    One is drawn after the other; after ``misses`` draws in a row without room they are set in rows, with the rest of the width and
    height divided at random.

    Args:
        stream: stream of random numbers.
        box: rectangle that holds the squares.
        half: half the edge of a square, m.
        count: number of squares; at most the `capacity`.
        misses: number of draws in a row without room before rows are formed.
    """
    low, high = np.array(box[:2]) + half, np.array(box[2:]) - half
    centres: Doubles = np.empty((count, 2))
    placed = missed = 0
    while placed < count and missed < misses:
        for point in stream.uniform(0.0, 1.0, (32, 2)) * (high - low) + low:
            if placed < count and (np.abs(centres[:placed] - point).max(axis=1, initial=0.0) >= 2 * half).all():
                centres[placed] = point
                placed, missed = placed + 1, 0
            else:
                missed += 1
    if placed == count:
        return centres
    columns, rows = capacity(box, half)
    spare = np.maximum(np.subtract(box[2:], box[:2]) - (2 * half * columns, 2 * half * rows), 0.0)
    x = np.sort(stream.uniform(0.0, spare[0], (rows, columns)), axis=1) + 2 * half * np.arange(columns)
    y = np.sort(stream.uniform(0.0, spare[1], (rows,))) + 2 * half * np.arange(rows)
    every = np.stack([x, np.broadcast_to(y[:, None], x.shape)], axis=-1).reshape(-1, 2) + low
    chosen: Doubles = every[stream.permutation(len(every))[:count]]
    return chosen
