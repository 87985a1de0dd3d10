"""Layouts of objects on a plan: along walls, in rows, at random."""

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
"""Pieces of furniture that stand together: model, x, y and heading, in a frame with the back at y = 0 and the front towards +y."""


def at_wall(box: Rectangle, side: int, along: float) -> Pose:
    """Return the pose of a set of furniture whose back is against a side of a rectangle and whose front faces inwards.

    Args:
        box: rectangle.
        side: number of the side: 0 lower, 1 right, 2 upper, 3 left.
        along: distance from the side's first corner, in counter-clockwise order, to the set's origin, m.
    """
    x0, y0, x1, y1 = box
    x, y = ((x0, y0), (x1, y0), (x1, y1), (x0, y1))[side]
    c, s = ((1, 0), (0, 1), (-1, 0), (0, -1))[side]
    return x + c * along, y + s * along, side * math.pi / 2


def length_of(box: Rectangle, side: int) -> float:
    """Length of a side of a rectangle, m."""
    return box[3] - box[1] if side % 2 else box[2] - box[0]


def row(*models: str, gap: float = 0.0) -> Set:
    """Return a centred set of models, side by side with their backs aligned."""
    extents = [model_of(m).extent for m in models]
    x = -0.5 * (sum(e[2] - e[0] for e in extents) + gap * (len(models) - 1))
    pieces = []
    for model, (x0, y0, x1, _) in zip(models, extents, strict=True):
        pieces.append((model, x - x0, -y0, 0.0))
        x += x1 - x0 + gap
    return tuple(pieces)


def outline(set_: Set, pose: Pose = (0.0, 0.0, 0.0)) -> Rectangle:
    """Return the bounding rectangle of a set at a pose; the set and its pieces must be rotated by multiples of 90 degrees."""
    boxes = []
    for model, x, y, heading in set_:
        mine = _moved(model_of(model).extent, (x, y, heading))
        boxes.append(_moved(mine, pose))
    low, high = np.min(boxes, axis=0), np.max(boxes, axis=0)
    return float(low[0]), float(low[1]), float(high[2]), float(high[3])


def _moved(box: Rectangle, pose: Pose) -> Rectangle:
    """Transform a rectangle from the frame of a pose to the plan's frame; the pose's heading must be a multiple of 90 degrees."""
    c, s = round(math.cos(pose[2])), round(math.sin(pose[2]))
    xs, ys = (c * box[0] - s * box[1], c * box[2] - s * box[3]), (s * box[0] + c * box[1], s * box[2] + c * box[3])
    return min(xs) + pose[0], min(ys) + pose[1], max(xs) + pose[0], max(ys) + pose[1]


def grown(box: Rectangle, margin: float) -> Rectangle:
    """Return a rectangle enlarged by a margin on all sides; a negative margin shrinks it."""
    return box[0] - margin, box[1] - margin, box[2] + margin, box[3] + margin


def apart(box: Rectangle, others: ArrayLike) -> bool:
    """Return whether a rectangle does not overlap any of the rectangles ``others`` (K, 4)."""
    x0, y0, x1, y1 = np.reshape(np.asarray(others, np.float64), (-1, 4)).T
    slack = 1e-9
    return not bool(((x0 < box[2] - slack) & (box[0] < x1 - slack) & (y0 < box[3] - slack) & (box[1] < y1 - slack)).any())


@dataclass(frozen=True)
class FurnitureRows:
    """Slots for furniture arranged in rows.

    Attributes:
        along: x of the centre of each slot in a row.
        lines: y of the lower edge of each row.
        aisles: lower and upper y of each free strip below, between and above the rows.
        crossings: start and end x of each free strip across the rows.
    """

    along: list[float]
    lines: list[float]
    aisles: list[tuple[float, float]]
    crossings: list[tuple[float, float]]


def slots(box: Rectangle, length: float, depth: float, aisle: float, crossing: float, block: int, stream: Stream) -> FurnitureRows:
    """Divide a rectangle into rows of slots for objects, with aisles between the rows, and crossing aisles after every ``block``
    objects.

    Args:
        box: rectangle.
        length: length of an object's slot along the row, m.
        depth: depth of an object's slot, m.
        aisle: minimum width of the aisles between and outside the rows, m.
        crossing: width of an aisle across the rows, m.
        block: number of objects between crossing aisles.
        stream: random stream that divides the remaining height among the aisles.
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
    """Return how many columns and rows of squares with half edge length ``half`` fit in a rectangle; no other arrangement holds
    more squares.
    """
    columns, rows = (max(int((box[k + 2] - box[k]) / (2 * half) + 1e-9), 0) for k in (0, 1))
    return columns, rows


def scatter(stream: Stream, box: Rectangle, half: float, count: int, misses: int = 100) -> Doubles:
    """Return the centres (count, 2) of non-overlapping squares at random places in a rectangle.

    The squares are drawn one after another. After ``misses`` consecutive draws in which a square does not fit, all squares are
    arranged in rows instead, with the remaining width and height divided at random.

    Args:
        stream: stream of random numbers.
        box: rectangle that contains the squares.
        half: half the edge length of a square, m.
        count: number of squares; at most the `capacity`.
        misses: number of consecutive failed draws after which the squares are arranged in rows.
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
