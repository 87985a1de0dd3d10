"""Computes samples of the quantities by which recorded and simulated windows are compared, one set per window and quantity."""

from __future__ import annotations

import numpy as np

from agora.core.state import Doubles
from agora.metrics.encounters import KINDS, WALKS
from agora.validation.encounters import encounters
from agora.validation.window import TrackWindow, apart

QUANTITIES = {
    "speed": "m/s",
    "people": "m",
    "walls": "m",
    "density": "1/m2",
    "overtaking": "m",
    "crossing": "m",
    "head-on": "m",
    "sidestep": "m",
    "reaction": "s",
}
"""The quantities are speed; distance to the nearest other person; distance to the nearest wall, up to 3 m; number of people within
2 m divided by the area; and, for encounters, the minimum distance by kind, the sidestep, and how long before the closest approach
the sidestep begins.
"""

FORMATION = {"group distance": "m", "group angle": "degrees"}
"""The quantities for two members of a walking group are the distance between them, and the angle from one member's heading to the
direction of the other member (90 degrees if they walk abreast).
"""

_AROUND = 2.0  # m, radius within which density is measured
_FAR = 3.0  # m, distance beyond which all walls count as equally far


def quantities(seen: TrackWindow) -> dict[str, Doubles]:
    """Return the samples of each of the `QUANTITIES` in a window.

    If a pedestrian is alone, there is no sample of its distance to people.
    """
    distance, n = apart(seen), seen.walkers
    nearest = distance.min(-1) if distance.size else np.full(distance.shape[:2], np.inf)
    met = encounters(seen)
    return {
        "speed": np.hypot(*np.moveaxis(seen.velocity[:, :n], -1, 0)).ravel(),
        "people": nearest[np.isfinite(nearest)],
        "walls": np.minimum(seen.wall, _FAR).ravel(),
        "density": (((distance < _AROUND).sum(-1) + 1) / (np.pi * _AROUND**2)).ravel(),
        **{kind: met.distance[met.kind == k] for k, kind in enumerate(KINDS)},
        "sidestep": met.sidestep,
        "reaction": met.reaction[np.isfinite(met.reaction)],
    }


def formation(seen: TrackWindow) -> dict[str, Doubles]:
    """Return the samples of each quantity in `FORMATION`, measured between each moving walker and every other member of its group
    who is present.
    """
    n = seen.walkers
    together = (seen.group[:n, None] == seen.group) & (seen.group[:n, None] >= 0)
    moves = np.hypot(*np.moveaxis(seen.velocity[:, :n], -1, 0)) > WALKS
    distance = apart(seen)
    k, i, j = np.nonzero(together & np.isfinite(distance) & moves[..., None])
    to, ahead = seen.position[k, j] - seen.position[k, i], seen.velocity[k, i]
    angle = np.arctan2(ahead[:, 0] * to[:, 1] - ahead[:, 1] * to[:, 0], (ahead * to).sum(-1))
    return {"group distance": distance[k, i, j], "group angle": np.degrees(np.abs(angle))}
