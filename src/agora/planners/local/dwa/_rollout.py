"""Samples of the dynamic window approach, their roll-outs and scores; computed in float32, without allocation."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from agora.core.jit import hidden
from agora.core.path import point_ahead
from agora.core.scalar import ONE, ZERO, sincos
from agora.core.state import Array, Bools, Floats, Ints
from agora.planners._rollouts.grids import WALL, cell_of, distance_at
from agora.planners._rollouts.poses import DISCARDED, step_towards, write_poses

_SNAP = np.float32(1e-6)
SPACING = np.float32(0.1)  # m/s


class Recall(NamedTuple):
    """The memory of the rows; all values are zero at the start of an episode.

    Attributes:
        oscillation: (N, 3, 2) for x, y and rotation: the sign of the last motion, and the only sign allowed (0: both).
        anchor: (N, 3) pose at which a sign was last forbidden.
        latch: (N, 2) whether the goal's position has been reached; whether the robot is turning to the goal's heading.
        plan: (N, 3) first point of the path, and the number of points; a different path resets the progress.
        progress: (N, 2) segment and piece at which the rest of the path starts.
        escaping: (N,) whether the robot is backing up.
        escape: (N, 2) position where backing up began, m.
    """

    oscillation: Array
    anchor: Floats
    latch: Bools
    plan: Floats
    progress: Ints
    escaping: Bools
    escape: Floats


class Scratch(NamedTuple):
    """Working memory of one thread: three grids, the queue, the samples of each axis, their scores, and one roll-out (x, y, sine,
    cosine).
    """

    path: Ints
    goal: Ints
    nose: Ints
    queue: Ints
    samples: Floats
    scores: Floats
    points: Floats


@hidden
def sample_count(width):
    """Return the number of samples with a spacing of 0.1 m/s over a range of ``width`` m/s."""
    return np.int64(np.ceil(width / SPACING - _SNAP)) + 1


@hidden
def fill_samples(now, change, least, most, count, out):
    """Write ``count`` evenly spaced samples from ``now`` +- ``change`` within limits, plus zero if it lies between two samples;
    return the number of samples.

    A ``count`` of 0 stands for the number from `sample_count`.
    """
    low, high = min(max(now - change, least), most), max(min(now + change, most), least)
    if low >= high:
        out[0] = high
        return 1
    pieces = max(count if count > 0 else sample_count(high - low), 2) - 1
    k = 0
    for j in range(pieces + 1):
        value = high if j == pieces else low + np.float32(j) * (high - low) / np.float32(pieces)
        value = ZERO if abs(value) < _SNAP else value
        if j > 0 and value > ZERO and out[k - 1] < ZERO:
            out[k] = ZERO
            k += 1
        out[k] = value
        k += 1
    return k


@hidden
def scale_of(speed, scaling_speed, max_trans, factor):
    """Return the factor by which the footprint grows with speed: 1 up to ``scaling_speed``, then up to 1 + ``factor`` at the
    maximum speed.
    """
    if speed <= scaling_speed or max_trans <= scaling_speed:
        return ONE
    return ONE + factor * (speed - scaling_speed) / (max_trans - scaling_speed)


@hidden
def roll_out(p, time, x, y, heading, now, sample, acceleration, gains, points):
    """Write the poses of one sample; the first is the current pose, and the last is one step before ``time``, in seconds.

    With ``gains``, the robot accelerates from its current twist to the sampled twist; otherwise it drives the sampled twist from
    the start.

    Returns:
        The number of poses (0: the robot would not move), and the twist to command.
    """
    speed = math.sqrt(sample[0] * sample[0] + sample[1] * sample[1])
    count = np.int64(np.ceil(max(speed * time / p.sim_granularity, abs(sample[2]) * time / p.angular_sim_granularity)))
    count = min(count, points.shape[0])
    if count == 0:
        return count, sample
    dt = time / np.float32(count)
    command = sample
    if gains:
        step = max(dt, p.period) if p.use_dwa else dt
        command = (
            step_towards(sample[0], now[0], acceleration[0] * step),
            step_towards(sample[1], now[1], acceleration[1] * step),
            step_towards(sample[2], now[2], acceleration[2] * step),
        )
    write_poses(x, y, heading, command, sample, acceleration, dt, count, points)
    return count, command


@hidden
def grid_cost(p, points, count, cost, inverse, scratch, align, twirl):
    """Return the score of a roll-out without the obstacle cost; -1 if it is discarded.

    The path and goal critics discard a roll-out whose centre enters an obstacle or a cell without a path to the goal; all four
    critics discard a roll-out that leaves the window. The score is the last pose's score.
    """
    column, row = np.int32(0), np.int32(0)
    nose_column, nose_row = np.int32(0), np.int32(0)
    stride, ahead = cost.shape[1] + 2, p.forward_point_distance
    for i in range(count):
        column, row = cell_of(points[i, 0], points[i, 1], inverse, cost)
        nose_x, nose_y = points[i, 0] + ahead * points[i, 3], points[i, 1] + ahead * points[i, 2]
        nose_column, nose_row = cell_of(nose_x, nose_y, inverse, cost)
        if column < 0 or nose_column < 0:
            return DISCARDED
        k = (row + 1) * stride + 1 + column
        path, goal = scratch.path[k], scratch.goal[k]
        if path < 0 or goal < 0 or path == WALL or goal == WALL:
            return DISCARDED
    total = p.goal_scale * distance_at(scratch.nose, cost, nose_column, nose_row)
    total += p.path_scale * distance_at(scratch.path, cost, nose_column, nose_row) if align else ZERO
    total += p.path_scale * distance_at(scratch.path, cost, column, row)
    total += p.goal_scale * distance_at(scratch.goal, cost, column, row)
    return total + twirl


@hidden
def curvature_to_path(scene, n, lookahead):
    """Return the curvature, 1/m, of the tightest curve to the side where the path continues, for a robot that must turn round;
    otherwise 0.

    A robot with a turning radius must turn round if its path continues behind it. A short roll-out to either side does not bring
    the robot closer to the path, so based on the scores alone it would drive straight on.
    """
    if scene.turning_radius[n] <= ZERO:
        return ZERO
    x, y = scene.pose[n, 0], scene.pose[n, 1]
    _, px, py, _ = point_ahead(scene.path[n], scene.path_count[n], x, y, lookahead)
    sine, cosine = sincos(scene.pose[n, 2])
    ahead, aside = cosine * (px - x) + sine * (py - y), cosine * (py - y) - sine * (px - x)
    return math.copysign(ONE / scene.turning_radius[n], aside) if ahead < ZERO else ZERO
