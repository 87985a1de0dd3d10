"""Routes: pedestrians find their way around walls and furniture, through doors, and let each other pass in narrow places.

Behaviours and waypoint lists determine where a pedestrian wants to go, but crowd models steer straight to a point. A route
therefore replaces the destination with the point that the pedestrian should walk to now. This point is a visible place on the path,
moved away from the pedestrian by the length of the remaining path, so that models that use the distance to the goal still work
correctly. If the destination is visible, nothing changes. Routes follow the roads of the map (`agora.maps.roads`) and are shortened
like a taut string: about twice per second, each pedestrian walks to the farthest point on its route that it can see. A pedestrian
that has been pushed off its route, or has a new destination, gets a new route.

If two people cannot pass each other, one of them gives way (`agora.engine.narrow`). A stuck pedestrian walks around stationary
bodies (`agora.engine.detour`), takes another route, or steps back (`agora.engine.standing_back`).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from agora.core.field import distance_at, is_clear_between
from agora.core.jit import bind, hidden, lean_kernel
from agora.core.scalar import HALF, ONE, ZERO
from agora.core.state import Bools, Floats, Ints
from agora.engine.detour import CELLS, walk_round
from agora.engine.narrow import REACHED, gap, look_ahead, waiting_place
from agora.engine.progress import Progress, record_path, record_progress
from agora.engine.standing_back import Backs, stand_back
from agora.maps.road_kernels import cell_near, road
from agora.maps.roads import SEEN, Roads, RoadStore, radius_class, roads_of

if TYPE_CHECKING:
    from agora.core.state import Waypoints
    from agora.world.start import Start
    from agora.world.threads import Work
    from agora.world.world import World

_LOOK = 0.6  # s, time between two checks of the route
_MOVED = np.float32(0.5)  # m, distance that the destination may move before the route is recomputed
_AMPLE = np.float32(0.2)  # m, required clearance of a short cut beyond the radius, or the clearance at its ends if that is smaller
_SHARE = np.float32(0.98)
_EQUAL = np.float32(0.01)  # m, tolerance for equal costs
_LEAST = np.float32(0.75)  # clearance, in radii, at which a road is still followed: a pedestrian next to the road slides back
_DISTANT = np.float32(3.0)  # m, distance to the next point beyond which checks are half as frequent
_TIRED = np.float32(7.0)  # s, time without progress after which a pedestrian no longer waits in front of a narrow place
_STRAIGHT, _NONE = -1, -1
_TINY = np.float32(1e-6)
_INFINITE = np.float32(np.inf)


class Routes(NamedTuple):
    """The routes of the pedestrians of W worlds.

    Attributes:
        roads: (W, P) index of the road network that a pedestrian uses; -1 if none.
        wanted_x: (W, P) point to which the route leads, x, m.
        wanted_y: (W, P) point to which the route leads, y, m.
        hop: (W, P) index of the next place on the route; -1 if the destination is visible.
        last: (W, P) index of the last place on the route.
        x: (W, P) point to walk to, x, m.
        y: (W, P) point to walk to, y, m.
        rest: (W, P) length of the path beyond the point to walk to, m.
        beyond_x: (W, P) direction of the path beyond the point to walk to, x; 0 if it is unknown or the path ends at the point.
        beyond_y: (W, P) direction of the path beyond the point to walk to, y; 0 in the same cases as ``beyond_x``.
        route_x: (W, P) value of ``x`` without the detour around stationary bodies, m.
        route_y: (W, P) value of ``y`` without the detour around stationary bodies, m.
        through_x: (W, P) value of ``beyond_x`` without the detour around stationary bodies.
        through_y: (W, P) value of ``beyond_y`` without the detour around stationary bodies.
        narrow: (W, P) whether the pedestrian is in a narrow place, or one is ahead.
        narrow_x: (W, P) position of the narrow place, x, m.
        narrow_y: (W, P) position of the narrow place, y, m.
        waits: (W, P) whether the pedestrian waits for others to pass through the narrow place.
        due: (W, P) number of the call at which the pedestrian next checks its route.
        fresh: (W, P) True until the first route has been computed.
    """

    roads: Ints
    wanted_x: Floats
    wanted_y: Floats
    hop: Ints
    last: Ints
    x: Floats
    y: Floats
    rest: Floats
    beyond_x: Floats
    beyond_y: Floats
    route_x: Floats
    route_y: Floats
    through_x: Floats
    through_y: Floats
    narrow: Bools
    narrow_x: Floats
    narrow_y: Floats
    waits: Bools
    due: Ints
    fresh: Bools


@hidden
def _is_free(maps, m, x, y, to_x, to_y, width):
    """Return whether the straight path between two points is at least ``width`` metres wide, or as wide as at its ends."""
    here, there = distance_at(maps, m, x, y), distance_at(maps, m, to_x, to_y)
    return is_clear_between(maps, m, x, y, to_x, to_y, min(width, min(here, there) * _SHARE), here)


@hidden
def _standing_point(roads, q, maps, m, x, y, radius):
    """Return the given point if the pedestrian's disc fits there, or else the nearest point on the roads."""
    if distance_at(maps, m, x, y) >= radius:
        return x, y
    cell = cell_near(roads, q, x, y)
    if cell < 0:
        return x, y
    return roads.point_x[cell], roads.point_y[cell]


