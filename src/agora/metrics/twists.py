"""Metrics of the robot's twist, in its own frame, and of its commands: smoothness, turning, reversing and feasibility."""

from __future__ import annotations

import math

import numpy as np

from agora.core.jit import lean_kernel
from agora.core.kinematics import exceeds
from agora.core.recording import Recording
from agora.core.state import Doubles
from agora.interfaces import metric
from agora.metrics.quantities.arithmetic import logarithm, norm, spectrum
from agora.metrics.quantities.samples import average, compute_once, intervals, velocities

GROUP = "smoothness"

_SRPB = "SRPB, Karwowski and Szynkiewicz 2023"
_SPARC = "Balasubramanian et al. 2015, J. NeuroEng. Rehabil. 12:112"
_STOPPED, _TURNS, _BACKWARD, _ON_THE_SPOT = 0.05, 0.15, -0.05, 0.005

_CUTOFF, _THRESHOLD, _PADDING = 10.0, 0.05, 4
"""Parameters of the spectral arc length: maximum frequency, Hz; minimum magnitude, relative to the maximum; zero padding, as a
power of two.
"""


def _rate(recording: Recording, values: Doubles) -> float | None:
    """Return the time average of the magnitude of the rate of change of values (T, n)."""
    dt = intervals(recording)
    change = np.diff(values, axis=0)
    return float(np.sqrt((change * change).sum(1)).sum()) / float(dt.sum()) if len(dt) else None


@metric(
    "velocity_smoothness",
    unit="m/s2",
    direction="lower",
    formula="mean over time of |d(vx, vy)/dt|, in the robot's frame",
    source=_SRPB,
)
def velocity_smoothness(recording: Recording) -> float | None:
    """Unlike in ``acceleration_average``, driving around a bend adds nothing. Undefined if there is only one sample."""
    return _rate(recording, recording.twist[:, :2])


@metric("heading_smoothness", unit="rad/s2", direction="lower", formula="mean over time of |d omega/dt|", source=_SRPB)
def heading_smoothness(recording: Recording) -> float | None:
    """HuNavSim and social-jym call this metric the mean angular acceleration. Undefined if there is only one sample."""
    return _rate(recording, recording.twist[:, 2:])


@metric("angular_speed_average", unit="rad/s", direction="neutral", formula="mean over time of |omega|", source="HuNavSim")
def angular_speed_average(recording: Recording) -> float:
    """HuNavSim's code omits the absolute value, so left and right turns cancel out."""
    return average(recording, np.abs(recording.twist[:, 2]))


@metric("angular_jerk_average", unit="rad/s3", direction="lower", formula="mean over time of |d^2 omega/dt^2|", source="social-jym")
def angular_jerk_average(recording: Recording) -> float | None:
    """Undefined if there are fewer than three samples. If omega jumps, the value grows with the control rate."""
    dt = intervals(recording)
    if len(dt) < 2:
        return None
    change = np.diff(np.diff(recording.twist[:, 2]) / dt)
    return float(np.abs(change).sum()) / float(0.5 * (dt[1:] + dt[:-1]).sum())


@metric(
    "oscillation_share",
    unit="",
    direction="lower",
    formula="share of time with |v| < 0.05 m/s and |omega| < 0.15 rad/s",
    source=f"{_SRPB} (its code tests vx twice and vy not at all; corrected)",
    values="share",
)
def oscillation_share(recording: Recording) -> float:
    """All time near standstill counts, whether or not the robot should stand still."""
    slow = norm(recording.twist[:, :2]) < _STOPPED
    return average(recording, slow & (np.abs(recording.twist[:, 2]) < _TURNS))


@metric("backward_share", unit="", direction="lower", formula="share of time with vx < -0.05 m/s", source=_SRPB, values="share")
def backward_share(recording: Recording) -> float:
    """A robot that moves sideways does not count as reversing."""
    return average(recording, recording.twist[:, 0] < _BACKWARD)


