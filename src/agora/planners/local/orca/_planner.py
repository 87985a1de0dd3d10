"""Optimal reciprocal collision avoidance as a local planner.

van den Berg, Guy, Lin, Manocha, "Reciprocal n-body collision avoidance", ISRR 2009, with the defaults of CrowdNav's ORCA robot
(Chen, Liu, Kreiss, Alahi, "Crowd-robot interaction", ICRA 2019).

Walls are the lethal cells of the local costmap. The robot takes full responsibility for avoiding walls, and the half-planes of
walls are never relaxed, as for obstacles in the authors' RVO2 library. Either the cells are represented by static discs, or the
straight edges of all cells are obstacles with two vertices, as in SocNavBench's ORCA (CMU-TBD/SocNavBench-baselines 3ac5b7d5,
``RVO2/RVO2.cpp``).

With a ``tracking_error``, the planner is NH-ORCA for robots that turn on the spot and drive forwards
(`agora.planners.local.orca._tracking`): a robot is given only velocities that it can track within that error, its disc is enlarged
by the error, and it drives the arc that tracks the velocity best. The error is reduced to the gap to people, robots and walls, so
that the enlarged discs do not overlap. At least a tenth of the error is kept, because otherwise a robot could not turn. Other
robots are assumed to do the same, and pedestrians to move freely. Acceleration limits are ignored: a robot whose turning rate
increases slowly deviates by more than the error. Of 120 `tiago` robots that swap places in circles of twenty, starting with random
headings, 42 arrive without a tracking error, and all arrive with a tracking error of 0.1 m. If all robots face the centre and start
in the same way, the enlarged discs block each other for longer. In the `rlca` suite, with `nh_orca`, none of the 3750 robots
touches another robot and 72 % arrive in time; with `orca`, 293 robots touch another robot and 89 % arrive in time.

Narrow places: a robot is represented by the disc around the centre of its outline, which is 0.66 m wide for `f1tenth`; a disc
around its base would be 0.96 m wide. ORCA may return velocities that a robot cannot reach at once: a car has to turn first, and
`rto` needs 1.5 m to stop from 2.8 m/s. Therefore, `agora.planners.steering` makes robots brake in front of walls, and makes cars
back up.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import numpy as np

from agora.core.cells import index_in, key_of, select_nearest
from agora.core.halfplanes import disc_line, nearest_velocity, preferred_velocity, segment_lines, violation
from agora.core.jit import hidden, kernel, lean_inlined
from agora.core.kernel_record import kernel_record
from agora.core.path import point_ahead
from agora.core.recording import Reason
from agora.core.scalar import HALF, ONE, ZERO, sincos
from agora.core.state import PADDING, Bools, Floats, freeze
from agora.costmap.edges import most_edges, nearest_edges
from agora.costmap.walls import key_count, walls_around, window_of
from agora.costmap.window import Window
from agora.interfaces import Answer, Declaration, Memory, Observation, Span, Tracks
from agora.planners._limits import own
from agora.planners.local.orca._disc import with_outline_discs
from agora.planners.local.orca._tracking import SIDES, track, trackable_lines, trackers
from agora.planners.steering import CORNER, velocity_to_twist
from agora.ranges import Checked, Count, Distance, Duration, Fraction, Length, Period, Positive, Size, TopSpeed

_ALONG = np.float32(0.9)
_LEAST = np.float32(0.1)  # fraction of the tracking error that is always kept
_STILL, _AT_GOAL = 1e-3, 0.01  # m/s or rad/s, and m


_TUNABLE: dict[str, Span] = {
    "horizon": Span(0.5, 8.0, log=True),
    "padding": Span(0.0, 0.5),
    "responsibility": Span(0.3, 1.0),
    "lookahead": Span(0.2, 2.0, log=True),
    "preferred_speed": Span(0.3, 2.0),
    "turn_gain": Span(0.5, 6.0, log=True),
}
_WALLED: dict[str, Span] = {"wall_horizon": Span(1.0, 5.0, log=True)}
_TRACKING: dict[str, Span] = {"tracking_error": Span(0.02, 0.2, log=True), "turning_time": Span(0.1, 1.0, log=True)}


@dataclass(frozen=True)
class OrcaPlanner(Checked):
    """Drives at the velocity that avoids pedestrians and other robots for a given time and is nearest to the preferred velocity.

    `agora.planners.steering.velocity_to_twist` describes how a robot follows that velocity; a holonomic robot drives it directly,
    without turning.

    With ``follow_path=False``, ``wall_horizon=0``, ``preferred_speed=1`` and a holonomic robot, this planner is the same as
    CrowdNav's ORCA robot.

    Attributes:
        neighbour_distance: distance beyond which pedestrians and other robots are ignored, m.
        max_neighbours: number of nearest neighbours that are avoided.
        horizon: time for which collisions with pedestrians and other robots are avoided, s.
        wall_horizon: time for which collisions with walls are avoided, s (CrowdNav and SocNavBench: 5); with 0, the planner ignores
            walls, and only the path avoids them.
        walls: representation of the costmap's lethal cells: "discs", one disc per 3 x 3 cells, or "edges", the straight edges of
            all cells, as in SocNavBench. Edges are exact if the window has the same resolution as the map.
        window: local costmap, used to avoid walls.
        radius_factor: factor applied to every radius (SocNavBench: 1.05).
        padding: length added to every radius after that, m (CrowdNav: 0.01).
        differenced: whether pedestrians' velocities are computed from their last two positions, and are 0 for a new pedestrian, as
            in SocNavBench; False uses the perceived velocities.
        responsibility: fraction of each avoidance manoeuvre that the robot takes (CrowdNav: 0.5; SocNavBench: 1, i.e. pedestrians
            take none).
        follow_path: whether to drive to a point on the path; False drives straight to the goal.
        lookahead: distance along the path to the point to drive to, m, at most the distance to the goal.
        preferred_speed: preferred speed, m/s; None for the robot's maximum speed.
        settle: minimum time for driving the remaining distance, s, which makes the robot slow down near the goal (CrowdNav: 1;
            SocNavBench: 0, i.e. the robot does not slow down).
        turn_gain: turning rate per radian of heading error for robots that cannot move sideways, 1/s; None for the fastest turn.
        tracking_error: maximum distance between a robot that turns on the spot and the position that it would have at the chosen
            velocity, m; with 0, any velocity is allowed, and the robot steers with ``turn_gain``.
        turning_time: time in which a tracking robot turns to the direction of the velocity, s; longer if the robot cannot turn that
            fast, and at least the control period.
    """

    neighbour_distance: Length = 10.0
    max_neighbours: Count = 10
    horizon: Period = 5.0
    wall_horizon: Duration = 2.5
    walls: Literal["discs", "edges"] = "discs"
    window: Window = field(default_factory=lambda: Window(size=4.0, sources=("map",)))
    radius_factor: Size = 1.0
    padding: Distance = 0.01
    differenced: bool = False
    responsibility: Fraction = 0.5
    follow_path: bool = True
    lookahead: Length = 1.0
    preferred_speed: TopSpeed | None = None
    settle: Duration = 1.0
    turn_gain: Positive | None = None
    tracking_error: Distance = 0.0
    turning_time: Period = 0.3

    @cached_property
    def declares(self) -> Declaration:
        """The properties of the planner."""
        return Declaration(
            needs=("pedestrians", "robots", "path", *((self.window,) if self.wall_horizon > 0.0 else ())),
            label="faithful",
            tunable=_TUNABLE | (_WALLED if self.wall_horizon > 0.0 else {}) | (_TRACKING if self.tracking_error > 0.0 else {}),
            top_speed=float(own(self.preferred_speed)),
            notes=("reason",),
        )

    def act(self, observation: Observation, memory: Memory) -> Answer:
        """Return the twists (N, 3) in the robots' frames, and which robots are blocked, i.e. have stopped before the end of their
        path.

        With ``differenced``, the memory holds the pedestrians' positions.
        """
        o, rows = observation, len(observation.pose)
        speed = o.limits.max_vx if self.preferred_speed is None else np.full(rows, self.preferred_speed, np.float32)
        parameters = _Parameters.of(
            self,
            preferred_speed=freeze(speed),
            dt=o.dt,
            edges=self.walls == "edges",
            tracking_error=freeze(np.where(trackers(o.limits), np.float32(self.tracking_error), np.float32(0.0))),
            turning_time=max(self.turning_time, o.dt),
        )
        path, path_count = o.path, o.path_count
        if path is None or path_count is None or not self.follow_path:
            path, path_count = np.zeros((rows, 1, 2), np.float32), np.zeros(rows, np.int32)
        wanted, disc = np.zeros((rows, 2), np.float32), with_outline_discs(o)
        robot = (
            freeze(disc.pose),
            freeze(disc.twist),
            freeze(o.goal),
            freeze(disc.radius),
            freeze(o.limits.max_vx),
            freeze(o.limits.max_omega),
        )
        pedestrians = o.pedestrians
        kept: Memory = {}
        if self.differenced and pedestrians is not None:
            pedestrians, kept = _difference_tracks(pedestrians, memory, np.float32(o.dt))
        others = (_discs(pedestrians, rows), _discs(o.robots, rows))
        route = (freeze(path), freeze(path_count), freeze(o.pose))
        _act(parameters, robot, route, *others, window_of(o.costmap, rows), wanted, 0, rows)
        twists = velocity_to_twist(wanted, disc, self.turn_gain)
        if self.tracking_error > 0.0:
            track(wanted, o, self.turning_time, twists)
        ends = np.where((path_count > 0)[:, None], path[np.arange(rows), np.maximum(path_count - 1, 0)], o.goal[:, :2])
        blocked = (np.abs(twists).max(axis=1) < _STILL) & (np.abs(ends - o.pose[:, :2]).max(axis=1) > _AT_GOAL)
        if self.follow_path and o.path_count is not None:
            blocked &= path_count > 0  # robots without a path get another reason
        return Answer(twists, kept, {"reason": np.where(blocked, Reason.BLOCKED, Reason.NONE).astype(np.int8)})


_Parameters = kernel_record(
    "_Parameters", OrcaPlanner, computed=("dt", "turning_time"), others=("preferred_speed", "edges", "tracking_error")
)
"""The preferred speeds and the tracking errors are arrays (N,); the error is 0 for robots that do not track."""


def _discs(tracks: Tracks | None, rows: int) -> tuple[Floats, Floats, Floats, Bools]:
    """Return the arrays of the tracks; without tracks, the arrays have no slots."""
    if tracks is None:
        nowhere = np.zeros((rows, 0, 2), np.float32)
        return freeze(nowhere), freeze(nowhere), freeze(np.zeros((rows, 0), np.float32)), freeze(np.zeros((rows, 0), np.bool_))
    return freeze(tracks.position), freeze(tracks.velocity), freeze(tracks.radius), freeze(tracks.present)


def _difference_tracks(tracks: Tracks, memory: Memory, dt: np.float32) -> tuple[Tracks, Memory]:
    """Return the tracks with velocities computed from their positions one period ``dt`` ago, and the new memory.

    ``joystick_remote.py`` of SocNavBench-baselines: ``(now - before) / sim_dt``, and 0 for a new pedestrian.
    """
    velocity = np.zeros_like(tracks.position)
    if memory:
        same = tracks.present & memory["present"] & (tracks.id == memory["id"])
        velocity[same] = (tracks.position[same] - memory["position"][same]) / dt
    kept = {"position": tracks.position.copy(), "id": tracks.id.copy(), "present": tracks.present.copy()}
    return replace(tracks, velocity=velocity), kept


@hidden
def _append_near_tracks(keys, found, position, present, x, y, view, begin):
    """Append the keys of one row's tracks that are closer than ``view``, numbered from ``begin``; return the new number of keys."""
    for q in range(present.size):
        dx, dy = position[q, 0] - x, position[q, 1] - y
        squared = dx * dx + dy * dy
        keys[found] = key_of(squared, begin + q)
        found += present[q] & (squared < view * view)
    return found


