"""Tracks: a robot's knowledge of pedestrians and other robots."""

from __future__ import annotations

from dataclasses import dataclass

from agora.core.state import Bools, Floats, Ints


@dataclass(frozen=True, eq=False)
class Tracks:
    """Moving discs that a robot knows of; Q slots, masked.

    Attributes:
        position: (N, Q, 2) m.
        velocity: (N, Q, 2) m/s.
        radius: (N, Q) m.
        present: (N, Q) whether the slot holds something.
        id: (N, Q) identity.
        group: (N, Q) number of the walking group, -1 for none.
        type: (N, Q) number in `agora.core.state.TYPES`, which means nothing of robots; None where nobody knows it.
    """

    position: Floats
    velocity: Floats
    radius: Floats
    present: Bools
    id: Ints
    group: Ints
    type: Ints | None = None
