"""Anticipation: pedestrians avoid predicted collisions, and keep a time gap to the person ahead.

The model is our own combination of published elements:

- The velocity relaxes to the desired velocity (D. Helbing and P. Molnar, Phys. Rev. E 51, 1995, eq. 2).
- Avoidance is based on the predicted moment of closest approach: it acts away from the other person's predicted position at that
  moment, and is stronger the sooner the moment is (F. Zanlungo, T. Ikeda and T. Kanda, EPL 93, 2011; the idea is due to I.
  Karamouzas, P. Heil, P. van Beek and M. Overmars, MIG 2009; I. Karamouzas, B. Skinner and S. Guy, PRL 113, 2014, show that the
  remaining time matters). In this model, avoidance decreases linearly with the distance at the closest approach and with the time
  until then, so that it has a finite range and needs no exponential.
- The speed is at most the free distance ahead divided by a time gap (M. Moussaid, D. Helbing and G. Theraulaz, PNAS 108, 2011, eq.
  2).

Our additions: the expected motion of a person lies between the current and the desired velocity. A person straight ahead is treated
as slightly to the left, so that people pass each other on the right. The person in the narrower place has the right of way, and
near a wall is treated as nearer to the wall, so that others pass on the open side.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from agora.core.jit import inlined, kernel, part
from agora.core.kernel_record import kernel_record
from agora.core.scalar import HALF, ONE, ZERO, exp
from agora.interfaces import CrowdDeclaration, Span
from agora.pedestrians.shared import walls
from agora.pedestrians.shared.goal import write_directions
from agora.pedestrians.shared.neighbours import SEES_PEDESTRIANS, SEES_ROBOTS, lanes
from agora.pedestrians.shared.walls import clearances
from agora.ranges import Checked, Distance, Duration, Length, NotNegative, Period, Positive

_TINY = np.float32(1e-6)
_FAR = np.float32(1e6)
_FADE = np.float32(5.0)  # 1/s; avoidance fades out over the last 0.2 s before the closest approach
_NO_GROUP = np.int32(-2)
_X, _Y, _VX, _VY, _RADIUS, _BODY, _TIGHT = 0, 1, 2, 3, 4, 5, 6
_ROWS = 11


@inlined
def _neighbour_term(px, py, ux, uy, ex, ey, sx, sy, qx, qy, reach, body, together, right, p):
    """Return the acceleration of a pedestrian due to one neighbour, and the free distance to that neighbour along the desired
    direction.

    Args:
        px: position of the neighbour relative to the pedestrian, x, m.
        py: position of the neighbour relative to the pedestrian, y, m.
        ux: expected velocity of the pedestrian relative to the neighbour's, x, m/s.
        uy: expected velocity of the pedestrian relative to the neighbour's, y, m/s.
        ex: desired direction, x.
        ey: desired direction, y.
        sx: vector away from the wall, x; it is longer the narrower the pedestrian's place is, and 0 in the open.
        sy: vector away from the wall, y.
        qx: expected velocity of the neighbour, x, m/s.
        qy: expected velocity of the neighbour, y, m/s.
        reach: sum of the radii, m.
        body: distance kept between the centres in a queue, m.
        together: whether both pedestrians walk in the same group.
        right: right of way of the neighbour over the pedestrian, -1 to 1.
        p: the kernel's parameters.
    """
    pp, pu, uu = px * px + py * py + _TINY, px * ux + py * uy, ux * ux + uy * uy + _TINY
    inverse = ONE / math.sqrt(pp)
    along = px * ex + py * ey
    t = max(pu / uu, ZERO)
    yielding = max(right, ZERO)
    mx, my = px - t * ux - p.side * uy - yielding * sx, py - t * uy + p.side * ux - yielding * sy
    m = math.sqrt(mx * mx + my * my + _TINY)
    near = min(max(ONE - (m - reach) * p.inverse_distance, ZERO), ONE)
    soon = min(t * _FADE, ONE) * max(ONE - t * p.inverse_horizon, ZERO)
    view = HALF * (ONE + p.behind + (ONE - p.behind) * along * inverse)
    avoid = ZERO if together else p.avoidance * near * soon * view / m
    touch = p.push * max(reach * inverse - ONE, ZERO)
    inward = touch * (ONE - p.back - yielding) * along
    fx = inward * ex - (ONE + right) * (avoid * mx + touch * px)
    fy = inward * ey - (ONE + right) * (avoid * my + touch * py)
    against = min(max(-(qx * ex + qy * ey), ZERO), ONE)
    free = math.sqrt(along * along + p.breadth2 * max(pp - along * along, ZERO)) - body - p.wait * yielding * against
    return fx, fy, (free if along > ZERO else _FAR)


@part
def _list_people(x, y, vx, vy, radius, body, tight, group, active, count, discs, groups):
    """Write the active pedestrians of a world, with their expected velocities, to ``discs``; return the number of discs."""
    n = 0
    for j in range(count):
        if active[j]:
            discs[_X, n], discs[_Y, n], discs[_VX, n], discs[_VY, n] = x[j], y[j], vx[j], vy[j]
            discs[_RADIUS, n], discs[_BODY, n], discs[_TIGHT, n] = radius[j], body * radius[j], tight[j]
            groups[n] = group[j] if group[j] >= 0 else _NO_GROUP
            n += 1
    return n


@part
def _list_robots(x, y, vx, vy, radius, margin, active, discs, groups, n):
    """Append the active robots of a world to ``discs``, with the right of way over all pedestrians; return the number of discs."""
    for r in range(x.size):
        if active[r]:
            discs[_X, n], discs[_Y, n], discs[_VX, n], discs[_VY, n] = x[r], y[r], vx[r], vy[r]
            discs[_RADIUS, n], discs[_BODY, n], discs[_TIGHT, n] = radius[r] + margin, radius[r] + margin, ONE
            groups[n] = _NO_GROUP
            n += 1
    return n


@kernel
def _anticipation(p, crowd, out_x, out_y, first, last):
    pedestrians, traits = crowd.pedestrians, crowd.traits
    robots, robot_traits, maps, sees = crowd.robots, crowd.robot_traits, crowd.maps, crowd.sees
    slots, others = pedestrians.x.shape[1], robots.x.shape[1]
    scratch = np.empty((_ROWS + walls.ROWS, slots), np.float32)
    discs, groups = np.empty((_TIGHT + 1, slots + others), np.float32), np.empty(slots + others, np.int32)
    cell = np.empty(slots, np.int32)
    ex, ey, wx, wy, fx, fy = scratch[0], scratch[1], scratch[2], scratch[3], scratch[4], scratch[5]
    speed, free, tight, sx, sy = scratch[6], scratch[7], scratch[8], scratch[9], scratch[10]
    for w in range(first, last):
        count = traits.count[w]
        top = lanes(count)
        x, y, vx, vy, active = pedestrians.x[w], pedestrians.y[w], pedestrians.vx[w], pedestrians.vy[w], pedestrians.active[w]
        radius, group, ax, ay = traits.radius[w], traits.group[w], out_x[w], out_y[w]
        clearance, nx, ny = clearances(maps, maps.index[w], x, y, top, cell, scratch[_ROWS:])
        write_directions(crowd, w, top, HALF * p.relaxation, ex, ey, speed)
        # Desired direction and speed; slow down before a final waypoint.
        for i in range(top):
            wx[i] = vx[i] + p.intention * (speed[i] * ex[i] - vx[i])
            wy[i] = vy[i] + p.intention * (speed[i] * ey[i] - vy[i])
            # Expected velocity: between the current and the desired velocity.
            tight[i] = max(ONE - clearance[i] * p.inverse_narrow, ZERO)
            sx[i], sy[i] = tight[i] * nx[i], tight[i] * ny[i]
            fx[i], fy[i], free[i] = ZERO, ZERO, _FAR
        n = 0
        if sees & SEES_PEDESTRIANS:
            # List the discs once per world, so that the pair loop below has no branches on activity.
            n = _list_people(x, y, wx, wy, radius, p.body, tight, group, active, count, discs, groups)
        if sees & SEES_ROBOTS:
            r = robots
            size = robot_traits.radius[w]
            n = _list_robots(r.x[w], r.y[w], r.world_vx[w], r.world_vy[w], size, p.robot_margin, r.active[w], discs, groups, n)
        for j in range(n):
            xj, yj, qx, qy, rj = discs[_X, j], discs[_Y, j], discs[_VX, j], discs[_VY, j], discs[_RADIUS, j]
            # The neighbour is in the outer loop: the inner loop over pedestrians reads contiguous rows and vectorises.
            bj, tj, gj = discs[_BODY, j], discs[_TIGHT, j], groups[j]
            for i in range(top):
                px, py, ux, uy, reach = xj - x[i], yj - y[i], wx[i] - qx, wy[i] - qy, radius[i] + rj
                together, right = group[i] == gj, tj - tight[i]
                gx, gy, room = _neighbour_term(
                    px, py, ux, uy, ex[i], ey[i], sx[i], sy[i], qx, qy, reach, p.body * radius[i] + bj, together, right, p
                )  # fmt: skip
                fx[i] += gx
                fy[i] += gy
                free[i] = min(free[i], room)
        for i in range(top):
            gap = clearance[i] - radius[i]
            # The speed limits: free distance divided by the time gap (Moussaid 2011, eq. 2), and the same for the gap to the wall,
            # in the direction of the wall.
            fast = max(-(vx[i] * nx[i] + vy[i] * ny[i]) - max(gap, ZERO) * p.pace, ZERO)
            away = p.wall_repulsion * exp(-gap * p.inverse_wall_length) + fast * p.relaxation
            wanted = min(speed[i], max(free[i], ZERO) * p.pace)
            bx = (wanted * ex[i] - vx[i]) * p.relaxation + fx[i] + away * nx[i]
            by = (wanted * ey[i] - vy[i]) * p.relaxation + fy[i] + away * ny[i]
            bound = min(p.max_acceleration / math.sqrt(bx * bx + by * by + _TINY), ONE)
            ax[i] = bx * bound if active[i] else ZERO
            ay[i] = by * bound if active[i] else ZERO
        ax[top:] = ZERO
        ay[top:] = ZERO


_TUNABLE: dict[str, Span] = {
    "relaxation_time": Span(0.3, 1.0),
    "intention": Span(0.1, 0.9),
    "time_gap": Span(0.4, 1.2),
    "body": Span(0.5, 1.0),
    "avoidance": Span(0.5, 6.0, log=True),
    "distance": Span(0.1, 1.0, log=True),
    "horizon": Span(1.5, 8.0, log=True),
    "behind": Span(0.0, 1.0),
    "push": Span(5.0, 50.0, log=True),
    "breadth": Span(1.5, 5.0),
}


@dataclass(frozen=True)
class Anticipation(Checked):
    """Pedestrians that avoid predicted collisions, queue, give way at narrow places, and pass each other on the right.

    A visible robot is avoided like a pedestrian that is larger by a margin and always has the right of way. Members of the same
    group do not avoid each other, but their bodies are kept apart. Walls act through the clearance field (`agora.core.field`).

    Attributes:
        relaxation_time: relaxation time tau, s.
        intention: weight of the desired velocity in the expected velocity of a pedestrian; the rest is the current velocity.
        time_gap: time gap to the person or wall ahead, s: the speed is at most the free distance divided by this time.
        body: distance kept in a queue, as a fraction of the radius.
        narrow: clearance from walls below which a place counts as narrow, m; a person in a narrow place has the right of way.
        robot_margin: margin added to the radius of robots, m.
        wall_repulsion: acceleration at contact with a wall, m/s2.
        wall_length: distance over which the wall's acceleration falls to 1/e, m.
        max_acceleration: maximum total acceleration, m/s2.
        avoidance: acceleration to avoid an imminent collision, m/s2.
        distance: gap at the closest approach above which there is no avoidance, m.
        horizon: time to the closest approach above which there is no avoidance, s.
        side: time that, multiplied by the relative velocity, gives the distance by which others are treated as farther to the left,
            s; 0 for no preferred side.
        behind: weight of the avoidance of a person directly behind.
        push: acceleration per metre of overlap, 1/s2.
        back: fraction of the push that acts opposite to the desired direction.
        breadth: weight of sideways distances relative to distances ahead, when the free distance is computed.
        wait: distance kept from a person who comes out of a narrow place, per unit of difference in narrowness, m.
        max_speed_factor: speed cap, as a multiple of the preferred speed.
    """

    relaxation_time: Period = 0.5
    intention: NotNegative = 0.3
    time_gap: Period = 0.65
    body: NotNegative = 0.7
    narrow: Positive = 1.0
    robot_margin: Distance = 0.2
    wall_repulsion: NotNegative = 5.0
    wall_length: Length = 0.1
    max_acceleration: Positive = 3.0
    avoidance: NotNegative = 2.0
    distance: Length = 0.4
    horizon: Period = 3.5
    side: NotNegative = 0.08
    behind: NotNegative = 0.6
    push: NotNegative = 20.0
    back: NotNegative = 0.1
    breadth: NotNegative = 3.0
    wait: Duration = 1.0
    max_speed_factor: Positive = 1.3

    @property
    def declares(self) -> CrowdDeclaration:
        """Return the properties of the model."""
        return CrowdDeclaration("acceleration", self.max_speed_factor, tunable=_TUNABLE)

    def kernel(self) -> Any:
        """Return the compiled function."""
        return _anticipation

    def parameters(self) -> Any:
        """Return the parameters of the kernel."""
        return _Parameters.of(
            self,
            relaxation=1.0 / self.relaxation_time,
            pace=1.0 / self.time_gap,
            inverse_narrow=1.0 / self.narrow,
            inverse_wall_length=1.0 / self.wall_length,
            inverse_distance=1.0 / self.distance,
            inverse_horizon=1.0 / self.horizon,
            breadth2=self.breadth**2,
        )


_Parameters = kernel_record(
    "_Parameters",
    Anticipation,
    computed=("relaxation", "pace", "inverse_narrow", "inverse_wall_length", "inverse_distance", "inverse_horizon", "breadth2"),
)
