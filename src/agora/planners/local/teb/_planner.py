"""The timed elastic band as a local planner.

Rösmann, Feiten, Wösch, Hoffmann, Bertram, "Trajectory modification considering dynamic constraints of autonomous robots", ROBOTIK
2012, and Rösmann, Hoffmann, Bertram, "Integrated online trajectory planning and optimization in distinctive topologies", RAS 88,
2017; the residuals, weights and default values are taken from the teb_local_planner package (melodic-devel b68c328), whose
parameter names are kept. Limits are soft, as in the package: a band may exceed the limits, but a command may not.

Differences from the source:
- Pedestrians and other robots are discs, not cells of the costmap. Discs that stand still are static obstacles; the other discs
  move as predicted, by default at constant velocity. Edges of lethal or unknown areas in the costmap are represented by points 0.15
  m apart.
- If an obstacle covers the end of the local path, the path ends before the obstacle. After an infeasible band, the horizon is
  halved; after ten infeasible bands in a row, it is halved again (upstream intends this, but its condition is hardly ever met).
- The feasibility check of the first poses includes people and robots, up to the robot's stopping time. No disc may penetrate the
  robot more deeply than it already does, so that a robot in contact with a person can move away. A robot in contact with a wall
  stops.
- The margin to a limit is at most half of the limit, and a robot that cannot drive in reverse has no margin on its reverse speed.
- Limits that are not set default to the robot's own. For a robot faster than 1 m/s, the poses are closer together in time, so that
  they are 0.3 m apart at full speed; the package's 0.3 s gives 0.6 m at 2 m/s, which is too coarse for a door. For a robot slower
  than 0.4 m/s, the poses are farther apart in time, so that they are 0.12 m apart at full speed, as in the package at its own 0.4
  m/s. If poses are closer together, they are pushed back one by one in front of a narrow place, and the robot never enters it. The
  package's own limits and times are in the `teb_ros` preset.
- For a robot that cannot drive in reverse, the weight on driving forward is 100,000; the package recommends 1000. With a lower
  weight, if the robot must turn away from a wall, the band backs away from the wall instead, and the robot stops. Residuals of
  acceleration limits below the package's 0.5 are relative to the limit.
- A robot that can move sideways does so at up to half its forward speed, with a combined speed of at most the forward limit, and
  has the weight 1 on sideways motion, as the package recommends. With equal forward and sideways speeds, some robots get stuck in
  front of a lane that is as wide as twice ``min_obstacle_dist``.
- Inside a polygon, the distance to its edge is negative. `agora.planners._bands.discs` describes how path points that are left
  without a pose are treated.
- If a robot with an inscribed radius of more than 0.35 m is represented by a point, the point is enlarged to a disc, so that
  ``min_obstacle_dist`` leaves 0.15 m next to the body. Otherwise, bands for a robot of 0.62 m lead through people.
- Between walls that are closer together than twice ``min_obstacle_dist``, the desired distance is half the width of the lane
  (``min_lane_dist``). With the package's distance, the poses of the band are pushed out of the lane, back to the entrance, and the
  robot does not enter the lane.
- A band has at most 100 poses (``max_samples``; upstream: 500).
- Roadmap points are not random, and at most 200 paths in the roadmap are examined; `_homotopy` defines the classes of bands.
- The solver stops when the expected gain is less than 1e-5 of the cost.

Narrow places: by default a robot is represented by a point, so the bands of long robots come too close to walls for the robot to
turn there. A loaded pallet truck rarely turns round in a lane of 2.0 m; with a polygon, 0.2 m for ``min_obstacle_dist`` and 0.3 m
for ``inflation_dist``, it does so in 7 of 9 starts. With the package's times, `jackal`, at 2 m/s, touches the jamb of a door of 0.9
m in one of 12 starts, and does not get through the door in another.

Not implemented: slowing down near obstacles, exact arc lengths, several bands in one class, random removal of bands, durations as
costs, obstacles other than points and discs, a separate weight for path points in the choice between bands.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any, Literal

import numpy as np

from agora.core.kernel_record import kernel_record
from agora.core.recording import Reason
from agora.costmap.window import Window
from agora.errors import InputError
from agora.interfaces import Answer, Declaration, Memory, Observation, Span
from agora.planners._bands.costs import TebWeights
from agora.planners._bands.discs import MOMENT, MOMENTS
from agora.planners._bands.shape import KINDS
from agora.planners._expected import discs, needs_of
from agora.planners._limits import own
from agora.planners.local.teb.plan import plan
from agora.planners.local.teb.scene import DT_REF, copy_memory, scene_of, scratch_of
from agora.ranges import (
    Checked,
    Count,
    Deviation,
    Distance,
    Duration,
    Length,
    NotNegative,
    Number,
    Period,
    Positive,
    Speed,
    TopSpeed,
    Within,
)
from agora.registry import Named, Plug

_ARCS = 1000.0
_WEIGHTS = tuple(f"weight_{name}" for name in TebWeights._fields[:-4])


_TUNABLE: dict[str, Span] = {
    "max_vel_x": Span(0.2, 2.0),
    "max_vel_x_backwards": Span(0.05, 0.5),
    "max_vel_theta": Span(0.2, 3.0),
    "max_global_plan_lookahead_dist": Span(1.0, 4.0),
    "min_obstacle_dist": Span(0.2, 0.8),
    "inflation_dist": Span(0.2, 1.2),
    "dynamic_obstacle_inflation_dist": Span(0.2, 1.2),
    "weight_obstacle": Span(5.0, 500.0, log=True),
    "weight_dynamic_obstacle": Span(5.0, 500.0, log=True),
    "weight_inflation": Span(0.01, 10.0, log=True),
    "weight_kinematics_forward_drive": Span(0.1, 1000.0, log=True),
    "weight_optimaltime": Span(0.1, 10.0, log=True),
}


@dataclass(frozen=True)
class Teb(Checked):
    """Optimises the poses of a band and the times between them for minimum time, within limits and away from obstacles.

    The planner drives the first step of the band. The limits apply in addition to the robot's own; None means that only the robot's
    limit applies. The outline of the window's footprint must not touch a lethal or unknown cell.

    Attributes:
        window: local costmap; pedestrians and robots are represented by discs and need not be in the costmap.
        prediction: predictor of the pedestrians' paths, by name; other robots are assumed to keep their velocity.
        footprint_model: shape used to measure distances to obstacles: the robot's centre ("point"), the circumscribed disc
            ("circular"), the outline of the window's footprint ("polygon"), a line along its middle ("line"), or discs as wide as
            the robot at both ends of that line ("two_circles").
        max_vel_x: maximum forward speed, m/s.
        max_vel_x_backwards: maximum backward speed, m/s, positive; because the robot backs up blindly, this is a choice of the user
            and does not default to the robot's limit.
        max_vel_y: maximum sideways speed, m/s; None for half of the forward speed. With 0, a robot drives as if it could not move
            sideways.
        max_vel_theta: maximum turning rate, rad/s.
        acc_lim_x: acceleration limit, m/s2.
        acc_lim_y: sideways acceleration limit, m/s2.
        acc_lim_theta: angular acceleration limit, rad/s2.
        min_turning_radius: turning radius of car-like robots, m; 0 for robots that turn in place.
        dt_ref: time between poses, s; None for 0.3 s, but less if a robot covers more than 0.3 m in that time (forwards and
            sideways combined), and more, up to 1 s, if it covers less than 0.12 m. A step shorter than 0.3 s has the same time
            weight as a step of 0.3 s, so that a finer band is driven with the same urgency.
        dt_hysteresis: allowed deviation from ``dt_ref``, s; None for a third of ``dt_ref``.
        min_samples: minimum number of steps of a band.
        max_samples: maximum number of poses of a band.
        max_global_plan_lookahead_dist: length of the path to plan for, m; the window also limits it.
        global_plan_viapoint_sep: distance between the path points that attract the band, m; 0 or less to disable them.
        via_points_ordered: whether the band must pass these points in order.
        force_reinit_new_goal_dist: jump of the local goal above which the band is reset, m.
        force_reinit_new_goal_angular: rotation of the local goal above which the band is reset, rad.
        feasibility_check_no_poses: number of poses that are checked for collisions; -1 for all, None for the poses of the first 1.5
            s, which corresponds to the package's 5.
        feasibility_check_lookahead_distance: distance beyond which poses are not checked, m; -1 for no limit.
        xy_goal_tolerance: distance to the goal within which the robot stops, m.
        yaw_goal_tolerance: deviation from the goal's heading within which the robot stops, rad.
        free_goal_vel: whether the band may end at any speed instead of at rest.
        min_obstacle_dist: desired distance to obstacles, m.
        min_body_dist: minimum distance, m, between obstacles and the largest disc inside a robot represented by a point; None for
            the package's behaviour, which ignores the size of such a robot.
        min_lane_dist: minimum desired distance between the body and the walls of a lane, m. Between walls that are closer together
            than twice ``min_obstacle_dist``, the desired distance is half the width of the lane. None for the package's behaviour,
            which uses ``min_obstacle_dist`` in lanes, too.
        inflation_dist: distance within which static obstacles have a small cost, m.
        dynamic_obstacle_inflation_dist: distance within which moving obstacles have a small cost, m.
        include_dynamic_obstacles: whether moving discs are predicted to keep moving; otherwise they are treated as static.
        costmap_obstacles_behind_robot_dist: distance behind the robot beyond which obstacles are ignored, m.
        obstacle_association_force_inclusion_factor: distance within which all obstacles are considered, as a multiple of
            ``min_obstacle_dist``.
        obstacle_association_cutoff_factor: distance within which the nearest obstacle on each side is considered, as a multiple of
            ``min_obstacle_dist``.
        no_inner_iterations: number of inner iterations of the solver.
        no_outer_iterations: number of outer iterations of the solver; the band is resized before each outer iteration.
        penalty_epsilon: margin to the limits, in the unit of each limit.
        weight_max_vel_x: weight of the squared residual of the speed limit.
        weight_max_vel_y: weight of the squared residual of the sideways speed limit.
        weight_max_vel_theta: weight of the squared residual of the turning-rate limit.
        weight_acc_lim_x: weight of the squared residual of the acceleration limit.
        weight_acc_lim_y: weight of the squared residual of the sideways acceleration limit.
        weight_acc_lim_theta: weight of the squared residual of the angular acceleration limit.
        weight_kinematics_nh: weight of the squared residual of sideways motion; None for 1000, or 1 for a holonomic robot.
        weight_kinematics_forward_drive: weight of the squared residual of driving in reverse.
        weight_kinematics_turning_radius: weight of the squared residual of the minimum turning radius.
        weight_optimaltime: weight of the squared time between two poses.
        weight_shortest_path: weight of the squared distance between two poses.
        weight_viapoint: weight of the squared distance between the band and the path points that attract it.
        weight_obstacle: weight of the squared residual of the desired distance to static obstacles.
        weight_inflation: weight of the squared residual of ``inflation_dist``.
        weight_dynamic_obstacle: weight of the squared residual of the desired distance to moving obstacles.
        weight_dynamic_obstacle_inflation: weight of the squared residual of ``dynamic_obstacle_inflation_dist``.
        weight_prefer_rotdir: weight of the squared residual of the preferred turning direction.
        weight_adapt_factor: factor by which ``weight_obstacle`` is multiplied after every outer iteration.
        shrink_horizon_backup: whether to halve the horizon after an infeasible band, and to quarter it after ten failures.
        shrink_horizon_min_duration: time for which the horizon stays reduced, s.
        oscillation_recovery: whether to prefer one turning direction when the robot oscillates.
        oscillation_v_eps: mean speed below which the robot may count as oscillating, as a fraction of the maximum speed.
        oscillation_omega_eps: mean turning rate below which the robot may count as oscillating, as a fraction of the maximum
            turning rate.
        oscillation_filter_duration: time over which these means are taken, s.
        oscillation_recovery_min_duration: time for which one direction is preferred, s.
        max_number_classes: maximum number of homotopy classes that are planned in parallel; with 1, only the path's own class is
            planned, and the parameters below have no effect.
        selection_cost_hysteresis: factor applied to the cost of the band being driven when bands are compared.
        selection_prefer_initial_plan: factor applied to the cost of the band in the path's class when bands are compared.
        selection_obst_cost_scale: factor applied to the obstacle part of all costs when bands are compared.
        switching_blocking_period: time after a change of class during which the class may not change again, s.
        roadmap_graph_no_samples: number of points used to search for new classes in every period.
        roadmap_graph_area_width: width of the area that contains these points, m.
        roadmap_graph_area_length_scale: length of that area, as a multiple of the distance to the local goal.
        h_signature: how classes are defined: by the side on which each obstacle is passed ("sides"), or by the sum of a product
            over all obstacles ("product").
        h_signature_prescaler: factor applied to these products.
        h_signature_threshold: with "sides", angle, in turns, below which a band's sweep around an obstacle is ignored; with
            "product", maximum difference between the products within one class.
        obstacle_heading_threshold: minimum cosine of the angle between an edge of the roadmap and the direction to the local goal.
        delete_detours_backwards: whether to drop bands that start in a different direction from the band being driven, or take much
            longer.
        detours_orientation_tolerance: angle above which two directions count as different, rad.
        length_start_orientation_vector: distance from the start at which the direction is measured, m.
        max_ratio_detours_duration_best_duration: ratio between the durations of a band and of the band being driven above which the
            former counts as taking much longer.
    """

    window: Window = field(default_factory=lambda: Window(sources=("map",)))
    prediction: Annotated[Named, Plug("predictors")] = field(default_factory=lambda: Named.of("predictors", "constant_velocity"))
    footprint_model: Literal["point", "circular", "two_circles", "line", "polygon"] = "point"
    max_vel_x: TopSpeed | None = None
    max_vel_x_backwards: Speed = 0.2
    max_vel_y: Speed | None = None
    max_vel_theta: Positive | None = None
    acc_lim_x: Positive | None = None
    acc_lim_y: Positive | None = None
    acc_lim_theta: Positive | None = None
    min_turning_radius: Distance = 0.0
    dt_ref: Period | None = None
    dt_hysteresis: NotNegative | None = None
    min_samples: Annotated[int, Within(3, 10_000)] = 3
    max_samples: Count = 100
    max_global_plan_lookahead_dist: Length = 3.0
    global_plan_viapoint_sep: Annotated[float, Within(-1.0, 10_000.0)] = -1.0
    via_points_ordered: bool = False
    force_reinit_new_goal_dist: Distance = 1.0
    force_reinit_new_goal_angular: NotNegative = 0.5 * math.pi
    feasibility_check_no_poses: Annotated[int, Within(-1, 10_000)] | None = None
    feasibility_check_lookahead_distance: Annotated[float, Within(-1.0, 10_000.0)] = -1.0
    xy_goal_tolerance: Distance = 0.2
    yaw_goal_tolerance: Deviation = 0.2
    free_goal_vel: bool = False
    min_obstacle_dist: Distance = 0.5
    min_body_dist: Distance | None = 0.15
    min_lane_dist: Distance | None = 0.0
    inflation_dist: Distance = 0.6
    dynamic_obstacle_inflation_dist: Distance = 0.6
    include_dynamic_obstacles: bool = True
    costmap_obstacles_behind_robot_dist: Distance = 1.5
    obstacle_association_force_inclusion_factor: NotNegative = 1.5
    obstacle_association_cutoff_factor: NotNegative = 5.0
    no_inner_iterations: Count = 5
    no_outer_iterations: Count = 4
    penalty_epsilon: NotNegative = 0.05
    weight_max_vel_x: NotNegative = 2.0
    weight_max_vel_y: NotNegative = 2.0
    weight_max_vel_theta: NotNegative = 1.0
    weight_acc_lim_x: NotNegative = 1.0
    weight_acc_lim_y: NotNegative = 1.0
    weight_acc_lim_theta: NotNegative = 1.0
    weight_kinematics_nh: NotNegative | None = None
    weight_kinematics_forward_drive: NotNegative = 1.0
    weight_kinematics_turning_radius: NotNegative = 1.0
    weight_optimaltime: Positive = 1.0
    weight_shortest_path: NotNegative = 0.0
    weight_viapoint: NotNegative = 1.0
    weight_obstacle: NotNegative = 50.0
    weight_inflation: NotNegative = 0.1
    weight_dynamic_obstacle: NotNegative = 50.0
    weight_dynamic_obstacle_inflation: NotNegative = 0.1
    weight_prefer_rotdir: NotNegative = 50.0
    weight_adapt_factor: Positive = 2.0
    shrink_horizon_backup: bool = True
    shrink_horizon_min_duration: Duration = 10.0
    oscillation_recovery: bool = True
    oscillation_v_eps: Speed = 0.1
    oscillation_omega_eps: NotNegative = 0.1
    oscillation_filter_duration: Duration = 10.0
    oscillation_recovery_min_duration: Duration = 10.0
    max_number_classes: Annotated[int, Within(1, 32)] = 5
    selection_cost_hysteresis: NotNegative = 1.0
    selection_prefer_initial_plan: NotNegative = 0.95
    selection_obst_cost_scale: NotNegative = 100.0
    switching_blocking_period: Duration = 0.0
    roadmap_graph_no_samples: Number = 15
    roadmap_graph_area_width: NotNegative = 6.0
    roadmap_graph_area_length_scale: NotNegative = 1.0
    h_signature: Literal["sides", "product"] = "sides"
    h_signature_prescaler: Positive = 1.0
    h_signature_threshold: NotNegative = 0.1
    obstacle_heading_threshold: NotNegative = 0.45
    delete_detours_backwards: bool = True
    detours_orientation_tolerance: NotNegative = 0.5 * math.pi
    length_start_orientation_vector: NotNegative = 0.4
    max_ratio_detours_duration_best_duration: NotNegative = 3.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.dt_hysteresis is not None and not self.dt_hysteresis < (self.dt_ref or DT_REF):
            raise InputError(f"dt_hysteresis: must be less than dt_ref, {self.dt_ref or DT_REF}, is {self.dt_hysteresis}")
        if self.roadmap_graph_no_samples + 2 > self.max_samples:
            raise InputError(f"roadmap_graph_no_samples: must be at most max_samples - 2, is {self.roadmap_graph_no_samples}")
        if not self.min_samples < self.max_samples:
            raise InputError(f"min_samples: must be less than max_samples, {self.max_samples}, is {self.min_samples}")

    @cached_property
    def declares(self) -> Declaration:
        """The properties of the planner."""
        return Declaration(
            needs=needs_of(self.prediction.part, ("path", self.window, "pedestrians", "robots")),
            label="faithful",
            tunable=_TUNABLE,
            notes=("reason",),
            concurrent=True,
            turns_at_goal=True,
            top_speed=float(own(self.max_vel_x)),
        )

    def act(self, observation: Observation, memory: Memory) -> Answer:
        """Return the twists (N, 3); the memory, i.e. bands, progress along the path, failures and last commands; and the reasons
        why robots stop.
        """
        o = observation
        assert o.path is not None and o.path_count is not None and o.costmap is not None
        recall = copy_memory(self, memory, len(o.pose), o.dt)
        about, foretold = discs(self.prediction.part, o, MOMENTS, float(MOMENT), memory.get("prediction", {}))
        twists, reasons = np.zeros((len(o.pose), 3), np.float32), np.full(len(o.pose), Reason.NO_PATH, np.int8)
        if o.path.shape[1] > 0:
            plan(self.parameters(o.dt), scene_of(self, o, about), recall, scratch_of(self, o), twists, reasons, 0, len(twists))
        return Answer(twists, recall._asdict() | {"prediction": foretold}, {"reason": reasons})

    def parameters(self, dt: float) -> Any:
        """Return the kernel's parameters; times are given in control periods."""
        return Parameters.of(
            self,
            shape=KINDS[self.footprint_model],
            via_separation=self.global_plan_viapoint_sep if self.weight_viapoint > 0 else 0.0,
            force=self.min_obstacle_dist * self.obstacle_association_force_inclusion_factor,
            cutoff=self.min_obstacle_dist * self.obstacle_association_cutoff_factor,
            shrink_periods=round(self.shrink_horizon_min_duration / dt),
            oscillation_periods=max(round(self.oscillation_recovery_min_duration / dt), 1),
            switching_periods=math.floor(self.switching_blocking_period / dt + 1e-6),
            signature_prescaler=self.h_signature_prescaler if self.h_signature == "product" else 0.0,
        )

    @property
    def weights(self) -> TebWeights:
        """Weights of the residuals, and the related thresholds, for a robot that cannot move sideways."""
        named = ("penalty_epsilon", "min_obstacle_dist", "inflation_dist", "dynamic_obstacle_inflation_dist")
        given = dataclasses.replace(self, weight_kinematics_nh=_ARCS) if self.weight_kinematics_nh is None else self
        return TebWeights(*(np.float32(getattr(given, name)) for name in (*_WEIGHTS, *named)))


Parameters = kernel_record(
    "Parameters",
    Teb,
    limits=("max_vel_x", "max_vel_y", "max_vel_theta", "acc_lim_x", "acc_lim_y", "acc_lim_theta"),
    computed=("via_separation", "force", "cutoff", "signature_prescaler"),
    others=("shape", "shrink_periods", "oscillation_periods", "switching_periods"),
    without=_WEIGHTS,
)
"""The limits are the planner's alone. ``force`` and ``cutoff`` are distances of obstacles, m."""
