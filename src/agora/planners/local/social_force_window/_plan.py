"""Samples of the social force window planner, their roll-outs among people, and their scores; computed in float32, one sample per
SIMD lane.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from agora.core.jit import hidden, lean_kernel, spliced
from agora.core.path import point_ahead
from agora.core.scalar import HALF, ONE, ZERO, atan2, exp, sincos, wrap
from agora.core.state import Floats, Ints
from agora.costmap.walls import nearest_walls
from agora.pedestrians.shared.moussaid import interaction
from agora.planners._rollouts.grids import cell_of, footprint_cost
from agora.planners._rollouts.poses import DISCARDED, GOES_ON, NO_PATH, least_of, reason_without_samples, step_towards
from agora.planners.steering import stopping_speed

_PI, _FULL, _TINY = np.float32(math.pi), np.float32(255.0), np.float32(1e-6)
_INSCRIBED, _TRIES, _NEARER = 253, 8, np.float32(0.8)
_SLOW = np.float32(0.25)  # m/s
_NO_CUTOFF = np.float32(np.inf)  # m2
_CONTACT = np.float32(1e4)
"""Cost of contact, and, per m/s, of the speed in contact: larger than all else, so that contact is always the last choice."""


class Scratch(NamedTuple):
    """Working memory of one thread, for K samples, M people and robots, P poses and L wall points.

    Attributes:
        wanted: (2, K) desired speeds and turning rates, m/s and rad/s.
        x: (K,) position, x, m.
        y: (K,) position, y, m.
        theta: (K,) heading, rad.
        vx: (K,) speed, m/s.
        omega: (K,) turning rate, rad/s.
        sine: (K,) sine of the heading.
        cosine: (K,) cosine of the heading.
        before_x: (K,) position one step earlier, x, m.
        before_y: (K,) position one step earlier, y, m.
        push_x: (K,) force on the robot, x, m/s2.
        push_y: (K,) force on the robot, y, m/s2.
        work: (K,) social work, m/s2.
        hit: (K,) 1 plus the speed while in contact with a person, or 0 without contact.
        scores: (K,) scores.
        poses: (P, 4, K) x, y, sine and cosine.
        away: (M, 4, K) displacement of people and robots from their predicted paths (x, y), and its rate of change.
        keys: scratch for `agora.costmap.walls.nearest_walls`.
        order: (L,) scratch for `agora.costmap.walls.nearest_walls`.
        walls: (L, 2) positions of wall points relative to the robot, m.
    """

    wanted: Floats
    x: Floats
    y: Floats
    theta: Floats
    vx: Floats
    omega: Floats
    sine: Floats
    cosine: Floats
    before_x: Floats
    before_y: Floats
    push_x: Floats
    push_y: Floats
    work: Floats
    hit: Floats
    scores: Floats
    poses: Floats
    away: Floats
    keys: Ints
    order: Ints
    walls: Floats


@hidden
def write_samples(linear, angular, max_x, max_theta, wanted):
    """Write the samples: evenly spaced speeds from the maximum down to 0, each with turning rates from 0 to both sides."""
    k = 0
    for i in range(linear, -1, -1):
        for j in range(2 * angular + 1):
            wanted[0, k] = max_x * np.float32(i) / np.float32(linear)
            share = np.float32((j + 1) // 2) / np.float32(angular)
            wanted[1, k] = max_theta * (share if j % 2 == 1 else -share)
            k += 1
    return k


@hidden
def _is_in_sight(scene, n, x, y):
    """Return whether the part of the straight line from the robot to (x, y) that is in the window avoids all cells within the
    inscribed radius of an obstacle.
    """
    cost, inverse = scene.cost[n], scene.inverse
    u, v = scene.pose[n, 0] - scene.origin[n, 0], scene.pose[n, 1] - scene.origin[n, 1]
    dx, dy = x - scene.pose[n, 0], y - scene.pose[n, 1]
    pieces = np.int64(np.ceil(math.sqrt(dx * dx + dy * dy) * inverse)) + 1
    column, row = cell_of(u, v, inverse, cost)
    left = cost[row, column] < _INSCRIBED
    for i in range(1, pieces + 1):
        share = np.float32(i) / np.float32(pieces)
        column, row = cell_of(u + share * dx, v + share * dy, inverse, cost)
        if column < 0:
            return True
        if left and cost[row, column] >= _INSCRIBED:
            return False
        left = left or cost[row, column] < _INSCRIBED
    return True


@hidden
def _point(scene, n, span):
    """Return the point ``span`` m ahead on the path or, if that point is not visible from the robot, the farthest visible point
    among a few earlier points.

    Returns:
        The point, its distance along the path, and the length of the path, m.
    """
    path, count, x, y = scene.path[n], scene.path_count[n], scene.pose[n, 0], scene.pose[n, 1]
    _, point_x, point_y, left = point_ahead(path, count, x, y, span)
    for _ in range(_TRIES):
        if _is_in_sight(scene, n, point_x, point_y):
            break
        span *= _NEARER
        _, point_x, point_y, left = point_ahead(path, count, x, y, span)
    return point_x, point_y, max(min(span, left), _TINY), left


@spliced
def _start(scene, n, count, s):
    """Start ``count`` samples at the robot's pose."""
    sine, cosine = sincos(scene.pose[n, 2])
    for k in range(count):
        s.x[k], s.y[k], s.theta[k] = scene.pose[n, 0], scene.pose[n, 1], scene.pose[n, 2]
        s.vx[k], s.omega[k], s.sine[k], s.cosine[k] = scene.twist[n, 0], scene.twist[n, 2], sine, cosine
        s.work[k], s.hit[k] = ZERO, ZERO
    s.away[:] = ZERO


