"""Conversations of standing groups: places around the o-space, and people who join and leave."""

from __future__ import annotations

import numpy as np

from agora.core.field import clearance_at
from agora.core.jit import hidden
from agora.core.scalar import TWO_PI, ZERO, atan2, sincos, wrap
from agora.core.state import SOCIAL_STATES
from agora.pedestrians.behaviours.groups._walk import aim_beyond
from agora.pedestrians.shared.formations import o_space_radius
from agora.seeds import uniform_at

IDLE, WALKING, TALKING, LISTENING = (SOCIAL_STATES.index(name) for name in ("idle", "walking", "talking", "listening"))

_JOIN, _LEAVE = 102, 103  # indices of the random draws
_ROOM = np.float32(0.4)  # beyond the ring, m
_ARRIVED = np.float32(0.4)  # m
_STILL = np.float32(0.15)  # m/s
_TURN = np.float32(2.0)  # rad/s
_ELSEWHERE = np.float32(1.0)  # m, a member whose waypoints end within this distance has no other destination


@hidden
def rank_of(c, traits, w, first, count, number, i):
    """Return the rank of member i around the o-space: the number of members with a smaller bearing, or with the same bearing and a
    smaller id.
    """
    rank = 0
    for j in range(first, count):
        if c.member[w, j] == number:
            less = c.bearing[w, j] < c.bearing[w, i]
            if less or (c.bearing[w, j] == c.bearing[w, i] and traits.id[w, j] < traits.id[w, i]):
                rank += 1
    return rank


@hidden
def space_members(c, people, traits, w, first, count, number):
    """Space the ``number`` members of a conversation, from slot ``first`` on, evenly around its o-space, in their current order."""
    cx, cy = ZERO, ZERO
    for i in range(first, count):
        if c.member[w, i] == number and c.talks[w, i]:
            cx, cy = c.centre_x[w, i], c.centre_y[w, i]
            break
    members = 0
    for i in range(first, count):
        if c.member[w, i] == number:
            members += 1
            c.bearing[w, i] = atan2(people.y[w, i] - cy, people.x[w, i] - cx)
    step = TWO_PI / np.float32(members)
    sines, cosines = ZERO, ZERO
    for i in range(first, count):
        if c.member[w, i] == number:
            rank = rank_of(c, traits, w, first, count, number, i)
            c.aside[w, i] = step * np.float32(rank)
            s, co = sincos(c.bearing[w, i] - c.aside[w, i])
            sines += s
            cosines += co
    turn, radius = atan2(sines, cosines), o_space_radius(members)
    for i in range(first, count):
        if c.member[w, i] == number:
            s, co = sincos(wrap(turn + c.aside[w, i]))
            c.place_x[w, i], c.place_y[w, i] = cx + radius * co, cy + radius * s
            c.centre_x[w, i], c.centre_y[w, i] = cx, cy
            c.talks[w, i] = True


@hidden
def stand_in_circle(c, people, traits, minds, goals, w, i, dt):
    """Keep a member at its place; after its arrival, it faces the others."""
    x, y, vx, vy = people.x[w, i], people.y[w, i], people.vx[w, i], people.vy[w, i]
    dx, dy = c.place_x[w, i] - x, c.place_y[w, i] - y
    aim_beyond(c, w, i, dx, dy, dt)
    goals.x[w, i], goals.y[w, i] = c.place_x[w, i] + c.lean_x[w, i], c.place_y[w, i] + c.lean_y[w, i]
    traits.speed[w, i] = minds.speed[w, i]
    if dx * dx + dy * dy > _ARRIVED * _ARRIVED:
        return
    if minds.state[w, i] == WALKING:
        talks = c.leader[w, i] == i
        minds.state[w, i] = TALKING if talks else LISTENING
        minds.partner[w, i] = -1 if talks else traits.id[w, c.leader[w, i]]
    if vx * vx + vy * vy < _STILL * _STILL:
        turn = wrap(atan2(c.centre_y[w, i] - y, c.centre_x[w, i] - x) - people.heading[w, i])
        people.heading[w, i] = wrap(people.heading[w, i] + min(max(turn, -_TURN * dt), _TURN * dt))


@hidden
def may_join(c, people, traits, minds, settings, key, step, w, j, count):
    """Return the slot of the lone walker that joins the conversation of speaker ``j`` now; -1 if none."""
    cx, cy, number = c.centre_x[w, j], c.centre_y[w, j], traits.group[w, j]
    best, lowest = -1, np.float64(settings.join[0])
    for i in range(count):
        alone = c.member[w, i] == -1 and traits.group[w, i] < 0 and c.steered[w, i] and c.left[w, i] != number
        if alone and minds.state[w, i] == WALKING:
            dx, dy = people.x[w, i] - cx, people.y[w, i] - cy
            if dx * dx + dy * dy < settings.notice[0] * settings.notice[0]:
                draw = uniform_at(key, traits.id[w, i], step, _JOIN)
                if draw < lowest:
                    best, lowest = i, draw
    return best


@hidden
def may_leave(c, traits, goals, settings, key, step, w, j, count):
    """Return the slot of the member that leaves the conversation of speaker ``j`` now; -1 if none."""
    best, lowest = -1, np.float64(settings.leave[0])
    for i in range(count):
        if c.leader[w, i] == j:
            k = min(goals.index[w, i], max(c.count[w, i] - 1, 0))
            dx, dy = goals.list_x[w, i, k] - c.place_x[w, i], goals.list_y[w, i, k] - c.place_y[w, i]
            draw = uniform_at(key, traits.id[w, i], step, _LEAVE)
            if draw < lowest and dx * dx + dy * dy > _ELSEWHERE * _ELSEWHERE:
                best, lowest = i, draw
    return best


@hidden
def join_and_leave(c, people, traits, minds, goals, maps, settings, key, step, w, count):
    """Let at most one walker join, and one member leave, each conversation of a world."""
    for j in range(count):
        if c.leader[w, j] != j or not c.talks[w, j]:
            continue
        members = c.number[w, j]
        if settings.leave[0] > ZERO:
            i = may_leave(c, traits, goals, settings, key, step, w, j, count)
            if i >= 0:
                c.left[w, i] = traits.group[w, i]
                traits.group[w, i] = -1
        if settings.join[0] > ZERO and members < settings.most[0]:
            clearance, _, _ = clearance_at(maps, maps.index[w], c.centre_x[w, j], c.centre_y[w, j])
            i = may_join(c, people, traits, minds, settings, key, step, w, j, count)
            if i >= 0 and clearance >= o_space_radius(members + 1) + _ROOM:
                traits.group[w, i] = traits.group[w, j]
