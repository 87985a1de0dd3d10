"""Who looks at whom: a cone about the heading, and a free line of sight where there is a map.

Arena 3.0's cone is 5 degrees to either side, without limit of distance; its code mirrors the bearing of pedestrians and looks
through walls, which is corrected here. A person sees more than that: the ``.field_of_view`` variant takes the 190 degrees of SRPB,
to 10 m.
"""

from __future__ import annotations

import math

import numpy as np

from agora.core.recording import Recording
from agora.core.state import Bools, Doubles
from agora.interfaces import metric
from agora.metrics.quantities import duration, facing, offsets, once, pedestrians_facing

_ARENA = "Kästner et al. 2024, Arena 3.0, Table V"
_CONE = math.radians(5.0)
_FIELD, _SIGHT = math.radians(95.0), 10.0

_BLOCKED, _STEP = 0.75, 0.5
"""A line of sight is blocked where the clearance is less than the first, in cells; the second is its least step.

The clearance is between centres of cells: between two cells that touch at a corner it is half a cell. Steps are otherwise half the
clearance: it is only good to a cell, and a whole step could leap over a thin wall.
"""


def _visible(recording: Recording, candidates: Bools) -> Bools:
    """(T,) whether any of the candidates (T, P) has a free line of sight to the robot."""
    chart = recording.map
    if chart is None:
        anybody: Bools = np.any(candidates, axis=1)
        return anybody
    seen = np.zeros(len(candidates), np.bool_)
    sample, pedestrian = np.nonzero(candidates)
    x, y, distance = offsets(recording)
    length = distance[sample, pedestrian]
    step = np.stack((x[sample, pedestrian], y[sample, pedestrian]), axis=1) / np.maximum(length, 1e-9)[:, None]
    begin = recording.pose[sample, :2]
    travelled = np.zeros(len(sample))
    rays = np.arange(len(sample))
    while len(rays):
        clearance = np.asarray(chart.clearance_at(begin[rays] + travelled[rays, None] * step[rays]), np.float64)
        travelled[rays] += np.maximum(0.5 * clearance, _STEP * chart.resolution)
        arrived = travelled[rays] >= length[rays]
        seen[sample[rays[arrived]]] = True
        rays = rays[~arrived & (clearance >= _BLOCKED * chart.resolution) & ~seen[sample[rays]]]
    return seen


@once
def _bearing_from_robot(recording: Recording) -> Doubles:
    """(T, P) component of the offset to each pedestrian along the robot's heading, m."""
    x, y, _ = offsets(recording)
    cosine, sine = facing(recording)
    ahead: Doubles = x * cosine[:, None] + y * sine[:, None]
    return ahead


@once
def _bearing_from_pedestrian(recording: Recording) -> Doubles:
    """(T, P) component of the offset to the robot along each pedestrian's heading, m."""
    x, y, _ = offsets(recording)
    cosine, sine = pedestrians_facing(recording)
    ahead: Doubles = -(x * cosine + y * sine)
    return ahead


def _within(recording: Recording, ahead: Doubles, half_angle: float, reach: float) -> Bools:
    """(T, P) whether the other party is present, within reach and within the cone."""
    distance = np.where(recording.pedestrian_present, offsets(recording)[2], 0.0)
    inside: Bools = recording.pedestrian_present & (distance <= reach) & (ahead >= distance * math.cos(half_angle))
    return inside


@metric(
    "time_facing_pedestrians",
    unit="s",
    direction="lower",
    formula="time with a visible pedestrian within 5 degrees of the robot's heading",
    source=f"{_ARENA}; cone as in its code",
)
def time_facing_pedestrians(recording: Recording) -> float:
    """Several pedestrians at once count once; 0 without pedestrians."""
    return duration(recording, _visible(recording, _within(recording, _bearing_from_robot(recording), _CONE, math.inf)))


@metric(
    "time_seen_by_pedestrians",
    unit="s",
    direction="lower",
    formula="time with the robot within 5 degrees of the heading of a pedestrian who has a free line of sight",
    source=f"{_ARENA}; cone as in its code",
)
def time_seen_by_pedestrians(recording: Recording) -> float:
    """Several pedestrians at once count once; 0 without pedestrians."""
    return duration(recording, _visible(recording, _within(recording, _bearing_from_pedestrian(recording), _CONE, math.inf)))


@metric(
    "time_seen_by_pedestrians.field_of_view",
    unit="s",
    direction="neutral",
    formula="time with the robot within 95 degrees of the heading, and 10 m, of a pedestrian who has a free line of sight",
    source="field of view of SRPB, Karwowski and Szynkiewicz 2023",
)
def time_seen_by_pedestrians_field_of_view(recording: Recording) -> float:
    """Several pedestrians at once count once; 0 without pedestrians."""
    return duration(recording, _visible(recording, _within(recording, _bearing_from_pedestrian(recording), _FIELD, _SIGHT)))
