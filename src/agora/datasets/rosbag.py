"""Reads episodes from bags of Agora's graph and from equivalent MCAP files. Agora's recorder writes one episode per bag; ``rosbag
record -a`` may write several.

An episode is built from the messages of the graph's nodes in the same way in which `agora.episode.Episodes` builds it from the
engine: there is a sample at every control step and one at the end, each taken from the message of that step. A bag recorded in lock
step therefore gives a recording that is bit-identical to running the episode in this process. In real time, each sample uses the
most recently published pedestrians.
"""

from __future__ import annotations

import bisect
import math
from pathlib import Path
from typing import Any

import numpy as np

from agora.core.contact import closing_of
from agora.core.declared import declared_arrays, empty_arrays
from agora.core.recording import Closing, Contact, ContactKind, Outcome, Recording
from agora.core.state import Array, Ints, RobotTraits, robot_traits
from agora.datasets.episode_messages import (
    EPISODE,
    ROBOTS,
    SAME,
    EpisodeMessages,
    collect_episodes,
    goals_by_hand,
    time_of,
    topics_of,
)
from agora.datasets.mcapfile import opened
from agora.datasets.messages import from_episode, from_pose2d
from agora.datasets.parts import Source
from agora.datasets.played import PlayedEpisode, PlayedRobot
from agora.draft.stage import LONGEST
from agora.errors import InputError
from agora.interfaces import NOTES
from agora.robots.model import RobotModel
from agora.tasks.budget import shortest_way
from agora.world.start import RobotStart, Start

__all__ = ["read_episode", "read_episodes"]

_LATE = 60.0  # s, samples may be later than the time limit by up to this time


def is_episode(bag: Source) -> bool:
    """Return whether a bag contains episodes published by Agora's graph.

    Raises:
        InputError: the file cannot be read, or is not a bag.
    """
    return EPISODE in topics_of(bag).values()


def read_episode(path: Path) -> PlayedEpisode:
    """Return the only episode in a bag from Agora's recorder.

    Raises:
        InputError: the file cannot be read, or does not contain exactly one episode.
    """
    first, *others = read_episodes(opened(path))
    if others:
        raise InputError(f"{path}: contains {1 + len(others)} episodes, expected one")
    return first


def read_episodes(bag: Source) -> list[PlayedEpisode]:
    """Return the episodes in a bag; if the bag is truncated, the last episode is incomplete and marked as interrupted.

    Raises:
        InputError: the file cannot be read, or contains no episode.
    """
    told, notes = collect_episodes(bag)
    return [_played(bag, said, notes) for said in told]


def _played(bag: Source, said: EpisodeMessages, notes: list[str]) -> PlayedEpisode:
    path = bag.path
    try:
        start, stage = from_episode(said.episode)
        suite, stage_name, number = start.entry.rsplit("/", 2)
        episode = int(number)
    except (InputError, ValueError) as error:
        raise InputError(f"{path}: its episode cannot be read: {error}") from error
    most = _last_step(path, start, stage.periods.physics, said.set_at)
    late = [k for k in said.robots if k > most]
    for known in (said.robots, said.pedestrians):
        for k in [k for k in known if k > most]:
            del known[k]
    if 0 not in said.robots:
        raise InputError(f"{path}: no robots at the start of {start.entry}; expected {ROBOTS} from step 0 on")
    interrupted = _interrupted(said, bag)
    dt, control = stage.periods.physics, stage.periods.steps("control")
    behaving = bool(stage.crowd.behaviours)
    robots = tuple(
        _robot(said, start, r, dt, control, behaving, message, bool(interrupted)) for r, message in enumerate(said.episode.robots)
    )
    due = range(0, max(said.robots) + 1, control)
    lost = len(due) - sum(k in due for k in said.robots)
    notes = [f"{path.name}: {note}" for note in notes]
    notes += [f"{path.name}: {lost} of {len(due)} samples were not recorded; metrics use the remaining ones"] * (lost > 0)
    notes += [f"{path.name}: {len(late)} samples are after the time limit; they are left out"] * bool(late)
    by_hand = tuple(s.name for s in said.status.robots if goals_by_hand(s)) if said.status else ()
    notes += [f"{path.name}: the goal of {', '.join(by_hand)} was set by hand; the row refers to that goal"] * bool(by_hand)
    notes += [f"{path.name}: {bag.cut}; only the part before that is used"] * bool(bag.cut)
    return PlayedEpisode(
        path, suite, stage_name, episode, start.seed, robots, interrupted, stage, tuple(notes), said.began, by_hand
    )


