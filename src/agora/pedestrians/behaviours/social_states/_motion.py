"""Motion of pedestrians in each social state: the points that they walk to, their paces, and the gaze directions of standing
pedestrians.
"""

from __future__ import annotations

import math

import numpy as np

from agora.core.jit import lean_inlined, lean_kernel
from agora.core.scalar import ONE, TWO, ZERO, atan2, sincos, wrap
from agora.pedestrians.behaviours.social_states._decisions import decide
from agora.pedestrians.behaviours.social_states._meeting import carry_out_wishes, update_turns
from agora.pedestrians.behaviours.social_states._records import (
    AVOIDING,
    FOREVER,
    IDLE,
    INTERACTING,
    LISTENING,
    PANICKING,
    PHONE,
    QUEUEING,
    RUNNING,
    SCARED,
    SITTING,
    STROLL,
    SURPRISED,
    TALKING,
    TELLING,
    TEXTING,
    THREATENING,
    WALKING,
    WORKING,
)
from agora.pedestrians.shared.neighbours import SEES_PEDESTRIANS, SEES_ROBOTS, lanes

SPACING = np.float32(0.7)
"""Distance between pedestrians in a queue, m."""

_LIVELY = np.float32(2.0)  # 1/s, rate of change of the pace
_TURN = np.float32(3.0)  # rad/s, turning rate of standing pedestrians
_GATHER = np.float32(1.2)  # m, distance from the host at which members of a conversation stop
_THERE, _NEARLY = np.float32(0.3), np.float32(1.0)  # m, at a spot; and near a spot to which a pedestrian makes no more progress
_STUCK = np.float32(0.1)  # m/s
_AHEAD = np.float32(2.0)  # m, distance at which a direction is turned into a waypoint
_ROOM = np.float32(0.6)  # pace of a pedestrian that makes way
_MARGIN = np.float32(0.2)  # m, tolerance of the distance to the robot
_TINY = np.float32(1e-6)


@lean_inlined
def _unit(dx, dy):
    """Return a vector scaled to unit length, and its original length."""
    length = math.sqrt(dx * dx + dy * dy)
    inverse = ONE / max(length, _TINY)
    return dx * inverse, dy * inverse, length


@lean_inlined
def _threat(people, robots, character, memory, sees, w, i):
    """Return the vector (x, y) away from the nearest threatening person who approaches; (0, 0) if there is none."""
    away_x, away_y, least = ZERO, ZERO, character.personal_radius[w, i]
    x, y = people.x[w, i], people.y[w, i]
    if sees & SEES_ROBOTS:
        for r in range(robots.x.shape[1]):
            dx, dy, distance = _unit(x - robots.x[w, r], y - robots.y[w, r])
            comes = dx * robots.world_vx[w, r] + dy * robots.world_vy[w, r] > _STUCK
            if robots.active[w, r] and comes and distance < least:
                away_x, away_y, least = dx, dy, distance
    if sees & SEES_PEDESTRIANS:
        for j in range(memory.count[w]):
            dx, dy, distance = _unit(x - people.x[w, j], y - people.y[w, j])
            comes = dx * people.vx[w, j] + dy * people.vy[w, j] > _STUCK
            if j != i and people.active[w, j] and comes and distance < least:
                away_x, away_y, least = dx, dy, distance
    return away_x, away_y


@lean_inlined
def _evade(rules, people, waypoints, minds, robots, w, i, r):
    """Return the walking direction of a pedestrian that avoids a robot: increasingly sideways as the robot comes nearer, or
    directly away from it if the pedestrian is scared.
    """
    ax, ay, distance = _unit(people.x[w, i] - robots.x[w, r], people.y[w, i] - robots.y[w, r])
    gx, gy, _ = _unit(waypoints.x[w, i] - people.x[w, i], waypoints.y[w, i] - people.y[w, i])
    if minds.reaction[w, i] == SCARED or minds.state[w, i] == PANICKING:
        return ax, ay
    weight = TWO * max(ONE - distance / rules.avoid_distance, ZERO)
    side = ONE if gx * ay - gy * ax >= ZERO else -ONE
    dx, dy, _ = _unit(gx + weight * (ax - side * gy), gy + weight * (ay + side * gx))
    return dx, dy


