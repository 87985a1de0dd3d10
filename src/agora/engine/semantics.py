"""Semantic attributes of pedestrians: as points with evidence, and as maps about the robots."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from agora.core.jit import bind, lean_kernel
from agora.core.scalar import atan2
from agora.core.semantics import ATTRIBUTES, MOTION, evidence_of, motion_evidence
from agora.core.state import Array, Bools, Doubles, Floats, Ints, read_only
from agora.costmap.layers import attributes_of, bind_layers
from agora.errors import InputError, UnknownNameError
from agora.interfaces import CostmapLayer, SemanticMaps, SemanticWindow, Tracks

if TYPE_CHECKING:
    from agora.maps.grid import Map
    from agora.world.world import World

__all__ = ["layer_costs", "semantic_points"]


@dataclass(frozen=True, eq=False)
class SemanticPoints:
    """One attribute of the pedestrians of one world at one moment (Arena's message ``SemanticData``).

    Attributes:
        attribute: a name in `agora.core.semantics.ATTRIBUTES`.
        time: s since the start of the episode.
        location: (K, 2) m, map frame.
        evidence: (K,).
        id: (K,) of the pedestrians.
    """

    attribute: str
    time: float
    location: Doubles
    evidence: Floats
    id: Ints


def number_of(attribute: str) -> int:
    """The number of an attribute.

    Raises:
        UnknownNameError: no such attribute.
    """
    if attribute not in ATTRIBUTES:
        raise UnknownNameError("semantic attribute", attribute, ATTRIBUTES)
    return ATTRIBUTES.index(attribute)


@lean_kernel
def _evidence(attribute, people, minds, out, first, last):
    for w in range(first, last):
        for i in range(out.shape[1]):
            out[w, i] = evidence_of(attribute, people, minds, w, i)


def semantic_points(world: World, number: int, attribute: str) -> SemanticPoints:
    """Return what the pedestrians of a world are now.

    Args:
        world: the worlds. number: of the one.
        attribute: its name.

    Raises:
        UnknownNameError: no such attribute.
    """
    people, traits = world.pedestrians, world.traits
    evidence = np.zeros((world.layout.worlds, world.slots), np.float32)
    bind(_evidence, np.int64(number_of(attribute)), people, world.minds, evidence)(number, number + 1)
    there = people.active[number]
    return SemanticPoints(
        attribute=attribute,
        time=float(world.status.clock.step[number]) * world.dt,
        location=np.stack([people.x[number], people.y[number]], -1)[there].astype(np.float64),
        evidence=evidence[number][there],
        id=traits.id[number][there].copy(),
    )


@lean_kernel
def _gather(attributes, people, minds, robots, heading, evidence, first, last):
    """Headings (N, P) and evidences (A, N, P) of the pedestrians in every robot's row."""
    count = robots.x.shape[1]
    for w in range(first, last):
        for r in range(count):
            n = w * count + r
            for i in range(people.x.shape[1]):
                heading[n, i] = people.heading[w, i]
                for a in range(attributes.size):
                    evidence[a, n, i] = evidence_of(attributes[a], people, minds, w, i)


@lean_kernel
def _of_tracks(attributes, velocity, robots, heading, evidence, first, last):
    """The same of tracks: what can be told from how somebody moves."""
    count = robots.x.shape[1]
    for n in range(first * count, last * count):
        for i in range(velocity.shape[1]):
            vx, vy = velocity[n, i, 0], velocity[n, i, 1]
            heading[n, i] = atan2(vy, vx)
            for a in range(attributes.size):
                evidence[a, n, i] = motion_evidence(attributes[a], vx, vy)


@lean_kernel
def _rasterise(cell, robots, position, present, evidence, out, origin, first, last):
    """Write the maps (N, A, H, H): in a cell the evidence of the largest size among those who are in it."""
    count, side = robots.x.shape[1], out.shape[2]
    for w in range(first, last):
        for r in range(count):
            n = w * count + r
            origin[n, 0] = (np.floor(robots.x[w, r] / cell) - np.float32(side // 2)) * cell
            origin[n, 1] = (np.floor(robots.y[w, r] / cell) - np.float32(side // 2)) * cell
            out[n] = np.float32(0.0)
            for i in range(present.shape[1]):
                if not present[n, i]:
                    continue
                column = np.int64(np.floor((position[n, i, 0] - origin[n, 0]) / cell))
                row = np.int64(np.floor((position[n, i, 1] - origin[n, 1]) / cell))
                if not (0 <= column < side and 0 <= row < side):
                    continue
                for a in range(out.shape[1]):
                    new, old = evidence[a, n, i], out[n, a, row, column]
                    if abs(new) > abs(old) or (abs(new) == abs(old) and new > old):
                        out[n, a, row, column] = new


class SemanticReader:
    """Reads semantic attributes of pedestrians into rows of robots.

    Args:
        world: the worlds.
        attributes: names of the attributes.
        tracks: (N, Q, ...) the pedestrians that the robots know of, kept; they are to be up to date at `read`.
        window: maps to be made of them; none where None.
        named: whether the slots of the tracks are those of the world's pedestrians, whose attributes are known; else there are
            only those that can be told from how somebody moves.

    Attributes:
        heading: (N, Q) rad. evidence: (A, N, Q).

    Raises:
        InputError: an attribute that cannot be told.
    """

    def __init__(
        self,
        world: World,
        attributes: tuple[str, ...],
        tracks: Tracks,
        window: SemanticWindow | None = None,
        named: bool = True,
    ) -> None:
        self._world, self._window = world, window
        self.heading = np.zeros(tracks.present.shape, np.float32)
        self.evidence = np.zeros((len(attributes), *tracks.present.shape), np.float32)
        numbers = np.array([number_of(name) for name in attributes], np.int64)
        if not named and (hidden := [name for name in attributes if name not in MOTION]):
            raise InputError(f"pedestrians: tracked: {', '.join(hidden)} of pedestrians cannot be told from scans")
        self._calls: list[list[Any]] = []
        for people, robots in (world.generation(g) for g in (0, 1)):
            kernel, given = (_gather, (people, world.minds)) if named else (_of_tracks, (tracks.velocity,))
            self._calls.append([bind(kernel, numbers, *given, robots, self.heading, self.evidence)])
        if window is None:
            return
        self._maps: Array = np.zeros((len(tracks.present), len(attributes), window.cells, window.cells), np.float32)
        self._origin = np.zeros((len(tracks.present), 2), np.float32)
        cell, seen = np.float32(window.resolution), (tracks.position, tracks.present, self.evidence, self._maps, self._origin)
        for calls, g in zip(self._calls, (0, 1), strict=True):
            calls.append(bind(_rasterise, cell, world.generation(g)[1], *seen))

    def read(self) -> None:
        """Read the present generation."""
        for call in self._calls[self._world.now]:
            call(0, self._world.layout.worlds)

    def maps(self) -> SemanticMaps | None:
        """What was read last, as maps."""
        if self._window is None:
            return None
        return SemanticMaps(read_only(self._maps), self._window.attributes, read_only(self._origin), self._window.resolution)


def layer_costs(world: World, number: int, layers: Sequence[CostmapLayer], map: Map) -> Array:
    """Return the costs (rows, columns) uint8 that layers put on the whole map of a world now.

    Args:
        world: the worlds. number: of the one.
        layers: in their order.
        map: of the world.
    """
    people, w = world.pedestrians, number
    position, velocity = np.stack([people.x[w], people.y[w]], -1)[None], np.stack([people.vx[w], people.vy[w]], -1)[None]
    names = attributes_of(layers)
    evidence = np.zeros((len(names), 1, world.slots), np.float32)
    every = np.zeros((world.layout.worlds, world.slots), np.float32)
    for a, name in enumerate(names):
        bind(_evidence, np.int64(number_of(name)), people, world.minds, every)(w, w + 1)
        evidence[a, 0] = every[w]
    return put_layers(layers, position, velocity, people.heading[w][None].copy(), evidence, people.active[w][None].copy(), map)


def put_layers(
    layers: Sequence[CostmapLayer],
    position: Floats,
    velocity: Floats,
    heading: Floats,
    evidence: Floats,
    present: Bools,
    map: Map,
) -> Array:
    """Return the costs (rows, columns) uint8 that layers put on a whole map; arguments as of `bind_layers`, for one row."""
    cost, origin = np.zeros((1, *map.shape), np.uint8), np.array([map.origin], np.float32)
    for call in bind_layers(layers, position, velocity, heading, evidence, present, cost, origin, map.resolution):
        call(0, 1)
    return np.asarray(cost[0])
