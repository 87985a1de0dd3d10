"""SocNavBench's sampling planner, called "Baseline" in SocNavBench, which ignores pedestrians.

Biswas et al., "SocNavBench: A Grounded Simulation Testing Framework for Evaluating Social Navigation", ACM Transactions on
Human-Robot Interaction 11(3), 2022. Waypoints, splines, costs and defaults are taken from SocNavBench's code (commit 2724ea85:
``SamplingPlanner``, ``ControlPipelineV0``, ``Spline3rdOrder``, ``params``).

Every ``control_horizon`` seconds, the planner chooses, from all splines that start at about the robot's speed, the one with the
lowest mean cost (`agora.planners.local.sampling._plan.cost_of_spline`), and drives along it. The splines lead to about 21,000
waypoints within 90 degrees ahead, for each of twenty start speeds. The final time of a spline is the shortest that the limits
allow; splines that take longer than ``max_final_time`` are left out. A shorter final time also raises the start speed of a spline,
and splines are sorted by the resulting start speeds.

Differences from the source:
- The distance to the goal through free space is computed in the local costmap, from the point where the global path leaves the
  costmap or ends, and the length of the rest of the path is added; the original uses the whole map. The direction to the goal is
  the gradient of the bilinearly interpolated distance; the original mixes the angles of four cells. Splines that leave the window
  are discarded.
- Obstacles are the lethal and unknown cells of the costmap. Splines whose centre line enters an obstacle, or a cell without a path
  to the goal, are discarded; the original adds 1000 m to the distance instead. If no spline is left, the robot stops with the
  reason ``blocked``, or ``start_in_contact`` if it touches an obstacle. A robot that touches an obstacle may not move closer to it
  within the control horizon; in the original, the episode ends on contact.
- Splines on which the inscribed disc of the robot's outline touches an obstacle and moves closer to it are discarded
  (``clearance``). In the original, the robot's width only affects the cost of positions near obstacles, and the robot touches door
  jambs.
- Splines that would back up are left out; in the original, the simulated car stands still instead. Apart from that, the original's
  LQR does not affect the motion, because the benchmark receives poses. This planner commands the twist in the middle of each
  period; the next spline corrects the robot's deviations.
- The original's personal-space term is evaluated only on the first spline and added to all splines, so it has no effect. It is left
  out.
- Limits that are not set default to the robot's own, including its turning radius; the benchmark robot's limits are in the
  `sampling_socnavbench` preset. Splines are computed for whole centimetres per second, like the robots' limits. If an interplanner
  slows a robot down to another speed, the robot drives the splines for the next higher tenth of a metre per second, more slowly.
- If there are no splines for a start speed, the splines for the nearest start speed that has any are used.

Narrow places: a robot whose base is not at its centre, such as a car, may touch a door jamb with its nose, because only the
inscribed disc around the base is kept clear. The planner only drives forward, so a robot that is 0.15 m in front of a wall gets
stuck.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any, NamedTuple

import numpy as np

from agora.core.angles import wrap_below_pi
from agora.core.kernel_record import kernel_record
from agora.core.recording import Reason
from agora.core.state import Array, Bools, Doubles, Floats, freeze
from agora.costmap.inflation import INSCRIBED, LETHAL, NO_INFORMATION
from agora.costmap.window import Window, inscribed_radius
from agora.errors import InputError
from agora.interfaces import Answer, Declaration, Memory, Observation, Span
from agora.maps.distance import cell_distance
from agora.planners._limits import own
from agora.planners.local.sampling._plan import choose, drive
from agora.planners.local.sampling._splines import Catalogue, Splines, bin_of, end_of, splines
from agora.ranges import Checked, Distance, Length, Period, Speed, TurningRate, Weight, Within

_SLACK = 1e-4  # m/s
_STEPS = 1000

_TUNABLE: dict[str, Span] = {
    "max_speed": Span(0.3, 2.0),
    "control_horizon": Span(0.1, 1.5),
    "max_final_time": Span(2.0, 6.0),
    "obstacle_margin": Span(0.3, 1.5),
    "obstacle_cost": Span(0.1, 10.0, log=True),
    "goal_cost": Span(0.01, 1.0, log=True),
    "angle_cost": Span(1e-3, 1.0, log=True),
}


class Best(NamedTuple):
    """The splines along which the robots drive.

    Attributes:
        x: (R, 3) coefficients of x (`agora.planners.local.sampling._splines`).
        y: (R, 3) coefficients of y.
        p: (R, 3) coefficients of the progress along the spline.
        time: (R,) final times, s; 0 if there is no spline.
    """

    x: Floats
    y: Floats
    p: Floats
    time: Floats

    def ends(self, pose: Floats) -> Doubles:
        """Return the end poses (R, 3) of robots that drive along these splines from the poses (R, 3)."""
        made = end_of(self.x, self.y)
        heading = wrap_below_pi(pose[:, 2] + made[:, 2])
        return np.column_stack((_to_map_frame(pose, made[:, None, :2])[:, 0], heading))

    def ways(self, pose: Floats, count: int) -> Doubles:
        """Return positions (R, count, 2) on the paths of robots that start at the poses (R, 3); the first position is the start."""
        gone = np.linspace(0.0, 1.0, count)
        x, y = (part.astype(np.float64)[..., None] for part in (self.x, self.y))
        places = [((one[:, 0] * gone + one[:, 1]) * gone + one[:, 2]) * gone for one in (x, y)]
        return _to_map_frame(pose, np.stack(places, -1))


@dataclass(frozen=True)
class Sampling(Checked):
    """Chooses the spline with the lowest cost, drives along it for the control horizon, and chooses again.

    Attributes:
        window: local costmap.
        max_speed: maximum speed, m/s; None for the robot's maximum speed.
        max_omega: maximum turning rate, rad/s; None for the robot's maximum turning rate.
        waypoints: approximate number of waypoints.
        headings: number of headings at the position of each waypoint.
        camera_height: height of the camera that defines the grid of waypoints, m.
        camera_tilt: tilt of that camera below the horizon, degrees.
        half_view: half the camera's field of view, degrees.
        start_speeds: number of start speeds, from 0 to the top speed.
        min_final_time: minimum duration of a spline, s.
        max_final_time: maximum duration of a spline, s.
        control_horizon: time for which a spline is driven, s.
        step: time between the sampled positions on a spline, s.
        clearance: distance to obstacles below which the robot does not move closer to them, m; None for the radius of the inscribed
            disc of the robot's outline. 0 is the behaviour of the original.
        obstacle_margin: distance to obstacles below which they have a cost, m.
        obstacle_width: depth inside ``obstacle_margin`` at which the cost reaches ``obstacle_cost``, m; the cost grows with the
            third power of the depth.
        obstacle_cost: weight of the cost of obstacles.
        goal_cost: weight of the squared distance to the goal, 1/m2.
        angle_cost: weight of the angle between the spline and the direction to the goal, 1/rad.
        goal_margin: distance to the goal at which the goal has no cost, m.
    """

    window: Window = field(default_factory=lambda: Window(sources=("map",)))
    max_speed: Speed | None = None
    max_omega: TurningRate | None = None
    waypoints: Annotated[int, Within(25, 50_000)] = 20_000
    headings: Annotated[int, Within(1, 99)] = 21
    camera_height: Length = 0.8
    camera_tilt: Annotated[float, Within(1.0, 89.0)] = 45.0
    half_view: Annotated[float, Within(1.0, 89.0)] = 45.0
    start_speeds: Annotated[int, Within(2, 50)] = 20
    min_final_time: Period = 1.5
    max_final_time: Period = 4.0
    control_horizon: Period = 0.5
    step: Period = 0.05
    clearance: Distance | None = None
    obstacle_margin: Distance = 0.5
    obstacle_width: Length = 0.2
    obstacle_cost: Weight = 1.3
    goal_cost: Weight = 0.08
    goal_margin: Distance = 0.3
    angle_cost: Weight = 0.008

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.min_final_time <= self.max_final_time <= _STEPS * self.step:
            bounds = f"min_final_time, {self.min_final_time} s, and at most {_STEPS} times step, {self.step} s"
            raise InputError(f"max_final_time: must be at least {bounds}, is {self.max_final_time} s")

    @cached_property
    def declares(self) -> Declaration:
        """The properties of the planner."""
        return Declaration(
            needs=("path", self.window),
            label="faithful",
            tunable=_TUNABLE,
            notes=("reason",),
            concurrent=True,
            top_speed=float(own(self.max_speed)),
        )

    def act(self, observation: Observation, memory: Memory) -> Answer:
        """Return the twists (N, 3), the memory with the splines being driven and their elapsed times, s, and the reasons why robots
        stop.
        """
        o = observation
        assert o.path is not None and o.path_count is not None and o.costmap is not None
        count = len(o.pose)
        now = {name: part.copy() for name, part in memory.items()} if memory else _empty_memory(count)
        some = o.path_count > 0
        now["time"][~some] = 0.0
        # Subtract a quarter of a period, so that rounding errors in the sum of periods do not add a period.
        late = now["gone"] > np.minimum(np.float32(self.control_horizon), now["time"]) - np.float32(0.25 * o.dt)
        due = np.flatnonzero(some & (late | (now["time"] <= 0.0)))
        if len(due):
            best = self.best(o, due)
            for name, part in best._asdict().items():
                now[name][due] = part
            now["gone"][due] = 0.0
        twists = np.zeros((count, 3), np.float32)
        top, turn = self.limits(o)
        spline = (now["x"], now["y"], now["p"], now["time"], now["gone"])
        drive(*spline, np.float32(o.dt), freeze(top), freeze(turn), twists, 0, count)
        standing = np.where(some, np.int8(Reason.BLOCKED), np.int8(Reason.NO_PATH))
        shut = np.flatnonzero(some & (now["time"] <= 0.0))
        if len(shut):
            standing[shut[_obstacles(o, shut)[1]]] = Reason.START_IN_CONTACT
        return Answer(twists, now, {"reason": np.where(now["time"] > 0.0, np.int8(Reason.NONE), standing)})

    def limits(self, o: Observation) -> tuple[Floats, Floats]:
        """Return the robots' maximum speeds and turning rates (N,), m/s and rad/s."""
        return np.minimum(o.limits.max_vx, own(self.max_speed)), np.minimum(o.limits.max_omega, own(self.max_omega))

    def best(self, o: Observation, rows: Array) -> Best:
        """Return the best splines for the robots in ``rows`` (R,), all of which must have a path."""
        assert o.path is not None and o.path_count is not None and o.costmap is not None
        top, turn = self.limits(o)
        made = np.array([_catalogue_speed(float(speed)) for speed in top[rows]])
        scale = made / np.maximum(top[rows], np.float32(_SLACK))
        speed = np.maximum(o.twist[rows, 0], 0.0) * scale
        gaps, touching = _obstacles(o, rows)
        clear = self._kept_distance(o)[rows]
        best, parameters = _empty_splines(len(rows)), self._parameters
        # Robots with the same limits share their splines and one kernel call.
        kinds = np.column_stack((made, turn[rows], o.limits.turning_radius[rows]))
        for kind in np.unique(kinds, axis=0):
            mine = np.flatnonzero((kinds == kind).all(axis=1))
            of = self.splines(*map(float, kind))
            bins = _speeds_with_splines(of, bin_of(speed[mine], float(kind[0]), self.start_speeds))
            chosen, least = np.empty(len(mine), np.int64), np.empty(len(mine), np.float32)
            window = (freeze(o.costmap.cost), freeze(o.costmap.origin), np.float32(o.costmap.resolution), freeze(gaps[mine]))
            way = (freeze(o.path), freeze(o.path_count), freeze(o.pose))
            choose(parameters, of, bins, rows[mine], *window, *way, clear[mine], touching[mine], chosen, least, 0, len(mine))
            mine, chosen = mine[chosen >= 0], chosen[chosen >= 0]
            best.x[mine], best.y[mine], best.p[mine] = of.x[chosen], of.y[chosen], of.p[chosen]
            best.time[mine] = of.time[chosen] * scale[mine]
        return best

    def _kept_distance(self, o: Observation) -> Floats:
        """Return the minimum distances (N,) that the robots keep from obstacles, m."""
        if self.clearance is not None:
            return np.full(len(o.pose), self.clearance, np.float32)
        return inscribed_radius(self.window.corners(o.footprint, o.radius))

    def splines(self, max_speed: float, max_omega: float, turning_radius: float) -> Splines:
        """Return all splines for a robot with these limits, in m/s, rad/s and m. The splines are computed once and shared by all
        planners.
        """
        tilt, half_view = math.radians(self.camera_tilt), math.radians(self.half_view)
        grid = (self.waypoints, self.headings, self.camera_height, tilt, half_view)
        times = (self.min_final_time, self.max_final_time)
        return splines(Catalogue(*grid, self.start_speeds, max_speed, max_omega, turning_radius, *times))

    @cached_property
    def _parameters(self) -> Any:
        return Parameters.of(self)


