"""The window of a stretch, 4.8 s long, that is compared; it is processed identically for recorded and simulated people.

All values are derived from positions sampled every 0.4 s. Positions are smoothed by (1, 2, 1) / 4 to reduce annotation jitter;
velocities are central differences of the positions before smoothing, (p[k + 1] - p[k - 1]) / 0.8 s. The first 2.4 s of a stretch,
in which both crowds are still nearly equal, are left out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from agora.core.state import Bools, Doubles, Ints
from agora.validation.stretches import STEP, Stretch

_BEGIN = 5  # index of the first sample of a stretch that is used


@dataclass(frozen=True, eq=False)
class TrackWindow:
    """T = 13 samples of P pedestrians, of whom the first N (the walkers) are compared.

    Attributes:
        position: (T, P, 2) positions, m.
        velocity: (T, P, 2) velocities, m/s.
        present: (T, P) whether each pedestrian is present; positions and velocities of absent pedestrians are undefined.
        wall: (T, N) distance from each walker's centre to the nearest wall, m; 0 inside walls; the array is (0, N) if no walls are
            known.
        group: (P,) number of each pedestrian's walking group; -1 for pedestrians without a group.
    """

    position: Doubles
    velocity: Doubles
    present: Bools
    wall: Doubles
    group: Ints

    @property
    def walkers(self) -> int:
        """The number of walkers, N."""
        return int(self.wall.shape[1])


def window(stretch: Stretch, walked: Doubles | None = None) -> TrackWindow:
    """Return the compared window of a stretch.

    Args:
        stretch: recorded stretch.
        walked: (20, N, 2) positions of the walkers in a simulation, m; None for the recorded positions.
    """
    raw, there = stretch.position.copy(), stretch.present
    if walked is not None:
        raw[:, : stretch.walkers] = walked
    raw, there = raw[_BEGIN:], there[_BEGIN:]
    place = (raw[:-2] + 2.0 * raw[1:-1] + raw[2:]) / 4.0
    wall = np.zeros((0, stretch.walkers))
    if stretch.has_walls:
        wall = np.maximum(np.asarray(stretch.map.clearance_at(place[:, : stretch.walkers]), np.float64), 0.0)
    velocity: Doubles = (raw[2:] - raw[:-2]) / (2.0 * STEP)
    return TrackWindow(place, velocity, there[:-2] & there[1:-1] & there[2:], wall, stretch.group)


def apart(seen: TrackWindow) -> Doubles:
    """Return the distances (T, N, P) from each walker to every person, m; infinite for the walker itself and for absent people."""
    difference = seen.position[:, None] - seen.position[:, : seen.walkers, None]
    distance: Doubles = np.hypot(difference[..., 0], difference[..., 1])
    distance[:, np.arange(seen.walkers), np.arange(seen.walkers)] = np.inf
    distance[np.broadcast_to(~seen.present[:, None], distance.shape)] = np.inf
    return distance
