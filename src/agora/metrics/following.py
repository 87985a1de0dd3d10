"""Finding and following people, and giving way to them, as defined by Habitat 3.0. Agora computes fractions of time, Habitat
fractions of steps.

The robot has found a person if the centre distance D to a pedestrian is 1 to 2 m (Habitat uses the walking distance) and the
pedestrian is at most 60 degrees off the robot's heading. In Habitat, the robot must find one specific person; in Agora, any
pedestrian counts.
"""

from __future__ import annotations

import math

import numpy as np

from agora.core.recording import STANDING, Recording
from agora.core.state import Bools
from agora.interfaces import metric
from agora.metrics.quantities.arithmetic import norm
from agora.metrics.quantities.samples import average, closest_centre, compute_once, duration, ever_present, facing, offsets

_HABITAT = "Puig et al. 2023, Habitat 3.0, social navigation"
_FROM, _TO, _FACING, _BESIDE = 1.0, 2.0, 0.5, 1.5


@compute_once
def _has_found(recording: Recording) -> Bools:
    """(T,) whether any pedestrian counts as found."""
    x, y, distance = offsets(recording)
    cosine, sine = (part[:, None] for part in facing(recording))
    near = (distance >= _FROM) & (distance <= _TO)
    found: Bools = np.any(near & (cosine * x + sine * y > _FACING * np.where(near, distance, 0.0)), axis=1)
    return found


@metric("found_human", unit="0/1", direction="higher", formula="1 if a person is ever found", source=_HABITAT, walls="ignored")
def found_human(recording: Recording) -> float:
    """A person is found if D is 1 to 2 m and the bearing is within 60 degrees of the heading. The value is 0 if there are no
    pedestrians.
    """
    return float(_has_found(recording).any())


def _earliest(recording: Recording) -> float:
    """Return the earliest time at which a robot that drives straight at top speed could be within 2 m of a pedestrian, s; infinite
    if it never could.
    """
    elapsed = recording.time - recording.time[0]
    start = recording.pedestrian_position - recording.pose[0, :2]
    away = np.where(recording.pedestrian_present, norm(start), np.inf) - _TO
    within = (away <= recording.max_speed * elapsed[:, None]).any(1)
    return float(elapsed[within.argmax()]) if within.any() else math.inf


@metric(
    "first_encounter_spl",
    unit="",
    direction="higher",
    formula="F l / max(l, t), F = 1 if a person is ever found, t the first such time, l the earliest time at which a "
    "robot that drives straight at top speed can be 2 m from a pedestrian",
    source=f"{_HABITAT}; there l is that of an oracle that drives along the floor",
    values="share",
    walls="ignored",
)
def first_encounter_spl(recording: Recording) -> float | None:
    """The value is 0 if no one was found, and 1 if a person was found immediately. Undefined if no pedestrian was ever present."""
    if not ever_present(recording):
        return None
    found = _has_found(recording)
    if not found.any():
        return 0.0
    first, least = float(recording.time[found.argmax()] - recording.time[0]), _earliest(recording)
    return least / first if first > least else 1.0


@metric(
    "follow_ratio",
    unit="",
    direction="higher",
    formula="time with a person found / (T - l), l the earliest time at which a robot that drives straight at top "
    "speed can be 2 m from a pedestrian",
    source=f"{_HABITAT}, follow_human_steps_ratio_after_first_encounter",
    values="amount",
    walls="ignored",
)
def follow_ratio(recording: Recording) -> float | None:
    """Undefined if no pedestrian was ever present, or if none could be reached before the end."""
    left = float(recording.time[-1] - recording.time[0]) - _earliest(recording)
    return min(duration(recording, _has_found(recording)) / left, 1.0) if left > 0.0 else None


@metric(
    "backup_ratio",
    unit="",
    direction="neutral",
    formula="share of time in which the robot backs up, vx < 0, with a pedestrian within 1.5 m (D)",
    source=_HABITAT,
    values="share",
    walls="ignored",
)
def backup_ratio(recording: Recording) -> float:
    """The value is 0 if there are no pedestrians."""
    return average(recording, (recording.twist[:, 0] < 0.0) & (closest_centre(recording) <= _BESIDE))


@metric(
    "yield_ratio",
    unit="",
    direction="neutral",
    formula="share of time in which the robot stands still, slower than 0.05 m/s and not backing up, with a pedestrian within "
    "1.5 m (D)",
    source=f"{_HABITAT}; its speed limit, 1, is in its own unit",
    values="share",
    walls="ignored",
)
def yield_ratio(recording: Recording) -> float:
    """The value is 0 if there are no pedestrians."""
    stands = (norm(recording.twist[:, :2]) < STANDING) & (recording.twist[:, 0] >= 0.0)
    return average(recording, stands & (closest_centre(recording) <= _BESIDE))