@lean_inlined
def _point_near_robot(rules, people, minds, robots, w, i, r):
    """For a pedestrian that plays with or blocks a robot, return the point to walk to (x, y), the pace, and the distance at which
    the point counts as reached, m.
    """
    rx, ry = robots.x[w, r], robots.y[w, r]
    if minds.state[w, i] == THREATENING:
        sine, cosine = sincos(robots.heading[w, r])
        return rx + rules.block_distance * cosine, ry + rules.block_distance * sine, rules.block_pace, _MARGIN
    dx, dy, _ = _unit(people.x[w, i] - rx, people.y[w, i] - ry)
    return rx + rules.play_distance * dx, ry + rules.play_distance * dy, rules.play_pace, _MARGIN


@lean_inlined
def _spot(people, traits, memory, spots, w, i):
    """Return the pose of a spot or of a place in its queue: x, y and heading."""
    s = memory.spot[w, i]
    heading = spots.heading[w, s]
    sine, cosine = sincos(heading)
    behind = SPACING * np.float32(memory.place[w, i])
    return spots.x[w, s] - behind * cosine, spots.y[w, s] - behind * sine, heading


@lean_inlined
def _set_goal(people, memory, w, i, x, y, enough):
    """Set a point to walk to; return whether the pedestrian is still more than ``enough`` metres away from it."""
    dx, dy = x - people.x[w, i], y - people.y[w, i]
    memory.goal_x[w, i], memory.goal_y[w, i], memory.seeks[w, i] = x, y, True
    return dx * dx + dy * dy > enough * enough


@lean_inlined
def _pace_at_spot(people, traits, memory, spots, w, i):
    """Return the pace of a pedestrian that uses furniture; on arrival, it turns to the spot's heading."""
    if memory.spot[w, i] < 0:
        return ZERO
    x, y, heading = _spot(people, traits, memory, spots, w, i)
    away = _set_goal(people, memory, w, i, x, y, _THERE)
    if away:
        vx, vy = people.vx[w, i], people.vy[w, i]
        stuck = memory.since[w, i] > TWO and vx * vx + vy * vy < _STUCK * _STUCK
        away = not (stuck or memory.arrived[w, i]) or _set_goal(people, memory, w, i, x, y, _NEARLY)
    memory.arrived[w, i] = not away
    if away:
        return ONE
    memory.gaze[w, i] = heading
    return ZERO


@lean_inlined
def _pace_in_conversation(people, memory, w, i):
    """Return the pace in a conversation: a pedestrian approaches the host, and then either stands and looks at its partner, or
    walks on.
    """
    if memory.talk[w, i] < 0:
        return ZERO
    if memory.kind[w, i] == STROLL:
        return ONE
    host, faces = memory.host[w, i], memory.faces[w, i]
    if host != i and _set_goal(people, memory, w, i, people.x[w, host], people.y[w, host], _GATHER):
        return ONE
    memory.gaze[w, i] = atan2(people.y[w, faces] - people.y[w, i], people.x[w, faces] - people.x[w, i])
    return ZERO


@lean_inlined
def _pace_near_robot(rules, people, waypoints, minds, robots, character, memory, w, i, r):
    """Return the pace of a pedestrian that reacts to a robot."""
    state = minds.state[w, i]
    if r < 0:
        return character.running[w, i] if state == PANICKING else ONE
    if state in (AVOIDING, PANICKING):
        dx, dy = _evade(rules, people, waypoints, minds, robots, w, i, r)
        _set_goal(people, memory, w, i, people.x[w, i] + _AHEAD * dx, people.y[w, i] + _AHEAD * dy, ZERO)
        return character.running[w, i] if state == PANICKING else rules.avoid_pace
    if state != SURPRISED:
        x, y, pace, enough = _point_near_robot(rules, people, minds, robots, w, i, r)
        dx, dy = x - people.x[w, i], y - people.y[w, i]
        if _set_goal(people, memory, w, i, x, y, enough):
            return pace * min(ONE, TWO * math.sqrt(dx * dx + dy * dy))
    memory.gaze[w, i] = atan2(robots.y[w, r] - people.y[w, i], robots.x[w, r] - people.x[w, i])
    return ZERO


