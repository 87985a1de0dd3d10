"""The kernels of `agora.planners.local.trajectory_rollout`, computed row by row: samples, their scores, turns in place and the
escape.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from agora.core.jit import hidden, lean_kernel, spliced
from agora.core.recording import Reason
from agora.core.scalar import HALF, ONE, ZERO, sincos, wrap
from agora.core.state import Bools, Floats, Ints
from agora.costmap.inflation import NO_INFORMATION
from agora.planners._rollouts.grids import (
    WALL,
    cell_of,
    distance_at,
    flood,
    footprint_cost,
    open_footprint,
    prune_path,
    reset_grid,
    seed,
    trace,
)
from agora.planners._rollouts.poses import (
    BLOCKED,
    GOES_ON,
    NO_PATH,
    is_another,
    least_of,
    obstacle_cost,
    reason_without_samples,
    stop_and_turn,
    write_poses,
)

_HIT, _NO_WAY = np.float32(-1.0), np.float32(-2.0)
_FAR = np.float32(1e30)
ASIDE = np.float32(0.1)  # m/s, forward and sideways speed of the two diagonal motions
_EPSILON = np.float32(1e-4)
_STANDS = np.float32(1e-3)  # m/s
_UNKNOWN = np.uint8(NO_INFORMATION)
_ESCAPING = np.int8(Reason.ESCAPING)


class Recall(NamedTuple):
    """The memory of the rows; all values are zero at the start of an episode.

    Attributes:
        turned: (N, 2) whether the robot has turned right, and whether it has turned left, since it last moved away.
        only: (N, 2) whether only right turns, or only left turns, are allowed.
        strafed: (N, 2) whether the robot has moved sideways to the right, and whether it has moved sideways to the left, since it
            last moved away.
        only_strafe: (N, 2) whether only sideways motion to the right, or only to the left, is allowed.
        place: (N, 2) position of the last turn or sideways motion, m.
        escaping: (N,) whether the robot is backing up.
        escape: (N, 3) pose at which the escape began.
        latch: (N, 2) whether the goal's position has been reached; whether the robot is turning to the goal's heading.
        plan: (N, 3) first point of the path, and the number of points; a different path resets the progress.
        progress: (N, 2) segment and piece at which the rest of the path starts.
    """

    turned: Bools
    only: Bools
    strafed: Bools
    only_strafe: Bools
    place: Floats
    escaping: Bools
    escape: Floats
    latch: Bools
    plan: Floats
    progress: Ints


class Scratch(NamedTuple):
    """Working memory of one thread: two grids, a queue, footprint spans, samples and their scores, and poses (x, y, sine,
    cosine).
    """

    path: Ints
    goal: Ints
    queue: Ints
    west: Ints
    east: Ints
    samples: Floats
    scores: Floats
    points: Floats


@hidden
def roll_out(p, time, x, y, heading, now, sample, acceleration, points):
    """Write the poses of one sample, starting at the current pose; return the number of poses."""
    speed = math.sqrt(sample[0] * sample[0] + sample[1] * sample[1])
    steps = np.int64(max(speed * time / p.sim_granularity, abs(sample[2]) / p.angular_sim_granularity) + HALF)
    count = min(max(steps, 1), points.shape[0])
    write_poses(x, y, heading, now, sample, acceleration, time / np.float32(count), count, points)
    return count


@spliced
def _grid_cost(p, points, count, cost, inverse, scratch):
    """Return the path and goal terms of a roll-out's cost, evaluated at its last pose.

    Returns:
        The sum of these terms, or why the roll-out is discarded; the number of poses up to the end or up to the pose that causes
        this.
    """
    stride = cost.shape[1] + 2
    path, goal = np.int32(0), np.int32(0)
    for i in range(count):
        column, row = cell_of(points[i, 0], points[i, 1], inverse, cost)
        if column < 0:
            return _HIT, i
        k = (row + 1) * stride + 1 + column
        path, goal = scratch.path[k], scratch.goal[k]
        if path < 0 or goal < 0 or path == WALL or goal == WALL:
            return _NO_WAY, i + 1
    return p.path_scale * np.float32(path) + p.goal_scale * np.float32(goal), count


@hidden
def _score(p, scene, n, time, scratch, sample, acceleration):
    """Return the score of one sample without the obstacle cost, or why the sample is discarded: `_HIT` or `_NO_WAY`, whichever
    occurs first.

    Returns:
        The score, and the number of poses up to that point; the poses are in ``scratch.points``.
    """
    x, y = scene.pose[n, 0] - scene.origin[n, 0], scene.pose[n, 1] - scene.origin[n, 1]
    now = (scene.twist[n, 0], scene.twist[n, 1], scene.twist[n, 2])
    count = roll_out(p, time, x, y, scene.pose[n, 2], now, sample, acceleration, scratch.points)
    return _grid_cost(p, scratch.points, count, scene.cost[n], scene.inverse, scratch)


@hidden
def _score_with_obstacles(p, scene, n, scratch, score, count, scale):
    """Return the score from `_score` plus ``scale`` times the sample's obstacle cost; `_HIT` if the footprint meets an obstacle."""
    corners_x, corners_y = scene.footprint_x[n], scene.footprint_y[n]
    worst = obstacle_cost(scratch.points, count, scene.cost[n], scene.inverse, corners_x, corners_y, ONE, p.centre)
    return _HIT if worst < ZERO else (score + scale * worst if score >= ZERO else score)


