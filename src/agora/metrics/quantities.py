"""Quantities that several metrics share, computed once for a recording.

Sample k stands for the interval up to sample k + 1; time stamps increase and may be uneven. Results are cached per recording object
and read-only, so a recording must not be written to after its first metric.

Metrics use sums, products, quotients and square roots alone: NumPy's transcendental functions, `hypot`, `einsum`, `fft` and ``@``
round differently on different CPUs, and a results file would differ with them. What they need of those is here.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from agora.core.recording import Contact, Outcome, Recording
from agora.core.state import Array, Bools, Doubles

MOVING = 0.01
"""Speed below which a robot has no direction of motion, m/s: rounding of its position would decide it."""

_T = TypeVar("_T", bound=Array | tuple[Array, ...])


def once(function: Callable[[Recording], _T]) -> Callable[[Recording], _T]:
    """Compute a quantity once for each of the last few recordings, and make its arrays read-only."""

    def compute(recording: Recording) -> _T:
        result = function(recording)
        for part in result if isinstance(result, tuple) else (result,):
            part.setflags(write=False)
        return result

    return functools.wraps(function)(functools.lru_cache(maxsize=4)(compute))


@once
def intervals(recording: Recording) -> Doubles:
    """(T - 1,) time from each sample to the next, s."""
    return np.diff(recording.time)


@once
def steps(recording: Recording) -> Doubles:
    """(T - 1, 2) displacement from each sample to the next, m."""
    return np.diff(recording.pose[:, :2], axis=0)


@once
def step_lengths(recording: Recording) -> Doubles:
    """(T - 1,) length of each displacement, m."""
    return norm(steps(recording))


def path_metres(recording: Recording) -> float:
    """Travelled length, m."""
    return float(step_lengths(recording).sum())


@once
def speeds(recording: Recording) -> Doubles:
    """(T - 1,) speed over ground in each interval, m/s."""
    return step_lengths(recording) / intervals(recording)


@once
def facing(recording: Recording) -> tuple[Doubles, Doubles]:
    """(T,) cosine and sine of the robot's heading."""
    return direction(recording.pose[:, 2])


@once
def pedestrians_facing(recording: Recording) -> tuple[Doubles, Doubles]:
    """(T, P) cosine and sine of the pedestrians' headings; 1 and 0 for absent ones."""
    present = recording.pedestrian_present
    cosine, sine = np.ones(present.shape), np.zeros(present.shape)
    cosine[present], sine[present] = direction(recording.pedestrian_heading[present])
    return cosine, sine


@once
def velocities(recording: Recording) -> Doubles:
    """(T, 2) recorded velocity in the map frame, m/s: the twist turned by the heading."""
    cosine, sine = facing(recording)
    vx, vy = recording.twist[:, 0], recording.twist[:, 1]
    return np.stack((cosine * vx - sine * vy, sine * vx + cosine * vy), axis=1)


@once
def goal_distances(recording: Recording) -> Doubles:
    """(T,) distance from the robot's position to the goal's, m."""
    return norm(recording.goal[:2] - recording.pose[:, :2])


@once
def offsets(recording: Recording) -> tuple[Doubles, Doubles, Doubles]:
    """Vectors from the robot to the pedestrians: x, y and length, (T, P) each, m; the length is infinite for absent ones."""
    x = recording.pedestrian_position[:, :, 0] - recording.pose[:, 0, None]
    y = recording.pedestrian_position[:, :, 1] - recording.pose[:, 1, None]
    return x, y, np.where(recording.pedestrian_present, np.sqrt(x * x + y * y), np.inf)


@once
def closest_centre(recording: Recording) -> Doubles:
    """(T,) distance to the centre of the closest pedestrian, m; infinite where there is none."""
    return closest(offsets(recording)[2])


def closest(values: Array) -> Doubles:
    """Smallest value in each row of (T, P), infinite in a row without columns."""
    smallest: Doubles = np.min(values, axis=1, initial=np.inf)
    return smallest


def at_goal(recording: Recording) -> bool:
    """Return whether the episode ended by reaching the goal, with or without contacts."""
    return recording.outcome == Outcome.REACHED


def touched(recording: Recording) -> tuple[Contact, ...]:
    """The contacts; none where nobody recorded them, as in bags of a real robot."""
    contacts: tuple[Contact, ...] = getattr(recording, "contacts", ())
    return contacts


