"""Walking in a group: the places of followers relative to their leader, and how followers move to these places."""

from __future__ import annotations

import math

import numpy as np

from agora.core.field import clearance_at
from agora.core.jit import hidden
from agora.core.scalar import HALF, ONE, TWO, ZERO
from agora.seeds import uniform_at

CRUMBS = 24
"""Number of places stored for a leader's trail."""

_CRUMB = np.float32(0.4)  # m, distance between two places on the trail
_SLIM = np.float32(0.15)  # m, half the width of the strip that must be free for a point to be visible
_REVERSED = np.float32(-0.5)  # cosine of the turn from which a group walks back instead of wheeling
_WALKING = np.float32(0.2)  # m/s
_FELL_BEHIND = np.float32(3.0)  # m, distance from its place at which a follower walks there in any direction
_CREEP = np.float32(0.3)  # fraction of its speed that a waiting leader keeps
_STROLL = np.float32(0.4)  # minimum speed of a follower, as a multiple of its preferred speed: at speed 0 it could not make way
_ELSEWHERE = np.float32(0.6)  # m
_EASY = np.float32(0.35)  # m, a follower within this distance of its place stays there
_NEAR = np.float32(1.2)  # m
_LEAN = np.float32(0.3)  # 1/s
_FARTHEST = np.float32(1.5)  # m
_DRIFT = 103  # index of the random draws ahead; the index of the sideways draws is 104
_WIDTH = np.float32(math.sqrt(12.0))  # half-width of the uniform distribution with standard deviation 1
_TINY = np.float32(1e-12)


@hidden
def is_visible(maps, m, x0, y0, x1, y1, clearance):
    """Return whether a thin strip between two points is free of walls, checked in steps of the local clearance."""
    dx, dy = x1 - x0, y1 - y0
    length = math.sqrt(dx * dx + dy * dy + _TINY)
    done = clearance
    while done < length and clearance >= _SLIM:
        clearance, _, _ = clearance_at(maps, m, x0 + dx * (done / length), y0 + dy * (done / length))
        done += clearance
    return clearance >= _SLIM


@hidden
def lead_group(c, people, goals, settings, w, i, dt):
    """Turn a group's direction of travel with the distance that its leader walks, and record the leader's trail."""
    x, y, vx, vy = people.x[w, i], people.y[w, i], people.vx[w, i], people.vy[w, i]
    ux, uy = c.ux[w, i], c.uy[w, i]
    speed = math.sqrt(vx * vx + vy * vy + _TINY)
    way_x, way_y = goals.x[w, i] - x, goals.y[w, i] - y
    # A waypoint behind the leader reverses the group; wheeling around through half a turn would sweep the rows across the floor.
    back = ux * way_x + uy * way_y < _REVERSED * math.sqrt(way_x * way_x + way_y * way_y)
    if back and speed > _WALKING and ux * vx + uy * vy < _REVERSED * speed:
        turn_back(c, w, i, people.x.shape[1])
        ux, uy = c.ux[w, i], c.uy[w, i]
    # The direction turns with the distance walked, not with time, so that a leader that stops does not turn its group.
    part = dt / settings.wheel[0]
    ux, uy = ux + vx * part, uy + vy * part
    size = math.sqrt(ux * ux + uy * uy + _TINY)
    c.ux[w, i], c.uy[w, i] = ux / size, uy / size
    newest = c.newest[w, i]
    dx, dy = x - c.trail_x[w, i, newest], y - c.trail_y[w, i, newest]
    if dx * dx + dy * dy >= _CRUMB * _CRUMB:
        newest = (newest + 1) % CRUMBS
        c.newest[w, i] = newest
        c.crumbs[w, i] = min(c.crumbs[w, i] + 1, CRUMBS)
        c.trail_x[w, i, newest], c.trail_y[w, i, newest] = x, y
    c.gap[w, i] = ZERO


@hidden
def turn_back(c, w, leader, slots):
    """Reverse a group's direction of travel; the members' positions stay the same."""
    c.ux[w, leader], c.uy[w, leader] = -c.ux[w, leader], -c.uy[w, leader]
    for i in range(slots):
        if c.leader[w, i] == leader:
            c.ahead[w, i], c.aside[w, i] = -c.ahead[w, i], -c.aside[w, i]
            c.lean_x[w, i], c.lean_y[w, i] = -c.lean_x[w, i], -c.lean_y[w, i]
            c.drift_x[w, i], c.drift_y[w, i] = -c.drift_x[w, i], -c.drift_y[w, i]


