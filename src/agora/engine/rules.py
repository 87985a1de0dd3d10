"""The rules of an episode: they detect the contacts in each step, and decide when and how the episode ends."""

from __future__ import annotations

import math

import numpy as np

from agora.core.contact import (
    NEVER,
    PART,
    disc_in_walls,
    is_inside,
    point_to_polygon,
    polygon_in_walls,
    polygons_meet,
    substeps,
    swept_discs,
)
from agora.core.jit import bind, hidden, inlined, lean_kernel
from agora.core.recording import ContactKind, Outcome
from agora.core.scalar import HALF, ONE, PI, ZERO, wrap
from agora.core.state import Bools, Floats
from agora.pedestrians.shared.neighbours import lanes
from agora.simulators.native import keep_robot
from agora.world.records import END_OUT_OF_MAP, END_PEDESTRIAN, END_ROBOT, END_WALL, EVERY_CONTACT, RUNNING, WorldRules
from agora.world.replayed import end_of_body
from agora.world.threads import Work
from agora.world.world import World

_PEDESTRIAN, _WALL, _ROBOT = int(ContactKind.PEDESTRIAN), int(ContactKind.WALL), int(ContactKind.ROBOT)
_REACHED, _TIMEOUT, _OUT_OF_MAP = int(Outcome.REACHED), int(Outcome.TIMEOUT), int(Outcome.OUT_OF_MAP)
_PEDESTRIAN_COLLISION, _WALL_COLLISION = int(Outcome.PEDESTRIAN_COLLISION), int(Outcome.WALL_COLLISION)
_ROBOT_COLLISION, _SIMULATOR_FAILED = int(Outcome.ROBOT_COLLISION), int(Outcome.SIMULATOR_FAILED)
_MARGIN = np.float32(0.01)  # m, far more than the rounding of a distance
_HALVINGS = 8  # accuracy, as a fraction of the part in which outlines begin to touch: 7.5 mm become 0.03 mm


@hidden
def _write_event(status, w, r, kind, party, fraction, x, y):
    """Write a contact event and return its index. Once the list is full, the last event is overwritten, but the count continues."""
    k = min(status.events.count[w], status.events.step.shape[1] - 1)
    status.events.count[w] += 1
    status.events.step[w, k] = status.clock.step[w]
    status.events.kind[w, k] = kind
    status.events.robot[w, k] = r
    status.events.party[w, k] = party
    status.events.fraction[w, k] = fraction
    status.events.x[w, k] = x
    status.events.y[w, k] = y
    return k


@hidden
def _write_motion(motion, w, k, robots, r, x, y, heading):
    """Write the positions of robot r and of the other party of event k, at the start or end of the step."""
    motion[w, k, 0], motion[w, k, 1], motion[w, k, 2] = robots.x[w, r], robots.y[w, r], robots.heading[w, r]
    motion[w, k, 3], motion[w, k, 4], motion[w, k, 5] = x, y, heading


@hidden
def _touches(robots, traits, maps, pedestrians, people, w, r):
    """Return whether robot r touches a wall, a pedestrian or another robot."""
    m, round_one = maps.index[w], traits.vertices[w, r] == 0
    x, y, heading, radius = robots.x[w, r], robots.y[w, r], robots.heading[w, r], traits.radius[w, r]
    if disc_in_walls(maps, m, x, y, radius) and (round_one or polygon_in_walls(maps, m, traits, w, r, x, y, heading)):
        return True
    for i in range(people.count[w]):
        px, py, body = pedestrians.x[w, i], pedestrians.y[w, i], people.radius[w, i]
        near = pedestrians.active[w, i] and (px - x) * (px - x) + (py - y) * (py - y) <= (radius + body) * (radius + body)
        if near and (round_one or point_to_polygon(traits, w, r, x, y, heading, px, py) <= body):
            return True
    for b in range(robots.x.shape[1]):
        bx, by, reach = robots.x[w, b], robots.y[w, b], radius + traits.radius[w, b]
        near = b != r and robots.active[w, b] and (bx - x) * (bx - x) + (by - y) * (by - y) <= reach * reach
        both_round = round_one and traits.vertices[w, b] == 0
        if near and (both_round or polygons_meet(traits, w, r, x, y, heading, b, bx, by, robots.heading[w, b])):
            return True
    return False


