"""Standing back in plain Python, one pedestrian after the other: the twin of `agora.engine.standing_back.stand_back`."""

from __future__ import annotations

import math
from collections import Counter
from typing import NamedTuple

import numpy as np
from tests.pedestrians.crowds import Crowd
from tests.pedestrians.twins import clearance

from agora.core.jit import kernel
from agora.core.state import SOCIAL_STATES, Minds
from agora.engine import detour
from agora.engine.progress import Progress
from agora.engine.routes import Routes
from agora.engine.standing_back import Backs
from agora.maps import road_kernels
from agora.maps.roads import SEEN, Roads

FREE, BACK, ROUND, STAY = range(4)
KEEP_SEATS = SOCIAL_STATES.index("sitting"), SOCIAL_STATES.index("working")
LOOKS_AHEAD, CLOSES = 0.6, 1.0  # m, to the middle of the blocked place, and from there to the body that blocks it
SAME_PLACE, SAME_FOR = 2.5, 40.0  # m and s, within which a blocked place is the same as before
TURNS_TO_GIVE_UP = 2  # times at the same place
MEETS = 0.3  # share of the distance between two people by which either gets nearer to its waypoint


class Scene(NamedTuple):
    """Everything that people who stand back look at, and what they change: waypoints, speeds, progress and backs.

    Attributes:
        roads: the road networks; ``routes.roads`` has their indices.
        done: (W,) whether the episode of a world is over.
    """

    crowd: Crowd
    minds: Minds
    routes: Routes
    progress: Progress
    backs: Backs
    roads: list[Roads]
    done: np.ndarray


@kernel
def _has_path(maps, people, traits, routes, robots, robot_traits, sees, w, i, to_x, to_y, cost):
    m = maps.index[w]
    return detour.has_path(maps, m, people, traits, routes, robots, robot_traits, sees, w, i, to_x, to_y, cost)


@kernel
def _road(maps, m, x, y, to_x, to_y, radius):
    return road_kernels.road(maps, m, x, y, to_x, to_y, radius)


def _towards(a, b):
    """The vector from one point to another."""
    return b[0] - a[0], b[1] - a[1]


def _dot(a, b):
    return a[0] * b[0] + a[1] * b[1]


def _cross(a, b):
    return a[0] * b[1] - a[1] * b[0]


def _beyond(point, length, direction):
    return point[0] + length * direction[0], point[1] + length * direction[1]


def _off_line(point, a, b):
    """The distance of a point from the straight line between two others."""
    line = _towards(a, b)
    share = _dot(_towards(a, point), line) / max(_dot(line, line), 1e-6)
    return math.dist(point, _beyond(a, min(max(share, 0.0), 1.0), line))


def leads_through(barred, a, b):
    """Whether the line from a to b comes within 0.9 m of a blocked place, and clearly nearer to it if a is near it already."""
    return _off_line(barred, a, b) < min(0.9, 0.6 * math.dist(a, barred))


def _seen_from(roads, point):
    """The places of roads that are seen from a point, the nearest first."""
    cell = roads.cell_of(*point)
    return [a for a in roads.seen.reshape(-1, SEEN)[cell].tolist() if a >= 0] if cell >= 0 else []


def _place(roads, a):
    return tuple(roads.place[a].tolist())


def _avoids(roads, a, b, barred):
    """Whether the cheapest path between two places exists and avoids a blocked place."""
    path = [a]
    while path[-1] != b:
        path.append(int(roads.after[path[-1], b]))
        if path[-1] < 0:
            return False
    points = [_place(roads, k) for k in path]
    return not any(leads_through(barred, *pair) for pair in zip(points, points[1:], strict=False))


