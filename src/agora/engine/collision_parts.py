"""Code shared by `agora.engine.collision_resolution` and `agora.engine.published_collision_resolution`.

A step of collision resolution first lists the pairs that could touch. Then, in each of several rounds, it finds the worst contact
of each pedestrian, i.e. the one for which the pedestrian must give up the most speed, and reduces the velocity accordingly.
"""

from __future__ import annotations

import math
from typing import NamedTuple, get_args

import numpy as np

from agora.core.field import clearance_at
from agora.core.jit import hidden, lean_inlined, part
from agora.core.scalar import ONE, ZERO
from agora.core.state import Floats, Ints
from agora.interfaces.crowd_model import LastStep
from agora.pedestrians.shared.neighbours import SEES_ROBOTS, lanes
from agora.pedestrians.shared.walls import ROWS

MINDS = get_args(LastStep)
"""Values of a crowd model's ``last_step``, i.e. the bodies that its pedestrians react to in collision resolution."""

ALL, ROBOTS, NOTHING = range(3)

IGNORES_ROBOTS = 4
"""Added to one of these values: robots are ignored."""

MARGIN = np.float32(0.02)  # m, gap that people leave to a robot
PARTING = np.float32(0.3)  # m/s, maximum speed at which overlapping bodies are moved apart
_CREEP = np.float32(0.01)  # m/s, tolerated closing speed of a pair that approaches
_TOUCHING = np.float32(0.0005)  # m/s, tolerated closing speed of a pair that touches
_LEAST = np.float32(0.4)  # fraction of these closing speeds above which a pedestrian must slow down
_SLOP = np.float32(0.001)  # m
NEAR = np.float32(0.1)  # m, gap at which a pedestrian steps aside for another
HEAD_ON = np.float32(0.5)  # cosine of the angle between its path and the direction to the other, above which it steps aside
STOPPED = np.float32(0.3)  # fraction of the preferred speed, below which it steps aside
ASIDE = np.float32(0.4)  # fraction of the preferred speed of the sidestep
BACK = np.float32(0.2)  # fraction of the preferred speed at which one of two pedestrians steps back
_ROUNDS = 4
_TINY = np.float32(1e-12)


class Scratch(NamedTuple):
    """Working arrays for collision resolution, for the P pedestrians of a world and the K pairs that could touch.

    Attributes:
        vx: (P,) velocity, x, m/s.
        vy: (P,) velocity, y, m/s.
        mind: (P,) bodies that a pedestrian reacts to; NOTHING for a recorded pedestrian, which never leaves its recorded path.
        near: (P,) 1 if a wall is near, 2 if a robot is near, 3 if both are.
        wall: (3, P) direction away from the nearest wall, and the distance to it, m.
        worst: (3, P) worst contact of each pedestrian, as written by `keep_worst`; 0 at the start of a round.
        pairs: (2, K) slots of the two pedestrians of each pair.
        normals: (3, K) direction from the first to the second pedestrian, and the gap, m.
        cell: scratch.
        fields: scratch.
    """

    vx: Floats
    vy: Floats
    mind: Ints
    near: Ints
    wall: Floats
    worst: Floats
    pairs: Ints
    normals: Floats
    cell: Ints
    fields: Floats


@part
def make_scratch(slots, pairs):
    """Return working arrays for P slots, with room for ``pairs`` pairs per slot."""
    vx, vy = np.empty(slots, np.float32), np.empty(slots, np.float32)
    wall, worst = np.empty((3, slots), np.float32), np.zeros((3, slots), np.float32)
    mind, near, cell = np.empty(slots, np.int32), np.empty(slots, np.int32), np.empty(slots, np.int32)
    who, normals = np.empty((2, pairs * slots), np.int32), np.empty((3, pairs * slots), np.float32)
    return Scratch(vx, vy, mind, near, wall, worst, who, normals, cell, np.empty((ROWS, slots), np.float32))


@hidden
def keep_worst(worst, i, take, nx, ny):
    """Record a contact of pedestrian i if it must give up more speed for it than for its other contacts."""
    if take > worst[0, i]:
        worst[0, i], worst[1, i], worst[2, i] = take, nx, ny


@hidden
def _contact_distance(radius, active, count, vx, vy, h):
    """Return the distance in metres below which two pedestrians could touch within ``h`` seconds."""
    largest, fastest = ZERO, ZERO
    for i in range(count):
        largest = max(largest, radius[i] if active[i] else ZERO)
        fastest = max(fastest, vx[i] * vx[i] + vy[i] * vy[i] if active[i] else ZERO)
    return (largest + math.sqrt(fastest) * h) * np.float32(2.0)


@hidden
def _close_pairs(x, y, radius, active, count, reach, pairs, normals):
    """Write the pairs of pedestrians that are nearer to each other than ``reach`` metres, with directions and gaps. Return the
    number of pairs, which is limited by the size of the arrays.
    """
    reach2 = reach * reach
    found = 0
    for i in range(count - 1):
        if not active[i]:
            continue
        xi, yi, near = x[i], y[i], np.int32(0)
        for j in range(lanes(count)):
            dx, dy = x[j] - xi, y[j] - yi
            near = np.int32(near + np.int32(dx * dx + dy * dy < reach2))
        if near < 2:  # the pedestrian itself is counted, too
            continue
        for j in range(i + 1, count):
            dx, dy = x[j] - xi, y[j] - yi
            squared = dx * dx + dy * dy
            if squared < reach2 and active[j] and found < pairs.shape[1]:
                distance = math.sqrt(max(squared, _TINY))
                pairs[0, found], pairs[1, found] = i, j
                normals[0, found], normals[1, found] = dx / distance, dy / distance
                normals[2, found] = distance - radius[i] - radius[j] - _SLOP
                found += 1
    return found


