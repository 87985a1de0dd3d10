"""Placement in generated places: the clearance is kept to every cell and every piece of furniture, by looking at all of them."""

import numpy as np
import pytest
import shapely

from agora.draft.placement import place
from agora.registry import available, make
from agora.seeds import Stream

NAMES = sorted(available("map_generators"))
SIZES = ((0.1, (-11.3, 6.2), {}), (0.13, (3.7, -20.9), {"height": 24.0}), (0.1, (0.0, 40.05), {"width": 31.0}))


def violations(made, points, clearance):
    """Count the points nearer than the clearance to the square of an occupied cell, to furniture, or to the border."""
    cell, (x0, y0) = made.map.resolution, made.map.origin
    rows, columns = np.nonzero(made.map.occupied)
    left, lower = x0 + columns * cell, y0 + rows * cell
    wrong = np.zeros(len(points), bool)
    for k in range(0, len(points), 64):
        x, y = points[k : k + 64, 0, None], points[k : k + 64, 1, None]
        beyond_x, beyond_y = np.maximum(left - x, x - left - cell), np.maximum(lower - y, y - lower - cell)
        squared = np.maximum(beyond_x, 0.0) ** 2 + np.maximum(beyond_y, 0.0) ** 2
        wrong[k : k + 64] = squared.min(1) < (clearance - 1e-9) ** 2
    outlines = [shapely.Polygon(p) for f in made.furniture for p in f.polygons()]
    outlines += [shapely.Point(x, y).buffer(r, 64) for f in made.furniture for x, y, r in f.discs()]
    if outlines:
        tree = shapely.STRtree(outlines)
        nearest = tree.query_nearest(shapely.points(points), all_matches=False, return_distance=True)[1]
        wrong |= nearest < clearance - 1e-9
    width, height = made.map.size
    wrong |= (points < np.add((x0, y0), clearance)).any(1) | (points > np.add((x0 + width, y0 + height), -clearance)).any(1)
    return int(wrong.sum())


def placed(name, number, count):
    """Places and violations of some points of three clearances in one generated place."""
    resolution, (x, y), size = SIZES[number % len(SIZES)]
    generator = make("map_generators", name, resolution=resolution, x=x, y=y, passage=0.45, **size)
    made = generator.generate(Stream("truth", 2, "place", number))
    stream = Stream("truth", number, name)
    found = wrong = 0
    for clearance in (0.25, 0.4, 0.51):
        points = place(stream, made.map, clearance, count)
        found += len(points)
        wrong += violations(made, points, clearance)
    return found, wrong


@pytest.mark.parametrize("name", NAMES)
def test_the_clearance_is_kept_in_generated_places(name):
    assert placed(name, NAMES.index(name), 60) == (180, 0)


@pytest.mark.slow
def test_the_clearance_is_kept_at_a_hundred_thousand_points():
    found, wrong = np.sum([placed(name, number, 348) for name in NAMES for number in range(8)], axis=0)
    assert found >= 100_000
    assert wrong == 0


def test_the_check_finds_a_point_that_is_too_near():
    made = make("map_generators", "canteen", x=-4.0, y=9.0).generate(Stream("truth", 2, "place", 1))
    table = next(f for f in made.furniture if f.model == "table")
    beside = np.array([[table.x + 0.5 + 0.29, table.y], [-4.0 + 0.1 + 0.29, 15.0], [table.x, table.y]])
    assert violations(made, beside, 0.3) == 3
