"""Determines the groups of pedestrians and the roles of their members, whenever a group changes."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from agora.core.jit import hidden
from agora.core.scalar import ONE, ZERO
from agora.core.state import STAY, Bools, Floats, Ints
from agora.pedestrians.behaviours.groups._talk import IDLE, LISTENING, TALKING, WALKING, rank_of, space_members
from agora.pedestrians.shared.formations import row_place
from agora.seeds import uniform_at

_LEADER = 101  # index of the random draw
_BESIDE = np.float32(3.0)  # m, distance from the leader within which a member starts next to it
_HERE = np.float32(1.0)  # m, a pedestrian whose waypoints are all within this distance stays
_TINY = np.float32(1e-12)


class GroupMemory(NamedTuple):
    """The memory of each pedestrian and its group, in arrays (W, P) unless stated otherwise.

    Attributes:
        stale: (W,) whether the groups of a world must be recomputed.
        steered: whether the pedestrian is simulated; recorded pedestrians follow their recording.
        member: group of the pedestrian at the last update; -1 if none.
        left: last group that the pedestrian left.
        leader: slot of the leader of a walking group, or of the speaker in a conversation; -1 for pedestrians that are not in a
            group of two or more.
        number: number of members, in the leader's slot.
        hosted: whether the group moves the pedestrian; if so, ``count`` and ``mode`` store the length and mode of the pedestrian's
            own waypoint list.
        ahead: place of a follower, m ahead of the leader.
        aside: place of a follower, m to the left of the leader.
        behind: place of a follower in single file, m behind the leader.
        ux: direction of travel, unit vector, x.
        uy: direction of travel, unit vector, y.
        beside: 1 if the follower walks at its place in the row, 0 if it walks in single file; in between while it changes.
        pace: in the leader's slot: preferred speed of the slowest member, m/s.
        gap: in the leader's slot: maximum distance between a member and its place, m.
        waited: in the leader's slot: time for which the leader has waited, s.
        newest: in the leader's slot: index of the newest place on the leader's trail.
        crumbs: in the leader's slot: number of places on the leader's trail.
        trail_x: in the leader's slot: last places on the leader's trail, x, m, (W, P, CRUMBS).
        trail_y: in the leader's slot: last places on the leader's trail, y, m, (W, P, CRUMBS).
        talks: whether the pedestrian is standing in a conversation, whose o-space is centred at ``centre_x``, ``centre_y``.
        place_x: the pedestrian's place in the conversation, x, m.
        place_y: the pedestrian's place in the conversation, y, m.
        lean_x: distance by which a member aims beyond its place, to counter people who push it away, x, m; ahead, for a walker.
        lean_y: as ``lean_x``, y, m; to the left, for a walker.
        drift_x: deviation of a follower from its place, positive ahead, m.
        drift_y: deviation of a follower from its place, positive to the left, m.
        bearing: bearing of a member from the centre, rad; used to space members.
        goal_x: waypoint from the last decision, x, m.
        goal_y: waypoint from the last decision, y, m.
        speed: preferred speed from the last decision, m/s.
    """

    stale: Bools
    steered: Bools
    member: Ints
    left: Ints
    leader: Ints
    number: Ints
    hosted: Bools
    count: Ints  # type: ignore[assignment]
    mode: Ints
    ahead: Floats
    aside: Floats
    behind: Floats
    ux: Floats
    uy: Floats
    beside: Floats
    pace: Floats
    gap: Floats
    waited: Floats
    newest: Ints
    crumbs: Ints
    trail_x: Floats
    trail_y: Floats
    talks: Bools
    centre_x: Floats
    centre_y: Floats
    place_x: Floats
    place_y: Floats
    lean_x: Floats
    lean_y: Floats
    drift_x: Floats
    drift_y: Floats
    bearing: Floats
    goal_x: Floats
    goal_y: Floats
    speed: Floats


class GroupParameters(NamedTuple):
    """The parameters of `Groups` for the kernel, as arrays (1,), so that changing a value does not recompile the kernel."""

    abreast: Ints
    spacing: Floats
    bend: Floats
    row_gap: Floats
    margin: Floats
    kept: Floats
    fresh: Floats
    early: Floats
    wheel: Floats
    gain: Floats
    catch_up: Floats
    slack: Floats
    torn: Floats
    patience: Floats
    join: Floats
    leave: Floats
    notice: Floats
    most: Ints
    pause: Ints
    every: Ints


@hidden
def _set_single_waypoint(c, minds, goals, w, i):
    """Replace a pedestrian's waypoint list with a single point at which to stay, so that crowd models let the pedestrian come to
    rest there.
    """
    if not c.hosted[w, i]:
        minds.led[w, i] = True
        c.hosted[w, i], c.count[w, i], c.mode[w, i] = True, goals.count[w, i], goals.mode[w, i]
        goals.count[w, i], goals.mode[w, i] = 1, STAY


@hidden
def _restore_waypoints(c, traits, minds, goals, w, i):
    """Restore a pedestrian's own waypoint list."""
    if c.hosted[w, i]:
        c.hosted[w, i], minds.led[w, i] = False, False
        goals.count[w, i], goals.mode[w, i] = c.count[w, i], c.mode[w, i]
        k = min(goals.index[w, i], max(c.count[w, i] - 1, 0))
        goals.index[w, i] = k
        goals.x[w, i], goals.y[w, i] = goals.list_x[w, i, k], goals.list_y[w, i, k]
        traits.speed[w, i] = minds.speed[w, i]
    if c.talks[w, i]:
        c.talks[w, i], minds.taken[w, i] = False, False
        minds.state[w, i], minds.partner[w, i] = WALKING, -1


