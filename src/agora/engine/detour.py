"""Detours around people, groups and robots that stay where they are.

Routes consider only walls. A pedestrian that is stuck (`agora.engine.progress`) searches for a detour on a grid. The grid is
centred on the pedestrian and turned towards the point that the pedestrian is walking to. It contains walls and the discs of
stationary bodies. The detour is the cheapest path on the grid to a line across the grid through that point, or 3.6 m ahead if the
point is farther away. If two paths cost the same, the right-hand one is chosen. If there is no path and a robot is near, a second
search uses finer cells to find narrow gaps. If the second search finds no path either, the pedestrian keeps its route, and people
who stand in its path step aside (`agora.engine.making_way`).
"""

from __future__ import annotations

import math

import numpy as np

from agora.core.field import distance_at
from agora.core.jit import hidden
from agora.core.scalar import HALF, ONE, TWO, ZERO
from agora.engine.progress import AT_PLACE, record_direction

STANDS = np.float32(0.15)
"""Speed below which a body counts as stationary, m/s."""

_CELLS_OF = np.float32(0.15), np.float32(0.075)  # m, cell sizes of the first and second search
_AHEAD, _BEHIND, _BESIDE = 24, 8, 20  # cells
_WIDE = 2 * _BESIDE + 1
CELLS = (_AHEAD + _BEHIND + 1) * _WIDE
"""Number of cells in the grid."""

_LEAST = np.float32(0.95)  # required clearance from walls, in radii
_GAP = np.float32(0.03), np.float32(0.0)  # m, required gap to bodies in the first and second search
_NARROW = np.float32(2.0)  # m, distance from a robot within which the second search runs
_SWEEPS = 12
_DIAGONAL = np.float32(1.4142135)
_ALIKE = np.float32(0.5)  # cosine of the angle between paths in the same queue
_DOOR = np.float32(1.0)  # m, maximum distance between the points that two people walk to if they use the same door
_EQUAL = np.float32(1e-3)  # tolerance for equal costs, in cells
_INFINITE = np.float32(np.inf)
_WINDOW = np.float32(4.8)  # m, distance within which bodies are considered


@hidden
def _is_in_queue(people, traits, routes, w, i, j, ux, uy):
    """Return whether pedestrian j is in a queue with pedestrian i, who looks along (ux, uy).

    Pedestrian j is in the queue if it, too, wants to move on, in the same direction or through the same door. Pedestrians in a
    queue are no obstacles, because they will move on.
    """
    if traits.speed[w, j] == ZERO:
        return False
    dx, dy = routes.route_x[w, j] - people.x[w, j], routes.route_y[w, j] - people.y[w, j]
    distance = math.sqrt(dx * dx + dy * dy)
    if distance + routes.rest[w, j] <= AT_PLACE:
        return False
    ax, ay = routes.route_x[w, j] - routes.route_x[w, i], routes.route_y[w, j] - routes.route_y[w, i]
    through = routes.through_x[w, i] * routes.through_x[w, j] + routes.through_y[w, i] * routes.through_y[w, j]
    return dx * ux + dy * uy > _ALIKE * distance or (ax * ax + ay * ay < _DOOR * _DOOR and through > ZERO)


@hidden
def _block_bodies(people, traits, routes, robots, robot_traits, sees, w, i, ux, uy, cell, gap, cost):
    """Block the cells in which pedestrian i would touch a stationary body that is not in a queue with it."""
    x, y, own = people.x[w, i], people.y[w, i], traits.radius[w, i] + gap
    for j in range(traits.count[w] if sees & 1 else 0):
        vx, vy = people.vx[w, j], people.vy[w, j]
        stands = j != i and people.active[w, j] and vx * vx + vy * vy < STANDS * STANDS
        if stands and not _is_in_queue(people, traits, routes, w, i, j, ux, uy):
            _block_disc(people.x[w, j] - x, people.y[w, j] - y, own + traits.radius[w, j], ux, uy, cell, cost)
    for r in range(robots.x.shape[1] if sees & 2 else 0):
        vx, vy = robots.world_vx[w, r], robots.world_vy[w, r]
        if robots.active[w, r] and vx * vx + vy * vy < STANDS * STANDS:
            _block_disc(robots.x[w, r] - x, robots.y[w, r] - y, own + robot_traits.radius[w, r], ux, uy, cell, cost)


