"""Optimal reciprocal collision avoidance as a crowd model.

van den Berg, Guy, Lin, Manocha, "Reciprocal n-body collision avoidance", ISRR 2009, with the defaults of CrowdNav (Chen, Liu,
Kreiss, Alahi, "Crowd-robot interaction", ICRA 2019). Without walls, one step gives the same result as the authors' RVO2 library,
within float32 precision.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from agora.core.cells import Cells, cell_at, extent, index_in, key_of, run, select_nearest, sort_into_cells
from agora.core.field import clearance_at
from agora.core.halfplanes import disc_line, nearest_velocity, preferred_velocity, segment_lines
from agora.core.jit import kernel, part
from agora.core.kernel_record import kernel_record
from agora.core.scalar import ONE, ZERO
from agora.core.state import PADDING, STAY
from agora.interfaces import CrowdDeclaration
from agora.pedestrians.shared.neighbours import SEES_PEDESTRIANS, SEES_ROBOTS
from agora.ranges import Checked, Count, Distance, Fraction, Length, Period, Positive

_CROWDED = 96
_PER_CELL = np.float32(0.45)
_SMALLEST_CELL = np.float32(1e-3)
_CERTAIN = np.float32(0.999)
_TINY = np.float32(1e-12)
_SAME_WALL = np.float32(0.9)
_NUDGE = np.float32(1e-3)
_PROBES = 4


@dataclass(frozen=True)
class Orca(Checked):
    """Pedestrians that choose the velocity nearest to the preferred velocity that avoids collisions with all others for a given
    time, provided that the others do their share.

    The preferred velocity points to the waypoint. As the theory predicts, exactly symmetric encounters end in a deadlock at contact
    distance, unless rounding errors break the symmetry; this model does nothing to break it.

    Attributes:
        neighbour_distance: distance beyond which others are ignored, m.
        max_neighbours: number of nearest neighbours that are avoided.
        horizon: time for which others are avoided, s.
        horizon_obstacle: time for which walls are avoided, s (5 in CrowdNav, which has no walls). The speed towards a wall is at
            most the gap divided by this time; with a value of 5, people creep through doors and corridors.
        padding: margin added to every radius, m (0.01 in CrowdNav).
        max_speed_factor: speed cap, as a multiple of the preferred speed (1 in CrowdNav).
        reciprocal: fraction of the avoidance that the pedestrian itself performs.
        settle: minimum time to cover the remaining distance to a last waypoint at which a pedestrian stays, s, so that pedestrians
            slow down near it (1 in CrowdNav).
        walls: if True, pedestrians avoid walls found in the clearance field (image cells, discs, polygons and segments alike), at
            most four around each pedestrian; if False, they avoid only the map's exact segments, each as a two-vertex obstacle of
            RVO2.
    """

    neighbour_distance: Length = 10.0
    max_neighbours: Count = 10
    horizon: Period = 5.0
    horizon_obstacle: Positive = 0.5
    padding: Distance = 0.01
    max_speed_factor: Positive = 1.0
    reciprocal: Fraction = 0.5
    settle: Period = 1.0
    walls: bool = True

    @property
    def declares(self) -> CrowdDeclaration:
        """Return the properties of the model."""
        return CrowdDeclaration("velocity", self.max_speed_factor)

    def kernel(self) -> Any:
        """Return the compiled function."""
        return step

    def parameters(self) -> Any:
        """Return the parameters of the kernel."""
        return _Parameters.of(self)


_Parameters = kernel_record("_Parameters", Orca)


@part
def search_slots(keys, i, x, y, active, count, view):
    """Write the keys of the active slots closer than ``view`` to slot i by testing all slots; return their number."""
    found = 0
    for j in range(count):
        dx, dy = x[j] - x[i], y[j] - y[i]
        squared = dx * dx + dy * dy
        keys[found] = key_of(squared, j)
        found += active[j] & (j != i) & (squared < view * view)
    return found


@part
def search_cells(keys, i, x, y, cells, starts, order, view, most):
    """Write the keys of at least the ``most`` nearest slots closer than ``view`` to slot i; return their number.

    The search covers a block of cells around slot i and takes the slots that are nearer than the border of the block; the block
    grows until enough slots are found.
    """
    column, row = cell_at(cells, x[i], y[i])
    whole = max(max(column, cells.columns - 1 - column), max(row, cells.rows - 1 - row))
    reach, found, enough = 0, 0, False
    while not enough:
        reach += 1
        border = np.float32(reach) * cells.size * _CERTAIN
        enough = reach >= whole or border >= view
        radius = view if enough else border
        found = 0
        for r in range(max(row - reach, 0), min(row + reach, cells.rows - 1) + 1):
            begin, end = run(cells, starts, r, column - reach, column + reach)
            for k in range(begin, end):
                j = order[k]
                dx, dy = x[j] - x[i], y[j] - y[i]
                squared = dx * dx + dy * dy
                keys[found] = key_of(squared, j)
                found += (j != i) & (squared < radius * radius)
        enough = enough or found >= most
    return found


@part
def _append_robots(keys, found, x, y, robot_x, robot_y, active, view, slots):
    """Append the keys of the robots of one world that are closer than ``view``, numbered as slots starting at ``slots``; return the
    new number of keys.
    """
    for r in range(robot_x.size):
        dx, dy = robot_x[r] - x, robot_y[r] - y
        squared = dx * dx + dy * dy
        keys[found] = key_of(squared, slots + r)
        found += active[r] & (squared < view * view)
    return found


@part
def wall_lines(lines, maps, m, x, y, radius, speed, inverse, reach):
    """Write the half-planes of the walls around (x, y) according to the clearance field of map m; return their number.

    The nearest wall is assumed to be straight and perpendicular to the direction away from it. Close to a wall, the field is also
    read ``reach`` metres to either side and towards the far side, to find the other walls of corners and corridors. Another wall
    counts if it faces a different direction and its plane does not cut the disc that the first reading found free.
    """
    free, nx, ny = clearance_at(maps, m, x, y)
    if not free < radius + speed / inverse:
        return 0
    made = 1
    gap = max(free - radius, ZERO) * inverse
    lines[0, 0], lines[0, 1], lines[0, 2], lines[0, 3] = -gap * nx, -gap * ny, ny, -nx
    if free > radius + reach:
        return 1
    for probe in range(3):
        ox = (nx if probe == 2 else (-ny if probe == 0 else ny)) * reach
        oy = (ny if probe == 2 else (nx if probe == 0 else -nx)) * reach
        distance, wx, wy = clearance_at(maps, m, x + ox, y + oy)
        distance -= wx * ox + wy * oy
        fresh = distance >= free
        for j in range(made):
            fresh = fresh and wy * lines[j, 2] - wx * lines[j, 3] < _SAME_WALL
        if fresh:
            gap = max(distance - radius, ZERO) * inverse
            lines[made, 0], lines[made, 1], lines[made, 2], lines[made, 3] = -gap * wx, -gap * wy, wy, -wx
            made += 1
    return made


@part
def _write_segment_lines(lines, keys, nearest, maps, m, x, y, vx, vy, radius, speed, inverse):
    """Write the half-planes for the segments of map m around (x, y), nearest first; return their number."""
    reach = speed / inverse + radius
    base = maps.segment_start[m]
    found = 0
    for k in range(base, maps.segment_end[m]):
        ax, ay = maps.segments[k, 0] - x, maps.segments[k, 1] - y
        dx, dy = maps.segments[k, 2] - maps.segments[k, 0], maps.segments[k, 3] - maps.segments[k, 1]
        t = min(max(-(ax * dx + ay * dy) / max(dx * dx + dy * dy, _TINY), ZERO), ONE)
        qx, qy = ax + t * dx, ay + t * dy
        squared = qx * qx + qy * qy
        keys[found] = key_of(squared, k - base)
        found += squared < reach * reach
    made = 0
    for n in range(select_nearest(keys, found, nearest)):
        wall = maps.segments[base + index_in(nearest[n])]
        made = segment_lines(lines, made, wall[0] - x, wall[1] - y, wall[2] - x, wall[3] - y, vx, vy, radius, inverse)
    return made


@kernel
def step(p, crowd, out_x, out_y, first, last):
    """Write the velocities of the pedestrians of worlds ``first <= w < last``; arguments as in `CompiledCrowdModel`."""
    dt, view, most = np.float32(crowd.dt), p.neighbour_distance, p.max_neighbours
    inverse_horizon, inverse_obstacle, settle = ONE / p.horizon, ONE / p.horizon_obstacle, max(p.settle, dt)
    pedestrians, traits, waypoints = crowd.pedestrians, crowd.traits, crowd.waypoints
    robots, robot_traits, maps, sees = crowd.robots, crowd.robot_traits, crowd.maps, crowd.sees
    inverse_dt = ONE / dt
    slots = pedestrians.x.shape[1]
    segments = 0
    if not p.walls:
        for w in range(first, last):
            # Buffers large enough for all worlds: half-planes of walls first, then those of neighbours.
            m = maps.index[w]
            segments = max(segments, maps.segment_end[m] - maps.segment_start[m])
    room = segments + _PROBES + most
    lines, spare = np.empty((room, 4), np.float32), np.empty((room, 4), np.float32)
    keys = np.empty(max(slots + robots.x.shape[1], segments) + PADDING, np.int64)
    nearest, nearest_walls = np.empty(most, np.int64), np.empty(segments, np.int64)
    crowded = slots if slots > _CROWDED else 0
    starts = np.empty(crowded + 1, np.int32)
    order = np.empty(crowded, np.int32)
    for w in range(first, last):
        x, y, vx, vy, active = pedestrians.x[w], pedestrians.y[w], pedestrians.vx[w], pedestrians.vy[w], pedestrians.active[w]
        count, m = traits.count[w], maps.index[w]
        out_x[w] = ZERO
        # Large crowds are sorted into cells of about `_PER_CELL` times ``most`` pedestrians; small crowds are searched completely.
        out_y[w] = ZERO
        box = extent(x, y, active, count)
        by_cells = box[4] > _CROWDED
        cells = Cells(ZERO, ZERO, ONE, np.int64(0), np.int64(0))
        if by_cells:
            each = max(_PER_CELL * np.float32(most), ONE) / np.float32(box[4])
            spread = max(math.sqrt(each * box[2] * box[3]), each * max(box[2], box[3]))
            size = max(min(spread, view), _SMALLEST_CELL)
            cells = sort_into_cells(box, x, y, active, count, size, starts, order)
        for i in range(count):
            if not active[i]:
                continue
            # Walls come first: these ``hard`` half-planes are never relaxed when the linear programme is infeasible.
            radius, speed = traits.radius[w, i] + p.padding, traits.speed[w, i]
            limit = p.max_speed_factor * speed
            made = 0
            if p.walls:
                made = wall_lines(lines, maps, m, x[i], y[i], radius, limit, inverse_obstacle, radius + limit * dt)
            elif segments > 0:
                made = _write_segment_lines(
                    lines, keys, nearest_walls, maps, m, x[i], y[i], vx[i], vy[i], radius, limit, inverse_obstacle
                )
            hard = made
            found = 0
            if sees & SEES_PEDESTRIANS:
                if by_cells:
                    found = search_cells(keys, i, x, y, cells, starts, order, view, most)
                else:
                    found = search_slots(keys, i, x, y, active, count, view)
            if sees & SEES_ROBOTS:
                found = _append_robots(keys, found, x[i], y[i], robots.x[w], robots.y[w], robots.active[w], view, slots)
            kept = select_nearest(keys, found, nearest)
            for n in range(kept):
                j = index_in(nearest[n])
                # There is no direction between two pedestrians at exactly the same point, so nudge them apart, in the order of
                # their slots.
                if j < slots:
                    px, py, jx, jy, other = x[j] - x[i], y[j] - y[i], vx[j], vy[j], traits.radius[w, j]
                    if px == ZERO and py == ZERO:
                        px = _NUDGE if j > i else -_NUDGE
                else:
                    r = j - slots
                    px, py, other = robots.x[w, r] - x[i], robots.y[w, r] - y[i], robot_traits.radius[w, r]
                    jx, jy = robots.world_vx[w, r], robots.world_vy[w, r]
                reach = radius + other + p.padding
                ux, uy = vx[i] - jx, vy[i] - jy
                disc_line(lines, made, px, py, ux, uy, vx[i], vy[i], reach, inverse_horizon, inverse_dt, p.reciprocal)
                made += 1
            # Slow down only before a waypoint at which the pedestrian stays.
            stays = waypoints.mode[w, i] == STAY and waypoints.index[w, i] >= waypoints.count[w, i] - 1
            tx, ty = preferred_velocity(waypoints.x[w, i] - x[i], waypoints.y[w, i] - y[i], speed, settle if stays else ZERO)
            out_x[w, i], out_y[w, i] = nearest_velocity(lines, made, hard, limit, tx, ty, spare)