@hidden
def _wall_lines(lines, keys, points, count, nearest, vx, vy, keep, inverse, wall):
    """Write the half-planes for walls, nearest first; return the number of half-planes written.

    A wall point that is covered by the lines written so far adds no half-plane. The half-plane of a point that touches the robot
    only forbids moving closer to that point, as in RVO2.

    A point of a straight wall is covered by the half-plane of the nearest point if that half-plane lies along the wall, as for
    segments in RVO2. The positions of both points are only known to within ``wall``, half a cell, which may tilt that half-plane;
    the tolerance therefore grows with the distance of the point. A half-plane that lets the robot slide past the nearest point lies
    across the wall; in this case, no point may protrude from it.

    Points may come in any order. Covered points are dropped as soon as a line is written, so all points within reach are
    considered.
    """
    made = np.int64(0)
    if count == 0:
        return made
    first_x, first_y = points[nearest, 0], points[nearest, 1]
    near = max(math.sqrt(first_x * first_x + first_y * first_y), wall)
    while count > 0:
        px, py = points[nearest, 0], points[nearest, 1]
        away = math.sqrt(px * px + py * py)
        if away <= keep:
            scale = ONE / max(away, wall)
            lines[made, 0], lines[made, 1], lines[made, 2], lines[made, 3] = ZERO, ZERO, -py * scale, px * scale
        else:
            disc_line(lines, made, px, py, vx, vy, vx, vy, keep, inverse, inverse, ONE)
        facing = lines[made, 3] * first_x - lines[made, 2] * first_y >= _ALONG * near
        left, next_ = np.int64(0), np.int64(0)
        for k in range(count):
            px, py = points[k, 0], points[k, 1]
            slack = wall * (ONE + math.sqrt(px * px + py * py) / near) if facing else ZERO
            if k == nearest or violation(lines, made, inverse * px, inverse * py) >= (keep - slack) * inverse:
                continue
            keys[left], points[left, 0], points[left, 1] = keys[k], px, py
            next_ = left if keys[left] < keys[next_] else next_
            left += 1
        count, nearest = left, next_
        made += 1
    return made