@lean_kernel
def find_touching(robots, traits, maps, pedestrians, people, touching, first, last):
    """Write to ``touching`` (W, R) whether each robot of worlds ``first <= w < last`` touches a wall, a pedestrian or another
    robot.
    """
    for w in range(first, last):
        for r in range(robots.x.shape[1]):
            touching[w, r] = _touches(robots, traits, maps, pedestrians, people, w, r)


@hidden
def _is_at(traits, w, r, x, y, heading, turn, dx, dy, body, share):
    """Return whether the polygon of robot r is within ``body`` metres of the origin after a fraction ``share`` of its motion."""
    return point_to_polygon(traits, w, r, x + share * dx, y + share * dy, wrap(heading + share * turn), ZERO, ZERO) <= body


@hidden
def _touch_pedestrian(now, after, traits, pedestrians, next_pedestrians, people, w, r, i):
    """Return the time within the step at which robot r touches pedestrian i, and whether they overlap at the end of the step."""
    # A pedestrian that appears in this step has no earlier position, so it counts as standing at its new position.
    new = not pedestrians.active[w, i]
    px = next_pedestrians.x[w, i] if new else pedestrians.x[w, i]
    py = next_pedestrians.y[w, i] if new else pedestrians.y[w, i]
    ox, oy = now.x[w, r] - px, now.y[w, r] - py
    ex, ey = after.x[w, r] - next_pedestrians.x[w, i], after.y[w, r] - next_pedestrians.y[w, i]
    dx, dy = ex - ox, ey - oy
    body = people.radius[w, i]
    reach = traits.radius[w, r] + body
    # Sweeping the discs is exact and cheap; polygons are tested only if the discs touch.
    t = swept_discs(ox, oy, dx, dy, reach)
    if t > ONE or traits.vertices[w, r] == 0:
        return t, ex * ex + ey * ey <= reach * reach
    turn = wrap(after.heading[w, r] - now.heading[w, r])
    parts = substeps(math.sqrt(dx * dx + dy * dy), turn, traits.radius[w, r], body * PART)
    t = NEVER
    # The polygon turns while it moves, so the motion is sampled finely and the first hit is refined by bisection.
    for k in range(parts + 1):
        share = np.float32(k) / np.float32(parts)
        if _is_at(traits, w, r, ox, oy, now.heading[w, r], turn, dx, dy, body, share):
            t, apart = share, np.float32(k - 1) / np.float32(parts)
            for _ in range(_HALVINGS if k > 0 else 0):
                share = HALF * (apart + t)
                if _is_at(traits, w, r, ox, oy, now.heading[w, r], turn, dx, dy, body, share):
                    t = share
                else:
                    apart = share
            break
    return t, point_to_polygon(traits, w, r, ex, ey, after.heading[w, r], ZERO, ZERO) <= body


@hidden
def _touch_body(now, after, traits, pedestrians, next_pedestrians, people, w, r, i, end):
    """Return the time within the step at which robot r first touches one of the discs ``i <= k < end``, the index of that disc, and
    whether any of the discs overlaps the robot at the end of the step.
    """
    earliest, first, overlaps = NEVER, i, False
    for k in range(i, end):
        if next_pedestrians.active[w, k]:
            t, overlap = _touch_pedestrian(now, after, traits, pedestrians, next_pedestrians, people, w, r, k)
            overlaps = overlaps or overlap
            if t < earliest:
                earliest, first = t, k
    return earliest, first, overlaps


