"""The time at which a moving footprint touches something: swept discs and polygons. Times are fractions of the step; `NEVER` means
that there is no contact within the step.

Discs are swept exactly, in closed form; polygons are tested at poses no farther apart than half a cell or, where there is no grid,
a fortieth of the radius.
"""

from __future__ import annotations

import math

import numpy as np

from agora.core.jit import hidden, lean
from agora.core.recording import STANDING, Closing, ContactKind
from agora.core.scalar import HALF, ONE, ZERO, sincos, wrap
from agora.core.state import Floats, RobotTraits

NEVER = np.float32(2.0)
PART = np.float32(1 / 40)
"""Resolution of the sweep for contacts of polygons, as a fraction of the size of a body."""
_TOUCH = np.float32(1e-5)
_TINY = np.float32(1e-12)
_DIAGONAL = np.float32(1.4143)


@lean
def swept_discs(x, y, dx, dy, reach):
    """Time at which a point that moves from (x, y) by (dx, dy) comes within ``reach`` of the origin; 0 if it starts within
    ``reach``.
    """
    c = x * x + y * y - reach * reach
    if c <= ZERO:
        return ZERO
    b = x * dx + y * dy
    a = dx * dx + dy * dy
    root = b * b - a * c
    if b >= ZERO or root < ZERO:
        return NEVER
    t = c / (-b + math.sqrt(root))
    return t if t <= ONE else NEVER


@hidden
def box_distance(x, y, low_x, low_y, side):
    """Distance from a point to a square cell with lower-left corner (low_x, low_y) and edge length ``side``."""
    ex = max(max(low_x - x, x - low_x - side), ZERO)
    ey = max(max(low_y - y, y - low_y - side), ZERO)
    return math.sqrt(ex * ex + ey * ey)


@hidden
def segment_distance(x, y, x0, y0, x1, y1):
    """Distance from a point to a segment."""
    ex, ey = x1 - x0, y1 - y0
    t = ((x - x0) * ex + (y - y0) * ey) / max(ex * ex + ey * ey, _TINY)
    t = min(max(t, ZERO), ONE)
    px, py = x - x0 - t * ex, y - y0 - t * ey
    return math.sqrt(px * px + py * py)


@hidden
def _enter(x, y, dx, dy, low_x, low_y, high_x, high_y):
    """Time at which a point that moves by (dx, dy) enters a rectangle from outside (slab test)."""
    enter, leave = ZERO, ONE
    for axis in range(2):
        start, delta = (x, dx) if axis == 0 else (y, dy)
        low, high = (low_x, high_x) if axis == 0 else (low_y, high_y)
        if abs(delta) < _TINY:
            if start < low or start > high:
                return NEVER
        else:
            a, b = (low - start) / delta, (high - start) / delta
            enter, leave = max(enter, min(a, b)), min(leave, max(a, b))
    return enter if enter <= leave else NEVER


@hidden
def _swept_box(x, y, dx, dy, radius, low_x, low_y, side):
    """Time at which a disc that moves by (dx, dy) touches a cell; a disc that already touches the cell and moves away from it is
    ignored.

    The cell, grown by the radius, consists of two rectangles and a disc at each corner.
    """
    gap = box_distance(x, y, low_x, low_y, side) - radius
    if gap <= _TOUCH:
        return ZERO if box_distance(x + dx, y + dy, low_x, low_y, side) - radius < gap else NEVER
    high_x, high_y = low_x + side, low_y + side
    t = _enter(x, y, dx, dy, low_x - radius, low_y, high_x + radius, high_y)
    t = min(t, _enter(x, y, dx, dy, low_x, low_y - radius, high_x, high_y + radius))
    t = min(t, swept_discs(x - low_x, y - low_y, dx, dy, radius))
    t = min(t, swept_discs(x - high_x, y - low_y, dx, dy, radius))
    t = min(t, swept_discs(x - low_x, y - high_y, dx, dy, radius))
    return min(t, swept_discs(x - high_x, y - high_y, dx, dy, radius))


@hidden
def _swept_segment(x, y, dx, dy, radius, x0, y0, x1, y1):
    """Return the time at which a moving disc touches a segment. In the segment's frame, the segment grown by the radius is a
    rectangle and a disc at each end.
    """
    gap = segment_distance(x, y, x0, y0, x1, y1) - radius
    if gap <= _TOUCH:
        return ZERO if segment_distance(x + dx, y + dy, x0, y0, x1, y1) - radius < gap else NEVER
    ex, ey = x1 - x0, y1 - y0
    length = math.sqrt(ex * ex + ey * ey)
    t = min(swept_discs(x - x0, y - y0, dx, dy, radius), swept_discs(x - x1, y - y1, dx, dy, radius))
    if length < _TOUCH:
        return t
    ex, ey = ex / length, ey / length
    along, across = (x - x0) * ex + (y - y0) * ey, (y - y0) * ex - (x - x0) * ey
    return min(t, _enter(along, across, dx * ex + dy * ey, dy * ex - dx * ey, ZERO, -radius, length, radius))


