"""The costs of a robot's band together with the bands of two people: the coupling between them, and the joint normal equations.

The poses of different bands are paired by index, as in upstream. The unknowns are ordered by pose; for each pose, the robot's
unknowns come first, followed by those of the people. The normal matrix therefore has few diagonals: 10 for the robot alone, 18 with
one person, 26 with two people. An unknown that is fixed, or is beyond the end of a band, has the index -1.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from agora.core.jit import hidden, lean
from agora.core.scalar import ONE, ZERO
from agora.core.state import Floats, Ints
from agora.planners._bands import edges as teb_edges
from agora.planners._bands import shape as shapes
from agora.planners._bands.costs import WIDTH, SolverMemory, cost, linearise, measure
from agora.planners.local.cohan import _edges as edges

BANDS = 3
WIDEST = 26
_SIZE = 10


class Social(NamedTuple):
    """Weights and thresholds for costs between bands: the fields of `Cohan` with these names, and the cosine of half the field of
    view.
    """

    agent_robot_safety: np.float32
    agent_agent_safety: np.float32
    agent_robot_rel_vel: np.float32
    agent_robot_visibility: np.float32
    nominal_agent_vel_x: np.float32
    invisible_human: np.float32
    epsilon: np.float32
    min_agent_robot_dist: np.float32
    min_agent_agent_dist: np.float32
    rel_vel_cost_threshold: np.float32
    visibility_cost_threshold: np.float32
    invisible_human_threshold: np.float32
    sight: np.float32
    agent_radius: np.float32


class Crowd(NamedTuple):
    """The bands of a robot and of up to two people, and working memory; the first axis of most arrays is the band.

    Attributes:
        bands: (3, M, 4) poses of the bands.
        trial: (3, M, 4) trial bands.
        counts: (3,) number of poses of each band.
        nominal: (3,) usual speeds of the people, m/s; the robot's entry is not used.
        hidden: (H, 2) positions from which people may step out, relative to the robot, m; the first ``hiding`` entries are valid.
        hiding: (1,) number of valid entries of ``hidden``.
        trig: (3, M, 2) as in `agora.planners._bands.costs.SolverMemory`.
        steps: (3, M, 12) as in `agora.planners._bands.costs.SolverMemory`.
        matrix: (3, 4 M, 11) lower bands of the bands' separate normal matrices.
        side: (3, 4 M) right-hand sides of the bands' separate normal equations.
        joint: (12 M, 27) lower band of the joint normal matrix.
        factor: (12 M, 27) lower band of its factor.
        right: (12 M,) right-hand side of the joint normal equations.
        change: (12 M,) change of all bands.
        row: (27,) derivatives of a residual.
        unknowns: (10,) indices of a residual's unknowns.
    """

    bands: Floats
    trial: Floats
    counts: Ints
    nominal: Floats
    hidden: Floats
    hiding: Ints
    trig: Floats
    steps: Floats
    matrix: Floats
    side: Floats
    joint: Floats
    factor: Floats
    right: Floats
    change: Floats
    row: Floats
    unknowns: Ints


@hidden
def memory_of(crowd, b):
    """Return the part of the working memory that is used for the costs of band ``b`` alone."""
    c = crowd
    return SolverMemory(c.trig[b], c.steps[b], c.matrix[b], c.factor, c.side[b], c.change, c.row, c.trial[b])


@hidden
def unknown_number(crowd, many, b, i, k):
    """Return the index of an unknown of pose ``i`` of a band, or -1; ``k`` is 0 for x, 1 for y, 2 for the heading and 3 for the
    time.
    """
    last = crowd.counts[b] - 1
    if i >= last or (k < 3 and i < 1):
        return -1
    return 4 * many * i + 4 * b + k


@hidden
def _join(crowd, width, size, weight, error):
    """Add a residual to the normal equations; the residual's ``size`` derivatives and unknowns are in ``row`` and ``unknowns``."""
    for a in range(size):
        at = crowd.unknowns[a]
        scaled = weight * crowd.row[a]
        if at < 0 or scaled == ZERO:
            continue
        crowd.right[at] -= scaled * error
        for b in range(size):
            to = crowd.unknowns[b]
            if 0 <= to <= at:
                crowd.joint[at, width + to - at] += scaled * crowd.row[b]


@hidden
def _point(crowd, many, b, i, at):
    """Write the indices of x and y of pose ``i`` of a band to the entries ``at`` and ``at + 1`` of ``crowd.unknowns``."""
    crowd.unknowns[at], crowd.unknowns[at + 1] = unknown_number(crowd, many, b, i, 0), unknown_number(crowd, many, b, i, 1)


