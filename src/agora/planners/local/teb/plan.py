"""The timed elastic band planner, computed row by row: local path, discs, bands, choice, feasibility check, command.

Based on teb_local_planner (optimal_planner.cpp, homotopy_class_planner.cpp, teb_local_planner_ros.cpp).
"""

from __future__ import annotations

import numpy as np

from agora.core.jit import lean_kernel, spliced
from agora.core.recording import Reason
from agora.core.scalar import HALF, ONE, TWO, ZERO, atan2, sincos, wrap
from agora.planners._bands.band import SPACING, command, initialise, local_path, nearest_leg, resize, update_ends, write_pose
from agora.planners._bands.checks import CONTACT, DISC, FREE, LOST, choose_turn, is_blocked, is_feasible, record_command
from agora.planners._bands.costs import Bounds, TebWeights, measure
from agora.planners._bands.discs import associate, attach, cluster, gather
from agora.planners._bands.shape import Shape
from agora.planners._bands.solver import optimise
from agora.planners.local.teb._homotopy import classify, connect, explore, is_detour, obstacles, scatter

_DEAREST, _OUT = np.float32(1e37), np.float32(3e38)
_SLOWEST = np.float32(0.01)
_MARGIN = np.float32(0.85)
_STANDING, _EVERYBODY = np.float32(1e-3), np.float32(-1.0)
_QUARTER = np.float32(0.25)
_MANY_TROUBLES = 9
_NONE, _NO_PATH, _BLOCKED = np.int8(Reason.NONE), np.int8(Reason.NO_PATH), np.int8(Reason.BLOCKED)
_IN_CONTACT, _NOT_CONVERGED = np.int8(Reason.START_IN_CONTACT), np.int8(Reason.NOT_CONVERGED)


@spliced
def bounds_of(p, scene, n, turn):
    """Return the limits and the current motion of the robot in a row."""
    return Bounds(
        min(p.max_vel_x, scene.max_x[n]),
        max(min(p.max_vel_x_backwards, -scene.min_x[n]), ZERO),
        min(p.max_vel_y, scene.max_y[n]),
        min(p.max_vel_theta, scene.max_theta[n]),
        min(p.acc_lim_x, scene.acc_x[n]),
        min(p.acc_lim_y, scene.acc_y[n]),
        min(p.acc_lim_theta, scene.acc_theta[n]),
        max(p.min_turning_radius, scene.turning_radius[n]),
        scene.twist[n, 0],
        scene.twist[n, 1],
        scene.twist[n, 2],
        np.float32(turn),
        np.float32(p.free_goal_vel),
    )


@spliced
def weights_at(scene, n):
    """Return the weights for the robot in a row."""
    w = scene.weights[n]
    return TebWeights(
        *(w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8], w[9], w[10]),
        *(w[11], w[12], w[13], w[14], w[15], w[16], w[17], w[18], w[19], w[20]),
    )


@spliced
def write_all_discs(p, scene, n, scratch, standing):
    """Write all discs around the robot, including those that stand still, as moving discs for the feasibility check; return the
    number of discs.
    """
    x, y, reach = scene.pose[n, 0], scene.pose[n, 1], p.max_global_plan_lookahead_dist + p.cutoff
    movers, _ = gather(scene.discs, n, x, y, _EVERYBODY, reach, scratch.moving, scratch.still, standing)
    return movers


@spliced
def _discs(p, scene, n, scratch):
    """Write the discs around the robot; return the numbers of stationary and of moving discs."""
    x, y = scene.pose[n, 0], scene.pose[n, 1]
    sine, cosine = sincos(scene.pose[n, 2])
    left, bottom = x - scene.origin[n, 0], y - scene.origin[n, 1]
    behind, still, blocks, sums = p.costmap_obstacles_behind_robot_dist, scratch.still, scratch.blocks, scratch.sums
    standing = cluster(scene.cost[n], scene.resolution, left, bottom, cosine, sine, behind, blocks, sums, still)
    slowest = _STANDING if p.include_dynamic_obstacles else np.float32(3e38)
    reach = p.max_global_plan_lookahead_dist + p.cutoff
    movers, standing = gather(scene.discs, n, x, y, slowest, reach, scratch.moving, still, standing)
    return standing, movers


