"""Tracks how many people walk where and when, so that no more people enter a map than can pass each other.

Itineraries are drawn independently of each other, so if one aisle connects the entrances of a map, more people would often walk
through the aisle at the same time than fit into it. To prevent this, a timetable of the map records each party's walks by square
and by time slot. If a party would overcrowd a square on its way, the party gets another itinerary or stays away
(`agora.tasks.itineraries`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from agora.core.state import Doubles
from agora.maps.grid import Map
from agora.maps.ways import length_of

__all__ = ["CROWDED", "Traffic", "Walks", "walks"]

CROWDED = 0.43
"""Maximum density of walking people, 1/m2: the upper bound of level of service B, at which people in counterflow still walk at
their own pace (J. J. Fruin, "Pedestrian Planning and Design", 1971: 25 square feet per person).
"""

_SQUARE = 2.0  # m
_SLOT = 5.0  # s
_PERIOD = 1.0  # time between the points of a walk, s
_LEAST = 1.0  # minimum free area assumed for a square, m2

Walks = tuple[Doubles, Doubles]
"""The points (N, 2) of a party's walks, m, one per second, and their times (N,), s."""


def walks(legs: Sequence[tuple[float, Doubles]], speed: float, time: float, done: float = 0.0) -> Walks:
    """Return the walks of an itinerary.

    Args:
        legs: for each leg, the duration of the stay before the leg, s, and the path (N, 2) of the leg, m.
        speed: walking speed, m/s.
        time: start time, s.
        done: distance already walked along the first path, m.
    """
    points, times = [np.zeros((0, 2))], [np.zeros(0)]
    for stay, way in legs:
        length = length_of(way)
        since = np.arange(0.0, (length - done) / speed, _PERIOD)
        bends = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(way, axis=0).T))])
        points.append(np.stack([np.interp(done + since * speed, bends, way[:, axis]) for axis in range(2)], -1))
        times.append(time + stay + since)
        time, done = time + stay + max(length - done, 0.0) / speed, 0.0
    return np.concatenate(points), np.concatenate(times)


class Traffic:
    """The timetable of a map.

    Args:
        map: map of the surroundings.
        most: maximum density of walking people, 1/m2.
        until: end of the timetable, s; walks after this time are not recorded.
    """

    def __init__(self, map: Map, most: float, until: float) -> None:
        self._map, self._until = map, until
        row, column = (np.arange(count) * map.resolution // _SQUARE for count in map.shape)
        self._squares = (row[:, None] * (column[-1] + 1) + column).astype(np.intp)  # the number of each cell's square
        free = np.bincount(self._squares.ravel(), ~map.occupied.ravel()) * map.resolution**2
        self._most: list[float] = (most * np.maximum(free, _LEAST) * _SLOT / _PERIOD).tolist()
        self._entered: Counter[int] = Counter()  # number of people, counted once per `_PERIOD`, by slot and square (`_count`)

    def has_room(self, party: Walks, size: int) -> bool:
        """Return whether a party of ``size`` people can make its walks without overcrowding a square that others use at the same
        time.
        """
        entered, most = self._entered, self._most
        return all(
            not (there := entered.get(key)) or there + size * n <= most[key % len(most)] for key, n in self._count(party).items()
        )

    def enter(self, party: Walks, size: int) -> None:
        """Record the walks of a party of ``size`` people."""
        for key, n in self._count(party).items():
            self._entered[key] += size * n

    def _count(self, party: Walks) -> Counter[int]:
        """Return the number of points of a party's walks for each combined index of slot and square (slot times the number of
        squares, plus square).
        """
        points, times = party
        within = times < self._until
        row, column = self._map.cell_of(points[within])
        rows, columns = self._map.shape
        square = self._squares[np.clip(row, 0, rows - 1), np.clip(column, 0, columns - 1)]
        return Counter(((times[within] // _SLOT).astype(np.intp) * len(self._most) + square).tolist())
