"""Roll-outs of model predictive path integral control, their costs and their mean; computed in float32, one sample per SIMD
lane.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from agora.core.jit import hidden, lean_kernel, spliced
from agora.core.recording import Reason
from agora.core.scalar import HALF, ONE, ZERO, exp, sincos
from agora.core.state import Bools, Floats, Ints
from agora.planners._rollouts.grids import WALL, cell_of, footprint_cost, prune_path, reset_grid, trace
from agora.planners._rollouts.poses import GOES_ON, NO_PATH, is_another, reason_without_samples, step_towards

PAST = 4
"""Number of past commands that the filter uses."""

_FILTER = np.array((-21, 14, 39, 54, 59, 54, 39, 14, -21), np.float32) / np.float32(231.0)
_IN_CONTACT = np.int8(Reason.START_IN_CONTACT)
_INSCRIBED, _TINY, _FAR = 253, np.float32(1e-6), np.float32(1e30)
_STAIRS = 8  # cells
_STANDING = np.float32(1.0)  # m/s, added to the robot's speed while it is in contact
_SHARE = np.float32(0.05)  # fraction of the weights below which a side does not count as a separate path
_FULL = np.float32(252.0)


class Recall(NamedTuple):
    """The memory of the rows; all values are zero at the start of an episode.

    Attributes:
        controls: (N, T, 3) twists in the last plan, m/s and rad/s.
        past: (N, PAST, 3) previous commands; the latest is the last.
        plan: (N, 3) first point of the path, and the number of points; a different path resets the progress.
        progress: (N, 2) segment and piece at which the rest of the path starts.
    """

    controls: Floats
    past: Floats
    plan: Floats
    progress: Ints


class Scratch(NamedTuple):
    """Working memory of one thread: a grid, its labels, the queue and the remaining path; for each of K samples, its pose, heading
    sums, twist, cost and whether it hits something; and the twists of all samples (T, 3, K).
    """

    path: Ints
    label: Ints
    queue: Ints
    left: Floats
    x: Floats
    y: Floats
    theta: Floats
    sine: Floats
    cosine: Floats
    side: Floats
    twist: Floats
    cost: Floats
    hit: Bools
    tried: Floats


@hidden
def _spread(grid, label, stride, queue, count, wanted):
    """Run the waves like `agora.planners._rollouts.grids.flood`; each cell gets the index of the path cell nearest to it."""
    for k in range(count):
        label[queue[k]] = np.int32(k)
    head = 0
    while head < count and wanted > 0:
        k = queue[head]
        head += 1
        distance = grid[k] + np.int32(1)
        for neighbour in (k - 1, k + 1, k - stride, k + stride):
            value = grid[neighbour]
            if value < 0:
                wanted += value + 1
                grid[neighbour], label[neighbour] = distance, label[k]
                queue[count] = neighbour
                count += 1


@hidden
def _measure(queue, count, stride, cell, left):
    """Write the path length from each of the ``count`` cells to the last cell, m. The length is measured over eight cells at a
    time, so that a staircase of cells counts as a slope.
    """
    for k in range(count - 1, -1, -1):
        ahead = min(k + _STAIRS, count - 1)
        columns = np.float32(queue[ahead] % stride) - np.float32(queue[k] % stride)
        rows = np.float32(queue[ahead] // stride) - np.float32(queue[k] // stride)
        left[k] = cell * math.sqrt(columns * columns + rows * rows) + (left[ahead] if ahead > k else ZERO)


@spliced
def _prepare(scene, n, progress, scratch, reach):
    """Run the waves from the local path, and measure the path; return whether there is a path."""
    cost, inverse = scene.cost[n], scene.inverse
    x, y, origin_x, origin_y = scene.pose[n, 0], scene.pose[n, 1], scene.origin[n, 0], scene.origin[n, 1]
    column, row = cell_of(x - origin_x, y - origin_y, inverse, cost)
    stride, path, count = cost.shape[1] + 2, scene.path[n], scene.path_count[n]
    progress[0], progress[1] = prune_path(path, count, progress[0], progress[1], x, y, ONE / inverse)
    half = HALF * np.float32(max(cost.shape[0], cost.shape[1])) / inverse
    wanted = reset_grid(cost, column, row, reach, scratch.path)
    length, wanted, _, _, _, _ = trace(
        path, count, progress[0], progress[1], x, y, half, origin_x, origin_y, inverse, cost, scratch.path, scratch.queue, wanted
    )
    if length > 0:
        _measure(scratch.queue, length, stride, ONE / inverse, scratch.left)
        _spread(scratch.path, scratch.label, stride, scratch.queue, length, wanted)
    return length > 0


@hidden
def _shift_plan(controls, steps):
    """Shift a plan by ``steps`` steps, which may be fractional; the last twist of the plan is repeated."""
    last = controls.shape[0] - 1
    for t in range(last + 1):
        at = min(np.float32(t) + steps, np.float32(last))
        low = min(np.int64(at), last)
        share, high = at - np.float32(low), min(low + 1, last)
        for axis in range(3):
            controls[t, axis] = controls[low, axis] + share * (controls[high, axis] - controls[low, axis])


@spliced
def _advance(p, scene, n, t, dt, control, noise, scratch, bounds, gains):
    """Advance all samples by one step with their noisy twists, and add the cost of these twists."""
    low_x, high_x, high_y, high_theta, curvature = bounds
    std_x, std_y, std_theta = p.spread_x * high_x, p.spread_y * high_y, p.std_theta
    vx, vy, omega = scratch.twist[0], scratch.twist[1], scratch.twist[2]
    kept_x, kept_y, kept_theta = scratch.tried[t, 0], scratch.tried[t, 1], scratch.tried[t, 2]
    x, y, theta, sine, cosine, cost = scratch.x, scratch.y, scratch.theta, scratch.sine, scratch.cosine, scratch.cost
    side, heading, top = scratch.side, scene.pose[n, 2], max(high_x, high_y)
    pull_x = p.gamma * control[0] / max(std_x * std_x, _TINY)
    pull_theta = p.gamma * control[2] / max(std_theta * std_theta, _TINY)
    step_x, step_y, step_theta = gains[0] * dt, gains[1] * dt, gains[2] * dt
    for k in range(vx.size):
        brakes = k == 1
        a = ZERO if brakes else control[0] + std_x * noise[0, k]
        b = ZERO if brakes else control[1] + std_y * noise[1, k]
        c = ZERO if brakes else control[2] + std_theta * noise[2, k]
        kept_x[k], kept_y[k], kept_theta[k] = a, b, c
        a, b = min(max(a, low_x), high_x), min(max(b, -high_y), high_y)
        share = min(top / math.sqrt(max(a * a + b * b, _TINY)), ONE)
        a = min(max(share * a, vx[k] - step_x), vx[k] + step_x)
        b = min(max(share * b, vy[k] - step_y), vy[k] + step_y)
        c = min(max(min(max(c, -high_theta), high_theta), omega[k] - step_theta), omega[k] + step_theta)
        tightest = curvature * abs(a) if curvature > ZERO else high_theta
        c = min(max(c, -tightest), tightest)
        vx[k], vy[k], omega[k] = a, b, c
        s, d = sincos(theta[k] + HALF * dt * c)
        side[k] += theta[k] + dt * c - heading
        x[k] += dt * (a * d - b * s)
        y[k] += dt * (a * s + b * d)
        theta[k] += dt * c
        cost[k] += p.twirling_scale * abs(c) + p.backward_scale * max(-a, ZERO) + p.sideways_scale * abs(b)
        cost[k] += pull_x * (a - control[0]) + pull_theta * (c - control[2])
    for k in range(vx.size):
        sine[k], cosine[k] = sincos(theta[k])


@hidden
def _fits(scene, n, scale, x, y, sine, cosine):
    """Return whether the outline, scaled by ``scale``, is free of walls at a pose in the window."""
    corners_x, corners_y = scene.footprint_x[n], scene.footprint_y[n]
    return footprint_cost(scene.cost[n], corners_x, corners_y, scale, x, y, sine, cosine, scene.inverse) >= 0


@hidden
def _can_stop(scene, n, twist, gains, dt, steps, circumscribed):
    """Return whether a robot avoids all walls if it drives a twist for one step and then brakes."""
    x, y, theta = scene.pose[n, 0] - scene.origin[n, 0], scene.pose[n, 1] - scene.origin[n, 1], scene.pose[n, 2]
    vx, vy, omega = twist
    for _ in range(steps):
        sine, cosine = sincos(theta + HALF * dt * omega)
        x, y, theta = x + dt * (vx * cosine - vy * sine), y + dt * (vx * sine + vy * cosine), theta + dt * omega
        sine, cosine = sincos(theta)
        column, row = cell_of(x, y, scene.inverse, scene.cost[n])
        if column < 0:
            return False
        value = np.int32(scene.cost[n, row, column])
        if value >= circumscribed and (value >= _INSCRIBED or not _fits(scene, n, ONE, x, y, sine, cosine)):
            return False
        vx, vy = step_towards(ZERO, vx, gains[0] * dt), step_towards(ZERO, vy, gains[1] * dt)
        omega = step_towards(ZERO, omega, gains[2] * dt)
    return True


@hidden
def _clip_twist(wanted, now, gains, period, bounds):
    """Return the twist nearest to a desired twist that the robot can reach from its current twist, within its limits, in one
    control period.
    """
    vx, vy = min(max(wanted[0], bounds[0]), bounds[1]), min(max(wanted[1], -bounds[2]), bounds[2])
    share = min(max(bounds[1], bounds[2]) / math.sqrt(max(vx * vx + vy * vy, _TINY)), ONE)
    omega = min(max(wanted[2], -bounds[3]), bounds[3])
    vx, vy = step_towards(share * vx, now[0], gains[0] * period), step_towards(share * vy, now[1], gains[1] * period)
    share = min(max(bounds[1], bounds[2]) / math.sqrt(max(vx * vx + vy * vy, _TINY)), ONE)
    omega, tightest = step_towards(omega, now[2], gains[2] * period), bounds[4]
    if tightest > ZERO:
        omega = min(max(omega, -tightest * abs(share * vx)), tightest * abs(share * vx))
    return share * vx, share * vy, omega


@spliced
def _take_cheapest(controls, scratch, steps, bounds):
    """Replace the plan by the twists of the sample with the largest weight, within the robot's limits."""
    best = 0
    for k in range(scratch.x.size):
        best = k if scratch.cost[k] > scratch.cost[best] else best
    low, high = (bounds[0], -bounds[2], -bounds[3]), (bounds[1], bounds[2], bounds[3])
    for t in range(steps):
        for axis in range(3):
            controls[t, axis] = min(max(scratch.tried[t, axis, best], low[axis]), high[axis])


