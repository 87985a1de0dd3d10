"""Mathematical functions that give identical results on every CPU.

Metrics use only sums, products, quotients and square roots. NumPy's transcendental functions, `hypot`, `einsum`, `fft` and ``@``
round differently on different CPUs, so the results files would differ. This module provides replacements.
"""

from __future__ import annotations

import functools
import math

import numpy as np

from agora.core.state import Doubles


def norm(vectors: Doubles) -> Doubles:
    """Return the lengths (...) of vectors (..., 2)."""
    x, y = vectors[..., 0], vectors[..., 1]
    lengths: Doubles = np.sqrt(x * x + y * y)
    return lengths


def direction(heading: Doubles) -> tuple[Doubles, Doubles]:
    """Return the cosine and sine of headings of any shape, rad, accurate to 1e-15, computed by Taylor series about the nearest
    multiple of 90 degrees.
    """
    quarter = np.round(heading * (2.0 / np.pi))
    angle = (heading - quarter * _QUARTER) - quarter * _QUARTER_REST
    square = angle * angle
    even, odd = _horner(_COSINE, square), angle * _horner(_SINE, square)
    across = quarter % 2.0 != 0.0
    cosine, sine = np.where(across, -odd, even), np.where(across, even, odd)
    half_turn = np.where(quarter % 4.0 < 2.0, 1.0, -1.0)
    return half_turn * cosine, half_turn * sine


def angle_between(a: Doubles, b: Doubles) -> Doubles:
    """Return the angle (...) from 0 to pi between vectors (..., 2), rad, accurate to 1e-15; 0 if either vector has length 0.

    The angle is halved three times by means of half-angle formulas for the tangent; then a Taylor series is used.
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
    """Return e**x of numbers of any shape, with a relative error of 1e-15; 0 for x below -700. The result is computed from powers
    of two and a Taylor series about 0.
    """
    x = np.minimum(np.maximum(x, -700.0), 700.0)
    power = np.round(x * (1.0 / _LN2))
    rest = (x - power * _LN2_HIGH) - power * _LN2_LOW
    result: Doubles = np.ldexp(_horner(_EXPONENTIAL, rest), power.astype(np.int32))
    result[x <= -700.0] = 0.0
    return result


def logarithm(x: float) -> float:
    """Return the natural logarithm of a positive number, accurate to 1e-15, computed from the number's power of two and the series
    of the inverse hyperbolic tangent.
    """
    fraction, power = math.frexp(x)
    if fraction < math.sqrt(0.5):
        fraction, power = 2.0 * fraction, power - 1
    ratio = (fraction - 1.0) / (fraction + 1.0)
    series = _horner(_AREA_TANGENT, np.array(ratio * ratio))
    return float(power * _LN2_HIGH + (power * _LN2_LOW + 2.0 * ratio * float(series)))


def spectrum(values: Doubles, order: int) -> Doubles:
    """Return the magnitudes of the discrete Fourier transform of N values, which are padded with zeros to 2^order times the next
    power of two.

    The result contains the first half of the transform, i.e. the frequencies up to the Nyquist frequency. In each group of 2^order
    neighbouring frequencies, the values are rotated by the phase relative to the first frequency of the group. All groups are then
    transforms of the same size, computed using Stockham's radix-2 algorithm (J. W. Cooley, P. A. W. Lewis and P. D. Welch, IEEE
    Trans. Audio Electroacoust. 15(2), 1967). The neighbours in the upper half mirror the neighbours in the lower half, because the
    values are real.
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
    """Return the cosine and sine (count / 2,) of the multiples of a full turn divided by ``count``, up to half a turn."""
    return direction(np.arange(count // 2, dtype=np.float64) * (2.0 * np.pi / count))


@functools.lru_cache(maxsize=4)
def _phases(count: int, neighbours: int) -> tuple[Doubles, Doubles]:
    """Return the cosine and sine (count, neighbours / 2 + 1) of row times column times a full turn, divided by ``count`` and by
    ``neighbours``.
    """
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
