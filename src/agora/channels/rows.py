"""Readings (W, R, ...) as rows (N, ...), and tracks as readings."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from agora.core.state import Array
from agora.interfaces import Field, Reading, Tracks

if TYPE_CHECKING:
    from agora.world.world import World


def flat(array: Array) -> Any:
    """Return the rows (N, ...) of an array (W, R, ...), without copying."""
    return array.reshape(array.shape[0] * array.shape[1], *array.shape[2:])


def track_fields(slots: str, typed: bool = False) -> Mapping[str, Field]:
    """Return the fields of a channel of tracks.

    Args:
        slots: name of the axis of Q slots.
        typed: whether the tracks include the types of the pedestrians.
    """
    there = "present"
    number = Field((slots,), low=-1.0, kind=np.int32, where=there)
    known = {
        "position": Field((slots, 2), "m", "map", where=there),
        "velocity": Field((slots, 2), "m/s", "map", where=there),
        "radius": Field((slots,), "m", low=0.0, where=there),
        there: Field((slots,), low=0.0, high=1.0, kind=np.bool_),
        "id": number,
        "group": number,
    }
    return known | ({"type": number} if typed else {})


def reading_of(tracks: Tracks, world: World) -> Reading:
    """Return the arrays (N, ...) of tracks as a reading, (W, R, ...)."""
    axes = (world.layout.worlds, world.layout.robots)
    given = {one.name: getattr(tracks, one.name) for one in dataclasses.fields(tracks)}
    return {name: array.reshape(*axes, *array.shape[1:]) for name, array in given.items() if array is not None}


def tracks_of(reading: Reading) -> Tracks:
    """Return tracks with the arrays (N, ...) of a reading."""
    return Tracks(**{name: flat(array) for name, array in reading.items()})
