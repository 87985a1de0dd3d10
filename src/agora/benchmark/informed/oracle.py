"""The situation oracle: a robot that knows in advance where everyone will be, and drives to the goal in time.

The people of the episode do not see the robot, so their positions do not depend on its motion. A search over cells and time steps
(`agora.benchmark.informed._search`) finds a trajectory that keeps away from all of these people. A controller follows the
trajectory in an ordinary episode, which shows whether the robot arrives without contact.

If people see the robot, `foresee` drives an episode repeatedly. If an attempt fails, or reaches the goal but is not clean, its
trajectory is kept up to a few seconds before the failure. Until then everyone repeats the same motion; the rest of the trajectory
is searched again, using the people's motion in the failed attempt.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np

from agora.benchmark.informed._search import Lattice, search
from agora.core.recording import Outcome, Recording
from agora.core.state import Array, Doubles
from agora.episode import PLANNER, Conditions, Episodes
from agora.interfaces import Answer, Card, Declaration, Memory, Observation, Oracle, PathRequest, Watch
from agora.metrics.clean import CleanArrival, spoiling_moments
from agora.planners.global_.astar import AStar
from agora.tasks.suite import Suite
from agora.world.records import EVERY_CONTACT
from agora.world.start import Start

STRAIGHT_SPEED, CLOSE = 1.0, 0.5
"""Speed of a robot that does not give way, m/s, and the gap to a person, m, below which the situation counts as a conflict."""

_ATTEMPTS = ((0.15, 0.12, 0.0), (0.25, 0.12, 0.0), (0.12, 0.03, 0.0), (0.05, 0.03, 0.0), (0.15, 0.05, 6.0), (0.15, 0.05, 18.0))
"""Parameters of successive attempts: margin to people, m; margin to walls, m; time to stay at the start, s."""

_MARGINS, _BACK = (0.3, 0.2, 0.1, 0.05), (3.0, 5.0, 8.0, 2.0, 12.0, 1.5)
"""Parameters of successive attempts of `foresee`: the margin to people, m, and how long before its end a failed attempt is resumed,
s.
"""

_CLEAN = ((0.15, 0.1, 0.6), (0.1, 0.05, 0.5), (0.05, 0.05, 0.46))
"""Parameters of searches for a clean arrival, all in m: margin to people, margin to walls, and gap to people below which the
robot's own motion must not reduce the gap further.
"""

_CLEANER = 8
"""Number of initial attempts in which `foresee` searches for a clean arrival."""

UNWATCHED = Watch()

_SPARE = 0.15  # s, how long before the time limit of a clean arrival the robot should arrive
_LIMITS = CleanArrival()
_AHEAD, _STILL = 0.35, 0.06  # look-ahead time, s, and distance below which the robot stops, m


@dataclass(frozen=True, eq=False)
class Timed:
    """Planner that follows a timed trajectory without seeing people.

    Attributes:
        track: (T, 2) positions over time, m; one row per control period.
        delay: time from a command to its effect, s. The robot steers from the pose predicted for the end of this delay.
    """

    declares: ClassVar[Declaration] = Declaration()

    track: Doubles
    delay: float = 0.0

    def act(self, observation: Observation, memory: Memory) -> Answer:
        """Steer towards the position that the trajectory reaches a short time later."""
        late = round(self.delay / observation.dt)
        step = memory.get("step", np.zeros(len(observation.pose), np.int64))
        sent = memory.get("sent", np.zeros((len(observation.pose), late, 3), np.float32))
        pose = observation.pose
        for twist in sent.swapaxes(0, 1):
            pose = _advance(pose, twist, observation.dt)
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


def _advance(pose: Array, twist: Array, dt: float) -> Array:
    """Return the poses (N, 3) after moving for ``dt`` seconds with constant twists (N, 3) that have no sideways component."""
    turned = pose[:, 2] + 0.5 * dt * twist[:, 2]
    forward = dt * twist[:, 0]
    return np.stack(
        [pose[:, 0] + forward * np.cos(turned), pose[:, 1] + forward * np.sin(turned), pose[:, 2] + dt * twist[:, 2]], 1
    )


class Solution(NamedTuple):
    """The trajectory that the oracle drove in one situation.

    Attributes:
        recording: recording of the last attempt.
        solved: whether the robot reached the goal without contact.
        conflict: minimum gap, m, between any person and a robot that takes the shortest path at constant speed; infinite without
            people.
    """

    recording: Recording
    solved: bool
    conflict: float


def solve(card: Card, suite: Suite, episode: int) -> Solution:
    """Let the oracle drive one episode of a card.

    Args:
        card: the card.
        suite: suite whose first stage runs the card.
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
    """Run one episode in which the first robot follows a trajectory (T, 2), m, and return its recording."""
    episodes = Episodes(
        [start], Timed(track, start.robots[0].model.command_delay), conditions, before=watch.before, after=watch.after
    )
    _, recordings = next(iter(episodes))
    return recordings[0]


def straight_gap(start: Start, people: Recording) -> float:
    """Return the minimum gap, m, between a recording's people and a robot that takes the shortest path and does not give way."""
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
    """Drive an episode repeatedly until the arrival is clean (`agora.metrics.clean`). Each attempt is planned using the motion of
    the people in the previous attempt.

    The result gives an upper bound for planners, because this robot knows the future, including people's reactions.

    Args:
        start: start of the episode, whose first robot is driven.
        conditions: conditions of the episode's stage.
        drives: maximum number of attempts.
        watch: watch that is called at every step of the world and for every search.

    Returns:
        The recording of the first clean arrival; if no arrival is clean, of the first arrival; if the robot never arrives, of the
        last attempt.
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
            spoilt = spoiling_moments(done)
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
    """Margins and time limit of a search, as passed to `search`."""

    margin: float
    wall: float
    keep: float = 0.0
    latest: float = math.inf


def _escort(how: Oracle, start: Start, people: Recording, dt: float) -> Doubles:
    """Return a trajectory (T, 2), m, of a robot that follows or accompanies the pedestrian with id 1 and then drives to the goal,
    or that drives to the goal ahead of the pedestrian.
    """
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
    """Return the positions on a straight line between two points at constant speed, one row per control period."""
    count = max(2, math.ceil(float(np.hypot(*(end - start))) / (speed * dt)))
    return start + np.linspace(0.0, 1.0, count)[:, None] * (end - start)
