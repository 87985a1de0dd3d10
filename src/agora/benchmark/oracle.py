"""The oracle of situations: a robot that knows beforehand where everybody will be, and drives to the goal in time.

The people of the episode do not see the robot, so where they are does not depend on what it does. A search over cells and moments
(dynamic programming over the layers of time: every cell is entered from the cells that the robot can leave in one tick) finds a
path that keeps clear of all of them; a controller follows it, and an ordinary episode shows whether the robot arrives without a
contact.

Among people who do see the robot, `foresee` drives again and again. A drive that fails, or that arrives but not clean, is kept up
to some seconds before the failure. Everybody does the same up to there, and the rest is searched anew among what people did then.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np

from agora.core.jit import kernel
from agora.core.recording import Outcome, Recording
from agora.core.state import Array, Doubles, Floats, Ints
from agora.episode import PLANNER, Conditions, Episodes
from agora.interfaces import Answer, Card, Declaration, Memory, Observation, Oracle, PathRequest, Watch
from agora.maps.grid import Map
from agora.metrics.clean import CleanArrival, spoils
from agora.metrics.proxemics import SOCIAL
from agora.planners.global_.astar import AStar
from agora.robots.model import RobotModel
from agora.tasks.suite import Suite
from agora.world.records import EVERY_CONTACT
from agora.world.start import Start

STRAIGHT_SPEED, CLOSE = 1.0, 0.5
"""Speed of the robot that gives way to nobody, m/s, and the gap to somebody, m, below which that is a conflict."""

_ATTEMPTS = ((0.15, 0.12, 0.0), (0.25, 0.12, 0.0), (0.12, 0.03, 0.0), (0.05, 0.03, 0.0), (0.15, 0.05, 6.0), (0.15, 0.05, 18.0))
"""Margins to people and to walls, m, and how long to stay at the start, s."""

_MARGINS, _BACK = (0.3, 0.2, 0.1, 0.05), (3.0, 5.0, 8.0, 2.0, 12.0, 1.5)
"""Of `foresee`, drive after drive: the margin to people, m, and how long before its end a failed drive is taken up again, s."""

_CLEAN = ((0.15, 0.1, 0.6), (0.1, 0.05, 0.5), (0.05, 0.05, 0.46))
"""Margin to people and to walls, and gap to people within which the robot comes no nearer, m, for a clean arrival."""

_CLEANER = 8
"""Drives of `foresee` that look for a clean arrival first."""

UNWATCHED = Watch()

_LENGTH_COST = np.float32(0.2)  # s/m
_ZERO, _ONE, _NEVER = np.float32(0.0), np.float32(1.0), np.float32(1e9)
_LINE, _BESIDE = 12, 0.2  # points on the line between two members of a group, and the distance kept from them, m
_LATER = np.float32(5.95)  # s after the first arrival; a later one is not cheaper
_FAR = 1e4
_BLAMED = np.float32(0.35)  # share of a decrease of the gap for which the robot is to blame, less some for inaccuracy
_SPARE = 0.15  # s before the latest clean arrival
_LIMITS = CleanArrival()
_SHARE = 0.95  # of the top speed; the controller catches up with the rest
_AHEAD, _STILL = 0.35, 0.06  # s and m


@dataclass(frozen=True)
class Lattice:
    """The cells and moments of a search, and the costs of motion on them.

    Attributes:
        cell: edge of a cell, m.
        tick: time between two moments, s.
        speed: largest speed, m/s. Moves of one tick lead to all cells within reach.
        parts: moments in a tick at which the gap to people and walls is checked, the end included.
        agility: cost of a change of velocity, s per (m/s)2.
        wide: gap below which closeness has a cost, m.
        penalty: largest cost of closeness, s per s.
        rounding: time over which corners are rounded, s.
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
        """Return a lattice on which a robot reaches about its top speed in all directions."""
        speed = _SHARE * robot.vx[1]
        cell = 0.1 if speed > 0.8 else 0.05
        tick = min(max(4.0 * cell / speed, 0.15), 0.5)
        rounding = min(max(speed / (robot.ax or math.inf), 0.2), 0.6)
        return Lattice(cell, tick, speed, math.ceil(tick / 0.125), 0.03, 0.9, 1.5, rounding)

    def moves(self) -> Ints:
        """Return (M, 2) rows and columns of all moves of a tick."""
        reach = self.speed * self.tick / self.cell + 1e-6
        most = int(reach)
        offsets = np.mgrid[-most : most + 1, -most : most + 1].reshape(2, -1).T
        return np.asarray(offsets[np.hypot(*offsets.T) <= reach], np.int32)