@hidden
def _choose(c, traits, key, w, first, count, number):
    """Return the leader's slot (the previous leader or, if there is none, the member with the lowest random number) and the number
    of members of a group.
    """
    members, leader, lowest, old = 0, -1, 2.0, -1
    for i in range(first, count):
        if c.member[w, i] == number:
            members += 1
            if c.leader[w, i] == i:
                old = i
            draw = uniform_at(key, traits.id[w, i], 0, _LEADER)
            if draw < lowest:
                leader, lowest = i, draw
    return (leader if old < 0 else old), members


@hidden
def _visible_drift(c, people, w, i, leader):
    """Return the deviation of a follower from its place, m ahead and to the left; 0 for a follower that is far from its leader."""
    dx, dy = people.x[w, i] - people.x[w, leader], people.y[w, i] - people.y[w, leader]
    if dx * dx + dy * dy > _BESIDE * _BESIDE:
        return ZERO, ZERO
    ux, uy = c.ux[w, leader], c.uy[w, leader]
    return dx * ux + dy * uy - c.ahead[w, i], dy * ux - dx * uy - c.aside[w, i]


@hidden
def _line_up(c, people, traits, minds, goals, settings, w, first, count, leader, members):
    """Assign places in rows to the members of a walking group, in their current order from right to left."""
    number, x, y = c.member[w, leader], people.x[w, leader], people.y[w, leader]
    if c.hosted[w, leader]:
        _restore_waypoints(c, traits, minds, goals, w, leader)
    if c.leader[w, leader] != leader:
        c.newest[w, leader], c.crumbs[w, leader] = 0, 1
        c.trail_x[w, leader, 0], c.trail_y[w, leader, 0] = x, y
        c.waited[w, leader] = ZERO
    ux, uy = c.ux[w, leader], c.uy[w, leader]
    if ux * ux + uy * uy == ZERO:
        ux, uy = goals.x[w, leader] - x, goals.y[w, leader] - y
        size = math.sqrt(ux * ux + uy * uy + _TINY)
        ux, uy = (ux / size, uy / size) if size > _TINY else (ONE, ZERO)
        c.ux[w, leader], c.uy[w, leader] = ux, uy
    pace = minds.speed[w, leader]
    for i in range(first, count):
        if c.member[w, i] == number:
            c.bearing[w, i] = (people.y[w, i] - y) * ux - (people.x[w, i] - x) * uy
            c.leader[w, i] = leader
            pace = min(pace, minds.speed[w, i])
    c.pace[w, leader] = pace
    shape = (settings.abreast[0], settings.spacing[0], settings.bend[0], settings.row_gap[0])
    goals.tolerance[w, leader] = max(goals.tolerance[w, leader], settings.early[0])
    middle = rank_of(c, traits, w, first, count, number, leader)
    ahead, aside = row_place(middle, members, *shape)
    for i in range(first, count):
        if c.member[w, i] == number and i != leader:
            rank = rank_of(c, traits, w, first, count, number, i)
            place_ahead, place_aside = row_place(rank, members, *shape)
            c.ahead[w, i], c.aside[w, i] = place_ahead - ahead, place_aside - aside
            c.drift_x[w, i], c.drift_y[w, i] = _visible_drift(c, people, w, i, leader)
            c.behind[w, i] = settings.row_gap[0] * np.float32(rank + 1 if rank < middle else rank)
            _set_single_waypoint(c, minds, goals, w, i)


@hidden
def _gather(c, people, traits, minds, goals, w, first, count, speaker, members):
    """Place the members of a conversation around its o-space; space them again if their number has changed."""
    number, known = c.member[w, speaker], 0
    for i in range(first, count):
        if c.member[w, i] == number and c.talks[w, i]:
            known = max(known, c.number[w, i])
    if known != members:
        space_members(c, people, traits, w, first, count, number)
    for i in range(first, count):
        if c.member[w, i] == number:
            c.leader[w, i], c.number[w, i] = speaker, members
            _set_single_waypoint(c, minds, goals, w, i)
            minds.taken[w, i] = True
            if minds.state[w, i] == TALKING or minds.state[w, i] == LISTENING:
                minds.state[w, i] = TALKING if i == speaker else LISTENING
                minds.partner[w, i] = -1 if i == speaker else traits.id[w, speaker]


@hidden
def _dismiss_last(c, people, traits, minds, goals, w, i):
    """Let the last member of a conversation walk away or stand idle at its place."""
    traits.group[w, i], c.member[w, i] = -1, -1
    dx, dy = goals.x[w, i] - people.x[w, i], goals.y[w, i] - people.y[w, i]
    if goals.count[w, i] < 2 and dx * dx + dy * dy < _HERE * _HERE:
        minds.state[w, i] = IDLE


@hidden
def regroup(c, people, traits, minds, goals, settings, key, w, count):
    """Find the members of each group, and assign a role to every pedestrian."""
    for i in range(count):
        group = traits.group[w, i] if people.active[w, i] and c.steered[w, i] else -1
        if group != c.member[w, i]:
            _restore_waypoints(c, traits, minds, goals, w, i)
            c.member[w, i], c.leader[w, i] = group, -1
    for i in range(count):
        number, seen, talk = c.member[w, i], False, False
        for j in range(count):
            if number >= 0 and c.member[w, j] == number:
                seen = seen or j < i
                talk = talk or c.talks[w, j]
        if seen or number < 0:
            continue
        leader, members = _choose(c, traits, key, w, i, count, number)
        if members == 1:
            _restore_waypoints(c, traits, minds, goals, w, i)
            c.leader[w, i] = -1
            if talk:
                _dismiss_last(c, people, traits, minds, goals, w, i)
        elif talk:
            _gather(c, people, traits, minds, goals, w, i, count, leader, members)
        else:
            _line_up(c, people, traits, minds, goals, settings, w, i, count, leader, members)