@hidden
def point_on_trail(c, people, w, leader, back):
    """Return the point on the leader's trail ``back`` metres behind the leader (at most the oldest point), and the direction of the
    trail there.
    """
    x, y = people.x[w, leader], people.y[w, leader]
    ux, uy = c.ux[w, leader], c.uy[w, leader]
    for k in range(c.crumbs[w, leader]):
        crumb = (c.newest[w, leader] - k) % CRUMBS
        dx, dy = c.trail_x[w, leader, crumb] - x, c.trail_y[w, leader, crumb] - y
        length = math.sqrt(dx * dx + dy * dy + _TINY)
        if k > 0 or length > _SLIM:
            ux, uy = -dx / length, -dy / length
        if length >= back:
            return x + dx * (back / length), y + dy * (back / length), ux, uy
        back -= length
        x, y = c.trail_x[w, leader, crumb], c.trail_y[w, leader, crumb]
    return x, y, ux, uy


@hidden
def speed_of(people, w, i):
    """Return the speed of a pedestrian, m/s."""
    return math.sqrt(people.vx[w, i] * people.vx[w, i] + people.vy[w, i] * people.vy[w, i])


@hidden
def is_leaving(people, goals, w, leader):
    """Return whether a leader is walking, or about to walk because its waypoint is elsewhere."""
    dx, dy = goals.x[w, leader] - people.x[w, leader], goals.y[w, leader] - people.y[w, leader]
    return dx * dx + dy * dy > _ELSEWHERE * _ELSEWHERE


@hidden
def aim_beyond(c, w, i, dx, dy, dt):
    """Aim beyond the place of member i if other people keep it away, by integrating the remaining distance; the integral decays
    while the distance is large.
    """
    if dx * dx + dy * dy >= _NEAR * _NEAR:
        c.lean_x[w, i], c.lean_y[w, i] = c.lean_x[w, i] * (ONE - _LEAN * dt), c.lean_y[w, i] * (ONE - _LEAN * dt)
    else:
        x, y = c.lean_x[w, i] + _LEAN * dt * dx, c.lean_y[w, i] + _LEAN * dt * dy
        shorter = min(ONE, _FARTHEST / math.sqrt(x * x + y * y + _TINY))
        c.lean_x[w, i], c.lean_y[w, i] = shorter * x, shorter * y


@hidden
def _is_in_the_way(c, people, traits, goals, w, i):
    """Return whether a follower in single file is ahead of its walking leader and would touch it."""
    leader = c.leader[w, i]
    dx, dy = people.x[w, i] - people.x[w, leader], people.y[w, i] - people.y[w, leader]
    ahead = dx * c.ux[w, leader] + dy * c.uy[w, leader]
    aside = abs(dy * c.ux[w, leader] - dx * c.uy[w, leader])
    ahead_of = ahead > _SLIM and aside < traits.radius[w, i] + traits.radius[w, leader]
    return ahead_of and c.beside[w, i] < ONE and is_leaving(people, goals, w, leader)


@hidden
def _go_ahead(c, people, traits, minds, goals, settings, w, i):
    """Let a follower walk to its leader's waypoint at the leader's speed, but wait if it is farther ahead of the leader than its
    gap in single file.
    """
    leader = c.leader[w, i]
    dx, dy = people.x[w, i] - people.x[w, leader], people.y[w, i] - people.y[w, leader]
    short = c.behind[w, i] - math.sqrt(dx * dx + dy * dy)
    goals.x[w, i], goals.y[w, i] = goals.x[w, leader], goals.y[w, leader]
    if short < ZERO:
        goals.x[w, i], goals.y[w, i] = people.x[w, i], people.y[w, i]
    wanted = speed_of(people, w, leader) + settings.gain[0] * short
    traits.speed[w, i] = min(max(wanted, _STROLL * minds.speed[w, i]), settings.catch_up[0] * minds.speed[w, i])


@hidden
def _drift(c, traits, clock, settings, w, i):
    """Update a follower's deviation from its place, an Ornstein-Uhlenbeck process in each direction."""
    kept, fresh, key, who, step = settings.kept[0], settings.fresh[0], clock.key[w], traits.id[w, i], clock.step[w]
    along = _WIDTH * (np.float32(uniform_at(key, who, step, _DRIFT)) - HALF)
    across = _WIDTH * (np.float32(uniform_at(key, who, step, _DRIFT + 1)) - HALF)
    c.drift_x[w, i] = kept * c.drift_x[w, i] + fresh * along
    c.drift_y[w, i] = kept * c.drift_y[w, i] + fresh * across


