"""How soon robot and pedestrians would have collided, had both gone on as they moved."""

from __future__ import annotations

import numpy as np

from agora.core.recording import Recording
from agora.core.state import Doubles
from agora.interfaces import metric
from agora.metrics.outline import times_to_touch
from agora.metrics.quantities import anyone, average, closest, offsets, once, velocities

_SOCNAVBENCH = "Biswas et al. 2022, SocNavBench, Table 1"
_LATE = 10.0


@once
def _relative(recording: Recording) -> tuple[Doubles, Doubles]:
    """(T, P) velocity of the pedestrians relative to the robot, x and y, m/s."""
    velocity = velocities(recording)
    vx = recording.pedestrian_velocity[:, :, 0] - velocity[:, 0, None]
    vy = recording.pedestrian_velocity[:, :, 1] - velocity[:, 1, None]
    return vx, vy


@once
def touch_time(recording: Recording) -> Doubles:
    """(T,) time until the robot's outline touches a pedestrian's at constant velocities, s; at most 10, 0 where they overlap."""
    return np.minimum(closest(times_to_touch(recording, *_relative(recording))), _LATE)


@once
def sight_time(recording: Recording) -> Doubles:
    """(T,) time to collision as SocNavBench's code has it, s; at most 10.

    Centre distance less the robot's radius, over the closing speed along the line of sight: by how much they miss does not matter.
    """
    (x, y, distance), (vx, vy) = offsets(recording), _relative(recording)
    product = x * vx + y * vy
    closing = recording.pedestrian_present & (product < 0.0)
    soon = np.full(distance.shape, _LATE)
    gap = np.maximum(np.where(closing, distance, 0.0) - recording.radius, 0.0)
    np.divide(gap * np.where(closing, distance, 0.0), -product, out=soon, where=closing)
    return np.minimum(closest(soon), _LATE)


@metric(
    "time_to_collision_min",
    unit="s",
    direction="higher",
    formula="min over t and pedestrians of min(10, smallest tau >= 0 at which their outlines touch)",
    source=f"{_SOCNAVBENCH} (as in its text); SocNavGym",
    version=2,
)
def time_to_collision_min(recording: Recording) -> float | None:
    """Undefined where there never was a pedestrian."""
    return float(touch_time(recording).min()) if anyone(recording) else None


@metric(
    "time_to_collision_average",
    unit="s",
    direction="higher",
    formula="mean over time of min(10, smallest tau >= 0 at which its outline touches any pedestrian's)",
    source=f"{_SOCNAVBENCH} (as in its text)",
    version=2,
)
def time_to_collision_average(recording: Recording) -> float | None:
    """Undefined where there never was a pedestrian."""
    return average(recording, touch_time(recording)) if anyone(recording) else None


@metric(
    "time_to_collision_min.socnavbench",
    unit="s",
    direction="higher",
    formula="min over t and approaching pedestrians of min(10, (D - r_robot) / closing speed along the line of sight)",
    source=f"{_SOCNAVBENCH} (as in its code, with velocities of the same moment)",
)
def time_to_collision_min_socnavbench(recording: Recording) -> float | None:
    """Undefined where there never was a pedestrian."""
    return float(sight_time(recording).min()) if anyone(recording) else None


@metric(
    "time_to_collision_average.socnavbench",
    unit="s",
    direction="higher",
    formula="mean over time of min(10, (D - r_robot) / closing speed along the line of sight for any approaching pedestrian)",
    source=f"{_SOCNAVBENCH} (as in its code, with velocities of the same moment)",
)
def time_to_collision_average_socnavbench(recording: Recording) -> float | None:
    """Undefined where there never was a pedestrian."""
    return average(recording, sight_time(recording)) if anyone(recording) else None
