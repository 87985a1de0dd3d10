"""The end of an episode and the events before the end: success, contacts, failures, progress.

Contacts are events recorded at the rate of the physics: there is one event each time the robot begins to touch something. Bags of
real robots contain no contacts; in this case, every episode that reached the goal is a success, and the numbers of contacts are
undefined. Indicators have the unit "0/1"; the mean of an indicator is a rate.
"""

from __future__ import annotations

import numpy as np

from agora.core.recording import ContactKind, Outcome, Recording
from agora.core.state import Doubles
from agora.interfaces import metric
from agora.metrics.quantities.arithmetic import norm
from agora.metrics.quantities.samples import (
    at_goal,
    contacts_of,
    duration,
    goal_distances,
    is_success,
    offsets,
    path_metres,
    speeds,
    stretches,
)

_FRANCIS = "Francis et al. 2023, arXiv:2306.16740, Table 1"
_SOCNAVBENCH = "Biswas et al. 2022, SocNavBench, Table 1"
_ARENA = "Kästner et al. 2024, Arena 3.0, Table V"
_STALLED_SPEED = 0.05
_STALLED_LENGTH = 0.05
_TRAVELLED = 0.01
_BESIDE = 2.0
_HUNAVSIM_SPEED, _HUNAVSIM_OMEGA = 0.01, 0.02
_WINDOW, _PROGRESS = 5.0, 0.1


def _contacts(recording: Recording, kind: ContactKind) -> int:
    return sum(contact.kind == kind for contact in recording.contacts)


@metric("success", unit="0/1", direction="higher", formula="goal reached in time without contact", source=_FRANCIS)
def success(recording: Recording) -> float:
    """Fraction of episodes that ended at the goal without any contact."""
    return float(is_success(recording))


@metric(
    "success.socnavbench",
    unit="0/1",
    direction="higher",
    formula="goal reached in time without contact with a pedestrian",
    source=_SOCNAVBENCH,
)
def success_socnavbench(recording: Recording) -> float:
    """SocNavBench's definition of success, which ignores contacts with walls and robots."""
    return float(at_goal(recording) and all(contact.kind != ContactKind.PEDESTRIAN for contact in contacts_of(recording)))


@metric(
    "success_k2",
    unit="0/1",
    direction="higher",
    formula="goal reached in time with fewer than 2 contacts",
    source=_ARENA,
)
def success_k2(recording: Recording) -> float:
    """Arena 3.0's success rate. The original code infers that the goal was reached; Agora checks this."""
    return float(at_goal(recording) and len(contacts_of(recording)) < 2)


@metric(
    "success_k3",
    unit="0/1",
    direction="higher",
    formula="goal reached in time with fewer than 3 contacts",
    source="Arena 3.0's code; its text has 2",
)
def success_k3(recording: Recording) -> float:
    """Success is determined from the recorded outcome; the original code only infers success."""
    return float(at_goal(recording) and len(contacts_of(recording)) < 3)


@metric(
    "reached",
    unit="0/1",
    direction="higher",
    formula="goal reached in time, with or without contacts",
    source="HuNavSim, SocNavGym; SocNavBench's code for episodes that continue after contacts",
)
def reached(recording: Recording) -> float:
    """Fraction of episodes that ended at the goal; this is how SocNavBench's code counts success with keep_episode_running."""
    return float(at_goal(recording))


@metric("out_of_map", unit="0/1", direction="lower", formula="ended by leaving the map", source="SocNavGym")
def out_of_map(recording: Recording) -> float:
    """Fraction of episodes in which the robot left the map."""
    return float(recording.outcome == Outcome.OUT_OF_MAP)


@metric("timeout", unit="0/1", direction="lower", formula="ended by the time limit", source=_SOCNAVBENCH)
def timeout(recording: Recording) -> float:
    """SocNavBench's failure case T (timeout); its failure cases are T, PC and EC."""
    return float(recording.outcome == Outcome.TIMEOUT)