CAREFUL = Lattice()
"""Cells and moments of the oracle of situations: the robot goes at most 0.67 m/s along an axis and 0.94 m/s across."""


@dataclass(frozen=True, eq=False)
class Timed:
    """Drives along a track by the clock, without seeing people.

    Attributes:
        track: (T, 2) positions over time, m; one row per control period.
        delay: time from a command to its effect, s. The robot steers from its predicted pose after that time.
    """

    declares: ClassVar[Declaration] = Declaration()

    track: Doubles
    delay: float = 0.0

    def act(self, observation: Observation, memory: Memory) -> Answer:
        """Steer to where the track will be in a moment."""
        late = round(self.delay / observation.dt)
        step = memory.get("step", np.zeros(len(observation.pose), np.int64))
        sent = memory.get("sent", np.zeros((len(observation.pose), late, 3), np.float32))
        pose = observation.pose
        for twist in sent.swapaxes(0, 1):
            pose = _moved(pose, twist, observation.dt)
        ahead = self.track[np.minimum(step + late + round(_AHEAD / observation.dt), len(self.track) - 1)]
        dx, dy = (ahead - pose[:, :2]).T
        away = np.hypot(dx, dy)
        error = np.arctan2(dy, dx) - pose[:, 2]
        back = (np.cos(error) < -0.2) & (observation.limits.min_vx < 0)
        error = np.where(back, error + math.pi, error)
        error = np.where(away < _STILL, 0.0, np.arctan2(np.sin(error), np.cos(error)))
        speed = np.where((away >= _STILL) & (np.abs(error) < 1.4), away / _AHEAD * np.cos(error), 0.0)
        twists = np.zeros((len(away), 3), np.float32)
        twists[:, 0] = np.clip(np.where(back, -speed, speed), observation.limits.min_vx, observation.limits.max_vx)
        twists[:, 2] = np.clip(3.0 * error, -observation.limits.max_omega, observation.limits.max_omega)
        kept = np.concatenate([sent, twists[:, None]], axis=1)[:, 1:]
        return Answer(twists, {"step": step + 1, "sent": kept} if late else {"step": step + 1})


def _moved(pose: Array, twist: Array, dt: float) -> Array:
    """Poses (N, 3) after a time under twists (N, 3) without sideways motion."""
    turned = pose[:, 2] + 0.5 * dt * twist[:, 2]
    forward = dt * twist[:, 0]
    return np.stack(
        [pose[:, 0] + forward * np.cos(turned), pose[:, 1] + forward * np.sin(turned), pose[:, 2] + dt * twist[:, 2]], 1
    )


class Solution(NamedTuple):
    """The oracle's drive in one situation.

    Attributes:
        recording: recording of its drive, the last one that was tried.
        solved: whether it reached the goal without a contact.
        conflict: least gap to anybody, m, of a robot that drives straight at constant speed; infinite where nobody is there.
    """

    recording: Recording
    solved: bool
    conflict: float


def solve(card: Card, suite: Suite, episode: int) -> Solution:
    """Let the oracle drive one episode of a card.

    Args:
        card: the card.
        suite: suite whose first stage plays the card.
        episode: number of the episode.
    """
    start = suite.start(suite.stages[0].name, episode)
    conditions = replace(Conditions.of(suite.stages[0]), sees_robots=False)
    people = drive(start, np.zeros((1, 2)) + start.robots[0].pose[:2], replace(conditions, ends=0))
    straight = straight_gap(start, people)
    dt = conditions.periods.control
    for attempt in _ATTEMPTS:
        track = _escort(card.oracle, start, people, dt) if card.oracle != "search" else search(start, people, dt, *attempt)
        if track is None:
            continue
        done = drive(start, track, replace(conditions, ends=EVERY_CONTACT))
        if done.outcome == Outcome.REACHED:
            return Solution(done, True, straight)
        people = people if card.oracle == "search" else done
    return Solution(people if track is None else done, False, straight)


def drive(start: Start, track: Doubles, conditions: Conditions, watch: Watch = UNWATCHED) -> Recording:
    """Run one episode along a track."""
    episodes = Episodes(
        [start], Timed(track, start.robots[0].model.command_delay), conditions, before=watch.before, after=watch.after
    )
    _, recordings = next(iter(episodes))
    return recordings[0]