@lean_inlined
def _pace(rules, sees, people, traits, waypoints, minds, robots, character, memory, spots, w, i):
    """Return the pace in a state other than plain walking, and write a goal if the waypoint does not suit the state."""
    state = minds.state[w, i]
    if state == IDLE:
        dx, dy = _threat(people, robots, character, memory, sees, w, i)
        if dx == ZERO and dy == ZERO:
            return ZERO
        _set_goal(people, memory, w, i, people.x[w, i] + dx, people.y[w, i] + dy, ZERO)
        return _ROOM
    if state in (TALKING, LISTENING, TELLING):
        return _pace_in_conversation(people, memory, w, i)
    if state in (INTERACTING, QUEUEING, SITTING, WORKING):
        return _pace_at_spot(people, traits, memory, spots, w, i)
    return _pace_near_robot(rules, people, waypoints, minds, robots, character, memory, w, i, memory.robot[w, i])


@lean_inlined
def _choose(rules, sees, people, traits, waypoints, minds, robots, character, memory, spots, w):
    """Choose the targets of all pedestrians in world w until the next decision: a pace and, if needed, a point and a gaze
    direction.
    """
    state, wanted, running = minds.state[w], memory.wanted[w], character.running[w]
    for i in range(memory.count[w]):
        memory.seeks[w, i], memory.gaze[w, i] = False, FOREVER
        s = state[i]
        if minds.taken[w, i] or s == WALKING or not people.active[w, i]:
            wanted[i] = ONE
        elif s == RUNNING:
            wanted[i] = running[i]
        elif s in (TEXTING, PHONE):
            wanted[i] = rules.phone_pace
        else:
            wanted[i] = _pace(rules, sees, people, traits, waypoints, minds, robots, character, memory, spots, w, i)


@lean_inlined
def _move(dt, people, traits, waypoints, memory, w):
    """Set the waypoints and speeds in world w; paces change gradually, and standing pedestrians turn gradually."""
    vx, vy, heading = people.vx[w], people.vy[w], people.heading[w]
    pace, wanted, speed, x, y = memory.pace[w], memory.wanted[w], traits.speed[w], waypoints.x[w], waypoints.y[w]
    goal_x, goal_y, seeks, gaze = memory.goal_x[w], memory.goal_y[w], memory.seeks[w], memory.gaze[w]
    count = memory.count[w]
    top = lanes(count)
    most, angle = _LIVELY * dt, _TURN * dt
    for i in range(top):
        pace[i] += min(max(wanted[i] - pace[i], -most), most)
        speed[i] *= pace[i] if i < count else ONE
    for i in range(top):
        x[i] = goal_x[i] if seeks[i] else x[i]
        y[i] = goal_y[i] if seeks[i] else y[i]
    for i in range(top):
        looks = (gaze[i] < FOREVER) & (i < count) & (vx[i] * vx[i] + vy[i] * vy[i] < _STUCK * _STUCK)
        turned = wrap(heading[i] + min(max(wrap((gaze[i] if looks else heading[i]) - heading[i]), -angle), angle))
        heading[i] = turned if looks else heading[i]


@lean_kernel
def think(dt, ticks, every, rules, table, sees, people, traits, waypoints, minds, robots, clock, character, memory, spots,
          first, last):  # fmt: skip
    """Run one tick of the social states for worlds ``first <= w < last``; decisions are made only at every ``ticks``-th tick.

    A tick lasts ``every`` steps, which is ``dt`` seconds.
    """
    for w in range(first, last):
        if clock.done[w]:
            continue
        if clock.step[w] // every % ticks == 0:
            passed = dt * np.float32(ticks)
            wishes, others = decide(
                passed, rules, table, sees, people, traits, waypoints, minds, robots, clock, character, memory, spots, w
            )
            if wishes:
                carry_out_wishes(rules, people, traits, minds, character, memory, spots, clock, w)
            if wishes or others:
                update_turns(rules, people, traits, minds, character, memory, w)
            _choose(rules, sees, people, traits, waypoints, minds, robots, character, memory, spots, w)
        _move(dt, people, traits, waypoints, memory, w)
