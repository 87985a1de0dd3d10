"""The observation and the memory of a timed elastic band planner, in the form that its kernels read."""

from __future__ import annotations

import math
import threading
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from agora.core.state import Array, Bools, Floats, Ints, freeze
from agora.costmap.window import inscribed_radius
from agora.interfaces import Memory, Observation
from agora.planners._bands.costs import STEP, WIDTH, Near, SolverMemory, TebWeights
from agora.planners._bands.discs import BLOCK, MOMENT, MOMENTS
from agora.planners._bands.shape import points_of
from agora.planners._expected import Discs
from agora.planners._limits import own
from agora.world.tracks import onward

if TYPE_CHECKING:
    from agora.planners.local.teb._planner import Teb

_LOCAL = threading.local()
DT_REF = 0.3
_LONGEST, _CHECKED = np.float32(1.0), np.float32(1.5)  # s
_LEAST, _SPACING, _TINY = np.float32(0.12), np.float32(0.3), np.float32(1e-3)  # m, m, m/s
_GAIN = np.float32(0.5)  # m/s2, rad/s2: the package's limits
_ONLY = 100_000.0


class Observed(NamedTuple):
    """The arrays of an observation, and the settings for each row.

    ``discs`` are the pedestrians and robots; their predicted positions are relative to the positions that they would have at
    constant velocity.
    """

    pose: Floats
    twist: Floats
    goal: Floats
    radius: Floats
    inscribed: Floats
    shape_x: Floats
    shape_y: Floats
    shape_radius: Floats
    lane: Floats
    weights: Floats
    footprint_x: Floats
    footprint_y: Floats
    min_x: Floats
    max_x: Floats
    max_y: Floats
    max_theta: Floats
    acc_x: Floats
    acc_y: Floats
    acc_theta: Floats
    turning_radius: Floats
    dt_ref: Floats
    dt_hysteresis: Floats
    checked: Ints
    path: Floats
    path_count: Ints
    cost: Array
    origin: Floats
    resolution: np.float32
    discs: Discs


class Recall(NamedTuple):
    """The memory of the rows; all values are zero at the start of an episode.

    Attributes:
        bands: (N, C, M, 4) bands in the map frame; the band being driven comes first.
        counts: (N, C) numbers of poses of the bands, 0 for an empty slot.
        path: (N, 3) first point of the path, and the number of points; a different path resets ``leg``.
        leg: (N,) index of the path's leg that the robot has reached.
        trouble: (N, 2) number of consecutive periods without a feasible band; number of periods for which the horizon stays
            reduced.
        switching: (N,) number of periods for which the class may not change.
        history: (N, L, 2) the last commands (speed and turning rate), as fractions of their maximum.
        turning: (N, 3) number of recorded commands; the preferred turning direction, 1, -1 or 0; number of periods for which this
            direction is kept.
    """

    bands: Floats
    counts: Array
    path: Floats
    leg: Ints
    trouble: Ints
    switching: Ints
    history: Floats
    turning: Ints


class Scratch(NamedTuple):
    """Working memory of one thread.

    Attributes:
        route: (A, 2) local path, m.
        bands: (C + 1, M, 4) bands; the last one is scratch.
        counts: (C + 1,) numbers of poses of the bands.
        costs: (C,) costs of the bands.
        blocks: scratch for `agora.planners._bands.discs.cluster`.
        sums: scratch for `agora.planners._bands.discs.cluster`.
        still: (S, 3) stationary discs.
        moving: (Q, 5 + 2 T) moving discs.
        near: discs near each pose, for the solver.
        work: working memory of the solver.
        order: scratch for `_homotopy`.
        places: scratch for `_homotopy`.
        signatures: scratch for `_homotopy`.
        nodes: scratch for `_homotopy`.
        edges: scratch for `_homotopy`.
        roadmap: scratch for `_homotopy`.
    """

    route: Floats
    bands: Floats
    counts: Array
    costs: Floats
    blocks: Ints
    sums: Ints
    still: Floats
    moving: Floats
    near: Near
    work: SolverMemory
    order: Ints
    places: Floats
    signatures: Floats
    nodes: Floats
    edges: Bools
    roadmap: Ints