@hidden
def _walk_to(routes, w, i, x, y, rest):
    routes.x[w, i], routes.y[w, i], routes.rest[w, i] = x, y, rest
    routes.beyond_x[w, i], routes.beyond_y[w, i] = ZERO, ZERO


@hidden
def _go_on(routes, w, i, dx, dy):
    """Record the direction in which the path continues beyond the point to walk to."""
    length = math.sqrt(dx * dx + dy * dy)
    if length > _TINY:
        routes.beyond_x[w, i], routes.beyond_y[w, i] = dx / length, dy / length


@hidden
def _walk_straight(routes, w, i, foot_x, foot_y, x, y):
    """Walk straight to a visible destination or, if it is inside an obstacle, via the free point nearest to it."""
    tx, ty = routes.wanted_x[w, i], routes.wanted_y[w, i]
    routes.hop[w, i] = _STRAIGHT
    beyond = gap(foot_x, foot_y, tx, ty)
    if beyond == ZERO or gap(x, y, tx, ty) <= beyond + REACHED:
        _walk_to(routes, w, i, tx, ty, ZERO)
    else:
        _walk_to(routes, w, i, foot_x, foot_y, beyond)


@hidden
def _remaining_length(roads, q, a, b, foot_x, foot_y):
    """Return the length of the path from place a via place b to the free point nearest to the destination."""
    base, n = roads.place_start[q], roads.places[q]
    way = roads.cost[roads.pair_start[q] + np.int64(a) * n + b]
    return way + gap(roads.place_x[base + b], roads.place_y[base + b], foot_x, foot_y)


@hidden
def _is_near_end(roads, routes, w, i):
    """Return whether a route has at most one place after the next one."""
    q, hop, last = routes.roads[w, i], routes.hop[w, i], routes.last[w, i]
    return hop == last or roads.after[roads.pair_start[q] + np.int64(hop) * roads.places[q] + last] == last


@hidden
def _find(roads, maps, m, routes, w, i, x, y, foot_x, foot_y, radius):
    """Choose the cheapest route whose first place is visible from the start and whose last place is visible from the destination; a
    straight line if there is no such route.

    Of equally cheap routes, the right-hand one is chosen, i.e. the one whose first and last places are farther to the right of the
    straight line to the destination.
    """
    q = routes.roads[w, i]
    base, n, pairs = roads.place_start[q], roads.places[q], roads.pair_start[q]
    here, there = cell_near(roads, q, x, y), cell_near(roads, q, foot_x, foot_y)
    best, right, hop, last = _INFINITE, -_INFINITE, _NONE, _NONE
    for t in range(SEEN if here >= 0 and there >= 0 else 0):
        b = roads.seen[there, t]
        if b < 0:
            break
        end = road(maps, m, roads.place_x[base + b], roads.place_y[base + b], foot_x, foot_y, radius)
        for s in range(SEEN):
            a = roads.seen[here, s]
            if a < 0:
                break
            way = end + roads.cost[pairs + np.int64(a) * n + b]
            shortest = gap(x, y, roads.place_x[base + a], roads.place_y[base + a])
            if way + _SHARE * shortest < best + _EQUAL:  # a lower bound of the cost of a road
                way += road(maps, m, x, y, roads.place_x[base + a], roads.place_y[base + a], radius)
                if way < best + _EQUAL:
                    bx = roads.place_x[base + a] + roads.place_x[base + b] - x - x
                    by = roads.place_y[base + a] + roads.place_y[base + b] - y - y
                    side = bx * (foot_y - y) - by * (foot_x - x)
                    if way < best - _EQUAL or side > right:
                        right, hop, last = side, a, b
                    best = min(best, way)
    if hop < 0:
        _walk_straight(routes, w, i, foot_x, foot_y, x, y)
        return
    routes.hop[w, i], routes.last[w, i] = hop, last
    px, py = roads.place_x[base + hop], roads.place_y[base + hop]
    rest = _remaining_length(roads, q, hop, last, foot_x, foot_y)
    if _is_free(maps, m, x, y, px, py, _LEAST * radius):
        _walk_to(routes, w, i, px, py, rest)
    else:
        cx, cy = roads.point_x[here], roads.point_y[here]
        _walk_to(routes, w, i, cx, cy, gap(cx, cy, px, py) + rest)