def succeeded(recording: Recording) -> bool:
    """Return whether the goal was reached and nothing touched, as far as anybody knows."""
    return at_goal(recording) and not touched(recording)


@once
def somebody(recording: Recording) -> Bools:
    """(T,) whether there is a pedestrian."""
    about: Bools = np.any(recording.pedestrian_present, axis=1)
    return about


def row_sums(values: Doubles) -> Doubles:
    """(T,) sums of the rows of (T, P), slot after slot, so that zeros of empty slots do not change how they round."""
    return np.cumsum(values, axis=1)[:, -1] if values.shape[1] else np.zeros(len(values))


def lowest(values: Array) -> Bools:
    """(T, P) whether a value is the first smallest of its row; nowhere in a row of infinite values."""
    first = np.zeros(values.shape, np.bool_)
    some = np.flatnonzero(np.isfinite(closest(values)))
    if len(some):
        first[some, values[some].argmin(1)] = True
    return first


def anyone(recording: Recording) -> bool:
    """Return whether there ever was a pedestrian."""
    return bool(recording.pedestrian_present.any())


def average(recording: Recording, values: Any) -> float:
    """Mean over time of (T,) values; that of the only sample where there is just one."""
    if len(values) == 1:
        return float(values[0])
    return weighted_mean(values[:-1], intervals(recording))


def weighted_mean(values: Any, weights: Doubles) -> float:
    """Mean of (N,) values, N > 0."""
    return float((values * weights).sum() / weights.sum())


def duration(recording: Recording, condition: Bools) -> float:
    """Time for which a condition (T,) held, s."""
    return float(intervals(recording)[condition[:-1]].sum())


def stretches(condition: Bools) -> tuple[Array, Array, Array]:
    """First sample, sample after the last, and column of each unbroken stretch of a condition (T, P); column by column, in time."""
    padded = np.zeros((condition.shape[1], len(condition) + 2), np.int8)
    padded[:, 1:-1] = condition.T
    change = np.diff(padded, axis=1)
    column, begin = np.nonzero(change == 1)
    return begin, np.nonzero(change == -1)[1], column


def least(values: Doubles, found: tuple[Array, Array, Array]) -> Doubles:
    """(E,) smallest of values (T, P) in each of E `stretches`."""
    begin, end, column = found
    flat = np.append(values.T.ravel(), np.inf)
    smallest: Doubles = np.minimum.reduceat(flat, np.stack((begin, end), 1).ravel() + len(values) * np.repeat(column, 2))[::2]
    return smallest


def norm(vectors: Doubles) -> Doubles:
    """(...) lengths of (..., 2) vectors."""
    x, y = vectors[..., 0], vectors[..., 1]
    lengths: Doubles = np.sqrt(x * x + y * y)
    return lengths


def direction(heading: Doubles) -> tuple[Doubles, Doubles]:
    """Cosine and sine of headings of any shape, rad, to 1e-15: Taylor series about the nearest quarter turn."""
    quarter = np.round(heading * (2.0 / np.pi))
    angle = (heading - quarter * _QUARTER) - quarter * _QUARTER_REST
    square = angle * angle
    even, odd = _horner(_COSINE, square), angle * _horner(_SINE, square)
    across = quarter % 2.0 != 0.0
    cosine, sine = np.where(across, -odd, even), np.where(across, even, odd)
    half_turn = np.where(quarter % 4.0 < 2.0, 1.0, -1.0)
    return half_turn * cosine, half_turn * sine


def angle_between(a: Doubles, b: Doubles) -> Doubles:
    """(...) angle from 0 to pi between vectors (..., 2), rad, to 1e-15, 0 where one has no length.

    The tangent is halved three times, then its Taylor series.
    """
    dot = a[..., 0] * b[..., 0] + a[..., 1] * b[..., 1]
    cross = np.abs(a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0])
    tangent = cross / np.maximum(np.abs(dot) + np.sqrt(dot * dot + cross * cross), 1e-300)
    for _ in range(2):
        tangent = tangent / (1.0 + np.sqrt(1.0 + tangent * tangent))
    acute = 8.0 * tangent * _horner(_ARCTANGENT, tangent * tangent)
    angle: Doubles = np.where(dot < 0.0, np.pi - acute, acute)
    return angle


