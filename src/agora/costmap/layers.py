"""The stack of layers that add costs around pedestrians to costmaps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from agora.core.jit import bind
from agora.core.state import Array, Bools, Floats
from agora.interfaces import CostmapLayer

if TYPE_CHECKING:
    from agora.maps.grid import Map


def attributes_of(layers: Sequence[CostmapLayer]) -> tuple[str, ...]:
    """Return the semantic attributes that the layers read, without duplicates; `bind_layers` expects evidence in this order."""
    return tuple(dict.fromkeys(layer.attribute for layer in layers))


def bind_layers(
    layers: Sequence[CostmapLayer],
    position: Floats,
    velocity: Floats,
    heading: Floats,
    evidence: Floats,
    present: Bools,
    cost: Array,
    origin: Floats,
    cell: float,
) -> list[Callable[[int, int], None]]:
    """Return one function of (first, last) per layer; called in order, they apply the layers to the costmaps of rows ``first <= n <
    last``.

    Args:
        layers: layers in order of application.
        position: (N, Q, 2) positions of the pedestrians, m.
        velocity: (N, Q, 2) velocities, m/s.
        heading: (N, Q) headings, rad.
        evidence: (A, N, Q) evidence for the attributes that `attributes_of` lists.
        present: (N, Q) whether a slot holds a pedestrian.
        cost: (N, H, W) uint8 costs, raised in place.
        origin: (N, 2) lower-left corners, m.
        cell: length of a cell, m.
    """
    names = attributes_of(layers)
    calls = []
    for layer in layers:
        seen = evidence[names.index(layer.attribute)]
        arrays = (position, velocity, heading, seen, present, cost, origin)
        calls.append(bind(layer.kernel(), layer.parameters(), *arrays, np.float32(cell)))
    return calls


def put_layers(
    layers: Sequence[CostmapLayer],
    position: Floats,
    velocity: Floats,
    heading: Floats,
    evidence: Floats,
    present: Bools,
    map: Map,
) -> Array:
    """Return the costs (rows, columns) uint8 that the layers add to a whole map; arguments as in `bind_layers`, for one row."""
    cost, origin = np.zeros((1, *map.shape), np.uint8), np.array([map.origin], np.float32)
    for call in bind_layers(layers, position, velocity, heading, evidence, present, cost, origin, map.resolution):
        call(0, 1)
    return np.asarray(cost[0])