@hidden
def is_inside(maps, m, x, y):
    """Return whether a point lies on map m."""
    u = (x - maps.origin_x[m]) / maps.resolution[m]
    v = (y - maps.origin_y[m]) / maps.resolution[m]
    return u >= ZERO and v >= ZERO and u < np.float32(maps.columns[m]) and v < np.float32(maps.rows[m])


@hidden
def _cell_range(low, high, origin, resolution, count):
    """The first cell that overlaps the interval [low, high], and one past the last such cell."""
    first = np.int64(np.floor((low - origin) / resolution))
    last = np.int64(np.floor((high - origin) / resolution)) + 1
    return max(first, 0), min(last, np.int64(count))


@hidden
def _far_from_cells(maps, m, x, y, reach):
    """Return whether the distance field shows that no occupied cell is within ``reach`` of a point on the map."""
    if not is_inside(maps, m, x, y):
        return False
    resolution = maps.resolution[m]
    column = np.int64((x - maps.origin_x[m]) / resolution)
    row = np.int64((y - maps.origin_y[m]) / resolution)
    k = maps.start[m] + row * maps.columns[m] + column
    return maps.distance[k] - _DIAGONAL * resolution > reach


@lean
def swept_disc_walls(maps, m, x, y, dx, dy, radius):
    """Time at which a disc that moves from (x, y) by (dx, dy) touches a cell, a segment or a static disc of map m."""
    length = math.sqrt(dx * dx + dy * dy)
    first = NEVER
    if not _far_from_cells(maps, m, x, y, radius + length):
        resolution, columns = maps.resolution[m], maps.columns[m]
        c0, c1 = _cell_range(min(x, x + dx) - radius, max(x, x + dx) + radius, maps.origin_x[m], resolution, columns)
        r0, r1 = _cell_range(min(y, y + dy) - radius, max(y, y + dy) + radius, maps.origin_y[m], resolution, maps.rows[m])
        for row in range(r0, r1):
            low_y = maps.origin_y[m] + np.float32(row) * resolution
            for column in range(c0, c1):
                if maps.occupied[maps.start[m] + row * columns + column] != 0:
                    low_x = maps.origin_x[m] + np.float32(column) * resolution
                    first = min(first, _swept_box(x, y, dx, dy, radius, low_x, low_y, resolution))
    for s in range(maps.segment_start[m], maps.segment_end[m]):
        e = maps.segments[s]
        first = min(first, _swept_segment(x, y, dx, dy, radius, e[0], e[1], e[2], e[3]))
    for k in range(maps.disc_start[m], maps.disc_end[m]):
        ox, oy, reach = x - maps.discs[k, 0], y - maps.discs[k, 1], radius + maps.discs[k, 2]
        t = swept_discs(ox, oy, dx, dy, reach)
        if t == ZERO and ox * dx + oy * dy > ZERO:  # touching, but moving away
            t = NEVER
        first = min(first, t)
    return first


@hidden
def _corner(traits, w, r, k, x, y, s, c):
    """Corner k of a footprint at (x, y), given the sine and cosine of its heading."""
    fx, fy = traits.footprint_x[w, r, k], traits.footprint_y[w, r, k]
    return x + c * fx - s * fy, y + s * fx + c * fy


@hidden
def _edges_cross(ax, ay, bx, by, cx, cy, dx, dy):
    """Return whether segments ab and cd cross."""
    p = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
    q = (bx - ax) * (dy - ay) - (by - ay) * (dx - ax)
    u = (dx - cx) * (ay - cy) - (dy - cy) * (ax - cx)
    v = (dx - cx) * (by - cy) - (dy - cy) * (bx - cx)
    return p * q <= ZERO and u * v <= ZERO and (abs(p) + abs(q) + abs(u) + abs(v)) > ZERO


@lean
def point_to_polygon(traits, w, r, x, y, heading, px, py):
    """Distance from a point to the polygon footprint of robot r at a pose; 0 inside."""
    s, c = sincos(heading)
    n = traits.vertices[w, r]
    nearest = np.float32(1e9)
    odd = False
    for k in range(n):
        ax, ay = _corner(traits, w, r, k, x, y, s, c)
        bx, by = _corner(traits, w, r, (k + 1) % n, x, y, s, c)
        nearest = min(nearest, segment_distance(px, py, ax, ay, bx, by))
        if (ay > py) != (by > py) and px < (bx - ax) * (py - ay) / (by - ay) + ax:
            odd = not odd
    return ZERO if odd else nearest