@hidden
def follow_leader(c, people, traits, minds, goals, maps, clock, settings, w, i, dt):
    """Set a follower's waypoint and speed.

    Unless it has fallen behind, the follower does not walk backwards while its leader is walking or about to walk. While the leader
    stands, a follower that is close to its place stays where it is.
    """
    leader, m = c.leader[w, i], maps.index[w]
    x, y, ux, uy = people.x[w, i], people.y[w, i], c.ux[w, leader], c.uy[w, leader]
    c.ux[w, i], c.uy[w, i] = ux, uy
    goals.index[w, i] = min(goals.index[w, leader], max(c.count[w, i] - 1, 0))
    leader_x, leader_y, vx, vy = people.x[w, leader], people.y[w, leader], people.vx[w, leader], people.vy[w, leader]
    _drift(c, traits, clock, settings, w, i)
    ahead, aside = c.ahead[w, i] + c.drift_x[w, i], c.aside[w, i] + c.drift_y[w, i]
    # A place in a row needs room, and must be visible from both the leader and the follower.
    place_x, place_y = leader_x + ahead * ux - aside * uy, leader_y + ahead * uy + aside * ux
    clearance, _, _ = clearance_at(maps, m, place_x, place_y)
    room = clearance >= traits.radius[w, i] + settings.margin[0]
    room = room and is_visible(maps, m, place_x, place_y, leader_x, leader_y, clearance)
    room = room and is_visible(maps, m, place_x, place_y, x, y, clearance)
    # Blend between row and single file over one second, so that a short narrow place does not cause a jump.
    beside = min(c.beside[w, i] + dt, ONE) if room else max(c.beside[w, i] - dt, ZERO)
    c.beside[w, i] = beside
    if _is_in_the_way(c, people, traits, goals, w, i):
        _go_ahead(c, people, traits, minds, goals, settings, w, i)
        return
    # In single file, choose the nearest place on the trail that the follower sees; farther back, it is fully in single file.
    if beside < ONE:
        back = c.behind[w, i]
        file_x, file_y, along_x, along_y = point_on_trail(c, people, w, leader, back)
        here, _, _ = clearance_at(maps, m, x, y)
        while not is_visible(maps, m, x, y, file_x, file_y, max(here, _SLIM)) and back < _CRUMB * CRUMBS:
            back += _CRUMB
            beside = ZERO
            file_x, file_y, along_x, along_y = point_on_trail(c, people, w, leader, back)
        if back >= _CRUMB * CRUMBS:  # it sees no place on the trail
            file_x, file_y, along_x, along_y = point_on_trail(c, people, w, leader, c.behind[w, i])
        speed = speed_of(people, w, leader) * (ONE - beside)
        place_x, place_y = file_x + beside * (place_x - file_x), file_y + beside * (place_y - file_y)
        vx, vy = beside * vx + speed * along_x, beside * vy + speed * along_y
    dx, dy = place_x - x, place_y - y
    gap = math.sqrt(dx * dx + dy * dy)
    # Aim beyond the place if the pressure of other people would otherwise leave a constant offset.
    c.gap[w, leader] = max(c.gap[w, leader], gap)
    aim_beyond(c, w, i, dx * ux + dy * uy, dy * ux - dx * uy, dt)
    lean_x = c.lean_x[w, i] * ux - c.lean_y[w, i] * uy
    lean_y = c.lean_x[w, i] * uy + c.lean_y[w, i] * ux
    gain, own = settings.gain[0], minds.speed[w, i]
    wanted_x, wanted_y = vx + gain * (dx + lean_x), vy + gain * (dy + lean_y)
    if gap < _EASY and speed_of(people, w, leader) < _WALKING:
        wanted_x, wanted_y = ZERO, ZERO
    elif gap < _FELL_BEHIND and is_leaving(people, goals, w, leader):
        along = min(wanted_x * ux + wanted_y * uy, ZERO)
        wanted_x, wanted_y = wanted_x - along * ux, wanted_y - along * uy
    wanted = math.sqrt(wanted_x * wanted_x + wanted_y * wanted_y)
    goals.x[w, i], goals.y[w, i] = x + wanted_x / gain, y + wanted_y / gain
    traits.speed[w, i] = min(max(wanted, _STROLL * own), settings.catch_up[0] * own)


@hidden
def wait_for_members(c, traits, settings, w, i, dt):
    """Let a leader walk at its group's speed, and wait for members that have fallen behind, but only for a limited time."""
    slack, torn = settings.slack[0], settings.torn[0]
    gap = c.gap[w, i]
    if gap <= slack:
        c.waited[w, i] = ZERO
    else:
        c.waited[w, i] += dt
    share = min(max((torn - gap) / (torn - slack), _CREEP), ONE)
    if c.waited[w, i] > settings.patience[0]:
        share = ONE
        if c.waited[w, i] > TWO * settings.patience[0]:
            c.waited[w, i] = ZERO
    traits.speed[w, i] = share * c.pace[w, i]
