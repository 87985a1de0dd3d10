"""SocNavBench's metrics computed as in its code (CMU-TBD/SocNavBench), if the code differs from the paper's text, to reproduce the
published tables.

A step is the interval from one sample to the next; steps may differ in length. The original code stores the values of all steps
without averaging them; Agora's averages are means over steps. The docstring of each metric names the defects of the original, which
the metric reproduces.
"""

from __future__ import annotations

import numpy as np

from agora.core.recording import Recording
from agora.core.state import Bools, Doubles
from agora.interfaces import metric
from agora.metrics.quantities.arithmetic import angle_between, norm
from agora.metrics.quantities.samples import (
    any_present,
    at_goal,
    closest_centre,
    compute_once,
    ever_present,
    intervals,
    offsets,
    speeds,
    steps,
)

GROUP = "socnavbench_code"

_CODE = "SocNavBench's code"
_COOLDOWN = 1.0


@metric(
    "energy.socnavbench_code",
    unit="m2/s2",
    direction="lower",
    formula="sum |v_k|^2 over steps",
    source=f"{_CODE}, robot_motion_energy; its Table 4",
)
def energy_socnavbench_code(recording: Recording) -> float:
    """Defect of the original: the sum is not multiplied by dt, so it grows with the sampling rate."""
    return float((speeds(recording) ** 2).sum())


def _difference(recording: Recording, order: int) -> Doubles:
    """(T - 1 - order, 2) repeated differences of the velocity over steps, each divided by the length of its step."""
    values: Doubles = steps(recording) / intervals(recording)[:, None]
    for k in range(order):
        values = np.diff(values, axis=0) / intervals(recording)[k + 1 :, None]
    return values


@metric(
    "acceleration_average.socnavbench_code",
    unit="m/s2",
    direction="lower",
    formula="mean over steps of |d^2 p / dt^2|, second differences of positions",
    source=f"{_CODE}, robot_acceleration",
)
def acceleration_average_socnavbench_code(recording: Recording) -> float | None:
    """The value is affected by rounding errors in the positions. Undefined if there are fewer than three samples."""
    values = norm(_difference(recording, 1)) if len(recording.time) > 2 else np.zeros(0)
    return float(values.mean()) if len(values) else None


@metric(
    "jerk_average.socnavbench_code",
    unit="m/s3",
    direction="lower",
    formula="mean over steps of |d^3 p / dt^3|, third differences of positions",
    source=f"{_CODE}, robot_jerk",
)
def jerk_average_socnavbench_code(recording: Recording) -> float | None:
    """The value is affected by rounding errors in the positions. Undefined if there are fewer than four samples."""
    values = norm(_difference(recording, 2)) if len(recording.time) > 3 else np.zeros(0)
    return float(values.mean()) if len(values) else None


@metric(
    "path_irregularity.socnavbench_code",
    unit="rad",
    direction="lower",
    formula="mean over samples of the angle between g - p and p, g the last position if the goal was reached",
    source=f"{_CODE}, path_irregularity; its Table 3",
)
def path_irregularity_socnavbench_code(recording: Recording) -> float:
    """Defect of the original: it uses the direction of the position vector from the map's origin as the heading, so moving the map
    changes the result.
    """
    place = recording.pose[:, :2]
    to_goal = (place[-1] if at_goal(recording) else recording.goal[:2]) - place
    known = (norm(to_goal) > 0.0) & (norm(place) > 0.0)
    angles = np.full(len(place), 0.5 * np.pi)
    angles[known] = angle_between(to_goal[known], place[known])
    return float(angles.mean())


@compute_once
def approach_times(recording: Recording) -> Doubles:
    """(T - 1,) time to collision with any pedestrian at the end of each step, s; infinite if no one approaches.

    The robot's velocity is taken from the previous step; in the first step, it is taken from the last step of the episode. The
    velocity of a pedestrian is the displacement over the step, or 0 if the pedestrian was absent before. If there are no
    pedestrians, the previous value is repeated; the initial value is 0.
    """
    dt = intervals(recording)
    x, y, distance = (part[1:] for part in offsets(recording))
    robot = np.roll(steps(recording) / dt[:, None], 1, axis=0)
    known = (recording.pedestrian_present[1:] & recording.pedestrian_present[:-1])[..., None]
    walked = np.where(known, np.diff(recording.pedestrian_position, axis=0), 0.0) / dt[:, None, None]
    vx, vy = walked[..., 0] - robot[:, 0, None], walked[..., 1] - robot[:, 1, None]
    there = recording.pedestrian_present[1:] & (distance > 0.0)
    closing = -np.divide(x * vx + y * vy, distance, out=np.zeros(x.shape), where=there)
    gap = np.where(there, distance, 0.0) - recording.radius
    soon = np.divide(gap, closing, out=np.full(x.shape, np.inf), where=there & (gap * closing > 0.0))
    return _fill_unknown(np.min(soon, axis=1, initial=np.inf), any_present(recording)[1:])


