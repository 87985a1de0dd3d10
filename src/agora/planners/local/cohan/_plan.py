"""The human-aware planner, computed row by row: people, mode, bands, feasibility check, command.

Based on the hateb_local_planner package of CoHAN 2 (hateb_local_planner_ros.cpp, optimal_planner.cpp).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from agora.core.jit import hidden, lean_kernel, spliced
from agora.core.recording import Reason
from agora.core.scalar import ONE, ZERO, atan2
from agora.core.state import Floats, Ints
from agora.planners._bands.band import initialise, resize, write_pose
from agora.planners._bands.checks import FREE, is_feasible, record_command
from agora.planners._bands.costs import Bounds, Near, TebWeights, measure
from agora.planners._bands.discs import MOMENT, associate, attach, cluster, gather
from agora.planners._bands.shape import ROUND, Shape
from agora.planners.local.cohan._costs import Crowd, Social, distance, memory_of
from agora.planners.local.cohan._modes import BACK_OFF, DUAL, PASS, TICKS, find_retreat, is_at_door, next_mode
from agora.planners.local.cohan._people import MOVING, STUCK, corners, update_people
from agora.planners.local.cohan._solver import optimise_all
from agora.planners.local.teb.plan import begin_row, end_row, local_goal, recalled_bands, weights_at, write_all_discs

_STANDING = np.float32(1e-3)
_NEAR, _ARRIVED, _GIVEN_UP = np.float32(2.0), np.float32(0.15), np.float32(30.0)
_VIA, _USUAL = np.float32(0.2), np.float32(0.3)
_NONE, _NO_PATH, _BLOCKED = np.int8(Reason.NONE), np.int8(Reason.NO_PATH), np.int8(Reason.BLOCKED)
_RETREATING, _WAITING = np.int8(Reason.RETREATING), np.int8(Reason.WAITING)


class Humans(NamedTuple):
    """The fields of `Cohan` that concern people.

    Attributes:
        dt: control period, s.
        radius: planning radius, m.
        door: width below which a passage counts as a door, m.
        passing: maximum speed in a door, m/s.
        hides: whether to consider people that may step out from behind edges.
        social: weights for costs between bands.
        weights: weights of a person's band.
        bounds: motion limits of a person.
    """

    dt: np.float32
    radius: np.float32
    door: np.float32
    passing: np.float32
    hides: bool
    social: Social
    weights: TebWeights
    bounds: Bounds


class Mood(NamedTuple):
    """The memory apart from the bands; all values are zero at the start of an episode.

    Attributes:
        mode: (N,) mode, as numbered in `agora.planners.local.cohan._modes`.
        clock: (N, 4) as in `agora.planners.local.cohan._modes.next_mode`.
        ids: (N, K) as in `agora.planners.local.cohan._people.next_state`.
        states: (N, K) as in `agora.planners.local.cohan._people.next_state`.
        spot: (N, 3) pose to which the robot backs off, in the map frame.
        who: (N,) identity of the person for whom the robot backs off, plus 1.
    """

    mode: Ints
    clock: Floats
    ids: Ints
    states: Ints
    spot: Floats
    who: Ints


class Room(NamedTuple):
    """Working memory of one thread, in addition to that of `Teb`.

    Attributes:
        crowd: the bands of the robot and of people.
        nears: discs near the poses of each band.
        ways: (2, T + 1, 2) predicted paths of two people, relative to the robot, m.
        seen: (8, 3) as in `agora.planners.local.cohan._people.update_people`.
    """

    crowd: Crowd
    nears: tuple[Near, Near, Near]
    ways: Floats
    seen: Floats


@spliced
def _is_out_of_way(q, scene, names, n, mood):
    """Return whether the person for whom the robot backed off is out of the robot's way: behind the robot, far away, or no longer
    visible.
    """
    d = scene.discs
    for k in range(names.shape[1]):
        if d.present[n, k] and names[n, k] + 1 == mood.who[n]:
            dx, dy = d.position[n, k, 0] - scene.pose[n, 0], d.position[n, k, 1] - scene.pose[n, 1]
            ahead = dx * np.cos(scene.pose[n, 2]) + dy * np.sin(scene.pose[n, 2])
            return ahead < ZERO or dx * dx + dy * dy > q.radius * q.radius
    return True


@spliced
def _update_mode(p, q, scene, names, n, mood, scratch, room, points, standing, seen):
    """Update the mode of row ``n``, and return it."""
    count, moves = seen
    mode, clock = mood.mode[n], mood.clock[n]
    dx, dy = scene.goal[n, 0] - scene.pose[n, 0], scene.goal[n, 1] - scene.pose[n, 1]
    if mode == BACK_OFF:
        clock[TICKS] += q.dt
        sx, sy = mood.spot[n, 0] - scene.pose[n, 0], mood.spot[n, 1] - scene.pose[n, 1]
        there = sx * sx + sy * sy < _ARRIVED * _ARRIVED
        if clock[TICKS] > _GIVEN_UP or (there and _is_out_of_way(q, scene, names, n, mood)):
            clock[:] = ZERO
            mood.states[n] = 0
            mood.ids[n] = 0
            mood.mode[n] = 0
        return mood.mode[n]
    nearest, state = (room.seen[0, 1], np.int64(room.seen[0, 2])) if count > 0 else (ZERO * dx, np.int64(0))
    door = is_at_door(scene, n, scratch.route, points, q.door)
    mode = next_mode(mode, clock, q.dt, np.sqrt(dx * dx + dy * dy), count, nearest, state, moves, door)
    if mode == BACK_OFF:
        who = names[n, np.int64(room.seen[0, 0])]
        for k in range(mood.ids.shape[1]):
            if mood.ids[n, k] == who + 1:
                mood.states[n, k] = STUCK
        if find_retreat(scene, n, scene.radius[n], scratch.still, standing, mood.spot[n]):
            mood.who[n], clock[TICKS] = who + 1, ZERO
        else:
            mode = mood.mode[n]
    mood.mode[n] = mode
    return mode


@spliced
def _predict_path(scene, n, slot, out):
    """Write the predicted path of a person, relative to the robot, m; return the number of points."""
    d, moments = scene.discs, scene.discs.expected.shape[2]
    x, y = d.position[n, slot, 0] - scene.pose[n, 0], d.position[n, slot, 1] - scene.pose[n, 1]
    out[0, 0], out[0, 1] = x, y
    for t in range(moments):
        time = MOMENT * np.float32(t + 1)
        out[t + 1, 0] = x + time * d.velocity[n, slot, 0] + d.expected[n, slot, t, 0]
        out[t + 1, 1] = y + time * d.velocity[n, slot, 1] + d.expected[n, slot, t, 1]
    return moments + 1


@spliced
def _start_people(q, scene, names, n, others, room, count):
    """Initialise the bands of the nearest two moving people, and remove these people from ``others``; return the number of
    bands.
    """
    d, crowd, many = scene.discs, room.crowd, 1
    for k in range(count):
        if many < 3 and room.seen[k, 2] == MOVING:
            slot = np.int64(room.seen[k, 0])
            vx, vy = d.velocity[n, slot, 0], d.velocity[n, slot, 1]
            speed = max(np.sqrt(vx * vx + vy * vy), _USUAL)
            way = room.ways[many - 1]
            points = _predict_path(scene, n, slot, way)
            heading, last = atan2(vy, vx), points - 1
            end = atan2(way[last, 1] - way[last - 1, 1], way[last, 0] - way[last - 1, 0])
            crowd.counts[many] = initialise(way, points, heading, end, speed, q.bounds.omega, 3, crowd.bands[many])
            crowd.nominal[many] = speed
            others[n, slot] = False
            many += 1
    return many


@hidden
def _walking_limits(bounds, speed):
    """Return a person's limits, with ``speed`` as the current forward speed."""
    b = bounds
    return Bounds(
        *(b.forward, b.backward, b.sideways, b.omega, b.acceleration, b.acceleration_y, b.alpha, b.turning_radius),
        *(speed, b.now_sideways, b.now_omega, b.turn, b.free),
    )


