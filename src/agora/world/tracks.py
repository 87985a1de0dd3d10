"""Tracks: what a robot knows of pedestrians and other robots."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from agora.core.state import Bools, Floats, Ints


@dataclass(frozen=True, eq=False)
class Tracks:
    """Moving discs that a robot knows of, in Q masked slots.

    Attributes:
        position: (N, Q, 2) positions, m.
        velocity: (N, Q, 2) velocities, m/s.
        radius: (N, Q) radii, m.
        present: (N, Q) whether the slot is in use.
        id: (N, Q) identity.
        group: (N, Q) number of the walking group, -1 if none.
        type: (N, Q) number in `agora.core.state.TYPES`, which is meaningless for robots; None if types are unknown.
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
        steps: T, the number of prediction times.
        dt: interval between prediction times, s; the first is ``dt`` from now.
    """
    times = np.float32(dt) * np.arange(1, steps + 1, dtype=np.float32)
    places: Floats = position[:, :, None] + times[:, None] * velocity[:, :, None]
    return places
