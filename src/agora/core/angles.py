"""Angles for code outside kernels; kernels use `agora.core.scalar.wrap`.

The functions differ not only at the ends of the interval: `wrap` returns angles inside the interval unchanged, while
`wrap_below_pi` rounds them. Replacing one with the other would change the last digits of results.
"""

from __future__ import annotations

import math
from typing import TypeVar

import numpy as np

from agora.core.state import Doubles

Angle = TypeVar("Angle", float, Doubles)


def wrap(angle: Doubles) -> Doubles:
    """Return angles in (-pi, pi]."""
    return np.asarray(angle - math.tau * np.ceil((angle - math.pi) / math.tau))


def wrap_below_pi(angle: Angle) -> Angle:
    """Return an angle, or an array of angles, in [-pi, pi)."""
    return (angle + math.pi) % math.tau - math.pi