@spliced
def recalled_bands(p, scene, n, recall, scratch, goal):
    """Make the remembered bands relative to the robot's current position, and update their ends; return the number of bands."""
    x, y = scene.pose[n, 0], scene.pose[n, 1]
    kept = 0
    for c in range(recall.counts.shape[1]):
        count = recall.counts[n, c]
        if count == 0:
            break
        band = scratch.bands[kept]
        for i in range(count):
            band[i, 0], band[i, 1] = recall.bands[n, c, i, 0] - x, recall.bands[n, c, i, 1] - y
            band[i, 2], band[i, 3] = recall.bands[n, c, i, 2], recall.bands[n, c, i, 3]
        dx, dy = goal[0] - band[count - 1, 0], goal[1] - band[count - 1, 1]
        turned, jump = abs(wrap(goal[2] - band[count - 1, 2])), p.force_reinit_new_goal_dist
        if dx * dx + dy * dy >= jump * jump or turned >= p.force_reinit_new_goal_angular:
            break
        scratch.counts[kept] = update_ends(band, count, scene.pose[n, 2], goal[0], goal[1], goal[2], p.min_samples)
        kept += 1
    return kept


@spliced
def _optimise(p, times, band, count, robot, points, standing, movers, scratch):
    """Alternately resize and optimise a band; return the number of its poses, and its cost without obstacles and due to obstacles.

    ``robot`` holds the weights, the bounds, the shape and its radius, and the minimum desired distance to walls in lanes.
    """
    more, total, discs = ONE, ZERO, ZERO
    weights, bounds, shape, radius, lane = robot
    near, trig, clear = scratch.near, scratch.work.trig, (weights.min_obstacle_dist + weights.epsilon, lane)
    for _ in range(p.no_outer_iterations):
        count = resize(band, count, times[0], times[1], p.min_samples, p.max_samples - 1)
        measure(band, count, bounds, scratch.work)
        still, moving = scratch.still, scratch.moving
        associate(band, count, shape, still, standing, moving, movers, radius, p.force, p.cutoff, clear, trig, near)
        attach(band, count, scratch.route, points, p.via_separation, p.via_points_ordered, near)
        total, discs = optimise(band, count, weights, bounds, shape, near, more, p.no_inner_iterations, scratch.work)
        more *= p.weight_adapt_factor
    return count, total, discs


@spliced
def store(p, scene, n, recall, scratch, kept):
    """Store the bands in the memory."""
    x, y = scene.pose[n, 0], scene.pose[n, 1]
    recall.counts[n, :] = 0
    for c in range(kept):
        count = scratch.counts[c]
        recall.counts[n, c] = count
        for i in range(count):
            recall.bands[n, c, i, 0], recall.bands[n, c, i, 1] = scratch.bands[c, i, 0] + x, scratch.bands[c, i, 1] + y
            recall.bands[n, c, i, 2], recall.bands[n, c, i, 3] = scratch.bands[c, i, 2], scratch.bands[c, i, 3]


@spliced
def local_goal(p, scene, n, recall, scratch, standing):
    """Write the path to plan for; if an obstacle covers its end, the path ends before the obstacle.

    Returns:
        The number of points, which is 1 if there is no path; whether the path is nearby; the pose at the path's end, relative to
        the robot's position, m and rad.
    """
    x, y = scene.pose[n, 0], scene.pose[n, 1]
    path, count = scene.path[n], scene.path_count[n]
    leg, share = nearest_leg(path, count, recall.leg[n], x, y)
    recall.leg[n] = leg
    half = _MARGIN * HALF * scene.resolution * np.float32(scene.cost.shape[1])
    spacing = max(SPACING, p.max_global_plan_lookahead_dist / np.float32(scratch.route.shape[0] - 3))
    route = scratch.route
    points, ends, direction = local_path(path, count, leg, share, x, y, p.max_global_plan_lookahead_dist, half, spacing, route)
    if not ends and p.shrink_horizon_backup and recall.trouble[n, 1] > 0:
        reach = p.max_global_plan_lookahead_dist * (_QUARTER if recall.trouble[n, 0] > _MANY_TROUBLES else HALF)
        points, ends, direction = local_path(path, count, leg, share, x, y, reach, half, spacing, route)
    near_by = points > 1
    while points > 1 and is_blocked(scene, n, route[points - 1, 0], route[points - 1, 1], scratch.still, standing):
        points, ends = points - 1, False
        direction = atan2(route[points, 1] - route[points - 1, 1], route[points, 0] - route[points - 1, 0])
    heading = scene.goal[n, 2] if ends else direction
    return points, near_by, (route[points - 1, 0], route[points - 1, 1], heading)


