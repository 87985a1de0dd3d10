"""Where pedestrians in each social state go, how fast, and where those who stand look."""

from __future__ import annotations

import math

import numpy as np

from agora.core.jit import lean, lean_kernel
from agora.core.scalar import HALF, ONE, TWO, ZERO, atan2, sincos, wrap
from agora.pedestrians.social_kernels import decide
from agora.pedestrians.social_meeting import keep_together, settle_wishes
from agora.pedestrians.social_records import (
    AVOIDING,
    IDLE,
    INTERACTING,
    INTERESTED,
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
    WORKING,
)

SPACING = np.float32(0.7)
"""Distance between those who queue, m."""

_LIVELY = np.float32(2.0)  # change of the pace, 1/s
_TURN = np.float32(3.0)  # how fast those who stand turn, rad/s
_GATHER = np.float32(1.2)  # members of a conversation come this near to its host, m
_THERE, _NEARLY = np.float32(0.3), np.float32(1.0)  # m, at a spot; and near one to which one does not get closer
_STUCK = np.float32(0.1)  # m/s
_AHEAD = np.float32(2.0)  # m, how far away a direction is put as a waypoint
_ROOM = np.float32(0.6)  # pace of one who makes room
_MARGIN = np.float32(0.2)  # m, within which the distance to the robot is right
_TINY = np.float32(1e-6)


@lean
def _unit(dx, dy):
    """A direction of length one, and the length."""
    length = math.sqrt(dx * dx + dy * dy)
    inverse = ONE / max(length, _TINY)
    return dx * inverse, dy * inverse, length


@lean
def _slot_of(traits, memory, w, identity):
    """The slot of an id, -1 for none."""
    for j in range(memory.count[w]):
        if traits.id[w, j] == identity:
            return j
    return -1


@lean
def _threat(people, robots, character, memory, sees, w, i):
    """Vector away from the nearest one who comes near: x, y; 0, 0 for none."""
    away_x, away_y, least = ZERO, ZERO, character.personal_radius[w, i]
    x, y = people.x[w, i], people.y[w, i]
    if sees & 2:
        for r in range(robots.x.shape[1]):
            dx, dy, distance = _unit(x - robots.x[w, r], y - robots.y[w, r])
            comes = dx * robots.world_vx[w, r] + dy * robots.world_vy[w, r] > _STUCK
            if robots.active[w, r] and comes and distance < least:
                away_x, away_y, least = dx, dy, distance
    if sees & 1:
        for j in range(memory.count[w]):
            dx, dy, distance = _unit(x - people.x[w, j], y - people.y[w, j])
            comes = dx * people.vx[w, j] + dy * people.vy[w, j] > _STUCK
            if j != i and people.active[w, j] and comes and distance < least:
                away_x, away_y, least = dx, dy, distance
    return away_x, away_y


@lean
def _evade(rules, people, traits, waypoints, minds, robots, w, i, r):
    """Direction of one who keeps away from a robot: aside, the more the nearer; straight away where scared."""
    ax, ay, distance = _unit(people.x[w, i] - robots.x[w, r], people.y[w, i] - robots.y[w, r])
    gx, gy, _ = _unit(waypoints.x[w, i] - people.x[w, i], waypoints.y[w, i] - people.y[w, i])
    if minds.reaction[w, i] == SCARED or minds.state[w, i] == PANICKING:
        return ax, ay
    weight = TWO * max(ONE - distance / rules.avoid_distance, ZERO)
    side = ONE if gx * ay - gy * ax >= ZERO else -ONE
    dx, dy, _ = _unit(gx + weight * (ax - side * gy), gy + weight * (ay + side * gx))
    return dx, dy


@lean
def _to_robot(rules, people, minds, robots, w, i, r):
    """Point that one goes to who plays with a robot or steps into its way: x, y, pace there, and within what it is enough, m."""
    rx, ry = robots.x[w, r], robots.y[w, r]
    if minds.state[w, i] == THREATENING:
        sine, cosine = sincos(robots.heading[w, r])
        return rx + rules.block_distance * cosine, ry + rules.block_distance * sine, rules.block_pace, _MARGIN
    dx, dy, _ = _unit(people.x[w, i] - rx, people.y[w, i] - ry)
    return rx + rules.play_distance * dx, ry + rules.play_distance * dy, rules.play_pace, _MARGIN


@lean
def _spot(people, traits, memory, spots, w, i):
    """Point of a spot or of a place in its queue: x, y and heading."""
    s = memory.spot[w, i]
    heading = spots.heading[w, s]
    sine, cosine = sincos(heading)
    behind = SPACING * np.float32(memory.place[w, i])
    return spots.x[w, s] - behind * cosine, spots.y[w, s] - behind * sine, heading


@lean
def _go(people, waypoints, w, i, x, y, enough):
    """Make a point the waypoint; whether one is not there yet, by ``enough`` m."""
    dx, dy = x - people.x[w, i], y - people.y[w, i]
    waypoints.x[w, i], waypoints.y[w, i] = x, y
    return dx * dx + dy * dy > enough * enough