@hidden
def _are_at(traits, w, a, b, x, y, heading_a, heading_b, turn_a, turn_b, dx, dy, share):
    """Return whether the footprints of robots a and b touch after a fraction ``share`` of their motion; positions are relative to
    robot b.
    """
    ha, hb = wrap(heading_a + share * turn_a), wrap(heading_b + share * turn_b)
    return polygons_meet(traits, w, a, x + share * dx, y + share * dy, ha, b, ZERO, ZERO, hb)


@hidden
def _touch_robot(now, after, traits, w, a, b):
    """Return the time within the step at which robots a and b touch, and whether they overlap at the end of the step."""
    ox, oy = now.x[w, a] - now.x[w, b], now.y[w, a] - now.y[w, b]
    ex, ey = after.x[w, a] - after.x[w, b], after.y[w, a] - after.y[w, b]
    dx, dy = ex - ox, ey - oy
    reach = traits.radius[w, a] + traits.radius[w, b]
    t = swept_discs(ox, oy, dx, dy, reach)
    if t > ONE or (traits.vertices[w, a] == 0 and traits.vertices[w, b] == 0):
        return t, ex * ex + ey * ey <= reach * reach
    turn_a = wrap(after.heading[w, a] - now.heading[w, a])
    turn_b = wrap(after.heading[w, b] - now.heading[w, b])
    turn = max(abs(turn_a), abs(turn_b))
    parts = substeps(math.sqrt(dx * dx + dy * dy), turn, reach, min(traits.radius[w, a], traits.radius[w, b]) * PART)
    t = NEVER
    ha, hb = now.heading[w, a], now.heading[w, b]
    for k in range(parts + 1):
        share = np.float32(k) / np.float32(parts)
        if _are_at(traits, w, a, b, ox, oy, ha, hb, turn_a, turn_b, dx, dy, share):
            t, apart = share, np.float32(k - 1) / np.float32(parts)
            for _ in range(_HALVINGS if k > 0 else 0):
                share = HALF * (apart + t)
                if _are_at(traits, w, a, b, ox, oy, ha, hb, turn_a, turn_b, dx, dy, share):
                    t = share
                else:
                    apart = share
            break
    return t, polygons_meet(traits, w, a, ex, ey, after.heading[w, a], b, ZERO, ZERO, after.heading[w, b])


@hidden
def _position_at(now, after, w, r, t):
    """Return the position of robot r at time t within the step."""
    return now.x[w, r] + t * (after.x[w, r] - now.x[w, r]), now.y[w, r] + t * (after.y[w, r] - now.y[w, r])


@hidden
def _write_pedestrian_event(now, after, pedestrians, next_pedestrians, people, status, w, r, i, t):
    """Write an event: robot r begins to touch pedestrian i at time t within the step."""
    x, y = _position_at(now, after, w, r, t)
    k = _write_event(status, w, r, _PEDESTRIAN, people.id[w, i], t, x, y)
    px, py = next_pedestrians.x[w, i], next_pedestrians.y[w, i]
    new = not pedestrians.active[w, i]
    came_x, came_y = (px, py) if new else (pedestrians.x[w, i], pedestrians.y[w, i])
    _write_motion(status.events.here, w, k, now, r, came_x, came_y, ZERO)
    if new and t <= ZERO:  # a pedestrian that appears at the robot's position is not a collision by the robot
        _write_motion(status.events.there, w, k, now, r, px, py, ZERO)
    else:
        _write_motion(status.events.there, w, k, after, r, px, py, ZERO)