@hidden
def _nearest_on_polygon(traits, w, r, x, y, heading, px, py):
    """The point on the outline of robot r, at a pose, that is nearest to a given point."""
    s, c = sincos(heading)
    n = traits.vertices[w, r]
    nearest, qx, qy = np.float32(1e9), x, y
    for k in range(n):
        ax, ay = _corner(traits, w, r, k, x, y, s, c)
        bx, by = _corner(traits, w, r, (k + 1) % n, x, y, s, c)
        ex, ey = bx - ax, by - ay
        t = min(max(((px - ax) * ex + (py - ay) * ey) / max(ex * ex + ey * ey, _TINY), ZERO), ONE)
        ux, uy = ax + t * ex, ay + t * ey
        gap = (px - ux) * (px - ux) + (py - uy) * (py - uy)
        if gap < nearest:
            nearest, qx, qy = gap, ux, uy
    return qx, qy


@lean
def closing_speeds(traits, w, r, from_centre, here, there, fraction, dt):
    """Return the speeds at which robot r and the party that it touches approached each other, computed from their motion in the
    step of the contact.

    The contact normal points from the robot's contact point to the party's centre. For a disc, the contact point lies on the line
    between the centres. For a polygon, the speed of the contact point includes the robot's rotation.

    Args:
        traits: traits of the robots.
        w: number of the world.
        r: number of the robot.
        from_centre: whether to use the line between the centres for a polygon, too, as for contacts between two robots.
        here: (6,) x, y, heading of the robot at the start and at the end of the step, m and rad.
        there: (6,) x, y, heading of the party at the start and at the end of the step, m and rad.
        fraction: fraction of the step at which the robot and the party touched.
        dt: duration of the step, s.

    Returns:
        Speed of the robot towards the party and of the party towards the robot, negative when moving away, and speed of the robot's
        contact point regardless of direction, m/s.
    """
    dx, dy, turn = there[0] - here[0], there[1] - here[1], wrap(there[2] - here[2])
    ex, ey = there[3] - here[3], there[4] - here[4]
    x, y, heading = here[0] + fraction * dx, here[1] + fraction * dy, wrap(here[2] + fraction * turn)
    px, py = here[3] + fraction * ex, here[4] + fraction * ey
    qx, qy = x, y
    if traits.vertices[w, r] > 0 and not from_centre and point_to_polygon(traits, w, r, x, y, heading, px, py) > ZERO:
        qx, qy = _nearest_on_polygon(traits, w, r, x, y, heading, px, py)
    dx, dy = dx - turn * (qy - y), dy + turn * (qx - x)
    nx, ny = px - qx, py - qy
    scale = max(math.sqrt(nx * nx + ny * ny), _TINY) * dt
    return (dx * nx + dy * ny) / scale, -(ex * nx + ey * ny) / scale, math.sqrt(dx * dx + dy * dy) / dt


def closing_of(
    traits: RobotTraits, w: int, r: int, kind: ContactKind, here: Floats, there: Floats, fraction: float, dt: float
) -> Closing | None:
    """Return which party closed the gap, given the motion of robot ``r`` of world ``w`` and the motion of the other party during
    the step of the contact; None for a wall.

    Args:
        traits: traits of the robots.
        w: number of the world.
        r: number of the robot.
        kind: kind of the other party.
        here: (6,) x, y, heading of the robot at the start and at the end of the step, m and rad.
        there: (6,) x, y, heading of the party at the start and at the end of the step, m and rad.
        fraction: fraction of the step at which the robot and the party touched.
        dt: duration of the step, s.
    """
    if kind == ContactKind.WALL:
        return None
    times = np.float32(fraction), np.float32(dt)
    robot, party, speed = closing_speeds(traits, w, r, kind == ContactKind.ROBOT, here, there, *times)
    return Closing(float(robot), float(party), bool(speed < STANDING))


@hidden
def disc_in_walls(maps, m, x, y, radius):
    """Return whether a disc overlaps a cell, a segment or a static disc of map m."""
    if not _far_from_cells(maps, m, x, y, radius):
        resolution, columns = maps.resolution[m], maps.columns[m]
        c0, c1 = _cell_range(x - radius, x + radius, maps.origin_x[m], resolution, columns)
        r0, r1 = _cell_range(y - radius, y + radius, maps.origin_y[m], resolution, maps.rows[m])
        for row in range(r0, r1):
            low_y = maps.origin_y[m] + np.float32(row) * resolution
            for column in range(c0, c1):
                low_x = maps.origin_x[m] + np.float32(column) * resolution
                occupied = maps.occupied[maps.start[m] + row * columns + column] != 0
                if occupied and box_distance(x, y, low_x, low_y, resolution) <= radius:
                    return True
    for g in range(maps.segment_start[m], maps.segment_end[m]):
        e = maps.segments[g]
        if segment_distance(x, y, e[0], e[1], e[2], e[3]) <= radius:
            return True
    for k in range(maps.disc_start[m], maps.disc_end[m]):
        dx, dy, reach = x - maps.discs[k, 0], y - maps.discs[k, 1], radius + maps.discs[k, 2]
        if dx * dx + dy * dy <= reach * reach:
            return True
    return False