@spliced
def _prepare(p, scene, n, progress, scratch, reach):
    """Run the waves from the local path and the local goal; return whether there is a path, and the distance from the robot to the
    path's end, m.
    """
    cost, inverse, path, points = scene.cost[n], scene.inverse, scene.path[n], scene.path_count[n]
    x, y, origin_x, origin_y = scene.pose[n, 0], scene.pose[n, 1], scene.origin[n, 0], scene.origin[n, 1]
    u, v = x - origin_x, y - origin_y
    column, row = cell_of(u, v, inverse, cost)
    stride = cost.shape[1] + 2
    if p.prune_plan:
        progress[0], progress[1] = prune_path(path, points, progress[0], progress[1], x, y, ONE / inverse)
    horizon = HALF * np.float32(max(cost.shape[0], cost.shape[1])) / inverse
    wanted = reset_grid(cost, column, row, reach, scratch.goal)
    for k in range(scratch.goal.size):
        scratch.path[k] = scratch.goal[k]
    sine, cosine = sincos(scene.pose[n, 2])
    corners_x, corners_y, west, east = scene.footprint_x[n], scene.footprint_y[n], scratch.west, scratch.east
    opened = open_footprint(scratch.path, cost, reach, column, row, corners_x, corners_y, u, v, sine, cosine, inverse, west, east)
    start, piece, queue = progress[0], progress[1], scratch.queue
    length, left_over, goal, end_x, end_y, _ = trace(
        path, points, start, piece, x, y, horizon, origin_x, origin_y, inverse, cost, scratch.path, queue, wanted + opened
    )
    if length == 0:
        return False, ZERO
    flood(scratch.path, stride, queue, length, left_over)
    length, left_over = seed(scratch.goal, stride, queue, np.int64(0), wanted, goal[0], goal[1])
    flood(scratch.goal, stride, queue, length, left_over)
    return True, math.sqrt((end_x - x) * (end_x - x) + (end_y - y) * (end_y - y))


@hidden
def _even_sample(low, high, count, i):
    """Return sample ``i`` of ``count`` evenly spaced samples from ``low`` to ``high``."""
    return low + np.float32(i) * (high - low) / np.float32(count - 1)