@hidden
def _reduced_limits(bounds, most):
    """Return a robot's limits, with the forward speed limited to at most ``most``."""
    b = bounds
    return Bounds(
        *(min(b.forward, most), b.backward, b.sideways, b.omega, b.acceleration, b.acceleration_y, b.alpha, b.turning_radius),
        *(b.now, b.now_sideways, b.now_omega, b.turn, b.free),
    )


@spliced
def _optimise_together(p, q, times, weights, bounds, body, points, walls, movers, scratch, room, many):
    """Resize ``many`` bands and optimise them jointly, several times; the first band is the robot's. ``walls`` holds the number of
    stationary discs that represent walls, and the number of all stationary discs.

    The robot's ``body`` is its shape, the radius around the shape, and the minimum desired distance to walls in lanes.
    """
    crowd, nears, more = room.crowd, room.nears, ONE
    shape, reach, lane = body
    standing, still, moving = walls[1], scratch.still, scratch.moving
    person = Shape(np.int64(ROUND), shape.x[:1], shape.y[:1])
    shapes = (shape, person, person)
    everybody = (weights, q.weights, q.weights)
    limits = (bounds, _walking_limits(q.bounds, crowd.nominal[1]), _walking_limits(q.bounds, crowd.nominal[2]))
    near = np.bool_(False)  # not a literal, like `many`: with literals, Numba would compile everything that follows once per value
    for b in range(1, many):
        near |= distance(crowd.bands, b) < _NEAR
    for _ in range(p.no_outer_iterations):
        for b in range(many):
            band = crowd.bands[b]
            crowd.counts[b] = resize(band, crowd.counts[b], times[0], times[1], p.min_samples, p.max_samples - 1)
            count = crowd.counts[b]
            measure(band, count, limits[b], memory_of(crowd, b))
            trig = crowd.trig[b]
            if b == 0:
                clear = (weights.min_obstacle_dist + weights.epsilon, lane)
                associate(band, count, shape, still, standing, moving, movers, reach, p.force, p.cutoff, clear, trig, nears[0])
                attach(band, count, scratch.route, points, p.via_separation, p.via_points_ordered, nears[0])
            else:
                radius = q.social.agent_radius
                wanted = q.weights.min_obstacle_dist + q.weights.epsilon
                clear = (wanted, wanted)
                associate(band, count, person, still, walls[0], moving, 0, radius, p.force, p.cutoff, clear, trig, nears[b])
                attach(band, count, room.ways[b - 1], room.ways.shape[1], _VIA, False, nears[b])
        optimise_all(crowd, many, everybody, limits, shapes, nears, more, q.social, near, p.no_inner_iterations)
        more *= p.weight_adapt_factor