@hidden
def _pair_cost(crowd, bands, many, width, b, i, s, shape, near, writes):
    """Return the costs between the robot and person ``b`` at pose ``i``: the visibility cost and, if ``near`` is true, the safety
    cost.
    """
    robot, person, trig, total = bands[0, i], bands[b, i], crowd.trig, ZERO
    if near:
        far, by_x, by_y, by_heading = shapes.gap(
            shape, robot[0], robot[1], trig[0, i, 0], trig[0, i, 1], person[0], person[1], s.agent_radius
        )
        e, slope = edges.safety(far, s.min_agent_robot_dist + s.epsilon)
        total += s.agent_robot_safety * e * e
        if writes and slope != ZERO:
            crowd.row[0], crowd.row[1], crowd.row[2] = slope * by_x, slope * by_y, slope * by_heading
            crowd.row[3], crowd.row[4] = -slope * by_x, -slope * by_y
            _point(crowd, many, 0, i, 0)
            crowd.unknowns[2] = unknown_number(crowd, many, 0, i, 2)
            _point(crowd, many, b, i, 3)
            _join(crowd, width, 5, s.agent_robot_safety, e)
    value, by_x, by_y = edges.unseen_cost(robot, person, s.sight)
    e, slope = edges.excess(value, s.visibility_cost_threshold - s.epsilon)
    total += s.agent_robot_visibility * e * e
    if writes and slope != ZERO:
        crowd.row[0], crowd.row[1], crowd.row[2], crowd.row[3] = by_x, by_y, -by_x, -by_y
        _point(crowd, many, 0, i, 0)
        _point(crowd, many, b, i, 2)
        _join(crowd, width, 4, s.agent_robot_visibility, e)
    return total


@hidden
def _relative_velocity_cost(crowd, bands, many, width, b, i, s, writes):
    """Return the cost of the relative velocity between the robot and person ``b`` during the steps that start at pose ``i``."""
    robot, person = bands[0], bands[b]
    value = edges.closing_cost(robot[i], robot[i + 1], robot[i, 3], person[i], person[i + 1], person[i, 3], crowd.row)
    e, slope = edges.excess(value, s.rel_vel_cost_threshold - s.epsilon)
    if writes and slope != ZERO:
        _point(crowd, many, 0, i, 0)
        crowd.unknowns[2] = unknown_number(crowd, many, 0, i, 3)
        _point(crowd, many, 0, i + 1, 3)
        _point(crowd, many, b, i, 5)
        crowd.unknowns[7] = unknown_number(crowd, many, b, i, 3)
        _point(crowd, many, b, i + 1, 8)
        _join(crowd, width, _SIZE, s.agent_robot_rel_vel, e)
    return s.agent_robot_rel_vel * e * e


@hidden
def _usual_speed_cost(crowd, many, width, b, i, s, writes):
    """Return the cost of the deviation of a person's speed from the person's usual speed, in the step that starts at pose ``i``."""
    step = crowd.steps[b, i]
    e = step[0] - crowd.nominal[b]
    if writes:
        row = crowd.row
        row[0], row[1], row[2], row[3], row[4], row[5] = -step[1], -step[2], step[3], step[4], step[1], step[2]
        _point(crowd, many, b, i, 0)
        crowd.unknowns[2], crowd.unknowns[3] = unknown_number(crowd, many, b, i, 2), unknown_number(crowd, many, b, i, 3)
        _point(crowd, many, b, i + 1, 4)
        _join(crowd, width, 6, s.nominal_agent_vel_x, e)
    return s.nominal_agent_vel_x * e * e


@hidden
def _people_distance_cost(crowd, bands, many, width, i, s, writes):
    """Return the cost of the distance between the two people at pose ``i``.

    Upstream computes a weight for this cost, but then uses 1.
    """
    x, y = bands[1, i, 0] - bands[2, i, 0], bands[1, i, 1] - bands[2, i, 1]
    far, by_x, by_y = teb_edges.length(x, y)
    e, slope = edges.safety(far - s.agent_radius - s.agent_radius, s.min_agent_agent_dist + s.epsilon)
    if writes and slope != ZERO:
        crowd.row[0], crowd.row[1], crowd.row[2], crowd.row[3] = slope * by_x, slope * by_y, -slope * by_x, -slope * by_y
        _point(crowd, many, 1, i, 0)
        _point(crowd, many, 2, i, 2)
        _join(crowd, width, 4, s.agent_agent_safety, e)
    return s.agent_agent_safety * e * e