def _last_step(path: Path, start: Start, dt: float, set_at: list[int]) -> int:
    """Return the last possible step of an episode: the step of its time limit, plus a margin in case the graph stops late.

    The time limit restarts whenever a goal is set manually, at the steps ``set_at``.

    Raises:
        InputError: the episode has no time limit.
    """
    if not 0.0 < start.timeout <= LONGEST:
        raise InputError(f"{path}: expected a time limit of its episode in (0, {LONGEST:g}] s, got {start.timeout:g}")
    last = limit = math.ceil((start.timeout + _LATE) / dt)
    for step in set_at:
        last = max(last, step + limit) if step <= last else last
    return last


def _interrupted(said: EpisodeMessages, bag: Source) -> str:
    """Return the reason why the episode has no end; empty if the episode has an end."""
    status = said.status
    if status is not None and status.done and not status.interrupted:
        return ""
    if status is not None and status.interrupted:
        return f"interrupted: {status.reason or 'part of the ROS graph was lost'}"
    return f"the bag ends before the episode{f': {bag.cut}' if bag.cut else ''}"


def planner_label(robot: Any) -> str:
    """Return a robot's planner label for tables: the local planner and, if relevant, the interplanner and the navigation.

    If an external program drove the robot, the planners are unknown, because the planners in the robot's setup were not used.
    """
    if robot.navigation == "external":
        return "external"
    parts = [] if robot.navigation in ("", "agora") else [robot.navigation]
    parts += [name for name in (robot.planner, "" if robot.interplanner == "bypass" else robot.interplanner) if name]
    return "+".join(parts).replace("/", "|") or "unknown"


def _robot(
    said: EpisodeMessages, start: Start, r: int, dt: float, control: int, behaving: bool, message: Any, interrupted: bool
) -> PlayedRobot:
    status = next((s for s in said.status.robots if s.name == message.name), None) if said.status is not None else None
    ended = status is not None and status.ended
    last = max(said.robots)
    end = round(status.end_time / dt) if ended and status is not None else last
    final = said.status.step if said.status is not None and said.status.done else last
    kept = _samples(sorted(said.robots), control, end, final)
    samples = np.array([_row(said.robots[k], r) for k in kept])
    model = start.robots[r].model
    people = _pedestrians(said, kept, start, behaving)
    by_hand = status is not None and goals_by_hand(status) > 0
    first = from_pose2d(status.target) if by_hand and status is not None else start.robots[r].goals[0]
    way = shortest_way(start.map, start.robots[r].pose, first, model)
    noted = _noted(said, message.name, kept[:-1])
    recording = Recording(
        time=np.minimum(np.array(kept, np.int64), end) * dt,
        pose=samples[:, :3],
        twist=samples[:, 3:],
        goal=_goal(start.robots[r], status),
        goal_tolerance=start.goal_tolerance,
        radius=model.radius,
        max_speed=float(model.limits(1).max_vx[0]),
        contacts=_contacts(said, model, message.name, r, dt),
        outcome=Outcome(status.outcome) if ended and status is not None else Outcome.TIMEOUT,
        timeout=start.timeout,
        shortest_path=way.length,
        shortest_turn=way.turn,
        reference_path=start.reference_path,
        map=start.map,
        robot=_traits(model),
        command_delay=model.command_delay,
        clipped=0 if status is None else int(status.clipped),
        failure="" if status is None else status.failure,
        **people,
        command=_commands(said, r, kept),
        **noted,
    )
    missing = ({"planning_time"} - noted.keys()) | ({"outcome", "failure", "clipped"} if interrupted and not ended else set())
    return PlayedRobot(planner_label(message), model.name, recording, frozenset(missing))


def _samples(steps: list[int], control: int, end: int, final: int) -> list[int]:
    """Return the steps at which a robot that finished at step ``final`` has samples: all control steps up to this step, and the
    last step of the episode.
    """
    taken = [k for k in steps if k % control == 0 or k == final]
    return taken[: bisect.bisect_left(taken, end) + 1]


