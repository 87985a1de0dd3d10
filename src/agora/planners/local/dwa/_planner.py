"""The dynamic window approach as ROS implements it.

Fox, Burgard, Thrun, "The dynamic window approach to collision avoidance", IEEE RAM 4(1), 1997; the samples, critics, scales and
default values are taken from the dwa_local_planner package (ROS navigation, noetic-devel 9ad6441), whose parameter names are kept.

Differences from the source:
- If the local goal is inside an obstacle, for example because a pedestrian stands on the path's last cell, the goal is moved back
  to the last free cell of the local path; upstream discards every sample in this case. If all cells of the path are blocked, the
  robot stops, as in upstream.
- The part of the path more than 1 m behind the robot is cut off (``prune_plan``, off by default in upstream). The planner remembers
  its progress, so that a path that passes the same place twice is followed in order. Paths are resampled to the cell size, so that
  sparse paths also work.
- The change of heading that clears the oscillation flags is wrapped to (-pi, pi]. For the nose, an obstacle that no wave reaches
  costs as much as any other obstacle. The path and goal critics discard samples even if their scale is 0.
- The samples of a car-like robot respect its turning radius, and the robot does not turn in place at the goal. If the path
  continues behind such a robot, the samples follow its tightest curve to that side, and the robot also turns to that side when it
  backs up. With the usual samples, it would drive straight on, because a short roll-out to either side does not bring it closer to
  the path.
- Limits that are not set default to the robot's own; the package's limits are in the `dwa_ros` preset. Roll-outs end where the
  fastest roll-out would leave the window. There is one speed sample per 0.1 m/s instead of three samples in total: with only three,
  a robot with high acceleration would miss its goal.
- Near the end of the path, the obstacle cost at the end is subtracted from all obstacle costs (``goal_leniency_distance``). In
  upstream, a robot whose goal is near a wall stops for good before it reaches the goal, because a step ahead costs more than it
  gains.
- The obstacle cost is read under the robot's centre. In upstream it is the highest cost under the outline (``occdist_at``). That
  cost is 253 wherever a wall is within the inscribed radius of the outline, so it is nearly the same in the middle of a door as at
  the jamb, and far higher than in front of the door.
- The obstacle cost is scaled by the length of the roll-outs. In upstream, a slow robot, which gains little in each step, pays as
  much as a fast robot. Therefore, the slower a robot is, the farther from a door it stops for good (``occdist_length``).
- A robot that cannot reach its minimum speed or turning rate within one period samples the twists that it can reach in a longer
  time, and its roll-outs accelerate accordingly (``patient_start``). In upstream, the only samples left for such a robot are those
  that turn while driving.
- If no sample is left, the robot backs up a little, provided that the space behind it is free or that backing up takes it away from
  an obstacle. In this way, the robot gets free of walls and door jambs. If people block the only path, it makes room for them and
  waits a metre away (``escape_gap``). In upstream, the robot stops, and move_base then starts its recovery behaviours, which are
  not part of this planner (``escape_vel``).

In all these respects, the presets of the package and of its users behave like upstream.
"""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any, Literal

import numpy as np

from agora.core.kernel_record import kernel_record
from agora.core.recording import Reason
from agora.core.state import Floats
from agora.costmap.window import Window
from agora.interfaces import Answer, Declaration, Memory, Observation, Span
from agora.planners._limits import own
from agora.planners._rollouts.poses import horizon, scene_of
from agora.planners.local.dwa._plan import plan
from agora.planners.local.dwa._rollout import SPACING, Recall, Scratch
from agora.ranges import Checked, Count, Deviation, Distance, NotNegative, Period, Positive, Speed, Velocity, Within

_LOCAL = threading.local()


_TUNABLE: dict[str, Span] = {
    "max_vel_x": Span(0.3, 2.0),
    "max_vel_trans": Span(0.3, 2.0),
    "max_vel_theta": Span(0.5, 3.0),
    "sim_time": Span(0.8, 3.0),
    "path_distance_bias": Span(0.3, 100.0, log=True),
    "goal_distance_bias": Span(0.3, 100.0, log=True),
    "occdist_scale": Span(1e-4, 1.0, log=True),
    "forward_point_distance": Span(0.0, 0.6),
}