@spliced
def _classes(p, scene, n, tick, scratch, b, points, goal, kept, standing, movers):
    """Drop remembered bands whose class already has another band, and add bands along the path and along paths in the roadmap.

    Returns:
        The number of bands, and the index of the band in the path's class.
    """
    bands, counts, places, signatures = scratch.bands, scratch.counts, scratch.places, scratch.signatures
    width = TWO * scene.inscribed[n]
    count = obstacles(scratch.still, standing, scratch.moving, movers, goal, width, scratch.order, places)
    known, rule = np.int64(0), (p.h_signature_threshold, p.signature_prescaler)
    detour = (p.detours_orientation_tolerance, p.length_start_orientation_vector, p.max_ratio_detours_duration_best_duration)
    for c in range(kept):
        found = classify(bands[c], counts[c], places, count, signatures, known, rule)
        if c > 0 and (
            found != known or p.delete_detours_backwards and is_detour(bands[c], counts[c], bands[0], counts[0], *detour)
        ):
            continue
        for i in range(counts[c]):
            write_pose(bands[known], i, bands[c, i])
        counts[known] = counts[c]
        known += 1
    heading = scene.pose[n, 2]
    counts[known] = initialise(scratch.route, points, heading, goal[2], b.forward, b.omega, p.min_samples, bands[known])
    initial = classify(bands[known], counts[known], places, count, signatures, known, rule)
    if known == 0 or (initial == known and known < p.max_number_classes):
        initial = known
        known += 1
    if goal[0] * goal[0] + goal[1] * goal[1] < p.xy_goal_tolerance * p.xy_goal_tolerance:
        return known, initial
    many, still, moving = p.roadmap_graph_no_samples + 2, scratch.still, scratch.moving
    area = p.roadmap_graph_area_width, p.roadmap_graph_area_length_scale
    scatter(goal[0], goal[1], *area, tick, p.roadmap_graph_no_samples, scratch.nodes)
    clear = p.min_obstacle_dist
    connect(scratch.nodes, many, still, standing, moving, movers, clear, p.obstacle_heading_threshold, scratch.edges)
    ends, guess = (heading, goal[2]), (b.forward, b.omega, p.min_samples)
    nodes, edges, roadmap = scratch.nodes, scratch.edges, scratch.roadmap
    most = p.max_number_classes
    known = explore(nodes, many, edges, ends, guess, places, count, rule, bands, counts, known, most, roadmap, signatures)
    return known, initial


@spliced
def _choose(p, scene, n, recall, scratch, kept, driven, movers):
    """Move the feasible band with the lowest cost to the front; return `FREE` or, if no band is used, the kind of obstacle that the
    best band hits.

    If the band being driven is the best but hits a wall, no band is used, so the robot stops before it switches to another band.
    For a while after a change of the best band, the band being driven counts as the best.
    """
    bands, counts, costs, reason = scratch.bands, scratch.counts, scratch.costs, LOST
    for k in range(kept):
        best = -1
        for c in range(kept):
            if costs[c] < _DEAREST and (best < 0 or costs[c] < costs[best]):
                best = c
        if best < 0:
            break
        if driven and k == 0 and best != 0:
            if recall.switching[n] > 0 and costs[0] < _DEAREST:
                best = 0
            else:
                recall.switching[n] = p.switching_periods + 1
        found = is_feasible(p, scene, n, bands[best], counts[best], scratch.moving, movers)
        if found == FREE:
            for i in range(max(counts[0], counts[best])):
                for j in range(4):
                    bands[0, i, j], bands[best, i, j] = bands[best, i, j], bands[0, i, j]
            counts[0], counts[best] = counts[best], counts[0]
            return FREE
        reason = found if k == 0 else reason
        if driven and k == 0 and best == 0 and found != DISC:
            break
        costs[best] = _OUT
    return reason


@spliced
def begin_row(p, scene, n, recall):
    """Return the robot's current limits, and whether the robot should drive, i.e. has a path, can move, and has not arrived."""
    choose_turn(p, recall.history[n], recall.turning[n], scene.twist[n, 2])
    b = bounds_of(p, scene, n, recall.turning[n, 1])
    dx, dy = scene.goal[n, 0] - scene.pose[n, 0], scene.goal[n, 1] - scene.pose[n, 1]
    turned = abs(wrap(scene.goal[n, 2] - scene.pose[n, 2]))
    arrived = dx * dx + dy * dy < p.xy_goal_tolerance * p.xy_goal_tolerance and turned < p.yaw_goal_tolerance
    drives = not (scene.path_count[n] <= 0 or b.forward < _SLOWEST or b.omega < _SLOWEST or arrived)
    if drives:
        recall.trouble[n, 1] = max(recall.trouble[n, 1] - 1, 0)
    else:
        recall.counts[n, :] = 0
    return b, drives


