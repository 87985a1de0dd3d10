"""The dynamic window approach, computed row by row: waves, window of samples, choice, memory, and the stop at the goal."""

from __future__ import annotations

import math

import numpy as np

from agora.core.jit import hidden, lean_kernel, spliced
from agora.core.recording import Reason
from agora.core.scalar import HALF, ONE, ZERO, sincos, wrap
from agora.planners._rollouts.grids import cell_of, flood, footprint_cost, nose_goal, prune_path, reset_grid, seed, trace
from agora.planners._rollouts.poses import (
    BLOCKED,
    DISCARDED,
    GOES_ON,
    NO_PATH,
    is_another,
    least_of,
    obstacle_cost,
    reason_without_samples,
    step_towards,
    stop_and_turn,
)
from agora.planners.local.dwa._rollout import curvature_to_path, fill_samples, grid_cost, roll_out, scale_of

_EPSILON = np.float32(1e-4)
_INSCRIBED = 253
_ESCAPING = np.int8(Reason.ESCAPING)


@hidden
def forbids(oscillation, sample):
    """Return whether a sample moves in a forbidden direction; `remember` forbids directions in which the robot would oscillate."""
    for axis in range(3):
        only = oscillation[axis, 1]
        if (only > 0 and sample[axis] < ZERO) or (only < 0 and sample[axis] > ZERO):
            return True
    return False


@hidden
def remember(oscillation, anchor, pose, twist, min_trans, reset_distance, reset_angle):
    """Forbid a direction after the second sign change on an axis; allow all directions again once the robot has moved away.

    Sideways motion and turning count only while the robot does not drive forward.
    """
    changed = False
    for axis in range(3):
        if twist[axis] == ZERO or (axis > 0 and abs(twist[0]) > min_trans):
            continue
        sign = np.int8(1) if twist[axis] > ZERO else np.int8(-1)
        if oscillation[axis, 0] == -sign:
            oscillation[axis, 1] = sign
            changed = True
        oscillation[axis, 0] = sign
    if changed:
        anchor[0], anchor[1], anchor[2] = pose[0], pose[1], pose[2]
    if oscillation[0, 1] != 0 or oscillation[1, 1] != 0 or oscillation[2, 1] != 0:
        dx, dy = pose[0] - anchor[0], pose[1] - anchor[1]
        if dx * dx + dy * dy > reset_distance * reset_distance or abs(wrap(pose[2] - anchor[2])) > reset_angle:
            oscillation[:] = 0


@spliced
def _roll_out_sample(p, scene, n, time, scratch, sample, acceleration, gains):
    """Roll out one sample; return the number of poses, and whether the footprint is free of obstacles at all of them."""
    x, y = scene.pose[n, 0] - scene.origin[n, 0], scene.pose[n, 1] - scene.origin[n, 1]
    now = (scene.twist[n, 0], scene.twist[n, 1], scene.twist[n, 2])
    count, _ = roll_out(p, time, x, y, scene.pose[n, 2], now, sample, acceleration, gains, scratch.points)
    corners_x, corners_y = scene.footprint_x[n], scene.footprint_y[n]
    worst = obstacle_cost(scratch.points, count, scene.cost[n], scene.inverse, corners_x, corners_y, ONE, False)
    return count, worst >= ZERO


