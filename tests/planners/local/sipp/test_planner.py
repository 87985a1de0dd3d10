"""Safe interval path planning: against a search over all times, and among people who walk as expected."""

from __future__ import annotations

import heapq
import math
from dataclasses import replace

import numpy as np
import pytest
from tests.planners.local.observations import beside, observe, tracks

from agora.core.recording import Reason
from agora.core.state import freeze
from agora.costmap.walls import window_of
from agora.errors import InputError
from agora.planners._expected import discs
from agora.planners.local.sipp import Sipp
from agora.planners.local.sipp._plan import plan, scratch
from agora.planners.local.sipp._planner import Parameters
from agora.planners.local.sipp._search import INTERVALS, STEPS, intervals, path_lengths, search_earliest
from agora.predictors.constant_velocity import ConstantVelocity

F = np.float32
STEP = 0.125


def walled(inside):
    """Cells (R, C) with a blocked border about them."""
    return np.pad(np.asarray(inside, bool), 1, constant_values=True)


def masks(shape, unsafe):
    """Masks (R, C) of cells; ``unsafe`` maps a cell to its unsafe steps."""
    made = np.zeros(shape, np.uint64)
    for cell, steps in unsafe.items():
        for k in steps:
            made[cell] |= np.uint64(1) << np.uint64(k)
    return made