@spliced
def end_row(p, scene, n, recall, scratch, b, hit, kept):
    """Return the twist from the first band, or a zero twist and the reason why the robot stops; store the bands."""
    still = (ZERO, ZERO, ZERO)
    if hit != FREE:
        recall.counts[n, :] = 0
        if hit != DISC:
            recall.trouble[n, 0] += 1
            recall.trouble[n, 1] = p.shrink_periods
        record_command(b, recall.history[n], recall.turning[n], still)
        return still, _IN_CONTACT if hit == CONTACT else _NOT_CONVERGED if hit == LOST else _BLOCKED
    recall.trouble[n, 0] = 0
    store(p, scene, n, recall, scratch, kept)
    twist = command(scratch.bands[0], b)
    record_command(b, recall.history[n], recall.turning[n], twist)
    return twist, _NONE


@spliced
def _row(p, scene, n, recall, scratch):
    """Return the twist for one row, and the reason if its robot stops."""
    still = (ZERO, ZERO, ZERO)
    b, drives = begin_row(p, scene, n, recall)
    if not drives:
        return still, _NO_PATH if scene.path_count[n] <= 0 else _NONE
    standing, movers = _discs(p, scene, n, scratch)
    points, near_by, goal = local_goal(p, scene, n, recall, scratch, standing)
    if points < 2:
        recall.counts[n, :] = 0
        return still, _BLOCKED if near_by else _NO_PATH
    # Continue with the bands from the previous period; if several classes are planned, search for new ones.
    kept = recalled_bands(p, scene, n, recall, scratch, goal)
    driven, initial = kept > 0, 0
    if p.max_number_classes > 1:
        kept, initial = _classes(p, scene, n, recall.turning[n, 0], scratch, b, points, goal, kept, standing, movers)
    elif kept == 0:
        kept = 1
        heading = scene.pose[n, 2]
        band = scratch.bands[0]
        scratch.counts[0] = initialise(scratch.route, points, heading, goal[2], b.forward, b.omega, p.min_samples, band)
    shape = Shape(p.shape, scene.shape_x[n], scene.shape_y[n])
    robot = (weights_at(scene, n), b, shape, scene.shape_radius[n], scene.lane[n])
    times = (scene.dt_ref[n], scene.dt_hysteresis[n])
    # Optimise every band, and favour the class being driven and the path's class, so that the robot does not alternate between
    # classes.
    for c in range(kept):
        band = scratch.bands[c]
        scratch.counts[c], total, discs = _optimise(p, times, band, scratch.counts[c], robot, points, standing, movers, scratch)
        favour = p.selection_cost_hysteresis if driven and c == 0 else p.selection_prefer_initial_plan if c == initial else ONE
        scratch.costs[c] = favour * (total + p.selection_obst_cost_scale * discs)
    # The check treats all discs as moving, including those that the band treats as static.
    hit = _choose(p, scene, n, recall, scratch, kept, driven, write_all_discs(p, scene, n, scratch, standing))
    recall.switching[n] = max(recall.switching[n] - 1, 0)
    return end_row(p, scene, n, recall, scratch, b, hit, kept)


@lean_kernel
def plan(p, scene, recall, scratch, twists, reasons, first, last):
    """Write the twists and the reasons for the rows ``first <= n < last``.

    Args:
        p: record returned by `Teb.parameters`.
        scene: `agora.planners.local.teb.scene.Observed`.
        recall: `agora.planners.local.teb.scene.Recall`, changed in place.
        scratch: `agora.planners.local.teb.scene.Scratch` of this thread.
        twists: out, (N, 3) twists, m/s and rad/s.
        reasons: out, (N,) values of `agora.core.recording.Reason`.
        first: first row.
        last: one past the last row.
    """
    for n in range(first, last):
        mark, count = recall.path[n], np.float32(scene.path_count[n])
        if count > ZERO and (mark[0] != scene.path[n, 0, 0] or mark[1] != scene.path[n, 0, 1] or mark[2] != count):
            mark[0], mark[1], mark[2] = scene.path[n, 0, 0], scene.path[n, 0, 1], count
            recall.leg[n] = 0
        (twists[n, 0], twists[n, 1], twists[n, 2]), reasons[n] = _row(p, scene, n, recall, scratch)
