"""The last step: nobody steps into a wall, a robot or a pedestrian whom they see, whatever their crowd model says.

After the crowd models have said at which velocities everybody goes on, those parts are taken from them that would make bodies
overlap at the end of the step. Among two pedestrians each gives up its share of the speed at which they close; for a robot and a
wall the pedestrian alone does. Nothing is added but what parts those who overlap already, slowly. A few rounds over the worst
contact of each settle who gives up how much; where many press together and that is not enough, those who would still step into
somebody stand.

Whom somebody stops who stands or comes the other way steps aside, to the right, so that two who meet do not stand before each other
for ever; the one of the larger id steps back, too.

This is the older last step, of suites whose numbers were published with it (``yields: false``); that of all others is
`agora.engine.yielding`. One-way crowds stand before doors in it: only those who come the other way give way.
"""

from __future__ import annotations

import math
from typing import get_args

import numpy as np

from agora.core.field import clearance_at
from agora.core.jit import hidden, kernel
from agora.core.scalar import HALF, ONE, ZERO
from agora.interfaces.crowd_model import LastStep
from agora.pedestrians.neighbours import SEES_PEDESTRIANS, SEES_ROBOTS, lanes
from agora.pedestrians.walls import ROWS, clearances

MINDS = get_args(LastStep)
"""What a crowd model declares as its ``last_step``, whom it minds: robots and walls alone where its forces act between bodies."""

ALL, ROBOTS, NOTHING = range(3)

HEEDLESS = 4
"""Added to one of these: robots are not minded."""

_MARGIN = np.float32(0.02)  # m, that people leave between themselves and a robot
PARTING = np.float32(0.3)  # m/s, at most, at which those who overlap are parted
_CREEP = np.float32(0.01)  # m/s, of two who come closer
_TOUCHING = np.float32(0.0005)  # m/s, of two who touch
_LEAST = np.float32(0.4)  # of those, of each
_SLOP = np.float32(0.001)  # m
NEAR = np.float32(0.1)  # m, at which one steps aside for somebody
HEAD_ON = np.float32(0.5)  # cosine of the angle between the way and the direction to them, above which one does
STOPPED = np.float32(0.3)  # of the preferred speed, below which one does
_ASIDE = np.float32(0.4)  # of it, with which one does
_BACK = np.float32(0.2)  # of it, with which one of two steps back
_ROUNDS = 4
_PAIRS = 8  # a slot
_TINY = np.float32(1e-12)


@hidden
def _allowed(gap, inverse_h):
    """Fastest closing speed that keeps a gap open, m/s; negative where it must open."""
    return gap * inverse_h if gap > ZERO else max(gap * inverse_h, -PARTING)


@hidden
def note(worst, i, take, nx, ny):
    """Keep the contact for which somebody must give up most speed."""
    if take > worst[0, i]:
        worst[0, i], worst[1, i], worst[2, i] = take, nx, ny


@hidden
def close_pairs(x, y, radius, active, count, vx, vy, h, pairs, normals):
    """Write the pairs that could touch within the step, their directions and gaps; returns how many, at most the room there is."""
    largest, fastest = ZERO, ZERO
    for i in range(count):
        largest = max(largest, radius[i] if active[i] else ZERO)
        fastest = max(fastest, vx[i] * vx[i] + vy[i] * vy[i] if active[i] else ZERO)
    reach = (largest + math.sqrt(fastest) * h) * np.float32(2.0)
    reach2 = reach * reach
    found = 0
    for i in range(count - 1):
        if not active[i]:
            continue
        xi, yi, near = x[i], y[i], np.int32(0)
        for j in range(lanes(count)):
            dx, dy = x[j] - xi, y[j] - yi
            near = np.int32(near + np.int32(dx * dx + dy * dy < reach2))
        if near < 2:  # one is near oneself
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
def _among(pairs, normals, found, minds, vx, vy, inverse_h, worst):
    """Note what pedestrians give up for each other."""
    for k in range(found):
        i, j, nx, ny = pairs[0, k], pairs[1, k], normals[0, k], normals[1, k]
        mine, theirs = minds[i] == ALL, minds[j] == ALL
        if not (mine or theirs):
            continue
        a, b = vx[i] * nx + vy[i] * ny, -(vx[j] * nx + vy[j] * ny)
        allowed = _allowed(normals[2, k], inverse_h)
        much = a + b - allowed
        if much <= ZERO:
            continue
        ahead, behind = max(a, ZERO), max(b, ZERO)
        total = max(ahead + behind, _TINY)
        closing = min(much, ahead + behind)
        apart = HALF * (much - closing)
        if mine:
            share = closing * ahead / total if theirs else min(closing, ahead)
            note(worst, i, share + (apart if theirs else apart + apart), nx, ny)
        if theirs:
            share = closing * behind / total if mine else min(closing, behind)
            note(worst, j, share + (apart if mine else apart + apart), -nx, -ny)


