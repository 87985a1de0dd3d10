"""Quantities derived from a recording's samples, computed once per recording.

Sample k represents the interval up to sample k + 1; time stamps increase and may be unevenly spaced. Results are read-only and
cached per recording object, so a recording must not be modified after a metric has been computed.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from agora.core.recording import Contact, Outcome, Recording
from agora.core.state import Array, Bools, Doubles
from agora.metrics.quantities.arithmetic import direction, norm

MOVING = 0.01
"""Speed below which a robot has no direction of motion, m/s, because the direction would depend on how its position is rounded."""

SPACING = 0.05
"""Minimum distance between the points from which curvature is computed, m."""

_T = TypeVar("_T", bound=Array | tuple[Array, ...])


def compute_once(function: Callable[[Recording], _T]) -> Callable[[Recording], _T]:
    """Decorate a function so that its results for the last four recordings are cached, as read-only arrays."""

    def compute(recording: Recording) -> _T:
        result = function(recording)
        for part in result if isinstance(result, tuple) else (result,):
            part.setflags(write=False)
        return result

    return functools.wraps(function)(functools.lru_cache(maxsize=4)(compute))


@compute_once
def intervals(recording: Recording) -> Doubles:
    """(T - 1,) time from each sample to the next, s."""
    return np.diff(recording.time)


@compute_once
def steps(recording: Recording) -> Doubles:
    """(T - 1, 2) displacement from each sample to the next, m."""
    return np.diff(recording.pose[:, :2], axis=0)


@compute_once
def step_lengths(recording: Recording) -> Doubles:
    """(T - 1,) length of each displacement, m."""
    return norm(steps(recording))


def path_metres(recording: Recording) -> float:
    """Return the distance that the robot travelled, m."""
    return float(step_lengths(recording).sum())


@compute_once
def speeds(recording: Recording) -> Doubles:
    """(T - 1,) speed over ground in each interval, m/s."""
    return step_lengths(recording) / intervals(recording)


@compute_once
def facing(recording: Recording) -> tuple[Doubles, Doubles]:
    """Return the cosine and sine (T,) of the robot's heading."""
    return direction(recording.pose[:, 2])


@compute_once
def pedestrians_facing(recording: Recording) -> tuple[Doubles, Doubles]:
    """Return the cosine and sine (T, P) of the pedestrians' headings; 1 and 0 for absent pedestrians."""
    present = recording.pedestrian_present
    cosine, sine = np.ones(present.shape), np.zeros(present.shape)
    cosine[present], sine[present] = direction(recording.pedestrian_heading[present])
    return cosine, sine


@compute_once
def velocities(recording: Recording) -> Doubles:
    """(T, 2) recorded velocity in the map frame, m/s: the twist rotated by the heading."""
    cosine, sine = facing(recording)
    vx, vy = recording.twist[:, 0], recording.twist[:, 1]
    return np.stack((cosine * vx - sine * vy, sine * vx + cosine * vy), axis=1)


@compute_once
def goal_distances(recording: Recording) -> Doubles:
    """(T,) distance from the robot's position to the goal, m."""
    return norm(recording.goal[:2] - recording.pose[:, :2])


@compute_once
def offsets(recording: Recording) -> tuple[Doubles, Doubles, Doubles]:
    """Return the x component, y component and length (T, P) of the vector from the robot to each pedestrian, m; the length is
    infinite for absent pedestrians.
    """
    x = recording.pedestrian_position[:, :, 0] - recording.pose[:, 0, None]
    y = recording.pedestrian_position[:, :, 1] - recording.pose[:, 1, None]
    return x, y, np.where(recording.pedestrian_present, np.sqrt(x * x + y * y), np.inf)


@compute_once
def closest_centre(recording: Recording) -> Doubles:
    """(T,) distance to the centre of the closest pedestrian, m; infinite if there are no pedestrians."""
    return closest(offsets(recording)[2])


def closest(values: Array) -> Doubles:
    """Return the minimum (T,) of each row of values (T, P); infinite if the rows are empty."""
    smallest: Doubles = np.min(values, axis=1, initial=np.inf)
    return smallest


def at_goal(recording: Recording) -> bool:
    """Return whether the episode ended by reaching the goal, with or without contacts."""
    return recording.outcome == Outcome.REACHED


def contacts_of(recording: Recording) -> tuple[Contact, ...]:
    """Return the contacts; empty if they were not recorded, as for bags of real robots."""
    contacts: tuple[Contact, ...] = getattr(recording, "contacts", ())
    return contacts


def is_success(recording: Recording) -> bool:
    """Return whether the goal was reached without contacts, as far as contacts were recorded."""
    return at_goal(recording) and not contacts_of(recording)


@compute_once
def any_present(recording: Recording) -> Bools:
    """(T,) whether any pedestrian is present."""
    about: Bools = np.any(recording.pedestrian_present, axis=1)
    return about


def row_sums(values: Doubles) -> Doubles:
    """(T,) sums over the rows of values (T, P), added slot by slot, so that zeros in empty slots do not affect the rounding."""
    return np.cumsum(values, axis=1)[:, -1] if values.shape[1] else np.zeros(len(values))


def is_lowest(values: Array) -> Bools:
    """(T, P) whether each value is the first minimum of its row; False throughout a row that contains only infinite values."""
    first = np.zeros(values.shape, np.bool_)
    some = np.flatnonzero(np.isfinite(closest(values)))
    if len(some):
        first[some, values[some].argmin(1)] = True
    return first


def ever_present(recording: Recording) -> bool:
    """Return whether any pedestrian was ever present."""
    return bool(recording.pedestrian_present.any())


def average(recording: Recording, values: Any) -> float:
    """Return the mean over time of values (T,); if there is only one sample, return its value."""
    if len(values) == 1:
        return float(values[0])
    return weighted_mean(values[:-1], intervals(recording))


def weighted_mean(values: Any, weights: Doubles) -> float:
    """Return the weighted mean of values (N,), N > 0."""
    return float((values * weights).sum() / weights.sum())


def duration(recording: Recording, condition: Bools) -> float:
    """Return the time for which a condition (T,) held, s."""
    return float(intervals(recording)[condition[:-1]].sum())


def stretches(condition: Bools) -> tuple[Array, Array, Array]:
    """Return the first sample, the first sample after the end, and the column (E,) of each uninterrupted interval in which a
    condition (T, P) holds, sorted by column and time.
    """
    padded = np.zeros((condition.shape[1], len(condition) + 2), np.int8)
    padded[:, 1:-1] = condition.T
    change = np.diff(padded, axis=1)
    column, begin = np.nonzero(change == 1)
    return begin, np.nonzero(change == -1)[1], column


def least(values: Doubles, found: tuple[Array, Array, Array]) -> Doubles:
    """(E,) minimum of values (T, P) in each of the E intervals returned by `stretches`."""
    begin, end, column = found
    flat = np.append(values.T.ravel(), np.inf)
    smallest: Doubles = np.minimum.reduceat(flat, np.stack((begin, end), 1).ravel() + len(values) * np.repeat(column, 2))[::2]
    return smallest
