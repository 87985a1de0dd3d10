"""The way over the local costmap: as cheap as the best over its cells, and what a robot without a map does in a dead end."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import dijkstra

from agora.core.recording import Outcome, Reason
from agora.episode import Conditions, Episodes
from agora.errors import InputError
from agora.interfaces import SEEN, Costmap
from agora.maps.grid import Map
from agora.optics.lidar import Lidar
from agora.planners.inter.replan import Replan, remember
from agora.planners.presets import named_planner
from agora.testing import observation
from starts import DISC, start

CELL, ORIGIN = 0.1, np.array([-1.3, 2.2], np.float32)


def scene(cost, here, path):
    """One robot on a costmap (rows, columns) whose first cell has its corner at ORIGIN; places are in cells, (column, row)."""
    points = (ORIGIN + CELL * (np.atleast_2d(path) + 0.5)).astype(np.float32)[None]
    place = ORIGIN + CELL * (np.asarray(here) + 0.5)
    return replace(
        observation(rows=1, pedestrians=0), pose=np.array([[*place, 0.7]], np.float32), path=points,
        path_count=np.array([points.shape[1]], np.int32), goal=np.array([[*points[0, -1], 0.4]], np.float32),
        costmap=Costmap(np.asarray(cost, np.uint8)[None], ORIGIN[None], CELL),
    )  # fmt: skip


def cells_of(found):
    """The new path in cells, (column, row)."""
    return (found.path[0, : found.path_count[0]].astype(float) - ORIGIN) / CELL - 0.5


def price(cost, points, share=0.8 / 50.0):
    """Return the cost of a path in cells, in cell lengths; infinite where it touches a closed cell."""
    total = 0.0
    for p, q in zip(points[:-1], points[1:], strict=True):
        along = p + np.linspace(0.0, 1.0, 41)[:, None] * (q - p)
        column, row = np.floor(along + 0.5).astype(int).T
        under = cost[row, column].astype(float)
        total += math.dist(p, q) * float(np.where(under >= 253, np.inf, 1.0 + share * under).mean())
    return total


def cheapest(cost, here, there, share=0.8 / 50.0):
    """The same of the best way over 8-connected cells that cuts no closed corner, by scipy."""
    rows, columns = cost.shape
    factor = np.where(cost >= 253, np.inf, 1.0 + share * cost)
    edges = []
    for row, column in np.argwhere(np.isfinite(factor)):
        for up, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
            r, c = row + up, column + right
            if not (0 <= r < rows and 0 <= c < columns):
                continue
            if np.isfinite([factor[r, c], factor[row, c], factor[r, column]]).all():
                long = math.hypot(up, right) * 0.5 * (factor[row, column] + factor[r, c])
                edges.append((row * columns + column, r * columns + c, long))
    one, other, long = np.array(edges).T
    graph = coo_array((long, (one.astype(int), other.astype(int))), (rows * columns,) * 2)
    return float(dijkstra(graph, directed=False, indices=here[1] * columns + here[0])[there[1] * columns + there[0]])


@pytest.mark.parametrize("seed", range(8))
def test_the_way_is_open_and_no_dearer_than_the_best_one_over_the_cells(seed):
    rng = np.random.default_rng(seed)
    cost = rng.choice([0, 40, 200, 253, 254, 255], (23, 41), p=[0.5, 0.2, 0.1, 0.08, 0.08, 0.04]).astype(np.uint8)
    cost[[0, -1]], cost[:, [0, -1]] = 255, 255  # else it may go round the window, where nothing is known
    here, there = (2, 19), (37, 4)
    for column, row in (here, there):
        cost[row, column] = 0
    best = cheapest(cost, here, there)
    found, _ = Replan(lookahead=20.0).guide(scene(cost, here, [here, (20, 20), there]), {})
    if not math.isfinite(best):
        assert found.path_count[0] == 0
        return
    points = cells_of(found)
    assert points[0] == pytest.approx(here, abs=1e-3) and points[-1] == pytest.approx(there, abs=1e-3)
    assert price(cost, points) <= best * 1.02


def test_in_the_open_the_way_is_straight_also_beyond_the_window():
    there = np.array([70.3, -25.6])
    found, _ = Replan(lookahead=50.0).guide(scene(np.zeros((30, 40)), (20, 15), there), {})
    points = cells_of(found)
    assert price(np.zeros((200, 200), np.uint8), points) == pytest.approx(math.dist((20, 15), there), rel=1e-4)
    assert points[-1] == pytest.approx(there, abs=1e-3)


@pytest.mark.parametrize("side", [-1, 1])
def test_a_gap_on_one_side_of_the_path_is_taken(side):
    cost = np.zeros((41, 60), np.uint8)
    cost[:, 30], cost[20 + side * 12, 30] = 254, 0
    path = np.stack((np.linspace(5, 80, 76), np.full(76, 20.0)), axis=1)
    found, _ = Replan(lookahead=4.5).guide(scene(cost, (5, 20), path), {})
    points = cells_of(found)
    through = np.argmin(np.abs(points[:, 0] - 30.0))
    assert points[through, 1] == pytest.approx(20 + side * 12, abs=0.5)
    assert math.isfinite(price(np.pad(cost, ((0, 0), (0, 30))), points))
    assert points[-30:] == pytest.approx(path[-30:], abs=1e-3), "from the place on the path it is the old one"
    assert (found.goal == scene(cost, (5, 20), path).goal).all()


def test_a_closed_place_gives_way_to_the_next_open_one_and_at_the_end_of_the_path_to_the_one_before():
    path = np.stack((np.arange(5.0, 56.0), np.full(51, 10.0)), axis=1)
    cost = np.zeros((21, 60), np.uint8)
    cost[8:13, 33:38] = 253
    points = cells_of(Replan(lookahead=3.0).guide(scene(cost, (5, 10), path), {})[0])
    assert math.isfinite(price(cost, points)) and points[-1] == pytest.approx(path[-1], abs=1e-3)
    walled = np.zeros((21, 60), np.uint8)
    walled[5:16, 50:] = 254
    found = Replan(lookahead=20.0).guide(scene(walled, (5, 10), path), {})[0]
    assert found.goal[0, :2] == pytest.approx(found.path[0, found.path_count[0] - 1])
    assert cells_of(found)[-1] == pytest.approx((49, 10), abs=1e-3)


@pytest.mark.parametrize("closed", [253, 254, 255])
def test_a_way_that_is_closed_is_driven_to_its_end_and_there_the_robot_stands_and_says_so(closed):
    cost = np.zeros((21, 60), np.uint8)
    cost[:, 30] = closed
    found, _ = Replan(lookahead=50.0).guide(scene(cost, (5, 10), [(5, 10), (50, 10)]), {})
    assert cells_of(found)[-1] == pytest.approx((50, 10), abs=1e-3), "round the ends of the wall, where nothing is known"
    cost[[0, -1]], cost[:, [0, -1]] = closed, closed
    found, _ = Replan(lookahead=50.0).guide(scene(cost, (5, 10), [(5, 10), (50, 10)]), {})
    assert cells_of(found)[-1] == pytest.approx((29, 10), abs=0.51)
    near = scene(cost, (25, 10), [(5, 10), (50, 10)])
    found, _ = Replan(lookahead=50.0).guide(near, {})
    assert found.path_count[0] == 0 and found.reason[0] == Reason.NO_PATH
    for planner in ("orca", "go_to_goal", "pure_pursuit", "teb"):
        answer = named_planner(f"{planner}+replan:lookahead=50.0")[1].part.act(near, {})
        twists, _memory = answer.twists, answer.memory
        assert not twists.any() and answer.notes["reason"][0] == Reason.NO_PATH, planner


def test_a_goal_just_too_near_to_a_wall_is_driven_to_as_near_as_can_be():
    cost = np.zeros((21, 60), np.uint8)
    cost[:, 40:] = 253
    for goal, reached in ((43, True), (46, False)):
        found, _ = Replan().guide(scene(cost, (37, 10), [(5, 10), (goal, 10)]), {})
        assert (found.path_count[0] > 0) == reached
        assert not reached or cells_of(found)[-1] == pytest.approx((39, 10), abs=0.51)


def test_a_robot_without_a_way_recovers_if_its_planner_does():
    cost = np.full((41, 41), 254, np.uint8)
    cost[8:33, 8:33] = 0
    o = scene(cost, (20, 20), [(20, 20), (60, 20)])
    o = replace(o, path=o.path[:, 1:], path_count=np.ones(1, np.int32))
    planner, memory, turned = named_planner("recovering:controller_patience=0.5,planner=dwa+replan:memory=0.0")[1].part, {}, []
    for _ in range(12):
        answer = planner.act(o, memory)
        twists, memory = answer.twists, answer.memory
        turned.append(bool(twists[0, 2]))
    assert turned == [False] * 6 + [True] * 6


@pytest.mark.parametrize("place", [(10.0, 30.0), (33.0, 30.0)])
def test_an_open_place_that_cannot_be_reached_is_passed_over(place):
    cost = np.zeros((61, 90), np.uint8)
    cost[20:41, 25:46] = 254
    cost[21:40, 26:45] = 0
    path = np.stack((np.linspace(5, 80, 76), np.full(76, 30.0)), axis=1)
    found, _ = Replan(lookahead=3.0).guide(scene(cost, place, path), {})
    points = cells_of(found)
    assert math.isfinite(price(cost, points)) and points[0] == pytest.approx(place, abs=1e-3)
    inside = place[0] > 25
    assert points[-1] == pytest.approx((44, 30) if inside else (80, 30), abs=0.51)


def test_the_place_is_counted_from_where_the_robot_is_and_looked_for_no_farther_than_two_metres():
    path = np.stack((np.linspace(0, 80, 5), np.full(5, 10.0)), axis=1)
    cost = np.zeros((21, 90), np.uint8)
    points = cells_of(Replan(lookahead=1.5).guide(scene(cost, (31, 13), path), {})[0])
    first = points[np.abs(points[:, 1] - 10.0) < 1e-3][0]
    assert first[0] == pytest.approx(46, abs=1.01), "and not at the path's next own point"
    cost[:, 44:62] = 253
    points = cells_of(Replan(lookahead=1.5).guide(scene(cost, (31, 13), path), {})[0])
    assert points[-1] == pytest.approx((80, 10), abs=1e-3), "the next open place is 1.6 m farther"
    cost[:, 44:70] = 253
    points = cells_of(Replan(lookahead=1.5).guide(scene(cost, (31, 13), path), {})[0])
    assert points[-1, 0] == pytest.approx(43, abs=1.01), "the next one is 2.4 m farther: the way ends before"


def test_costs_are_weighed_as_they_are_asked_to_be_and_points_lie_as_far_apart():
    cost = np.zeros((41, 80), np.uint8)
    cost[:31, 20:60] = 120
    straight, round_it = (
        cells_of(Replan(lookahead=50.0, factor=f).guide(scene(cost, (5, 10), (75, 10)), {})[0]) for f in (0.0, 2.0)
    )
    assert np.abs(straight[:, 1] - 10.0).max() < 0.51 < 10.0 < np.abs(round_it[:, 1] - 10.0).max()
    for spacing in (0.1, 0.45):
        found, _ = Replan(lookahead=50.0, spacing=spacing).guide(scene(np.zeros((20, 80)), (5, 10), (75, 10)), {})
        steps = np.linalg.norm(np.diff(found.path[0, : found.path_count[0]], axis=0), axis=1)
        assert 0.7 * spacing < steps.min() and steps.max() <= spacing * 1.001


def test_what_windows_have_shown_is_remembered_where_it_was():
    """Against a dictionary of cells, with windows that are not square, go anywhere and begin anew in one row."""
    rng = np.random.default_rng(4)
    rows, high, wide, cell, side = 3, 30, 42, 0.1, 7.0
    above, beside = (70 - high) // 2, (70 - wide) // 2
    at, memory = rng.integers(-90, 90, (rows, 2)), {}
    known = [{} for _ in range(rows)]
    for step in range(25):
        if step == 12:
            memory["begun"][1] = False
            memory[SEEN]["cost"][1] = 0
            memory["origin"][1] = 0.0
            known[1] = {}
        at += rng.integers(-9, 10, (rows, 2)) * (8 if step == 20 else 1)
        cost = rng.choice([0, 60, 253, 254], (rows, high, wide)).astype(np.uint8)
        if step % 7 == 3:
            cost[2] = 255
        window = Costmap(cost, (at * cell + (3.35, -2.15)).astype(np.float32), cell)
        shown, blind, memory = remember(window, side, memory)
        assert blind.tolist() == [False, False, step % 7 == 3]
        for n, (x, y) in enumerate(at):
            ring = 10
            for i in range(high if not blind[n] else 0):
                for j in range(wide):
                    rim = min(i, j, high - 1 - i, wide - 1 - j) < ring
                    old = known[n].get((x + j, y + i), 0) if rim else 0
                    known[n][x + j, y + i] = max(old, int(cost[n, i, j]))
            inside = {
                (x + j - beside, y + i - above): int(shown.cost[n, i, j])
                for i in range(70)
                for j in range(70)
                if shown.cost[n, i, j]
            }
            known[n] = {k: v for k, v in known[n].items() if -beside <= k[0] - x < 70 - beside and -above <= k[1] - y < 70 - above}
            assert inside == {k: v for k, v in known[n].items() if v}
            corner = (at[n] - (beside, above)) * cell + (3.35, -2.15)
            assert shown.origin[n] == pytest.approx(corner, abs=1e-4)


def test_what_is_remembered_closes_a_way_until_it_leaves_none():
    """Somebody who stood in a corridor stays in mind, out of sight; but not where then nothing is left."""
    walled, there = np.zeros((31, 41), np.uint8), (200, 15)
    walled[[0, -1]] = 254
    person, closed = walled.copy(), walled.copy()
    person[:, 30:34], closed[:, 0] = 254, 254
    opening = closed.copy()
    opening[0, 5:15] = 0
    for first, then, detour in ((person, closed, False), (person, opening, True)):
        memory, planner = {}, Replan(lookahead=50.0, memory=20.0)
        for back, cost in ((0, first), (-14, then)):
            o = scene(cost, (20, 15), there)
            shift = np.array([back * CELL, 0.0], np.float32)
            o = replace(o, pose=o.pose + [*shift, 0.0], costmap=replace(o.costmap, origin=o.costmap.origin + shift))
            found, memory = planner.guide(o, memory)
        points = cells_of(found)
        assert points[-1] == pytest.approx(there, abs=1e-3)
        assert (np.abs(points[:, 1] - 15.0).max() > 15.0) == detour
        assert (memory[SEEN]["cost"] > 0).sum() == (then > 0).sum() + detour * (
            4 * 29 + 14 * 2 + 1
        )  # somebody, walls, wall in the rim


def test_a_robot_that_is_far_away_from_its_path_is_left_with_it():
    for away, left in ((490, False), (510, True)):
        o = scene(np.full((20, 20), 40), (10, 10), [(5, 10 + away), (80, 10 + away)])
        found, _ = Replan().guide(o, {})
        assert (found.path_count[0] == 2) == left


def test_a_robot_too_near_to_an_obstacle_is_led_away_from_it():
    cost = np.zeros((31, 31), np.uint8)
    cost[10:21, 10:21] = 253
    cost[14:17, 14:17] = 254
    found, _ = Replan(lookahead=50.0).guide(scene(cost, (18, 15), [(18, 15), (2, 15)]), {})
    points = cells_of(found)
    column, row = np.floor(points + 0.5).astype(int).T
    assert points[0] == pytest.approx((18, 15), abs=1e-3) and not (cost[row, column] == 254).any()
    assert (cost[row[8:], column[8:]] == 0).all()


def test_its_own_window_counts_where_the_local_planner_reads_none():
    sizes = {"orca:wall_horizon=0.0": 12.0, "pure_pursuit": 12.0, "orca": 4.0, "dwa": 10.0}
    for planner, size in sizes.items():
        assert named_planner(f"{planner}+replan:window={{size: 12.0}}")[1].part.declares.channels["costmap"].size == size, planner


def test_parameters_that_mean_nothing_are_refused():
    for wrong in ({"memory": -1.0}, {"lookahead": 0.0}, {"lookahead": 60.0}, {"neutral": 0.0}, {"factor": -1.0}, {"spacing": 0.0}):
        with pytest.raises(InputError, match=next(iter(wrong))):
            Replan(**wrong)


DEAD_END = [
    "####################",
    "#                  #",
    "#                  #",
    "#     #######      #",
    "#           #      #",
    "#           #      #",
    "#           #      #",
    "#     #######      #",
    "#                  #",
    "####################",
]


def test_without_a_map_the_robot_drives_into_a_dead_end_and_out_again():
    occupied = np.kron([[letter == "#" for letter in line] for line in DEAD_END], np.ones((10, 10), bool))
    place = Map("dead_end", 0.1, (-3.1, 1.7), occupied[::-1])
    model = replace(DISC, ax=2.0, alpha=6.0, lidar=Lidar(beams=720, range_max=8.0))
    begun = start(pose=(-0.4, 6.1, 0.2), goal=(14.6, 6.3, 0.0), place=place, model=model, timeout=120.0)
    way = {}
    seen = "replan:lookahead=50.0,window={resolution: 0.1, sources: [scan], obstacle_range: 3.5, raytrace_range: 3.0}"
    for name, planner in (("map", "pure_pursuit"), ("none", f"pure_pursuit+{seen}")):
        ((_, (made,)),) = list(Episodes([begun], named_planner(planner)[1].part, Conditions(ends=0)))
        assert made.outcome == Outcome.REACHED
        way[name] = (made.pose.T, float(np.hypot(*np.diff(made.pose[:, :2], axis=0).T).sum()))
    inside = {name: ((np.abs(x - 6.9) < 2.0) & (np.abs(y - 6.2) < 1.2)).any() for name, ((x, y, _), _) in way.items()}
    assert inside["none"] and not inside["map"]
    assert way["none"][1] > way["map"][1] + 1.0