@hidden
def wish_of(people, traits, goals, w, i):
    """Velocity with which a pedestrian would walk to its goal if nobody were there; none within a step of it."""
    dx, dy = goals.x[w, i] - people.x[w, i], goals.y[w, i] - people.y[w, i]
    distance = math.sqrt(dx * dx + dy * dy)
    k = traits.speed[w, i] / distance if distance > traits.radius[w, i] else ZERO
    return dx * k, dy * k


@hidden
def _give_way(people, traits, goals, w, i, j, nx, ny, vx, vy):
    """Have pedestrian i step aside, where j in direction (nx, ny) keeps it from going on and does not go the same way.

    Returns whether it does.
    """
    wx, wy = wish_of(people, traits, goals, w, i)
    ox, oy = wish_of(people, traits, goals, w, j)
    speed, ahead = math.sqrt(wx * wx + wy * wy), wx * nx + wy * ny
    going = people.vx[w, i] * wx + people.vy[w, i] * wy
    if ahead <= HEAD_ON * speed or wx * ox + wy * oy > ZERO or going >= STOPPED * speed * speed:
        return False
    back = _BACK if traits.id[w, j] < traits.id[w, i] else ZERO
    vx[i] += (_ASIDE * ny - back * nx) * ahead
    vy[i] -= (_ASIDE * nx + back * ny) * ahead
    return True


@hidden
def _all_give_way(people, traits, goals, w, pairs, normals, found, mind, vx, vy):
    """Have everybody step aside who has to; returns whether anybody does."""
    changed = False
    for k in range(found):
        i, j, nx, ny = pairs[0, k], pairs[1, k], normals[0, k], normals[1, k]
        if normals[2, k] < NEAR:
            if mind[i] == ALL:
                changed = _give_way(people, traits, goals, w, i, j, nx, ny, vx, vy) or changed
            if mind[j] == ALL:
                changed = _give_way(people, traits, goals, w, j, i, -nx, -ny, vx, vy) or changed
    return changed


@hidden
def stop(pairs, normals, found, minds, vx, vy, inverse_h):
    """Have those who would still step into somebody give up all of that, and at last stand, until nobody does."""
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
def _robot(people, traits, robots, robot_traits, w, i, r, vx, vy, inverse_h, worst):
    """Note what pedestrian i gives up for robot r, which goes on as it does."""
    dx, dy = robots.x[w, r] - people.x[w, i], robots.y[w, r] - people.y[w, i]
    reach = traits.radius[w, i] + robot_traits.radius[w, r] + _MARGIN
    distance = math.sqrt(max(dx * dx + dy * dy, _TINY))
    nx, ny = dx / distance, dy / distance
    coming = max(-(robots.world_vx[w, r] * nx + robots.world_vy[w, r] * ny), ZERO)
    allowed = max(_allowed(distance - reach, inverse_h) - coming, -PARTING)
    note(worst, i, vx[i] * nx + vy[i] * ny - allowed, nx, ny)


@hidden
def _near_robots(people, traits, robots, robot_traits, w, i, step):
    """Whether a robot is within a pedestrian's step."""
    for r in range(robots.x.shape[1]):
        dx, dy = robots.x[w, r] - people.x[w, i], robots.y[w, r] - people.y[w, i]
        reach = traits.radius[w, i] + robot_traits.radius[w, r] + _MARGIN + step
        if robots.active[w, r] and dx * dx + dy * dy < reach * reach:
            return True
    return False


@hidden
def _wall(people, traits, maps, w, i, vx, vy, inverse_h, worst):
    """Note what pedestrian i gives up for the nearest wall."""
    distance, nx, ny = clearance_at(maps, maps.index[w], people.x[w, i], people.y[w, i])
    allowed = max(distance - traits.radius[w, i], ZERO) * inverse_h
    note(worst, i, -(vx[i] * nx + vy[i] * ny) - allowed, -nx, -ny)


