"""Walking groups with a leader, held together by cohesion.

S. Sarker Roy et al., TAGA, 2025, section IV-B, Eqs. 5 and 6; the authors' code has only standing groups. The paper does not give a
value for the cohesion factor.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from agora.core.jit import hidden, kernel
from agora.core.kernel_record import kernel_record
from agora.core.scalar import ONE, ZERO
from agora.interfaces import CrowdDeclaration
from agora.pedestrians.shared.goal import direction
from agora.ranges import Checked, Distance, NotNegative, Positive

_TINY = np.float32(1e-12)


@hidden
def _group(pedestrians, traits, w, i):
    """Return the leader of the group of slot i, and the centroid of its members relative to slot i, m."""
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
def _leader_follower(p, crowd, out_x, out_y, first, last):
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
                pull = p.cohesion * max(ONE - p.reach / away, ZERO)
                out_x[w, i] = pedestrians.vx[w, leader] + pull * x
                out_y[w, i] = pedestrians.vy[w, leader] + pull * y


@dataclass(frozen=True)
class LeaderFollower(Checked):
    """Walking groups in which a follower's velocity is the leader's velocity plus ``cohesion`` times the vector from the follower
    to the centre of the group (TAGA, Eq. 6).

    The member with the lowest id leads. In the paper, ORCA moves the leader (Eq. 5); to reproduce this, assign the ``orca`` model
    to the leader and this model to the followers. A leader with this model, or a pedestrian without a group, walks straight to its
    waypoint. Followers use the leader's velocity at the current step. Followers ignore other people, as in the paper.

    As published, members converge to a point, because a follower's offset from the centre shrinks by the cohesion factor each
    second. With a ``reach``, they keep their formation: cohesion acts only on the distance beyond ``reach``, just as the paper
    bounds the distance from the centre.

    Attributes:
        cohesion: fraction of the vector to the centre that a follower makes up per second, 1/s; the paper does not give a value.
        reach: distance from the centre within which cohesion does not act on a follower, m; 0 as published.
        max_speed_factor: speed cap, as a multiple of the preferred speed.
    """

    cohesion: NotNegative = 0.5
    reach: Distance = 0.0
    max_speed_factor: Positive = 1.5

    @property
    def declares(self) -> CrowdDeclaration:
        """Return the properties of the model."""
        return CrowdDeclaration("velocity", self.max_speed_factor, last_step="nothing")

    def kernel(self) -> Any:
        """Return the compiled function."""
        return _leader_follower

    def parameters(self) -> Any:
        """Return the parameters of the kernel."""
        return _Parameters.of(self)


_Parameters = kernel_record("_Parameters", LeaderFollower)
