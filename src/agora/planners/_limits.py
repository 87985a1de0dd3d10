"""Limits that a planner may set below the robot's limits; None in a planner's field means that only the robot's limit applies."""

from __future__ import annotations

import math

import numpy as np


def own(limit: float | None) -> np.float32:
    """Return a planner's own limit in the form that kernels expect: infinite if it is not set. Kernels apply the smaller of this
    limit and the robot's.
    """
    return np.float32(math.inf if limit is None else limit)