@hidden
def _follow_route(roads, maps, m, routes, w, i, x, y, radius):
    """Walk to the farthest visible point on the route; if no point is visible, choose another route."""
    q = routes.roads[w, i]
    base, n, pairs = roads.place_start[q], roads.places[q], roads.pair_start[q]
    foot_x, foot_y = _standing_point(roads, q, maps, m, routes.wanted_x[w, i], routes.wanted_y[w, i], radius)
    sx, sy = _standing_point(roads, q, maps, m, x, y, radius)
    ample, least = radius + _AMPLE, _LEAST * radius
    far = not routes.fresh[w, i] and routes.hop[w, i] >= 0 and not _is_near_end(roads, routes, w, i)
    if not far and _is_free(maps, m, sx, sy, foot_x, foot_y, ample):
        _walk_straight(routes, w, i, foot_x, foot_y, x, y)
        return
    if routes.hop[w, i] < 0 or routes.fresh[w, i]:
        _find(roads, maps, m, routes, w, i, sx, sy, foot_x, foot_y, radius)
    hop, last = routes.hop[w, i], routes.last[w, i]
    if hop < 0:
        return
    there = gap(x, y, routes.x[w, i], routes.y[w, i]) < REACHED
    while hop != last:
        after = roads.after[pairs + np.int64(hop) * n + last]
        if not _is_free(maps, m, sx, sy, roads.place_x[base + after], roads.place_y[base + after], least if there else ample):
            break
        hop, there = after, False
    routes.hop[w, i] = hop
    px, py = roads.place_x[base + hop], roads.place_y[base + hop]
    nx, ny, rest = foot_x, foot_y, ZERO
    if hop != last:
        after = roads.after[pairs + np.int64(hop) * n + last]
        nx, ny = roads.place_x[base + after], roads.place_y[base + after]
        rest = _remaining_length(roads, q, after, last, foot_x, foot_y)
    elif (far or there) and _is_free(maps, m, sx, sy, foot_x, foot_y, least if there else ample):
        _walk_straight(routes, w, i, foot_x, foot_y, x, y)
        return
    edge = gap(px, py, nx, ny)
    share, step = ZERO, HALF
    for _ in range(2):
        cx, cy = px + (share + step) * (nx - px), py + (share + step) * (ny - py)
        share += step if _is_free(maps, m, sx, sy, cx, cy, ample) else ZERO
        step *= HALF
    if share > ZERO:
        _walk_to(routes, w, i, px + share * (nx - px), py + share * (ny - py), (ONE - share) * edge + rest)
        _go_on(routes, w, i, nx - px, ny - py)
        return
    if hop == last and gap(x, y, px, py) < REACHED:
        cell = cell_near(roads, q, foot_x, foot_y)
        cx, cy = roads.point_x[cell], roads.point_y[cell]
        _walk_to(routes, w, i, cx, cy, gap(cx, cy, foot_x, foot_y))
    elif _is_free(maps, m, sx, sy, px, py, least):
        _walk_to(routes, w, i, px, py, edge + rest)
        _go_on(routes, w, i, nx - px, ny - py)
    else:
        _find(roads, maps, m, routes, w, i, sx, sy, foot_x, foot_y, radius)


