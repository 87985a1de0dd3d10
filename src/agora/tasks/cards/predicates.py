"""Predicates that test whether an interaction occurred in a recording. A pedestrian is given by its id, i.e. its number in the
card, from 1.
"""

from __future__ import annotations

import numpy as np

from agora.core.recording import Recording
from agora.core.state import Bools, Doubles
from agora.maps.distance import inside_all

__all__ = ["met"]


def distance(recording: Recording, person: int) -> Doubles:
    """Return the distance (T,) between the centres of robot and pedestrian, m; infinite while the pedestrian is absent."""
    slot = np.flatnonzero(recording.pedestrian_id == person)
    if len(slot) == 0:
        return np.full(len(recording.time), np.inf)
    offset = recording.pedestrian_position[:, slot[0]] - recording.pose[:, :2]
    return np.where(recording.pedestrian_present[:, slot[0]], np.hypot(*offset.T), np.inf)


def track(recording: Recording, person: int) -> Doubles:
    """Return the positions (T, 2) of a pedestrian, m; a very distant position while the pedestrian is absent."""
    slot = np.flatnonzero(recording.pedestrian_id == person)
    if len(slot) == 0:
        return np.full((len(recording.time), 2), 1e6)
    return np.where(recording.pedestrian_present[:, slot], recording.pedestrian_position[:, slot[0]], 1e6)


def met(recording: Recording, person: int, within: float) -> bool:
    """Return whether robot and pedestrian were ever within ``within`` metres of each other."""
    return bool((distance(recording, person) <= within).any())


def changed_order(recording: Recording, person: int, axis: tuple[float, float], within: float) -> bool:
    """Return whether the robot or the pedestrian passed the other along an axis while they were within ``within`` metres of each
    other.
    """
    near = distance(recording, person) <= within
    ahead = (track(recording, person) - recording.pose[:, :2]) @ np.array(axis)
    passes = (ahead[:-1] * ahead[1:] <= 0) & near[:-1] & near[1:]
    return bool(passes.any() and ahead[0] * ahead[-1] < 0)


def _steps(recording: Recording, person: int) -> tuple[Doubles, Doubles, Doubles]:
    """Return the displacements (T - 1, 2) of robot and pedestrian between samples, in metres, and the cosine (T - 1,) of the angle
    between the two displacements.
    """
    mine, other = np.diff(recording.pose[:, :2], axis=0), np.diff(track(recording, person), axis=0)
    lengths = np.hypot(*mine.T) * np.hypot(*other.T)
    return mine, other, (mine * other).sum(axis=1) / np.maximum(lengths, 1e-12)


def head_on(recording: Recording, person: int, within: float) -> bool:
    """Return whether robot and pedestrian moved towards each other, in roughly opposite directions, while within ``within`` metres
    of each other.
    """
    mine, _, cosine = _steps(recording, person)
    towards = (mine * (track(recording, person) - recording.pose[:, :2])[:-1]).sum(axis=1) > 0
    return bool((towards & (cosine < -0.7) & (distance(recording, person)[:-1] <= within)).any())


def inside(points: Doubles, polygon: Doubles) -> Bools:
    """Return a mask (T,) of the points (T, 2) that are in a polygon (V, 2)."""
    return inside_all(np.asarray(polygon, np.float64), np.asarray(points, np.float64))


def between(recording: Recording, person: int, polygon: Doubles) -> float:
    """Return the post-encroachment time, s: the shortest time between a moment with the robot in a polygon and a moment with the
    pedestrian in it.

    The time is 0 if both were in the polygon at the same time, and infinite if the robot or the pedestrian never was.
    """
    robot, other = inside(recording.pose[:, :2], polygon), inside(track(recording, person), polygon)
    if not (robot.any() and other.any()):
        return float("inf")
    first, second = recording.time[robot], recording.time[other]
    return float(np.abs(first[:, None] - second).min())


def share_near(recording: Recording, person: int, least: float, most: float) -> float:
    """Return the fraction of the episode in which the distance to a pedestrian was between ``least`` and ``most``, m."""
    apart = distance(recording, person)
    return float(((apart >= least) & (apart <= most)).mean())


def crowding(recording: Recording, within: float) -> int:
    """Return the maximum number of pedestrians that were within ``within`` metres of the robot at the same time."""
    if len(recording.pedestrian_id) == 0:
        return 0
    offset = recording.pedestrian_position - recording.pose[:, None, :2]
    near = (np.hypot(offset[..., 0], offset[..., 1]) <= within) & recording.pedestrian_present
    return int(near.sum(axis=1).max())


def meetings(recording: Recording, within: float) -> int:
    """Return the number of pedestrians who were ever within ``within`` metres of the robot."""
    return sum(met(recording, int(person), within) for person in recording.pedestrian_id)


def together(recording: Recording, person: int, within: float) -> float:
    """Return the total time, s, during which robot and pedestrian moved in roughly the same direction within ``within`` metres of
    each other.
    """
    step = np.diff(recording.time)
    mine, other, cosine = _steps(recording, person)
    walking = np.minimum(np.hypot(*mine.T), np.hypot(*other.T)) > 0.1 * step
    return float(step[(cosine >= 0.7) & walking & (distance(recording, person)[1:] <= within)].sum())


def first_inside(recording: Recording, person: int, polygon: Doubles) -> tuple[float, float]:
    """Return the times at which the robot and the pedestrian first entered a polygon, s; infinite if it was never entered."""
    places = recording.pose[:, :2], track(recording, person)
    robot, other = (recording.time[inside(points, polygon)] for points in places)
    return float(robot.min(initial=np.inf)), float(other.min(initial=np.inf))
