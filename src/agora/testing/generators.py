"""The contract for map generators."""

from __future__ import annotations

import math

import numpy as np

from agora.core.state import Bools, Doubles
from agora.interfaces import MapGenerator
from agora.maps.distance import inside_all
from agora.maps.furniture import Furniture
from agora.maps.grid import Map
from agora.maps.ground import met_by
from agora.maps.place import Place
from agora.seeds import Stream
from agora.testing.errors import ContractError
from agora.testing.guard import identical, pure

_SEEDS = (1, 2, 3)
_SLACK = 1e-6  # m
_INSIDE = 0.01  # maximum overlap of pieces of furniture, m


def check_map_generator(generator: MapGenerator, *, random: bool = True, passage: float | None = None) -> None:
    """Check a map generator against the contract of `agora.interfaces.MapGenerator`.

    The same stream gives a bit-identical place, and other streams give other places. Furniture is on the map, in occupied cells or
    shapes, and no two pieces overlap. Zones are polygons on the map that contain free space. A wheeled robot, modelled as a disc of
    radius ``passage``, can get from every position where it fits to every other such position. No global random generator is used.

    Args:
        generator: generator to check.
        random: whether different streams must give different places.
        passage: radius of the disc, m; by default, the generator's field ``passage`` or, without such a field, 0.3.

    Raises:
        ContractError: the generator breaks a clause.
    """
    name = type(generator).__name__
    reach = getattr(generator, "passage", 0.3) if passage is None else passage
    places = []
    for seed in (*_SEEDS, _SEEDS[0]):
        with pure(f"{name}: seed {seed}", generator=generator):
            places.append(generator.generate(Stream("contract/place", seed, "place")))
    if not all(isinstance(p, Place) for p in places):
        raise ContractError(f"{name}: expected a Place, got a {type(places[0]).__name__}")
    if not identical(places[0], places[-1]):
        raise ContractError(f"{name}: not deterministic: different places for the same random stream")
    if random and all(identical(places[0], p) for p in places[1:]):
        raise ContractError(f"{name}: the same place for every random stream")
    for seed, place in zip(_SEEDS, places, strict=False):
        where = f"{name}: seed {seed}"
        _check_furniture(place, where)
        _check_zones(place, where)
        _check_ways(met_by(place.map, 0.0, 0.0), reach, where)


def _check_furniture(place: Place, where: str) -> None:
    """Check that furniture is on the map, in occupied cells, and that no two pieces overlap."""
    samples = [_samples(piece) for piece in place.furniture]
    for number, (piece, points) in enumerate(zip(place.furniture, samples, strict=True)):
        what = f"{where}: furniture {number}, a {piece.model} at ({piece.x:.2f}, {piece.y:.2f})"
        if not (math.isfinite(piece.heading) and place.map.contains(points).all()):
            raise ContractError(f"{what}, is not on the map")
        if (place.map.gap(points, limit=1.0) > _SLACK).any():
            raise ContractError(f"{what}, is missing from the occupancy grid of the map")
        for other, its in zip(place.furniture[:number], samples, strict=False):
            if (
                math.hypot(piece.x - other.x, piece.y - other.y) < 6.0
                and (_within(other, points) | _within(piece, its).any()).any()
            ):
                raise ContractError(f"{what}, is in a {other.model} at ({other.x:.2f}, {other.y:.2f})")


def _samples(piece: Furniture) -> Doubles:
    """Return points (K, 2) of a piece of furniture, on a grid slightly inside its outline."""
    grid = np.stack(np.meshgrid(*[np.linspace(-1.0, 1.0, 15)] * 2), -1).reshape(-1, 2)
    found = []
    for corners in piece.polygons():
        middle = corners.mean(0)
        a, b = (corners[1] - corners[0]) / 2, (corners[2] - corners[1]) / 2
        shrunk = [max(1.0 - _INSIDE / max(math.hypot(*side), _INSIDE), 0.0) for side in (a, b)]
        found.append(middle + grid[:, :1] * a * shrunk[0] + grid[:, 1:] * b * shrunk[1])
    for x, y, radius in piece.discs():
        disc = grid[np.hypot(*grid.T) <= 1.0]
        found.append(disc * max(radius - _INSIDE, 0.0) + (x, y))
    return np.concatenate(found)


def _within(piece: Furniture, points: Doubles) -> Bools:
    """Return a mask of the points (K, 2) that are in a piece of furniture, at least slightly inside its outline."""
    result = np.zeros(len(points), np.bool_)
    for corners in piece.polygons():
        middle = corners.mean(0)
        outward = corners - middle
        inner = middle + outward * np.maximum(1.0 - _INSIDE / np.maximum(np.hypot(*outward.T), _INSIDE), 0.0)[:, None]
        result |= inside_all(inner, points)
    for x, y, radius in piece.discs():
        result |= np.hypot(points[:, 0] - x, points[:, 1] - y) < radius - _INSIDE
    return result


def _check_zones(place: Place, where: str) -> None:
    """Check that zones are polygons on the map that contain free space."""
    map_ = place.map
    low, high = np.array(map_.origin) - _SLACK, np.array(map_.origin) + map_.size + _SLACK
    free = map_.centre_of(*np.nonzero(map_.clearance > 0))
    for zone in place.zones:
        if not zone.label or not zone.category or not all(zone.category) or not zone.polygons:
            raise ContractError(f"{where}: zone {zone.label!r} lacks a label, a category or a polygon")
        for corners in zone.polygons:
            if not ((corners >= low) & (corners <= high)).all():
                raise ContractError(f"{where}: zone {zone.label!r} is not on the map")
        if not zone.contains(free).any():
            raise ContractError(f"{where}: zone {zone.label!r} contains no free cell")


def _check_ways(map_: Map, passage: float, where: str) -> None:
    """Check that the free space for the disc is connected, treating cells as squares."""
    from scipy.ndimage import label

    rows, columns = map_.shape
    centres = map_.centre_of(*(part.ravel() for part in np.mgrid[:rows, :columns]))
    gap = map_.gap(centres, limit=passage + map_.resolution, unknown=True).reshape(rows, columns)
    labels, count = label(gap >= passage - _SLACK)
    parts = np.unique(labels[gap >= passage + _SLACK])
    if count == 0:
        raise ContractError(f"{where}: a disc of radius {passage:g} m does not fit anywhere")
    if len(parts) > 1:
        raise ContractError(f"{where}: a disc of radius {passage:g} m cannot reach all free space: it has {len(parts)} parts")
