"""Trajectory roll-out as ROS implements it: the older of the navigation stack's two local planners, and the "DWA" of the BARN
challenge.

Gerkey, Konolige, "Planning and control in unstructured terrain", ICRA Workshop on Path Planning on Costmaps, 2008; samples,
critics, escape and defaults are taken from TrajectoryPlannerROS (package base_local_planner, ROS navigation, noetic-devel 9ad6441),
whose parameter names are kept. The default values are taken from the package's BaseLocalPlanner.cfg, which override the other
defaults at start-up.

At every step the planner tries, in this order:
1. forward curves: ``vx_samples`` speeds, each combined with driving straight and with ``vtheta_samples`` - 1 turning rates, which
   start with the rightmost and omit the leftmost; for robots that can move sideways, also two slow diagonal motions;
2. turning in place, if this scores no worse than the best curve, or if the best curve moves sideways; the planner chooses the
   turning rate that brings the nose, ``heading_lookahead`` m ahead of the centre, nearest to the local goal; after two turns to one
   side, the robot may not turn to the other side until it has moved away;
3. moving sideways (``y_vels``), for robots that can move sideways;
4. backing up straight at ``escape_vel``, if there is room or if this frees the robot; the planner does not try forward curves again
   until the robot has moved by ``escape_reset_dist`` or turned by ``escape_reset_theta``.

In a sample's roll-out, the twist approaches the sampled twist at the acceleration limits. The score of a sample is the sum of the
distances to the path and to the goal at the end of the roll-out (from waves in the grid, as in `dwa`), and of the maximum cost
along the roll-out under the outline of the footprint or under its centre. A sample is discarded if the outline meets an obstacle,
or if the centre enters a cell that is not connected to the path and the goal. If the robot's centre is within the inscribed radius
of an obstacle, its cell is not connected, and the robot stops; in upstream, move_base's recovery behaviours then start.

Differences from the source:
- The local goal, the resampling of paths, the pruning of the path behind the robot, and car-like robots are treated as in
  `agora.planners.local.dwa`.
- ``heading_scoring`` and ``simple_attractor``, which are off by default in upstream, are left out.
- In unknown cells and outside its costmap, the robot stops; in upstream, it backs up.
- In upstream, the robot backs up regardless of what is behind it; the package's presets do the same, with ``escape_blindly``.
- The obstacle cost is read under the robot's centre, and is scaled by the length of the roll-outs, as in
  `agora.planners.local.dwa`; the package's presets behave as in upstream.
- At the goal, only the footprint is checked for obstacles.
- A stationary car backs up if no forward curve is better than standing still. Upstream does not support cars.
- Limits that are not set default to the robot's own; the package's limits are in the `trajectory_rollout_ros` preset. Roll-outs end
  where the fastest roll-out would leave the window.
"""

from __future__ import annotations

import dataclasses
import math
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any, Literal

import numpy as np

from agora.core.kernel_record import kernel_record
from agora.core.recording import Reason
from agora.core.state import Floats
from agora.costmap.inflation import FREE
from agora.costmap.window import Window, inscribed_radius
from agora.interfaces import Answer, Declaration, Memory, Observation, Span
from agora.planners._limits import own
from agora.planners._rollouts.poses import horizon, scene_of
from agora.planners.local.trajectory_rollout._plan import ASIDE, Recall, Scratch, plan
from agora.ranges import Checked, Deviation, Distance, NotNegative, Period, Positive, Speed, Within

_LOCAL = threading.local()


_TUNABLE: dict[str, Span] = {
    "max_vel_x": Span(0.3, 2.0),
    "max_vel_theta": Span(0.5, 3.0),
    "min_in_place_vel_theta": Span(0.1, 1.0),
    "escape_vel": Span(-0.5, -0.05),
    "sim_time": Span(0.8, 3.0),
    "path_distance_bias": Span(0.1, 30.0, log=True),
    "goal_distance_bias": Span(0.1, 30.0, log=True),
    "occdist_scale": Span(1e-4, 1.0, log=True),
    "heading_lookahead": Span(0.1, 1.0),
}