@spliced
def _prepare(p, scene, n, progress, scratch, reach):
    """Run the waves from the local path, the local goal and the nose's goal.

    Returns:
        Whether there is a path; whether the robot should align with the path; the obstacle cost at the path's end if the end is
        near, otherwise 0.
    """
    cost, inverse = scene.cost[n], scene.inverse
    x, y = scene.pose[n, 0], scene.pose[n, 1]
    origin_x, origin_y = scene.origin[n, 0], scene.origin[n, 1]
    column, row = cell_of(x - origin_x, y - origin_y, inverse, cost)
    stride = cost.shape[1] + 2
    path, count = scene.path[n], scene.path_count[n]
    if p.prune_plan:
        progress[0], progress[1] = prune_path(path, count, progress[0], progress[1], x, y, ONE / inverse)
    horizon = HALF * np.float32(max(cost.shape[0], cost.shape[1])) / inverse
    wanted = reset_grid(cost, column, row, reach, scratch.path)
    for k in range(scratch.path.size):
        scratch.goal[k] = scratch.nose[k] = scratch.path[k]
    length, left_over, goal, end_x, end_y, leaves = trace(
        path, count, progress[0], progress[1], x, y, horizon, origin_x, origin_y, inverse, cost, scratch.path, scratch.queue, wanted
    )
    if length == 0:
        return False, False, ZERO
    flood(scratch.path, stride, scratch.queue, length, left_over)
    length, left_over = seed(scratch.goal, stride, scratch.queue, np.int64(0), wanted, goal[0], goal[1])
    flood(scratch.goal, stride, scratch.queue, length, left_over)
    nose = goal
    if not leaves:
        nose = nose_goal(goal, end_x, end_y, x, y, p.forward_point_distance, origin_x, origin_y, inverse, cost)
    length, left_over = seed(scratch.nose, stride, scratch.queue, np.int64(0), wanted, nose[0], nose[1])
    flood(scratch.nose, stride, scratch.queue, length, left_over)
    dx, dy = end_x - x, end_y - y
    away = math.sqrt(dx * dx + dy * dy)
    due = np.int32(0)
    if not leaves and away <= p.goal_leniency_distance:
        sine, cosine = sincos(scene.pose[n, 2])
        u, v, corners_x, corners_y = end_x - origin_x, end_y - origin_y, scene.footprint_x[n], scene.footprint_y[n]
        due = max(footprint_cost(cost, corners_x, corners_y, ONE, u, v, sine, cosine, inverse), due)
        column, row = cell_of(u, v, inverse, cost)
        due = np.int32(cost[row, column]) if p.centre and column >= 0 else due
    return True, away > p.forward_point_distance, np.float32(due)


@hidden
def _largest_magnitude(samples, count):
    """Return the maximum magnitude of the samples of an axis."""
    return max(abs(samples[0]), abs(samples[count - 1]))


