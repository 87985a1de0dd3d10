"""Simulated walks of a crowd model in one place, without robots."""

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
        """Return the samples of ``begin <= time < end``, s."""
        kept = (self.time >= begin) & (self.time < end)
        return Walk(self.time[kept], self.position[kept], self.velocity[kept])

    def passed(self, line: float, axis: int = 0) -> Doubles:
        """Return the time (P,) at which each pedestrian first passed a coordinate, s; infinite if it never did."""
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
    """Let pedestrians walk along their waypoints and stay at the last one.

    Args:
        model: crowd model of either form, or a `SimulatedCrowd`.
        map: static surroundings.
        position: (P, 2) positions at the start, m.
        waypoints: (P, K, 2) waypoints, m.
        duration: duration, s.
        speed: preferred speed, a single value or (P,), m/s.
        velocity: (P, 2) velocities at the start, m/s; everyone starts at rest if omitted.
        radius: radius of every pedestrian, m.
        tolerance: distance at which a waypoint counts as reached, m.
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
    """Return preferred speeds (count,) from the default distribution of suites, m/s."""
    people = People()
    return np.array([people.draw_speed(stream) for _ in range(count)])


def fill(stream: Stream, low: ArrayLike, high: ArrayLike, density: float) -> Doubles:
    """Return positions (P, 2) that fill a box at a density, 1/m2: a triangular lattice with random shifts of a fifth of its
    spacing.

    Args:
        stream: stream of random numbers.
        low: (2,) lower-left corner, m.
        high: (2,) upper-right corner, m.
        density: pedestrians per square metre.
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