def straight_gap(start: Start, people: Recording) -> float:
    """Least gap, m, between the people of a recording and a robot that drives the shortest path and gives way to nobody."""
    robot, place = start.robots[0], start.map
    found = AStar().path(PathRequest(place, robot.pose, robot.goals[0], robot.model.radius))
    if found is None or len(people.pedestrian_id) == 0:
        return math.inf
    path = np.asarray(found, np.float64)
    along = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(path, axis=0).T))])
    way = people.time[people.time * STRAIGHT_SPEED <= along[-1]] * STRAIGHT_SPEED
    where = np.stack([np.interp(way, along, axis) for axis in path.T], axis=1)
    offset = people.pedestrian_position[: len(way)] - where[:, None]
    gap = np.hypot(offset[..., 0], offset[..., 1]) - people.pedestrian_radius - people.radius
    return float(np.where(people.pedestrian_present[: len(way)], gap, np.inf).min())


def foresee(start: Start, conditions: Conditions, drives: int = 24, watch: Watch = UNWATCHED) -> Recording:
    """Drive an episode until the robot arrives clean, each time knowing the people's motion of the drive before.

    The result bounds planners: a robot that knows the future, people's reactions included, arrives where this robot does.

    Args:
        start: start of the episode, whose first robot is driven.
        conditions: conditions of its stage.
        drives: largest number of drives.
        watch: told of every step of the world and every search.

    Returns:
        The first clean arrival (`agora.metrics.clean`); without one the first arrival; without any the last drive.
    """
    dt, free = conditions.periods.control, replace(conditions, ends=0)
    home, track, since = start.robots[0].pose[None, :2], np.zeros((0, 2)), 0.0
    lattice = Lattice.fast(start.robots[0].model)
    done = people = drive(start, home, free, watch)
    latest = _LIMITS.time * people.shortest_path / people.max_speed - _SPARE if people.max_speed > 0.0 else 0.0
    arrived = None
    for n in range(drives):
        if n >= _CLEANER and arrived is not None:
            break
        ways = [_Way(*clean, latest) for clean in _CLEAN if n < _CLEANER]
        margins = (_MARGINS[n % len(_MARGINS)], 0.05, 0.0)
        ways += [_Way(margin, 0.1 if n < 3 else 0.05) for margin in margins if arrived is None]
        delay = max(start.robots[0].model.command_delay - since, 0.0)
        found = (search(start, people, dt, delay=delay, since=since, lattice=lattice, **way._asdict()) for way in ways)
        watch.before(PLANNER)
        rest = next((way for way in found if way is not None), None)
        watch.after()
        if rest is None and arrived is not None:
            if since == 0.0:
                break
            since = 0.0
            continue
        if rest is None:
            track, since, people = np.zeros((0, 2)), 0.0, drive(start, home, free, watch)
            continue
        track = np.concatenate([track[: round(since / dt)], rest])
        done = drive(start, track, conditions, watch)
        end, people = float(done.time[-1]), done
        if done.outcome == Outcome.REACHED:
            spoilt = spoils(done)
            if not spoilt:
                return done
            arrived = arrived or done
            end = spoilt[0].time if len(spoilt) > 1 or spoilt[0].time < end else 0.0
        else:
            people = drive(start, track, free, watch)
        since = max(0.0, round((end - _BACK[n % len(_BACK)]) / dt) * dt)
        waits = max(round(since / dt) - len(track), 0)
        track = np.concatenate([track, np.repeat(track[-1:], waits, axis=0)])
    return done if arrived is None else arrived