def exponential(x: Doubles) -> Doubles:
    """e**x of numbers of any shape, to 1e-15 of it; 0 below -700: powers of two, and a Taylor series about 0."""
    x = np.minimum(np.maximum(x, -700.0), 700.0)
    power = np.round(x * (1.0 / _LN2))
    rest = (x - power * _LN2_HIGH) - power * _LN2_LOW
    result: Doubles = np.ldexp(_horner(_EXPONENTIAL, rest), power.astype(np.int32))
    result[x <= -700.0] = 0.0
    return result


def logarithm(x: float) -> float:
    """Natural logarithm of a number above 0, to 1e-15: that of its power of two, and the series of the area tangent."""
    fraction, power = math.frexp(x)
    if fraction < math.sqrt(0.5):
        fraction, power = 2.0 * fraction, power - 1
    ratio = (fraction - 1.0) / (fraction + 1.0)
    series = _horner(_AREA_TANGENT, np.array(ratio * ratio))
    return float(power * _LN2_HIGH + (power * _LN2_LOW + 2.0 * ratio * float(series)))


def spectrum(values: Doubles, order: int) -> Doubles:
    """Magnitudes of the discrete Fourier transform of N values, padded with zeros to 2^order times the next power of two.

    Those of the first half, the frequencies up to Nyquist's. Of each 2^order neighbours the values are turned back by the phase to
    the first; then all are the transforms of one size, by Stockham's radix-2 algorithm (J. W. Cooley, P. A. W. Lewis and P. D.
    Welch, IEEE Trans. Audio Electroacoust. 15(2), 1967). Neighbours above the half mirror those below, as values are real.
    """
    size, neighbours = 1 << (len(values) - 1).bit_length(), 1 << order
    cosine, sine = _phases(size, neighbours)
    left = size
    real, imaginary = np.zeros(cosine.shape), np.zeros(cosine.shape)
    real[: len(values)] = values[:, None] * cosine[: len(values)]
    imaginary[: len(values)] = values[:, None] * -sine[: len(values)]
    while left > 1:
        half = left // 2
        cosine, sine = (part[:, None] for part in _roots(left))
        (x, u), (y, v) = real.reshape(2, half, -1), imaginary.reshape(2, half, -1)
        real, imaginary = np.empty((half, 2, x.shape[1])), np.empty((half, 2, x.shape[1]))
        np.add(x, u, out=real[:, 0])
        np.add(y, v, out=imaginary[:, 0])
        u, v = x - u, y - v
        real[:, 1] = u * cosine + v * sine
        imaginary[:, 1] = v * cosine - u * sine
        left = half
    found = np.sqrt(real * real + imaginary * imaginary).reshape(size, -1)
    mirrored = found[: (size - 1) // 2 : -1, neighbours // 2 - 1 : 0 : -1]
    magnitude: Doubles = np.concatenate((found[: len(mirrored)], mirrored), axis=1).ravel()
    return magnitude


@functools.lru_cache(maxsize=20)
def _roots(count: int) -> tuple[Doubles, Doubles]:
    """(count / 2,) cosine and sine of the multiples of a full turn by ``count``, over half a turn."""
    return direction(np.arange(count // 2, dtype=np.float64) * (2.0 * np.pi / count))


@functools.lru_cache(maxsize=4)
def _phases(count: int, neighbours: int) -> tuple[Doubles, Doubles]:
    """(count, neighbours / 2 + 1) cosine and sine of the products of row and column, in full turns by both numbers."""
    product = np.arange(count, dtype=np.float64)[:, None] * np.arange(neighbours // 2 + 1)
    return direction(product * (2.0 * np.pi / (count * neighbours)))


_LN2 = math.log(2.0)
_LN2_HIGH, _LN2_LOW = 0.6931471803691238, 1.9082149292705877e-10
_EXPONENTIAL = [1.0 / math.factorial(k) for k in range(15)]
_AREA_TANGENT = [1.0 / (2 * k + 1) for k in range(11)]
_QUARTER, _QUARTER_REST = 1.5707963705062866, -4.3711390001862426e-08
_COSINE = [(-1.0) ** k / math.factorial(2 * k) for k in range(10)]
_SINE = [(-1.0) ** k / math.factorial(2 * k + 1) for k in range(9)]
_ARCTANGENT = [(-1.0) ** k / (2 * k + 1) for k in range(11)]


def _horner(coefficients: list[float], x: Doubles) -> Doubles:
    total = np.full(x.shape, coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        total *= x
        total += coefficient
    return total
