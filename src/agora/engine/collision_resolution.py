"""Collision resolution: pedestrians do not step into walls, robots or pedestrians that they see, and crowds do not deadlock.

Velocity components that would make bodies overlap are removed in several rounds, each for the worst contact of every pedestrian.
This module differs from `agora.engine.published_collision_resolution` in how much speed each party gives up. Of two pedestrians
that walk in the same direction, the one behind yields, and steps back a little if the one ahead needs space. The pedestrian nearest
to a door therefore goes first, and two pedestrians at the door jambs do not block each other. In the later rounds, each of the two
gives up a share, so that a wall behind the yielding pedestrian stops both. Gaps are closed within `_SOFT` seconds instead of one
step, so that no one stops abruptly from full speed.

Discs with a radius of 0.3 m allow at most 3.2 people per square metre, but real crowds reach 5. Therefore, an impatient pedestrian
(`agora.engine.gait`) among several people walking in the same direction turns its shoulders: its radius shrinks to as little as
`_SHOULDERS` towards people, but not towards walls and robots. All other pedestrians keep their full radius.

Pedestrians pass oncoming and standing people on the right, as in the published version.
"""

from __future__ import annotations

import math

import numpy as np

from agora.core.jit import hidden, kernel, lean_inlined
from agora.core.scalar import HALF, ONE, ZERO
from agora.engine.collision_parts import (
    ALL,
    HEAD_ON,
    MARGIN,
    NEAR,
    PARTING,
    STOPPED,
    add_walls,
    find_pairs,
    keep_worst,
    limit_closing_speeds,
    make_scratch,
    prepare,
    reach_of,
    reduce_velocities,
    wish_of,
    write_velocities,
)
from agora.pedestrians.shared.neighbours import SEES_PEDESTRIANS, lanes
from agora.pedestrians.shared.walls import clearances

_SOFT = np.float32(0.15)  # s
_FORESIGHT = np.float32(1.5)  # number of substeps, at full speed, within which bodies touch
_RETREAT = np.float32(0.1)  # m/s, speed at which the pedestrian behind steps back
_SAME = np.float32(-0.2)  # cosine of the angle between directions that are not opposed
_ALIKE = np.float32(0.5)  # cosine of the angle between directions within one crowd
_SHOULDERS = np.float32(0.18)  # m
_CROWD = np.float32(1.2)  # m, distance within which others crowd a pedestrian; at 0.4 m less, they count fully
_FEW = np.float32(4.0)  # number of crowding people up to which shoulders are not turned
_MANY = np.float32(7.0)  # number of crowding people above which shoulders are fully turned
_DOOR = np.float32(2.0)  # reduction of these numbers in front of a door
_ASIDE = np.float32(0.25)  # fraction of the preferred speed of a sidestep
_BACK = np.float32(0.1)  # fraction of the preferred speed at which one of two pedestrians steps back
_ROUNDS = 8
_PAIRS = 16  # a slot
_ABREAST = np.float32(1e-3)  # m
_TINY = np.float32(1e-12)


@hidden
def _allowed_closing_speed(gap, inverse_h):
    """Return the maximum allowed closing speed, m/s; negative if the gap must widen."""
    return gap * min(inverse_h, ONE / _SOFT) if gap > ZERO else max(gap * inverse_h, -PARTING)


@lean_inlined
def _alignment(gait, w, i, j):
    """Return the cosine of the angle between the path directions of two pedestrians; 0 if either has no direction."""
    return gait.way_x[w, i] * gait.way_x[w, j] + gait.way_y[w, i] * gait.way_y[w, j]


@lean_inlined
def _turn_shoulders(people, traits, gait, w, pairs, found, body):
    """Write each pedestrian's radius towards other people, m, which is reduced if the pedestrian turns its shoulders."""
    count, many = traits.count[w], body[1]
    for i in range(count):
        body[0, i], many[i] = traits.radius[w, i], ZERO
    for k in range(found):
        many[pairs[0, k]] += ONE
        many[pairs[1, k]] += ONE
    for i in range(count):
        few = _FEW - _DOOR * gait.door[w, i]
        if gait.held[w, i] == ZERO or many[i] < few or traits.radius[w, i] <= _SHOULDERS:
            continue
        crowd = ZERO
        for j in range(count):
            dx, dy = people.x[w, j] - people.x[w, i], people.y[w, j] - people.y[w, i]
            squared = dx * dx + dy * dy
            if j != i and people.active[w, j] and squared < _CROWD * _CROWD and _alignment(gait, w, i, j) > _ALIKE:
                crowd += min((_CROWD - math.sqrt(squared)) * np.float32(2.5), ONE)
        share = min(max((crowd - few) / (_MANY - _FEW), ZERO), ONE) * min(gait.held[w, i] * np.float32(2.0), ONE)
        body[0, i] += share * (_SHOULDERS - traits.radius[w, i])