@spliced
def _try_curves(p, scene, n, time, scratch, acceleration, scale, slowest, fastest, rightmost, leftmost):
    """Try the forward curves; return the best curve and its score, which is `_HIT` if no curve is valid.

    Obstacles can only increase a score, so samples are tested in the order of their scores until no remaining sample can be better.
    """
    samples, scores = scratch.samples, scratch.scores
    count = np.int64(0)
    for i in range(p.vx_samples):
        for j in range(p.vtheta_samples):
            samples[count, 0], samples[count, 1] = _even_sample(slowest, fastest, p.vx_samples, i), ZERO
            samples[count, 2] = ZERO if j == 0 else _even_sample(rightmost, leftmost, p.vtheta_samples, j - 1)
            count += 1
    for side in range(2 if scene.max_y[n] >= ASIDE else 0):
        samples[count, 0], samples[count, 1], samples[count, 2] = ASIDE, ASIDE if side == 0 else -ASIDE, ZERO
        count += 1
    for i in range(count):
        sample = (samples[i, 0], samples[i, 1], samples[i, 2])
        scores[i] = _HIT
        if abs(sample[2]) * scene.turning_radius[n] <= abs(sample[0]) + _EPSILON:
            scores[i], _ = _score(p, scene, n, time, scratch, sample, acceleration)
    best, chosen, number = _HIT, (ZERO, ZERO, ZERO), -1
    while True:
        least = least_of(scores, count)
        if least < 0 or (best >= ZERO and scores[least] > best):
            return chosen, best
        scores[least] = _HIT
        sample = (samples[least, 0], samples[least, 1], samples[least, 2])
        score, poses = _score(p, scene, n, time, scratch, sample, acceleration)
        score = _score_with_obstacles(p, scene, n, scratch, score, poses, scale)
        if score >= ZERO and (best < ZERO or score < best or (score == best and least < number)):
            best, chosen, number = score, sample, least


@hidden
def _nose(p, scene, n, points, count):
    """Return the column and row of the nose at the end of a roll-out of ``count`` poses; the column is -1 outside the window."""
    x, y, sine, cosine = points[count - 1, 0], points[count - 1, 1], points[count - 1, 2], points[count - 1, 3]
    return cell_of(x + p.heading_lookahead * cosine, y + p.heading_lookahead * sine, scene.inverse, scene.cost[n])


@spliced
def _try_turns(p, scene, n, time, scratch, only, acceleration, scale, rightmost, leftmost, max_theta, chosen, best):
    """Try turns in place, preferring the turn that brings the nose nearest to the local goal; return the best sample so far and its
    score.
    """
    step = (leftmost - rightmost) / np.float32(p.vtheta_samples - 1)
    slowest = min(p.min_vel_theta, max_theta)
    nearest = _FAR
    for j in range(p.vtheta_samples):
        asked = _even_sample(rightmost, leftmost, p.vtheta_samples, j)
        if abs(asked) <= step or only[1 if asked < ZERO else 0]:
            continue
        sample = (ZERO, ZERO, max(asked, slowest) if asked > ZERO else min(asked, -slowest))
        score, count = _score(p, scene, n, time, scratch, sample, acceleration)
        if score < ZERO or (score > best and best >= ZERO and chosen[1] == ZERO):
            continue
        score = _score_with_obstacles(p, scene, n, scratch, score, count, scale)
        if score < ZERO or (score > best and best >= ZERO and chosen[1] == ZERO):
            continue
        column, row = _nose(p, scene, n, scratch.points, count)
        away = distance_at(scratch.goal, scene.cost[n], column, row) if column >= 0 else _FAR
        if away < nearest:
            nearest, best, chosen = away, score, sample
    return chosen, best


@spliced
def _try_strafes(p, scene, n, time, scratch, only, acceleration, scale):
    """Try sideways motion; return the best sample and its score, which is `_HIT` if no sample is valid."""
    best, chosen, nearest = _HIT, (ZERO, ZERO, ZERO), _FAR
    for j in range(p.y_vels.size if scene.max_y[n] > ZERO else 0):
        sample = (ZERO, min(max(p.y_vels[j], -scene.max_y[n]), scene.max_y[n]), ZERO)
        score, count = _score(p, scene, n, time, scratch, sample, acceleration)
        score = _score_with_obstacles(p, scene, n, scratch, score, count, scale)
        if score < ZERO or (best >= ZERO and score > best) or sample[1] == ZERO or only[0 if sample[1] > ZERO else 1]:
            continue
        column, row = _nose(p, scene, n, scratch.points, count)
        away = distance_at(scratch.goal, scene.cost[n], column, row) if column >= 0 else _FAR
        if away < nearest:
            nearest, best, chosen = away, score, sample
    return chosen, best


