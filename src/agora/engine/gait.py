"""The gait of people: walking direction, behaviour when blocked, acceleration and turning.

Crowd models return velocities at which no person can walk: sideways, backwards, or in a different direction at every step. This
module turns these velocities into realistic steps. People walk in the direction that they face. They change speed no faster than 99
of 100 recorded people (ETH/UCY, over 0.4 s: 1.6 m/s2), except that braking may be twice as hard, and
`agora.engine.collision_resolution` may brake harder still. Turning is limited by the lateral acceleration, i.e. speed times turning
rate. In ETH/UCY its 99th percentile is nearly the same at all speeds from 0.3 to 2.2 m/s: 0.9 to 1.4 m/s2, or 0.5 to 0.7 m/s2 if
positions are smoothed to reduce annotation errors. The 99th percentile of the turning rate falls from 2.4 rad/s at 0.4 m/s to 0.8
rad/s at 1.9 m/s (`agora.draft.steps`).

A pedestrian that is blocked by a wall, or by people walking in the same direction, becomes impatient within a second. It becomes
calm again within a few seconds, or immediately if no one is ahead. Impatient pedestrians close up to the person ahead, whatever
their model returns, and do not walk backwards, so that crowds do not wait endlessly in front of a door. People near an oncoming
person or a robot, and people at their goal, are patient. There is one exception: people who have been stuck for a while and walk
around stationary bodies (`agora.engine.detour`) are also impatient near oncoming people, near robots and at their goal. Otherwise,
walls would keep slow people from reaching a goal behind a narrow door.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from agora.core.jit import hidden, inlined, lean_inlined, lean_kernel
from agora.core.scalar import ONE, ZERO, sincos
from agora.core.state import Floats
from agora.engine.collision_parts import ALL, IGNORES_ROBOTS
from agora.pedestrians.shared.neighbours import SEES_PEDESTRIANS, SEES_ROBOTS, lanes

if TYPE_CHECKING:
    from agora.draft.steps import Steps

_FACING = np.float32(0.1)  # m/s, speed above which a pedestrian faces its direction of motion
_SPEEDING_UP = np.float32(1.5)  # m/s2
_BRAKING = np.float32(3.0)  # m/s2
_FASTEST = np.float32(1.3)  # preferred speeds
_HELD = np.float32(0.3)  # fraction of the preferred speed, below which a pedestrian is blocked
_PATIENCE = np.float32(1.0)  # s
_CALMING = np.float32(8.0)  # s
_CLOSING_UP = np.float32(0.4)  # s, time gap to the body ahead
_CLOSE = np.float32(0.404)  # s, one hundredth more: people farther ahead do not slow anybody down
_LANE = np.float32(0.65)  # fraction of the bodies' width within which a body is ahead
_DOOR_LANE = np.float32(0.45)  # the same in front of a door, where people squeeze past each other
_SHUFFLE = np.float32(0.2)  # m/s, lowest speed of closing up
_LOOK = np.float32(2.0)  # m
_THERE = np.float32(2.0)  # m, distance to the goal below which no one is impatient
_NEAR = np.float32(1.2)  # m, distance within which people meet, and within which the direction beyond the next point counts
_ROBOT = np.float32(2.0)  # m
_LEAST = np.float32(0.02)  # m/s
_TINY = np.float32(1e-12)


class Gait(NamedTuple):
    """The gait of the pedestrians of W worlds.

    Attributes:
        facing_x: (W, P) direction that a pedestrian faces, x.
        facing_y: (W, P) direction that a pedestrian faces, y.
        held: (W, P) impatience, from 0 to 1.
        way_x: (W, P) direction of the path, x: to the goal, or through the door ahead; 0 for people who have arrived or want to
            stand.
        way_y: (W, P) direction of the path, y; 0 in the same cases as ``way_x``.
        door: (W, P) 1 for people in front of a door or at a corner, otherwise 0.
        steps: (W, P) 1 for people who walk in steps, otherwise 0.
    """

    facing_x: Floats
    facing_y: Floats
    held: Floats
    way_x: Floats
    way_y: Floats
    door: Floats
    steps: Floats


class Turning(NamedTuple):
    """The limits on turning, float32; see `agora.draft.steps.Steps`.

    Attributes:
        lateral: maximum lateral acceleration, m/s2.
        on_the_spot: maximum turning rate, rad/s.
    """

    lateral: np.float32
    on_the_spot: np.float32

    @staticmethod
    def of(steps: Steps) -> Turning:
        """Return the limits from `Steps` as float32."""
        return Turning(*map(np.float32, (steps.lateral, steps.on_the_spot)))


class Ahead(NamedTuple):
    """The points that the pedestrians of W worlds are walking to, and the directions in which their paths continue from there.

    Attributes:
        x: (W, P) the point to walk to, x, m.
        y: (W, P) the point to walk to, y, m.
        beyond_x: (W, P) direction of the path beyond the point, x; 0 at the end of the path.
        beyond_y: (W, P) direction of the path beyond the point, y; 0 at the end of the path.
        aware: (W, P) above 0 if the pedestrian walks around stationary bodies (`agora.engine.progress`).
    """

    x: Floats
    y: Floats
    beyond_x: Floats
    beyond_y: Floats
    aware: Floats


@hidden
def _write_path_directions(people, traits, goals, ahead, gait, w):
    """Write the path direction of every pedestrian."""
    x, y, speed, radius = people.x[w], people.y[w], traits.speed[w], traits.radius[w]
    goal_x, goal_y, way_x, way_y, door = goals.x[w], goals.y[w], gait.way_x[w], gait.way_y[w], gait.door[w]
    to_x, to_y, beyond_x, beyond_y = ahead.x[w], ahead.y[w], ahead.beyond_x[w], ahead.beyond_y[w]
    for i in range(lanes(traits.count[w])):
        dx, dy, tx, ty = goal_x[i] - x[i], goal_y[i] - y[i], to_x[i] - x[i], to_y[i] - y[i]
        distance = math.sqrt(dx * dx + dy * dy + _TINY)
        k = ONE / distance if distance > radius[i] and speed[i] > ZERO else ZERO
        near = k > ZERO and beyond_x[i] * beyond_x[i] + beyond_y[i] * beyond_y[i] > ZERO and tx * tx + ty * ty < _NEAR * _NEAR
        way_x[i] = beyond_x[i] if near else k * dx
        way_y[i] = beyond_y[i] if near else k * dy
        door[i] = ONE if near else ZERO


@lean_inlined
def _count_people(people, traits, gait, w, i, ex, ey, lane, close):
    """Return how many people meet pedestrian i, how many people are ahead of it in direction (ex, ey), and how many people ahead
    may be within ``close`` metres.

    A person meets the pedestrian if the person is near and ahead, and is either standing or walking in another direction. (This is
    a single loop that vectorises, because most people are far away.)
    """
    x, y, radius, active, way_x, way_y = people.x[w], people.y[w], traits.radius[w], people.active[w], gait.way_x[w], gait.way_y[w]
    xi, yi, own, ux, uy = x[i], y[i], radius[i], way_x[i], way_y[i]
    met, ahead, tight = np.int32(0), np.int32(0), np.int32(0)
    for j in range(lanes(traits.count[w])):
        px, py, reach = x[j] - xi, y[j] - yi, lane * (own + radius[j])
        near = active[j] & (px * px + py * py <= _NEAR * _NEAR) & (px * ux + py * uy >= ZERO)
        met = np.int32(met + np.int32(near & (way_x[j] * ux + way_y[j] * uy <= ZERO)))
        along, across = px * ex + py * ey, px * ey - py * ex
        inside = active[j] & (along > ZERO) & (along <= _LOOK) & (reach * reach - across * across > ZERO)
        ahead = np.int32(ahead + np.int32(inside))
        tight = np.int32(tight + np.int32(inside & (along < close + reach)))
    return met, ahead, tight


@lean_inlined
def _faces_robot(people, robots, gait, w, i):
    """Return whether a robot is ahead of pedestrian i and near it."""
    for r in range(robots.x.shape[1]):
        px, py = robots.x[w, r] - people.x[w, i], robots.y[w, r] - people.y[w, i]
        if robots.active[w, r] and px * px + py * py < _ROBOT * _ROBOT and px * gait.way_x[w, i] + py * gait.way_y[w, i] > ZERO:
            return True
    return False


@lean_inlined
def _free_distance(people, traits, w, i, ex, ey, lane):
    """Return how far pedestrian i can walk in direction (ex, ey) before it touches a person ahead, m."""
    room = _LOOK
    for j in range(traits.count[w]):
        px, py = people.x[w, j] - people.x[w, i], people.y[w, j] - people.y[w, i]
        along = px * ex + py * ey
        if j == i or not people.active[w, j] or along <= ZERO or along > _LOOK:
            continue
        across, reach = px * ey - py * ex, lane * (traits.radius[w, i] + traits.radius[w, j])
        inside = reach * reach - across * across
        if inside > ZERO:
            room = min(room, along - math.sqrt(inside))
    return max(room, ZERO)


@lean_inlined
def _close_up(h, sees, people, traits, goals, robots, aware, gait, w, i, wx, wy):
    """Adjust the requested velocity (wx, wy) of pedestrian i, which is or recently was blocked, according to the pedestrian's
    impatience.
    """
    s = traits.speed[w, i]
    dx, dy = goals.x[w, i] - people.x[w, i], goals.y[w, i] - people.y[w, i]
    distance = math.sqrt(dx * dx + dy * dy + _TINY)
    ex, ey = dx / distance, dy / distance
    # Only pedestrians on their way become impatient; at the goal, no one needs to press forward.
    slow = people.vx[w, i] * ex + people.vy[w, i] * ey < _HELD * s
    comes = (distance > _THERE or aware) and s > ZERO
    held, free, alone, room = gait.held[w, i], False, True, _LOOK
    if comes:
        lane = _DOOR_LANE if gait.door[w, i] > ZERO else _LANE
        met, ahead, tight = _count_people(people, traits, gait, w, i, ex, ey, lane, _CLOSE * s)
        # Stay patient near oncoming people and robots: closing up to them would block both sides.
        free = not (sees & SEES_PEDESTRIANS and met > 0)
        free = free and not (sees & SEES_ROBOTS and _faces_robot(people, robots, gait, w, i))
        free = free or aware
        alone = free and ahead == 0
        if free and tight > 0:
            room = _free_distance(people, traits, w, i, ex, ey, lane)
    calming = h / (_PATIENCE if alone else _CALMING)
    held = min(held + h / _PATIENCE, ONE) if free and slow else max(held - calming, ZERO)
    gait.held[w, i] = held
    if free:
        # Remove backward motion, and blend towards closing up to the person ahead.
        back = min(wx[i] * ex + wy[i] * ey, ZERO)
        ax, ay = wx[i] - back * ex, wy[i] - back * ey
        fast = min(s, max(room / _CLOSING_UP, _SHUFFLE))
        wx[i], wy[i] = ax + held * (fast * ex - ax), ay + held * (fast * ey - ay)


@inlined
def _step(h, turning, vx, vy, ax, ay, fastest, fx, fy):
    """Return the velocity (2,) and the facing direction (2,) after a step that starts with velocity (vx, vy) and aims for the
    requested velocity (ax, ay).
    """
    speed = math.sqrt(vx * vx + vy * vy + _TINY)
    walks = speed > _FACING
    fx, fy = vx / speed if walks else fx, vy / speed if walks else fy
    speed = min(speed, fastest)
    asked = math.sqrt(ax * ax + ay * ay + _TINY)
    ux, uy = ax / asked, ay / asked
    # On the spot, the turning rate itself is limited; while walking, it is limited by the lateral acceleration.
    sine = h * min(turning.on_the_spot, turning.lateral / speed)
    cosine = math.sqrt(max(ONE - sine * sine, ZERO))
    left = sine if fx * uy - fy * ux >= ZERO else -sine
    far = fx * ux + fy * uy < cosine
    tx, ty = fx * cosine - fy * left if far else ux, fy * cosine + fx * left if far else uy
    # Without a requested speed, the direction is kept.
    turns = asked > _LEAST
    fx, fy = tx if turns else fx, ty if turns else fy
    # Only the component along the facing direction is walked; it changes within the limits on braking and acceleration.
    along = max(ax * fx + ay * fy, ZERO)
    along = min(max(along, speed - _BRAKING * h), speed + _SPEEDING_UP * h)
    return along * fx, along * fy, fx, fy


@lean_kernel
def walk(
    dt, substeps, turning, sees, minds, people, traits, goals, replay, robots, clock, forced, ahead, gait, out_x, out_y, first,
    last
):  # fmt: skip
    """Turn the chosen velocities (W, P) into steps, for pedestrians that react to each other.

    Args:
        dt: physics step, s.
        substeps: number of equal parts of the step.
        turning: limits on turning (`Turning`).
        sees: bit field of the bodies that pedestrians see (`agora.interfaces.CrowdRecord`).
        minds: (W, P) bodies that a pedestrian reacts to, as in `agora.engine.published_collision_resolution`.
        people: pedestrians at the beginning of the substep.
        goals: waypoints, as crowd models read them.
        forced: (W, P) nonzero if an external force acts on the pedestrian; forces may move people in any direction.
        ahead: record `Ahead`.
        gait: record `Gait`, which is written.
    """
    h = dt / np.float32(substeps)
    for w in range(first, last):
        if clock.done[w]:
            continue
        _write_path_directions(people, traits, goals, ahead, gait, w)
        wx, wy, vx, vy, speed, held = out_x[w], out_y[w], people.vx[w], people.vy[w], traits.speed[w], gait.held[w]
        way_x, way_y, facing_x, facing_y = gait.way_x[w], gait.way_y[w], gait.facing_x[w], gait.facing_y[w]
        steps, count = gait.steps[w], lanes(traits.count[w])
        for i in range(count):
            recorded = replay.last[w, i] >= replay.first[w, i]
            mine = people.active[w, i] and not recorded and forced[w, i] == 0 and minds[w, i] % IGNORES_ROBOTS == ALL
            steps[i] = ONE if mine else ZERO
            if mine and speed[i] == ZERO:  # a behaviour may turn a standing pedestrian
                facing_y[i], facing_x[i] = sincos(people.heading[w, i])
            if mine and (held[i] > ZERO or vx[i] * way_x[i] + vy[i] * way_y[i] < _HELD * speed[i]):
                _close_up(h, sees, people, traits, goals, robots, ahead.aware[w, i] > ZERO, gait, w, i, wx, wy)
        for i in range(count):
            bx, by, fx, fy = _step(h, turning, vx[i], vy[i], wx[i], wy[i], _FASTEST * speed[i], facing_x[i], facing_y[i])
            mine = steps[i] > ZERO
            wx[i], wy[i] = bx if mine else wx[i], by if mine else wy[i]
            facing_x[i], facing_y[i] = fx, fy