@hidden
def _block_disc(dx, dy, reach, ux, uy, cell, cost):
    """Block the cells within ``reach`` metres of a body at (dx, dy) relative to the centre of the grid, or within the body's
    distance from the centre if that is smaller.
    """
    away = math.sqrt(dx * dx + dy * dy)
    if away > _WINDOW:
        return
    along, across = (dx * ux + dy * uy) / cell, (dx * uy - dy * ux) / cell
    far = min(reach, away) / cell
    for a in range(max(math.ceil(along - far), -_BEHIND), min(math.floor(along + far), _AHEAD) + 1):
        for b in range(max(math.ceil(across - far), -_BESIDE), min(math.floor(across + far), _BESIDE) + 1):
            da, db = np.float32(a) - along, np.float32(b) - across
            if da * da + db * db < far * far:
                cost[(a + _BEHIND) * _WIDE + b + _BESIDE] = -ONE


@hidden
def _relaxed_cost(cost, a, b):
    """Return the cost of a cell, reduced if reaching the cell through a neighbour is cheaper."""
    best = cost[a * _WIDE + b]
    for da in range(-1, 2):
        for db in range(-1, 2):
            na, nb = a + da, b + db
            if 0 <= na < _AHEAD + _BEHIND + 1 and 0 <= nb < _WIDE:
                there = cost[na * _WIDE + nb]
                if there >= ZERO:
                    best = min(best, there + (_DIAGONAL if da * db != 0 else ONE))
    return best


