"""A search over cells and time steps for a trajectory that keeps away from people whose motion is known.

The search uses dynamic programming over time layers: a cell can be entered from all cells from which it can be reached in one tick.
Each cell keeps only its cheapest predecessor, so the cost of velocity changes is approximate.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from agora.core.jit import kernel
from agora.core.recording import Recording
from agora.core.state import Array, Doubles, Floats, Ints
from agora.maps.grid import Map
from agora.metrics.quantities.zones import SOCIAL
from agora.robots.model import RobotModel
from agora.world.start import Start

_LENGTH_COST = np.float32(0.2)  # s/m, cost of distance travelled
_ZERO, _ONE, _NEVER = np.float32(0.0), np.float32(1.0), np.float32(1e9)
_LINE, _BESIDE = 12, 0.2  # number of points on the line between two group members, and the distance kept from these points, m
_LATER = np.float32(5.95)  # s, how long arrivals after the first one are considered; even later arrivals are not cheaper
_FAR = 1e4
_BLAMED = np.float32(0.35)  # share of a gap reduction above which the robot is to blame; lowered to allow for inaccuracy
_SHARE = 0.95  # fraction of the top speed; the controller uses the rest to catch up


@dataclass(frozen=True)
class Lattice:
    """The cells and time steps of a search, and the costs of moving between cells.

    Attributes:
        cell: edge of a cell, m.
        tick: time step, s.
        speed: maximum speed, m/s. In one tick, the robot can move to any cell that does not require a higher speed.
        parts: number of times per tick at which the gap to people and walls is checked; the last one is the end of the tick.
        agility: cost of a velocity change, s per (m/s)2.
        wide: gap to people and walls below which a proximity cost applies, m.
        penalty: maximum proximity cost, s per s.
        rounding: time over which corners of the trajectory are smoothed, s.
    """

    cell: float = 0.1
    tick: float = 0.15
    speed: float = 0.95
    parts: int = 1
    agility: float = 0.0
    wide: float = 0.45
    penalty: float = 0.6
    rounding: float = 0.6

    @staticmethod
    def fast(robot: RobotModel) -> Lattice:
        """Return a lattice on which a robot can drive at nearly its top speed in all directions."""
        speed = _SHARE * robot.vx[1]
        cell = 0.1 if speed > 0.8 else 0.05
        tick = min(max(4.0 * cell / speed, 0.15), 0.5)
        rounding = min(max(speed / (robot.ax or math.inf), 0.2), 0.6)
        return Lattice(cell, tick, speed, math.ceil(tick / 0.125), 0.03, 0.9, 1.5, rounding)

    def moves(self) -> Ints:
        """Return the offsets (M, 2) of all moves of one tick, in rows and columns."""
        reach = self.speed * self.tick / self.cell + 1e-6
        most = int(reach)
        offsets = np.mgrid[-most : most + 1, -most : most + 1].reshape(2, -1).T
        return np.asarray(offsets[np.hypot(*offsets.T) <= reach], np.int32)


CAREFUL = Lattice()
"""Lattice of the situation oracle, on which the robot drives at most 0.67 m/s along an axis and 0.94 m/s diagonally."""


def search(
    start: Start,
    people: Recording,
    dt: float,
    margin: float,
    wall: float = 0.05,
    delay: float = 0.0,
    since: float = 0.0,
    lattice: Lattice = CAREFUL,
    keep: float = 0.0,
    latest: float = math.inf,
) -> Doubles | None:
    """Return a trajectory (T, 2), m, that keeps away from everyone, one row per period ``dt``; None if none is found.

    Args:
        start: start of the episode, whose first robot is driven.
        people: recording of all people in the episode, and of the robot.
        dt: control period, s.
        margin: distance kept from people in addition to the radii, m.
        wall: distance kept from walls in addition to the radius, m.
        delay: time for which the robot stays in place at the beginning, s.
        since: time at which the trajectory begins, s; it begins at the robot's position in the recording at that time.
        lattice: cells, time steps and costs of the search.
        keep: gap to people below which the robot's own motion must not reduce the gap further, m; if this is not 0, the trajectory
            must not cross the line between two members of a group either.
        latest: time by which the robot must arrive, s.
    """
    then = min(int(np.searchsorted(people.time, since)), len(people.time) - 1)
    robot = np.asarray(people.pose[then, :2], np.float64)
    goal = start.robots[0].goals[0, :2]
    cell, tick, parts = lattice.cell, lattice.tick, lattice.parts
    rows, columns = (int(v) for v in np.ceil(np.array(start.map.size[::-1]) / cell))
    shifted = start.map.origin + np.mod(robot - start.map.origin, cell) - cell
    free = _free(start.map, shifted, (rows + 1, columns + 1), cell, people.radius + wall)
    times = np.arange(since, min(start.timeout - 2.0, latest), tick)
    if not len(times):
        return None
    moments = np.asarray(since + np.arange((len(times) - 1) * parts + 1) * (tick / parts), np.float64)
    walked, reach = _places_to_avoid(people, moments, margin, keep > 0.0)
    cells = ((walked - shifted) / cell).astype(np.float32)
    ends = [tuple(int(v) for v in np.round((p - shifted) / cell)[::-1]) for p in (robot, goal)]
    came = np.full((len(times), *free.shape), -1, np.int8)
    moves = lattice.moves()
    heading, forward = float(people.pose[then, 2]), float(people.twist[then, 0])
    velocity = np.array([math.sin(heading), math.cos(heading)]) * (forward * tick / cell)
    steps, via, costs = _tables(lattice, max(keep - margin, 0.0), velocity)
    count = len(people.pedestrian_radius)
    last = _explore(free, cells, reach, count, ends[0], ends[1], math.ceil(delay / tick - 1e-6), moves, steps, via, costs, came)
    if last < 0:
        return None
    at, track = ends[1], []
    for t in range(last, -1, -1):
        track.append(at)
        if t:
            move = moves[came[t, at[0], at[1]]]
            at = (at[0] - int(move[0]), at[1] - int(move[1]))
    places = np.array(track[::-1])[:, ::-1] * cell + shifted
    return _smooth(places, times[: last + 1] - since, dt, lattice.rounding)


def _tables(lattice: Lattice, keep: float, velocity: Doubles) -> tuple[Floats, Ints, Floats]:
    """Return the arguments ``steps``, ``via`` and ``costs`` of `_explore`; the start velocity (2,) is in rows and columns per
    tick.
    """
    cell, tick, parts, moves = lattice.cell, lattice.tick, lattice.parts, lattice.moves()
    shares = 1.0 - np.arange(1, parts + 1) / parts
    change, closeness = lattice.agility * (cell / tick) ** 2, lattice.penalty * tick / parts
    return (
        np.concatenate([moves, velocity[None]]).astype(np.float32),
        np.round(moves[:, None, :] * shares[:, None]).astype(np.int32),
        np.array([cell, tick, _LENGTH_COST * cell, change, lattice.wide, closeness, keep], np.float32),
    )


def _free(place: Map, shifted: Doubles, shape: tuple[int, int], cell: float, clearance: float) -> Floats:
    """Return the distance (rows, columns) of each search cell to the nearest wall, minus the clearance, m; negative if the cell is
    too close to a wall.
    """
    row, column = np.mgrid[: shape[0], : shape[1]]
    points = np.stack([column, row], axis=-1).reshape(-1, 2) * cell + shifted
    gap = np.where(place.contains(points), place.gap(points, limit=2.0), -1.0) - clearance
    inside = np.minimum(points - place.origin, np.add(place.origin, place.size) - points).min(axis=1) - clearance
    return np.asarray(np.minimum(gap, inside).reshape(shape), np.float32)


def _places_to_avoid(people: Recording, times: Doubles, margin: float, groups: bool) -> tuple[Doubles, Floats]:
    """Return the positions (T, P, 2) to avoid at the times of the search, and the distances (P,) to keep from them.

    These are the positions of the pedestrians and, if ``groups`` is True, of points on the lines between group members who walk
    together. Absent pedestrians are placed far away.
    """
    at = np.minimum(np.searchsorted(people.time, times), len(people.time) - 1)
    there, place = people.pedestrian_present[at], people.pedestrian_position[at]
    walked, reach = [np.where(there[..., None], place, _FAR)], [people.pedestrian_radius + people.radius + margin]
    if groups:
        number = np.where(there, people.pedestrian_group[at], -1)
        one, other = np.triu_indices(number.shape[1], 1)
        together = (number[:, one] == number[:, other]) & (number[:, one] >= 0)
        some = together.any(axis=0)
        one, other, together = one[some], other[some], together[:, some]
        ends = place[:, one], place[:, other]
        together &= np.hypot(*np.moveaxis(ends[1] - ends[0], -1, 0)) <= SOCIAL
        for share in (np.arange(_LINE) + 0.5) / _LINE:
            walked.append(np.where(together[..., None], (1.0 - share) * ends[0] + share * ends[1], _FAR))
            reach.append(np.full(len(one), _BESIDE))
    return np.concatenate(walked, axis=1), np.concatenate(reach).astype(np.float32)


@kernel
def _approach(
    gaps: Floats, people: Floats, reach: Floats, cell: np.float32, wide: np.float32, left: np.float32, top: np.float32
) -> None:
    """Replace each cell's gap (rows, columns), m, by its gap to the nearest person if this is smaller and below ``wide``; positions
    (P, 2) are in cells.
    """
    rows, columns = gaps.shape
    for p in range(people.shape[0]):
        x, y, within = people[p, 0] - left, people[p, 1] - top, (reach[p] + wide) / cell
        for row in range(max(0, int(math.ceil(y - within))), min(rows, int(math.floor(y + within)) + 1)):
            dy = y - np.float32(row)
            for column in range(max(0, int(math.ceil(x - within))), min(columns, int(math.floor(x + within)) + 1)):
                dx = x - np.float32(column)
                gap = np.float32(math.sqrt(dx * dx + dy * dy)) * cell - reach[p]
                gaps[row, column] = min(gaps[row, column], gap)


@kernel
def _layers(
    gaps: Floats,
    near: Floats,
    free: Floats,
    people: Floats,
    reach: Floats,
    pedestrians: int,
    costs: Floats,
    box: tuple[int, int, int, int],
) -> None:
    """Fill a box of cells in ``gaps`` (parts, rows, columns) with the gaps to walls and people, m, and in ``near`` (rows, columns)
    with the gaps to pedestrians, m.
    """
    top, bottom, left, right = box
    cell, wide, keep = costs[0], costs[4], costs[6]
    x, y = np.float32(left), np.float32(top)
    for j in range(gaps.shape[0]):
        gaps[j, top:bottom, left:right] = free[top:bottom, left:right]
        _approach(gaps[j, top:bottom, left:right], people[j], reach, cell, wide, x, y)
    if keep > _ZERO:
        near[top:bottom, left:right] = keep
        _approach(near[top:bottom, left:right], people[gaps.shape[0] - 1, :pedestrians], reach, cell, keep, x, y)


@kernel
def _closeness(gaps: Floats, row: int, column: int, via: Ints, wide: np.float32, most: np.float32, moves: bool) -> np.float32:
    """Return the proximity cost of a move into a cell; `_NEVER` if the move leads through people or walls."""
    cost = _ZERO
    for j in range(via.shape[0]):
        gap = gaps[j, row - via[j, 0], column - via[j, 1]]
        if gap < _ZERO and moves:
            return _NEVER
        pressed = max(_ONE - gap / wide, _ZERO)
        cost += most * pressed * pressed
    return cost


@kernel
def _explore(
    free: Floats,
    people: Floats,
    reach: Floats,
    pedestrians: int,
    start: tuple[int, int],
    goal: tuple[int, int],
    delay: int,
    moves: Ints,
    steps: Floats,
    via: Ints,
    costs: Floats,
    came: Array,
) -> int:
    """Fill ``came`` (T, rows, columns) with the index of the best move into each cell that can be reached, and return the tick of
    arrival at the goal, -1 if the goal is not reached.

    Args:
        free: (rows, columns) gap to walls, m.
        people: ((T - 1) * parts + 1, P, 2) x and y of each position to avoid, in cells.
        reach: (P,) distance kept from each position in ``people``, m.
        pedestrians: number of pedestrians, whose positions come first in ``people``; the rest are points on lines between group
            members.
        start: row and column of the start cell.
        goal: row and column of the goal cell.
        delay: number of ticks for which the robot stays in place at the beginning.
        moves: (M, 2) offsets of the moves, in rows and columns.
        steps: (M + 1, 2) the moves, followed by the velocity at the start, in rows and columns per tick.
        via: (M, parts, 2) offset, in rows and columns, from the position at each part of a move to the end of the move.
        costs: (7,) edge of a cell, m; time step, s; cost per cell of length; cost per squared change between moves; gap below which
            a proximity cost applies, m; maximum proximity cost per part of a tick; gap to pedestrians below which the robot's own
            motion must not reduce the gap further, m.
        came: (T, rows, columns) indices of moves, filled with -1 by the caller.
    """
    ticks, rows, columns = came.shape
    count, parts = via.shape[0], via.shape[1]
    cell, tick, length_cost, change_cost = costs[0], costs[1], costs[2], costs[3]
    wide, closeness, keep = costs[4], costs[5], costs[6]
    far = np.max(np.abs(moves))
    lengths = np.sqrt(steps[:, 0] * steps[:, 0] + steps[:, 1] * steps[:, 1])
    cost, after = np.full((rows, columns), _NEVER), np.full((rows, columns), _NEVER)
    gaps = np.empty((parts, rows, columns), np.float32)
    near, later = np.full((rows, columns), keep), np.full((rows, columns), keep)
    if keep > _ZERO:
        _approach(near, people[0, :pedestrians], reach, cell, keep, _ZERO, _ZERO)
    cost[start[0], start[1]] = _ZERO
    came[0, start[0], start[1]] = count
    best, when = _NEVER, -1
    for t in range(1, ticks):
        top, bottom = max(start[0] - far * t, 0), min(start[0] + far * t + 1, rows)
        left, right = max(start[1] - far * t, 0), min(start[1] + far * t + 1, columns)
        _layers(gaps, later, free, people[(t - 1) * parts + 1 :], reach, pedestrians, costs, (top, bottom, left, right))
        reached = False
        for row in range(top, bottom):
            for column in range(left, right):
                after[row, column] = _NEVER
                if free[row, column] < _ZERO or (gaps[parts - 1, row, column] < _ZERO and t > delay):
                    continue
                least, move = _NEVER, -1
                for k in range(count):
                    a, b = row - moves[k, 0], column - moves[k, 1]
                    if not (0 <= a < rows and 0 <= b < columns) or cost[a, b] >= _NEVER:
                        continue
                    if t <= delay and (moves[k, 0] != 0 or moves[k, 1] != 0):
                        continue
                    before = came[t - 1, a, b]
                    u, v = steps[k, 0] - steps[before, 0], steps[k, 1] - steps[before, 1]
                    c = cost[a, b] + tick + length_cost * lengths[k] + change_cost * (u * u + v * v)
                    if c >= least:
                        continue
                    if later[row, column] < keep and t > delay:
                        own = later[a, b] - later[row, column]
                        if own > _BLAMED * (own + max(near[a, b] - later[a, b], _ZERO)) and own > _ZERO:
                            continue
                    c += _closeness(gaps, row, column, via[k], wide, closeness, t > delay)
                    if c < least:
                        least, move = c, k
                if move >= 0:
                    after[row, column] = least
                    came[t, row, column] = move
                    reached = True
        cost, after = after, cost
        near, later = later, near
        if cost[goal[0], goal[1]] < best:
            best, when = cost[goal[0], goal[1]], t
        if not reached or (when >= 0 and tick * np.float32(t - when) > _LATER):
            break
    return when


def _smooth(places: Doubles, times: Doubles, dt: float, rounding: float) -> Doubles:
    """Return the trajectory (T, 2), one row per control period, with corners smoothed over ``rounding`` seconds."""
    moments = np.arange(0.0, times[-1] + dt, dt)
    track = np.stack([np.interp(moments, times, axis) for axis in places.T], axis=1)
    half = round(0.5 * rounding / dt)
    padded = np.concatenate([np.repeat(track[:1], half, 0), track, np.repeat(track[-1:], half, 0)])
    window = np.ones(2 * half + 1) / (2 * half + 1)
    return np.stack([np.convolve(axis, window, "valid") for axis in padded.T], axis=1)