@lean_inlined
def _order_on_path(people, traits, gait, w, i, j):
    """Return 1 if pedestrian j walks in the same direction as pedestrian i and is ahead, -1 if it is behind, and 0 if the
    directions differ.
    """
    if _alignment(gait, w, i, j) <= _SAME:
        return 0
    ux, uy = gait.way_x[w, i] + gait.way_x[w, j], gait.way_y[w, i] + gait.way_y[w, j]
    along = ux * (people.x[w, j] - people.x[w, i]) + uy * (people.y[w, j] - people.y[w, i])
    if abs(along) < _ABREAST:
        return 1 if traits.id[w, j] < traits.id[w, i] else -1
    return 1 if along > ZERO else -1


@lean_inlined
def _yielded_share(gait, w, i, much, closing):
    """Return the part of the closing speed ``much``, m/s, that pedestrian i gives up for a person ahead that approaches at
    ``closing`` m/s.
    """
    goes = gait.way_x[w, i] != ZERO or gait.way_y[w, i] != ZERO
    return min(much, max(closing + _RETREAT, ZERO) if goes else max(closing, ZERO))


@lean_inlined
def _yield_to_people(gait, w, pairs, normals, order, found, minds, vx, vy, inverse_h, worst, shared):
    """Record the velocities that pedestrians give up for each other; with ``shared``, both pedestrians of a pair give up their
    shares.
    """
    for k in range(found):
        i, j, nx, ny = pairs[0, k], pairs[1, k], normals[0, k], normals[1, k]
        mine, theirs = minds[i] == ALL, minds[j] == ALL
        if not (mine or theirs):
            continue
        a, b = vx[i] * nx + vy[i] * ny, -(vx[j] * nx + vy[j] * ny)
        much = a + b - _allowed_closing_speed(normals[2, k], inverse_h)
        if much <= ZERO:
            continue
        if mine and theirs and order[k] != 0 and not shared:
            first = _yielded_share(gait, w, i, much, a) if order[k] > 0 else much - _yielded_share(gait, w, j, much, b)
            keep_worst(worst, i, first, nx, ny)
            keep_worst(worst, j, much - first, -nx, -ny)
            continue
        ahead, behind = max(a, ZERO), max(b, ZERO)
        total = max(ahead + behind, _TINY)
        closing = min(much, ahead + behind)
        apart = HALF * (much - closing)
        if mine:
            share = closing * ahead / total if theirs else min(closing, ahead)
            keep_worst(worst, i, share + (apart if theirs else apart + apart), nx, ny)
        if theirs:
            share = closing * behind / total if mine else min(closing, behind)
            keep_worst(worst, j, share + (apart if mine else apart + apart), -nx, -ny)


@hidden
def _step_aside(people, traits, goals, w, i, j, nx, ny, vx, vy):
    """Make pedestrian i step aside if pedestrian j, in direction (nx, ny), blocks it. Return whether i steps aside."""
    wx, wy = wish_of(people, traits, goals, w, i)
    speed, ahead = math.sqrt(wx * wx + wy * wy), wx * nx + wy * ny
    going = people.vx[w, i] * wx + people.vy[w, i] * wy
    if ahead <= HEAD_ON * speed or going >= STOPPED * speed * speed:
        return False
    missing = max(_ASIDE * ahead - (vx[i] * ny - vy[i] * nx), ZERO)
    vx[i] += missing * ny
    vy[i] -= missing * nx
    if traits.id[w, j] < traits.id[w, i]:
        forward = max(vx[i] * nx + vy[i] * ny + _BACK * ahead, ZERO)
        vx[i] -= forward * nx
        vy[i] -= forward * ny
    return True


@lean_inlined
def _all_step_aside(people, traits, goals, gait, w, pairs, normals, found, mind, vx, vy):
    """Make all blocked pedestrians step aside; return whether any of them does."""
    changed = False
    for k in range(found):
        i, j, nx, ny = pairs[0, k], pairs[1, k], normals[0, k], normals[1, k]
        if normals[2, k] >= NEAR:
            continue
        opposed = _alignment(gait, w, i, j) <= _SAME
        if mind[i] == ALL and (opposed or (gait.way_x[w, j] == ZERO and gait.way_y[w, j] == ZERO)):
            changed = _step_aside(people, traits, goals, w, i, j, nx, ny, vx, vy) or changed
        if mind[j] == ALL and (opposed or (gait.way_x[w, i] == ZERO and gait.way_y[w, i] == ZERO)):
            changed = _step_aside(people, traits, goals, w, j, i, -nx, -ny, vx, vy) or changed
    return changed


