"""Speed, acceleration, jerk and curvature of the robot's path.

Speed is displacement over time. Acceleration and jerk are differences of the recorded velocity vector over time, because second and
third differences of single-precision positions would be mostly rounding errors. Curvature is a property of the path: it is computed
from points that lie at least `SPACING` apart, so that it is not affected by rounding or by times at which the robot stands still.
Cusps are ignored.
"""

from __future__ import annotations

import math

import numpy as np

from agora.core.recording import Recording
from agora.core.state import Doubles
from agora.interfaces import metric
from agora.metrics.quantities.arithmetic import norm
from agora.metrics.quantities.samples import SPACING, compute_once, intervals, path_metres, speeds, velocities, weighted_mean

_SOCNAVBENCH = "Biswas et al. 2022, SocNavBench, Table 1"
_FRANCIS = "Francis et al. 2023, arXiv:2306.16740, Table 1"
_ARENA = "Kästner et al. 2024, Arena 3.0, Table V"
_BOTH = f"{_ARENA}; {_SOCNAVBENCH} (not divided by time in Arena's code; corrected)"


_CUSP = -0.5
"""Cosine of 120 degrees. If the path turns by this angle or more at a point, the point counts as a cusp, at which the robot
reversed.
"""


@metric("velocity_average", unit="m/s", direction="neutral", formula="path length / duration", source=f"{_ARENA}; {_SOCNAVBENCH}")
def velocity_average(recording: Recording) -> float | None:
    """Undefined if there is only one sample."""
    dt = intervals(recording)
    return path_metres(recording) / float(dt.sum()) if len(dt) else None


@metric("velocity_max", unit="m/s", direction="neutral", formula="max |p_{k+1} - p_k| / dt_k", source="HuNavSim")
def velocity_max(recording: Recording) -> float | None:
    """Undefined if there is only one sample."""
    return _largest(speeds(recording))


@metric("velocity_min", unit="m/s", direction="neutral", formula="min |p_{k+1} - p_k| / dt_k", source=_FRANCIS)
def velocity_min(recording: Recording) -> float | None:
    """Undefined if there is only one sample."""
    return _smallest(speeds(recording))


@metric(
    "energy",
    unit="m2/s",
    direction="lower",
    formula="sum |v_k|^2 dt_k",
    source=f"{_SOCNAVBENCH} (its code leaves out dt; corrected)",
)
def energy(recording: Recording) -> float:
    """The integral of the squared speed over time. SocNavBench gives this value in joules, for unit mass."""
    return float((speeds(recording) ** 2 * intervals(recording)).sum())


@compute_once
def _accelerations(recording: Recording) -> Doubles:
    """(T - 1, 2) change of the velocity vector over each interval, m/s2."""
    change: Doubles = np.diff(velocities(recording), axis=0) / intervals(recording)[:, None]
    return change


def _times_between(recording: Recording) -> Doubles:
    """(T - 2,) time between the midpoints of consecutive intervals, s."""
    dt = intervals(recording)
    middle: Doubles = 0.5 * (dt[1:] + dt[:-1])
    return middle


def _acceleration(recording: Recording) -> Doubles:
    """(T - 1,) magnitude of the acceleration in each interval, m/s2."""
    return norm(_accelerations(recording))


def _jerk(recording: Recording) -> Doubles:
    """(T - 2,) magnitude of the rate of change of the acceleration, m/s3."""
    return norm(np.diff(_accelerations(recording), axis=0)) / _times_between(recording)


def _largest(values: Doubles) -> float | None:
    return float(values.max()) if len(values) else None


def _smallest(values: Doubles) -> float | None:
    return float(values.min()) if len(values) else None


def _mean(values: Doubles, weights: Doubles) -> float | None:
    return weighted_mean(values, weights) if len(values) else None


@metric("acceleration_average", unit="m/s2", direction="lower", formula="mean over time of |dv/dt|, v a vector", source=_BOTH)
def acceleration_average(recording: Recording) -> float | None:
    """Undefined if there is only one sample."""
    return _mean(_acceleration(recording), intervals(recording))


@metric("acceleration_max", unit="m/s2", direction="lower", formula="max |dv/dt|, v a vector", source="HuNavSim")
def acceleration_max(recording: Recording) -> float | None:
    """Undefined if there is only one sample."""
    return _largest(_acceleration(recording))


@metric("acceleration_min", unit="m/s2", direction="neutral", formula="min |dv/dt|, v a vector", source=_FRANCIS)
def acceleration_min(recording: Recording) -> float | None:
    """Undefined if there is only one sample."""
    return _smallest(_acceleration(recording))


@metric(
    "lateral_acceleration_max",
    unit="m/s2",
    direction="lower",
    formula="max |v| |omega|",
    source="robot_sf, rollover_lateral_accel_abs_max",
)
def lateral_acceleration_max(recording: Recording) -> float | None:
    """Lateral acceleration can tip over a robot. Undefined if there is only one sample."""
    if len(recording.time) < 2:
        return None
    return float((norm(velocities(recording)) * np.abs(recording.twist[:, 2])).max())