@lean
def polygon_in_walls(maps, m, traits, w, r, x, y, heading):
    """Return whether the polygon footprint of robot r, at a pose, overlaps a cell, a segment or a static disc of map m."""
    radius = traits.radius[w, r]
    s, c = sincos(heading)
    n = traits.vertices[w, r]
    if not _far_from_cells(maps, m, x, y, radius):
        resolution, columns = maps.resolution[m], maps.columns[m]
        c0, c1 = _cell_range(x - radius, x + radius, maps.origin_x[m], resolution, columns)
        r0, r1 = _cell_range(y - radius, y + radius, maps.origin_y[m], resolution, maps.rows[m])
        for row in range(r0, r1):
            low_y = maps.origin_y[m] + np.float32(row) * resolution
            for column in range(c0, c1):
                if maps.occupied[maps.start[m] + row * columns + column] == 0:
                    continue
                low_x = maps.origin_x[m] + np.float32(column) * resolution
                if box_distance(x, y, low_x, low_y, resolution) > radius:
                    continue
                middle_x, middle_y = low_x + HALF * resolution, low_y + HALF * resolution
                if point_to_polygon(traits, w, r, x, y, heading, middle_x, middle_y) <= ZERO:
                    return True
                for k in range(n):
                    ax, ay = _corner(traits, w, r, k, x, y, s, c)
                    bx, by = _corner(traits, w, r, (k + 1) % n, x, y, s, c)
                    if _enter(ax, ay, bx - ax, by - ay, low_x, low_y, low_x + resolution, low_y + resolution) <= ONE:
                        return True
    for g in range(maps.segment_start[m], maps.segment_end[m]):
        e = maps.segments[g]
        if segment_distance(x, y, e[0], e[1], e[2], e[3]) > radius:
            continue
        if point_to_polygon(traits, w, r, x, y, heading, e[0], e[1]) <= ZERO:
            return True
        for k in range(n):
            ax, ay = _corner(traits, w, r, k, x, y, s, c)
            bx, by = _corner(traits, w, r, (k + 1) % n, x, y, s, c)
            if _edges_cross(ax, ay, bx, by, e[0], e[1], e[2], e[3]):
                return True
    for k in range(maps.disc_start[m], maps.disc_end[m]):
        if point_to_polygon(traits, w, r, x, y, heading, maps.discs[k, 0], maps.discs[k, 1]) <= maps.discs[k, 2]:
            return True
    return False


@lean
def polygons_meet(traits, w, a, ax, ay, a_heading, b, bx, by, b_heading):
    """Return whether the footprints of robots a and b of world w overlap; the footprint of a robot without corners is its disc."""
    if traits.vertices[w, a] == 0:
        return point_to_polygon(traits, w, b, bx, by, b_heading, ax, ay) <= traits.radius[w, a]
    if traits.vertices[w, b] == 0:
        return point_to_polygon(traits, w, a, ax, ay, a_heading, bx, by) <= traits.radius[w, b]
    sa, ca = sincos(a_heading)
    sb, cb = sincos(b_heading)
    na, nb = traits.vertices[w, a], traits.vertices[w, b]
    x0, y0 = _corner(traits, w, a, 0, ax, ay, sa, ca)
    if point_to_polygon(traits, w, b, bx, by, b_heading, x0, y0) <= ZERO:
        return True
    x0, y0 = _corner(traits, w, b, 0, bx, by, sb, cb)
    if point_to_polygon(traits, w, a, ax, ay, a_heading, x0, y0) <= ZERO:
        return True
    for i in range(na):
        px, py = _corner(traits, w, a, i, ax, ay, sa, ca)
        qx, qy = _corner(traits, w, a, (i + 1) % na, ax, ay, sa, ca)
        for j in range(nb):
            ux, uy = _corner(traits, w, b, j, bx, by, sb, cb)
            vx, vy = _corner(traits, w, b, (j + 1) % nb, bx, by, sb, cb)
            if _edges_cross(px, py, qx, qy, ux, uy, vx, vy):
                return True
    return False


@hidden
def substeps(length, turn, radius, spacing):
    """Number of parts into which a motion must be divided so that no point of the footprint moves further than ``spacing`` in one
    part.
    """
    return min(max(1, np.int64(np.ceil((length + abs(turn) * radius) / spacing))), 400)