@lean_kernel
def follow_routes(
    look, every, dt, sees, roads, maps, people, traits, waypoints, robots, robot_traits, clock, routes, progress, goal_x, goal_y,
    cost, first, last
):  # fmt: skip
    """Write the points (W, P), m, that the pedestrians of worlds ``first <= w < last`` should walk to now.

    Args:
        look: number of calls between two checks of a route.
        every: number of physics steps between calls.
        dt: time between calls, s; 0 if pedestrians do not walk around stationary bodies.
        sees: bit field of the bodies that pedestrians see (`agora.interfaces.CrowdRecord`).
        progress: record `agora.engine.progress.Progress`, which is written.
        cost: (W, `agora.engine.detour.CELLS`) scratch.
    """
    for w in range(first, last):
        if clock.done[w]:
            continue
        m, call = maps.index[w], clock.step[w] // every
        progress.stopped[w] = 0
        for i in range(traits.count[w]):
            tx, ty = waypoints.x[w, i], waypoints.y[w, i]
            # Unless a route says otherwise, crowd models read the destination itself.
            goal_x[w, i], goal_y[w, i] = tx, ty
            if dt > ZERO:
                record_progress(dt, people, traits, progress, w, i, gap(tx, ty, people.x[w, i], people.y[w, i]))
            leads = routes.roads[w, i] >= 0
            if not people.active[w, i] or not (leads or progress.aware[w, i] > ZERO):
                continue
            mx, my = tx - routes.wanted_x[w, i], ty - routes.wanted_y[w, i]
            # A moved waypoint makes the route obsolete.
            if mx * mx + my * my > _MOVED * _MOVED:
                routes.fresh[w, i] = True
            if dt > ZERO:
                left = gap(people.x[w, i], people.y[w, i], routes.x[w, i], routes.y[w, i]) + routes.rest[w, i]
                record_path(dt, progress, w, i, left, routes.fresh[w, i] or routes.waits[w, i])
            if routes.fresh[w, i] or routes.hop[w, i] < 0:
                if routes.rest[w, i] == ZERO:
                    routes.x[w, i], routes.y[w, i] = tx, ty
                routes.wanted_x[w, i], routes.wanted_y[w, i] = tx, ty
            x, y = people.x[w, i], people.y[w, i]
            dx, dy = routes.x[w, i] - x, routes.y[w, i] - y
            arrived = routes.rest[w, i] > ZERO and dx * dx + dy * dy < REACHED * REACHED
            if routes.fresh[w, i] or arrived or call >= routes.due[w, i]:
                # Checks are spread over the calls by id, so that every call costs about the same.
                routes.due[w, i] = call + look - (traits.id[w, i] % look if call == 0 else 0)
                if leads:
                    _follow_route(roads, maps, m, routes, w, i, x, y, traits.radius[w, i])
                    look_ahead(maps, people, traits, robots, robot_traits, sees & 2, dt > ZERO, progress, routes, m, w, i)
                    routes.waits[w, i] = routes.waits[w, i] and progress.stalled[w, i] < _TIRED
                else:
                    _walk_to(routes, w, i, tx, ty, ZERO)
                routes.fresh[w, i] = False
                routes.route_x[w, i], routes.route_y[w, i] = routes.x[w, i], routes.y[w, i]
                routes.through_x[w, i], routes.through_y[w, i] = routes.beyond_x[w, i], routes.beyond_y[w, i]
                walk_round(maps, m, people, traits, robots, robot_traits, sees, routes, progress, w, i, cost[w])
                dx, dy = routes.x[w, i] - x, routes.y[w, i] - y
                # Far from the next point, and with no narrow place ahead, half the checks are enough.
                if dx * dx + dy * dy > _DISTANT * _DISTANT and not routes.narrow[w, i]:
                    routes.due[w, i] += look
            if routes.waits[w, i]:
                goal_x[w, i], goal_y[w, i] = waiting_place(routes, w, i, x, y)
            elif routes.rest[w, i] > ZERO:
                # Move the point outwards by the length of the remaining path, so that models that slow down near the goal do not
                # slow down at this point.
                k = ONE + routes.rest[w, i] / max(math.sqrt(dx * dx + dy * dy), _TINY)
                goal_x[w, i], goal_y[w, i] = x + dx * k, y + dy * k
            else:
                goal_x[w, i], goal_y[w, i] = routes.x[w, i], routes.y[w, i]


def _empty_routes(shape: tuple[int, int]) -> Routes:
    """Return empty routes."""

    def whole() -> Ints:
        return np.zeros(shape, np.int32)

    def real() -> Floats:
        return np.zeros(shape, np.float32)

    def truth() -> Bools:
        return np.zeros(shape, np.bool_)

    return Routes(
        roads=whole(), wanted_x=real(), wanted_y=real(), hop=whole(), last=whole(), x=real(), y=real(), rest=real(),
        beyond_x=real(), beyond_y=real(), route_x=real(), route_y=real(), through_x=real(), through_y=real(), narrow=truth(),
        narrow_x=real(), narrow_y=real(), waits=truth(), due=whole(), fresh=truth(),
    )  # fmt: skip


