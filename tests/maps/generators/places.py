"""Generated places for tests, and what is counted in them in other ways than the generators' own."""

from __future__ import annotations

from collections import Counter

import numpy as np

from agora.registry import make
from agora.seeds import Stream

CORNER = {"x": -7.35, "y": 4.2}


def stream(number=0, seed=3):
    return Stream("tests/generators", seed, "place", number)


def generated(name, number=0, **parameters):
    """A place of a generator, its corner off the origin."""
    return make("map_generators", name, **(CORNER | parameters)).generate(stream(number))


def models(place):
    """Return how often each model stands in a place."""
    return Counter(piece.model for piece in place.furniture)


def zones(place, category):
    return [zone for zone in place.zones if zone.category == (category,)]


def box(zone):
    """Lower-left and upper-right corner (2, 2) of a zone of one polygon."""
    (corners,) = zone.polygons
    return np.array([corners.min(0), corners.max(0)])


def clear_cells(place, radius):
    """Cells (rows, columns) whose centre is a radius away from every occupied square, by looking at every square in reach."""
    occupied, cell = place.map.occupied, place.map.resolution
    rows, columns = occupied.shape
    reach = int(radius / cell) + 2
    clear = np.ones((rows, columns), bool)
    for dy in range(-reach, reach + 1):
        for dx in range(-reach, reach + 1):
            gap = cell * np.hypot(max(abs(dx) - 0.5, 0), max(abs(dy) - 0.5, 0))
            if gap < radius - 1e-9:
                y0, y1, x0, x1 = max(dy, 0), min(rows + dy, rows), max(dx, 0), min(columns + dx, columns)
                clear[y0 - dy : y1 - dy, x0 - dx : x1 - dx] &= ~occupied[y0:y1, x0:x1]
    return clear


def flooded(clear):
    """The cells that are reached from the first clear one, across sides, wave after wave."""
    reached = np.zeros_like(clear)
    wave = [tuple(np.argwhere(clear)[0])]
    reached[wave[0]] = True
    while wave:
        row, column = wave.pop()
        for near in ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)):
            if 0 <= near[0] < clear.shape[0] and 0 <= near[1] < clear.shape[1] and clear[near] and not reached[near]:
                reached[near] = True
                wave.append(near)
    return reached
