"""The speeds of pedestrians."""

from __future__ import annotations

import numpy as np

from agora.core.recording import Recording
from agora.core.state import Doubles
from agora.interfaces import metric
from agora.metrics.quantities.samples import any_present, duration, ever_present, intervals, offsets, weighted_mean

GROUP = "space"


@metric(
    "pedestrian_speed_average",
    unit="m/s",
    direction="neutral",
    formula="mean of the pedestrians' speed over the time that each was present",
    source="HuNavSim; Katyal et al. 2022",
)
def pedestrian_speed_average(recording: Recording) -> float | None:
    """Undefined if no pedestrian was ever present, or if there is only one sample."""
    present = recording.pedestrian_present[:-1]
    speed, weight = _pedestrian_speeds(recording)[:-1][present], intervals(recording)[np.nonzero(present)[0]]
    return weighted_mean(speed, weight) if len(weight) else None


@metric(
    "closest_pedestrian_speed_average",
    unit="m/s",
    direction="neutral",
    formula="mean over the time with pedestrians of the speed of the one whose centre is closest",
    source="HuNavSim",
    walls="ignored",
)
def closest_pedestrian_speed_average(recording: Recording) -> float | None:
    """Undefined if no pedestrian was ever present, or if there is only one sample."""
    about = any_present(recording)
    seconds = duration(recording, about)
    if not ever_present(recording) or seconds == 0.0:
        return None
    nearest = offsets(recording)[2].argmin(1)
    speed = np.where(about, _pedestrian_speeds(recording)[np.arange(len(about)), nearest], 0.0)
    return float((speed[:-1] * intervals(recording)).sum()) / seconds


def _pedestrian_speeds(recording: Recording) -> Doubles:
    """(T, P) speed of each pedestrian, m/s; 0 for absent pedestrians."""
    vx, vy = recording.pedestrian_velocity[..., 0], recording.pedestrian_velocity[..., 1]
    return np.where(recording.pedestrian_present, np.sqrt(vx * vx + vy * vy), 0.0)