@hidden
def _sample(samples, counts, i, curvature):
    """Return sample number ``i``: x varies slowest and rotation fastest; with a nonzero ``curvature``, rotation follows from the
    speed.
    """
    x, y, turn = samples[0, i // (counts[1] * counts[2])], samples[1, (i // counts[2]) % counts[1]], samples[2, i % counts[2]]
    return x, y, turn if curvature == ZERO else x * curvature


@spliced
def _score_on_grids(p, scene, n, time, oscillation, scratch, counts, limits, acceleration, align, gains, curvature):
    """Write the scores of all samples, without the obstacle cost; -1 for discarded samples."""
    max_trans, max_theta = limits
    min_trans, min_theta = min(p.min_vel_trans, max_trans), min(p.min_vel_theta, max_theta)
    top, turn = _largest_magnitude(scratch.samples[0], counts[0]), _largest_magnitude(scratch.samples[2], counts[2])
    turn = max(turn, abs(curvature) * top)
    top += _largest_magnitude(scratch.samples[1], counts[1])
    if p.patient_start or (top + _EPSILON < min_trans and turn + _EPSILON < min_theta):
        min_trans, min_theta = min(min_trans, top), min(min_theta, turn)
    x, y = scene.pose[n, 0] - scene.origin[n, 0], scene.pose[n, 1] - scene.origin[n, 1]
    now = (scene.twist[n, 0], scene.twist[n, 1], scene.twist[n, 2])
    for i in range(counts[0] * counts[1] * counts[2]):
        scratch.scores[i] = DISCARDED
        sample = _sample(scratch.samples, counts, i, curvature)
        speed = math.sqrt(sample[0] * sample[0] + sample[1] * sample[1])
        if speed + _EPSILON < min_trans and abs(sample[2]) + _EPSILON < min_theta:
            continue
        if speed - _EPSILON > max_trans or abs(sample[2]) - _EPSILON > max_theta:
            continue
        if abs(sample[2]) * scene.turning_radius[n] > abs(sample[0]) + _EPSILON:
            continue
        count, command = roll_out(p, time, x, y, scene.pose[n, 2], now, sample, acceleration, gains, scratch.points)
        if count > 0 and not forbids(oscillation, command):
            twirl = p.twirling_scale * abs(command[2])
            scratch.scores[i] = grid_cost(p, scratch.points, count, scene.cost[n], scene.inverse, scratch, align, twirl)


@spliced
def _choose(p, scene, n, time, scratch, counts, max_trans, acceleration, due, gains, scale, curvature):
    """Return the sample with the lowest score including the obstacle cost (the first one in a tie), and that score; the score is -1
    if all samples are discarded.

    Only the part of the obstacle cost above ``due`` counts, and it is multiplied by ``scale``. Obstacles can only increase a score,
    so samples are tested in the order of their scores until no remaining sample can be better.
    """
    x, y = scene.pose[n, 0] - scene.origin[n, 0], scene.pose[n, 1] - scene.origin[n, 1]
    now = (scene.twist[n, 0], scene.twist[n, 1], scene.twist[n, 2])
    best, chosen, number = DISCARDED, (ZERO, ZERO, ZERO), -1
    while True:
        least = least_of(scratch.scores, counts[0] * counts[1] * counts[2])
        if least < 0 or (best >= ZERO and scratch.scores[least] > best):
            return chosen, best
        score = scratch.scores[least]
        scratch.scores[least] = DISCARDED
        sample = _sample(scratch.samples, counts, least, curvature)
        count, command = roll_out(p, time, x, y, scene.pose[n, 2], now, sample, acceleration, gains, scratch.points)
        driven = math.sqrt(command[0] * command[0] + command[1] * command[1])
        grown = scale_of(driven, p.scaling_speed, max_trans, p.max_scaling_factor)
        corners_x, corners_y = scene.footprint_x[n], scene.footprint_y[n]
        worst = obstacle_cost(scratch.points, count, scene.cost[n], scene.inverse, corners_x, corners_y, grown, p.centre)
        score += scale * max(worst - due, ZERO)
        if worst >= ZERO and (best < ZERO or score < best or (score == best and least < number)):
            best, chosen, number = score, command, least


@spliced
def _choose_either_side(p, scene, n, time, oscillation, scratch, counts, limits, acceleration, align, due, gains, scale, curvature):
    """Return the command and score from `_choose`; if no sample is valid and a ``curvature`` is given, try the opposite
    curvature.
    """
    command, best = (ZERO, ZERO, ZERO), DISCARDED
    for side in range(2):
        if best < ZERO and (side == 0 or curvature != ZERO):
            curve = curvature if side == 0 else -curvature
            _score_on_grids(p, scene, n, time, oscillation, scratch, counts, limits, acceleration, align, gains, curve)
            command, best = _choose(p, scene, n, time, scratch, counts, limits[0], acceleration, due, gains, scale, curve)
    return command, best


@spliced
def _waits(p, scene, n, time, scratch, acceleration, gains):
    """Return whether a robot without valid samples should wait: no path leads to the local goal, and no obstacle is close ahead."""
    x, y, cost = scene.pose[n, 0] - scene.origin[n, 0], scene.pose[n, 1] - scene.origin[n, 1], scene.cost[n]
    column, row = cell_of(x, y, scene.inverse, cost)
    if scratch.goal[(row + 1) * (cost.shape[1] + 2) + 1 + column] >= 0:
        return False
    return _roll_out_sample(p, scene, n, time, scratch, (p.escape_gap / time, ZERO, ZERO), acceleration, gains)[1]


@hidden
def _gets_away(scene, n, points, count):
    """Return whether a roll-out of ``count`` poses moves the footprint away from an obstacle that it touches or is close to."""
    cost, inverse, corners_x, corners_y = scene.cost[n], scene.inverse, scene.footprint_x[n], scene.footprint_y[n]
    close = False
    for i in (0, count - 1):
        x, y = points[i, 0], points[i, 1]
        column, row = cell_of(x, y, inverse, cost)
        meets = footprint_cost(cost, corners_x, corners_y, ONE, x, y, points[i, 2], points[i, 3], inverse) < 0
        was, close = close, meets or cost[row, column] >= _INSCRIBED
    return was and not close


@spliced
def _backs_up(p, scene, n, time, recall, scratch, back, acceleration, gains):
    """Return whether the robot should continue to back up, because it has not moved far enough yet, and either the space behind it
    is free or backing up takes it away from the obstacle.
    """
    dx, dy = scene.pose[n, 0] - recall.escape[n, 0], scene.pose[n, 1] - recall.escape[n, 1]
    if dx * dx + dy * dy > p.escape_reset_dist * p.escape_reset_dist:
        return False
    count, free = _roll_out_sample(p, scene, n, time, scratch, back, acceleration, gains)
    return free or _gets_away(scene, n, scratch.points, count)


@lean_kernel
def plan(p, scene, horizon, recall, scratch, twists, reasons, first, last):
    """Write the twists and the reasons for the rows ``first <= n < last``.

    Args:
        p: `agora.planners.local.dwa._planner.Parameters`.
        scene: `Scene`.
        horizon: (N,) length of the roll-outs, s.
        recall: `Recall`, changed in place.
        scratch: `Scratch` of this thread.
        twists: out, (N, 3) twists, m/s and rad/s.
        reasons: out, (N,) int8 values of `agora.core.recording.Reason`.
        first: first row.
        last: one past the last row.
    """
    for n in range(first, last):
        twists[n, 0], twists[n, 1], twists[n, 2], reasons[n] = ZERO, ZERO, ZERO, NO_PATH
        pose, now, time = scene.pose[n], scene.twist[n], horizon[n]
        oscillation, latch, mark, count = recall.oscillation[n], recall.latch[n], recall.plan[n], scene.path_count[n]
        # A new path clears the oscillation flags, the goal latch and the progress.
        if is_another(mark, scene.path[n], count):
            oscillation[:], latch[:], recall.progress[n, :], recall.escaping[n] = 0, False, 0, False
        low_x, high_x = max(p.min_vel_x, scene.min_x[n]), min(p.max_vel_x, scene.max_x[n])
        high_y, max_theta = min(p.max_vel_y, scene.max_y[n]), min(p.max_vel_theta, scene.max_theta[n])
        diagonal = math.sqrt(max(high_x, -low_x) * max(high_x, -low_x) + high_y * high_y)
        max_trans = min(p.max_vel_trans, diagonal, max(scene.max_x[n], scene.max_y[n]))
        acceleration = min(p.acc_lim_x, scene.acc_x[n]), min(p.acc_lim_y, scene.acc_y[n]), min(p.acc_lim_theta, scene.acc_theta[n])
        # A sample must be reachable within the time `reached`: one period, or longer for a robot that accelerates slowly.
        reached = p.period if p.use_dwa else time
        if p.patient_start:
            reached = max(reached, min(time, max(p.min_vel_trans / acceleration[0], p.min_vel_theta / acceleration[2])))
        gains = not p.use_dwa or reached > p.period
        dx, dy = scene.goal[n, 0] - pose[0], scene.goal[n, 1] - pose[1]
        away = math.sqrt(dx * dx + dy * dy)
        if count <= 0 or cell_of(pose[0] - scene.origin[n, 0], pose[1] - scene.origin[n, 1], scene.inverse, scene.cost[n])[0] < 0:
            continue
        # Within the goal tolerance: stop, then turn in place; the latch keeps the robot in this state until the path
        # changes.
        if latch[0] or away <= p.xy_goal_tolerance:
            latch[0] = True
            oscillation[:] = 0
            command = stop_and_turn(p, scene, n, latch, max_theta, acceleration)
            reasons[n] = BLOCKED
            if _roll_out_sample(p, scene, n, time, scratch, command, acceleration, gains)[1]:
                twists[n, 0], twists[n, 1], twists[n, 2], reasons[n] = command[0], command[1], command[2], GOES_ON
            continue
        curvature, slow = curvature_to_path(scene, n, p.forward_point_distance), max(p.escape_vel, scene.min_x[n])
        back = (slow, ZERO, -slow * curvature)
        # An escape in progress continues before any sample is considered, so that the robot does not alternate between driving and
        # backing up.
        if recall.escaping[n]:
            recall.escaping[n] = _backs_up(p, scene, n, time, recall, scratch, back, acceleration, gains)
            if recall.escaping[n]:
                twists[n, 0], reasons[n] = step_towards(back[0], now[0], acceleration[0] * p.period), _ESCAPING
                twists[n, 2] = back[2]
                continue
        # If roll-outs accelerate instead of using a dynamic window, limit the speed so that the roll-out ends at the goal.
        if not p.use_dwa:
            high_x, high_y = max(min(high_x, away / time), low_x), min(high_y, away / time)
        x, y, theta = scratch.samples[0], scratch.samples[1], scratch.samples[2]
        turns = fill_samples(now[2], acceleration[2] * reached, -max_theta, max_theta, p.vth_samples, theta)
        counts = (
            fill_samples(now[0], acceleration[0] * reached, low_x, high_x, p.vx_samples, x),
            fill_samples(now[1], acceleration[1] * reached, -high_y, high_y, p.vy_samples, y),
            1 if curvature != ZERO else turns,
        )
        fastest = _largest_magnitude(x, counts[0]) + _largest_magnitude(y, counts[1])
        fastest = min(fastest, max_trans + _EPSILON) if p.use_dwa else max(fastest, math.sqrt(now[0] * now[0] + now[1] * now[1]))
        reach = np.int32(np.ceil((fastest * time + p.forward_point_distance) * scene.inverse)) + 1
        found, align, due = _prepare(p, scene, n, recall.progress[n], scratch, reach)
        if not found:
            continue
        limits = (max_trans, max_theta)
        # Scale the obstacle cost by the length of the roll-outs, because path and goal costs grow with it.
        scale = p.occdist_scale * (fastest * time / p.occdist_length if p.occdist_length > ZERO else ONE)
        command, best = _choose_either_side(
            p, scene, n, time, oscillation, scratch, counts, limits, acceleration, align, due, gains, scale, curvature
        )
        reasons[n] = GOES_ON if best >= ZERO else reason_without_samples(scene, n)
        # No sample is valid: wait for people to clear the way, or back up.
        waits = best < ZERO and _waits(p, scene, n, time, scratch, acceleration, gains)
        if best < ZERO and slow < ZERO and x[counts[0] - 1] > ZERO and not waits:
            recall.escape[n, 0], recall.escape[n, 1], oscillation[:] = pose[0], pose[1], 0
            recall.escaping[n] = _backs_up(p, scene, n, time, recall, scratch, back, acceleration, gains)
            if recall.escaping[n]:
                twists[n, 0], reasons[n] = step_towards(back[0], now[0], acceleration[0] * p.period), _ESCAPING
                twists[n, 2] = back[2]
        if best >= ZERO:
            twists[n, 0], twists[n, 1], twists[n, 2] = command
            if command[0] >= ZERO or low_x < ZERO:  # otherwise the robot is still braking from backing up
                resets = p.oscillation_reset_dist, p.oscillation_reset_angle
                remember(oscillation, recall.anchor[n], pose, command, p.min_vel_trans, *resets)