def _fill_unknown(values: Doubles, known: Bools) -> Doubles:
    """Return the values (N,), with each unknown value replaced by the last known value before it, or by 0 if there is none."""
    last = np.maximum.accumulate(np.where(known, np.arange(len(values)), -1))
    kept: Doubles = np.where(last >= 0, values[last], 0.0) if len(values) else values
    return kept


@metric(
    "time_to_collision_min.socnavbench_code",
    unit="s",
    direction="higher",
    formula="min over steps of min over pedestrians of (D - r_robot) / closing speed along the line of sight, only values above 0",
    source=f"{_CODE}, time_to_collision",
    walls="ignored",
)
def time_to_collision_min_socnavbench_code(recording: Recording) -> float | None:
    """Defects of the original: the robot's velocity lags by one step, and the pedestrian's radius is ignored. Undefined if no one
    approached.
    """
    times = approach_times(recording)
    times = times[np.isfinite(times) & (times > 0.0)]
    return float(times.min()) if len(times) else None


@metric(
    "time_to_collision_average.socnavbench_code",
    unit="s",
    direction="higher",
    formula="mean over steps of min over pedestrians of (D - r_robot) / closing speed along the line of sight, only values above 0",
    source=f"{_CODE}, time_to_collision",
    walls="ignored",
)
def time_to_collision_average_socnavbench_code(recording: Recording) -> float | None:
    """Steps that the original marks with -1, because no one approaches, are left out. Values do not saturate. The defects of the
    original are the same as for the minimum.
    """
    times = approach_times(recording)
    times = times[np.isfinite(times) & (times > 0.0)]
    return float(times.mean()) if len(times) else None


def centre_distances(recording: Recording) -> Doubles:
    """(T,) centre distance D to the closest pedestrian, m; if no pedestrian is present, the previous value is repeated; the initial
    value is 0.
    """
    return _fill_unknown(closest_centre(recording), any_present(recording))


@metric(
    "closest_pedestrian_distance_min.socnavbench_code",
    unit="m",
    direction="higher",
    formula="min over samples of min over pedestrians of D",
    source=f"{_CODE}, closest_pedestrian_distance",
    walls="ignored",
)
def closest_pedestrian_distance_min_socnavbench_code(recording: Recording) -> float | None:
    """Defects of the original: it ignores the radii, and uses 0 m until the first pedestrian appears. Undefined if there are no
    pedestrians.
    """
    return float(centre_distances(recording).min()) if ever_present(recording) else None


@metric(
    "closest_pedestrian_distance_average.socnavbench_code",
    unit="m",
    direction="higher",
    formula="mean over samples of min over pedestrians of D",
    source=f"{_CODE}, closest_pedestrian_distance",
    walls="ignored",
)
def closest_pedestrian_distance_average_socnavbench_code(recording: Recording) -> float | None:
    """Defects of the original: it ignores the radii and does not saturate; it uses 0 m until the first pedestrian appears, and
    repeats the last value after all pedestrians have left.
    """
    return float(centre_distances(recording).mean()) if ever_present(recording) else None


@metric(
    "collisions_pedestrian.socnavbench_code",
    unit="",
    direction="lower",
    formula="contacts at ends of steps, D < r_robot + r_pedestrian, with pedestrians whose last counted contact was 1.0 s ago or "
    "longer",
    source=f"{_CODE}, with keep_episode_running",
    values="count",
    compared="all",
)
def collisions_pedestrian_socnavbench_code(recording: Recording) -> float:
    """A continuous contact is counted again every second; a contact between two samples is missed. The value is 0 if there are no
    pedestrians.
    """
    touching = offsets(recording)[2][1:] < recording.radius + recording.pedestrian_radius
    count = 0
    for column in np.flatnonzero(touching.any(0)):
        times, k = recording.time[1:][touching[:, column]], 0
        while k < len(times):
            count, k = count + 1, int(np.searchsorted(times, times[k] + _COOLDOWN - 1e-9))
    return float(count)