@hidden
def _spread(cost):
    """Write the costs of the paths from the centre cell to all cells, in cells, by forward and backward sweeps."""
    rows = _AHEAD + _BEHIND + 1
    for sweep in range(_SWEEPS):
        changed = False
        for k in range(rows * _WIDE):
            n = k if sweep % 2 == 0 else rows * _WIDE - 1 - k
            if cost[n] < ZERO:
                continue
            lower = _relaxed_cost(cost, n // _WIDE, n % _WIDE)
            if lower < cost[n]:
                cost[n], changed = lower, True
        if not changed:
            break


@hidden
def _choose_goal(cost, distance, cell):
    """Choose a cell on the line ``distance`` metres ahead: return the cell whose complete path is cheapest, or -1 if no cell can be
    reached, and the cost of that path in metres.

    Of equally good cells, the one nearest to the middle is chosen; if two are equally near, the right-hand one.
    """
    row = min(np.int32(distance / cell + HALF), _AHEAD)
    left = max(distance - np.float32(row) * cell, ZERO)
    best, near, found = _INFINITE, _WIDE, -1
    for b in range(_WIDE):
        k, off = (row + _BEHIND) * _WIDE + b, abs(b - _BESIDE)
        if cost[k] >= ZERO and cost[k] < _INFINITE:
            aside = np.float32(off) * cell
            total = cost[k] * cell + math.sqrt(left * left + aside * aside)
            if total < best - _EQUAL or (total < best + _EQUAL and (off < near or (off == near and b > _BESIDE))):
                best, near, found = total, off, k
    return found, best


@hidden
def _previous_cell(cost, k):
    """Return the neighbour through which the cheapest path reaches cell k. Ties are resolved in favour of the cheapest neighbour,
    then the one nearest to the straight line ahead, then the right-hand one.
    """
    a, b = k // _WIDE, k % _WIDE
    best, aside, found = cost[k], _WIDE, -1
    for da in range(-1, 2):
        for db in range(-1, 2):
            na, nb = a + da, b + db
            if (da != 0 or db != 0) and 0 <= na < _AHEAD + _BEHIND + 1 and 0 <= nb < _WIDE:
                there, off = cost[na * _WIDE + nb], abs(nb - _BESIDE)
                step = _DIAGONAL if da * db != 0 else ONE
                if there < ZERO or there + step > cost[k] + _EQUAL or there > best + _EQUAL:
                    continue
                if there < best - _EQUAL or off < aside or (off == aside and nb >= _BESIDE):
                    best, aside, found = min(best, there), off, na * _WIDE + nb
    return found


@hidden
def _sees(cost, k):
    """Return whether the straight line from the centre to cell k is free."""
    a, b = k // _WIDE - _BEHIND, k % _WIDE - _BESIDE
    steps = 2 * max(abs(a), abs(b))
    for n in range(2, steps):
        share = np.float32(n) / np.float32(max(steps, 1))
        row, off = math.floor(np.float32(a) * share + HALF), math.floor(np.float32(abs(b)) * share + HALF)
        if cost[(row + _BEHIND) * _WIDE + (off if b > 0 else -off) + _BESIDE] < ZERO:
            return False
    return True


@hidden
def _search(maps, m, people, traits, routes, robots, robot_traits, sees, w, i, to_x, to_y, cell, gap, cost):
    """Search as in `next_point`, on a grid with cells of ``cell`` metres, keeping a gap of ``gap`` metres to bodies. Also return
    whether a path exists.
    """
    x, y, radius = people.x[w, i], people.y[w, i], traits.radius[w, i]
    dx, dy = to_x - x, to_y - y
    distance = math.sqrt(dx * dx + dy * dy)
    ux, uy = dx / distance, dy / distance
    least = min(_LEAST * radius, distance_at(maps, m, x, y))
    for k in range(CELLS):
        along, across = np.float32(k // _WIDE - _BEHIND) * cell, np.float32(k % _WIDE - _BESIDE) * cell
        free = distance_at(maps, m, x + along * ux + across * uy, y + along * uy - across * ux) >= least
        cost[k] = _INFINITE if free else -ONE
    _block_bodies(people, traits, routes, robots, robot_traits, sees, w, i, ux, uy, cell, gap, cost)
    cost[_BEHIND * _WIDE + _BESIDE] = ZERO
    row = min(np.int32(distance / cell + HALF), _AHEAD)
    if cost[(row + _BEHIND) * _WIDE + _BESIDE] >= ZERO and _sees(cost, (row + _BEHIND) * _WIDE + _BESIDE):
        return to_x, to_y, ZERO, False, True
    _spread(cost)
    k, total = _choose_goal(cost, distance, cell)
    while k >= 0 and not _sees(cost, k):
        k = _previous_cell(cost, k)
    if k < 0:
        return to_x, to_y, ZERO, False, False
    along, across = np.float32(k // _WIDE - _BEHIND) * cell, np.float32(k % _WIDE - _BESIDE) * cell
    px, py = x + along * ux + across * uy, y + along * uy - across * ux
    return px, py, max(total - math.sqrt(along * along + across * across), ZERO), True, True


@hidden
def _is_near_robot(robots, w, x, y):
    """Return whether a robot is within `_NARROW` of a point."""
    for r in range(robots.x.shape[1]):
        dx, dy = robots.x[w, r] - x, robots.y[w, r] - y
        if robots.active[w, r] and dx * dx + dy * dy < _NARROW * _NARROW:
            return True
    return False


@hidden
def next_point(maps, m, people, traits, routes, robots, robot_traits, sees, w, i, to_x, to_y, cost):
    """Return the next point (2,) on pedestrian i's path around stationary bodies to a given point, the remaining length of that
    path, m, and whether a detour is needed, i.e. whether such a path exists and does not lead straight ahead.

    Args:
        cost: (CELLS,) scratch for the costs of cells.
    """
    dx, dy = to_x - people.x[w, i], to_y - people.y[w, i]
    near = math.sqrt(dx * dx + dy * dy)
    there = (maps, m, people, traits, routes, robots, robot_traits, sees, w, i, to_x, to_y)
    x, y, left, found, open_ = to_x, to_y, ZERO, False, near < TWO * _CELLS_OF[0]
    if not open_:
        x, y, left, found, open_ = _search(*there, _CELLS_OF[0], _GAP[0], cost)
    if not open_ and sees & 2 and _is_near_robot(robots, w, people.x[w, i], people.y[w, i]):
        x, y, left, found, open_ = _search(*there, _CELLS_OF[1], _GAP[1], cost)
    return x, y, left, found


@hidden
def has_path(maps, m, people, traits, routes, robots, robot_traits, sees, w, i, to_x, to_y, cost):
    """Return whether pedestrian i has a path around stationary bodies to a point, with the arguments of `next_point`."""
    there = (maps, m, people, traits, routes, robots, robot_traits, sees, w, i, to_x, to_y)
    return _search(*there, _CELLS_OF[0], _GAP[0], cost)[4] or _search(*there, _CELLS_OF[1], _GAP[1], cost)[4]


@hidden
def walk_round(maps, m, people, traits, robots, robot_traits, sees, routes, progress, w, i, cost):
    """Make pedestrian i walk around stationary bodies on its way to the next point of its route, if it takes such bodies into
    account.
    """
    if progress.aware[w, i] == ZERO or routes.waits[w, i]:
        return
    to_x, to_y, rest = routes.x[w, i], routes.y[w, i], routes.rest[w, i]
    record_direction(progress, w, i, to_x - people.x[w, i], to_y - people.y[w, i])
    px, py, left, found = next_point(maps, m, people, traits, routes, robots, robot_traits, sees, w, i, to_x, to_y, cost)
    if found:
        routes.x[w, i], routes.y[w, i], routes.rest[w, i] = px, py, rest + left
        routes.beyond_x[w, i], routes.beyond_y[w, i] = ZERO, ZERO