@dataclass(frozen=True)
class Dwa(Checked):
    """Samples twists that can be reached within one period, rolls them out, scores them on the local costmap, and drives the best
    twist.

    The limits apply in addition to the robot's own; None means that only the robot's limit applies. The outline of the window's
    footprint must not touch a lethal or unknown cell.

    Attributes:
        window: local costmap.
        max_vel_x: maximum forward speed, m/s.
        min_vel_x: minimum speed along x, m/s; the robot drives in reverse only if this is negative.
        max_vel_y: maximum sideways speed, m/s; only for robots that can move sideways.
        max_vel_trans: maximum translational speed, m/s; never more than the robot's maximum along an axis.
        min_vel_trans: translational speed below which samples that also turn slower than ``min_vel_theta`` are not driven, m/s.
        max_vel_theta: maximum turning rate, rad/s.
        min_vel_theta: turning rate below which samples that are also slower than ``min_vel_trans`` are not driven, rad/s.
        acc_lim_x: acceleration limit along x, m/s2.
        acc_lim_y: acceleration limit along y, m/s2.
        acc_lim_theta: angular acceleration limit, rad/s2.
        sim_time: duration of the roll-outs, s; shorter if the fastest one would leave the window.
        sim_granularity: maximum distance between two poses of a roll-out, m.
        angular_sim_granularity: maximum angle between two poses of a roll-out, rad.
        vx_samples: number of speed samples along x, None for one per 0.1 m/s; 0 is added if it lies between two samples.
        vy_samples: number of speed samples along y; 0 is added in the same way.
        vth_samples: number of turning-rate samples; 0 is added in the same way.
        use_dwa: whether roll-outs have constant twists; otherwise the robot accelerates to the sampled twist over the whole
            roll-out.
        patient_start: whether samples are the twists reachable within the time that the robot needs to reach ``min_vel_trans`` and
            ``min_vel_theta``, if that is longer than a period; this time is at most the duration of the roll-out. False is the
            upstream behaviour.
        path_distance_bias: scale of the distance to the path, 1/m.
        goal_distance_bias: scale of the distance to the goal, 1/m.
        occdist_scale: scale of the maximum costmap cost along the roll-out (see ``occdist_at``).
        occdist_length: roll-out length for which ``occdist_scale`` applies as given, m; the scale grows in proportion to the length
            of the fastest roll-out. 0 for the same scale at every speed, as in upstream.
        occdist_at: where the cost is read: under the robot's "outline" and centre, as in upstream, or under its "centre" alone. The
            outline must be free in both cases.
        twirling_scale: scale of the absolute value of omega.
        forward_point_distance: distance of the nose ahead of the robot's centre, m; the nose is also attracted to the path and the
            goal.
        oscillation_reset_dist: distance that the robot must move before a forbidden direction is allowed again, m.
        oscillation_reset_angle: angle that the robot must turn before a forbidden direction is allowed again, rad.
        scaling_speed: speed above which the footprint grows, m/s.
        max_scaling_factor: fraction by which the footprint grows at top speed.
        goal_leniency_distance: distance from the end of the path within which the obstacle cost at the end is subtracted from all
            obstacle costs, m; 0 is the upstream behaviour.
        escape_vel: velocity for backing up if no sample is left, m/s, not positive; 0 to stop instead, as in upstream.
        escape_reset_dist: distance to back up, as long as the space behind is free, m.
        escape_gap: distance to an obstacle ahead, m, within which the robot backs up if no path leads to the local goal; if the
            obstacle is farther away, the robot waits.
        xy_goal_tolerance: distance to the goal within which the robot brakes and then turns in place until the path changes, m.
        yaw_goal_tolerance: accepted deviation from the goal's heading, rad.
        trans_stopped_vel: speed below which the robot counts as stopped, m/s.
        theta_stopped_vel: turning rate below which the robot counts as stopped, rad/s.
        prune_plan: whether to cut off the part of the path behind the robot.
    """

    window: Window = field(default_factory=Window)
    max_vel_x: Speed | None = None
    min_vel_x: Velocity = 0.0
    max_vel_y: Speed | None = None
    max_vel_trans: Speed | None = None
    min_vel_trans: Speed = 0.1
    max_vel_theta: NotNegative | None = None
    min_vel_theta: NotNegative = 0.4
    acc_lim_x: Positive | None = None
    acc_lim_y: Positive | None = None
    acc_lim_theta: Positive | None = None
    sim_time: Period = 1.7
    sim_granularity: Positive = 0.025
    angular_sim_granularity: Positive = 0.1
    vx_samples: Count | None = None
    vy_samples: Count = 10
    vth_samples: Count = 20
    use_dwa: bool = True
    patient_start: bool = True
    path_distance_bias: NotNegative = 0.6
    goal_distance_bias: NotNegative = 0.8
    occdist_scale: NotNegative = 0.02
    occdist_length: Distance = 2.5
    occdist_at: Literal["outline", "centre"] = "centre"
    twirling_scale: NotNegative = 0.0
    forward_point_distance: Distance = 0.325
    oscillation_reset_dist: Distance = 0.05
    oscillation_reset_angle: NotNegative = 0.2
    scaling_speed: Speed = 0.25
    max_scaling_factor: NotNegative = 0.2
    goal_leniency_distance: Distance = 1.0
    escape_vel: Annotated[float, Within(-100.0, 0.0)] = -0.1
    escape_reset_dist: Distance = 0.1
    escape_gap: Distance = 1.0
    xy_goal_tolerance: Distance = 0.1
    yaw_goal_tolerance: Deviation = 0.1
    trans_stopped_vel: Speed = 0.1
    theta_stopped_vel: NotNegative = 0.1
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
            top_speed=float(min(own(self.max_vel_x), own(self.max_vel_trans))),
        )

    def act(self, observation: Observation, memory: Memory) -> Answer:
        """Return the twists (N, 3); the memory, i.e. oscillation flags, goal latch and progress along the path; and the reasons why
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

    def horizon(self, o: Observation) -> Floats:
        """Return the roll-out duration for each robot (N,), s."""
        sideways = np.where(o.limits.holonomic, np.minimum(o.limits.max_vy, own(self.max_vel_y)), np.float32(0.0))
        forward = np.minimum(o.limits.max_vx, own(self.max_vel_x))
        speed = np.minimum(np.maximum(forward, sideways), own(self.max_vel_trans))
        return horizon(self.sim_time, speed, self.window, self.forward_point_distance)

    def _parameters(self, o: Observation) -> Any:
        """Return the kernel's parameters. Grid distances are measured in cells, so scales per metre are multiplied by the
        resolution.
        """
        assert o.costmap is not None
        cell = o.costmap.resolution
        return Parameters.of(
            self,
            period=o.dt,
            vx_samples=self.vx_samples or 0,
            path_scale=cell * self.path_distance_bias,
            goal_scale=cell * self.goal_distance_bias,
            centre=self.occdist_at == "centre",
        )

    def _scratch(self, o: Observation) -> Scratch:
        """Return the working memory of this thread, kept for the next call."""
        assert o.costmap is not None
        rows, columns = o.costmap.cost.shape[1:]
        cells = (rows + 2) * (columns + 2)
        speed = min(float(own(self.max_vel_trans)), float(np.hypot(np.max(o.limits.max_vx), np.max(o.limits.max_vy))))
        turn = min(float(own(self.max_vel_theta)), float(np.max(o.limits.max_omega)))
        poses = 8 + math.ceil(self.sim_time * max(speed / self.sim_granularity, turn / self.angular_sim_granularity))
        width = float(np.max(o.limits.max_vx) - np.min(o.limits.min_vx))
        forward = self.vx_samples or 2 + math.ceil(width / SPACING)
        counts = [1 + max(count, 2) for count in (forward, self.vy_samples, self.vth_samples)]
        key = (cells, *counts, poses)
        if getattr(_LOCAL, "key", None) != key:
            path, goal, nose, queue = (np.empty(cells, np.int32) for _ in range(4))
            samples, scores = np.empty((3, max(counts)), np.float32), np.empty(math.prod(counts), np.float32)
            _LOCAL.scratch = Scratch(path, goal, nose, queue, samples, scores, np.empty((poses, 4), np.float32))
            _LOCAL.key = key
        scratch: Scratch = _LOCAL.scratch
        return scratch


Parameters = kernel_record(
    "Parameters",
    Dwa,
    limits=("max_vel_x", "max_vel_y", "max_vel_trans", "max_vel_theta", "acc_lim_x", "acc_lim_y", "acc_lim_theta"),
    computed=("period", "path_scale", "goal_scale"),
    others=("vx_samples", "centre"),
)
"""The limits are the planner's alone. No number of samples along x is 0. Scales are costs per cell."""


def _copy_memory(memory: Memory, count: int) -> Recall:
    """Return a copy of the memory; zeros at the start of an episode."""
    if memory:
        return Recall(*(memory[name].copy() for name in Recall._fields))
    return Recall(
        np.zeros((count, 3, 2), np.int8),
        np.zeros((count, 3), np.float32),
        np.zeros((count, 2), np.bool_),
        np.zeros((count, 3), np.float32),
        np.zeros((count, 2), np.int32),
        np.zeros(count, np.bool_),
        np.zeros((count, 2), np.float32),
    )