@spliced
def _meet_walls(p, scene, n, scratch, circumscribed, wider, goal_scale):
    """Add the costs of walls and of the distances to the path and the goal; a sample whose outline touches a wall is marked as a
    hit.

    A sample whose outline touches a wall when scaled by ``wider`` incurs a cost.
    """
    window, inverse = scene.cost[n], scene.inverse
    columns, cell = window.shape[1] + 2, ONE / inverse
    size, ahead = np.int32(window.size), p.forward_point_distance
    for k in range(scratch.x.size):
        column, row = cell_of(scratch.x[k], scratch.y[k], inverse, window)
        if column < 0:
            scratch.hit[k] = True
            continue
        at = (row + 1) * columns + 1 + column
        path, value = scratch.path[at], np.int32(window[row, column])
        shut = path < 0 or path == WALL
        off = np.float32(size if shut else path) * cell
        away = np.float32(size) * cell if shut else scratch.left[scratch.label[at]]
        nose_off, behind = off, ZERO
        nose_x, nose_y = scratch.x[k] + ahead * scratch.cosine[k], scratch.y[k] + ahead * scratch.sine[k]
        column, row = cell_of(nose_x, nose_y, inverse, window)
        if column >= 0 and away > ahead:
            at = (row + 1) * columns + 1 + column
            path = scratch.path[at]
            shut = path < 0 or path == WALL
            nose_off = off if shut else np.float32(path) * cell
            nose_away = nose_off + (away if shut else scratch.left[scratch.label[at]])
            behind = max((nose_away - away - off) / ahead, ZERO)
        scratch.cost[k] += p.path_scale * (off + nose_off) + goal_scale * away + p.heading_scale * behind
        scratch.cost[k] += p.obstacle_scale * np.float32(value) / _FULL
        if value >= circumscribed:
            x, y, sine, cosine = scratch.x[k], scratch.y[k], scratch.sine[k], scratch.cosine[k]
            touches = value >= _INSCRIBED or not _fits(scene, n, ONE, x, y, sine, cosine)
            scratch.hit[k] = scratch.hit[k] or touches
            if not touches and not _fits(scene, n, wider, x, y, sine, cosine):
                scratch.cost[k] += p.critical_scale