def _row(robots: Any, r: int) -> list[float]:
    """Return x, y, heading, vx, vy and omega of robot ``r``."""
    return [float(getattr(robots, name)[r]) for name in ("x", "y", "heading", "vx", "vy", "omega")]


def _goal(robot: RobotStart, status: Any) -> Array:
    """Return the robot's goal as known to the engine; a goal that was set during the episode is only in the robot's status."""
    goal: Array = robot.goals[0] if status is None else from_pose2d(status.target)
    return goal.astype(np.float32).astype(np.float64)


def _traits(model: RobotModel) -> RobotTraits:
    """Return the traits of a robot model, including its outline, for a batch of shape (1, 1)."""
    traits = robot_traits(1, 1, len(model.footprint))
    model.fill(traits, 0, 0)
    return traits


def _contacts(said: EpisodeMessages, model: RobotModel, name: str, r: int, dt: float) -> tuple[Contact, ...]:
    traits, events = _traits(model), []
    for c in said.contacts:
        if c.robot == name:
            kind = ContactKind(c.kind)
            events.append(Contact(c.time, kind, c.party, c.x, c.y, _closing(said, traits, r, kind, c.party, c.time / dt, dt)))
    return tuple(sorted(events, key=lambda c: (c.time, c.kind, c.party)))


def _closing(
    said: EpisodeMessages, traits: RobotTraits, r: int, kind: ContactKind, party: int, moment: float, dt: float
) -> Closing | None:
    """Return who closed the gap before a contact, computed from the messages before and after the contact; None if either message
    is missing.

    Args:
        said: messages of the episode.
        traits: traits of the robot.
        r: number of the robot.
        kind: kind of party that the robot touched.
        party: number or id of the party.
        moment: time of the contact, in steps.
        dt: physics step, s.
    """
    steps = _around(said.robots, moment)
    if steps is None:
        return None
    appeared = False
    if kind == ContactKind.PEDESTRIAN:
        walked = _walked(said, party, moment, steps)
        if walked is None:
            return None
        places, appeared = walked
    else:
        places = [_row(said.robots[k], party)[:3] for k in steps] if kind == ContactKind.ROBOT else [[0.0] * 3] * 2
    own = [_row(said.robots[k], r)[:3] for k in steps]
    length = steps[1] - steps[0]
    fraction = max(moment - steps[0], 0.0) / length
    if appeared and fraction == 0.0:  # a robot does not hit a pedestrian that appears at the robot's position
        own[1] = own[0]
    here, there = (np.array([*pose, *place], np.float32) for pose, place in zip(own, places, strict=True))
    return closing_of(traits, 0, 0, kind, here, there, fraction, dt * length)


def _around(known: dict[int, Any], moment: float) -> tuple[int, int] | None:
    """Return the last step with known data up to the time ``moment`` (in steps), and the first step with known data after it."""
    steps = sorted(known)
    after = bisect.bisect_right(steps, moment + SAME)
    return (steps[after - 1], steps[after]) if 0 < after < len(steps) else None


def _walked(said: EpisodeMessages, party: int, moment: float, steps: tuple[int, int]) -> tuple[list[list[float]], bool] | None:
    """Return x, y and 0 for a pedestrian at two steps around a time, and whether the pedestrian appeared in between, in which case
    it counts as having stood still.
    """
    around = _around(said.pedestrians, moment)
    if around is None:
        return None
    places = [_place(said.pedestrians[k], party) for k in around]
    if places[1] is None:
        return None
    here, there = places[1] if places[0] is None else places[0], places[1]
    shares = [(k - around[0]) / (around[1] - around[0]) for k in steps]
    ways = [[here[0] + s * (there[0] - here[0]), here[1] + s * (there[1] - here[1]), 0.0] for s in shares]
    return ways, places[0] is None


def _place(pedestrians: Any, party: int) -> tuple[float, float] | None:
    """Return the position of the pedestrian with a given id; None if the pedestrian is absent."""
    slots = np.flatnonzero((np.asarray(pedestrians.id) == party) & np.asarray(pedestrians.present, bool))
    return (float(pedestrians.x[slots[0]]), float(pedestrians.y[slots[0]])) if slots.size else None


