"""Finds copies: episodes with the same start and no randomness afterwards, in which a planner repeats the same trajectory."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from agora.config import plain
from agora.core.state import RANDOM
from agora.draft.stage import Stage
from agora.robots.model import load_robot
from agora.wire.plain import to_plain
from agora.world.start import Start

__all__ = ["digest_of", "draws_on", "place_of"]

_APART = {
    "name",
    "episodes",
    "seed",
    "drawn_as",
    "world",
    "robots",
    "obstacles",
    "modules",
    "forbidden",
    "safety",
    "counterfactual",
}
"""Keys of a stage that do not affect an episode once its start is given."""

_QUIET = {"cues", "given_states"}
"""Behaviours without random draws."""


def digest_of(stage: Stage, start: Start) -> str:
    """Return the digest of an episode's start and of its stage's conditions, excluding the episode's number and seed.

    Episodes with equal digests are copies unless random draws follow (`draws_on`).
    """
    data = b"".join(_bytes(to_plain(replace(start, entry="", seed=0))))
    return hashlib.blake2b(_conditions(_Same(stage)) + data, digest_size=8).hexdigest()


def place_of(start: Start) -> str:
    """Return the name and digest of a start's map; the results are equal only for episodes in the same place."""
    data = b"".join(_bytes(to_plain(replace(start.map, name=""))))
    return f"{start.map.name}#{hashlib.blake2b(data, digest_size=4).hexdigest()}"


def draws_on(stage: Stage, start: Start) -> bool:
    """Return whether random draws may follow the start: in people's behaviour, in a noisy sensor, or in another simulator."""
    crowd, robots = stage.crowd, [load_robot(name) for name in stage.models]
    noisy = any(robot.sensors or (robot.lidar is not None and robot.lidar.is_noisy) for robot in robots)
    moved = any(behaviour.name not in _QUIET for behaviour in crowd.behaviours)
    moved |= crowd.unsteady is not None or crowd.sidestep is not None or bool((start.pedestrians.mode == RANDOM).any())
    return noisy or moved or stage.simulator.name != "native"


@dataclass(frozen=True, eq=False)
class _Same:
    """A hashable wrapper around a stage, compared by object identity; a stage itself cannot be hashed."""

    stage: Stage

    def __hash__(self) -> int:
        return id(self.stage)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.stage is other.stage


@functools.lru_cache(maxsize=64)
def _conditions(same: _Same) -> bytes:
    """Return the conditions of a stage as bytes, cached for recent stages."""
    return b"".join(_bytes({key: value for key, value in plain(same.stage).items() if key not in _APART}))


def _bytes(value: Any) -> Iterator[bytes]:
    """Yield plain data as bytes; equal data of different types count as different."""
    if isinstance(value, np.ndarray):
        yield f"{value.dtype}{value.shape}".encode()
        yield value.tobytes()
    elif isinstance(value, dict):
        for key, item in value.items():
            yield f"{key}:".encode()
            yield from _bytes(item)
    elif isinstance(value, list):
        yield f"[{len(value)}".encode()
        for item in value:
            yield from _bytes(item)
    else:
        yield f"{value!r};".encode()