def other_way(roads, maps, m, radius, start, end, barred):
    """The place through which the cheapest other path leads, as near to its middle as possible; the rightmost of equal ones.

    Paths lead from a place seen from the one point to a place seen from the other. It is None if the usual path is free, or if
    every other path is blocked too or is more than 20 m longer.
    """
    near = {point: _seen_from(roads, point) for point in (start, end)}
    cost = {
        (point, a): float(_road(maps, m, *map(np.float32, (*point, *_place(roads, a), radius))))
        for point in near
        for a in near[point]
    }

    def paths(v):
        """The costs of the free paths to place v, and of those from it."""
        to = [
            cost[start, a] + float(roads.cost[a, v])
            for a in near[start]
            if not leads_through(barred, start, _place(roads, a)) and _avoids(roads, a, v, barred)
        ]
        on = [
            cost[end, b] + float(roads.cost[b, v])
            for b in near[end]
            if not leads_through(barred, _place(roads, b), end) and _avoids(roads, v, b, barred)
        ]
        return to, on

    usual = [
        (cost[start, a] + cost[end, b] + float(roads.cost[a, b]), a, b)
        for a in near[start]
        for b in near[end]
        if np.isfinite(roads.cost[a, b])
    ]
    if not usual:
        return None
    least, a, b = min(usual, key=lambda path: path[0])
    points = start, _place(roads, a), _place(roads, b), end
    if _avoids(roads, a, b, barred) and not any(leads_through(barred, *pair) for pair in (points[:2], points[2:])):
        return None
    found = []
    for v in range(len(roads.place)):
        there = _place(roads, v)
        if math.dist(start, there) < 1.5 or leads_through(barred, start, there):
            continue
        to, on = paths(v)
        if to and on and min(*to, *on) >= 1.0:
            right = _cross(_towards(start, there), _towards(start, barred))
            found.append((min(to) + min(on), min(min(to), min(on)), right, v))
    found = [path for path in found if path[0] < least + 20.01]
    if not found:
        return None
    cheapest = min(total for total, *_ in found)
    found = [path for path in found if path[0] < cheapest + 0.01]
    middle = max(shorter for _, shorter, *_ in found)
    return max((path for path in found if path[1] > middle - 0.01), key=lambda path: path[2])[-1]