@metric("jerk_average", unit="m/s3", direction="lower", formula="mean over time of |da/dt|, a = dv/dt a vector", source=_BOTH)
def jerk_average(recording: Recording) -> float | None:
    """Undefined if there are fewer than three samples. If the velocity jumps, the value grows with the control rate."""
    return _mean(_jerk(recording), _times_between(recording))


@metric("jerk_max", unit="m/s3", direction="lower", formula="max |da/dt|, a = dv/dt a vector", source="HuNavSim")
def jerk_max(recording: Recording) -> float | None:
    """Undefined if there are fewer than three samples. If the velocity jumps, the value grows with the control rate."""
    return _largest(_jerk(recording))


@metric("jerk_min", unit="m/s3", direction="neutral", formula="min |da/dt|, a = dv/dt a vector", source=_FRANCIS)
def jerk_min(recording: Recording) -> float | None:
    """Undefined if there are fewer than three samples."""
    return _smallest(_jerk(recording))


def _turning(recording: Recording) -> float:
    """Return the sum of |wrap(theta_{k+1} - theta_k)| over all samples, rad."""
    change = np.diff(recording.pose[:, 2])
    return float(np.abs(change - 2.0 * math.pi * np.round(change / (2.0 * math.pi))).sum())


@metric(
    "cumulative_heading_change",
    unit="rad",
    direction="lower",
    formula="sum |wrap(theta_{k+1} - theta_k)|",
    source="HuNavSim; SRPB (not wrapped in SRPB's code; corrected)",
)
def cumulative_heading_change(recording: Recording) -> float:
    """Turning on the spot counts, too. The value is 0 if there is only one sample."""
    return _turning(recording)


@metric(
    "angle_over_length",
    unit="rad/m",
    direction="lower",
    formula="sum |wrap(theta_{k+1} - theta_k)| / path length",
    source=f"{_ARENA} (not wrapped in its code; corrected)",
)
def angle_over_length(recording: Recording) -> float | None:
    """Undefined if the robot travelled less than 0.05 m."""
    length = path_metres(recording)
    return _turning(recording) / length if length >= SPACING else None


def _thin_out(points: Doubles) -> Doubles:
    """Return the points of a path (N, 2), m, without those closer than `SPACING` to the previous point returned."""
    kept = [0]
    x, y = points.T.tolist()
    last_x, last_y = x[0], y[0]
    for k in range(1, len(x)):
        dx, dy = x[k] - last_x, y[k] - last_y
        if dx * dx + dy * dy >= SPACING * SPACING:
            kept.append(k)
            last_x, last_y = x[k], y[k]
    return points[kept]


@compute_once
def _bends(recording: Recording) -> tuple[Doubles, Doubles, Doubles, Doubles]:
    """Return four values for each three consecutive points on the path, except at cusps: twice the area of their triangle, the
    product and the sum
    of the two sides along the path, and the length of the chord.
    """
    sides = np.diff(_thin_out(recording.pose[:, :2]), axis=0)
    before, after = sides[:-1], sides[1:]
    a, b = norm(before), norm(after)
    bend = before[:, 0] * after[:, 0] + before[:, 1] * after[:, 1] > _CUSP * a * b
    doubled = np.abs(before[:, 0] * after[:, 1] - before[:, 1] * after[:, 0])
    return doubled[bend], (a * b)[bend], (a + b)[bend], norm(before + after)[bend]


def _curvature(recording: Recording) -> Doubles:
    """Return the Menger curvature 4 A / (a b c) at each point, 1/m."""
    doubled, product, _, chord = _bends(recording)
    return 2.0 * doubled / (product * chord)


@metric("curvature_average", unit="1/m", direction="lower", formula="mean along the path of 4 A / (a b c)", source=_ARENA)
def curvature_average(recording: Recording) -> float | None:
    """Undefined if there are fewer than three points 0.05 m apart."""
    return _mean(_curvature(recording), _bends(recording)[2])


@metric("curvature_max", unit="1/m", direction="lower", formula="max 4 A / (a b c)", source=_ARENA)
def curvature_max(recording: Recording) -> float | None:
    """Undefined if there are fewer than three points 0.05 m apart."""
    return _largest(_curvature(recording))


@metric("curvature_min", unit="1/m", direction="lower", formula="min 4 A / (a b c)", source=_ARENA)
def curvature_min(recording: Recording) -> float | None:
    """Undefined if there are fewer than three points 0.05 m apart."""
    return _smallest(_curvature(recording))


@metric(
    "curvature_normalised",
    unit="",
    direction="lower",
    formula="mean along the path of (a + b) 4 A / (a b c)",
    source=_ARENA,
    values="amount",
)
def curvature_normalised(recording: Recording) -> float | None:
    """The value grows with the distance between samples, so compare values only at the same speed and sampling rate. Undefined if
    the curvature is undefined.
    """
    return _mean(_curvature(recording) * _bends(recording)[2], _bends(recording)[2])


@metric("roughness", unit="", direction="lower", formula="mean along the path of 2 A / c^2", source=_ARENA, values="amount")
def roughness(recording: Recording) -> float | None:
    """The value grows with the distance between samples, so compare values only at the same speed and sampling rate. Undefined if
    the curvature is undefined.
    """
    doubled, _, total, chord = _bends(recording)
    return _mean(doubled / chord**2, total)