@hidden
def wish_of(people, traits, goals, w, i):
    """Return the velocity at which a pedestrian would walk to its goal if it were alone; zero within one radius of the goal."""
    dx, dy = goals.x[w, i] - people.x[w, i], goals.y[w, i] - people.y[w, i]
    distance = math.sqrt(dx * dx + dy * dy)
    k = traits.speed[w, i] / distance if distance > traits.radius[w, i] else ZERO
    return dx * k, dy * k


@hidden
def limit_closing_speeds(pairs, normals, found, minds, vx, vy, inverse_h):
    """Reduce the speed of pedestrians that would still step into someone: by the closing speed in the first rounds, then to 0."""
    turn, stopped = 0, True
    while stopped:
        stopped, keep = False, ONE if turn < _ROUNDS else ZERO
        turn += 1
        for k in range(found):
            i, j, nx, ny = pairs[0, k], pairs[1, k], normals[0, k], normals[1, k]
            a, b = vx[i] * nx + vy[i] * ny, -(vx[j] * nx + vy[j] * ny)
            slow = _CREEP if normals[2, k] > -_SLOP else _TOUCHING
            if a + b <= max(normals[2, k], ZERO) * inverse_h + slow:
                continue
            if a > _LEAST * slow and minds[i] == ALL:
                vx[i], vy[i], stopped = keep * (vx[i] - a * nx), keep * (vy[i] - a * ny), True
            if b > _LEAST * slow and minds[j] == ALL:
                vx[j], vy[j], stopped = keep * (vx[j] + b * nx), keep * (vy[j] + b * ny), True


@hidden
def add_walls(radius, count, s, inverse_h):
    """Record the velocity that each pedestrian gives up for the nearest wall."""
    for i in range(count):
        if s.near[i] & 1:
            nx, ny = s.wall[0, i], s.wall[1, i]
            allowed = max(s.wall[2, i] - radius[i], ZERO) * inverse_h
            keep_worst(s.worst, i, -(s.vx[i] * nx + s.vy[i] * ny) - allowed, -nx, -ny)


@lean_inlined
def reach_of(people, traits, w, horizon, s):
    """Return the distance in metres below which two pedestrians could touch within ``horizon`` seconds."""
    return _contact_distance(traits.radius[w], people.active[w], traits.count[w], s.vx, s.vy, horizon)


@lean_inlined
def find_pairs(people, traits, w, reach, s):
    """Write the pairs of pedestrians that are less than ``reach`` metres apart, and return their number."""
    here = people.x[w], people.y[w], traits.radius[w], people.active[w]
    return _close_pairs(*here, traits.count[w], reach, s.pairs, s.normals)


@hidden
def _near_robots(people, traits, robots, robot_traits, w, i, step):
    """Return whether a robot is within one step of a pedestrian."""
    for r in range(robots.x.shape[1]):
        dx, dy = robots.x[w, r] - people.x[w, i], robots.y[w, r] - people.y[w, i]
        reach = traits.radius[w, i] + robot_traits.radius[w, r] + MARGIN + step
        if robots.active[w, r] and dx * dx + dy * dy < reach * reach:
            return True
    return False


@lean_inlined
def prepare(sees, minds, people, traits, replay, robots, robot_traits, maps, w, h, clearance, out_x, out_y, s):
    """Write every pedestrian's velocity, the bodies that it reacts to, and which kinds of obstacle are near it. Return whether any
    pedestrian has an obstacle near it.

    ``clearance`` determines which pedestrians are near a wall. The contact with the wall is read at a single point, because sums
    are rounded differently in vectorised loops.
    """
    pressed = False
    for i in range(traits.count[w]):
        recorded, whom = replay.last[w, i] >= replay.first[w, i], minds[w, i]
        s.mind[i] = whom % IGNORES_ROBOTS if people.active[w, i] and not recorded else NOTHING
        s.vx[i] = people.vx[w, i] if recorded else out_x[w, i]
        s.vy[i] = people.vy[w, i] if recorded else out_y[w, i]
        s.near[i] = 0
        if s.mind[i] != NOTHING:
            step = (math.sqrt(s.vx[i] * s.vx[i] + s.vy[i] * s.vy[i]) + PARTING + (ASIDE + BACK) * traits.speed[w, i]) * h
            if clearance[i] < traits.radius[w, i] + step:
                s.near[i] = 1
                s.wall[2, i], s.wall[0, i], s.wall[1, i] = clearance_at(maps, maps.index[w], people.x[w, i], people.y[w, i])
            if sees & SEES_ROBOTS and whom < IGNORES_ROBOTS and _near_robots(people, traits, robots, robot_traits, w, i, step):
                s.near[i] += 2
            pressed = pressed or s.near[i] > 0
    return pressed


@hidden
def write_velocities(mind, vx, vy, count, out_x, out_y):
    """Write the velocities of all pedestrians that react to other bodies."""
    for i in range(count):
        if mind[i] != NOTHING:
            out_x[i], out_y[i] = vx[i], vy[i]


@hidden
def reduce_velocities(worst, count, vx, vy):
    """Reduce each pedestrian's velocity according to its worst contact; return whether there was any contact."""
    taken = np.int32(0)
    for i in range(count):
        take = worst[0, i] > ZERO
        vx[i] = vx[i] - worst[0, i] * worst[1, i] if take else vx[i]
        vy[i] = vy[i] - worst[0, i] * worst[2, i] if take else vy[i]
        worst[0, i] = ZERO
        taken = np.int32(taken + np.int32(take))
    return taken > 0
