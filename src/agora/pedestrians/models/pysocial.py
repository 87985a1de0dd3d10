"""PySocial: the forces of PySocialForce 1.1.2 (Y. Gao), as Arena's crowds use them.

Social force: Moussaid et al. 2009 (`agora.pedestrians.shared.moussaid`). Group terms: the variants that the package calls
alternative (from pedsim_ros).

This model does not reproduce the following behaviour of the package:
- it subtracts two angles without wrapping the difference to (-pi, pi], so its social force depends on the orientation of the axes:
  if t and e point to different sides of the x axis, a pedestrian that walks towards +x is turned the wrong way or not at all;
- the distance in its coherence force is always 0 (it reads two columns that do not exist), so the tanh is a constant;
- its target speed is 1.3 times the initial speed, which is not a preferred speed (``speed_factor``);
- it sums the obstacle force over points sampled on the walls, 0.1 m apart; this model uses the nearest point of the
  clearance field;
- its gaze force grows without bound near the goal; this model divides by at least ``goal_threshold``;
- a pedestrian that starts with speed 0 never moves, and one within 0.5 m of the goal stops; in Agora, the scenario sets the
  waypoint's tolerance.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from agora.core.jit import inlined, kernel
from agora.core.kernel_record import kernel_record
from agora.core.scalar import HALF, ONE, TWO, ZERO, exp
from agora.interfaces import CrowdDeclaration
from agora.pedestrians.shared import group_forces, walls
from agora.pedestrians.shared.goal import direction
from agora.pedestrians.shared.group_forces import group_sums
from agora.pedestrians.shared.moussaid import add_interactions
from agora.pedestrians.shared.neighbours import append_people, append_robots, lanes
from agora.pedestrians.shared.walls import clearances
from agora.ranges import Checked, Distance, Length, NotNegative, Period, Positive

_FAR = np.float32(3e38)


@inlined
def _group_forces(number, way_x, way_y, push_x, push_y, ex, ey, distance, terms):
    """Return the coherence, repulsion and gaze forces on one member of a group, given its `group_sums`; 0 for a group of one."""
    coherence, repulsion, gaze = terms
    part = ONE / max(number, ONE)
    middle = math.sqrt(way_x * way_x + way_y * way_y) * part
    pull = coherence * part / (ONE + exp(TWO * (HALF * (number - ONE) - middle)))
    look = gaze * (way_x * ex + way_y * ey) / (max(number - ONE, ONE) * distance)
    fx = pull * way_x + look * ex + repulsion * push_x
    fy = pull * way_y + look * ey + repulsion * push_y
    return (fx if number > ONE else ZERO), (fy if number > ONE else ZERO)


@kernel
def _pysocial(p, crowd, out_x, out_y, first, last):
    law, terms = (p.importance, p.gamma, p.n, p.n_prime, _FAR), (p.coherence_factor, p.repulsion_factor, p.gaze_factor)
    pedestrians, traits, waypoints = crowd.pedestrians, crowd.traits, crowd.waypoints
    maps = crowd.maps
    slots, others = pedestrians.x.shape[1], crowd.robots.x.shape[1]
    scratch = np.empty((5 + group_forces.ROWS + walls.ROWS, slots), np.float32)
    discs = np.empty((5, slots + others), np.float32)
    cell = np.empty(slots, np.int32)
    ex, ey, fx, fy, distance, sums = scratch[0], scratch[1], scratch[2], scratch[3], scratch[4], scratch[5:]
    number, way_x, way_y, push_x, push_y = sums[0], sums[1], sums[2], sums[3], sums[4]
    for w in range(first, last):
        count = traits.count[w]
        top = lanes(count)
        x, y, vx, vy, active = pedestrians.x[w], pedestrians.y[w], pedestrians.vx[w], pedestrians.vy[w], pedestrians.active[w]
        radius, speed, ax, ay = traits.radius[w], traits.speed[w], out_x[w], out_y[w]
        for i in range(top):
            ex[i], ey[i], distance[i] = direction(x[i], y[i], waypoints.x[w, i], waypoints.y[w, i])
            fx[i], fy[i] = ZERO, ZERO
        n = append_robots(crowd, w, discs, append_people(crowd, w, discs, 0))
        add_interactions(discs, n, x, y, vx, vy, top, law, fx, fy)
        group_sums(traits.group[w], active, x, y, count, top, p.repulsion_distance, sums)
        clearance, nx, ny = clearances(maps, maps.index[w], x, y, top, cell, scratch[5 + group_forces.ROWS :])
        for i in range(top):
            reach = max(distance[i], p.goal_threshold)
            gx, gy = _group_forces(number[i], way_x[i], way_y[i], push_x[i], push_y[i], ex[i], ey[i], reach, terms)
            gap = clearance[i] - radius[i]
            away = p.obstacle_factor * exp(-gap * p.inverse_sigma) if gap < p.obstacle_threshold + radius[i] else ZERO
            wanted = p.speed_factor * speed[i] if distance[i] > p.goal_threshold else ZERO
            along = p.desired_factor * p.relaxation
            ax[i] = (wanted * ex[i] - vx[i]) * along + p.social_factor * fx[i] + away * nx[i] + gx if active[i] else ZERO
            ay[i] = (wanted * ey[i] - vy[i]) * along + p.social_factor * fy[i] + away * ny[i] + gy if active[i] else ZERO
        ax[top:] = ZERO
        ay[top:] = ZERO


@dataclass(frozen=True)
class PySocial(Checked):
    """Pedestrians as in PySocialForce 1.1.2, without the package's errors.

    A visible robot is a neighbour without a group.

    Attributes:
        relaxation_time: relaxation time tau, s.
        desired_factor: weight of the desired force.
        speed_factor: target speed, as a multiple of the preferred speed; 1.3 in the package.
        goal_threshold: distance to the waypoint within which a pedestrian brakes, m.
        social_factor: weight of the social force.
        importance: parameter lambda of the social force: weight of the relative velocity.
        gamma: parameter gamma of the social force.
        n: parameter n of the social force.
        n_prime: parameter n' of the social force.
        obstacle_factor: weight of the obstacle force.
        obstacle_sigma: distance over which the obstacle force falls to 1/e, m.
        obstacle_threshold: gap to the wall, minus the radius, beyond which the wall has no effect, m.
        coherence_factor: weight of the coherence term for groups (the package's parameter file has different values for the three
            group terms; for the variants used in this model, all are 1).
        repulsion_factor: weight of the repulsion term for groups.
        gaze_factor: weight of the gaze term for groups.
        repulsion_distance: distance between centres within which members push each other, m.
        max_speed_factor: speed cap, as a multiple of the preferred speed.
    """

    relaxation_time: Period = 0.5
    desired_factor: NotNegative = 1.0
    speed_factor: Positive = 1.0
    goal_threshold: Length = 0.2
    social_factor: NotNegative = 5.1
    importance: NotNegative = 2.0
    gamma: Positive = 0.35
    n: NotNegative = 2.0
    n_prime: NotNegative = 3.0
    obstacle_factor: NotNegative = 10.0
    obstacle_sigma: Positive = 0.2
    obstacle_threshold: Distance = 3.0
    coherence_factor: NotNegative = 1.0
    repulsion_factor: NotNegative = 1.0
    gaze_factor: NotNegative = 1.0
    repulsion_distance: Distance = 0.55
    max_speed_factor: Positive = 1.3

    @property
    def declares(self) -> CrowdDeclaration:
        """Return the properties of the model."""
        return CrowdDeclaration("acceleration", self.max_speed_factor)

    def kernel(self) -> Any:
        """Return the compiled function."""
        return _pysocial

    def parameters(self) -> Any:
        """Return the parameters of the kernel."""
        return _Parameters.of(self, relaxation=1.0 / self.relaxation_time, inverse_sigma=1.0 / self.obstacle_sigma)


_Parameters = kernel_record("_Parameters", PySocial, computed=("relaxation", "inverse_sigma"))