@hidden
def _advance(count, dt, gain_x, gain_theta, tightest, s, poses):
    """Advance the samples by ``dt`` s, and write their poses (4, K)."""
    for k in range(count):
        v = step_towards(s.wanted[0, k], s.vx[k], gain_x)
        omega = step_towards(s.wanted[1, k], s.omega[k], gain_theta)
        most = tightest * abs(v) if tightest > ZERO else abs(omega)
        omega = min(max(omega, -most), most)
        sine, cosine = sincos(s.theta[k] + HALF * dt * omega)
        s.vx[k], s.omega[k] = v, omega
        s.x[k] += dt * v * cosine
        s.y[k] += dt * v * sine
        s.theta[k] += dt * omega
    for k in range(count):
        sine, cosine = sincos(s.theta[k])
        s.sine[k], s.cosine[k] = sine, cosine
        poses[0, k], poses[1, k], poses[2, k], poses[3, k] = s.x[k], s.y[k], sine, cosine


@hidden
def _add_social_work(p, count, dt, x0, y0, x1, y1, reach, now, yields, s, away):
    """Add the social work between the robot and another agent (a person or robot), which is predicted to move from (x0, y0) to (x1,
    y1), and record contact.

    The force on the other agent is minus the force on the robot. If the other agent ``yields``, the force in each step displaces
    the agent from its predicted path in the following steps; contact is tested on the predicted path itself.
    """
    vx, vy, keep = (x1 - x0) / dt, (y1 - y0) / dt, max(ONE - p.damping * dt, ZERO)
    law = (p.importance, p.gamma, p.n, p.n_prime, _NO_CUTOFF)
    for k in range(count):
        dx, dy = x1 + away[0, k] - s.x[k], y1 + away[1, k] - s.y[k]
        ux, uy = s.vx[k] * s.cosine[k] - vx - away[2, k], s.vx[k] * s.sine[k] - vy - away[3, k]
        fx, fy = interaction(dx, dy, ux, uy, law)
        fx, fy = p.sfm_people_weight * fx, p.sfm_people_weight * fy
        s.push_x[k] += fx
        s.push_y[k] += fy
        s.work[k] += math.sqrt(fx * fx + fy * fy)
        away[2, k] = keep * away[2, k] - (dt * fx if yields else ZERO)
        away[3, k] = keep * away[3, k] - (dt * fy if yields else ZERO)
        away[0, k] += dt * away[2, k]
        away[1, k] += dt * away[3, k]
    for k in range(count):
        ax, ay, bx, by = x0 - s.before_x[k], y0 - s.before_y[k], x1 - s.x[k], y1 - s.y[k]
        ux, uy = bx - ax, by - ay
        share = min(max(-(ax * ux + ay * uy) / max(ux * ux + uy * uy, _TINY), ZERO), ONE)
        cx, cy = ax + share * ux, ay + share * uy
        touches = bx * bx + by * by < now if now < reach * reach else cx * cx + cy * cy < reach * reach
        s.hit[k] = max(s.hit[k], ONE + abs(s.vx[k]) if touches else ZERO)