@metric(
    "failure_pedestrian_collision",
    unit="0/1",
    direction="lower",
    formula="ended by touching a pedestrian, or reached the goal having touched one",
    source=_SOCNAVBENCH,
)
def failure_pedestrian_collision(recording: Recording) -> float:
    """SocNavBench's failure case PC (pedestrian collision). An episode that counts as this failure case does not count as another
    failure case or in ``success.socnavbench``.
    """
    walked_into = any(contact.kind == ContactKind.PEDESTRIAN for contact in contacts_of(recording))
    return float((at_goal(recording) and walked_into) or recording.outcome == Outcome.PEDESTRIAN_COLLISION)


@metric("failure_wall_collision", unit="0/1", direction="lower", formula="ended by touching a wall", source=_SOCNAVBENCH)
def failure_wall_collision(recording: Recording) -> float:
    """SocNavBench's failure case EC (environment collision)."""
    return float(recording.outcome == Outcome.WALL_COLLISION)


@metric("collisions", unit="", direction="lower", formula="contact events", source=_ARENA, values="count", compared="all")
def collisions(recording: Recording) -> float:
    """The number of contact events, not of samples: a continuous contact counts once."""
    return float(len(recording.contacts))


@metric(
    "collisions_pedestrian",
    unit="",
    direction="lower",
    formula="contact events with pedestrians",
    source=_SOCNAVBENCH,
    values="count",
    compared="all",
)
def collisions_pedestrian(recording: Recording) -> float:
    """The contacts with pedestrians that are part of ``collisions``."""
    return float(_contacts(recording, ContactKind.PEDESTRIAN))


@metric(
    "collisions_wall",
    unit="",
    direction="lower",
    formula="contact events with walls",
    source=_FRANCIS,
    values="count",
    compared="all",
)
def collisions_wall(recording: Recording) -> float:
    """The contacts with walls that are part of ``collisions``."""
    return float(_contacts(recording, ContactKind.WALL))


@metric(
    "collisions_robot",
    unit="",
    direction="lower",
    formula="contact events with other robots",
    source=_FRANCIS,
    values="count",
    compared="all",
)
def collisions_robot(recording: Recording) -> float:
    """The contacts with other robots that are part of ``collisions``."""
    return float(_contacts(recording, ContactKind.ROBOT))


@metric(
    "final_goal_distance",
    unit="m",
    direction="lower",
    formula="|p_N - g|",
    source="SEAN 2.0, HuNavSim",
    values="amount",
    compared="all",
)
def final_goal_distance(recording: Recording) -> float:
    """Distance from the robot's last position to the goal."""
    return float(goal_distances(recording)[-1])


@metric(
    "goal_distance_min",
    unit="m",
    direction="lower",
    formula="min over t of |p - g|",
    source="SEAN 2.0, HuNavSim",
    values="amount",
    compared="all",
)
def goal_distance_min(recording: Recording) -> float:
    """The minimum distance between the robot and its goal."""
    return float(goal_distances(recording).min())


@metric(
    "final_goal_distance_ratio",
    unit="",
    direction="lower",
    formula="|p_N - g| / L, L the distance travelled",
    source="SEAN 2.0, targ_dist_norm",
    values="amount",
    compared="all",
)
def final_goal_distance_ratio(recording: Recording) -> float | None:
    """Undefined if the robot travelled less than 0.01 m."""
    length = path_metres(recording)
    return float(goal_distances(recording)[-1]) / length if length >= _TRAVELLED else None


@metric(
    "goal_traversal_ratio",
    unit="",
    direction="lower",
    formula="|p_N - g| / |p_0 - g|, only if the goal was not reached",
    source=_SOCNAVBENCH,
    values="amount",
    compared="all",
)
def goal_traversal_ratio(recording: Recording) -> float | None:
    """Undefined if the robot reached the goal or began at the goal."""
    distance = goal_distances(recording)
    return None if at_goal(recording) or distance[0] == 0.0 else float(distance[-1] / distance[0])