class _World:
    """The people of world w, who stand back one after the other; ``happened`` counts what they do."""

    def __init__(self, scene, w, sees, happened):
        people, traits, robots = scene.crowd.pedestrians, scene.crowd.traits, scene.crowd.robots
        self.scene, self.w, self.sees, self.happened, self.n = scene, w, sees, happened, int(traits.count[w])
        self.place = list(zip(people.x[w].tolist(), people.y[w].tolist(), strict=True))
        self.radius = traits.radius[w].tolist()
        self.there = [i for i in range(self.n) if people.active[w, i]]
        self.seen = self.there if sees & 1 else []
        self.robots = [
            (
                (float(robots.x[w, r]), float(robots.y[w, r])),
                math.hypot(robots.world_vx[w, r], robots.world_vy[w, r]),
                float(scene.crowd.robot_traits.radius[w, r]),
            )
            for r in (np.flatnonzero(robots.active[w]) if sees & 2 else [])
        ]

    def _point(self, x, y, i):
        return float(x[self.w, i]), float(y[self.w, i])

    def stands(self, j):
        return self.scene.crowd.traits.speed[self.w, j] == 0.0

    def stalled(self, j):
        return float(self.scene.progress.stalled[self.w, j])

    def late(self, j):
        return float(self.scene.progress.late[self.w, j])

    def ahead(self, i):
        """The vector from a pedestrian to the point that it walks to."""
        return _towards(self.place[i], self._point(self.scene.routes.x, self.scene.routes.y, i))

    def waypoint(self, i):
        return self._point(self.scene.crowd.waypoints.x, self.scene.crowd.waypoints.y, i)

    def barred(self, i):
        return self._point(self.scene.backs.barred_x, self.scene.backs.barred_y, i)

    def clearance(self, point):
        maps = self.scene.crowd.maps
        return float(clearance(maps, maps.index[self.w], *point)[0])

    def roads(self, i):
        number = self.scene.routes.roads[self.w, i]
        return self.scene.roads[number] if number >= 0 else None

    def set(self, record, i, **values):
        for name, value in values.items():
            getattr(record, name)[self.w, i] = value

    def walk(self, i, point, speed):
        self.set(self.scene.crowd.waypoints, i, x=point[0], y=point[1])
        self.set(self.scene.crowd.traits, i, speed=speed)

    def blocker(self, i, point):
        """The nearest standing robot within 1 m of a point, or else the nearest person who wants to stand: its place, and whether
        it may make way.
        """
        backs, minds = self.scene.backs, self.scene.minds
        robots = [(math.dist(place, point), place, False) for place, speed, _ in self.robots if speed < 0.15]
        people = [
            (math.dist(self.place[j], point), self.place[j], minds.state[self.w, j] not in KEEP_SEATS)
            for j in self.seen
            if j != i and self.stands(j) and backs.what[self.w, j] != BACK
        ]
        for bodies in (robots, people):
            near = [body for body in bodies if body[0] < CLOSES]
            if near:
                return min(near)[1:]
        return None

    def left_from(self, j, point):
        """How far pedestrian j would have to go from a point to its waypoint, over its roads if it is on a path over them."""
        routes, roads = self.scene.routes, self.roads(j)
        end = self._point(routes.wanted_x, routes.wanted_y, j)
        if roads is not None and routes.hop[self.w, j] >= 0:
            last = int(routes.last[self.w, j])
            over = [math.dist(point, _place(roads, a)) + float(roads.cost[a, last]) for a in _seen_from(roads, point)]
            if over and min(over) < math.inf:
                return min(over) + math.dist(_place(roads, last), end)
        return math.dist(point, end)

    def meet(self, i, j):
        """Whether each of two people wants to go where the other one is."""
        least = MEETS * math.dist(self.place[i], self.place[j])
        return all(
            self.left_from(one, self.place[one]) - self.left_from(one, self.place[other]) > least for one, other in ((i, j), (j, i))
        )

    def opposes(self, j, direction):
        """Whether pedestrian j is under way, more than 120 degrees off a direction."""
        routes = self.scene.routes
        way = _towards(self.place[j], self._point(routes.route_x, routes.route_y, j))
        is_under_way = math.hypot(*way) + routes.rest[self.w, j] > 0.6
        return is_under_way and _dot(way, direction) < -0.5 * math.hypot(*way)

    def queues(self, i, direction):
        """Whether pedestrian i queues: near it there is no robot, nobody stands, and nobody wants to go where it is. The first in a
        queue, or a pedestrian on its own, does so for 5 s.
        """
        here, what = self.place[i], self.scene.backs.what[self.w]
        near = [j for j in self.seen if j != i and math.dist(self.place[j], here) <= 3.0 and what[j] == FREE]
        if any(self.stands(j) for j in near) or any(math.dist(place, here) < 3.0 for place, *_ in self.robots):
            return False
        against = [j for j in near if self.opposes(j, direction)]
        meets = any(self.meet(i, j) for j in against)
        self.happened["meets an oncomer"] += meets
        self.happened["does not meet an oncomer"] += bool(against) and not meets
        if meets:
            return False
        is_first = not any(_dot(_towards(here, self.place[j]), direction) > 0.0 for j in near)
        self.happened["is the first"] += is_first
        return not is_first or self.stalled(i) <= 5.0

    def is_nearly_there(self, i, length):
        """Whether the waypoint of a pedestrian is less than 2 m away, and somebody stands next to the pedestrian."""
        beside = [j for j in self.seen if j != i and self.stands(j)]
        gaps = (math.dist(self.place[i], self.place[j]) - self.radius[i] - self.radius[j] for j in beside)
        return length + self.scene.routes.rest[self.w, i] < 2.0 and any(gap < 0.4 for gap in gaps)

    def met_on_line(self, i, end):
        """How many people pedestrian i meets on the straight line to a point; None if it cannot get there or stay there."""
        start, met = self.place[i], 0
        bodies = [(self.place[j], self.radius[j], self.stands(j)) for j in self.seen if j != i]
        bodies += [(place, radius, True) for place, _, radius in self.robots]
        for place, radius, stays in bodies:
            reach = self.radius[i] + radius
            touches = _off_line(place, start, end) < min(reach, math.dist(place, start))
            if math.dist(place, end) < reach + 0.1 or (touches and stays):
                return None
            met += touches
        return met

    def is_clear(self, start, end, least):
        """Whether the clearance is at least ``least`` along a line, in steps of the spare clearance or a quarter of a cell."""
        maps = self.scene.crowd.maps
        shortest, length, walked = 0.25 * float(maps.resolution[maps.index[self.w]]), math.dist(start, end), 0.0
        free = self.clearance(start)
        while free >= least:
            walked += max(free - least, shortest)
            if walked >= length:
                return True
            free = self.clearance(_beyond(start, walked / length, _towards(start, end)))
        return False

    def place_behind(self, i, direction):
        """The place to which a pedestrian steps back; None if there is none.

        The directions are up to 1.6 rad off the straight way back, from the pedestrian's right to its left; of equally good places
        the first one is taken. The places in each direction are 0.5 m apart, up to where it is too narrow.
        """
        here, radius = self.place[i], self.radius[i]
        free_here = self.clearance(here)
        best, least = None, math.inf
        for step in range(8, -9, -1):
            cosine, sine = math.cos(0.2 * step), math.sin(0.2 * step)
            back = -direction[0] * cosine + direction[1] * sine, -direction[0] * sine - direction[1] * cosine
            for far in (1.0, 1.5, 2.0, 2.5, 3.0, 3.5):
                point = _beyond(here, far, back)
                free = self.clearance(point)
                if free < min(radius + 0.1, free_here) or not self.is_clear(here, point, 0.95 * min(radius, free_here)):
                    break
                met = self.met_on_line(i, point)
                if met is None:
                    continue
                blocks = 3.0 if free < 2.1 * radius else 0.0
                hinders = 1.0 if radius + 0.25 < free < 3.0 * radius else 0.0
                cost = round(2.0 * met + abs(far - 2.0) + 0.15 * abs(0.5 * abs(step) - 2.0) + blocks + hinders, 3)
                if cost < least:
                    best, least = point, cost
        return best

    def give_in(self, i):
        """A pedestrian that is held up asks for room, queues on, takes another way or steps back. Return what it does."""
        backs, progress, held = self.scene.backs, self.scene.progress, max(self.stalled(i), self.late(i))
        here, length = self.place[i], max(math.hypot(*self.ahead(i)), 1e-6)
        direction = self.ahead(i)[0] / length, self.ahead(i)[1] / length
        barred = _beyond(here, LOOKS_AHEAD, direction)
        blocker, is_near = self.blocker(i, barred), self.is_nearly_there(i, length)
        self.set(backs, i, what=FREE)
        barred = barred if blocker is None else blocker[0]
        times = int(backs.times[self.w, i])
        if backs.since[self.w, i] > SAME_FOR or math.dist(barred, self.barred(i)) > SAME_PLACE:
            self.happened["has forgotten another blocked place"] += times > 0
            times = 0
        if blocker is not None and blocker[1] and not is_near and times == 0 and held < 5.0:
            return "asks a standing person"
        if blocker is None and not is_near and self.queues(i, direction):
            self.set(progress, i, hopeless=self.stalled(i) > 12.0)
            return "queues, and gives up" if self.stalled(i) > 12.0 else "queues"
        self.set(backs, i, barred_x=barred[0], barred_y=barred[1], since=0.0, time=0.0, times=times)
        roads, via, maps = self.roads(i), None, self.scene.crowd.maps
        if roads is not None and blocker is not None and not is_near and times == 0:
            via = other_way(roads, maps, maps.index[self.w], self.radius[i], here, self.waypoint(i), barred)
            self.happened["has no other way"] += via is None
        place = here if is_near else self.place_behind(i, direction) if via is None else _place(roads, via)
        if place is None:
            self.set(backs, i, asks=True)
            self.set(progress, i, hopeless=self.stalled(i) > 6.0)
            return "asks those behind, and gives up" if self.stalled(i) > 6.0 else "asks those behind"
        self.set(backs, i, what=STAY if is_near else BACK if via is None else ROUND, x=place[0], y=place[1], times=times + 1)
        self.set(progress, i, hopeless=times + 1 >= TURNS_TO_GIVE_UP, stalled=0.0, late=0.0)
        again = " once more" if times + 1 >= TURNS_TO_GIVE_UP else ""
        return ("stops" if is_near else "steps back" if via is None else "takes another way") + again

    def is_asked(self, i):
        """Whether somebody within 0.4 m ahead of pedestrian i wants to step back."""
        backs, w = self.scene.backs, self.w
        for j in self.seen:
            asks = backs.asks[w, j] or (backs.what[w, j] == BACK and self.stalled(j) > 1.0)
            off = _towards(self.place[i], self.place[j])
            is_ahead = _dot(off, self.ahead(i)) > 0.0 and math.hypot(*off) < self.radius[i] + self.radius[j] + 0.4
            if j != i and asks and is_ahead:
                return True
        return False

    def is_held(self, i):
        """Whether a pedestrian stands back or is, on its way, still where it was held up not long ago."""
        backs, w = self.scene.backs, self.w
        is_near = math.dist(self.place[i], self.barred(i)) < 3.0
        is_far = math.hypot(*self.ahead(i)) + self.scene.routes.rest[w, i] >= 2.0 and backs.what[w, i] != STAY
        return backs.what[w, i] == BACK or (backs.times[w, i] > 0 and backs.since[w, i] < SAME_FOR and is_near and is_far)

    def is_barred(self, i):
        """Whether somebody is stuck where pedestrian i was held up, or no path leads from the pedestrian to 1 m beyond."""
        barred, here = self.barred(i), self.place[i]
        if any(self.stalled(j) > 1.0 and math.dist(self.place[j], barred) < 1.0 for j in self.seen):
            self.happened["sees somebody stuck"] += 1
            return True
        x, y = _beyond(barred, 1.0 / max(math.dist(here, barred), 1e-6), _towards(here, barred))
        crowd, cost = self.scene.crowd, np.zeros(detour.CELLS, np.float32)
        there = crowd.maps, crowd.pedestrians, crowd.traits, self.scene.routes, crowd.robots, crowd.robot_traits
        leads_on = _has_path(*there, np.int64(self.sees), self.w, i, np.float32(x), np.float32(y), cost)
        self.happened["sees no path"] += not leads_on
        return not leads_on

    def wait(self, i, period):
        """A pedestrian that stands back goes to its place, or waits there. Return what it does."""
        backs, w, here, barred = self.scene.backs, self.w, self.place[i], self.barred(i)
        times, place = int(backs.times[w, i]), self._point(backs.x, backs.y, i)
        if times == TURNS_TO_GIVE_UP and _dot(_towards(here, self.waypoint(i)), _towards(here, barred)) < 0.0:
            self.set(backs, i, what=FREE)
            return "goes elsewhere"
        waited, stuck = backs.time[w, i], self.stalled(i)
        is_there = waited > 0.0 or math.dist(here, place) < 0.35
        is_away = math.dist(here, barred) > LOOKS_AHEAD + 0.8
        if not is_there and not (is_away and stuck > 2.0):
            self.walk(i, place, min(self.scene.crowd.traits.speed[w, i], np.float32(0.8)))
            self.set(backs, i, **({"what": FREE} if stuck > 2.5 else {}))
            return "cannot get to its place" if stuck > 2.5 else "goes to its place"
        kind, time = int(self.scene.crowd.traits.id[w, i]) % 5, np.float32(waited + period)
        self.set(backs, i, time=time)
        ends, looks = time > (5.0 + kind) * times, math.floor(2.0 * waited) < math.floor(2.0 * time)
        is_free = looks and time > np.float32(2.5) + np.float32(0.8) * np.float32(kind) and not self.is_barred(i)
        if ends or is_free:
            self.set(backs, i, what=FREE)
            self.set(self.scene.progress, i, aware=6.0)
            return "has waited long enough" if ends else "finds the place free"
        self.walk(i, here, 0.0)
        return "waits short of its place" if not is_there else "waits"

    def go_round(self, i):
        """A pedestrian on another way goes there, until it is there. Return what it does."""
        backs = self.scene.backs
        place = self._point(backs.x, backs.y, i)
        if math.dist(self.place[i], place) < 1.0:
            self.set(backs, i, what=FREE)
            return "has got round"
        self.set(self.scene.crowd.waypoints, i, x=place[0], y=place[1])
        return "goes round"

    def gives_in(self, i):
        """Whether a pedestrian that wants to go on is held up too long, or is stuck behind somebody who asks for room."""
        stalled, what = self.stalled(i), self.scene.backs.what[self.w, i]
        if what in (BACK, STAY) or stalled == 0.0:
            return False
        if what == ROUND:
            self.happened["does not get round"] += stalled > 2.0
            return stalled > 2.0
        held = stalled > 3.5 or self.late(i) > 6.0
        is_asked = not held and stalled > 1.0 and self.is_asked(i)
        self.happened["is asked"] += is_asked
        return held or is_asked

    def step(self, period):
        backs, w = self.scene.backs, self.w
        backs.waiting[w] = 0
        for i in range(self.n):
            self.set(backs, i, since=backs.since[w, i] + period)
            self.set(backs, i, asks=False)
            if i not in self.there or self.scene.minds.taken[w, i] or self.stands(i):
                self.set(backs, i, what=FREE)
                continue
            if self.gives_in(i):
                self.happened[self.give_in(i)] += 1
                continue
            backs.waiting[w] += self.is_held(i)
            if backs.what[w, i] in (BACK, STAY):
                self.happened[self.wait(i, period)] += 1
            elif backs.what[w, i] == ROUND:
                self.happened[self.go_round(i)] += 1


def stand_back_plainly(scene, period, sees):
    """Change a scene as the kernel does in a period, s, and return how often each action happened."""
    happened = Counter()
    for w in np.flatnonzero(~scene.done):
        _World(scene, w, sees, happened).step(np.float32(period))
    return happened
