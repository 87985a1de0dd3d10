"""The people and robots around each robot, and their predicted positions."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

import numpy as np

from agora.core.answers import numbers
from agora.core.state import Bools, Floats
from agora.errors import ComponentError
from agora.interfaces import Channel, Memory, Observation, Prediction, Predictor, Tracks
from agora.world.tracks import onward


class Discs(NamedTuple):
    """The pedestrians, followed by the other robots, known to each of N robots.

    Attributes:
        position: (N, M, 2) current positions, m.
        velocity: (N, M, 2) current velocities, m/s.
        radius: (N, M) radii, m.
        present: (N, M) whether the slot is in use.
        expected: (N, M, T, 2) predicted positions at T time steps, m.
    """

    position: Floats
    velocity: Floats
    radius: Floats
    present: Bools
    expected: Floats


def needs_of(predictor: Predictor, own: Collection[str | Channel]) -> tuple[str | Channel, ...]:
    """Return the channels that a planner and its predictor read; if both read a channel, the planner's parameters are used."""
    names = {one if isinstance(one, str) else one.channel for one in own}
    return (*own, *(name if one is None else one for name, one in predictor.declares.channels.items() if name not in names))


def expected_ways(predictor: Predictor, o: Observation, steps: int, dt: float, memory: Memory) -> tuple[Floats, Memory]:
    """Return the predicted positions (N, Q, T, 2), m, of the pedestrians of N robots, and the memory of the predictor.

    Args:
        predictor: predictor to call.
        o: observation of N rows with ``pedestrians``.
        steps: number T of time steps.
        dt: time between consecutive time steps, s.
        memory: memory of the predictor; {} at the start.

    Raises:
        ComponentError: the predictor returned something other than a `Prediction` of finite positions of this shape.
    """
    who, people = f"predictor {type(predictor).__name__}", o.pedestrians
    assert people is not None
    answer = predictor.predict(o, steps, dt, memory)
    if not isinstance(answer, Prediction):
        raise ComponentError(f"{who} returned {type(answer).__name__}; expected a Prediction")
    ways = numbers(who, "positions", answer.position, (*people.present.shape, steps, 2), where=people.present)
    return ways.astype(np.float32, copy=False), answer.memory


def discs(predictor: Predictor, o: Observation, steps: int, dt: float, memory: Memory) -> tuple[Discs, Memory]:
    """Return the discs around each robot; pedestrians move as predicted, and other robots keep their velocity.

    Args:
        predictor: predictor of the pedestrians.
        o: observation of N rows.
        steps: number T of time steps.
        dt: time between consecutive time steps, s; the first time step is ``dt`` after the observation.
        memory: memory of the predictor; {} at the start.

    Returns:
        The discs, and the predictor's memory for the next call.
    """
    rows = len(o.pose)
    people, robots = (_no_tracks(rows) if one is None else one for one in (o.pedestrians, o.robots))
    ways, kept = np.zeros((rows, 0, steps, 2), np.float32), memory
    if o.pedestrians is not None:
        ways, kept = expected_ways(predictor, o, steps, dt, memory)
    on = onward(robots.position, robots.velocity, steps, dt)
    both = [np.concatenate(pair, axis=1) for pair in zip(_arrays(people), _arrays(robots), strict=True)]
    position, velocity, radius, present = both
    return Discs(position, velocity, radius, present, np.concatenate((ways, on), axis=1)), kept


def _arrays(tracks: Tracks) -> tuple[Floats, Floats, Floats, Bools]:
    return tracks.position, tracks.velocity, tracks.radius, tracks.present


def _no_tracks(rows: int) -> Tracks:
    """Return tracks that have no slots."""
    places, numbers, flags = np.zeros((rows, 0, 2), np.float32), np.zeros((rows, 0), np.int32), np.zeros((rows, 0), np.bool_)
    return Tracks(places, places, np.zeros((rows, 0), np.float32), flags, numbers, numbers)