@hidden
def _meet_people(p, x, y, vx, vy, cost, hit, px, py, reach, now):
    """Add the cost of one disc, which is at (px, py) in this step; in contact, the robot's speed also has a cost. If the robot
    already touches the disc, samples that come closer to it are marked as hits.
    """
    wide = reach + p.people_distance
    for k in range(x.size):
        dx, dy = px - x[k], py - y[k]
        squared = dx * dx + dy * dy
        near = max(wide - math.sqrt(squared), ZERO) * p.inverse_distance
        speed = math.sqrt(vx[k] * vx[k] + vy[k] * vy[k])
        touches = squared < reach * reach and squared < now
        hit[k] = hit[k] or (touches and now < reach * reach)
        cost[k] += p.people_scale * near + (p.contact_scale * (_STANDING + speed) if touches else ZERO)


@spliced
def _weigh(p, scratch):
    """Convert the costs of the samples into weights exp(-cost / temperature); return the sum of the weights, 0 if every sample hits
    something.

    If there are samples on both sides and few in between, they represent two paths whose mean is not a path; in this case, the side
    with the lower weight is dropped.
    """
    least, count, weights = _FAR, scratch.x.size, scratch.cost
    for k in range(count):
        least = min(least, _FAR if scratch.hit[k] else weights[k])
    total, free, left, right, weighted, plain = ZERO, ZERO, ZERO, ZERO, ZERO, ZERO
    for k in range(count):
        weight = exp((least - weights[k]) * p.inverse_temperature)
        weight = weight if weight > _TINY and not scratch.hit[k] else ZERO
        weights[k], squared = weight, scratch.side[k] * scratch.side[k]
        total += weight
        weighted += weight * squared
        left += weight if scratch.side[k] > ZERO else ZERO
        right += weight if scratch.side[k] < ZERO else ZERO
        free += ZERO if scratch.hit[k] else ONE
        plain += ZERO if scratch.hit[k] else squared
    if weighted * free > plain * total and min(left, right) > _SHARE * total:
        total = ZERO
        for k in range(count):
            weights[k] = weights[k] if (scratch.side[k] < ZERO) == (right > left) else ZERO
            total += weights[k]
    return total


