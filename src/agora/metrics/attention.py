"""Mutual attention of robot and pedestrians: a cone around the heading and, if there is a map, a free line of sight.

Arena 3.0's cone extends 5 degrees to either side, at any distance. Arena's code mirrors the bearing of pedestrians and ignores
walls; this module does neither. A person's field of view is wider than this cone, so the ``.field_of_view`` variant uses SRPB's 190
degrees, up to 10 m.
"""

from __future__ import annotations

import math

import numpy as np

from agora.core.recording import Recording
from agora.core.state import Array, Bools, Doubles
from agora.interfaces import metric
from agora.metrics.quantities.outline import surface_distances
from agora.metrics.quantities.samples import compute_once, duration, ever_present, facing, is_lowest, offsets, pedestrians_facing
from agora.metrics.quantities.sight import is_free

_ARENA = "Kästner et al. 2024, Arena 3.0, Table V"
_CONE = math.radians(5.0)
_FIELD, _SIGHT = math.radians(95.0), 10.0
_FAR, _PRIVATE = 10.0, 0.5


def _lines_of_sight(recording: Recording, sample: Array, pedestrian: Array) -> Bools:
    """(N,) whether the line of sight from the robot to the pedestrian is free, for N pairs of a sample and a pedestrian."""
    x, y, _ = (part[sample, pedestrian] for part in offsets(recording))
    return is_free(recording.map, recording.pose[sample, :2], np.stack((x, y), axis=1))


@compute_once
def _visible_pairs(recording: Recording) -> Bools:
    """(T, P) whether the line of sight is free between the robot and each pedestrian, if either faces the other."""
    seen = _pedestrians_in_cone(recording) | _robot_in_cone(recording)
    sample, pedestrian = np.nonzero(seen)
    seen[sample, pedestrian] = _lines_of_sight(recording, sample, pedestrian)
    return seen


@compute_once
def _bearing_from_robot(recording: Recording) -> Doubles:
    """(T, P) component of the offset to each pedestrian along the robot's heading, m."""
    x, y, _ = offsets(recording)
    cosine, sine = facing(recording)
    ahead: Doubles = x * cosine[:, None] + y * sine[:, None]
    return ahead


@compute_once
def _bearing_from_pedestrian(recording: Recording) -> Doubles:
    """(T, P) component of the offset to the robot along each pedestrian's heading, m."""
    x, y, _ = offsets(recording)
    cosine, sine = pedestrians_facing(recording)
    ahead: Doubles = -(x * cosine + y * sine)
    return ahead


def _in_cone(recording: Recording, ahead: Doubles, half_angle: float, reach: float) -> Bools:
    """(T, P) whether the pedestrian is present, and the other party is within ``reach`` metres and inside the cone."""
    distance = np.where(recording.pedestrian_present, offsets(recording)[2], 0.0)
    inside: Bools = recording.pedestrian_present & (distance <= reach) & (ahead >= distance * math.cos(half_angle))
    return inside


def _pedestrians_in_cone(recording: Recording) -> Bools:
    """(T, P) whether a pedestrian is in the robot's cone."""
    return _in_cone(recording, _bearing_from_robot(recording), _CONE, math.inf)


def _robot_in_cone(recording: Recording) -> Bools:
    """(T, P) whether the robot is in a pedestrian's cone."""
    return _in_cone(recording, _bearing_from_pedestrian(recording), _CONE, math.inf)


def _robot_in_view(recording: Recording) -> Bools:
    """(T, P) whether the robot is in a pedestrian's field of view."""
    return _in_cone(recording, _bearing_from_pedestrian(recording), _FIELD, _SIGHT)


@metric(
    "time_facing_pedestrians",
    unit="s",
    direction="lower",
    formula="time with a visible pedestrian within 5 degrees of the robot's heading",
    source=f"{_ARENA}; cone as in its code",
    walls="respected",
)
def time_facing_pedestrians(recording: Recording) -> float:
    """Time during which the robot faces several pedestrians is counted once. The value is 0 if there are no pedestrians."""
    return duration(recording, np.any(_pedestrians_in_cone(recording) & _visible_pairs(recording), axis=1))


@metric(
    "time_seen_by_pedestrians",
    unit="s",
    direction="lower",
    formula="time with the robot within 5 degrees of the heading of a pedestrian that has a free line of sight",
    source=f"{_ARENA}; cone as in its code",
    walls="respected",
)
def time_seen_by_pedestrians(recording: Recording) -> float:
    """Time during which several pedestrians face the robot is counted once. The value is 0 if there are no pedestrians."""
    return duration(recording, np.any(_robot_in_cone(recording) & _visible_pairs(recording), axis=1))


@metric(
    "time_seen_by_pedestrians.field_of_view",
    unit="s",
    direction="neutral",
    formula="time with the robot within 95 degrees of the heading, and 10 m, of a pedestrian with a free line of sight",
    source="field of view of SRPB, Karwowski and Szynkiewicz 2023",
    walls="respected",
)
def time_seen_by_pedestrians_field_of_view(recording: Recording) -> float:
    """Time during which several pedestrians see the robot is counted once. The value is 0 if there are no pedestrians."""
    candidates = _robot_in_view(recording)
    nearest = is_lowest(np.where(candidates, offsets(recording)[2], np.inf))
    seen = np.zeros(len(candidates), np.bool_)
    for tried in (nearest, candidates & ~nearest):  # the nearest pedestrian is nearly always visible, so others are rarely tested
        sample, pedestrian = np.nonzero(tried & ~seen[:, None])
        seen[sample[_lines_of_sight(recording, sample, pedestrian)]] = True
    return duration(recording, seen)


@compute_once
def _visible_gaps(recording: Recording) -> Doubles:
    """(T,) gap to the nearest pedestrian within 10 m whose centre the robot can see, m; 10 if there is no such pedestrian."""
    gap = surface_distances(recording)
    sample, pedestrian = np.nonzero(gap < _FAR)
    seen = _lines_of_sight(recording, sample, pedestrian)
    nearest = np.full(len(gap), _FAR)
    np.minimum.at(nearest, sample[seen], gap[sample[seen], pedestrian[seen]])
    return nearest


@metric(
    "closest_pedestrian_distance_min.in_sight",
    unit="m",
    direction="higher",
    formula="as ``closest_pedestrian_distance_min``, but only for pedestrians that no wall hides from the robot",
    source="Agora (`agora.metrics.attention`)",
    walls="respected",
)
def closest_pedestrian_distance_min_in_sight(recording: Recording) -> float | None:
    """A pedestrian counts only if the line between the centres is free. Undefined if no pedestrian was ever present."""
    return float(_visible_gaps(recording).min()) if ever_present(recording) else None


@metric(
    "time_in_private_zone.in_sight",
    unit="s",
    direction="lower",
    formula="as ``time_in_private_zone.outline``, but only for pedestrians that no wall hides from the robot",
    source="Agora (`agora.metrics.attention`)",
    walls="respected",
)
def time_in_private_zone_in_sight(recording: Recording) -> float:
    """A pedestrian counts only if the line between the centres is free. The value is 0 if there are no pedestrians."""
    return duration(recording, _visible_gaps(recording) < _PRIVATE)
