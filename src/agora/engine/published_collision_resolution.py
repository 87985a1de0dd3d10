"""The older collision resolution, kept for suites whose results were published with it (``yields: false``).

All other suites use `agora.engine.collision_resolution`. Both keep pedestrians from stepping into a wall, a robot or a pedestrian
that they see, with every crowd model. With this module, one-way crowds get stuck in front of doors, because a pedestrian steps
aside only for another one that stands still or comes towards it.

The crowd models choose velocities; this module removes the components that would make bodies overlap at the end of the step. Two
pedestrians each give up a share of the closing speed; between a pedestrian and a robot or wall, only the pedestrian gives up speed.
Only if bodies already overlap does the module add a velocity, which slowly moves them apart. Each of a few rounds resolves the
worst contact of every pedestrian; if that is not enough in a dense crowd, pedestrians that would still step into someone stop.

A pedestrian that is stopped by a standing or oncoming person steps aside to the right, so that two people who meet do not block
each other endlessly. The one with the larger id also steps back.
"""

from __future__ import annotations

import math

import numpy as np

from agora.core.jit import hidden, kernel, lean_inlined
from agora.core.scalar import HALF, ONE, ZERO
from agora.engine.collision_parts import (
    ALL,
    ASIDE,
    BACK,
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

_ROUNDS = 4
_PAIRS = 8  # a slot
_TINY = np.float32(1e-12)


@hidden
def _allowed_closing_speed(gap, inverse_h):
    """Return the maximum closing speed at which a gap stays open, m/s; negative if the gap must widen."""
    return gap * inverse_h if gap > ZERO else max(gap * inverse_h, -PARTING)


@hidden
def _yield_to_people(pairs, normals, found, minds, vx, vy, inverse_h, worst):
    """Record the velocities that pedestrians give up for each other."""
    for k in range(found):
        i, j, nx, ny = pairs[0, k], pairs[1, k], normals[0, k], normals[1, k]
        mine, theirs = minds[i] == ALL, minds[j] == ALL
        if not (mine or theirs):
            continue
        a, b = vx[i] * nx + vy[i] * ny, -(vx[j] * nx + vy[j] * ny)
        allowed = _allowed_closing_speed(normals[2, k], inverse_h)
        much = a + b - allowed
        if much <= ZERO:
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
    """Make pedestrian i step aside if pedestrian j, in direction (nx, ny), blocks it and does not walk in the same direction.

    Returns whether pedestrian i steps aside.
    """
    wx, wy = wish_of(people, traits, goals, w, i)
    ox, oy = wish_of(people, traits, goals, w, j)
    speed, ahead = math.sqrt(wx * wx + wy * wy), wx * nx + wy * ny
    going = people.vx[w, i] * wx + people.vy[w, i] * wy
    if ahead <= HEAD_ON * speed or wx * ox + wy * oy > ZERO or going >= STOPPED * speed * speed:
        return False
    back = BACK if traits.id[w, j] < traits.id[w, i] else ZERO
    vx[i] += (ASIDE * ny - back * nx) * ahead
    vy[i] -= (ASIDE * nx + back * ny) * ahead
    return True


@hidden
def _all_step_aside(people, traits, goals, w, pairs, normals, found, mind, vx, vy):
    """Make all blocked pedestrians step aside; return whether any of them does."""
    changed = False
    for k in range(found):
        i, j, nx, ny = pairs[0, k], pairs[1, k], normals[0, k], normals[1, k]
        if normals[2, k] < NEAR:
            if mind[i] == ALL:
                changed = _step_aside(people, traits, goals, w, i, j, nx, ny, vx, vy) or changed
            if mind[j] == ALL:
                changed = _step_aside(people, traits, goals, w, j, i, -nx, -ny, vx, vy) or changed
    return changed


@hidden
def _yield_to_robot(people, traits, robots, robot_traits, w, i, r, vx, vy, inverse_h, worst):
    """Record the velocity that pedestrian i gives up for robot r, which keeps its velocity."""
    dx, dy = robots.x[w, r] - people.x[w, i], robots.y[w, r] - people.y[w, i]
    reach = traits.radius[w, i] + robot_traits.radius[w, r] + MARGIN
    distance = math.sqrt(max(dx * dx + dy * dy, _TINY))
    nx, ny = dx / distance, dy / distance
    coming = max(-(robots.world_vx[w, r] * nx + robots.world_vy[w, r] * ny), ZERO)
    allowed = max(_allowed_closing_speed(distance - reach, inverse_h) - coming, -PARTING)
    keep_worst(worst, i, vx[i] * nx + vy[i] * ny - allowed, nx, ny)


@lean_inlined
def _resolve(people, traits, robots, robot_traits, w, found, pressed, h, s):
    """Resolve the worst contact of each pedestrian in rounds, and the contacts with walls last."""
    inverse_h, changed, turn, count = ONE / h, True, 0, traits.count[w]
    while changed and turn < _ROUNDS:
        turn += 1
        _yield_to_people(s.pairs, s.normals, found, s.mind, s.vx, s.vy, inverse_h, s.worst)
        if pressed:
            add_walls(traits.radius[w], count, s, inverse_h)
            for i in range(count):
                for r in range(robots.x.shape[1] if s.near[i] & 2 else 0):
                    if robots.active[w, r]:
                        _yield_to_robot(people, traits, robots, robot_traits, w, i, r, s.vx, s.vy, inverse_h, s.worst)
        changed = reduce_velocities(s.worst, lanes(count), s.vx, s.vy)
    if pressed:
        add_walls(traits.radius[w], count, s, inverse_h)
        reduce_velocities(s.worst, lanes(count), s.vx, s.vy)


@kernel
def keep_apart_as_published(
    dt, substeps, sees, minds, people, traits, goals, replay, robots, robot_traits, maps, clock, out_x, out_y, first, last
):  # fmt: skip
    """Reduce the velocities (W, P) so that bodies do not overlap at the end of a substep.

    Args:
        dt: physics step, s.
        substeps: number of equal parts of the step.
        sees: bit field of the bodies that pedestrians see (`agora.interfaces.CrowdRecord`).
        minds: (W, P) bodies that a pedestrian reacts to: ALL, ROBOTS or NOTHING, optionally plus IGNORES_ROBOTS.
        people: pedestrians at the beginning of the substep.
        goals: waypoints, as crowd models read them.
    """
    h = dt / np.float32(substeps)
    s = make_scratch(people.x.shape[1], _PAIRS)
    for w in range(first, last):
        if clock.done[w]:
            continue
        clearance, _, _ = clearances(maps, maps.index[w], people.x[w], people.y[w], lanes(traits.count[w]), s.cell, s.fields)
        pressed = prepare(sees, minds, people, traits, replay, robots, robot_traits, maps, w, h, clearance, out_x, out_y, s)
        reach = reach_of(people, traits, w, h, s) if sees & SEES_PEDESTRIANS else ZERO
        found = find_pairs(people, traits, w, reach, s)
        if found == 0 and not pressed:
            continue
        gives = _all_step_aside(people, traits, goals, w, s.pairs, s.normals, found, s.mind, s.vx, s.vy)
        if gives and reach_of(people, traits, w, h, s) != reach:
            found = find_pairs(people, traits, w, reach_of(people, traits, w, h, s), s)
        _resolve(people, traits, robots, robot_traits, w, found, pressed, h, s)
        limit_closing_speeds(s.pairs, s.normals, found, s.mind, s.vx, s.vy, ONE / h)
        write_velocities(s.mind, s.vx, s.vy, traits.count[w], out_x[w], out_y[w])
