"""The people that a robot considers: visible people and their states, and positions from which an unseen person may step out.

Based on the agent_path_prediction package of CoHAN 2 (agents_class.cpp). Upstream has a separate node that searches a map for
positions of invisible people; in this planner, such positions are at the edges of the visible area in the robot's costmap.
"""

from __future__ import annotations

import math

import numpy as np

from agora.core.jit import hidden, lean
from agora.core.scalar import HALF, ONE, TWO_PI, ZERO, sincos
from agora.planners._rollouts.grids import cell_of

STATIC, MOVING, STOPPED, STUCK = 1, 2, 3, 4
MOST = 8
_WALKS = np.float32(0.1)
_LETHAL = 254
_NEARER = np.float32(0.1)
_RAYS, _LONG, _STEP = 72, np.float32(4.0), np.float32(1.0)
_BEHIND, _FARTHEST = np.float32(0.4), np.float32(1.0)
_FAR = np.float32(3e38)


@hidden
def next_state(ids, states, name, walks):
    """Record whether a person is walking, and return the person's state: static (has not moved yet), moving, stopped, or stuck (has
    not moved since blocking the robot).

    Args:
        ids: (K,) identities of the known people, plus 1; 0 for an empty slot. A new person takes the first free slot or, if there
            is none, the slot (identity mod K).
        states: (K,) states of the known people.
        name: identity of the person.
        walks: whether the person is walking.
    """
    free = -1
    for k in range(ids.size):
        if ids[k] == name + 1:
            free = k
            break
        if ids[k] == 0:
            free, ids[k], states[k] = k, name + 1, STATIC
            break
    if free < 0:
        free = abs(name) % ids.size
        ids[free], states[free] = name + 1, STATIC
    if walks:
        states[free] = MOVING
    elif states[free] == MOVING:
        states[free] = STOPPED
    return states[free]


@hidden
def wall_distance(cost, inverse, x, y, dx, dy, most):
    """Return the distance, m, from a position in a window to the first lethal cell along a unit vector, found in steps of half a
    cell.

    The distance is limited to ``most``.
    """
    step, far = HALF / inverse, ZERO
    while far < most:
        column, row = cell_of(x + far * dx, y + far * dy, inverse, cost)
        if column < 0:
            return most
        if cost[row, column] >= _LETHAL:
            return far
        far += step
    return most


@lean
def update_people(scene, n, names, radius, ids, states, seen):
    """Update the states of the people around a robot, and write the people that the robot considers, nearest first.

    The robot considers people ahead of it within ``radius`` m that are not hidden by a wall. People outside the robot's costmap
    count as visible.

    Args:
        scene: `agora.planners.local.teb.scene.Observed`.
        n: row.
        names: (N, P) identities of the pedestrians, which are the first P discs.
        radius: planning radius, m.
        ids: (K,) as in `next_state`.
        states: (K,) as in `next_state`.
        seen: out, (8, 3) slot, distance and state of each person.

    Returns:
        The number of people considered, up to 8; whether any of them moves or is stuck.
    """
    d, count, moves = scene.discs, 0, False
    x, y = scene.pose[n, 0], scene.pose[n, 1]
    sine, cosine = sincos(scene.pose[n, 2])
    left, bottom = x - scene.origin[n, 0], y - scene.origin[n, 1]
    for q in range(names.shape[1]):
        if not d.present[n, q]:
            continue
        dx, dy = d.position[n, q, 0] - x, d.position[n, q, 1] - y
        vx, vy = d.velocity[n, q, 0], d.velocity[n, q, 1]
        state = next_state(ids, states, names[n, q], vx * vx + vy * vy > _WALKS * _WALKS)
        far = max(math.sqrt(dx * dx + dy * dy), _NEARER)
        if far >= radius or dx * cosine + dy * sine < ZERO or (count == MOST and far >= seen[count - 1, 1]):
            continue
        until = max(far - d.radius[n, q] - _NEARER, ZERO)
        if wall_distance(scene.cost[n], ONE / scene.resolution, left, bottom, dx / far, dy / far, until) < until:
            continue
        k = min(count, MOST - 1)
        while k > 0 and seen[k - 1, 1] > far:
            for j in range(3):
                seen[k, j] = seen[k - 1, j]
            k -= 1
        seen[k, 0], seen[k, 1], seen[k, 2] = np.float32(q), far, np.float32(state)
        count = min(count + 1, MOST)
    for k in range(count):
        moves |= seen[k, 2] == MOVING or seen[k, 2] == STUCK
    return count, moves


@lean
def corners(scene, n, radius, places):
    """Write the positions behind edges from which a person may step out, relative to the robot, m; return the number of positions.

    Rays of 4 m are cast ahead of the robot, every 5 degrees. If a ray is more than 1 m shorter than its neighbour, a person may
    stand behind the end of the shorter ray. The position is the first one along that ray, between the person's radius and 1 m
    beyond the ray's end, whose cell is not lethal.

    Args:
        scene: `agora.planners.local.teb.scene.Observed`.
        n: row.
        radius: radius of a person, m.
        places: out, (H, 2) the positions.
    """
    cost, inverse = scene.cost[n], ONE / scene.resolution
    left, bottom = scene.pose[n, 0] - scene.origin[n, 0], scene.pose[n, 1] - scene.origin[n, 1]
    count, before, half = 0, _FAR, _RAYS // 2
    for k in range(half + 1):
        angle = scene.pose[n, 2] + TWO_PI * (np.float32(k) / np.float32(_RAYS) - HALF * HALF)
        dx, dy = np.float32(math.cos(angle)), np.float32(math.sin(angle))
        far = wall_distance(cost, inverse, left, bottom, dx, dy, _LONG)
        short = min(far, before)
        if k > 0 and abs(far - before) > _STEP and count < places.shape[0]:
            back = angle - (TWO_PI / np.float32(_RAYS) if before < far else ZERO)
            bx, by = np.float32(math.cos(back)), np.float32(math.sin(back))
            beyond = short + radius
            while beyond < short + _FARTHEST:
                column, row = cell_of(left + beyond * bx, bottom + beyond * by, inverse, cost)
                if column >= 0 and cost[row, column] < _LETHAL:
                    places[count, 0], places[count, 1] = beyond * bx, beyond * by
                    count += 1
                    break
                beyond += HALF * _BEHIND
        before = far
    return count