Parameters = kernel_record("Parameters", Sampling)


def _to_map_frame(pose: Floats, places: Doubles) -> Doubles:
    """Transform positions (R, K, 2) from the frames of robots at the poses (R, 3) into the map frame."""
    x, y = places[..., 0], places[..., 1]
    sine, cosine = (np.array([[f(one)] for one in pose[:, 2].tolist()]) for f in (math.sin, math.cos))
    return np.stack((pose[:, :1] + cosine * x - sine * y, pose[:, 1:2] + sine * x + cosine * y), -1)


def _empty_splines(count: int) -> Best:
    """Return empty splines, for robots that do not drive along a spline yet."""
    x, y, p = np.zeros((3, count, 3), np.float32)
    return Best(x, y, p, np.zeros(count, np.float32))


def _empty_memory(count: int) -> Memory:
    """Return the memory at the start of an episode."""
    return {**_empty_splines(count)._asdict(), "gone": np.zeros(count, np.float32)}


def _catalogue_speed(speed: float) -> float:
    """Return the rounded top speed, m/s, for which the splines of a robot with the top speed ``speed`` are computed."""
    exact = round(100.0 * speed) / 100.0
    if exact > 0.0 and abs(exact - speed) < 0.01 * _SLACK * max(1.0, speed):
        return exact
    return max(math.ceil(10.0 * speed), 1) / 10.0


def _obstacles(o: Observation, rows: Array) -> tuple[Floats, Bools]:
    """Return the distances of cells from obstacles (R, H, W), m, and which robots (R,) touch an obstacle."""
    assert o.costmap is not None
    cell = o.costmap.resolution
    gaps = [cell_distance(o.costmap.cost[n] >= LETHAL, cell) - np.float32(0.5 * cell) for n in rows]
    column, line = np.floor((o.pose[rows, :2] - o.costmap.origin[rows]) / cell).astype(np.int64).T
    high, wide = o.costmap.cost.shape[1:]
    here = o.costmap.cost[rows, np.clip(line, 0, high - 1), np.clip(column, 0, wide - 1)]
    return np.stack(gaps), (here >= INSCRIBED) & (here < NO_INFORMATION)


def _speeds_with_splines(of: Splines, bins: Array) -> Array:
    """Return the indices (R,) of the nearest start speeds that have splines."""
    filled = np.flatnonzero(np.diff(of.first))
    if not len(filled):
        return bins
    nearest: Array = filled[np.argmin(np.abs(bins[:, None] - filled), axis=1)]
    return nearest
