"""Walking groups that a leader leads and cohesion keeps together.

S. Sarker Roy et al., TAGA, 2025, section IV-B, Eqs 5 and 6; the authors' code has standing groups alone. The paper gives no value
of the cohesion factor.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from agora.core.jit import hidden, kernel
from agora.core.scalar import ONE, ZERO, in_float32
from agora.interfaces import CrowdDeclaration
from agora.pedestrians.shared.goal import direction
from agora.ranges import Distance, NotNegative, Positive, check_fields

_TINY = np.float32(1e-12)


class _Parameters(NamedTuple):
    """The fields of `LeaderFollower` that the kernel reads."""

    cohesion: float
    reach: float


@hidden
def _group(pedestrians, traits, w, i):
    """The leader of the group of slot i, and where the centroid of its members is, seen from slot i, m."""
    leader, members, x, y = i, 0, ZERO, ZERO
    for j in range(traits.count[w]):
        if pedestrians.active[w, j] and traits.group[w, j] == traits.group[w, i]:
            members += 1
            x += pedestrians.x[w, j] - pedestrians.x[w, i]
            y += pedestrians.y[w, j] - pedestrians.y[w, i]
            if traits.id[w, j] < traits.id[w, leader]:
                leader = j
    return leader, x / np.float32(members), y / np.float32(members)


@kernel
def _leader_follower(parameters, crowd, out_x, out_y, first, last):
    pedestrians, traits, waypoints = crowd.pedestrians, crowd.traits, crowd.waypoints
    rate = ONE / np.float32(crowd.dt)
    for w in range(first, last):
        for i in range(pedestrians.x.shape[1]):
            out_x[w, i], out_y[w, i] = ZERO, ZERO
            if not pedestrians.active[w, i]:
                continue
            leader, x, y = i, ZERO, ZERO
            if traits.group[w, i] >= 0:
                leader, x, y = _group(pedestrians, traits, w, i)
            if leader == i:
                ex, ey, distance = direction(pedestrians.x[w, i], pedestrians.y[w, i], waypoints.x[w, i], waypoints.y[w, i])
                speed = min(traits.speed[w, i], distance * rate)
                out_x[w, i], out_y[w, i] = speed * ex, speed * ey
            else:
                away = math.sqrt(x * x + y * y + _TINY)
                pull = parameters.cohesion * max(ONE - parameters.reach / away, ZERO)
                out_x[w, i] = pedestrians.vx[w, leader] + pull * x
                out_y[w, i] = pedestrians.vy[w, leader] + pull * y


@dataclass(frozen=True)
class LeaderFollower:
    """A follower takes its leader's velocity, and a part of the way to the middle of the group each second (TAGA, Eq. 6).

    The member with the lowest id leads. The paper moves it by ORCA (Eq. 5): give it that crowd model, and this one to the others.
    A leader that has this model, and who is in no group, walks straight to its waypoint. The leader's velocity is that of
    generation t. Followers mind nobody, as in the paper.

    As published, members meet in a point: a follower's offset from the middle shrinks by the cohesion each second. With a ``reach``
    they keep their formation: only the part of the way beyond it counts, as the paper bounds the distance from the middle.

    Attributes:
        cohesion: share of the way to the middle that a follower wants to make up each second, 1/s; the paper has no value.
        reach: distance from the middle within which nothing pulls a follower, m; 0 as published.
        max_speed_factor: cap of the speed, in preferred speeds.
    """

    cohesion: NotNegative = 0.5
    reach: Distance = 0.0
    max_speed_factor: Positive = 1.5

    def __post_init__(self) -> None:
        check_fields(self)

    @property
    def declares(self) -> CrowdDeclaration:
        """The properties of the model."""
        return CrowdDeclaration("velocity", self.max_speed_factor, last_step="nothing")

    def kernel(self) -> Any:
        """Return the compiled function."""
        return _leader_follower

    def parameters(self) -> _Parameters:
        """Return the parameters of the kernel."""
        return in_float32(_Parameters(self.cohesion, self.reach))
