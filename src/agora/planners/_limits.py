"""Limits that a planner may set below the robot's; None in its fields means that only the robot's limit applies."""

from __future__ import annotations

import math

import numpy as np


def own(limit: float | None) -> np.float32:
    """Return a planner's own limit for kernels, which take the smaller of it and the robot's; infinite if it is not set."""
    return np.float32(math.inf if limit is None else limit)