@spliced
def _average(controls, scratch, steps, total, bounds):
    """Replace the plan by the weighted mean of the samples' twists, within the robot's limits."""
    low, high = (bounds[0], -bounds[2], -bounds[3]), (bounds[1], bounds[2], bounds[3])
    for t in range(steps):
        for axis in range(3):
            mean = ZERO
            for k in range(scratch.x.size):
                mean += scratch.cost[k] * scratch.tried[t, axis, k]
            controls[t, axis] = min(max(mean / total, low[axis]), high[axis])


@spliced
def _smooth_twist(controls, past, axis):
    """Return the first twist of a plan after applying a Savitzky-Golay filter (nine points, second order) to past commands and
    plan.
    """
    last, value = controls.shape[0] - 1, ZERO
    for k in range(PAST):
        value += _FILTER[k] * past[k, axis]
    for k in range(PAST, 2 * PAST + 1):
        value += _FILTER[k] * controls[min(k - PAST, last), axis]
    return value


@spliced
def _list_discs(p, scene, n, discs, radius, reach, near):
    """Write the indices of the discs that any sample may come close to; return the number of these discs."""
    position, size, present, expected = discs
    x, y, count = scene.pose[n, 0], scene.pose[n, 1], 0
    for m in range(present.shape[1]):
        if not present[n, m]:
            continue
        last = expected.shape[2] - 1
        dx, dy = position[n, m, 0] - x, position[n, m, 1] - y
        ex, ey = expected[n, m, last, 0] - x, expected[n, m, last, 1] - y
        wide = reach + radius + size[n, m] + p.people_distance
        way = math.sqrt((ex - dx) * (ex - dx) + (ey - dy) * (ey - dy))
        if math.sqrt(dx * dx + dy * dy) < wide + way:
            near[count] = m
            count += 1
    return count