@dataclass(frozen=True)
class TrajectoryRollout(Checked):
    """Samples twists, rolls them out, scores them on the local costmap, and drives the best twist; backs up if no twist is valid.

    The limits apply in addition to the robot's own; None means that only the robot's limit applies. The outline of the window's
    footprint must not touch a lethal or unknown cell.

    Attributes:
        window: local costmap.
        acc_lim_x: acceleration limit along x, m/s2.
        acc_lim_y: acceleration limit along y, m/s2.
        acc_lim_theta: angular acceleration limit, rad/s2.
        max_vel_x: maximum speed of forward curves, m/s.
        min_vel_x: minimum speed of forward curves, m/s.
        max_vel_theta: maximum turning rate, rad/s.
        min_in_place_vel_theta: minimum rate of a turn in place, rad/s.
        escape_vel: velocity for backing up, m/s, negative.
        escape_blindly: whether the robot backs up regardless of what is behind it.
        y_vels: sideways speeds, m/s; only for robots that can move sideways.
        xy_goal_tolerance: distance to the goal within which the robot brakes and turns in place, m.
        yaw_goal_tolerance: accepted deviation from the goal's heading, rad.
        latch_xy_goal_tolerance: whether the robot continues to turn in place until the path changes, even if it slides out of the
            tolerance.
        sim_time: duration of the roll-outs, s; shorter if the fastest one would leave the window.
        sim_granularity: maximum distance between two poses of a roll-out, m.
        angular_sim_granularity: maximum angle between two poses of a roll-out, rad (in upstream, rad per second).
        vx_samples: number of speed samples.
        vtheta_samples: number of turning-rate samples.
        path_distance_bias: scale of the distance to the path.
        goal_distance_bias: scale of the distance to the goal.
        meter_scoring: whether these two scales are per metre; otherwise they are per cell. Upstream reads this parameter but does
            not use it: it uses a member that is never set, so its biases are most likely per cell, whatever the parameter's value.
        occdist_scale: scale of the maximum costmap cost along the roll-out (see ``occdist_at``).
        occdist_length: as in `agora.planners.local.dwa`; 0 is the upstream behaviour.
        occdist_at: as in `agora.planners.local.dwa`; "outline" is upstream.
        heading_lookahead: distance from the robot's centre to its nose, m. When turning in place, the robot tries to bring its nose
            closer to the local goal.
        oscillation_reset_dist: distance that the robot must move before it may turn to the other side again, m.
        escape_reset_dist: distance to back up, m.
        escape_reset_theta: angle by which the robot must turn to end an escape, rad.
        dwa: whether samples must be reachable within one period; otherwise within the whole ``sim_time``.
        prune_plan: whether to cut off the part of the path behind the robot.
    """

    window: Window = field(default_factory=Window)
    acc_lim_x: Positive | None = None
    acc_lim_y: Positive | None = None
    acc_lim_theta: Positive | None = None
    max_vel_x: Speed | None = None
    min_vel_x: Speed = 0.0
    max_vel_theta: NotNegative | None = None
    min_in_place_vel_theta: NotNegative = 0.4
    escape_vel: Annotated[float, Within(-100.0, 0.0)] = -0.1
    escape_blindly: bool = False
    y_vels: tuple[float, ...] = (-0.3, -0.1, 0.1, 0.3)
    xy_goal_tolerance: Distance = 0.1
    yaw_goal_tolerance: Deviation = 0.05
    latch_xy_goal_tolerance: bool = False
    sim_time: Period = 1.7
    sim_granularity: Positive = 0.025
    angular_sim_granularity: Positive = 0.025
    vx_samples: Annotated[int, Within(2, 10_000)] = 20
    vtheta_samples: Annotated[int, Within(2, 10_000)] = 20
    path_distance_bias: NotNegative = 0.6
    goal_distance_bias: NotNegative = 0.8
    meter_scoring: bool = False
    occdist_scale: NotNegative = 0.2
    occdist_length: Distance = 2.5
    occdist_at: Literal["outline", "centre"] = "centre"
    heading_lookahead: Distance = 0.325
    oscillation_reset_dist: Distance = 0.05
    escape_reset_dist: Distance = 0.1
    escape_reset_theta: NotNegative = math.pi / 2
    dwa: bool = False
    prune_plan: bool = True

    @cached_property
    def declares(self) -> Declaration:
        """The properties of the planner."""
        return Declaration(
            needs=("path", self.window),
            label="faithful",
            tunable=_TUNABLE,
            notes=("reason",),
            concurrent=True,
            top_speed=float(own(self.max_vel_x)),
        )

    def act(self, observation: Observation, memory: Memory) -> Answer:
        """Return the twists (N, 3); the memory, i.e. turns, escape, goal latch and progress along the path; and the reasons why
        robots stop.
        """
        o = observation
        assert o.path is not None and o.path_count is not None and o.costmap is not None
        recall = _copy_memory(memory, len(o.pose))
        twists, reasons = np.zeros((len(o.pose), 3), np.float32), np.full(len(o.pose), Reason.NO_PATH, np.int8)
        if o.path.shape[1] > 0:
            given = (self._parameters(o), scene_of(o, self.window), self.horizon(o))
            plan(*given, recall, self._scratch(o), twists, reasons, 0, len(twists))
        return Answer(twists, recall._asdict(), {"reason": reasons})

    def act_by(self, observation: Observation, memory: Memory, settings: Mapping[str, Floats]) -> Answer:
        """Return the result of `act` with separate settings for each robot instead of this planner's fields, which are upper bounds
        for the settings.

        Costs in the window beyond a robot's inflation radius count as 0. Because costs are whole numbers, the outermost cells whose
        costs count may lie up to a thousandth of a metre beyond the radius.

        Args:
            observation: as for `act`.
            memory: as for `act`.
            settings: arrays (N,) by name: ``max_vel_x``, ``max_vel_theta``, ``vx_samples``, ``vtheta_samples``,
                ``path_distance_bias``, ``goal_distance_bias``, and ``inflation_radius``, which is at most the window's.
        """
        o, s = observation, settings
        assert o.path is not None and o.path_count is not None and o.costmap is not None
        rows, recall = len(o.pose), _copy_memory(memory, len(o.pose))
        twists, reasons = np.zeros((rows, 3), np.float32), np.full(rows, Reason.NO_PATH, np.int8)
        if o.path.shape[1] > 0:
            inscribed = inscribed_radius(self.window.corners(o.footprint, o.radius))
            least = np.floor(252.0 * np.exp(self.window.cost_scaling * np.minimum(inscribed - s["inflation_radius"], 0.0)))
            cost = np.where(o.costmap.cost < least[:, None, None], np.uint8(FREE), o.costmap.cost)
            scene = scene_of(dataclasses.replace(o, costmap=dataclasses.replace(o.costmap, cost=cost)), self.window)
            speed = np.minimum(o.limits.max_vx, s["max_vel_x"]).astype(np.float32)
            longest = horizon(self.sim_time, speed, self.window, self.heading_lookahead)
            shared, scratch, cell = self._parameters(o), self._scratch(o), o.costmap.resolution if self.meter_scoring else 1.0
            for n in range(rows):
                own_ones = shared._replace(
                    vx_samples=int(s["vx_samples"][n]),
                    vtheta_samples=int(s["vtheta_samples"][n]),
                    max_vel_x=np.float32(s["max_vel_x"][n]),
                    max_vel_theta=np.float32(s["max_vel_theta"][n]),
                    path_scale=np.float32(cell * s["path_distance_bias"][n]),
                    goal_scale=np.float32(cell * s["goal_distance_bias"][n]),
                )
                plan(own_ones, scene, longest, recall, scratch, twists, reasons, n, n + 1)
        return Answer(twists, recall._asdict(), {"reason": reasons})

    def horizon(self, o: Observation) -> Floats:
        """Return the roll-out duration for each robot (N,), s."""
        speed = np.minimum(o.limits.max_vx, own(self.max_vel_x))
        return horizon(self.sim_time, speed, self.window, self.heading_lookahead)

    def _parameters(self, o: Observation) -> Any:
        """Return the kernel's parameters."""
        assert o.costmap is not None
        cell = o.costmap.resolution if self.meter_scoring else 1.0
        return Parameters.of(
            self,
            period=o.dt,
            path_scale=cell * self.path_distance_bias,
            goal_scale=cell * self.goal_distance_bias,
            centre=self.occdist_at == "centre",
            y_vels=np.array(self.y_vels, np.float32),
            min_vel_theta=self.min_in_place_vel_theta,
            trans_stopped_vel=0.01,
            theta_stopped_vel=0.01,
        )

    def _scratch(self, o: Observation) -> Scratch:
        """Return the working memory of this thread, kept for the next call."""
        assert o.costmap is not None
        rows, columns = o.costmap.cost.shape[1:]
        cells = (rows + 2) * (columns + 2)
        limits = ((o.limits.max_vx, self.max_vel_x), (o.limits.max_omega, self.max_vel_theta))
        speed, turn = (float(min(np.max(most), own(its))) for most, its in limits)
        fastest = max(speed, -self.escape_vel, *(abs(v) for v in self.y_vels), math.hypot(ASIDE, ASIDE))
        poses = 2 + math.ceil(max(fastest * self.sim_time / self.sim_granularity, turn / self.angular_sim_granularity))
        count = self.vx_samples * self.vtheta_samples + 2
        key = (cells, rows, count, poses)
        if getattr(_LOCAL, "key", None) != key:
            path, goal, queue = (np.empty(cells, np.int32) for _ in range(3))
            west, east = np.empty(rows, np.int32), np.empty(rows, np.int32)
            samples, scores = np.empty((count, 3), np.float32), np.empty(count, np.float32)
            _LOCAL.scratch = Scratch(path, goal, queue, west, east, samples, scores, np.empty((poses, 4), np.float32))
            _LOCAL.key = key
        scratch: Scratch = _LOCAL.scratch
        return scratch


Parameters = kernel_record(
    "Parameters",
    TrajectoryRollout,
    limits=("max_vel_x", "max_vel_theta", "acc_lim_x", "acc_lim_y", "acc_lim_theta"),
    computed=("period", "path_scale", "goal_scale", "min_vel_theta", "trans_stopped_vel", "theta_stopped_vel"),
    others=("centre", "y_vels"),
)
"""The limits are the planner's alone. The last three computed values are read by `stop_and_turn`."""


def _copy_memory(memory: Memory, count: int) -> Recall:
    """Return a copy of the memory; zeros at the start of an episode."""
    if memory:
        return Recall(*(memory[name].copy() for name in Recall._fields))
    return Recall(
        np.zeros((count, 2), np.bool_),
        np.zeros((count, 2), np.bool_),
        np.zeros((count, 2), np.bool_),
        np.zeros((count, 2), np.bool_),
        np.zeros((count, 2), np.float32),
        np.zeros(count, np.bool_),
        np.zeros((count, 3), np.float32),
        np.zeros((count, 2), np.bool_),
        np.zeros((count, 3), np.float32),
        np.zeros((count, 2), np.int32),
    )