@hidden
def _emerging_cost(crowd, bands, many, width, i, time, s, shape, writes):
    """Return the cost of people that may step out when the robot is at pose ``i``."""
    robot, after, total = bands[0, i], bands[0, i + 1], ZERO
    dx, dy, dt, trig = after[0] - robot[0], after[1] - robot[1], robot[3], crowd.trig
    long, long_x, long_y = teb_edges.length(dx, dy)
    for h in range(crowd.hiding[0]):
        x, y = crowd.hidden[h, 0], crowd.hidden[h, 1]
        far, by_x, by_y, by_heading = shapes.gap(shape, robot[0], robot[1], trig[0, i, 0], trig[0, i, 1], x, y, s.agent_radius)
        if far <= ZERO:
            continue
        value, by_far, by_speed = edges.meeting_time(far, long / dt, time)
        e, slope = teb_edges.shortfall(value, s.invisible_human_threshold + s.epsilon)
        total += s.invisible_human * e * e
        if writes and slope != ZERO:
            row = crowd.row
            row[0] = slope * (by_far * by_x - by_speed * long_x / dt)
            row[1] = slope * (by_far * by_y - by_speed * long_y / dt)
            row[2], row[3] = slope * by_far * by_heading, -slope * by_speed * long / (dt * dt)
            row[4], row[5] = slope * by_speed * long_x / dt, slope * by_speed * long_y / dt
            _point(crowd, many, 0, i, 0)
            crowd.unknowns[2], crowd.unknowns[3] = unknown_number(crowd, many, 0, i, 2), unknown_number(crowd, many, 0, i, 3)
            _point(crowd, many, 0, i + 1, 4)
            _join(crowd, width, 6, s.invisible_human, e)
    return total


@lean
def costs_between(crowd, bands, many, s, shape, near, writes):
    """Return the costs between ``many`` bands; if ``writes`` is true, add them to the normal equations.

    Args:
        crowd: `Crowd` whose bands have been measured.
        bands: the crowd's bands or trial bands.
        many: number of bands.
        s: `Social`.
        shape: the robot's shape.
        near: whether a person is close enough for the safety cost.
        writes: whether to add the costs to the normal equations.
    """
    total, width = ZERO, 8 * many + 2
    for b in range(1, many):
        both = min(crowd.counts[0], crowd.counts[b])
        for i in range(both):
            total += _pair_cost(crowd, bands, many, width, b, i, s, shape, near, writes)
            if i < both - 1:
                total += _relative_velocity_cost(crowd, bands, many, width, b, i, s, writes)
        for i in range(crowd.counts[b] - 1):
            total += _usual_speed_cost(crowd, many, width, b, i, s, writes)
    if many > 2:
        for i in range(min(crowd.counts[1], crowd.counts[2])):
            total += _people_distance_cost(crowd, bands, many, width, i, s, writes)
    time = bands[0, 0, 3]
    for i in range(1, crowd.counts[0] - 1 if crowd.hiding[0] > 0 else 0):
        total += _emerging_cost(crowd, bands, many, width, i, time, s, shape, writes)
        time += bands[0, i, 3]
    return total


@lean
def measure_bands(crowd, bands, many, bounds):
    """Compute the cosines, sines and steps of ``many`` bands."""
    for b in range(many):
        measure(bands[b], crowd.counts[b], bounds[b], memory_of(crowd, b))


@lean
def cost_of(crowd, bands, many, weights, bounds, shape, nears, more, s, near):
    """Return the total cost of all measured bands: their own costs plus the costs between them."""
    total = costs_between(crowd, bands, many, s, shape[0], near, False)
    for b in range(many):
        own, discs = cost(bands[b], crowd.counts[b], weights[b], bounds[b], shape[b], nears[b], more, memory_of(crowd, b))
        total += own + discs
    return total


@lean
def write_normal_equations(crowd, many, weights, bounds, shape, nears, more, s, near):
    """Write the normal equations of all measured bands; return the number of unknowns, including fixed ones."""
    width, longest = 8 * many + 2, 0
    for b in range(many):
        longest = max(longest, crowd.counts[b])
    size = 4 * many * (longest - 1)
    for r in range(size):
        for k in range(width + 1):
            crowd.joint[r, k] = ZERO
        crowd.right[r] = ZERO
    for b in range(many):
        linearise(crowd.bands[b], crowd.counts[b], weights[b], bounds[b], shape[b], nears[b], more, memory_of(crowd, b))
        for r in range(4 * (crowd.counts[b] - 1)):
            at = unknown_number(crowd, many, b, r // 4, r % 4)
            if at < 0:
                continue
            crowd.right[at] += crowd.side[b, r]
            for k in range(min(r, WIDTH) + 1):
                to = unknown_number(crowd, many, b, (r - k) // 4, (r - k) % 4)
                if to >= 0:
                    crowd.joint[at, width + to - at] += crowd.matrix[b, r, WIDTH - k]
    costs_between(crowd, crowd.bands, many, s, shape[0], near, True)
    for b in range(many):
        for i in range(longest - 1):
            for k in range(4):
                if unknown_number(crowd, many, b, i, k) < 0:
                    crowd.joint[4 * many * i + 4 * b + k, width] = ONE
    return size


@hidden
def distance(bands, b):
    """Return the distance between person ``b`` and the robot at their first poses."""
    dx, dy = bands[b, 0, 0] - bands[0, 0, 0], bands[b, 0, 1] - bands[0, 0, 1]
    return math.sqrt(dx * dx + dy * dy)