def weights_of(teb: Teb, o: Observation, hurry: Floats) -> Floats:
    """Return the weights for each row, (N, W), in the order of `TebWeights`.

    If an acceleration limit is below the package's, its residual is relative to the limit.

    Args:
        o: the observation.
        hurry: (N,) factors applied to the weight on time.
    """
    m, rows = o.limits, np.tile(np.array(teb.weights, np.float32), (len(o.pose), 1))
    column = dict(zip(TebWeights._fields, rows.T, strict=True))
    sideways = _sideways_speeds(teb, o)
    for axis, own_limit, limit in (
        ("x", teb.acc_lim_x, m.max_ax),
        ("y", teb.acc_lim_y, m.max_ay),
        ("theta", teb.acc_lim_theta, m.max_alpha),
    ):
        column[f"acc_lim_{axis}"] *= np.square(_GAIN / np.clip(np.minimum(own(own_limit), limit), _TINY, _GAIN))
    column["optimaltime"] *= hurry
    if teb.weight_kinematics_nh is None:
        column["kinematics_nh"][sideways > 0] = 1.0
    blind = np.minimum(np.float32(teb.max_vel_x_backwards), -m.min_vx) <= 0.0
    column["kinematics_forward_drive"][blind] = max(teb.weight_kinematics_forward_drive, _ONLY)
    return rows


def _sideways_speeds(teb: Teb, o: Observation) -> Floats:
    """Return the maximum sideways speeds (N,), m/s."""
    usual = 0.5 * np.minimum(own(teb.max_vel_x), o.limits.max_vx) if teb.max_vel_y is None else own(teb.max_vel_y)
    most: Floats = np.where(o.limits.holonomic, np.minimum(usual, o.limits.max_vy), 0.0).astype(np.float32)
    return most


def steps(teb: Teb, o: Observation) -> tuple[Floats, Floats, Floats, Ints]:
    """Return the settings that depend on the robots' speeds, as arrays (N,).

    Returns:
        Times between poses, and the allowed deviations from these times, s; factors applied to the weight on time; numbers of poses
        to check.
    """
    rows, given = len(o.pose), np.float32(teb.dt_ref or DT_REF)
    times = np.full(rows, given, np.float32)
    if teb.dt_ref is None:
        speed = np.hypot(np.minimum(own(teb.max_vel_x), o.limits.max_vx), _sideways_speeds(teb, o))
        speed = np.maximum(speed, _TINY).astype(np.float32)
        times = np.minimum(np.maximum(times, np.minimum(_LEAST / speed, _LONGEST)), _SPACING / speed)
    hysteresis = times / np.float32(3.0) if teb.dt_hysteresis is None else np.full(rows, teb.dt_hysteresis, np.float32)
    poses = teb.feasibility_check_no_poses
    checked = np.ceil(_CHECKED / times - _TINY) if poses is None else np.full(rows, poses)
    return times, hysteresis, np.square(np.maximum(given / times, np.float32(1.0))), checked.astype(np.int32)


def _lanes(teb: Teb, inscribed: Floats, reach: Floats) -> Floats:
    """Return the minimum desired distances (N,) from the robots' shapes to the walls of a lane, m; if the shape is a point, the
    extent of the robot's body is added.

    Args:
        teb: the planner.
        inscribed: (N,) radii of the largest discs inside the robots, m.
        reach: (N,) radii that are added around the robots' shapes, m.
    """
    if teb.min_lane_dist is None:
        return np.full_like(reach, np.inf)
    body = np.maximum(inscribed - reach, np.float32(0.0)) if teb.footprint_model == "point" else np.float32(0.0)
    return np.full_like(reach, teb.min_lane_dist) + body