@hidden
def _add_wall_forces(p, count, inner, x, y, found, s):
    """Add the mean force of the wall points (L, 2), relative to (x, y), to the forces on the robot."""
    each = p.sfm_obstacle_weight / np.float32(max(found, 1))
    for i in range(found):
        wx, wy = x + s.walls[i, 0], y + s.walls[i, 1]
        for k in range(count):
            dx, dy = s.x[k] - wx, s.y[k] - wy
            distance = max(math.sqrt(dx * dx + dy * dy), _TINY)
            push = each * exp((inner - distance) * p.inverse_sigma) / distance
            s.push_x[k] += push * dx
            s.push_y[k] += push * dy


@spliced
def _roll_out_all(p, scene, n, radius, inner, dt, fine, count, gains, tightest, found, discs, people, s):
    """Roll out all samples, and sum the social work of each.

    A step of ``dt`` s has ``fine`` poses. As in upstream, the work of a step is the sum of the magnitudes of the two forces on the
    robot, from people and from walls, and of the robot's force on each person.
    """
    position, size, present, expected = discs
    steps, short = expected.shape[2], dt / np.float32(fine)
    for t in range(steps):
        for k in range(count):
            s.before_x[k], s.before_y[k], s.push_x[k], s.push_y[k] = s.x[k], s.y[k], ZERO, ZERO
        for j in range(fine):
            _advance(count, short, gains[0] * short, gains[1] * short, tightest, s, s.poses[t * fine + j])
        for m in range(present.shape[1]):
            if present[n, m]:
                x0, y0 = position[n, m, 0], position[n, m, 1]
                dx, dy, reach = x0 - scene.pose[n, 0], y0 - scene.pose[n, 1], radius + size[n, m]
                if t > 0:
                    x0, y0 = expected[n, m, t - 1, 0], expected[n, m, t - 1, 1]
                x1, y1 = expected[n, m, t, 0], expected[n, m, t, 1]
                _add_social_work(p, count, dt, x0, y0, x1, y1, reach, dx * dx + dy * dy, m < people, s, s.away[m])
        for k in range(count):
            s.work[k] += math.sqrt(s.push_x[k] * s.push_x[k] + s.push_y[k] * s.push_y[k])
            s.push_x[k] = s.push_y[k] = ZERO
        if found > 0:
            _add_wall_forces(p, count, inner, scene.pose[n, 0], scene.pose[n, 1], found, s)
            for k in range(count):
                s.work[k] += math.sqrt(s.push_x[k] * s.push_x[k] + s.push_y[k] * s.push_y[k])


@hidden
def _score(p, count, max_x, point_x, point_y, span, s):
    """Write the scores of the samples, without the costmap's cost."""
    for k in range(count):
        dx, dy = point_x - s.x[k], point_y - s.y[k]
        angle = abs(wrap(atan2(dy, dx) - s.theta[k])) / _PI
        slow = abs(max_x - s.vx[k]) / max(max_x, _TINY)
        far = (dx * dx + dy * dy) / (span * span)
        total = p.velocity_weight * slow + p.distance_weight * far + p.angle_weight * angle + p.social_weight * s.work[k]
        s.scores[k] = total + _CONTACT * s.hit[k]


