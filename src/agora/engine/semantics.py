"""Semantic attributes of all pedestrians in a world, as points with evidence, and costmap layers as costs on the world's map."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from agora.core.jit import bind, lean_kernel
from agora.core.semantics import attribute_number, evidence_of
from agora.core.state import Array, Doubles, Floats, Ints
from agora.costmap.layers import attributes_of, put_layers
from agora.interfaces import CostmapLayer

if TYPE_CHECKING:
    from agora.maps.grid import Map
    from agora.world.world import World

__all__ = ["layer_costs", "semantic_points"]


@dataclass(frozen=True, eq=False)
class SemanticPoints:
    """One attribute of all pedestrians in a world at a given instant (Arena's message ``SemanticData``).

    Attributes:
        attribute: name from `agora.core.semantics.ATTRIBUTES`.
        time: time since the start of the episode, s.
        location: (K, 2) positions, m, map frame.
        evidence: (K,) evidence for the attribute, or its value.
        id: (K,) ids of the pedestrians.
    """

    attribute: str
    time: float
    location: Doubles
    evidence: Floats
    id: Ints


@lean_kernel
def _evidence(attribute, people, minds, out, first, last):
    for w in range(first, last):
        for i in range(out.shape[1]):
            out[w, i] = evidence_of(attribute, people, minds, w, i)


def semantic_points(world: World, number: int, attribute: str) -> SemanticPoints:
    """Return the current `SemanticPoints` for an attribute of a world's pedestrians.

    Args:
        world: state of the worlds.
        number: index of the world.
        attribute: name of the attribute.

    Raises:
        UnknownNameError: no attribute has this name.
    """
    people, traits = world.pedestrians, world.traits
    evidence = np.zeros((world.layout.worlds, world.slots), np.float32)
    bind(_evidence, np.int64(attribute_number(attribute)), people, world.minds, evidence)(number, number + 1)
    there = people.active[number]
    return SemanticPoints(
        attribute=attribute,
        time=float(world.status.clock.step[number]) * world.dt,
        location=np.stack([people.x[number], people.y[number]], -1)[there].astype(np.float64),
        evidence=evidence[number][there],
        id=traits.id[number][there].copy(),
    )


def layer_costs(world: World, number: int, layers: Sequence[CostmapLayer], map: Map) -> Array:
    """Return the costs (rows, columns) uint8 that the layers currently add to the whole map of a world.

    Args:
        world: state of the worlds.
        number: index of the world.
        layers: costmap layers, in the order in which they are applied.
        map: map of the world.
    """
    people, w = world.pedestrians, number
    position, velocity = np.stack([people.x[w], people.y[w]], -1)[None], np.stack([people.vx[w], people.vy[w]], -1)[None]
    names = attributes_of(layers)
    evidence = np.zeros((len(names), 1, world.slots), np.float32)
    every = np.zeros((world.layout.worlds, world.slots), np.float32)
    for a, name in enumerate(names):
        bind(_evidence, np.int64(attribute_number(name)), people, world.minds, every)(w, w + 1)
        evidence[a, 0] = every[w]
    return put_layers(layers, position, velocity, people.heading[w][None].copy(), evidence, people.active[w][None].copy(), map)
