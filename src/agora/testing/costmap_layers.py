"""The contract for costmap layers."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from agora.core.jit import bind
from agora.core.semantics import ATTRIBUTES
from agora.core.state import Array, Bools, Floats
from agora.errors import nearest
from agora.interfaces import CostmapLayer
from agora.testing.errors import ContractError
from agora.testing.guard import pure

_ROWS, _SHAPE, _CELL = 3, (47, 71), 0.125  # a lattice that float32 represents exactly, so that shifted costmaps are bit-identical
_UNKNOWN, _LETHAL = 255, 254


@dataclass(frozen=True, eq=False)
class _Crowd:
    """The pedestrians around the costmap of each row."""

    position: Floats
    velocity: Floats
    heading: Floats
    evidence: Floats
    present: Bools
    origin: Floats


def check_costmap_layer(layer: CostmapLayer) -> None:
    """Check a costmap layer against the contract of `agora.interfaces`.

    The layer reads a known attribute. Its costs are reproducible and do not depend on other rows, on the order of slots, or on
    absent pedestrians; if the scene is shifted by whole cells, the costs move with it. With evidence 1, the layer adds costs to a
    free costmap. It leaves obstacles and unknown cells unchanged, and writes only the costs.

    Args:
        layer: layer to check.

    Raises:
        ContractError: the layer breaks a clause.
    """
    name = type(layer).__name__
    if layer.attribute not in ATTRIBUTES:
        raise ContractError(f"{name}: no semantic attribute called {layer.attribute!r}; {nearest(layer.attribute, ATTRIBUTES)}")
    crowd = _crowd()
    drawn = _draw(layer, crowd)
    _same(name, "different costmaps for the same pedestrians", drawn, _draw(layer, crowd))
    alone = _draw(layer, crowd, rows=(1, 2))
    _same(name, "the costs of a row depend on other rows", drawn[1], alone[1])
    if alone[0].any() or alone[2].any():
        raise ContractError(f"{name}: writes to rows that were not requested")
    back = replace(crowd, **{key: np.ascontiguousarray(getattr(crowd, key)[:, ::-1]) for key in _PER_PEDESTRIAN})
    _same(name, "the costs depend on the order or number of slots", drawn, _draw(layer, back))
    others = replace(crowd, position=np.where(crowd.present[..., None], crowd.position, np.float32(1.0)))
    _same(name, "an absent pedestrian leaves a cost", drawn, _draw(layer, others))
    shift = np.array([16 * _CELL, -32 * _CELL], np.float32)
    _same(name, "the costs differ in a scene shifted by whole cells", drawn, _draw(layer, _moved(crowd, shift)))
    for kept in (_LETHAL, _UNKNOWN):
        if (_draw(layer, crowd, below=kept) != kept).any():
            raise ContractError(f"{name}: a cell of cost {kept} is overwritten")
    if not drawn.any():
        raise ContractError(f"{name}: pedestrians with evidence 1 leave no cost")


_PER_PEDESTRIAN = ("position", "velocity", "heading", "evidence", "present")


def _crowd() -> _Crowd:
    """Return pedestrians near the middle of each costmap, with the second slot empty."""
    random = np.random.Generator(np.random.Philox(5))
    shape = (_ROWS, 7)
    origin = np.array([[-3.0, 2.0], [5.5, -8.25], [0.0, 0.0]], np.float32)
    middle = np.array([_SHAPE[1], _SHAPE[0]]) * _CELL / 2
    steps = np.round(random.uniform(-16, 16, (*shape, 2)))
    present = np.ones(shape, np.bool_)
    present[:, 1] = False
    return _Crowd(
        position=(origin[:, None] + middle + steps * _CELL).astype(np.float32),
        velocity=random.uniform(-1.5, 1.5, (*shape, 2)).astype(np.float32),
        heading=random.uniform(-3.1, 3.1, shape).astype(np.float32),
        evidence=np.ones(shape, np.float32),
        present=present,
        origin=origin,
    )


def _moved(crowd: _Crowd, shift: Floats) -> _Crowd:
    return replace(crowd, position=crowd.position + shift, origin=crowd.origin + shift)


def _draw(layer: CostmapLayer, crowd: _Crowd, *, below: int = 0, rows: tuple[int, int] = (0, _ROWS)) -> Array:
    """Return the costmaps (N, H, W) after a layer has added its costs to cells of cost ``below``."""
    cost = np.full((_ROWS, *_SHAPE), below, np.uint8)
    name = type(layer).__name__
    given = {key: getattr(crowd, key) for key in (*_PER_PEDESTRIAN, "origin")}
    with pure(name, **given):
        arrays = (crowd.position, crowd.velocity, crowd.heading, crowd.evidence, crowd.present, cost, crowd.origin)
        bind(layer.kernel(), layer.parameters(), *arrays, np.float32(_CELL))(*rows)
    return cost


def _same(name: str, clause: str, one: Array, other: Array) -> None:
    if not np.array_equal(one, other):
        raise ContractError(f"{name}: {clause}")
