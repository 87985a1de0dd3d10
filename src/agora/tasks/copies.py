"""Copies: episodes that start alike and in which nothing is left to chance afterwards, so that a planner drives the same again."""

from __future__ import annotations

import hashlib
from dataclasses import replace
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
"""Keys of a stage that leave an episode as it is once its start is known."""

_QUIET = {"cues", "given_states"}
"""Behaviours that draw nothing."""


def digest_of(stage: Stage, start: Start) -> str:
    """Return the digest of an episode's start and of the conditions of its stage, without its number and its seed.

    Episodes of equal digests are copies unless something is left to chance in them (`draws_on`).
    """
    digest = hashlib.blake2b(digest_size=8)
    conditions = {key: value for key, value in plain(stage).items() if key not in _APART}
    _feed(digest, [conditions, to_plain(replace(start, entry="", seed=0))])
    return digest.hexdigest()


def place_of(start: Start) -> str:
    """Return the name of the map of a start with a digest of the map: equal for episodes in the same place alone."""
    digest = hashlib.blake2b(digest_size=4)
    _feed(digest, to_plain(replace(start.map, name="")))
    return f"{start.map.name}#{digest.hexdigest()}"


def draws_on(stage: Stage, start: Start) -> bool:
    """Return whether chance may play a part after the start: in people's behaviour, in a noisy sensor, or in another simulator."""
    crowd, robots = stage.crowd, [load_robot(name) for name in stage.models]
    noisy = any(robot.sensors or (robot.lidar is not None and robot.lidar.is_noisy) for robot in robots)
    moved = any(behaviour.name not in _QUIET for behaviour in crowd.behaviours)
    moved |= crowd.unsteady is not None or crowd.sidestep is not None or bool((start.pedestrians.mode == RANDOM).any())
    return noisy or moved or stage.simulator.name != "native"


def _feed(digest: hashlib.blake2b, value: Any) -> None:
    """Add plain data to a digest; equal data of other types count as different."""
    if isinstance(value, np.ndarray):
        digest.update(f"{value.dtype}{value.shape}".encode())
        digest.update(np.ascontiguousarray(value).tobytes())
    elif isinstance(value, dict):
        for key, item in value.items():
            digest.update(f"{key}:".encode())
            _feed(digest, item)
    elif isinstance(value, list):
        digest.update(f"[{len(value)}".encode())
        for item in value:
            _feed(digest, item)
    else:
        digest.update(f"{value!r};".encode())