@lean_kernel
def plan(p, scene, radius, dt, circumscribed, wider, discs, noise, near, recall, scratch, twists, reasons, first, last):
    """Write the twists and the reasons for the rows ``first <= n < last``.

    Args:
        p: `agora.planners.local.mppi._planner.Parameters`.
        scene: `agora.planners._rollouts.poses.Observed`.
        radius: (N,) radius of the disc around the footprint, m.
        dt: time step of the roll-outs, s.
        circumscribed: (N,) cost under the centre above which the outline may touch a wall.
        wider: (N,) factor that enlarges the outline by one cell on each side.
        discs: positions (N, M, 2), radii (N, M), presence (N, M) and predicted positions (N, M, T, 2) of people and robots.
        noise: (T, 3, K) standard normal numbers; zero for sample 0, and sample 1 brakes.
        near: (M,) scratch for the indices of discs.
        recall: `Recall`.
        scratch: `Scratch`.
        twists: (N, 3) twists, m/s and rad/s, written.
        reasons: (N,) values of `agora.core.recording.Reason`, written.
    """
    steps = noise.shape[0]
    for n in range(first, last):
        count = scene.path_count[n]
        reasons[n] = NO_PATH
        controls, past = recall.controls[n], recall.past[n]
        now = (scene.twist[n, 0], scene.twist[n, 1], scene.twist[n, 2])
        gains = (min(p.acc_lim_x, scene.acc_x[n]), min(p.acc_lim_y, scene.acc_y[n]), min(p.acc_lim_theta, scene.acc_theta[n]))
        x, y = scene.pose[n, 0] - scene.origin[n, 0], scene.pose[n, 1] - scene.origin[n, 1]
        window, inverse = scene.cost[n], scene.inverse
        if count <= 0 or cell_of(x, y, inverse, window)[0] < 0:
            continue
        if is_another(recall.plan[n], scene.path[n], count):
            recall.progress[n, :] = 0
        tightest = ONE / scene.turning_radius[n] if scene.turning_radius[n] > ZERO else ZERO
        bounds = (
            max(p.min_vel_x, scene.min_x[n]),
            min(p.max_vel_x, scene.max_x[n]),
            min(p.max_vel_y, scene.max_y[n]),
            min(p.max_vel_theta, scene.max_theta[n]),
            tightest,
        )
        goal_scale = p.goal_scale / min(max(bounds[1], bounds[2], _TINY), ONE)
        fastest = max(bounds[1], -bounds[0], bounds[2]) * dt * np.float32(steps)
        cells = np.int32(np.ceil((fastest + p.forward_point_distance) * inverse)) + 1
        if not _prepare(scene, n, recall.progress[n], scratch, cells):
            continue
        # Shift the last plan by one control period and start all samples at the current state (algorithm 2 of the paper).
        _shift_plan(controls, p.period / dt)
        scratch.x[:], scratch.y[:], scratch.theta[:], scratch.cost[:], scratch.hit[:] = x, y, scene.pose[n, 2], ZERO, False
        scratch.side[:] = ZERO
        scratch.twist[0], scratch.twist[1], scratch.twist[2] = now[0], now[1], now[2]
        touched = False
        met = _list_discs(p, scene, n, discs, radius[n], fastest, near)
        for t in range(steps):
            _advance(p, scene, n, t, dt, controls[t], noise[t], scratch, bounds, gains)
            _meet_walls(p, scene, n, scratch, circumscribed[n], wider[n], goal_scale)
            for i in range(met):
                m = near[i]
                px, py = discs[3][n, m, t, 0] - scene.origin[n, 0], discs[3][n, m, t, 1] - scene.origin[n, 1]
                dx, dy = discs[0][n, m, 0] - scene.pose[n, 0], discs[0][n, m, 1] - scene.pose[n, 1]
                reach = radius[n] + discs[1][n, m]
                touched = touched or dx * dx + dy * dy < reach * reach
                vx, vy, now2 = scratch.twist[0], scratch.twist[1], dx * dx + dy * dy
                _meet_people(p, scratch.x, scratch.y, vx, vy, scratch.cost, scratch.hit, px, py, reach, now2)
        total = _weigh(p, scratch)
        found = total > ZERO
        if found:
            _average(controls, scratch, steps, total, bounds)
        reasons[n] = GOES_ON if found else _IN_CONTACT if touched else reason_without_samples(scene, n)
        wanted = (_smooth_twist(controls, past, 0), _smooth_twist(controls, past, 1), _smooth_twist(controls, past, 2))
        if found:
            twist = _clip_twist(wanted, now, gains, p.period, bounds)
            # The mean of safe samples may be unsafe; if it is, take the best sample, whose own roll-out touches nothing.
            if not _can_stop(scene, n, twist, gains, dt, steps, circumscribed[n]):
                _take_cheapest(controls, scratch, steps, bounds)
                twist = _clip_twist((controls[0, 0], controls[0, 1], controls[0, 2]), now, gains, p.period, bounds)
        else:
            controls[:] = ZERO
            twist = _clip_twist((ZERO, ZERO, ZERO), now, gains, p.period, bounds)
        twists[n, 0], twists[n, 1], twists[n, 2] = twist
        for k in range(PAST - 1):
            past[k, 0], past[k, 1], past[k, 2] = past[k + 1, 0], past[k + 1, 1], past[k + 1, 2]
        past[PAST - 1, 0], past[PAST - 1, 1], past[PAST - 1, 2] = twists[n, 0], twists[n, 1], twists[n, 2]