@hidden
def remember(recall, n, pose, command, reset_distance):
    """Record the side to which the robot turned or moved sideways; the record is kept until the robot has moved away.

    Turning twice to one side forbids turns to the other side; moving sideways and back forbids the side of the first motion.
    """
    if not command[0] > ZERO:
        recall.place[n, 0], recall.place[n, 1] = pose[0], pose[1]
        if command[2] != ZERO:
            side = 0 if command[2] < ZERO else 1
            recall.only[n, side] = recall.only[n, side] or recall.turned[n, side]
            recall.turned[n, side] = True
        elif command[1] != ZERO:
            side = 0 if command[1] < ZERO else 1
            recall.only_strafe[n, side] = recall.only_strafe[n, side] or recall.strafed[n, 1 - side]
            recall.strafed[n, side] = True
    forget(recall, n, pose, reset_distance)


@hidden
def forget(recall, n, pose, reset_distance):
    """Allow all turns again once the robot has moved away from where it turned."""
    dx, dy = pose[0] - recall.place[n, 0], pose[1] - recall.place[n, 1]
    if dx * dx + dy * dy > reset_distance * reset_distance:
        recall.turned[n, :], recall.only[n, :], recall.strafed[n, :], recall.only_strafe[n, :] = False, False, False, False


@hidden
def _ends_escape(p, recall, n, pose):
    """Allow forward curves again once the robot has backed up, or turned, far enough."""
    dx, dy, turned = pose[0] - recall.escape[n, 0], pose[1] - recall.escape[n, 1], abs(wrap(pose[2] - recall.escape[n, 2]))
    if dx * dx + dy * dy > p.escape_reset_dist * p.escape_reset_dist or turned > p.escape_reset_theta:
        recall.escaping[n] = False


@hidden
def _comes_free(scene, n, scratch, count):
    """Return whether a footprint that overlaps an obstacle gets free of it during a roll-out of ``count`` poses, without then
    meeting an obstacle again.
    """
    corners_x, corners_y = scene.footprint_x[n], scene.footprint_y[n]
    free = False
    for i in range(count):
        x, y, sine, cosine = scratch.points[i, 0], scratch.points[i, 1], scratch.points[i, 2], scratch.points[i, 3]
        was, free = free, footprint_cost(scene.cost[n], corners_x, corners_y, ONE, x, y, sine, cosine, scene.inverse) >= 0
        if free != was and (was or i == 0):
            return False
    return free


