"""Elementary functions in pure float32 arithmetic, so that they vectorise and give identical bits on every CPU.

Polynomials: S. L. Moshier, Cephes mathematical library (single precision), except `exp`.
"""

from __future__ import annotations

import math
from typing import Any, TypeVar

import numpy as np

from agora.core.jit import hidden, lean

F = np.float32
ZERO, HALF, ONE, TWO = F(0.0), F(0.5), F(1.0), F(2.0)
PI, HALF_PI, QUARTER_PI, TWO_PI = F(math.pi), F(math.pi / 2), F(math.pi / 4), F(2 * math.pi)
_INVERSE_64 = F(1.0 / 64.0)
_LOWEST, _HIGHEST = F(-30.0), F(20.0)
_E2, _E3, _E4, _E5, _E6 = F(1 / 2), F(1 / 6), F(1 / 24), F(1 / 120), F(1 / 720)
_TWO_OVER_PI, _ROUND = F(2 / math.pi), F(0.5)
_PIO2_A, _PIO2_B, _PIO2_C = F(1.5703125), F(4.837512969970703125e-4), F(7.54978995489188216e-8)
_S1, _S2, _S3 = F(-1.6666654611e-1), F(8.3321608736e-3), F(-1.9515295891e-4)
_C1, _C2, _C3 = F(4.166664568298827e-2), F(-1.388731625493765e-3), F(2.443315711809948e-5)
_TAN_PI_8 = F(0.4142135623730950)
_A1, _A2, _A3, _A4 = F(-3.33329491539e-1), F(1.99777106478e-1), F(-1.38776856032e-1), F(8.05374449538e-2)
_TINY = F(1e-30)


Numbers = TypeVar("Numbers", bound=tuple[Any, ...])


def in_float32(record: Numbers) -> Numbers:
    """Return a `NamedTuple` with all numbers converted to float32, including numbers in nested tuples; arrays are unchanged."""
    values = [in_float32(v) if isinstance(v, tuple) else v if isinstance(v, np.ndarray) else F(v) for v in record]
    made: Numbers = type(record)._make(values)  # type: ignore[attr-defined]
    return made


@hidden
def exp(x):
    """e**x for x clamped to [-30, 20]; relative error below 7e-6 on [-10, 2], 1e-4 at -30.

    Computed as a sixth-order polynomial in x/64, squared six times.
    """
    t = min(max(x, _LOWEST), _HIGHEST) * _INVERSE_64
    p = ONE + t * (ONE + t * (_E2 + t * (_E3 + t * (_E4 + t * (_E5 + t * _E6)))))
    p = p * p
    p = p * p
    p = p * p
    p = p * p
    p = p * p
    return p * p


@hidden
def sincos(x):
    """Sine and cosine of an angle in radians, |x| < 8000; absolute error below 2e-7 times max(1, |x| / 10)."""
    j = np.floor(x * _TWO_OVER_PI + _ROUND)
    r = ((x - j * _PIO2_A) - j * _PIO2_B) - j * _PIO2_C
    z = r * r
    s = r + r * z * (_S1 + z * (_S2 + z * _S3))
    c = ONE - HALF * z + z * z * (_C1 + z * (_C2 + z * _C3))
    quadrant = np.int32(j) & 3
    odd = (quadrant & 1) == 1
    sine = c if odd else s
    cosine = s if odd else c
    return (-sine if quadrant >= 2 else sine), (-cosine if (quadrant == 1 or quadrant == 2) else cosine)


@hidden
def atan2(y, x):
    """Angle of (x, y) in (-pi, pi]; absolute error below 3e-7; atan2(0, 0) = 0."""
    ax, ay = abs(x), abs(y)
    small, large = min(ax, ay), max(ax, ay)
    t = small / max(large, _TINY)
    folded = t > _TAN_PI_8
    t = (t - ONE) / (t + ONE) if folded else t
    z = t * t
    a = t + t * z * (_A1 + z * (_A2 + z * (_A3 + z * _A4)))
    a = a + QUARTER_PI if folded else a
    a = HALF_PI - a if ay > ax else a
    a = PI - a if x < ZERO else a
    return -a if y < ZERO else a


@lean
def wrap(angle):
    """The angle in (-pi, pi]."""
    return angle - TWO_PI * np.ceil((angle - PI) / TWO_PI)