def _roads(start: Start) -> dict[float, Roads | None]:
    """Return the road networks for an episode's pedestrians, keyed by pedestrian radius; None for a radius for which there are no
    obstacles to walk around.
    """
    return {radius: roads_of(start.map, radius_class(radius)) for radius in sorted(set(start.pedestrians.radius.tolist()))}


def _distinct_roads(roads: Iterable[Roads | None]) -> list[Roads]:
    return list({id(one): one for one in roads if one is not None}.values())


class Routing:
    """The routes of a world's pedestrians.

    Args:
        world: world of the pedestrians.
        starts: starts of all episodes that a world may run.
        every: number of physics steps per crowd period.
        drawn: whether the starts are only examples; if so, a world may run any start accepted by `holds`.
        rounds: whether pedestrians walk around stationary bodies (`agora.engine.detour`).

    Attributes:
        routes: current routes of all pedestrians.
        progress: progress of all pedestrians; empty unless ``rounds``.
        backs: people who step back or take another route; empty unless ``rounds``.
        goals: waypoints of the world, as crowd models read them; the current waypoints are the points that pedestrians should walk
            to now.
    """

    def __init__(self, world: World, starts: Sequence[Start], every: int, drawn: bool = False, rounds: bool = False) -> None:
        shape = world.layout.worlds, world.slots
        each = [_distinct_roads(_roads(start).values()) for start in starts]
        found = _distinct_roads(itertools.chain(*each))
        most = shape[0] * max((len(some) for some in each), default=0)
        self._store = RoadStore(
            most if drawn else min(most, len(found)),
            max((len(one.place) for one in found), default=0),
            max((one.nearest.size for one in found), default=0),
        )
        self._world, self._every = world, every
        self._look = max(1, round(_LOOK / (world.dt * every)))
        self.routes, self.progress, self.backs = _empty_routes(shape), Progress.of_nobody(*shape), Backs.of_nobody(*shape)
        self._period = np.float32(world.dt * every if rounds else 0.0)
        self._cost = np.zeros((shape[0], CELLS if rounds else 1), np.float32)
        self.goals: Waypoints = world.waypoints._replace(x=np.zeros(shape, np.float32), y=np.zeros(shape, np.float32))

    def reset(self, world: int, start: Start) -> None:
        """Start an episode in one world."""
        routes, roads = self.routes, _roads(start)
        different = _distinct_roads(roads.values())
        number = dict(zip(map(id, different), self._store.use(world, different), strict=True))
        for field in (*routes, *self.progress, *self.backs):
            field[world] = 0
        routes.roads[world], routes.hop[world], routes.fresh[world] = _NONE, _STRAIGHT, True
        self.goals.x[world], self.goals.y[world] = self._world.waypoints.x[world], self._world.waypoints.y[world]
        numbers = {radius: _NONE if one is None else number[id(one)] for radius, one in roads.items()}
        routes.roads[world, : len(start.pedestrians.radius)] = [numbers[radius] for radius in start.pedestrians.radius.tolist()]

    def holds(self, start: Start) -> bool:
        """Return whether there is room for the road networks of an episode."""
        found, store = _distinct_roads(_roads(start).values()), self._store
        room = len(store.arrays.places) // self._world.layout.worlds
        return len(found) <= room and all(len(one.place) <= store.places and one.nearest.size <= store.cells for one in found)

    def part(self, generation: int, sees: int) -> Work:
        """Return the work item that writes the goals, based on a generation of pedestrians and robots."""
        world = self._world
        people, robots = world.generation(generation)
        numbers = (np.int64(self._look), np.int64(self._every), self._period, np.int64(sees))
        there = (self._store.arrays, world.maps, people, world.traits, world.waypoints, robots, world.robot_traits)
        return bind(
            follow_routes, *numbers, *there, world.status.clock, self.routes, self.progress, self.goals.x, self.goals.y, self._cost
        )

    def standing_back(self, generation: int, sees: int) -> Work:
        """Return the work item that makes people step back or take another route, based on a generation of the state."""
        world = self._world
        people, robots = world.generation(generation)
        there = (self._store.arrays, world.maps, people, world.traits, world.waypoints, world.minds, robots, world.robot_traits)
        records = (world.status.clock, self.routes, self.progress, self.backs, self._cost)
        return bind(stand_back, self._period, np.int64(sees), *there, *records)