@metric(
    "stalled_time", unit="s", direction="lower", formula="time with |v| < 0.05 m/s", source="robot_sf; Francis et al. 2023, Table 1"
)
def stalled_time(recording: Recording) -> float:
    """A robot that turns on the spot counts as stalled."""
    return duration(recording, np.append(speeds(recording) < _STALLED_SPEED, False))


@metric(
    "stalled_time.hunavsim",
    unit="s",
    direction="lower",
    formula="time with |v| < 0.01 m/s and |omega| < 0.02 rad/s",
    source="HuNavSim (its code treats every clockwise turn as a stop; corrected)",
)
def stalled_time_hunavsim(recording: Recording) -> float:
    """A robot that turns on the spot, in either direction, does not count as stalled."""
    still = speeds(recording) < _HUNAVSIM_SPEED
    return duration(recording, np.append(still & (np.abs(recording.twist[:-1, 2]) < _HUNAVSIM_OMEGA), False))


@metric(
    "stalled_time.sean",
    unit="s",
    direction="lower",
    formula="time at which the robot is less than 0.05 m away from its position 1 s later",
    source="SEAN 2.0",
)
def stalled_time_sean(recording: Recording) -> float:
    """The last second of an episode is ignored. A robot that turns on the spot counts as stalled."""
    later = recording.time + 1.0
    there = np.stack([np.interp(later, recording.time, axis) for axis in recording.pose[:, :2].T], axis=1)
    still = norm(there - recording.pose[:, :2]) < _STALLED_LENGTH
    return duration(recording, still & (later <= recording.time[-1] + 1e-9))


def _deadlocks(recording: Recording) -> Doubles:
    """(E,) durations of the deadlocks, s."""
    stalled = np.append(speeds(recording) < _STALLED_SPEED, False)
    stands = norm(recording.pedestrian_velocity) < _STALLED_SPEED
    beside = (stands & (offsets(recording)[2] <= _BESIDE)).any(1)
    begin, end, _ = stretches((stalled & beside)[:, None])
    seconds: Doubles = recording.time[end] - recording.time[begin]
    return seconds[seconds >= _WINDOW]


@metric(
    "deadlocks",
    unit="",
    direction="lower",
    formula="number of times that the robot and a pedestrian within 2 m (D) were both slower than 0.05 m/s for 5 s or longer",
    source="robot_sf; the times and distances are ours",
    values="count",
)
def deadlocks(recording: Recording) -> float:
    """The pedestrians who block the robot may change during a deadlock. The value is 0 if there are no pedestrians."""
    return float(len(_deadlocks(recording)))


@metric(
    "deadlock_time",
    unit="s",
    direction="lower",
    formula="time in deadlocks: the robot and a pedestrian within 2 m (D) both slower than 0.05 m/s, for 5 s or longer",
    source="robot_sf; the times and distances are ours",
)
def deadlock_time(recording: Recording) -> float:
    """The total duration of deadlocks, each measured from its beginning. The value is 0 if there are no pedestrians."""
    return float(_deadlocks(recording).sum())


@metric(
    "failure_to_progress.socnavgym",
    unit="",
    direction="lower",
    formula="number of samples in which |p - g| grew",
    source="Kapoor et al. 2023, SocNavGym, arXiv:2304.14102",
    values="count",
)
def failure_to_progress_socnavgym(recording: Recording) -> float:
    """The value grows with the sampling rate, as in the original code."""
    return float(np.count_nonzero(np.diff(goal_distances(recording)) > 0.0))


@metric(
    "failure_to_progress",
    unit="",
    direction="lower",
    formula="number of disjoint 5 s windows in which |p - g| shrinks by less than 0.1 m",
    source=_FRANCIS,
    values="count",
)
def failure_to_progress(recording: Recording) -> float:
    """The first time window begins at time 0; an incomplete window at the end does not count."""
    elapsed = recording.time - recording.time[0]
    edges = np.arange(int((elapsed[-1] + 1e-9) / _WINDOW) + 1) * _WINDOW
    distance = np.interp(edges, elapsed, goal_distances(recording))
    return float(np.count_nonzero(-np.diff(distance) < _PROGRESS))