@inlined
def _is_within_reach(now, after, traits, pedestrians, next_pedestrians, people, w, r):
    """Return whether robot r may touch a pedestrian in this step or touches one already. (The loop vectorises.)"""
    ox, oy, ex, ey = now.x[w, r], now.y[w, r], after.x[w, r], after.y[w, r]
    x, y, next_x, next_y = pedestrians.x[w], pedestrians.y[w], next_pedestrians.x[w], next_pedestrians.y[w]
    radius, before, active, found = people.radius[w], pedestrians.active[w], next_pedestrians.active[w], np.int32(0)
    own = traits.radius[w, r] + abs(ex - ox) + abs(ey - oy) + _MARGIN
    for i in range(lanes(people.count[w])):
        dx, dy = next_x[i] - ex, next_y[i] - ey
        moved = abs(next_x[i] - x[i]) + abs(next_y[i] - y[i])
        reach = own + radius[i] + (moved if before[i] else ZERO)  # a pedestrian that appears in this step counts as standing
        found = np.int32(found + np.int32(active[i] & (dx * dx + dy * dy < reach * reach)))
    return found > 0


@hidden
def _write_contacts(now, after, traits, pedestrians, next_pedestrians, people, status, w, r, wall):
    """Write robot r's contact events in this step, and return the END bits of the earliest contact; of simultaneous contacts, those
    with pedestrians come first.
    """
    bits, earliest = 0, NEVER
    end = 0
    if not _is_within_reach(now, after, traits, pedestrians, next_pedestrians, people, w, r):
        end = people.count[w]
        status.touching.pedestrian[w, r, :end] = False
    # A rigid body of several discs is one party: only its first contact is an event.
    while end < people.count[w]:
        i = end
        end = end_of_body(people, w, i)
        t, disc, overlap = _touch_body(now, after, traits, pedestrians, next_pedestrians, people, w, r, i, end)
        # A continuous contact is one event, written when it begins.
        if t <= ONE and not status.touching.pedestrian[w, r, i]:
            _write_pedestrian_event(now, after, pedestrians, next_pedestrians, people, status, w, r, disc, t)
            if t < earliest:
                bits, earliest = END_PEDESTRIAN, t
        for k in range(i, end):
            status.touching.pedestrian[w, r, k] = overlap
    if wall <= ONE and not status.touching.wall[w, r]:
        _write_event(status, w, r, _WALL, -1, wall, after.x[w, r], after.y[w, r])
        if wall < earliest:
            bits, earliest = END_WALL, wall
    status.touching.wall[w, r] = wall <= ONE
    for b in range(now.x.shape[1]):
        if b == r or not now.active[w, b]:
            continue
        t, overlap = _touch_robot(now, after, traits, w, r, b)
        if t <= ONE and not status.touching.robot[w, r, b]:
            x, y = _position_at(now, after, w, r, t)
            k = _write_event(status, w, r, _ROBOT, b, t, x, y)
            _write_motion(status.events.here, w, k, now, r, now.x[w, b], now.y[w, b], now.heading[w, b])
            _write_motion(status.events.there, w, k, after, r, after.x[w, b], after.y[w, b], after.heading[w, b])
            if t < earliest:
                bits, earliest = END_ROBOT, t
        status.touching.robot[w, r, b] = overlap
    return bits


@hidden
def _judge(after, maps, status, rules, w, r, bits):
    """Return the outcome of robot r at t + dt; a contact takes precedence over arrival, and arrival over a time-out."""
    ends = bits & rules.ends[0]
    step = status.clock.step[w] + 1
    outcome = RUNNING
    if ends & END_PEDESTRIAN:
        outcome = _PEDESTRIAN_COLLISION
    elif ends & END_WALL:
        outcome = _WALL_COLLISION
    elif ends & END_ROBOT:
        outcome = _ROBOT_COLLISION
    elif (rules.ends[0] & END_OUT_OF_MAP) and not is_inside(maps, maps.index[w], after.x[w, r], after.y[w, r]):
        outcome = _OUT_OF_MAP
    else:
        dx, dy = status.goals.x[w, r] - after.x[w, r], status.goals.y[w, r] - after.y[w, r]
        near = dx * dx + dy * dy < status.goals.tolerance[w, r] * status.goals.tolerance[w, r]
        turned = status.goals.heading_tolerance[w, r] >= PI or (
            abs(wrap(after.heading[w, r] - status.goals.heading[w, r])) <= status.goals.heading_tolerance[w, r]
        )
        if near and turned:
            if status.goals.left[w, r] > 0:
                status.goals.arrived[w, r] = True
            else:
                outcome = _REACHED
        if outcome == RUNNING and step >= status.clock.time_limit[w]:
            outcome = _TIMEOUT
    if outcome != RUNNING:
        status.ends.outcome[w, r] = outcome
        status.ends.step[w, r] = step
    return outcome


