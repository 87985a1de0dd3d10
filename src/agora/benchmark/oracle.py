"""The oracle of situations: a robot that knows beforehand where everybody will be, and drives to the goal in time.

The people of the episode do not see the robot, so where they are does not depend on what it does. A search over cells and moments
(dynamic programming over the layers of time: every cell is entered from itself or one of its eight neighbours) finds a way that
keeps clear of all of them; a controller follows it, and an ordinary episode shows whether the robot arrives without a contact.

Among people who do see the robot, `foresee` drives again and again. A drive that fails is kept up to some seconds before its end.
Everybody does the same up to there, and the rest is searched anew among what people did then.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np

from agora.core.jit import kernel
from agora.core.recording import Outcome, Recording
from agora.core.state import Array, Doubles, Floats
from agora.episode import PLANNER, Conditions, Episodes
from agora.interfaces import Answer, Card, Declaration, Memory, Observation, Oracle, PathRequest, Watch
from agora.maps.grid import Map
from agora.planners.global_.astar import AStar
from agora.tasks.suite import Suite
from agora.world.records import EVERY_CONTACT
from agora.world.start import Start

CELL, TICK = 0.1, 0.15
"""Of the search, m and s: a robot goes at most 0.67 m/s along an axis and 0.94 m/s across; `foresee` goes as fast as the robot."""

STRAIGHT_SPEED, CLOSE = 1.0, 0.5
"""Speed of the robot that gives way to nobody, m/s, and the gap to somebody, m, below which that is a conflict."""

_ATTEMPTS = ((0.15, 0.12, 0.0), (0.25, 0.12, 0.0), (0.12, 0.03, 0.0), (0.05, 0.03, 0.0), (0.15, 0.05, 6.0), (0.15, 0.05, 18.0))
"""Margins to people and to walls, m, and how long to stay at the start, s."""

_MARGINS, _BACK = (0.3, 0.2, 0.1, 0.05), (3.0, 5.0, 8.0, 2.0, 12.0, 1.5)
"""Of `foresee`, drive after drive: the margin to people, m, and how long before its end a failed drive is taken up again, s."""

_WIDE, _PENALTY, _LENGTH_COST = np.float32(0.45), np.float32(0.6), np.float32(0.2)
UNWATCHED = Watch()

_ZERO, _ONE, _NEVER = np.float32(0.0), np.float32(1.0), np.float32(1e9)
_AHEAD, _STILL = 0.35, 0.06  # s and m


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
    """Drive an episode until the goal is reached, each time knowing the people's motion of the drive before; return the last drive.

    A bound for planners: whoever knows the future, people's answers included, arrives where this does.

    Args:
        start: start of the episode, whose first robot is driven.
        conditions: conditions of its stage.
        drives: largest number of drives.
        watch: told of every step of the world and every search.
    """
    dt, free = conditions.periods.control, replace(conditions, ends=0)
    home, track, since = start.robots[0].pose[None, :2], np.zeros((0, 2)), 0.0
    tick = max(0.1, CELL * math.sqrt(2.0) / (0.85 * start.robots[0].model.vx[1]))
    done = people = drive(start, home, free, watch)
    for n in range(drives):
        wall = 0.1 if n < 3 else 0.05
        margins = (_MARGINS[n % len(_MARGINS)], 0.05, 0.0)
        found = (search(start, people, dt, margin, wall, since=since, tick=tick) for margin in margins)
        watch.before(PLANNER)
        rest = next((way for way in found if way is not None), None)
        watch.after()
        if rest is None:
            track, since, people = np.zeros((0, 2)), 0.0, drive(start, home, free, watch)
            continue
        track = np.concatenate([track[: round(since / dt)], rest])
        done = drive(start, track, conditions, watch)
        if done.outcome == Outcome.REACHED:
            break
        people = drive(start, track, free, watch)
        since = max(0.0, round((float(done.time[-1]) - _BACK[n % len(_BACK)]) / dt) * dt)
        waits = max(round(since / dt) - len(track), 0)
        track = np.concatenate([track, np.repeat(track[-1:], waits, axis=0)])
    return done


def search(
    start: Start,
    people: Recording,
    dt: float,
    margin: float,
    wall: float = 0.05,
    delay: float = 0.0,
    since: float = 0.0,
    tick: float = TICK,
) -> Doubles | None:
    """Return a track (T, 2), a row a control period ``dt``, that keeps away from everybody; None where there is none.

    Args:
        start: start of the episode, whose first robot is driven.
        people: recording of everybody in it, and of the robot.
        dt: control period, s.
        margin: distance kept from people beyond the radii, m.
        wall: distance kept from walls beyond the radius, m.
        delay: time to stay first, s.
        since: time at which the track begins, s, at the robot's place in the recording then.
        tick: time step of the search, s.
    """
    then = min(int(np.searchsorted(people.time, since)), len(people.time) - 1)
    robot = np.asarray(people.pose[then, :2], np.float64)
    goal = start.robots[0].goals[0, :2]
    rows, columns = (int(v) for v in np.ceil(np.array(start.map.size[::-1]) / CELL))
    shifted = start.map.origin + np.mod(robot - start.map.origin, CELL) - CELL
    free = _free(start.map, shifted, (rows + 1, columns + 1), people.radius + wall)
    times = np.arange(since, start.timeout - 2.0, tick)
    walked = _resampled(people, times)
    cells = ((walked - shifted) / CELL).astype(np.float32)
    reach = (people.pedestrian_radius + people.radius + margin).astype(np.float32)
    ends = [tuple(int(v) for v in np.round((p - shifted) / CELL)[::-1]) for p in (robot, goal)]
    came = np.full((len(times), *free.shape), -1, np.int8)
    last = _explore(free, cells, reach, ends[0], ends[1], round(delay / tick), np.float32(tick), came) if len(times) else -1
    if last < 0:
        return None
    cell, track = ends[1], []
    for t in range(last, -1, -1):
        track.append(cell)
        move = int(came[t, cell[0], cell[1]])
        cell = (cell[0] - (move // 3 - 1), cell[1] - (move % 3 - 1)) if t else cell
    places = np.array(track[::-1])[:, ::-1] * CELL + shifted
    return _smooth(places, times[: last + 1] - since, dt)


def _free(place: Map, shifted: Doubles, shape: tuple[int, int], clearance: float) -> Floats:
    """(rows, columns) how far beyond the clearance each cell of the search is from walls, m; negative where it is too near."""
    row, column = np.mgrid[: shape[0], : shape[1]]
    points = np.stack([column, row], axis=-1).reshape(-1, 2) * CELL + shifted
    gap = np.where(place.contains(points), place.gap(points, limit=2.0), -1.0) - clearance
    inside = np.minimum(points - place.origin, np.add(place.origin, place.size) - points).min(axis=1) - clearance
    return np.asarray(np.minimum(gap, inside).reshape(shape), np.float32)


def _resampled(people: Recording, times: Doubles) -> Doubles:
    """(T, P, 2) where everybody is at the moments of the search; far away while not there."""
    at = np.minimum(np.searchsorted(people.time, times), len(people.time) - 1)
    return np.where(people.pedestrian_present[at][..., None], people.pedestrian_position[at], 1e4)


@kernel
def _explore(
    free: Floats,
    people: Floats,
    reach: Floats,
    start: tuple[int, int],
    goal: tuple[int, int],
    delay: int,
    tick: np.float32,
    came: Array,
) -> int:
    """Fill ``came`` (T, rows, columns) with the move into each cell, -1 where nobody can; return when the goal is reached."""
    ticks, rows, columns = came.shape
    cell = np.float32(CELL)
    cost, after = np.full((rows, columns), _NEVER), np.full((rows, columns), _NEVER)
    cost[start[0], start[1]] = _ZERO
    came[0, start[0], start[1]] = 4
    best, when = _NEVER, -1
    for t in range(1, ticks):
        for row in range(rows):
            for column in range(columns):
                after[row, column] = _NEVER
                if free[row, column] < _ZERO:
                    continue
                least, move = _NEVER, -1
                for k in range(9):
                    a, b = row - (k // 3 - 1), column - (k % 3 - 1)
                    if 0 <= a < rows and 0 <= b < columns and (t > delay or k == 4):
                        steps = (a != row) + (b != column)
                        length = _ZERO if steps == 0 else (cell if steps == 1 else np.float32(1.4142135) * cell)
                        c = cost[a, b] + _LENGTH_COST * length
                        if c < least:
                            least, move = c, k
                if move < 0 or least >= _NEVER:
                    continue
                gap = free[row, column]
                for p in range(people.shape[1]):
                    dx, dy = people[t, p, 0] - np.float32(column), people[t, p, 1] - np.float32(row)
                    gap = min(gap, np.float32(math.sqrt(dx * dx + dy * dy)) * cell - reach[p])
                if gap < _ZERO and t > delay:
                    continue
                pressed = max(_ONE - gap / _WIDE, _ZERO)
                after[row, column] = least + tick + _PENALTY * tick * pressed * pressed
                came[t, row, column] = move
        cost, after = after, cost
        if cost[goal[0], goal[1]] < best:
            best, when = cost[goal[0], goal[1]], t
        if when >= 0 and t > when + 40:
            break
    return when


def _smooth(places: Doubles, times: Doubles, dt: float) -> Doubles:
    """The way (T, 2) at control periods, corners rounded over 0.6 s."""
    moments = np.arange(0.0, times[-1] + dt, dt)
    track = np.stack([np.interp(moments, times, axis) for axis in places.T], axis=1)
    half = round(0.3 / dt)
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