def search(blocked, unsafe, start, target, pace=2.0 * STEP):
    """Whether the target is reached, the arrival and the way: cells with the times at which they are reached."""
    rows, columns = blocked.shape
    cells = blocked.size
    togo, heap = np.empty(cells, F), np.empty(cells * INTERVALS, np.int64)
    counts, bounds = np.empty(cells, np.int64), np.empty((cells, INTERVALS, 2), np.int64)
    arrival, parent, done = (np.empty(cells * INTERVALS, kind) for kind in (F, np.int64, np.bool_))
    first, last = (row * columns + column for row, column in (start, target))
    path_lengths(blocked.ravel(), columns, last, togo, heap)
    intervals(unsafe.ravel(), counts, bounds)
    found, state = search_earliest(
        *(blocked.ravel(), columns, first, last, togo, counts, bounds, F(STEP), F(pace), arrival, parent, done, heap)
    )
    way = [state]
    while parent[way[-1]] != way[-1]:
        way.append(parent[way[-1]])
    return found, arrival[state], [(divmod(s // INTERVALS, columns), float(arrival[s])) for s in way[::-1]]


def is_safe(unsafe, cell, k):
    """Whether a cell is safe in step k; the last step stands for ever."""
    return not (int(unsafe[cell]) >> min(k, STEPS - 1)) & 1


def all_times(blocked, unsafe, start, target):
    """Earliest step of arrival by straight moves of two steps, waits included, over every cell at every step; None for never."""
    queue, seen = [(0, start)], set()
    while queue:
        k, cell = heapq.heappop(queue)
        if (k, cell) in seen or k > 3 * STEPS:
            continue
        seen.add((k, cell))
        if cell == target:
            return k
        if not is_safe(unsafe, cell, k + 1):
            continue
        heapq.heappush(queue, (k + 1, cell))
        for row, column in ((0, 1), (0, -1), (1, 0), (-1, 0)):
            other = (cell[0] + row, cell[1] + column)
            if not blocked[other] and is_safe(unsafe, other, k + 1) and is_safe(unsafe, other, k + 2):
                heapq.heappush(queue, (k + 2, other))
    return None


def test_it_arrives_as_early_as_a_search_over_all_times(rng):
    lattice = np.zeros((7, 9), bool)
    lattice[1::2, 1::2] = True  # no diagonal is free
    reached = 0
    for _ in range(120):
        blocked = walled(lattice | (rng.random(lattice.shape) < 0.08))
        unsafe = np.zeros(blocked.shape, np.uint64)
        for _ in range(rng.integers(5, 60)):
            begin, row, column = rng.integers(1, 50), rng.integers(1, 8), rng.integers(1, 10)
            unsafe |= masks(unsafe.shape, {(row, column): range(begin, min(begin + int(rng.integers(2, 30)), STEPS))})
        start, target = (1, 1), (7, 9)
        blocked[start] = blocked[target] = False
        unsafe[start] &= ~np.uint64(7)
        found, arrival, _ = search(blocked, unsafe, start, target)
        expected = all_times(blocked, unsafe, start, target)
        assert found == (expected is not None)
        if found:
            assert arrival == pytest.approx(STEP * expected)
            reached += 1
    assert 40 < reached < 120


def test_in_the_open_its_way_is_safe_and_no_later_than_one_of_straight_moves(rng):
    later = 0
    for _ in range(60):
        blocked = walled(rng.random((8, 10)) < 0.1)
        unsafe = np.zeros(blocked.shape, np.uint64)
        for _ in range(40):
            begin = int(rng.integers(2, 40))
            cell = tuple(rng.integers(1, 9, 2))
            unsafe |= masks(unsafe.shape, {cell: range(begin, begin + int(rng.integers(3, 20)))})
        start, target = (1, 1), (8, 10)
        blocked[start] = blocked[target] = False
        found, arrival, way = search(blocked, unsafe, start, target)
        expected = all_times(blocked, unsafe, start, target)
        if expected is None:
            continue
        assert found and arrival <= STEP * expected + 1e-5
        later += arrival > 0.25 * (7 * math.sqrt(2.0) + 2) + 1e-4
        for (one, since), (other, until) in zip(way[:-1], way[1:], strict=True):
            move = 2.0 * STEP * math.dist(one, other)
            assert not blocked[other] and not blocked[one[0], other[1]] and not blocked[other[0], one[1]]
            leave = until - move
            assert leave >= since - 1e-5
            assert all(
                is_safe(unsafe, one, k) for k in range(int(since / STEP + 1e-4), math.ceil((leave + move / 2) / STEP - 1e-4))
            )
            assert all(
                is_safe(unsafe, other, k) for k in range(int((leave + move / 2) / STEP + 1e-4), int(until / STEP + 1e-4) + 1)
            )
    assert later > 10


def test_it_waits_where_waiting_is_soonest_and_goes_round_where_that_is():
    hall = walled(np.zeros((1, 7)))
    gate = {(1, 4): range(2, 20)}
    found, arrival, way = search(hall, masks(hall.shape, gate), (1, 1), (1, 7))
    assert found and [cell for cell, _ in way] == [(1, k) for k in range(1, 8)]
    assert way[3][1] == pytest.approx((20 + 1) * STEP) and arrival == pytest.approx((20 + 1 + 6) * STEP)
    wide = walled(np.zeros((3, 7)))
    gates = masks(wide.shape, gate | {(2, 4): range(2, 20)})
    found, arrival, way = search(wide, gates, (1, 1), (1, 7))
    assert found and (3, 4) in [cell for cell, _ in way]
    assert arrival == pytest.approx(2.0 * STEP * (4 * math.sqrt(2.0) + 2), abs=1e-4)


def test_where_the_target_is_never_safe_it_goes_where_it_may_stay_longest():
    hall = walled(np.zeros((1, 7)))
    unsafe = {(1, k): range(3 * k + 6, STEPS) for k in range(1, 7)} | {(1, 7): range(STEPS)}
    found, _, way = search(hall, masks(hall.shape, unsafe), (1, 2), (1, 7))
    assert not found and way[-1][0] == (1, 6)


def test_the_cells_of_the_plan_are_those_that_walls_and_people_leave(rng):
    place, moving = rng.uniform(-2.5, 2.5, (1, 6, 2)), rng.normal(0, 0.7, (1, 6, 2))
    place[np.hypot(*np.moveaxis(place, -1, 0)) < 1.0] *= 3.0
    o = beside(
        observe([(0.3, -0.2, 0.4)], [(9.0, 2.0)], pedestrians=tracks(place, moving, 0.3)), [[1.5, -3.0, 1.7, 1.0]], cell=0.05
    )
    columns, cell, step, margin, padding = 41, 0.15, 0.1, 0.25, 0.02
    seen, _ = discs(ConstantVelocity(), o, STEPS - 1, step, {})
    s, wanted, reasons = scratch(columns), np.zeros((1, 2), F), np.zeros(1, np.int8)
    planner = Sipp(cell=cell, margin=margin, padding=padding, regain=0.4, lookahead=1.0)
    p = Parameters.of(planner, columns=columns, step=step, speed=freeze(np.ones(1, F)))
    about = tuple(freeze(array) for array in (seen.position, seen.radius, seen.present, seen.expected))
    robot, route = (freeze(o.pose), freeze(o.radius)), (freeze(o.path), freeze(o.path_count))
    plan(p, s, robot, route, about, window_of(o.costmap, 1), F(0.1), wanted, reasons, 0, 1)
    ticks = (np.arange(columns) - columns // 2) * cell
    towards = (o.path[0, 0] - o.pose[0, :2]).astype(float)
    c, d = np.where(np.abs(towards) == np.abs(towards).max(), np.sign(towards), 0.0)
    middles = np.stack(np.meshgrid(ticks, ticks), -1) @ [[c, d], [-d, c]] + o.pose[0, :2].astype(float)
    at = place[0] + np.arange(STEPS)[:, None, None] * step * moving[0]
    keep = np.minimum(0.25 + 0.3 + margin, np.hypot(*(place[0] - o.pose[0, :2]).T) + 0.4 * step * np.arange(STEPS)[:, None])
    away = np.hypot(*np.moveaxis(middles[:, :, None, None] - at, -1, 0)) - keep
    unsafe = (s.unsafe.reshape(columns, columns, 1) >> np.arange(STEPS, dtype=np.uint64)) & np.uint64(1) == 1
    clear = np.abs(away).min(-1) > 1e-3
    clear[columns // 2, columns // 2, 0] = False  # where it is, it may be
    assert (unsafe == (away < 0.0).any(-1))[clear].all() and unsafe.any()
    cost, origin, res = o.costmap.cost[0], o.costmap.origin[0].astype(float), o.costmap.resolution
    lethal = np.argwhere(cost == 254)[:, ::-1] * res + res / 2 + origin
    gap = np.hypot(*np.moveaxis(middles[:, :, None] - lethal, -1, 0)).min(-1) - 0.25 - padding - res * math.sqrt(0.5)
    blocked = s.blocked.reshape(columns, columns)[1:-1, 1:-1]
    sure = np.abs(gap[1:-1, 1:-1]) > 1e-3
    assert (blocked == (gap[1:-1, 1:-1] < 0.0))[sure].all() and blocked.any()


def drive(planner, wall, person, velocity, goal, start=(0.0, 0.0, 0.0), seconds=14.0, top=1.0):
    """The ways of a robot without inertia, and of people who walk on whatever it does: places, gaps and reasons at each step."""
    pose, person, dt = np.array([start]), np.array(person, float), 0.1
    places, gaps, reasons, memory = [], [], [], {}
    for _ in range(int(seconds / dt)):
        seen = tracks(person[None], np.array(velocity, float)[None])
        o = observe(
            pose, [goal], pedestrians=seen, path=[[start[:2], goal]], path_count=[2], dt=dt, max_vx=top, max_vy=top, min_vx=-top
        )
        answer = planner.act(beside(o, wall, cell=0.05, cells=160), memory)
        memory = answer.memory
        c, s = math.cos(pose[0, 2]), math.sin(pose[0, 2])
        vx, vy, _ = answer.twists[0]
        pose = pose + dt * np.array([[c * vx - s * vy, s * vx + c * vy, 0.0]])
        person = person + dt * np.array(velocity)
        places.append(pose[0, :2].copy())
        gaps.append(np.hypot(*(person - pose[0, :2]).T).min() - 0.25 - 0.3)
        reasons.append(answer.notes["reason"][0])
        if math.dist(pose[0, :2], goal) < 0.1:
            break
    return np.array(places), np.array(gaps), np.array(reasons)


CORRIDOR = [[-4.0, 0.55, 1.2, 0.55], [2.4, 0.55, 9.0, 0.55], [-4.0, -0.55, 9.0, -0.55]]
NICHE = [[1.2, 0.55, 1.2, 1.75], [2.4, 0.55, 2.4, 1.75], [1.2, 1.75, 2.4, 1.75]]
SHUT = [[1.2, 0.55, 2.4, 0.55]]


def test_in_a_corridor_it_lets_somebody_pass_from_a_niche():
    places, gaps, _ = drive(Sipp(margin=0.1), CORRIDOR + NICHE, [(5.5, 0.0)], [(-0.9, 0.0)], (4.5, 0.0))
    assert places[:, 1].max() > 0.5
    assert math.dist(places[-1], (4.5, 0.0)) < 0.1 and gaps.min() > 0.0


def test_in_a_corridor_without_one_it_goes_back_and_says_so():
    places, gaps, reasons = drive(Sipp(margin=0.1), CORRIDOR + SHUT, [(4.5, 0.0)], [(-0.7, 0.0)], (4.5, 0.0), seconds=7.0)
    assert places[-1, 0] < places[:, 0].max() - 0.5 and gaps.min() > 0.0
    assert (reasons == Reason.ESCAPING).sum() > 10


def test_among_people_who_walk_as_expected_it_touches_nobody_and_arrives(rng):
    for _ in range(6):
        person = rng.uniform((1.0, -4.0), (6.0, 4.0), (14, 2))
        velocity = rng.normal(0.0, 0.5, (14, 2))
        places, gaps, _ = drive(Sipp(margin=0.15), [[-3.0, 8.0, 9.0, 8.0]], person, velocity, (7.0, 0.5), seconds=30.0)
        assert gaps.min() > 0.0 and math.dist(places[-1], (7.0, 0.5)) < 0.1


def test_alone_it_drives_straight_at_full_speed_and_comes_to_the_goal_itself():
    places, _, reasons = drive(Sipp(), [[-3.0, 3.0, 6.0, 3.0]], [(90.0, 90.0)], [(0.0, 0.0)], (3.1, -1.3), seconds=6.0)
    assert math.dist(places[-1], (3.1, -1.3)) < 0.1 and len(places) <= 37
    across = places @ np.array([1.3, 3.1]) / math.hypot(1.3, 3.1)
    assert np.abs(across).max() < 0.3 and (reasons == Reason.NONE).all()


def test_who_is_nearer_than_the_margin_is_left():
    for around in (0.5, -2.0):
        here = 0.65 * np.array([math.cos(around), math.sin(around)])
        o = observe(
            [(0.0, 0.0, around)], [(0.05, 0.0)], pedestrians=tracks([[here]]), path=[[(0.0, 0.0), (0.05, 0.0)]], path_count=[2]
        )
        twist = Sipp(margin=0.4).act(o, {}).twists[0]
        assert twist[0] < 0.0


def test_its_own_speed_and_a_wrong_cell():
    o = observe([(0.0, 0.0, 0.0)], [(3.0, 0.0)], path=[[(0.0, 0.0), (3.0, 0.0)]], path_count=[2])
    assert Sipp(speed=0.4).act(o, {}).twists[0, 0] == pytest.approx(0.4, abs=1e-5)
    assert Sipp(speed=0.4).declares.top_speed == pytest.approx(0.4)
    nowhere = replace(o, path_count=np.zeros(1, np.int32))
    answer = Sipp().act(nowhere, {})
    assert (answer.twists == 0.0).all() and answer.notes["reason"][0] == Reason.NO_PATH
    with pytest.raises(InputError, match="cell"):
        Sipp(cell=0.01)