@lean
def _look(dt, people, w, i, angle):
    """Turn one who stands towards an angle."""
    speed = people.vx[w, i] * people.vx[w, i] + people.vy[w, i] * people.vy[w, i]
    if speed < _STUCK * _STUCK:
        turn = min(max(wrap(angle - people.heading[w, i]), -_TURN * dt), _TURN * dt)
        people.heading[w, i] = wrap(people.heading[w, i] + turn)


@lean
def _at_spot(dt, people, traits, memory, waypoints, spots, w, i):
    """Pace of one who uses furniture, who looks there once it has arrived."""
    if memory.spot[w, i] < 0:
        return ZERO
    x, y, heading = _spot(people, traits, memory, spots, w, i)
    away = _go(people, waypoints, w, i, x, y, _THERE)
    if away:
        vx, vy = people.vx[w, i], people.vy[w, i]
        stuck = memory.since[w, i] > TWO and vx * vx + vy * vy < _STUCK * _STUCK
        away = not (stuck or memory.arrived[w, i]) or _go(people, waypoints, w, i, x, y, _NEARLY)
    memory.arrived[w, i] = not away
    if away:
        return ONE
    _look(dt, people, w, i, heading)
    return ZERO


@lean
def _talk(dt, people, traits, waypoints, minds, memory, w, i):
    """Pace of one in a conversation: comes near to its host, then stands and looks at its partner; or walks on."""
    if memory.talk[w, i] >= 0 and memory.kind[w, i] == STROLL:
        return ONE
    host = _slot_of(traits, memory, w, memory.talk[w, i]) if memory.talk[w, i] >= 0 else -1
    if host >= 0 and host != i and _go(people, waypoints, w, i, people.x[w, host], people.y[w, host], _GATHER):
        return ONE
    partner = _slot_of(traits, memory, w, minds.partner[w, i]) if minds.partner[w, i] >= 0 else -1
    if partner >= 0:
        angle = atan2(people.y[w, partner] - people.y[w, i], people.x[w, partner] - people.x[w, i])
        _look(dt, people, w, i, angle)
    return ZERO


@lean
def _with_robot(dt, rules, people, traits, waypoints, minds, robots, character, w, i, r):
    """Pace of one who deals with a robot."""
    state = minds.state[w, i]
    if r < 0:
        return character.running[w, i] if state == PANICKING else ONE
    if state == AVOIDING or state == PANICKING:
        dx, dy = _evade(rules, people, traits, waypoints, minds, robots, w, i, r)
        _go(people, waypoints, w, i, people.x[w, i] + _AHEAD * dx, people.y[w, i] + _AHEAD * dy, ZERO)
        return character.running[w, i] if state == PANICKING else rules.avoid_pace
    if state != SURPRISED:
        x, y, pace, enough = _to_robot(rules, people, minds, robots, w, i, r)
        dx, dy = x - people.x[w, i], y - people.y[w, i]
        if _go(people, waypoints, w, i, x, y, enough):
            return pace * min(ONE, TWO * math.sqrt(dx * dx + dy * dy))
    _look(dt, people, w, i, atan2(robots.y[w, r] - people.y[w, i], robots.x[w, r] - people.x[w, i]))
    return ZERO


@lean
def _pace(dt, rules, sees, people, traits, waypoints, minds, robots, character, memory, spots, w, i):
    """The pace that the state asks for; the waypoint is written on the way, where it is not that of the list."""
    state = minds.state[w, i]
    if state == RUNNING:
        return character.running[w, i]
    if state == TEXTING or state == PHONE:
        return rules.phone_pace
    if state == IDLE:
        dx, dy = _threat(people, robots, character, memory, sees, w, i)
        if dx == ZERO and dy == ZERO:
            return ZERO
        _go(people, waypoints, w, i, people.x[w, i] + dx, people.y[w, i] + dy, ZERO)
        return _ROOM
    if state == TALKING or state == LISTENING or state == TELLING:
        return _talk(dt, people, traits, waypoints, minds, memory, w, i)
    if state == INTERACTING or state == QUEUEING or state == SITTING or state == WORKING:
        return _at_spot(dt, people, traits, memory, waypoints, spots, w, i)
    if state == AVOIDING or state == INTERESTED or state == SURPRISED or state == THREATENING or state == PANICKING:
        return _with_robot(dt, rules, people, traits, waypoints, minds, robots, character, w, i, memory.robot[w, i])
    return ONE


@lean_kernel
def think(dt, rules, table, sees, people, traits, waypoints, minds, robots, status, character, memory, spots, first, last):
    """One tick of the social states of worlds ``first <= w < last``."""
    for w in range(first, last):
        if status.done[w]:
            continue
        others = decide(dt, rules, table, sees, people, traits, waypoints, minds, robots, status, character, memory, spots, w)
        if others:
            settle_wishes(rules, people, traits, minds, character, memory, spots, status, w)
            keep_together(rules, people, traits, minds, character, memory, w)
        for i in range(memory.count[w]):
            if people.active[w, i]:
                wanted = _pace(dt, rules, sees, people, traits, waypoints, minds, robots, character, memory, spots, w, i)
                change = min(max(wanted - memory.pace[w, i], -_LIVELY * dt), _LIVELY * dt)
                memory.pace[w, i] += change
                traits.speed[w, i] *= memory.pace[w, i]
