"""The detour round standing bodies is as long as the path of a plain search, and touches no body."""

from __future__ import annotations

import heapq
import itertools

import numpy as np
import pytest
from tests.engines import engine
from tests.places import moved
from tests.starts import people, start

from agora.core.jit import kernel
from agora.engine import detour
from agora.engine.routes import _empty_routes
from agora.maps.grid import Map
from agora.testing.scenes import Move

CELL, REACH = 0.15, 0.63  # m, 0.3 m of both bodies and 0.03 m between
HERE = Move()
ROWS, COLUMNS = range(-8, 25), range(-20, 21)


@kernel
def _way(maps, people_, traits, routes, robots, robot_traits, to_x, to_y, cost):
    return detour.next_point(maps, maps.index[0], people_, traits, routes, robots, robot_traits, 3, 0, 0, to_x, to_y, cost)


def hall() -> Map:
    """A hall of 14 x 9 m with a wall in it."""
    return Map.from_shapes(segments=[[4.0, 0.0, 4.0, 2.0]], bounds=(-4.0, -4.5, 10.0, 4.5), name="hall")


def compiled(places, to, move=HERE):
    """The point (2,) to which a pedestrian at the origin goes, in its own frame, the length of the whole path, and whether it is a
    detour round bodies.
    """
    places = move.points(np.array([(0.0, 0.0), *places]))
    world = engine([start(pose=(9.0, 4.0, 0.0), crowd=people(places, places), place=moved(hall(), move))], routes=True).world
    end = move.points(np.array(to))
    routes, cost = _empty_routes((1, world.slots)), np.zeros(detour.CELLS, np.float32)
    routes.route_x[0, : len(places)], routes.route_y[0, : len(places)] = places.T
    there = (world.maps, world.pedestrians, world.traits, routes, world.robots, world.robot_traits)
    x, y, left, found = _way(*there, *np.float32(end), cost)
    at = np.array([x, y])
    length = left + np.hypot(*(at - places[0])) if found else np.hypot(*(end - places[0]))
    back = (at - (move.dx, move.dy)) @ np.array([[np.cos(move.turn), -np.sin(move.turn)], [np.sin(move.turn), np.cos(move.turn)]])
    return back * (1.0, move.side), float(length), bool(found)


def plain(places, to):
    """Length of the shortest 8-connected path over the grid to the line through the point, and on to it; infinite if none."""
    distance = float(np.hypot(*to))
    ahead = np.array(to) / distance
    right = np.array([ahead[1], -ahead[0]])
    last = min(int(distance / CELL + 0.5), ROWS[-1])

    def free(cell):
        at = CELL * (cell[0] * ahead + cell[1] * right)
        apart = [np.hypot(*(at - place)) >= min(REACH, np.hypot(*place)) for place in places]
        return all(apart) and hall().clearance_at(at[None])[0] >= 0.95 * 0.3

    cells = {cell for cell in itertools.product(ROWS, COLUMNS) if cell == (0, 0) or free(cell)}
    costs, queue = {(0, 0): 0.0}, [(0.0, (0, 0))]
    while queue:
        cost, (a, b) = heapq.heappop(queue)
        for da, db in itertools.product((-1, 0, 1), repeat=2):
            there, total = (a + da, b + db), cost + CELL * float(np.hypot(da, db))
            if there in cells and total < costs.get(there, np.inf) - 1e-9:
                costs[there] = total
                heapq.heappush(queue, (total, there))
    ends = [cost + np.hypot(max(distance - CELL * last, 0.0), CELL * b) for (a, b), cost in costs.items() if a == last]
    return min(ends, default=np.inf)


@pytest.mark.parametrize("seed", range(6))
def test_the_detour_is_as_long_as_the_path_of_a_plain_search(seed):
    rng = np.random.default_rng(seed)
    to, places = rng.uniform((2.0, -0.5), (3.5, 0.5)), rng.uniform((0.7, -1.2), (2.5, 1.2), (3 + seed, 2))
    places[0] = 0.6 * to  # on the way
    point, length, found = compiled(places, to)
    expected = plain(places, to)
    assert found == np.isfinite(expected)
    if found:
        assert length == pytest.approx(expected, abs=1e-3)
        along = np.linspace(0.15, 1.0, 20)[:, None] * point
        apart = np.hypot(*(along[:, None] - places).transpose(2, 0, 1))
        assert (apart > np.minimum(REACH, np.hypot(*places.T)) - CELL).all()


def test_the_path_leads_straight_ahead_if_nobody_blocks_it():
    assert compiled([(2.0, 1.0)], (3.0, 0.0))[2] is False


def test_of_two_equally_long_paths_the_right_hand_one_is_taken():
    point, _, found = compiled([(1.0, 0.0)], (3.0, 0.0))
    assert found and point[1] < -0.3


@pytest.mark.parametrize("move", [Move(turn=np.pi / 2), Move(3.2, -6.4), Move(mirror=True)])
def test_the_detour_moves_with_the_scene(move):
    places, to = [(1.1, -0.2), (1.3, 0.9)], (3.0, 0.4)
    (here, length, _), (there, moved_length, found) = compiled(places, to), compiled(places, to, move)
    assert found and there == pytest.approx(here, abs=0.02) and moved_length == pytest.approx(length, abs=0.02)


def test_there_is_no_detour_out_of_a_ring_of_people():
    angles = np.linspace(0.0, 2.0 * np.pi, 9)[:-1]
    assert compiled(1.1 * np.stack([np.cos(angles), np.sin(angles)], -1), (3.0, 0.0))[2] is False