def scene_of(teb: Teb, o: Observation, about: Discs) -> Observed:
    """Return the arrays that the kernel reads."""
    assert o.path is not None and o.path_count is not None and o.costmap is not None
    m = o.limits
    on = onward(about.position, about.velocity, MOMENTS, float(MOMENT))
    outlines = teb.window.corners(o.footprint, o.radius)
    corners = np.moveaxis(outlines, 2, 0)
    times, hysteresis, hurry, checked = steps(teb, o)
    inscribed = inscribed_radius(outlines)
    points, reach = points_of(teb.footprint_model, outlines, np.asarray(o.radius, np.float32))
    if teb.footprint_model == "point" and teb.min_body_dist is not None:
        reach = np.maximum(inscribed + np.float32(teb.min_body_dist - teb.min_obstacle_dist), np.float32(0.0))
    return Observed(
        pose=freeze(o.pose),
        twist=freeze(o.twist),
        goal=freeze(o.goal),
        radius=freeze(o.radius),
        inscribed=freeze(inscribed),
        shape_x=freeze(np.ascontiguousarray(points[..., 0])),
        shape_y=freeze(np.ascontiguousarray(points[..., 1])),
        shape_radius=freeze(reach),
        lane=freeze(_lanes(teb, inscribed, reach)),
        weights=freeze(weights_of(teb, o, hurry)),
        footprint_x=freeze(corners[0]),
        footprint_y=freeze(corners[1]),
        min_x=freeze(m.min_vx),
        max_x=freeze(m.max_vx),
        max_y=freeze(_sideways_speeds(teb, o)),
        max_theta=freeze(m.max_omega),
        acc_x=freeze(m.max_ax),
        acc_y=freeze(m.max_ay),
        acc_theta=freeze(m.max_alpha),
        turning_radius=freeze(m.turning_radius),
        dt_ref=freeze(times),
        dt_hysteresis=freeze(hysteresis),
        checked=freeze(checked),
        path=freeze(o.path),
        path_count=freeze(o.path_count),
        cost=freeze(o.costmap.cost),
        origin=freeze(o.costmap.origin),
        resolution=np.float32(o.costmap.resolution),
        discs=Discs(
            *(freeze(about.position), freeze(about.velocity), freeze(about.radius)),
            *(freeze(about.present), freeze(about.expected - on)),
        ),
    )


def copy_memory(teb: Teb, memory: Memory, count: int, dt: float) -> Recall:
    """Return a copy of the memory; zeros at the start of an episode."""
    if memory:
        return Recall(*(memory[name].copy() for name in Recall._fields))
    classes, long = teb.max_number_classes, max(round(teb.oscillation_filter_duration / dt), 1)
    return Recall(
        np.zeros((count, classes, teb.max_samples, 4), np.float32),
        np.zeros((count, classes), np.int64),
        np.zeros((count, 3), np.float32),
        np.zeros(count, np.int32),
        np.zeros((count, 2), np.int32),
        np.zeros(count, np.int32),
        np.zeros((count, long, 2), np.float32),
        np.zeros((count, 3), np.int32),
    )


def scratch_of(teb: Teb, o: Observation) -> Scratch:
    """Return the working memory of this thread, kept for the next call."""
    assert o.costmap is not None and o.pedestrians is not None and o.robots is not None
    slots = o.pedestrians.radius.shape[1] + o.robots.radius.shape[1]
    cell, side = o.costmap.resolution, max(o.costmap.cost.shape[1:])
    reach = teb.min_obstacle_dist * teb.obstacle_association_force_inclusion_factor + float(np.max(o.radius))
    near = math.ceil(2.0 * reach / (BLOCK * cell) + 2.0) ** 2 + 2 + slots
    classes, most, many = teb.max_number_classes, teb.max_samples, teb.roadmap_graph_no_samples + 2
    key = (classes, most, many, slots, side, near)
    if getattr(_LOCAL, "key", None) != key:
        f, i, long, blocks = np.float32, np.int32, np.int64, side // BLOCK + 3
        discs, rows = blocks * blocks + slots, 4 * most
        _LOCAL.scratch = Scratch(
            *(np.empty((most, 2), f), np.empty((classes + 1, most, 4), f), np.empty(classes + 1, long), np.empty(classes, f)),
            *(
                np.empty((blocks, blocks), i),
                np.empty((blocks, blocks, 2), i),
                np.empty((discs, 3), f),
                np.empty((slots, 5 + 2 * MOMENTS), f),
            ),
            Near(
                *(np.empty((most * near, 4), f), np.empty(most + 1, i), np.empty((most * slots, 3), f), np.empty(most + 1, i)),
                *(np.empty((most + 1, 2), f), np.empty(most + 1, i)),
            ),
            SolverMemory(
                *(
                    np.empty((most, 2), f),
                    np.empty((most, STEP), f),
                    np.empty((rows, WIDTH + 1), f),
                    np.empty((rows, WIDTH + 1), f),
                ),
                *(np.empty(rows, f), np.empty(rows, f), np.empty(WIDTH + 1, f), np.empty((most, 4), f)),
            ),
            *(np.empty(discs, i), np.empty((discs + slots, 4), f), np.empty((classes + 1, discs + slots), np.float64)),
            *(np.empty((many, 2), f), np.empty((many, many), np.bool_), np.empty((3, many), i)),
        )
        _LOCAL.key = key
    scratch: Scratch = _LOCAL.scratch
    return scratch