@spliced
def _row(p, q, scene, names, n, others, recall, mood, scratch, room):
    """Return the twist for one row, and the reason if its robot stops."""
    still = (ZERO, ZERO, ZERO)
    b, drives = begin_row(p, scene, n, recall)
    if not drives:
        return still, _NO_PATH if scene.path_count[n] <= 0 else _NONE
    d, x, y = scene.discs, scene.pose[n, 0], scene.pose[n, 1]
    sine, cosine = np.sin(scene.pose[n, 2]), np.cos(scene.pose[n, 2])
    left, bottom = x - scene.origin[n, 0], y - scene.origin[n, 1]
    behind, blocks, sums = p.costmap_obstacles_behind_robot_dist, scratch.blocks, scratch.sums
    walls = cluster(scene.cost[n], scene.resolution, left, bottom, cosine, sine, behind, blocks, sums, scratch.still)
    slowest, far = _STANDING if p.include_dynamic_obstacles else np.float32(3e38), p.max_global_plan_lookahead_dist + p.cutoff
    movers, standing = gather(d, n, x, y, slowest, far, scratch.moving, scratch.still, walls)
    points, near_by, goal = local_goal(p, scene, n, recall, scratch, standing)
    seen = update_people(scene, n, names, q.radius, mood.ids[n], mood.states[n], room.seen)
    before = mood.mode[n]
    mode = _update_mode(p, q, scene, names, n, mood, scratch, room, points, standing, seen)
    # A band to the goal cannot be used to initialise a band to the back-off pose, or vice versa.
    if (mode == BACK_OFF) != (before == BACK_OFF):
        recall.counts[n, :] = 0
    reason = _NONE
    # Backing off replaces the path by a straight line to the chosen pose, where the robot waits.
    if mode == BACK_OFF:
        gx, gy, reason = mood.spot[n, 0] - x, mood.spot[n, 1] - y, _RETREATING
        if gx * gx + gy * gy < _ARRIVED * _ARRIVED:
            record_command(b, recall.history[n], recall.turning[n], still)
            return still, _WAITING
        points, near_by, goal = 2, True, (gx, gy, mood.spot[n, 2])
        scratch.route[0, 0], scratch.route[0, 1], scratch.route[1, 0], scratch.route[1, 1] = ZERO, ZERO, gx, gy
    if points < 2:
        recall.counts[n, :] = 0
        return still, _BLOCKED if near_by else _NO_PATH
    if mode == PASS:
        b = _reduced_limits(b, q.passing)
    many = np.int64(1)
    for k in range(others.shape[1]):
        others[n, k] = d.present[n, k]
    # People with bands are removed from the discs, so that they are not counted twice.
    if mode == DUAL:
        many = _start_people(q, scene, names, n, others, room, seen[0])
        movers, standing = gather(
            (d.position, d.velocity, d.radius, others, d.expected), n, x, y, slowest, far, scratch.moving, scratch.still, walls
        )
    if recalled_bands(p, scene, n, recall, scratch, goal) == 0:
        heading, first = scene.pose[n, 2], scratch.bands[0]
        scratch.counts[0] = initialise(scratch.route, points, heading, goal[2], b.forward, b.omega, p.min_samples, first)
    # Optimise the robot's band jointly with those of the people.
    crowd = room.crowd
    for i in range(scratch.counts[0]):
        write_pose(crowd.bands[0], i, scratch.bands[0, i])
    crowd.counts[0] = scratch.counts[0]
    crowd.hiding[0] = corners(scene, n, q.social.agent_radius, crowd.hidden) if q.hides and mode <= 2 else 0
    shape, times = Shape(p.shape, scene.shape_x[n], scene.shape_y[n]), (scene.dt_ref[n], scene.dt_hysteresis[n])
    weights, body = weights_at(scene, n), (shape, scene.shape_radius[n], scene.lane[n])
    _optimise_together(p, q, times, weights, b, body, points, (walls, standing), movers, scratch, room, many)
    count = crowd.counts[0]
    for i in range(count):
        write_pose(scratch.bands[0], i, crowd.bands[0, i])
    scratch.counts[0] = count
    # The feasibility check treats all people as discs, including those with bands.
    hit = is_feasible(p, scene, n, scratch.bands[0], count, scratch.moving, write_all_discs(p, scene, n, scratch, walls))
    twist, why = end_row(p, scene, n, recall, scratch, b, hit, 1)
    return twist, why if hit != FREE else reason


@lean_kernel
def plan_among(p, q, scene, names, others, recall, mood, scratch, room, twists, reasons, first, last):
    """Write the twists and the reasons for the rows ``first <= n < last``.

    Args:
        p: record returned by `Teb.parameters`.
        q: `Humans`.
        scene: `agora.planners.local.teb.scene.Observed`.
        names: (N, P) identities of the pedestrians, which are the first P discs.
        others: (N, Q), scratch.
        recall: `agora.planners.local.teb.scene.Recall`, changed in place.
        mood: `Mood`, changed in place.
        scratch: `agora.planners.local.teb.scene.Scratch` of this thread.
        room: `Room` of this thread.
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
        result = _row(p, q, scene, names, n, others, recall, mood, scratch, room)
        (twists[n, 0], twists[n, 1], twists[n, 2]), reasons[n] = result
