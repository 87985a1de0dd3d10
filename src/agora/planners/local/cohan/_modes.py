"""The modes of human-aware planning, and the transitions between them.

Singamaneni, Favier and Alami, "Human-aware navigation planner for diverse human-robot interaction contexts", IROS 2021; based on
the hateb_local_planner package of CoHAN 2 (all_modes.xml, *_exit_condition.cpp, backoff.cpp). Upstream goes through its modes in
the order single band, dual band, velocity obstacles, back off; it returns to the first mode after backing off or when it gets a new
goal. In this planner, a robot also returns to the single band when there is no moving person to consider.
"""

from __future__ import annotations

import math

import numpy as np

from agora.core.jit import hidden, lean
from agora.core.scalar import ONE, TWO, ZERO
from agora.planners._bands.checks import is_blocked
from agora.planners._rollouts.grids import cell_of
from agora.planners.local.cohan._people import STATIC, STOPPED, STUCK, wall_distance

SINGLE, DUAL, OBSTACLES, BACK_OFF, PASS = 0, 1, 2, 3, 4
GOAL, HELD, TICKS, PASSING = 0, 1, 2, 3
_MOVED, _STUCK_TIME, _STUCK_DISTANCE = np.float32(0.06), np.float32(2.0), np.float32(2.5)
_BLOCKED_TIME, _PASS_TIME, _LEAVES = np.float32(2.0), np.float32(5.0), np.float32(5.0)
_WIDE, _LOOK, _AHEAD = np.float32(2.0), np.float32(1.5), np.float32(1.0)
_TURN, _BACK, _TURNS, _BACKS = np.float32(math.pi / 18.0), np.float32(0.5), 9, 10
_FAR, _EIGHTH = np.float32(3e38), np.float32(math.pi / 4.0)


@lean
def is_at_door(scene, n, route, points, width):
    """Return whether the path leads through a door within the next 1 m: a passage narrower than ``width`` m, with free space at
    least 2 m wide before or after it.

    In upstream, the doors are given as an input.

    Args:
        scene: `agora.planners.local.teb.scene.Observed`.
        n: row.
        route: (A, 2) local path, relative to the robot, m; the first ``points`` entries are valid.
        points: number of points in the path.
        width: maximum width of a door, m.
    """
    cost, inverse = scene.cost[n], ONE / scene.resolution
    left, bottom = scene.pose[n, 0] - scene.origin[n, 0], scene.pose[n, 1] - scene.origin[n, 1]
    narrow, wide, way = False, False, ZERO
    for k in range(points - 1):
        dx, dy = route[k + 1, 0] - route[k, 0], route[k + 1, 1] - route[k, 1]
        long = math.sqrt(dx * dx + dy * dy)
        if long <= ZERO:
            continue
        x, y, ux, uy = left + route[k, 0], bottom + route[k, 1], dx / long, dy / long
        across = wall_distance(cost, inverse, x, y, -uy, ux, _LOOK) + wall_distance(cost, inverse, x, y, uy, -ux, _LOOK)
        narrow |= across < width and way <= _AHEAD
        wide |= across >= _WIDE
        way += long
        if way > TWO * _AHEAD:
            break
    return narrow and wide


@lean
def next_mode(mode, clock, dt, distance, count, nearest, state, moves, door):
    """Return the mode for the current control period.

    Args:
        mode: mode of the previous period, not `BACK_OFF`.
        clock: (4,) reference distance to the goal, m; time since the robot reached that distance, time in the mode `OBSTACLES`, and
            time at a door, s; updated.
        dt: control period, s.
        distance: distance to the goal, m.
        count: number of people that the robot considers.
        nearest: distance to the nearest person, m.
        state: state of the nearest person.
        moves: whether any of the people considered is moving or stuck.
        door: whether the robot is at a door.
    """
    if abs(clock[GOAL] - distance) > _MOVED:
        clock[GOAL], clock[HELD] = distance, ZERO
    else:
        clock[HELD] += dt
    clock[PASSING] = clock[PASSING] + dt if door else ZERO
    if door and clock[PASSING] < _PASS_TIME:
        return PASS
    if mode == OBSTACLES and count > 0 and nearest <= _LEAVES:
        clock[TICKS] += dt
        return BACK_OFF if clock[TICKS] >= _BLOCKED_TIME and state in (STOPPED, STUCK) else OBSTACLES
    if mode == DUAL and clock[HELD] >= _STUCK_TIME and (count == 0 or nearest <= _STUCK_DISTANCE):
        clock[TICKS] = ZERO
        return OBSTACLES
    return DUAL if count > 0 and (moves or (mode == DUAL and state != STATIC)) else SINGLE


@hidden
def _is_clear(cost, inverse, x, y, radius):
    """Return whether the costmap is free (cost 0) at the centre of a disc and at eight points on its edge."""
    for c in range(9):
        turn, out = _EIGHTH * np.float32(c), radius if c < 8 else ZERO
        column, row = cell_of(x + out * np.float32(math.cos(turn)), y + out * np.float32(math.sin(turn)), inverse, cost)
        if column < 0 or cost[row, column] > 0:
            return False
    return True


@lean
def find_retreat(scene, n, radius, still, standing, out):
    """Write the pose to which the robot retreats; return whether there is such a pose.

    Candidates are spaced half a metre apart next to the straight line behind the robot, two radii to the right or to the left;
    lines rotated by up to 90 degrees are tried as well. On each line, the first candidate is chosen that the robot can reach in a
    straight line and where the robot's disc has no cost. Of these candidates, the nearest one is chosen.

    Args:
        scene: `agora.planners.local.teb.scene.Observed`.
        n: row.
        radius: radius of the robot, m.
        still: (S, 3) stationary discs; the first ``standing`` entries are valid.
        standing: number of stationary discs.
        out: out, (3,) pose in the map frame, m and rad.
    """
    cost, inverse = scene.cost[n], ONE / scene.resolution
    left, bottom = scene.pose[n, 0] - scene.origin[n, 0], scene.pose[n, 1] - scene.origin[n, 1]
    best = _FAR
    for k in range(-_TURNS, _TURNS + 1):
        heading = scene.pose[n, 2] + _TURN * np.float32(k)
        cosine, sine = np.float32(math.cos(heading)), np.float32(math.sin(heading))
        found = False
        for j in range(2 * _BACKS):
            if found:
                break
            back = _BACK * np.float32(j // 2)
            aside = TWO * radius if j % 2 == 1 else -TWO * radius
            x, y = -back * cosine - aside * sine, -back * sine + aside * cosine
            far = math.sqrt(x * x + y * y)
            if far >= best or is_blocked(scene, n, x, y, still, standing):
                continue
            if wall_distance(cost, inverse, left, bottom, x / far, y / far, far) < far:
                continue
            if _is_clear(cost, inverse, left + x, bottom + y, radius):
                found, best = True, far
                out[0], out[1], out[2] = scene.pose[n, 0] + x, scene.pose[n, 1] + y, heading
    return best < _FAR