@hidden
def _is_lost(robots, w, r):
    """Return whether the simulator has lost robot r, i.e. whether any value of its state is NaN."""
    x, y, heading = robots.x[w, r], robots.y[w, r], robots.heading[w, r]
    vx, vy, omega = robots.vx[w, r], robots.vy[w, r], robots.omega[w, r]
    return not math.isfinite(x + y + heading + vx + vy + omega + robots.world_vx[w, r] + robots.world_vy[w, r])


@hidden
def _end_lost(now, after, status, rules, w):
    """End the episodes of robots that the simulator has lost, and keep these robots at their last known positions."""
    for r in range(now.x.shape[1]):
        if not _is_lost(after, w, r):
            continue
        keep_robot(now, after, w, r)
        if now.active[w, r] and status.ends.outcome[w, r] == RUNNING:
            status.ends.outcome[w, r], status.ends.step[w, r] = _SIMULATOR_FAILED, status.clock.step[w] + 1
            if rules.remove[0] != 0:
                after.active[w, r] = False


@lean_kernel
def judge_robots(now, after, traits, maps, pedestrians, next_pedestrians, people, status, rules, walls, first, last):
    """For the robots of worlds ``first <= w < last``, record the contacts that occur during the step, determine outcomes, and
    count the step.

    ``walls`` (W, R) is the time at which a wall stopped a robot, as a fraction of the step; `NEVER` if no wall stopped it.
    """
    robots = now.x.shape[1]
    for w in range(first, last):
        if status.clock.done[w]:
            continue
        running = robots == 0
        _end_lost(now, after, status, rules, w)
        for r in range(robots):
            if now.active[w, r] and status.ends.outcome[w, r] == RUNNING:
                bits = _write_contacts(now, after, traits, pedestrians, next_pedestrians, people, status, w, r, walls[w, r])
                if _judge(after, maps, status, rules, w, r, bits) == RUNNING:
                    running = True
                elif rules.remove[0] != 0:
                    after.active[w, r] = False
        status.clock.step[w] += 1
        status.clock.done[w] = not running


class Rules:
    """Detects contacts in every step by sweeping, and ends episodes.

    Args:
        world: world whose robots are judged.
        ends: sum of the END bits (`agora.world.records`) of those kinds of contact that end an episode; other contacts are only
            counted.
        remove: whether robots leave the world when their episode has ended; otherwise they stay.
    """

    def __init__(self, world: World, ends: int = EVERY_CONTACT, remove: bool = False) -> None:
        self._world = world
        self._record = WorldRules(np.array([ends], np.int32), np.array([int(remove)], np.int32))

    def judge(self, now: int, walls: Floats) -> Work:
        """Return the kernel that determines the contacts and outcomes of the step from generation ``now`` to the next generation.

        Args:
            now: index of the current generation, 0 or 1.
            walls: (W, R) time at which a wall stopped a robot, as a fraction of the step.
        """
        w = self._world
        (people, robots), (next_people, after) = w.generation(now), w.generation(1 - now)
        return bind(
            judge_robots, robots, after, w.robot_traits, w.maps, people, next_people, w.traits, w.status, self._record, walls
        )


def touching_robots(world: World, number: int) -> Bools:
    """Return which robots (R,) of one world currently touch a wall, a pedestrian or another robot."""
    found = np.zeros((world.layout.worlds, world.layout.robots), np.bool_)
    find_touching(world.robots, world.robot_traits, world.maps, world.pedestrians, world.traits, found, number, number + 1)
    row: Bools = found[number]
    return row