@hidden
def begin(
    people, traits, replay, robots, robot_traits, clearance, number, minds, sees_robots, w, h, out_x, out_y, vx, vy, mind, near
):  # fmt: skip
    """Write everybody's velocity, whom they mind, and whether a wall (1) or a robot (2) is near; returns whether any is.

    ``mind`` is that of a model's ``last_step``, and NOTHING for those who are recorded, whom nothing moves off their way.
    """
    pressed = False
    for i in range(traits.count[w]):
        recorded = replay.last[w, i] >= replay.first[w, i]
        whom = minds[number[w, i]]
        mind[i] = whom % HEEDLESS if people.active[w, i] and not recorded else NOTHING
        vx[i] = people.vx[w, i] if recorded else out_x[w, i]
        vy[i] = people.vy[w, i] if recorded else out_y[w, i]
        near[i] = 0
        if mind[i] != NOTHING:
            step = (math.sqrt(vx[i] * vx[i] + vy[i] * vy[i]) + PARTING + (_ASIDE + _BACK) * traits.speed[w, i]) * h
            if clearance[i] < traits.radius[w, i] + step:
                near[i] = 1
            if sees_robots and whom < HEEDLESS and _near_robots(people, traits, robots, robot_traits, w, i, step):
                near[i] += 2
            pressed = pressed or near[i] > 0
    return pressed


@hidden
def give_up(worst, i, vx, vy):
    """Take from a velocity what its worst contact asks for; returns whether there was one."""
    if worst[0, i] <= ZERO:
        return False
    vx[i] -= worst[0, i] * worst[1, i]
    vy[i] -= worst[0, i] * worst[2, i]
    worst[0, i] = ZERO
    return True


@hidden
def _settle(people, traits, robots, robot_traits, maps, w, pairs, normals, found, mind, near, vx, vy, h, worst):
    """Rounds over the worst contact of each, and at last the walls."""
    inverse_h, changed, turn = ONE / h, True, 0
    while changed and turn < _ROUNDS:
        changed, turn = False, turn + 1
        _among(pairs, normals, found, mind, vx, vy, inverse_h, worst)
        for i in range(traits.count[w]):
            if near[i] & 1:
                _wall(people, traits, maps, w, i, vx, vy, inverse_h, worst)
            for r in range(robots.x.shape[1] if near[i] & 2 else 0):
                if robots.active[w, r]:
                    _robot(people, traits, robots, robot_traits, w, i, r, vx, vy, inverse_h, worst)
            changed = give_up(worst, i, vx, vy) or changed
    for i in range(traits.count[w]):
        if near[i] & 1:
            _wall(people, traits, maps, w, i, vx, vy, inverse_h, worst)
            give_up(worst, i, vx, vy)


@kernel
def hold_back(
    dt, substeps, sees, minds, number, people, traits, goals, replay, robots, robot_traits, maps, clock, out_x, out_y, first, last
):  # fmt: skip
    """Take from the velocities (W, P) what would make bodies overlap at the end of a substep.

    Args:
        dt: physics step, s; substeps: into which it is divided.
        sees: bits as for crowd models.
        minds: (K,) for each crowd model ALL, ROBOTS or NOTHING, with HEEDLESS added or not.
        number: (W, P) whose model moves a pedestrian.
        people: at the beginning of the substep. goals: the waypoints that crowd models read.
    """
    h = dt / np.float32(substeps)
    slots = people.x.shape[1]
    pairs, normals = np.empty((2, _PAIRS * slots), np.int32), np.empty((3, _PAIRS * slots), np.float32)
    worst, mind, near = np.zeros((3, slots), np.float32), np.empty(slots, np.int32), np.empty(slots, np.int32)
    vx, vy = np.empty(slots, np.float32), np.empty(slots, np.float32)
    cell, fields = np.empty(slots, np.int32), np.empty((ROWS, slots), np.float32)
    for w in range(first, last):
        if clock.done[w]:
            continue
        count, seen = traits.count[w], sees & SEES_ROBOTS
        # Says who is near a wall; what the wall takes is read at a point, where sums round otherwise than in loops.
        clearance, _, _ = clearances(maps, maps.index[w], people.x[w], people.y[w], lanes(count), cell, fields)
        pressed = begin(
            people, traits, replay, robots, robot_traits, clearance, number, minds, seen, w, h, out_x, out_y, vx, vy, mind, near
        )
        found, here = 0, (people.x[w], people.y[w], traits.radius[w], people.active[w])
        if sees & SEES_PEDESTRIANS:
            found = close_pairs(*here, count, vx, vy, h, pairs, normals)
        if found == 0 and not pressed:
            continue
        if _all_give_way(people, traits, goals, w, pairs, normals, found, mind, vx, vy):
            found = close_pairs(*here, count, vx, vy, h, pairs, normals)
        _settle(people, traits, robots, robot_traits, maps, w, pairs, normals, found, mind, near, vx, vy, h, worst)
        stop(pairs, normals, found, mind, vx, vy, ONE / h)
        for i in range(count):
            if mind[i] != NOTHING:
                out_x[w, i], out_y[w, i] = vx[i], vy[i]