def _noted(said: EpisodeMessages, name: str, kept: list[int]) -> dict[str, Any]:
    """Return the notes on a robot, by name: the last note up to each of the given steps; empty if there are no notes."""
    began = time_of(said.robots[0]) - SAME  # older messages belong to an earlier episode
    own = sorted((m for m in said.notes if name in m.name and time_of(m) > began), key=time_of)
    if not own or not kept:
        return {}
    last = [bisect.bisect_right(own, time_of(said.robots[k]) + SAME, key=time_of) - 1 for k in kept]
    chosen = [(own[max(i, 0)], list(own[max(i, 0)].name).index(name)) for i in last]
    columns = {field: np.array([getattr(m, field)[r] for m, r in chosen]) for field in NOTES}
    kinds: dict[str, type] = {name: np.float64 if issubclass(NOTES[name], np.floating) else np.int32 for name in NOTES}
    if all(hasattr(m, "planning_time") for m, _ in chosen):  # bags from earlier versions lack this field
        columns["planning_time"] = np.array([m.planning_time[r] for m, r in chosen], np.float64)
        kinds["planning_time"] = np.float64
    return {name: np.asarray(column, kinds[name]) for name, column in columns.items() if np.isfinite(column).all()}


def _commands(said: EpisodeMessages, r: int, kept: list[int]) -> Array | None:
    """Return the commanded twists (T - 1, 3) at a robot's samples; each twist is taken from the message of the next step.

    Return None if a command was not recorded, or if the bag is from an earlier version.
    """
    known = sorted(said.robots)
    after = [bisect.bisect_right(known, k) for k in kept[:-1]]
    told = [said.robots[known[i]] for i in after if i < len(known)]
    if len(told) < len(after) or not all(hasattr(m, "command_vx") for m in told):
        return None
    twists = [[m.command_vx[r], m.command_vy[r], m.command_omega[r]] for m in told]
    return np.array(twists, np.float32).astype(np.float64).reshape(len(told), 3)


def _pedestrians(said: EpisodeMessages, kept: list[int], start: Start, behaving: bool) -> dict[str, Any]:
    """Return the pedestrian fields of a recording; each step uses the pedestrians published most recently up to that step.

    A message contains only the pedestrians that have appeared so far; pedestrians that appear later are marked as absent until
    then.
    """
    known, count = sorted(said.pedestrians), start.crowd_size
    if not known:
        return nobody(len(kept))
    seen = [said.pedestrians[known[max(bisect.bisect_right(known, k) - 1, 0)]] for k in kept]

    def track(name: str, kind: type, absent: int = 0) -> Array:
        rows: Array = np.full((len(seen), count), absent, kind)
        for row, message in zip(rows, seen, strict=True):
            values = np.asarray(getattr(message, name))[:count]
            row[: len(values)] = values
        return rows

    def trait(latest: Any, first: Array, kind: type) -> Array:
        there = np.asarray(latest)[:count]
        return np.concatenate([there, np.asarray(first, there.dtype)[len(there) : count]]).astype(kind)

    def pairs(x: str, y: str) -> Array:
        return np.stack([track(x, np.float64), track(y, np.float64)], -1)

    latest = seen[-1]
    states: Ints | None = track("state", np.int32) if behaving else None
    return {
        "pedestrian_position": pairs("x", "y"),
        "pedestrian_velocity": pairs("vx", "vy"),
        "pedestrian_heading": track("heading", np.float64),
        "pedestrian_present": track("present", np.bool_),
        "pedestrian_radius": trait(latest.radius, start.pedestrians.radius, np.float64),
        "pedestrian_id": trait(latest.id, start.pedestrians.id, np.int32),
        "pedestrian_group": track("group", np.int32, absent=-1),
        "pedestrian_state": states,
    }


def nobody(samples: int) -> dict[str, Any]:
    """Return the pedestrian fields of a recording without pedestrians."""
    about = [name for name, one in declared_arrays(Recording).items() if "P" in one.names and not one.optional]
    return {**empty_arrays(Recording, about, T=samples, P=0)}
