"""A pedestrian and its nearest neighbours, as inputs of the network in `agora.predictors.learned_motion`.

All values are in the pedestrian's own frame: origin at the pedestrian, x axis along its mean velocity over about the last second.
The past is represented by exponentially weighted means with three time constants (`agora.predictors.intent`), so the inputs do not
depend on the control period.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from agora.core.scalar import F
from agora.core.state import Bools, Floats
from agora.interfaces import Memory, Tracks
from agora.predictors.intent import intents

AVERAGING = (0.4, 1.2, 3.6)
"""Times over which velocities and speeds are averaged, s."""

OWN, PAIR = 11, 8
"""Number of values of a person, and number of values of each neighbour."""

NEIGHBOURS, REACH = 8, F(6.0)
"""Maximum number of neighbours considered, and their maximum distance, m."""

_FRAME = 1  # index of the mean velocity that defines the x axis
_SURE = F(0.2)  # mean speed above which the direction is reliable, m/s
_TINY = F(1e-6)


class Seen(NamedTuple):
    """The network's inputs for M pedestrians in a batch.

    Attributes:
        own: (M, OWN) current velocity, mean velocities and mean speeds, m/s.
        pairs: (M, NEIGHBOURS, PAIR), nearest neighbour first: relative position, m; velocity and mean velocity relative to the
            pedestrian's, m/s; distance, m; and 1 / (distance + 0.3 m), 1/m.
        near: (M, NEIGHBOURS) whether each neighbour exists.
        axis: (M, 2) direction of the x axis in the map frame.
        sure: (M,) weight of the network's output: 0 for a pedestrian that has been standing still, whose x axis is meaningless.
    """

    own: Floats
    pairs: Floats
    near: Bools
    axis: Floats
    sure: Floats


def seen(people: Tracks, memory: Memory, dt: float) -> tuple[Seen, Memory]:
    """Return the network's inputs for all present pedestrians in N rows of Q slots, row by row, and the memory for the next call.

    Args:
        people: tracks.
        memory: memory of the previous call; {} at the start.
        dt: time since the previous call, s.
    """
    means, speeds, kept = [], [], {}
    for number, averaging in enumerate(AVERAGING):
        velocity, speed, after = intents(people, memory.get(str(number), {}), dt, averaging)
        means.append(velocity)
        speeds.append(speed)
        kept[str(number)] = after
    here = people.present
    mean, pace = means[_FRAME], speeds[_FRAME]
    length = np.sqrt(mean[..., 0] ** 2 + mean[..., 1] ** 2)
    axis = (mean / np.maximum(length, _TINY)[..., None]).astype(np.float32)
    own = [turned(velocity[here], axis[here]) for velocity in (people.velocity, *means)]
    own_values = np.concatenate([*own, np.stack([speed[here] for speed in speeds], 1)], 1)
    pairs, near = _neighbours(people, mean, axis)
    sure = np.minimum(np.minimum(length, pace) / _SURE, F(1.0))
    return Seen(own_values.astype(np.float32), pairs, near, axis[here], sure[here]), kept


def turned(vectors: Floats, axis: Floats, *, back: bool = False) -> Floats:
    """Rotate vectors (..., 2) into frames whose x axes are ``axis`` (..., 2), or, with ``back``, from these frames into the map
    frame.
    """
    sine = -axis[..., 1] if back else axis[..., 1]
    x, y = vectors[..., 0], vectors[..., 1]
    return np.stack([axis[..., 0] * x + sine * y, axis[..., 0] * y - sine * x], -1)


def _neighbours(people: Tracks, mean: Floats, axis: Floats) -> tuple[Floats, Bools]:
    """Return the values (M, NEIGHBOURS, PAIR) of the nearest present neighbours, and whether each of them exists."""
    row, slot = np.nonzero(people.present)
    others = people.present[row]
    away = people.position[row] - people.position[row, slot][:, None]
    distance = np.sqrt(away[..., 0] ** 2 + away[..., 1] ** 2)
    others[np.arange(len(row)), slot] = False
    others &= distance < REACH
    order = np.argsort(np.where(others, distance, F(np.inf)), axis=1, kind="stable")[:, :NEIGHBOURS]
    at = (np.arange(len(row))[:, None], order)
    near = np.zeros((len(row), NEIGHBOURS), np.bool_)
    near[:, : order.shape[1]] = others[at]
    frame = axis[row, slot][:, None]
    values = [turned(vectors[at], frame) for vectors in (away, *(v[row] - v[row, slot][:, None] for v in (people.velocity, mean)))]
    apart = distance[at][..., None]
    pairs = np.zeros((len(row), NEIGHBOURS, PAIR), np.float32)
    pairs[:, : order.shape[1]] = np.concatenate([*values, apart, F(1.0) / (apart + F(0.3))], 2)
    pairs[~near] = 0.0
    return pairs, near