class _Way(NamedTuple):
    """Arguments of a search."""

    margin: float
    wall: float
    keep: float = 0.0
    latest: float = math.inf


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
    """Return a track (T, 2), a row per control period ``dt``, that keeps away from everybody; None if there is none.

    Args:
        start: start of the episode, whose first robot is driven.
        people: recording of everybody in it, and of the robot.
        dt: control period, s.
        margin: distance kept from people beyond the radii, m.
        wall: distance kept from walls beyond the radius, m.
        delay: time to stay first, s.
        since: time at which the track begins, s, at the robot's place in the recording then.
        lattice: cells and moments of the search.
        keep: gap to people within which the robot comes no nearer by its own motion, m; where it is not 0, the track does not cross
            the line between two members of a group either.
        latest: time by which the robot arrives, s.
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
    walked, reach = _walked(people, moments, margin, keep > 0.0)
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
    """The arguments ``steps``, ``via`` and ``costs`` of `_explore`; velocity at the start (2,), rows and columns per tick."""
    cell, tick, parts, moves = lattice.cell, lattice.tick, lattice.parts, lattice.moves()
    shares = 1.0 - np.arange(1, parts + 1) / parts
    change, closeness = lattice.agility * (cell / tick) ** 2, lattice.penalty * tick / parts
    return (
        np.concatenate([moves, velocity[None]]).astype(np.float32),
        np.round(moves[:, None, :] * shares[:, None]).astype(np.int32),
        np.array([cell, tick, _LENGTH_COST * cell, change, lattice.wide, closeness, keep], np.float32),
    )


def _free(place: Map, shifted: Doubles, shape: tuple[int, int], cell: float, clearance: float) -> Floats:
    """(rows, columns) how far beyond the clearance each cell of the search is from walls, m; negative if it is too near."""
    row, column = np.mgrid[: shape[0], : shape[1]]
    points = np.stack([column, row], axis=-1).reshape(-1, 2) * cell + shifted
    gap = np.where(place.contains(points), place.gap(points, limit=2.0), -1.0) - clearance
    inside = np.minimum(points - place.origin, np.add(place.origin, place.size) - points).min(axis=1) - clearance
    return np.asarray(np.minimum(gap, inside).reshape(shape), np.float32)


def _walked(people: Recording, times: Doubles, margin: float, groups: bool) -> tuple[Doubles, Floats]:
    """(T, P, 2) positions to keep away from at the moments of the search, far away while absent, and (P,) distances to keep.

    They are the pedestrians and, if wanted, points on the lines between members of a group who are together.
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
    """Lower the gaps (rows, columns) of cells, m, to those to people (P, 2), in cells, where these are below ``wide``."""
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
    """Fill a box of ``gaps`` (parts, rows, columns) to walls and people, m, and of ``near`` (rows, columns) to pedestrians, m."""
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
    """Cost of closeness on a move into a cell; `_NEVER` if it leads through people or walls."""
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
    """Fill ``came`` (T, rows, columns) with the move into each cell, -1 if nobody can; return the tick of the arrival.

    Args:
        free: (rows, columns) gap to walls, m.
        people: ((T - 1) * parts + 1, P, 2) x and y, in cells.
        reach: (P,) distance kept from each of them, m.
        pedestrians: number of pedestrians, the first of them; the others are points on lines between members of groups.
        start: row and column of the start.
        goal: row and column of the goal.
        delay: ticks to stay first.
        moves: (M, 2) rows and columns of the moves.
        steps: (M + 1, 2) the moves, and the velocity at the start in the same unit.
        via: (M, parts, 2) rows and columns from the place at each part of a move to its end.
        costs: edge of a cell, m; a tick, s; cost per cell of length; cost per squared change of move; gap below which closeness
            has a cost, m; largest cost of closeness in a part of a tick; gap to pedestrians within which the robot comes no nearer,
            m.
        came: (T, rows, columns) of -1.
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
    """The path (T, 2) at control periods, corners rounded over a time, s."""
    moments = np.arange(0.0, times[-1] + dt, dt)
    track = np.stack([np.interp(moments, times, axis) for axis in places.T], axis=1)
    half = round(0.5 * rounding / dt)
    padded = np.concatenate([np.repeat(track[:1], half, 0), track, np.repeat(track[-1:], half, 0)])
    window = np.ones(2 * half + 1) / (2 * half + 1)
    return np.stack([np.convolve(axis, window, "valid") for axis in padded.T], axis=1)


def _escort(how: Oracle, start: Start, people: Recording, dt: float) -> Doubles:
    """A track (T, 2) behind or beside the pedestrian with id 1 and then to the goal, or ahead of it to the goal."""
    robot, goal = start.robots[0].pose[:2], start.robots[0].goals[0, :2]
    if how == "ahead":
        return _line(robot, goal, 0.5, dt)
    slot = int(np.flatnonzero(people.pedestrian_id == 1)[0])
    person = people.pedestrian_position[:, slot]
    if how == "beside":
        track = person + (robot - person[0])
    else:
        trail = np.concatenate([robot[None], person])
        along = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(trail, axis=0).T))])
        track = np.stack([np.interp(along[1:] - along[1], along, axis) for axis in trail.T], axis=1)
    moving = np.flatnonzero(np.hypot(*np.diff(track, axis=0).T) > 1e-4)
    track = track[: int(moving.max(initial=0)) + 1]
    return np.concatenate([track, _line(track[-1], goal, 0.5, dt)])


def _line(start: Doubles, end: Doubles, speed: float, dt: float) -> Doubles:
    """Return the points from a place to another at constant speed, a row a control period."""
    count = max(2, math.ceil(float(np.hypot(*(end - start))) / (speed * dt)))
    return start + np.linspace(0.0, 1.0, count)[:, None] * (end - start)