@hidden
def _edge_lines(lines, edges, order, count, vx, vy, keep, inverse):
    """Write the half-planes for the straight edges of walls, nearest first; return the number of half-planes written."""
    made = np.int64(0)
    for n in range(count):
        k = index_in(order[n])
        made = segment_lines(lines, made, edges[k, 0], edges[k, 1], edges[k, 2], edges[k, 3], vx, vy, keep, inverse)
    return made


@hidden
def _write_wall_lines(lines, cost, at, edged, own_radius, error, top_speed, vx, vy, wall_horizon, scratch):
    """Write the half-planes for the walls around one robot, represented by discs or by straight edges.

    Returns the number of half-planes, and the tracking error that the nearest wall allows.
    """
    keys, order, found = scratch
    inverse, wall = ONE / wall_horizon, HALF * at[2]
    if edged:
        count = nearest_edges(cost, *at, own_radius + error + top_speed * wall_horizon, keys, order, found)
        if count > 0 and error > ZERO:
            k = index_in(order[0])
            x = max(max(min(found[k, 0], found[k, 2]), -max(found[k, 0], found[k, 2])), ZERO)
            y = max(max(min(found[k, 1], found[k, 3]), -max(found[k, 1], found[k, 3])), ZERO)
            error = min(error, max(math.sqrt(x * x + y * y) - own_radius, ZERO))
        return _edge_lines(lines, found, order, count, vx, vy, own_radius + error, inverse), error
    keep = own_radius + CORNER * wall
    count, nearest = walls_around(cost, *at, keep + error + top_speed * wall_horizon, keys, found), np.int64(0)
    for k in range(count):
        nearest = k if keys[k] < keys[nearest] else nearest
    if count > 0 and error > ZERO:
        error = min(
            error, max(math.sqrt(found[nearest, 0] * found[nearest, 0] + found[nearest, 1] * found[nearest, 1]) - keep, ZERO)
        )
    return _wall_lines(lines, keys, found, count, nearest, vx, vy, keep + error, inverse, wall), error


