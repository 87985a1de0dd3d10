"""Stepping back: a pedestrian that cannot get through takes another route, or steps out of the passage and waits.

A pedestrian stops pushing ahead if it makes no progress for `GIVES_IN`, or walks back and forth without coming nearer to its
waypoint: it has found no detour (`agora.engine.detour`), and no one has made way. If its waypoint is near and people stand next to
the pedestrian, it waits where it is. If a robot or a standing person blocks a road, and the roads of the map offer another route to
the waypoint, it takes that route. Otherwise, it steps back to the side of the passage, waits until the blocked place is free, but
only for a few seconds, and tries again. If it is held up a second time at the same place, or on the other route, it steps back and
gives up its waypoint (`agora.engine.occupied_waypoints`).

The people behind a held-up pedestrian step back in the same way, and sooner if the pedestrian has no room to step back. People with
free space behind them step back first. In a queue of people who all go the same way, only the person at the front steps back, after
`_ASKS`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from agora.core.field import distance_at, is_clear_between
from agora.core.jit import hidden, lean_kernel
from agora.core.scalar import HALF, ONE, TWO, ZERO
from agora.core.state import SOCIAL_STATES, Bools, Floats, Ints
from agora.engine.detour import has_path
from agora.engine.narrow import gap
from agora.engine.other_routes import REACHED, alternative_place, line_distance
from agora.engine.progress import AT_PLACE, AWARE
from agora.maps.road_kernels import cell_near
from agora.maps.roads import SEEN
from agora.pedestrians.shared.neighbours import SEES_PEDESTRIANS, SEES_ROBOTS

GIVES_IN = np.float32(3.5)
"""Time without progress after which a pedestrian takes another route or steps back, s."""

_LATE = np.float32(6.0)  # s, time after which it also gives in if its path has not become shorter

FREE, BACK, ROUND, STAY = range(4)
"""A pedestrian follows its route, steps back, takes another route, or waits where it is, near its waypoint."""

_GIVES_UP = GIVES_IN, np.float32(2.5), np.float32(2.0)  # s, times without progress after which FREE, BACK and ROUND end

_AHEAD = np.float32(0.6)  # m, distance from the pedestrian to the middle of the blocked place
_CLOSES = np.float32(1.0)  # m, distance from that place within which a standing body blocks the passage
_SHORTEST = np.float32(2.5), np.float32(0.8)  # s, minimum waiting time, and the increment per remainder of the id
_LONGEST = np.float32(5.0), np.float32(1.0)  # s, initial maximum waiting time, and the increment per remainder of the id
_LOOKS = np.float32(0.5)  # s, time between two checks of the blocked place
_BEYOND = np.float32(1.0)  # m, distance beyond the blocked place to which a path must lead
_KINDS = 5  # number of remainders, so that people who wait together do not start together
_SAME = np.float32(2.5)  # m, maximum distance between two blocked places that count as the same
_FORGETS = np.float32(40.0)  # s after which a pedestrian has forgotten a blocked place
_AWAY = np.float32(2.0)  # m, distance by which a pedestrian steps back if there is room
_THERE = np.float32(0.35)  # m, distance from its waiting place within which a pedestrian has arrived
_CLEAR = np.float32(0.8)  # m, minimum distance from the place where it was stuck at which a pedestrian has stepped back
_STANDS = np.float32(0.15)  # m/s
_ROOM = np.float32(0.1)  # m, gap to people and walls at the waiting place, or to a wall that is already nearer
_PACE = np.float32(0.8)  # m/s, maximum speed of stepping back
_BEHIND = np.float32(0.4)  # m, gap between the bodies within which a pedestrian is asked for room
_ASKS = np.float32(5.0)  # s, time for which a pedestrian waits for standing people to make way
_COMPANY = np.float32(3.0)  # m, distance within which other people are near
_MEETS = np.float32(0.3)  # share of the distance between two people by which each is nearer to the other's waypoint if they meet
_QUEUES = np.float32(12.0)  # s, time without progress in a queue after which a pedestrian gives up its waypoint
_HOPELESS = np.float32(6.0)  # s, time without progress after which a pedestrian without room gives up its waypoint
_NEARLY_THERE = np.float32(2.0)  # m, distance from its waypoint within which a pedestrian waits where it is
_TIMES = 2  # number of times that a pedestrian is held up at the same place before it gives up its waypoint
_MIDDLE = np.float32(0.25), np.float32(3.0)  # m beyond the radius, and radii: clearances that leave no room to pass
_TINY = np.float32(1e-6)
_INFINITE = np.float32(np.inf)
_SITTING, _WORKING = SOCIAL_STATES.index("sitting"), SOCIAL_STATES.index("working")


class Backs(NamedTuple):
    """The people of W worlds who step back or take another route.

    Attributes:
        what: (W, P) current action of the pedestrian: `FREE`, `BACK`, `ROUND` or `STAY`.
        x: (W, P) place to which the pedestrian steps back, or via which its other route leads, x, m.
        y: (W, P) place to which the pedestrian steps back, or via which its other route leads, y, m.
        time: (W, P) time for which the pedestrian has waited at that place, s.
        barred_x: (W, P) position of the blocked place where the pedestrian was held up, x, m.
        barred_y: (W, P) position of the blocked place where the pedestrian was held up, y, m.
        since: (W, P) time since the pedestrian was held up at the blocked place, s; above `_FORGETS` if there is no such place.
        times: (W, P) number of times that the pedestrian was held up at the blocked place.
        asks: (W, P) whether the pedestrian wants to step back, but the people behind it leave no room.
        waiting: (W,) number of people who step back, or are still near the place at which they were held up on their way
            (`_is_held`).
    """

    what: Ints
    x: Floats
    y: Floats
    time: Floats
    barred_x: Floats
    barred_y: Floats
    since: Floats
    times: Ints
    asks: Bools
    waiting: Ints

    @staticmethod
    def of_nobody(worlds: int, slots: int) -> Backs:
        """Return a record in which no one steps back."""
        real = np.zeros((6, worlds, slots), np.float32)
        what, times = np.zeros((2, worlds, slots), np.int32)
        return Backs._make([what, *real, times, np.zeros((worlds, slots), np.bool_), np.zeros(worlds, np.int32)])


@hidden
def _people_on_line(people, traits, robots, robot_traits, sees, w, i, x, y, to_x, to_y):
    """Return how many people are on the line segment from one point to another, and whether the segment is blocked.

    The segment is blocked if someone is at the second point, or if a robot or a person who wants to stand is on the segment.
    """
    met, own = ZERO, traits.radius[w, i]
    for j in range(traits.count[w] if sees & SEES_PEDESTRIANS else 0):
        if j == i or not people.active[w, j]:
            continue
        reach = own + traits.radius[w, j]
        if gap(people.x[w, j], people.y[w, j], to_x, to_y) < reach + _ROOM:
            return met, True
        if line_distance(people.x[w, j], people.y[w, j], x, y, to_x, to_y) < min(reach, gap(people.x[w, j], people.y[w, j], x, y)):
            if traits.speed[w, j] == ZERO:
                return met, True
            met += ONE
    for r in range(robots.x.shape[1] if sees & SEES_ROBOTS else 0):
        rx, ry, reach = robots.x[w, r], robots.y[w, r], own + robot_traits.radius[w, r]
        near = line_distance(rx, ry, x, y, to_x, to_y) < min(reach, gap(rx, ry, x, y)) or gap(rx, ry, to_x, to_y) < reach + _ROOM
        if robots.active[w, r] and near:
            return met, True
    return met, False


@hidden
def _step_back(maps, m, people, traits, robots, robot_traits, sees, backs, w, i, ux, uy):
    """Choose the place to which pedestrian i, walking along (ux, uy), steps back: outside narrow places, to one side, with few
    people in between. Return whether there is such a place. Of equally good places, the right-hand one is chosen.
    """
    x, y, radius = people.x[w, i], people.y[w, i], traits.radius[w, i]
    here = distance_at(maps, m, x, y)
    # Try directions up to 92 degrees from backwards, at increasing distances up to a wall
    best, found = _INFINITE, False
    for turn in range(-8, 9):
        angle = np.float32(0.2) * np.float32(-turn)
        cosine, sine = np.float32(math.cos(angle)), np.float32(math.sin(angle))
        bx, by = -ux * cosine + uy * sine, -uy * cosine - ux * sine
        for k in range(2, 8):
            away = HALF * np.float32(k)
            px, py = x + away * bx, y + away * by
            free, width = distance_at(maps, m, px, py), np.float32(0.95) * min(radius, here)
            if free < min(radius + _ROOM, here) or not is_clear_between(maps, m, x, y, px, py, width, here):
                break
            met, occupied = _people_on_line(people, traits, robots, robot_traits, sees, w, i, x, y, px, py)
            if occupied:
                continue
            aside = HALF * abs(np.float32(turn))
            worth = abs(away - _AWAY) + met * TWO + np.float32(0.15) * abs(aside - TWO)
            worth += ONE if radius + _MIDDLE[0] < free < _MIDDLE[1] * radius else ZERO
            worth += np.float32(3.0) if free < np.float32(2.1) * radius else ZERO
            if worth < best - np.float32(1e-3):
                best, found = worth, True
                backs.x[w, i], backs.y[w, i] = px, py
    return found


@hidden
def _is_barred(maps, m, people, traits, robots, robot_traits, sees, routes, progress, backs, w, i, cost):
    """Return whether people are stuck where pedestrian i was held up, or bodies block all paths to that place and beyond."""
    x, y, bx, by = people.x[w, i], people.y[w, i], backs.barred_x[w, i], backs.barred_y[w, i]
    for j in range(traits.count[w] if sees & SEES_PEDESTRIANS else 0):
        if people.active[w, j] and progress.stalled[w, j] > ONE and gap(people.x[w, j], people.y[w, j], bx, by) < ONE:
            return True
    beyond = ONE + _BEYOND / max(gap(x, y, bx, by), _TINY)
    to_x, to_y = x + beyond * (bx - x), y + beyond * (by - y)
    return not has_path(maps, m, people, traits, routes, robots, robot_traits, sees, w, i, to_x, to_y, cost)


@hidden
def _nearest_obstacle(people, traits, minds, robots, sees, backs, w, i, x, y):
    """Return the position (2,) of the obstacle nearest to a point, whether that obstacle is within `_CLOSES`, and whether it is a
    person who may make way. Obstacles are stationary robots and people who want to stand.
    """
    near, bx, by, moves = _CLOSES, x, y, False
    for r in range(robots.x.shape[1] if sees & SEES_ROBOTS else 0):
        vx, vy = robots.world_vx[w, r], robots.world_vy[w, r]
        away = gap(robots.x[w, r], robots.y[w, r], x, y)
        if robots.active[w, r] and vx * vx + vy * vy < _STANDS * _STANDS and away < near:
            near, bx, by = away, robots.x[w, r], robots.y[w, r]
    if near < _CLOSES:
        return bx, by, True, False
    for j in range(traits.count[w] if sees & SEES_PEDESTRIANS else 0):
        stays = j != i and people.active[w, j] and traits.speed[w, j] == ZERO and backs.what[w, j] != BACK
        away = gap(people.x[w, j], people.y[w, j], x, y)
        if stays and away < near:
            near, bx, by = away, people.x[w, j], people.y[w, j]
            moves = minds.state[w, j] != _SITTING and minds.state[w, j] != _WORKING
    return bx, by, near < _CLOSES, moves


@hidden
def _length_to(roads, routes, w, j, x, y):
    """Return the length of the path along the roads from a point to the waypoint of pedestrian j, m."""
    q, to_x, to_y = routes.roads[w, j], routes.wanted_x[w, j], routes.wanted_y[w, j]
    shortest = gap(x, y, to_x, to_y)
    if q < 0 or routes.hop[w, j] < 0:
        return shortest
    base, n, pairs, b = roads.place_start[q], roads.places[q], roads.pair_start[q], routes.last[w, j]
    end = gap(roads.place_x[base + b], roads.place_y[base + b], to_x, to_y)
    cell, best = cell_near(roads, q, x, y), _INFINITE
    for s in range(SEEN if cell >= 0 else 0):
        a = roads.seen[cell, s]
        if a < 0:
            break
        best = min(best, gap(x, y, roads.place_x[base + a], roads.place_y[base + a]) + roads.cost[pairs + np.int64(a) * n + b])
    return best + end if best < _INFINITE else shortest


@hidden
def _want_to_pass(roads, people, routes, w, i, j):
    """Return whether pedestrians i and j want to pass each other, i.e. whether each is nearer, along the path, to the other's
    waypoint.
    """
    ax, ay, bx, by = people.x[w, i], people.y[w, i], people.x[w, j], people.y[w, j]
    least = _MEETS * gap(ax, ay, bx, by)
    return (
        _length_to(roads, routes, w, i, ax, ay) - _length_to(roads, routes, w, i, bx, by) > least
        and _length_to(roads, routes, w, j, bx, by) - _length_to(roads, routes, w, j, ax, ay) > least
    )


@hidden
def _is_in_queue(roads, people, traits, robots, sees, routes, backs, w, i, ux, uy):
    """Return whether all people near pedestrian i, who walks in direction (ux, uy), go the same way with no robot near, and whether
    none of these people is ahead.
    """
    x, y, first = people.x[w, i], people.y[w, i], True
    for j in range(traits.count[w] if sees & SEES_PEDESTRIANS else 0):
        far = gap(people.x[w, j], people.y[w, j], x, y) > _COMPANY
        if j == i or far or not people.active[w, j] or backs.what[w, j] != FREE:
            continue
        dx, dy = routes.route_x[w, j] - people.x[w, j], routes.route_y[w, j] - people.y[w, j]
        away = math.sqrt(dx * dx + dy * dy)
        opposed = away + routes.rest[w, j] > AT_PLACE and dx * ux + dy * uy < -HALF * away
        if traits.speed[w, j] == ZERO or (opposed and _want_to_pass(roads, people, routes, w, i, j)):
            return False, first
        first = first and (people.x[w, j] - x) * ux + (people.y[w, j] - y) * uy <= ZERO
    for r in range(robots.x.shape[1] if sees & SEES_ROBOTS else 0):
        if robots.active[w, r] and gap(robots.x[w, r], robots.y[w, r], x, y) < _COMPANY:
            return False, first
    return True, first


@hidden
def _has_standing_neighbour(people, traits, sees, w, i):
    """Return whether a person who wants to stand is next to pedestrian i."""
    for j in range(traits.count[w] if sees & SEES_PEDESTRIANS else 0):
        reach = traits.radius[w, i] + traits.radius[w, j] + _BEHIND
        away = gap(people.x[w, j], people.y[w, j], people.x[w, i], people.y[w, i])
        if j != i and people.active[w, j] and traits.speed[w, j] == ZERO and away < reach:
            return True
    return False


@hidden
def _give_in(roads, maps, m, people, traits, waypoints, minds, robots, robot_traits, sees, routes, progress, backs, w, i):
    """Make pedestrian i, who is held up, take another route or step back."""
    x, y = people.x[w, i], people.y[w, i]
    dx, dy = routes.x[w, i] - x, routes.y[w, i] - y
    length = max(math.sqrt(dx * dx + dy * dy), _TINY)
    ux, uy = dx / length, dy / length
    backs.what[w, i] = FREE
    bx, by, closed, moves = _nearest_obstacle(people, traits, minds, robots, sees, backs, w, i, x + _AHEAD * ux, y + _AHEAD * uy)
    nearly = length + routes.rest[w, i] < _NEARLY_THERE and _has_standing_neighbour(people, traits, sees, w, i)
    other = backs.since[w, i] > _FORGETS or gap(bx, by, backs.barred_x[w, i], backs.barred_y[w, i]) > _SAME
    times = 0 if other else backs.times[w, i]
    if moves and not nearly and times == 0 and max(progress.stalled[w, i], progress.late[w, i]) < _ASKS:
        return
    queues, first = _is_in_queue(roads, people, traits, robots, sees, routes, backs, w, i, ux, uy)
    if not closed and not nearly and queues and not (first and progress.stalled[w, i] > _ASKS):
        progress.hopeless[w, i] = progress.stalled[w, i] > _QUEUES
        return
    backs.times[w, i] = times
    backs.barred_x[w, i], backs.barred_y[w, i], backs.since[w, i], backs.time[w, i] = bx, by, ZERO, ZERO
    q, v = routes.roads[w, i], -1
    if q >= 0 and closed and not nearly and times == 0:
        v = alternative_place(roads, maps, m, q, x, y, waypoints.x[w, i], waypoints.y[w, i], bx, by, traits.radius[w, i])
    if nearly:
        backs.what[w, i], backs.x[w, i], backs.y[w, i] = STAY, x, y
    elif v >= 0:
        backs.what[w, i] = ROUND
        backs.x[w, i], backs.y[w, i] = roads.place_x[roads.place_start[q] + v], roads.place_y[roads.place_start[q] + v]
    elif _step_back(maps, m, people, traits, robots, robot_traits, sees, backs, w, i, ux, uy):
        backs.what[w, i] = BACK
    else:
        backs.asks[w, i] = True
        progress.hopeless[w, i] = progress.stalled[w, i] > _HOPELESS
        return
    backs.times[w, i] += 1
    progress.hopeless[w, i] = backs.times[w, i] >= _TIMES
    progress.stalled[w, i], progress.late[w, i] = ZERO, ZERO


@hidden
def _is_held(people, routes, backs, w, i):
    """Return whether pedestrian i steps back, or is still near the place at which it was held up on its way."""
    x, y = people.x[w, i], people.y[w, i]
    near = gap(x, y, backs.barred_x[w, i], backs.barred_y[w, i]) < _COMPANY
    on_its_way = gap(x, y, routes.x[w, i], routes.y[w, i]) + routes.rest[w, i] >= _NEARLY_THERE and backs.what[w, i] != STAY
    return backs.what[w, i] == BACK or (near and on_its_way and backs.times[w, i] > 0 and backs.since[w, i] < _FORGETS)


@hidden
def _is_asked(people, traits, sees, routes, progress, backs, w, i):
    """Return whether a pedestrian directly ahead of pedestrian i wants to step back, but has no room."""
    x, y = people.x[w, i], people.y[w, i]
    dx, dy = routes.x[w, i] - x, routes.y[w, i] - y
    for j in range(traits.count[w] if sees & SEES_PEDESTRIANS else 0):
        asks = backs.asks[w, j] or (backs.what[w, j] == BACK and progress.stalled[w, j] > ONE)
        if j == i or not (asks and people.active[w, j]):
            continue
        ax, ay = people.x[w, j] - x, people.y[w, j] - y
        reach = traits.radius[w, i] + traits.radius[w, j] + _BEHIND
        if ax * dx + ay * dy > ZERO and ax * ax + ay * ay < reach * reach:
            return True
    return False


@hidden
def _gives_in(people, traits, sees, routes, progress, backs, w, i):
    """Return whether pedestrian i, which wants to keep walking, has been held up for too long or is asked for room."""
    stalled = progress.stalled[w, i]
    if backs.what[w, i] == BACK or backs.what[w, i] == STAY or stalled == ZERO:
        return False
    if backs.what[w, i] == ROUND:
        return stalled > _GIVES_UP[ROUND]
    held = stalled > _GIVES_UP[FREE] or progress.late[w, i] > _LATE
    return held or (stalled > ONE and _is_asked(people, traits, sees, routes, progress, backs, w, i))


@hidden
def _wait(period, maps, m, people, traits, waypoints, robots, robot_traits, sees, routes, progress, backs, w, i, cost):
    """Lead pedestrian i back, and make it wait.

    The wait ends when the blocked place is free, after some seconds, or if the pedestrian has just given up its waypoint and the
    next waypoint lies elsewhere. A pedestrian that is then held up again at the same place waits as before, because the path to its
    next waypoint also leads through the blocked place.
    """
    dx, dy = waypoints.x[w, i] - people.x[w, i], waypoints.y[w, i] - people.y[w, i]
    on = dx * (backs.barred_x[w, i] - people.x[w, i]) + dy * (backs.barred_y[w, i] - people.y[w, i])
    if backs.times[w, i] == _TIMES and on < ZERO:
        backs.what[w, i] = FREE
        return
    away = gap(people.x[w, i], people.y[w, i], backs.x[w, i], backs.y[w, i])
    # The wait begins on arrival or, if the pedestrian gets no farther, once it is far enough back.
    waits = backs.time[w, i] > ZERO or away < _THERE
    back = gap(people.x[w, i], people.y[w, i], backs.barred_x[w, i], backs.barred_y[w, i]) > _AHEAD + _CLEAR
    waits = waits or (back and progress.stalled[w, i] > TWO)
    if not waits:
        if progress.stalled[w, i] > _GIVES_UP[BACK]:
            backs.what[w, i] = FREE
        waypoints.x[w, i], waypoints.y[w, i] = backs.x[w, i], backs.y[w, i]
        traits.speed[w, i] = min(traits.speed[w, i], _PACE)
        return
    before, backs.time[w, i] = backs.time[w, i], backs.time[w, i] + period
    kind = np.float32(traits.id[w, i] % _KINDS)
    ends = backs.time[w, i] > (_LONGEST[0] + _LONGEST[1] * kind) * np.float32(backs.times[w, i])
    looks = math.floor(before / _LOOKS) < math.floor(backs.time[w, i] / _LOOKS)
    if looks and backs.time[w, i] > _SHORTEST[0] + _SHORTEST[1] * kind:
        ends = ends or not _is_barred(maps, m, people, traits, robots, robot_traits, sees, routes, progress, backs, w, i, cost)
    if ends:
        backs.what[w, i], progress.aware[w, i] = FREE, AWARE
        return
    waypoints.x[w, i], waypoints.y[w, i] = people.x[w, i], people.y[w, i]
    traits.speed[w, i] = ZERO


@lean_kernel
def stand_back(
    period, sees, roads, maps, people, traits, waypoints, minds, robots, robot_traits, clock, routes, progress, backs, cost, first,
    last,
):  # fmt: skip
    """Make people who are held up step back or take another route, by changing their current waypoints and speeds (W, P).

    Args:
        period: time between calls, s.
        sees: bit field of the bodies that pedestrians see (`agora.interfaces.CrowdRecord`).
        roads: record `agora.maps.roads.RoadArrays`.
        routes: record `agora.engine.routes.Routes`.
        progress: record `agora.engine.progress.Progress`, whose field ``stalled`` is written.
        backs: record `Backs`, which is written.
        cost: (W, `agora.engine.detour.CELLS`) scratch.
    """
    for w in range(first, last):
        if clock.done[w]:
            continue
        m, backs.waiting[w] = maps.index[w], 0
        for i in range(traits.count[w]):
            backs.since[w, i] += period
            backs.asks[w, i] = False
            if not people.active[w, i] or minds.taken[w, i] or traits.speed[w, i] == ZERO:  # at its place, it stands by choice
                backs.what[w, i] = FREE
                continue
            if _gives_in(people, traits, sees, routes, progress, backs, w, i):
                _give_in(
                    roads, maps, m, people, traits, waypoints, minds, robots, robot_traits, sees, routes, progress, backs, w, i
                )
                continue  # if the waypoint is given up, it is replaced first
            backs.waiting[w] += _is_held(people, routes, backs, w, i)
            if backs.what[w, i] == BACK or backs.what[w, i] == STAY:
                _wait(
                    period, maps, m, people, traits, waypoints, robots, robot_traits, sees, routes, progress, backs, w, i, cost[w]
                )
            elif backs.what[w, i] == ROUND:
                if gap(people.x[w, i], people.y[w, i], backs.x[w, i], backs.y[w, i]) < REACHED:
                    backs.what[w, i] = FREE
                else:
                    waypoints.x[w, i], waypoints.y[w, i] = backs.x[w, i], backs.y[w, i]
