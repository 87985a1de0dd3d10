"""Tracks: a robot's knowledge of pedestrians and other robots."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from agora.core.state import Bools, Floats, Ints


@dataclass(frozen=True, eq=False)
class Tracks:
    """The moving discs that each of N robots knows of, in Q masked slots.

    Attributes:
        position: (N, Q, 2) positions, m.
        velocity: (N, Q, 2) velocities, m/s.
        radius: (N, Q) radii, m.
        present: (N, Q) whether the slot is in use.
        id: (N, Q) ids.
        group: (N, Q) number of the walking group, -1 if none.
        type: (N, Q) types, as indices into `agora.core.state.TYPES`; meaningless for robots; None if types are unknown.
    """

    position: Floats
    velocity: Floats
    radius: Floats
    present: Bools
    id: Ints
    group: Ints
    type: Ints | None = None


def onward(position: Floats, velocity: Floats, steps: int, dt: float) -> Floats:
    """Return the predicted positions (N, Q, T, 2) of discs at constant velocity, m.

    Args:
        position: (N, Q, 2) current positions, m.
        velocity: (N, Q, 2) velocities, m/s.
        steps: number of prediction times, T.
        dt: interval between prediction times, s; the first is ``dt`` from now.
    """
    times = np.float32(dt) * np.arange(1, steps + 1, dtype=np.float32)
    places: Floats = position[:, :, None] + times[:, None] * velocity[:, :, None]
    return places
