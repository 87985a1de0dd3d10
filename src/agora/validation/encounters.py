"""Encounters between two pedestrians (overtaking, head-on or crossing): the minimum distance, and the distance and timing of the
sidestep.

A walker has an encounter with another pedestrian if three conditions are met. Both walk (at least 0.3 m/s on average), are not in
the same group and are present throughout the window. The minimum of their distance is at most 2 m and lies strictly inside the
window. The other pedestrian moves by at least 1 m relative to the walker; this condition excludes people who walk side by side. The
angle between the two paths up to the closest approach distinguishes overtaking (below 45 degrees), crossing, and head-on (above 135
degrees). These definitions are Agora's own; the kinds are taken from A. H. Olivier et al., Gait and Posture 38, 2013 and M.
Moussaid et al., Proc. R. Soc. B 276, 2009.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from agora.core.state import Doubles, Ints
from agora.metrics.encounters import NEAR, TURNS, WALKS
from agora.validation.stretches import STEP
from agora.validation.window import TrackWindow, apart

_PASSED = 1.0  # m, minimum motion of the other pedestrian relative to the walker
_ASIDE = 0.2  # m, minimum sidestep for which a beginning is defined


class WalkerEncounters(NamedTuple):
    """The E encounters in a window, each from the point of view of one walker.

    Attributes:
        walker: (E,) index of the walker in the window.
        other: (E,) index of the other pedestrian in the window.
        kind: (E,) index in `agora.metrics.encounters.KINDS`.
        distance: (E,) minimum distance between the centres, m.
        sidestep: (E,) the walker's distance, at the closest approach, from the line along which it initially walked, m.
        reaction: (E,) how long before the closest approach half of the sidestep is reached, s; NaN for sidesteps below 0.2 m.
    """

    walker: Ints
    other: Ints
    kind: Ints
    distance: Doubles
    sidestep: Doubles
    reaction: Doubles


def encounters(seen: TrackWindow) -> WalkerEncounters:
    """Return the encounters in a window."""
    distance, place = apart(seen), seen.position
    nearest = distance.argmin(0)
    walks = seen.present.all(0) & (np.hypot(*np.moveaxis(seen.velocity, -1, 0)).mean(0) > WALKS)
    mine = seen.group[: seen.walkers, None]
    strangers = (mine != seen.group) | (mine < 0)
    inside = (nearest > 0) & (nearest < len(place) - 1)
    near = distance.min(0) <= NEAR
    i, j = np.nonzero(walks[: seen.walkers, None] & walks & strangers & inside & near)
    moved = (place[-1, j] - place[-1, i]) - (place[0, j] - place[0, i])
    passed = np.hypot(*moved.T) >= _PASSED
    i, j = i[passed], j[passed]
    at = nearest[i, j]
    ways = place[at, i] - place[0, i], place[at, j] - place[0, j]
    turned = np.degrees(np.abs(np.arctan2(_cross(*ways), (ways[0] * ways[1]).sum(-1))))
    ahead = seen.velocity[0, i] / np.maximum(np.hypot(*seen.velocity[0, i].T), 1e-9)[:, None]
    aside = np.abs(_cross(ahead, place[:, i] - place[0, i]))
    sidestep = aside[at, np.arange(len(i))]
    begun = (aside >= sidestep / 2.0).argmax(0)
    reaction = np.where(sidestep >= _ASIDE, (at - begun) * STEP, np.nan)
    return WalkerEncounters(i, j, np.digitize(turned, TURNS), distance[at, i, j], sidestep, reaction)


def _cross(one: Doubles, other: Doubles) -> Doubles:
    return np.asarray(one[..., 0] * other[..., 1] - one[..., 1] * other[..., 0])