@metric(
    "in_place_rotation_share",
    unit="",
    direction="lower",
    formula="share of time with |v| < 0.005 m/s and |omega| >= 0.15 rad/s",
    source=_SRPB,
    values="share",
)
def in_place_rotation_share(recording: Recording) -> float:
    """Turns in both directions count."""
    still = norm(recording.twist[:, :2]) < _ON_THE_SPOT
    return average(recording, still & (np.abs(recording.twist[:, 2]) >= _TURNS))


@lean_kernel
def _write_feasible(traits, commands, feasible, first, last):
    """Write to ``feasible`` (K,) whether each of the commands (K, 3) is within the twist limits of robot 0."""
    for k in range(first, last):
        feasible[k] = not exceeds(traits, 0, 0, commands[k, 0], commands[k, 1], commands[k, 2])


@metric(
    "feasible_action_rate",
    unit="",
    direction="higher",
    formula="share of the planner's twists that are within the robot's limits of vx, vy and omega",
    source="social-jym; the limits are those at which Agora clips",
    values="share",
)
def feasible_action_rate(recording: Recording) -> float | None:
    """Acceleration limits are ignored. Undefined if the twists or the robot's motion limits were not recorded."""
    if recording.command is None or recording.robot is None or not len(recording.command):
        return None
    feasible = np.zeros(len(recording.command), np.bool_)
    _write_feasible(recording.robot, recording.command.astype(np.float32), feasible, 0, len(feasible))
    return float(np.count_nonzero(feasible)) / len(feasible)


@compute_once
def _speeds(recording: Recording) -> Doubles:
    """(T,) recorded speed, m/s."""
    return norm(velocities(recording))


@metric(
    "sparc",
    unit="",
    direction="higher",
    formula="minus the arc length of the speed's Fourier magnitude, both axes scaled to 0 to 1, up to 10 Hz and up to the last "
    "value of 0.05 or more",
    source=f"{_SPARC}; zero padding by 4 powers of two, as in its code",
)
def sparc(recording: Recording) -> float | None:
    """The speed is resampled at even intervals if the time stamps are uneven. Undefined if there are fewer than three samples, or
    if the robot never moved.
    """
    count = len(recording.time)
    if count < 3 or not _speeds(recording).any():
        return None
    even = np.linspace(recording.time[0], recording.time[-1], count)
    rate = (count - 1) / float(recording.time[-1] - recording.time[0])
    magnitude = spectrum(np.interp(even, recording.time, _speeds(recording)), _PADDING)
    magnitude = magnitude[: math.floor(_CUTOFF / rate * 2 * len(magnitude)) + 1] / magnitude.max()
    high = np.flatnonzero(magnitude >= _THRESHOLD)
    chosen = np.diff(magnitude[high[0] : high[-1] + 1])
    if not len(chosen):
        return None
    return -float(np.sqrt(chosen * chosen + (1.0 / len(chosen)) ** 2).sum())


@metric(
    "log_dimensionless_jerk",
    unit="",
    direction="higher",
    formula="-ln(T^3 / v_peak^2 integral |d^2 v/dt^2|^2 dt), v the speed at equidistant times, with the median interval",
    source=f"{_SPARC}, LDLJ",
    version=2,
)
def log_dimensionless_jerk(recording: Recording) -> float | None:
    """Undefined if there are fewer than three sample times, if the acceleration is constant, or if the robot never moved.

    An episode may end in the middle of an interval. The partial interval is left out, because a change of speed divided by the
    square of a short time would outweigh everything else.
    """
    if len(recording.time) < 3:
        return None
    begin, dt = float(recording.time[0]), float(np.median(intervals(recording)))
    count = math.floor((float(recording.time[-1]) - begin) / dt + 1e-6)
    speed = np.interp(begin + dt * np.arange(count + 1), recording.time, _speeds(recording))
    jerk = np.diff(speed, 2) / dt**2
    peak, total = float(speed.max()), float((jerk * jerk).sum()) * dt
    return -logarithm((count * dt) ** 3 * total / (peak * peak)) if peak > 0.0 and total > 0.0 else None