@hidden
def _outline_scale(scene, n, inner):
    """Return the factor that enlarges the outline by half a cell, or 1 if the robot is already closer than half a cell to an
    obstacle.
    """
    cost, inverse, corners_x, corners_y = scene.cost[n], scene.inverse, scene.footprint_x[n], scene.footprint_y[n]
    x, y, scale = scene.pose[n, 0] - scene.origin[n, 0], scene.pose[n, 1] - scene.origin[n, 1], ONE + HALF / (inner * inverse)
    sine, cosine = sincos(scene.pose[n, 2])
    return scale if footprint_cost(cost, corners_x, corners_y, scale, x, y, sine, cosine, inverse) >= 0 else ONE


@hidden
def _path_cost(p, scene, n, k, poses, scale, wanted):
    """Return the mean costmap cost under the centre along the path of sample ``k``; -1 if the outline meets an obstacle.

    The outline is enlarged by ``scale`` unless the ``wanted`` speed is low, because cells do not show exactly where a wall is.
    """
    cost, inverse, corners_x, corners_y, total = scene.cost[n], scene.inverse, scene.footprint_x[n], scene.footprint_y[n], ZERO
    scale = scale if wanted > _SLOW else ONE
    for i in range(poses.shape[0]):
        x, y = poses[i, 0, k] - scene.origin[n, 0], poses[i, 1, k] - scene.origin[n, 1]
        if footprint_cost(cost, corners_x, corners_y, scale, x, y, poses[i, 2, k], poses[i, 3, k], inverse) < 0:
            return DISCARDED
        column, row = cell_of(x, y, inverse, cost)
        total += np.float32(cost[row, column])
    return p.costmap_weight * total / (_FULL * np.float32(poses.shape[0]))


@spliced
def _choose(p, scene, n, count, poses, scale, s):
    """Return the index of the sample with the lowest score including the costmap's cost (the first one in a tie), or -1 if all
    samples are discarded.

    The costmap's cost can only increase a score, so samples are tested in the order of their scores until no remaining sample can
    be better.
    """
    best, chosen = DISCARDED, np.int64(-1)
    while True:
        k = least_of(s.scores, count)
        if k < 0 or (best >= ZERO and s.scores[k] > best):
            return chosen
        score, s.scores[k] = s.scores[k], DISCARDED
        over = _path_cost(p, scene, n, k, poses, scale, s.wanted[0, k])
        if over >= ZERO and (best < ZERO or score + over < best or (score + over == best and k < chosen)):
            best, chosen = score + over, k


@hidden
def _approach(p, scene, n, away, max_x, max_theta, gain, point_x, point_y, s):
    """Write the twist that the robot tries first near the goal, as the only sample."""
    bearing = wrap(atan2(point_y - scene.pose[n, 1], point_x - scene.pose[n, 0]) - scene.pose[n, 2])
    _, ahead = sincos(bearing)
    slowest, least = min(p.min_trans_vel, max_x), min(p.min_rot_vel, max_theta)
    speed = (slowest + (max_x - slowest) * away / p.goal_distance) * max(ahead, ZERO)
    turn = least + (max_theta - least) * abs(bearing) / _PI
    s.wanted[0, 0] = min(speed, stopping_speed(away, gain[0], p.period))
    s.wanted[1, 0] = math.copysign(min(turn, stopping_speed(abs(bearing), gain[1], p.period)), bearing)