@lean_inlined
def _allowed_error(error, nearest, kept, own_radius, factor, padding, x, y, row, pedestrians, robots):
    """Return the tracking error that the pedestrians and robots in one row allow: the minimum of ``error``, the gap to the nearest
    pedestrian, and half the gap to the nearest robot.
    """
    slots = pedestrians[3].shape[1]
    for n in range(kept):
        q = index_in(nearest[n])
        if q < slots:
            dx, dy, other, share = pedestrians[0][row, q, 0] - x, pedestrians[0][row, q, 1] - y, pedestrians[2][row, q], ONE
        else:
            q -= slots
            dx, dy, other, share = robots[0][row, q, 0] - x, robots[0][row, q, 1] - y, robots[2][row, q], HALF
        gap = math.sqrt(dx * dx + dy * dy) - own_radius - other * factor - padding
        error = min(error, max(share * gap, ZERO))
    return error


@kernel
def _act(p, robot, route, pedestrians, robots, window, wanted, first, last):
    """Write the desired velocities for the rows ``first <= n < last``."""
    pose, twist, goal, radius, max_vx, max_omega = robot
    path, path_count, base = route
    cost, origin, resolution = window
    most, factor, padding = p.max_neighbours, p.radius_factor, p.padding
    inverse_horizon, inverse_dt = ONE / p.horizon, ONE / p.dt
    cells = max(cost.shape[1], cost.shape[2])
    walls = (most_edges(cells) if p.edges else key_count(cells)) if cells > 0 else 0
    slots = pedestrians[3].shape[1]
    keys, nearest = np.empty(max(slots + robots[3].shape[1] + PADDING, walls), np.int64), np.empty(most, np.int64)
    scratch = (keys, np.empty(walls, np.int64), np.empty((walls, 4), np.float32))
    lines, spare = np.empty((walls + SIDES + most, 4), np.float32), np.empty((walls + SIDES + most, 4), np.float32)
    for row in range(first, last):
        x, y = pose[row, 0], pose[row, 1]
        sine, cosine = sincos(pose[row, 2])
        vx, vy = twist[row, 0] * cosine - twist[row, 1] * sine, twist[row, 0] * sine + twist[row, 1] * cosine
        speed = p.preferred_speed[row]
        bx, by = base[row, 0], base[row, 1]
        leads, tx, ty, _ = point_ahead(path[row], path_count[row], bx, by, p.lookahead)
        if leads:
            tx, ty = preferred_velocity(tx - bx, ty - by, speed, ZERO)
        else:
            tx, ty = preferred_velocity(goal[row, 0] - bx, goal[row, 1] - by, speed, p.settle)
        none = np.int64(0)
        found = _append_near_tracks(keys, none, pedestrians[0][row], pedestrians[3][row], x, y, p.neighbour_distance, none)
        found = _append_near_tracks(keys, found, robots[0][row], robots[3][row], x, y, p.neighbour_distance, slots)
        kept = select_nearest(keys, found, nearest)
        made, own_radius, error = np.int64(0), radius[row] * factor + padding, p.tracking_error[row]
        if error > ZERO:
            error = _allowed_error(error, nearest, kept, own_radius, factor, padding, x, y, row, pedestrians, robots)
        if walls > 0:
            at = (origin[row, 0], origin[row, 1], resolution, x, y)
            made, error = _write_wall_lines(
                lines, cost[row], at, p.edges, own_radius, error, max_vx[row], vx, vy, p.wall_horizon, scratch
            )
        if p.tracking_error[row] > ZERO:
            error = max(error, _LEAST * p.tracking_error[row])
            made = trackable_lines(lines, made, cosine, sine, error, p.turning_time, max_omega[row], max_vx[row])
        hard = made
        for n in range(kept):
            q = index_in(nearest[n])
            if q < slots:
                px, py, other = pedestrians[0][row, q, 0] - x, pedestrians[0][row, q, 1] - y, pedestrians[2][row, q]
                ux, uy, apart = vx - pedestrians[1][row, q, 0], vy - pedestrians[1][row, q, 1], error
            else:
                q -= slots
                px, py, other = robots[0][row, q, 0] - x, robots[0][row, q, 1] - y, robots[2][row, q]
                ux, uy, apart = vx - robots[1][row, q, 0], vy - robots[1][row, q, 1], error + error
            reach = radius[row] * factor + other * factor + padding + padding + apart
            disc_line(lines, made, px, py, ux, uy, vx, vy, reach, inverse_horizon, inverse_dt, p.responsibility)
            made += 1
        wanted[row, 0], wanted[row, 1] = nearest_velocity(lines, made, hard, max_vx[row], tx, ty, spare)
