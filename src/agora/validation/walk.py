"""Simulates a crowd model in one place, without robots."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from agora.core.state import STAY, Doubles
from agora.draft.people import People
from agora.maps.grid import Map
from agora.seeds import Stream
from agora.validation.crowd import SimulatedCrowd, simulate
from agora.world.start import PedestrianStarts, Start

__all__ = ["fill", "walk"]


@dataclass(frozen=True, eq=False)
class Walk:
    """The motion of P pedestrians.

    Attributes:
        time: (T,) times, s.
        position: (T, P, 2) positions, m.
        velocity: (T, P, 2) velocities, m/s.
    """

    time: Doubles
    position: Doubles
    velocity: Doubles

    def during(self, begin: float, end: float) -> Walk:
        """Return the samples for which ``begin <= time < end``, s."""
        kept = (self.time >= begin) & (self.time < end)
        return Walk(self.time[kept], self.position[kept], self.velocity[kept])

    def passed(self, line: float, axis: int = 0) -> Doubles:
        """Return the time (P,), s, at which each pedestrian first passed the coordinate ``line``; infinite if it never did."""
        beyond = self.position[:, :, axis] > line
        return np.where(beyond.any(0), self.time[beyond.argmax(0)], np.inf)


def walk(
    model: Any,
    map: Map,
    position: ArrayLike,
    waypoints: ArrayLike,
    duration: float,
    *,
    speed: ArrayLike = 1.34,
    velocity: ArrayLike | None = None,
    radius: float = 0.3,
    tolerance: float = 0.5,
    dt: float = 0.05,
    every: int = 2,
) -> Walk:
    """Simulate pedestrians who walk along their waypoints and stay at the last waypoint, and return their motion.

    Args:
        model: crowd model in either form, or a `SimulatedCrowd`.
        map: map of the place.
        position: (P, 2) positions at the start, m.
        waypoints: (P, K, 2) waypoints, m.
        duration: simulated time, s.
        speed: preferred speed, m/s: one value for all pedestrians, or (P,).
        velocity: (P, 2) velocities at the start, m/s; if omitted, everyone starts at rest.
        radius: radius of every pedestrian, m.
        tolerance: distance from a waypoint at which the waypoint counts as reached, m.
        dt: physics step, s.
        every: number of steps between two samples.
    """
    places, routes = np.asarray(position, np.float64).reshape(-1, 2), np.asarray(waypoints, np.float64)
    count = len(places)
    crowd = PedestrianStarts(
        position=places,
        speed=np.broadcast_to(np.asarray(speed, np.float64), count),
        radius=np.full(count, radius),
        group=np.full(count, -1, np.int32),
        id=np.arange(1, count + 1, dtype=np.int32),
        waypoints=routes,
        waypoint_count=np.full(count, routes.shape[1], np.int32),
        mode=np.full(count, STAY, np.int32),
        tolerance=np.full(count, tolerance),
        velocity=np.zeros((count, 2)) if velocity is None else np.asarray(velocity, np.float64),
    )
    start = Start("validation", 0, map, (), crowd, timeout=duration)
    kept = simulate(SimulatedCrowd.of(model), [start], duration, dt=dt, every=every)[0]
    time: Doubles = np.arange(len(kept), dtype=np.float64) * (every * dt)
    return Walk(time, kept[..., :2], kept[..., 2:])


def speeds(stream: Stream, count: int) -> Doubles:
    """Return preferred speeds (count,), m/s, sampled from the default distribution of suites."""
    people = People()
    return np.array([people.draw_speed(stream) for _ in range(count)])


def fill(stream: Stream, low: ArrayLike, high: ArrayLike, density: float) -> Doubles:
    """Return positions (P, 2), m, that fill a box at a given density: a triangular lattice with random shifts of a fifth of the
    lattice spacing.

    Args:
        stream: stream of random numbers.
        low: (2,) lower-left corner, m.
        high: (2,) upper-right corner, m.
        density: number of pedestrians per square metre.
    """
    lower, upper = np.asarray(low, np.float64), np.asarray(high, np.float64)
    side = np.sqrt(2.0 / (np.sqrt(3.0) * density))
    rows = np.arange(lower[1] + side / 4, upper[1], side * np.sqrt(3.0) / 2)
    places = np.array(
        [(x + side / 2 * (k % 2), y) for k, y in enumerate(rows) for x in np.arange(lower[0] + side / 4, upper[0], side)]
    )
    places = places + stream.uniform(-side / 5, side / 5, places.shape)
    inside: Doubles = places[((places >= lower) & (places <= upper)).all(1)]
    return inside