@lean_kernel
def plan(p, scene, radius, inner, fastest, span, linear, angular, dt, fine, discs, people, s, twists, reasons, first, last):
    """Write the twists and the reasons for the rows ``first <= n < last``.

    Args:
        p: `agora.planners.local.social_force_window._planner.Parameters`.
        scene: `agora.planners._rollouts.poses.Observed`.
        radius: (N,) radius of the disc around the footprint, m.
        inner: (N,) radius of the inscribed disc, m.
        fastest: (N,) maximum speed of a sample, m/s.
        span: (N,) distance along the path of the robot's target point, m.
        linear: number of speeds above 0.
        angular: number of turning rates to each side.
        dt: time step of the roll-outs, s.
        fine: (N,) number of poses per step.
        discs: positions (N, M, 2), radii (N, M), presence (N, M) and predicted positions (N, M, T, 2) of people and robots.
        people: number of leading slots that hold people, who give way to the robot.
        s: `Scratch`.
        twists: (N, 3) twists, m/s and rad/s, written.
        reasons: (N,) values of `agora.core.recording.Reason`, written.
    """
    for n in range(first, last):
        twists[n, 0], twists[n, 1], twists[n, 2], reasons[n] = ZERO, ZERO, ZERO, NO_PATH
        x, y, now, count = scene.pose[n, 0], scene.pose[n, 1], scene.twist[n], scene.path_count[n]
        window, corner_x, corner_y = scene.cost[n], scene.origin[n, 0], scene.origin[n, 1]
        if count <= 0 or cell_of(x - corner_x, y - corner_y, scene.inverse, window)[0] < 0:
            continue
        tightest = ONE / scene.turning_radius[n] if scene.turning_radius[n] > ZERO else ZERO
        max_x, max_theta = fastest[n], min(p.max_rot_vel, scene.max_theta[n])
        gains = (min(p.max_trans_acc, scene.acc_x[n]), min(p.max_rot_acc, scene.acc_theta[n]))
        point_x, point_y, ahead, left = _point(scene, n, span[n])
        dx, dy = scene.goal[n, 0] - x, scene.goal[n, 1] - y
        away, reasons[n] = math.sqrt(dx * dx + dy * dy), GOES_ON
        wanted_x, wanted_theta, chosen = ZERO, ZERO, np.int64(-1)
        arrived = away <= p.xy_goal_tolerance
        short = fine[n]
        poses = s.poses[: discs[3].shape[2] * short]
        if not arrived:
            reach, scale = p.max_obstacle_dist + radius[n], _outline_scale(scene, n, inner[n])
            found = nearest_walls(window, corner_x, corner_y, ONE / scene.inverse, x, y, reach, s.keys, s.order, s.walls)
            # Near the goal, a single twist towards it is tried first, because the coarse window would miss the goal.
            if away < p.goal_distance and left < p.goal_distance:
                _approach(p, scene, n, away, max_x, max_theta, gains, point_x, point_y, s)
                _start(scene, n, 1, s)
                _roll_out_all(p, scene, n, radius[n], inner[n], dt, short, 1, gains, tightest, found, discs, people, s)
                free = s.hit[0] == ZERO and _path_cost(p, scene, n, 0, poses, scale, s.wanted[0, 0]) >= ZERO
                chosen = np.int64(0) if free else chosen
            if chosen < 0:
                samples = write_samples(linear, angular, max_x, max_theta, s.wanted)
                _start(scene, n, samples, s)
                _roll_out_all(p, scene, n, radius[n], inner[n], dt, short, samples, gains, tightest, found, discs, people, s)
                _score(p, samples, max_x, point_x, point_y, ahead, s)
                chosen = _choose(p, scene, n, samples, poses, scale, s)
            if chosen >= 0:
                wanted_x, wanted_theta = s.wanted[0, chosen], s.wanted[1, chosen]
        # The acceleration limits apply to the command, and a car respects its turning radius in the process.
        twists[n, 0] = step_towards(wanted_x, now[0], gains[0] * p.period)
        twists[n, 1] = step_towards(ZERO, now[1], scene.acc_y[n] * p.period)
        turn = step_towards(wanted_theta, now[2], gains[1] * p.period)
        most = tightest * abs(twists[n, 0]) if tightest > ZERO else abs(turn)
        twists[n, 2] = min(max(turn, -most), most)
        stands = chosen < 0 or (wanted_x == ZERO and wanted_theta == ZERO)
        if not arrived and stands:
            reasons[n] = reason_without_samples(scene, n)
