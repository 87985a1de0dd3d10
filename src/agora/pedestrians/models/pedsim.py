"""Pedsim: the forces of libpedsim (C. Gloor) with the group terms of pedsim_ros.

Social force: `agora.pedestrians.shared.moussaid`. Group terms: Moussaid, Perozo, Garnier, Helbing and Theraulaz, "The walking
behaviour of pedestrian social groups and its impact on crowd dynamics", PLoS ONE 5, 2010, eqs. 3 to 5. Factors: the code's
defaults, except for the reach of obstacles, which comes from pedsim_ros' parameter file.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from agora.core.jit import inlined, kernel
from agora.core.kernel_record import kernel_record
from agora.core.scalar import HALF, ONE, ZERO, atan2, exp
from agora.interfaces import CrowdDeclaration
from agora.pedestrians.shared import group_forces, walls
from agora.pedestrians.shared.goal import write_directions
from agora.pedestrians.shared.group_forces import group_sums
from agora.pedestrians.shared.moussaid import add_interactions
from agora.pedestrians.shared.neighbours import append_people, append_robots, lanes
from agora.pedestrians.shared.walls import clearances
from agora.ranges import Checked, Distance, Length, NotNegative, Period, Positive

_TINY = np.float32(1e-12)


@inlined
def _group_forces(number, way_x, way_y, push_x, push_y, ex, ey, terms):
    """Return the gaze, coherence and repulsion forces on one member of a group, given its `group_sums`; 0 for a group of one."""
    gaze, vision, coherence, repulsion = terms
    turn = max(atan2(abs(ex * way_y - ey * way_x), ex * way_x + ey * way_y) - vision, ZERO)
    length = math.sqrt(way_x * way_x + way_y * way_y + _TINY)
    far = coherence if length / max(number, ONE) >= HALF * (number - ONE) else ZERO
    pull = far / length
    fx = pull * way_x - gaze * turn * ex + repulsion * push_x
    fy = pull * way_y - gaze * turn * ey + repulsion * push_y
    return (fx if number > ONE else ZERO), (fy if number > ONE else ZERO)


@kernel
def _pedsim(p, crowd, out_x, out_y, first, last):
    law = (p.importance, p.gamma, p.n, p.n_prime, p.cutoff2)
    terms = (p.gaze_factor, p.vision, p.coherence_factor, p.repulsion_factor)
    pedestrians, traits = crowd.pedestrians, crowd.traits
    maps = crowd.maps
    slots, others = pedestrians.x.shape[1], crowd.robots.x.shape[1]
    scratch = np.empty((5 + group_forces.ROWS + walls.ROWS, slots), np.float32)
    discs = np.empty((5, slots + others), np.float32)
    cell = np.empty(slots, np.int32)
    ex, ey, fx, fy, speed, sums = scratch[0], scratch[1], scratch[2], scratch[3], scratch[4], scratch[5:]
    number, way_x, way_y, push_x, push_y = sums[0], sums[1], sums[2], sums[3], sums[4]
    for w in range(first, last):
        count = traits.count[w]
        top = lanes(count)
        x, y, vx, vy, active = pedestrians.x[w], pedestrians.y[w], pedestrians.vx[w], pedestrians.vy[w], pedestrians.active[w]
        radius, ax, ay = traits.radius[w], out_x[w], out_y[w]
        write_directions(crowd, w, top, HALF * p.relaxation, ex, ey, speed)
        fx[:top], fy[:top] = ZERO, ZERO
        n = append_robots(crowd, w, discs, append_people(crowd, w, discs, 0))
        add_interactions(discs, n, x, y, vx, vy, top, law, fx, fy)
        group_sums(traits.group[w], active, x, y, count, top, p.repulsion_distance, sums)
        clearance, nx, ny = clearances(maps, maps.index[w], x, y, top, cell, scratch[5 + group_forces.ROWS :])
        for i in range(top):
            gx, gy = _group_forces(number[i], way_x[i], way_y[i], push_x[i], push_y[i], ex[i], ey[i], terms)
            away = p.obstacle_factor * exp((radius[i] - clearance[i]) * p.inverse_sigma)
            along = p.desired_factor * p.relaxation
            ax[i] = (speed[i] * ex[i] - vx[i]) * along + p.social_factor * fx[i] + away * nx[i] + gx if active[i] else ZERO
            ay[i] = (speed[i] * ey[i] - vy[i]) * along + p.social_factor * fy[i] + away * ny[i] + gy if active[i] else ZERO
        ax[top:] = ZERO
        ay[top:] = ZERO


@dataclass(frozen=True)
class Pedsim(Checked):
    """Pedestrians as in libpedsim and pedsim_ros.

    The wall force acts from the nearest obstacle of the clearance field. A visible robot is a neighbour without a group. This model
    omits two forces of pedsim_ros: the random force, and the along-wall force for a walker that is stuck at a wall. As in the
    original, the group terms also act between pedestrians that do not see each other, and the push between members is the
    difference of their positions: the nearer they are, the weaker it is.

    Attributes:
        relaxation_time: relaxation time tau, s.
        desired_factor: weight of the desired force.
        social_factor: weight of the social force (5.1 in pedsim_ros' parameter file).
        obstacle_factor: weight of the obstacle force.
        obstacle_sigma: distance over which the obstacle force falls to 1/e, m; with libpedsim's value of 0.8, people get stuck in
            offices.
        importance: parameter lambda of the social force: weight of the relative velocity.
        gamma: parameter gamma of the social force.
        n: parameter n of the social force.
        n_prime: parameter n' of the social force.
        cutoff: distance between centres beyond which neighbours have no effect, m.
        gaze_factor: weight of the gaze term for groups.
        coherence_factor: weight of the coherence term for groups.
        repulsion_factor: weight of the repulsion term for groups.
        vision: angle between the goal direction and the centre of the group above which a pedestrian must turn its head, rad.
        repulsion_distance: distance between centres within which members push each other, m.
        max_speed_factor: speed cap, as a multiple of the preferred speed.
    """

    relaxation_time: Period = 0.5
    desired_factor: NotNegative = 1.0
    social_factor: NotNegative = 2.1
    obstacle_factor: NotNegative = 10.0
    obstacle_sigma: Positive = 0.2
    importance: NotNegative = 2.0
    gamma: Positive = 0.35
    n: NotNegative = 2.0
    n_prime: NotNegative = 3.0
    cutoff: Length = 10.0
    gaze_factor: NotNegative = 3.0
    coherence_factor: NotNegative = 2.0
    repulsion_factor: NotNegative = 1.0
    vision: NotNegative = math.pi / 2
    repulsion_distance: Distance = 0.5
    max_speed_factor: Positive = 1.0

    @property
    def declares(self) -> CrowdDeclaration:
        """Return the properties of the model."""
        return CrowdDeclaration("acceleration", self.max_speed_factor)

    def kernel(self) -> Any:
        """Return the compiled function."""
        return _pedsim

    def parameters(self) -> Any:
        """Return the parameters of the kernel."""
        return _Parameters.of(
            self, relaxation=1.0 / self.relaxation_time, inverse_sigma=1.0 / self.obstacle_sigma, cutoff2=self.cutoff**2
        )


_Parameters = kernel_record("_Parameters", Pedsim, computed=("relaxation", "inverse_sigma", "cutoff2"))