@spliced
def _drive(p, scene, n, time, recall, scratch, acceleration, low_x, high_x, max_theta):
    """Return the twist of the best sample, and a reason if the robot backs up or stops; the twist is zero if there is no path or no
    valid sample.
    """
    still = (ZERO, ZERO, ZERO)
    pose, now = scene.pose[n], scene.twist[n]
    reached = p.period if p.dwa else time
    swiftest = max(high_x, -p.escape_vel, abs(now[0]), math.sqrt(now[0] * now[0] + now[1] * now[1]), scene.max_y[n])
    reach = np.int32(np.ceil((swiftest * time + p.heading_lookahead) * scene.inverse)) + 1
    found, away = _prepare(p, scene, n, recall.progress[n], scratch, reach)
    if not found:
        return still, NO_PATH
    fastest = max(min(min(high_x, away / time), now[0] + acceleration[0] * reached), low_x)
    slowest = max(low_x, now[0] - acceleration[0] * reached)
    leftmost = min(max_theta, now[2] + acceleration[2] * reached)
    rightmost = max(-max_theta, now[2] - acceleration[2] * reached)
    scale = p.occdist_scale * (fastest * time / p.occdist_length if p.occdist_length > ZERO else ONE)
    best, chosen = _HIT, still
    # During an escape, only turns, sideways motion and backing up are tried until the robot has moved far enough.
    if not recall.escaping[n]:
        chosen, best = _try_curves(p, scene, n, time, scratch, acceleration, scale, slowest, fastest, rightmost, leftmost)
    if scene.turning_radius[n] == ZERO:
        only = recall.only[n]
        chosen, best = _try_turns(
            p, scene, n, time, scratch, only, acceleration, scale, rightmost, leftmost, max_theta, chosen, best
        )
    elif chosen[0] < _STANDS and now[0] < _STANDS:  # a stationary car would never get away by standing still
        best = _HIT
    if best < ZERO:
        chosen, best = _try_strafes(p, scene, n, time, scratch, recall.only_strafe[n], acceleration, scale)
    if best >= ZERO:
        remember(recall, n, pose, chosen, p.oscillation_reset_dist)
        _ends_escape(p, recall, n, pose)
        return chosen, GOES_ON
    # No sample is left: back up if this is allowed or frees the robot.
    back = (max(p.escape_vel, scene.min_x[n]), ZERO, ZERO)
    score, count = _score(p, scene, n, time, scratch, back, acceleration)
    score = _score_with_obstacles(p, scene, n, scratch, score, count, scale)
    forget(recall, n, pose, p.oscillation_reset_dist)
    may = score > _NO_WAY and (p.escape_blindly or score >= ZERO or _comes_free(scene, n, scratch, count))
    if not recall.escaping[n] and may:
        recall.escape[n, 0], recall.escape[n, 1], recall.escape[n, 2] = pose[0], pose[1], pose[2]
        recall.escaping[n] = True
    _ends_escape(p, recall, n, pose)
    if may and back[0] < ZERO:
        return back, _ESCAPING
    return still, reason_without_samples(scene, n)


@lean_kernel
def plan(p, scene, horizon, recall, scratch, twists, reasons, first, last):
    """Write the twists and the reasons for the rows ``first <= n < last``.

    Args:
        p: `agora.planners.local.trajectory_rollout._planner.Parameters`.
        scene: `agora.planners._rollouts.poses.Observed`.
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
        pose, latch, mark, count = scene.pose[n], recall.latch[n], recall.plan[n], scene.path_count[n]
        if is_another(mark, scene.path[n], count):
            latch[:], recall.progress[n, :] = False, 0
        column, row = cell_of(pose[0] - scene.origin[n, 0], pose[1] - scene.origin[n, 1], scene.inverse, scene.cost[n])
        if count <= 0:
            continue
        reasons[n] = BLOCKED
        if column < 0 or scene.cost[n, row, column] == _UNKNOWN:
            continue
        low_x, high_x = max(p.min_vel_x, scene.min_x[n]), min(p.max_vel_x, scene.max_x[n])
        low_x, max_theta = min(low_x, high_x), min(p.max_vel_theta, scene.max_theta[n])
        acceleration = min(p.acc_lim_x, scene.acc_x[n]), min(p.acc_lim_y, scene.acc_y[n]), min(p.acc_lim_theta, scene.acc_theta[n])
        dx, dy = scene.goal[n, 0] - pose[0], scene.goal[n, 1] - pose[1]
        if latch[0] or dx * dx + dy * dy <= p.xy_goal_tolerance * p.xy_goal_tolerance:
            latch[0] = p.latch_xy_goal_tolerance
            command = stop_and_turn(p, scene, n, latch, max_theta, acceleration)
            now = (scene.twist[n, 0], scene.twist[n, 1], scene.twist[n, 2])
            x, y = pose[0] - scene.origin[n, 0], pose[1] - scene.origin[n, 1]
            poses = roll_out(p, horizon[n], x, y, pose[2], now, command, acceleration, scratch.points)
            corners_x, corners_y = scene.footprint_x[n], scene.footprint_y[n]
            if obstacle_cost(scratch.points, poses, scene.cost[n], scene.inverse, corners_x, corners_y, ONE, False) < ZERO:
                continue
            reasons[n] = GOES_ON
        else:
            command, reasons[n] = _drive(p, scene, n, horizon[n], recall, scratch, acceleration, low_x, high_x, max_theta)
        twists[n, 0], twists[n, 1], twists[n, 2] = command
