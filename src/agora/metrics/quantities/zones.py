"""Hall's zones around a person (1966): intimate up to 0.45 m, personal up to 1.2 m, social up to 3.6 m, and public beyond."""

from __future__ import annotations

import math

import numpy as np

from agora.core.state import Doubles

INTIMATE, PERSONAL, SOCIAL = 0.45, 1.2, 3.6
"""Outer limits of Hall's zones, m."""


BANDS = {
    "intimate": (-math.inf, INTIMATE),
    "personal": (INTIMATE, PERSONAL),
    "social": (PERSONAL, SOCIAL),
    "public": (SOCIAL, math.inf),
}
"""Inner and outer limits of each of Hall's zones, m."""


def is_in_zone(distance: Doubles, zone: str) -> Doubles:
    """(T,) 1 if a distance is in the zone, otherwise 0; infinite distances count as public."""
    low, high = BANDS[zone]
    inside: Doubles = ((distance >= low) & ((distance < high) | (high == math.inf))).astype(np.float64)
    return inside


def zone_formula(of: str, zone: str) -> str:
    """Return the text of the formula for the fraction of time in which distance ``of`` is in a zone."""
    low, high = BANDS[zone]
    lower, upper = "" if low == -math.inf else f"{low:g} m <= ", "" if high == math.inf else f" < {high:g} m"
    return f"share of time with {lower}{of}{upper}" if upper else f"share of time with {of} >= {low:g} m"
