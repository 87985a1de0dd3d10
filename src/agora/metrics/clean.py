"""Clean arrivals, in which the robot reaches its goal without costing people comfort, conversation or time.

Five causes can spoil an arrival. Each cause is a separate indicator, which is 0 if the goal was not reached.

The robot is to blame for an intimate distance or for crossing a group only if its own motion caused this, i.e. if it contributed at
least 0.4 of the distance by which the gap shrank, alone or together with the person (`agora.core.recording.Closing`). A stationary
robot is never to blame for a person who walks past it. A robot that cuts off a person who then walks up to the robot is not to
blame either, because the person closes the gap. People behind walls are not disturbed.

The docstring of `CleanArrival` gives the sources of the thresholds.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from agora.core.recording import STANDING, Closer, Closing, ContactKind, Recording
from agora.interfaces import metric
from agora.metrics.effect_on_pedestrians import delay_and_detour, displacements
from agora.metrics.efficiency import time_ratio
from agora.metrics.groups import crossings
from agora.metrics.quantities.arithmetic import norm
from agora.metrics.quantities.outline import surface_distances
from agora.metrics.quantities.samples import at_goal, contacts_of, intervals, offsets, steps, stretches
from agora.metrics.quantities.sight import is_free
from agora.metrics.quantities.zones import INTIMATE, PERSONAL, SOCIAL

__all__ = ["CAUSES", "CleanArrival", "Spoilt", "spoiling_moments"]

CAUSES = {
    "spoilt_by_contact": "contact",
    "spoilt_by_intimate_distance": "intimate distance",
    "spoilt_by_group": "group crossed",
    "spoilt_by_time": "time",
    "spoilt_by_delay": "delay of people",
}
"""The metrics for the causes that can spoil an arrival, and short descriptions of the causes."""


class Spoilt(NamedTuple):
    """An event that spoilt an arrival.

    Attributes:
        time: time since the start of the episode, s.
        words: description of what the robot did.
    """

    time: float
    words: str


@dataclass(frozen=True)
class CleanArrival:
    """The limits of a clean arrival.

    The defaults of ``intimate``, ``company`` and ``met`` are zones between people (Hall 1966, The Hidden Dimension). SEAN 2.0 and
    HuNavSim apply the same zones to robots. We know of no publication that gives limits for ``time`` or ``delay``.

    Attributes:
        intimate: gap between the outlines of robot and person below which the robot is intimately close, m. Pacchierotti et al.
            2006 (RO-MAN, passing in a corridor) found that people are less comfortable if a robot enters this zone.
        company: maximum distance between two members of a group who count as being together, m. The default is the outer limit of
            Hall's social distance.
        time: time to the goal above which an arrival is too slow, as a multiple of the time needed to drive the shortest path at
            top speed. The default is Agora's own choice: without people, planners on 48 maps took 1.0 to 1.26 times as long
            (`pure_pursuit`, `teb`).
        delay: maximum acceptable delay of a pedestrian, s. The default is Agora's own choice.
        displaced: distance from a pedestrian's position in the episode without robots, m. A delay counts only if the pedestrian was
            displaced by more than this distance for at least ``delay`` seconds in total. The default is Hall's personal distance.
        met: maximum gap between pedestrian and robot at which a delay counts, m. Only the increase in delay between the first and
            the last sample within this gap counts, because in a crowd, small changes farther away grow by chance. The default is
            Hall's personal distance.
    """

    intimate: float = INTIMATE
    company: float = SOCIAL
    time: float = 1.5
    delay: float = 5.0
    displaced: float = PERSONAL
    met: float = PERSONAL

    def __call__(self, recording: Recording) -> float | None:
        """Return 1 for a clean arrival and 0 for any other episode. Return None if a cause cannot be determined and no other cause
        spoils the arrival.
        """
        if not at_goal(recording):
            return 0.0
        found = [_find(cause, self, recording) for cause in _CAUSES]
        return 0.0 if any(found) else None if None in found else 1.0

    def contact(self, recording: Recording) -> list[Spoilt]:
        """Return the contacts with walls and other robots. Contacts with people are covered by `distance`."""
        parties = {ContactKind.WALL: "touched a wall", ContactKind.ROBOT: "touched another robot"}
        return [Spoilt(one.time, parties[one.kind]) for one in contacts_of(recording) if one.kind in parties]

    def distance(self, recording: Recording) -> list[Spoilt]:
        """Return the moments at which the robot came intimately close to a visible pedestrian."""
        gap = surface_distances(recording)
        inside = gap < self.intimate
        sample, column = np.nonzero(inside)
        x, y, _ = (part[sample, column] for part in offsets(recording))
        inside[sample, column] = is_free(recording.map, recording.pose[sample, :2], np.stack((x, y), axis=1))
        found = []
        for first, last, p in zip(*(part.tolist() for part in stretches(inside)), strict=True):
            if _is_blamed(*_closing_distance(recording, first, last, p, self.intimate)):
                least = max(0.0, float(gap[first:last, p].min()))
                found.append(Spoilt(float(recording.time[first]), f"came within {least:.2f} m of a person"))
        return found

    def group(self, recording: Recording) -> list[Spoilt]:
        """Return the moments at which the robot crossed the line between two members of a group who were together and could see
        each other.
        """
        step, one, other, at = crossings(recording)
        place = recording.pedestrian_position
        line, later = (place[k, other] - place[k, one] for k in (step, step + 1))
        together = (norm(line) <= self.company) & is_free(recording.map, place[step, one], line)
        across = np.stack((-line[:, 1], line[:, 0]), axis=1) / np.maximum(norm(line), 1e-9)[:, None]
        drove = steps(recording)[step]
        walked = place[step + 1, one] - place[step, one] + at[:, None] * (later - line)
        robot, company = (moved[:, 0] * across[:, 0] + moved[:, 1] * across[:, 1] for moved in (drove, walked))
        sign = np.where(robot >= company, 1.0, -1.0)
        standing = norm(drove) < STANDING * intervals(recording)[step]
        parts = zip(step, sign * robot, -sign * company, standing, together, strict=True)
        return [Spoilt(float(recording.time[k]), "crossed a group") for k, *part, counts in parts if counts and _is_blamed(*part)]

    def slow(self, recording: Recording) -> list[Spoilt] | None:
        """Return the arrival itself if the robot took too long, otherwise an empty list. Return None if the path to the goal is
        unknown.
        """
        if recording.shortest_path == 0.0:
            return []
        ratio = time_ratio(recording)
        if ratio is None:
            return None
        return [Spoilt(float(recording.time[-1]), f"took {ratio:.2f} times the free time")] if ratio >= self.time else []

    def delayed(self, recording: Recording) -> list[Spoilt]:
        """Return the unacceptable delays of pedestrians; empty if the episode was not also run without robots."""
        if recording.undisturbed is None:
            return []
        away, found = displacements(recording) > self.displaced, []
        for p in np.flatnonzero((intervals(recording)[:, None] * away[:-1]).sum(0) >= self.delay).tolist():
            near = np.flatnonzero(surface_distances(recording)[:, p] < self.met).tolist()
            if len(near) and (grown := _delay(recording, p, near[-1]) - _delay(recording, p, near[0])) > self.delay:
                found.append(Spoilt(float(recording.time[near[-1]]), f"delayed a person by {grown:.1f} s"))
        return found


def _delay(recording: Recording, p: int, last: int) -> float:
    """Return the delay of pedestrian ``p`` up to sample ``last``, s."""
    samples = np.arange(len(recording.time)) <= last
    return delay_and_detour(recording, p, recording.pedestrian_present[:, p] & samples)[0]


_CAUSES = (CleanArrival.contact, CleanArrival.distance, CleanArrival.group, CleanArrival.slow, CleanArrival.delayed)


@functools.lru_cache(maxsize=16)
def _find(
    cause: Callable[[CleanArrival, Recording], list[Spoilt] | None], limits: CleanArrival, recording: Recording
) -> list[Spoilt] | None:
    """Return the events found for a cause; results for the last few recordings are cached."""
    return cause(limits, recording)


def spoiling_moments(recording: Recording) -> list[Spoilt]:
    """Return all events that spoilt an arrival, in chronological order; empty if the goal was not reached."""
    found = [_find(cause, _LIMITS, recording) or [] for cause in _CAUSES] if at_goal(recording) else []
    return sorted(one for some in found for one in some)


def _closing_distance(recording: Recording, first: int, last: int, p: int, limit: float) -> tuple[float, float]:
    """Return the distances that the robot and a pedestrian moved towards each other while the gap between them shrank below a
    limit, m.

    The distance is 0 for a robot slower than `STANDING`.

    Args:
        recording: recording of the episode.
        first: first sample of an interval in which the gap is below the limit.
        last: first sample after this interval.
        p: slot of the pedestrian.
        limit: limit for the gap, m.
    """
    k = np.arange(max(first - 1, 0), last - 1)
    k = k[recording.pedestrian_present[k, p]]
    gap, (x, y, away) = surface_distances(recording)[:, p], offsets(recording)
    shrunk = gap[k] - gap[k + 1]
    k, shrunk = k[shrunk > 0.0], shrunk[shrunk > 0.0]
    scale = np.minimum((limit - gap[k + 1]) / shrunk, 1.0) / np.maximum(away[k, p] + away[k + 1, p], 1e-9)
    ahead_x, ahead_y = (x[k, p] + x[k + 1, p]) * scale, (y[k, p] + y[k + 1, p]) * scale
    drove, walked = steps(recording)[k], recording.pedestrian_position[k + 1, p] - recording.pedestrian_position[k, p]
    moving = norm(drove) >= STANDING * intervals(recording)[k]
    robot = np.maximum(drove[:, 0] * ahead_x + drove[:, 1] * ahead_y, 0.0) * moving
    person = np.maximum(-(walked[:, 0] * ahead_x + walked[:, 1] * ahead_y), 0.0)
    return float(robot.sum()), float(person.sum())


def _is_blamed(robot: float, party: float, standing: bool = False) -> bool:
    """Return whether the robot is to blame, alone or together with the person, given the distances that the robot and the person
    contributed.
    """
    return Closing(float(robot), float(party), bool(standing)).closer != Closer.PERSON


_LIMITS = CleanArrival()
_SOURCE = "Agora (`agora.metrics.clean`)"

clean_arrival = metric(
    "clean_arrival",
    unit="0/1",
    direction="higher",
    formula="1 if the goal was reached and no cause spoilt the arrival: ``spoilt_by_contact``, ``spoilt_by_intimate_distance``, "
    "``spoilt_by_group``, ``spoilt_by_time``, ``spoilt_by_delay``",
    source=f"{_SOURCE}; Hall 1966",
    walls="respected",
)(_LIMITS)


def _is_spoilt(cause: Callable[[CleanArrival, Recording], list[Spoilt] | None], recording: Recording) -> float:
    """Return 1 if the goal was reached and the cause spoilt the arrival, otherwise 0."""
    return float(at_goal(recording) and bool(_find(cause, _LIMITS, recording)))


@metric(
    "spoilt_by_contact",
    unit="0/1",
    direction="lower",
    formula="1 if the robot reached the goal after touching a wall or another robot",
    source=_SOURCE,
)
def spoilt_by_contact(recording: Recording) -> float:
    """The value is 0 if the goal was not reached."""
    return _is_spoilt(CleanArrival.contact, recording)


@metric(
    "spoilt_by_intimate_distance",
    unit="0/1",
    direction="lower",
    formula=f"1 if the robot reached the goal, d to a pedestrian in sight fell below {_LIMITS.intimate:g} m, and the robot, not "
    "standing still (0.05 m/s), caused at least 0.4 of the decrease of d below this limit",
    source=f"{_SOURCE}; Hall 1966; SEAN 2.0",
    walls="respected",
)
def spoilt_by_intimate_distance(recording: Recording) -> float:
    """The value is 0 if the goal was not reached, or if there are no pedestrians."""
    return _is_spoilt(CleanArrival.distance, recording)


@metric(
    "spoilt_by_group",
    unit="0/1",
    direction="lower",
    formula="1 if the robot reached the goal, its centre crossed the line between two members of a group that are at most "
    f"{_LIMITS.company:g} m apart with no wall between them, and the robot, not standing still (0.05 m/s), caused at least 0.4 of "
    "the motion across the line",
    source=f"{_SOURCE}; Hall 1966; srl-freiburg/navmet, relation_disturbance",
)
def spoilt_by_group(recording: Recording) -> float:
    """The value is 0 if the goal was not reached, or if there are no groups."""
    return _is_spoilt(CleanArrival.group, recording)


@metric(
    "spoilt_by_time",
    unit="0/1",
    direction="lower",
    formula=f"1 if the robot reached the goal with a ``time_ratio`` of {_LIMITS.time:g} or more",
    source=_SOURCE,
)
def spoilt_by_time(recording: Recording) -> float | None:
    """The value is 0 if the goal was not reached or if the episode began at the goal.

    Undefined if the robot arrived but the path to the goal is unknown.
    """
    found = _find(CleanArrival.slow, _LIMITS, recording) if at_goal(recording) else []
    return None if found is None else float(bool(found))


@metric(
    "spoilt_by_delay",
    unit="0/1",
    direction="lower",
    formula=f"1 if the robot reached the goal and the delay of a pedestrian (``pedestrian_delay_max``) grew by more than "
    f"{_LIMITS.delay:g} s from its first to its last moment within {_LIMITS.met:g} m of the robot (d), and the pedestrian was more "
    f"than {_LIMITS.displaced:g} m from its position without robots for {_LIMITS.delay:g} s or longer",
    source=_SOURCE,
    walls="ignored",
)
def spoilt_by_delay(recording: Recording) -> float:
    """The value is 0 if the goal was not reached, or if the episode was not also run without robots."""
    return _is_spoilt(CleanArrival.delayed, recording)
