"""The quantities used to compare recorded and simulated windows, with one set of samples per window and quantity."""

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
"""Speed; distance to the nearest other person, and to the nearest wall up to 3 m; number of people within 2 m divided by the area.
For encounters: minimum distance by kind, sidestep, and how long before the closest approach the sidestep begins."""

FORMATION = {"group distance": "m", "group angle": "degrees"}
"""For two members of a walking group: their distance, and the angle from one member's heading to the other member (90 degrees if
they walk abreast)."""

_AROUND = 2.0  # m
_FAR = 3.0  # distance beyond which all walls count as equally far, m


def quantities(seen: TrackWindow) -> dict[str, Doubles]:
    """Return the samples of each of `QUANTITIES` in a window; a lone pedestrian has no sample of the distance to people."""
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
    """Return the samples of each of `FORMATION`, measured between each walker in motion and every other present member of its
    group.
    """
    n = seen.walkers
    together = (seen.group[:n, None] == seen.group) & (seen.group[:n, None] >= 0)
    moves = np.hypot(*np.moveaxis(seen.velocity[:, :n], -1, 0)) > WALKS
    distance = apart(seen)
    k, i, j = np.nonzero(together & np.isfinite(distance) & moves[..., None])
    to, ahead = seen.position[k, j] - seen.position[k, i], seen.velocity[k, i]
    angle = np.arctan2(ahead[:, 0] * to[:, 1] - ahead[:, 1] * to[:, 0], (ahead * to).sum(-1))
    return {"group distance": distance[k, i, j], "group angle": np.degrees(np.abs(angle))}
