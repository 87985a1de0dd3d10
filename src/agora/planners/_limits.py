"""Limits that a planner may set below the robot's: None in its fields, and the robot's alone count."""

from __future__ import annotations

import math

import numpy as np


def own(limit: float | None) -> np.float32:
    """A planner's own limit as kernels read it, which take the smaller of it and the robot's; infinite where it sets none."""
    return np.float32(math.inf if limit is None else limit)