@hidden
def _yield_to_robot(people, traits, robots, robot_traits, w, i, r, vx, vy, inverse_h, worst):
    """Record the velocity that pedestrian i gives up for robot r, which keeps its velocity."""
    dx, dy = robots.x[w, r] - people.x[w, i], robots.y[w, r] - people.y[w, i]
    distance = math.sqrt(max(dx * dx + dy * dy, _TINY))
    nx, ny = dx / distance, dy / distance
    gap = distance - traits.radius[w, i] - robot_traits.radius[w, r] - MARGIN
    coming = max(-(robots.world_vx[w, r] * nx + robots.world_vy[w, r] * ny), ZERO)
    keep_worst(worst, i, vx[i] * nx + vy[i] * ny - max(_allowed_closing_speed(gap, inverse_h) - coming, -PARTING), nx, ny)


@lean_inlined
def _resolve(people, traits, robots, robot_traits, gait, w, found, pressed, order, h, s):
    """Resolve the worst contact of each pedestrian in rounds, and the contacts with walls last."""
    inverse_h, changed, turn, count = ONE / h, True, 0, traits.count[w]
    while changed and turn < _ROUNDS:
        turn += 1
        # In the second half of the rounds, both pedestrians of a pair yield, in case a wall blocks the one behind.
        _yield_to_people(gait, w, s.pairs, s.normals, order, found, s.mind, s.vx, s.vy, inverse_h, s.worst, 2 * turn > _ROUNDS)
        if pressed:
            add_walls(traits.radius[w], count, s, inverse_h)
            for i in range(count):
                for r in range(robots.x.shape[1] if s.near[i] & 2 else 0):
                    if robots.active[w, r]:
                        _yield_to_robot(people, traits, robots, robot_traits, w, i, r, s.vx, s.vy, inverse_h, s.worst)
        changed = reduce_velocities(s.worst, lanes(count), s.vx, s.vy)
    # Walls come last, so that no one steps into a wall even if the rounds did not converge.
    if pressed:
        add_walls(traits.radius[w], count, s, inverse_h)
        reduce_velocities(s.worst, lanes(count), s.vx, s.vy)


@kernel
def keep_apart(
    dt, substeps, sees, minds, people, traits, goals, replay, robots, robot_traits, maps, clock, gait, out_x, out_y,
    first, last
):  # fmt: skip
    """Reduce the velocities (W, P) so that bodies do not overlap at the end of a substep.

    Args:
        dt: physics step, s.
        substeps: number of equal parts of the step.
        sees: bit field of the bodies that pedestrians see (`agora.interfaces.CrowdRecord`).
        minds: (W, P) bodies that a pedestrian reacts to: ALL, ROBOTS or NOTHING, optionally plus IGNORES_ROBOTS.
        people: pedestrians at the beginning of the substep.
        goals: waypoints, as crowd models read them.
        gait: record `agora.engine.gait.Gait`.
    """
    h = dt / np.float32(substeps)
    horizon, s = _FORESIGHT * h, make_scratch(people.x.shape[1], _PAIRS)
    order, body = np.empty(s.pairs.shape[1], np.int32), np.empty((2, people.x.shape[1]), np.float32)
    for w in range(first, last):
        if clock.done[w]:
            continue
        clearance, _, _ = clearances(maps, maps.index[w], people.x[w], people.y[w], lanes(traits.count[w]), s.cell, s.fields)
        pressed = prepare(sees, minds, people, traits, replay, robots, robot_traits, maps, w, h, clearance, out_x, out_y, s)
        reach = reach_of(people, traits, w, horizon, s) if sees & SEES_PEDESTRIANS else ZERO
        found, pairs, normals = find_pairs(people, traits, w, reach, s), s.pairs, s.normals
        if found == 0 and not pressed:
            continue
        # Stepping aside changes velocities and thus the reach; if the reach grows, the pairs are searched again.
        passes = _all_step_aside(people, traits, goals, gait, w, pairs, normals, found, s.mind, s.vx, s.vy)
        if passes and reach_of(people, traits, w, horizon, s) != reach:
            found = find_pairs(people, traits, w, reach_of(people, traits, w, horizon, s), s)
        # Turned shoulders shrink bodies only towards people, so correct the gaps of the pairs.
        _turn_shoulders(people, traits, gait, w, pairs, found, body)
        for k in range(found):
            i, j = pairs[0, k], pairs[1, k]
            order[k] = _order_on_path(people, traits, gait, w, i, j)
            normals[2, k] += traits.radius[w, i] - body[0, i] + traits.radius[w, j] - body[0, j]
        _resolve(people, traits, robots, robot_traits, gait, w, found, pressed, order, h, s)
        limit_closing_speeds(pairs, normals, found, s.mind, s.vx, s.vy, ONE / h)
        write_velocities(s.mind, s.vx, s.vy, traits.count[w], out_x[w], out_y[w])
