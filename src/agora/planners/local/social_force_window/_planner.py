"""The social force window planner: a window of velocities, scored by social work.

N. Perez-Higueras and others, Service Robotics Lab, Pablo de Olavide University: robotics-upo/social_force_window_planner 0b373dd
(ROS 2), with the forces from the version of robotics-upo/lightsfm of that time (7562599). Names, terms and weights are taken from
the package; the package's values, from ``config/local_planner.yaml``, are in the `social_force_window_upo` preset.

Samples are evenly spaced fractions of the maximum speed and of the maximum turning rate. Each sample is rolled out with the robot's
acceleration. At each step, the robot exerts a social force on each person, and each person on the robot. The social work is the sum
of the magnitudes of these forces and of the force of walls on the robot. A sample's score is the weighted sum of the social work,
the remaining distance to a point on the path, the angle to that point, the difference from the maximum speed, and the costmap's
cost. Within 1.5 m of the goal, a single twist towards it is tried first.

Differences from the source:
- Limits that are not set default to the robot's own, except for the turning rate. There are twice as many speeds and turning rates
  (``n_linvels``, ``n_angvels``); with the original numbers, a robot with a speed of 2 m/s circles in front of a 1 m corridor.
- The point on the path is slightly farther away than the fastest sample gets (``wp_tolerance``). In upstream, the fastest sample
  overshoots the point, and the robot drives at only 0.6 m/s instead of 0.8 m/s. The squared distance is relative to the point's
  distance along the path, which is 1 m in upstream. If a wall hides the point, a nearer point is used; upstream uses the last point
  within that distance, even if it is behind a wall.
- A predictor predicts people's paths. In each sample, the robot's force displaces people from their predicted paths, and the
  displacement decays as in lightsfm. In upstream, each sample simulates all people, who then also avoid each other and the walls,
  and brake after walking on for a second. With the `crowd_rollout` predictor for ``prediction``, people avoid each other.
- The force uses the robot's velocity in the map frame. Upstream uses the velocity in the robot's frame, as if the robot headed
  along x. All forces of a step are computed after the step; in upstream, some forces are computed before the step.
- Contact with people is tested on the predicted path, using both radii, also between steps. Contact costs more than everything
  else, and its cost grows with the robot's speed. A robot in contact may only move away. In upstream, a sample is discarded if its
  centre is within the robot's radius of a person at the end of a step, and if all samples are discarded, the robot stops.
- The force of walls on the inscribed disc is the mean over wall cells of the local costmap within ``max_obstacle_dist``; in
  upstream, the force is computed from the points of the scan (as the mean in lightsfm up to April 2025, and as the sum since then).
- The weights ``sfm_goal_weight``, ``sfm_obstacle_weight`` and ``sfm_people_weight`` take effect. Upstream reads these weights but
  does not pass them on, so lightsfm's own values apply; lightsfm's values are the defaults of this planner.
- The costmap's costs are read under the centre, as in upstream for a round robot. The outline must be free at poses that are at
  most 0.1 m apart; above 0.25 m/s, there must be half a cell to spare. A robot that could leave the window within ``sim_time``
  drives more slowly.
- Standing still is one of the samples; in upstream, the robot turns on the spot instead.
- Near the goal, the robot slows down if it must turn towards the goal, and brakes in time to stop at the goal. The library performs
  the turn to the goal heading.
- A car-like robot's samples respect its turning radius. The planner never commands sideways motion, even if the robot could move
  sideways.

Narrow places: as in upstream, the robot never drives in reverse, so `car`, `heavy` and `f1tenth` cannot get away from a wall 0.15 m
ahead, and `heavy` does not turn round in a lane of 2 m.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any

import numpy as np

from agora.core.kernel_record import kernel_record
from agora.core.recording import Reason
from agora.core.state import Floats, freeze
from agora.costmap.walls import key_count
from agora.costmap.window import Window, inscribed_radius
from agora.interfaces import Answer, Declaration, Memory, Observation, Span
from agora.planners._expected import discs, needs_of
from agora.planners._limits import own
from agora.planners._rollouts.poses import scene_of
from agora.planners.local.social_force_window._plan import Scratch, plan
from agora.ranges import Checked, Distance, Length, NotNegative, Positive, Speed, TopSpeed, Within
from agora.registry import Named, Plug

_LOCAL = threading.local()
_WALLS = 128  # number of nearest wall points that are considered
_SPACING = 0.1  # m, distance between the poses at which the outline must be free
_FASTEST = 20.0  # m/s, speed up to which the poses are at most this far apart
_BEYOND = 1.1
_RELAXATION = 0.5  # lightsfm, s

_TUNABLE: dict[str, Span] = {
    "sim_time": Span(0.8, 3.0),
    "max_trans_vel": Span(0.3, 2.0),
    "sfm_people_weight": Span(0.3, 30.0, log=True),
    "sfm_obstacle_weight": Span(0.1, 30.0, log=True),
    "social_weight": Span(0.1, 20.0, log=True),
    "costmap_weight": Span(0.1, 20.0, log=True),
    "velocity_weight": Span(0.1, 10.0, log=True),
    "angle_weight": Span(0.1, 10.0, log=True),
    "distance_weight": Span(0.1, 10.0, log=True),
}


@dataclass(frozen=True)
class SocialForceWindow(Checked):
    """Rolls out a window of velocities among people that give way, and drives the velocity with the lowest cost, which includes
    social work.

    The limits apply in addition to the robot's own; None means that only the robot's limit applies.

    Attributes:
        window: local costmap; people and robots are represented by discs and need not be in the costmap.
        prediction: predictor of the pedestrians' paths; other robots are assumed to keep their velocity and not to give way.
        n_linvels: number of speeds above 0 that are tried.
        n_angvels: number of turning rates to each side that are tried for each speed.
        max_trans_vel: maximum speed, m/s.
        min_trans_vel: minimum speed of the twist that is tried near the goal, m/s.
        max_rot_vel: maximum turning rate, rad/s.
        min_rot_vel: minimum turning rate of the twist that is tried near the goal, rad/s.
        max_trans_acc: acceleration limit along x, m/s2.
        max_rot_acc: angular acceleration limit, rad/s2.
        xy_goal_tolerance: distance to the goal within which the robot stops, m.
        goal_distance: distance to the goal within which the robot first tries a single twist towards the goal, m.
        wp_tolerance: distance along the path to the point to drive to, m; None for 10 % more than the fastest sample drives.
        sim_time: duration of the roll-outs, s.
        sim_granularity: time step of the social forces, s.
        max_obstacle_dist: distance beyond which walls exert no force, m.
        sfm_goal_weight: weight of a person's attraction to the predicted path; the velocity of the person's displacement from this
            path decays at a rate of this weight divided by 0.5 s.
        sfm_obstacle_weight: weight of the force of walls on the robot, m/s2.
        sfm_obstacle_sigma: distance over which the wall's force falls to 1/e, m.
        sfm_people_weight: weight of the social force, m/s2.
        importance: parameter lambda of the social force (`agora.pedestrians.shared.moussaid`).
        gamma: parameter gamma of the social force.
        n: parameter n of the social force.
        n_prime: parameter n' of the social force.
        social_weight: weight of the social work, summed over the steps of a roll-out.
        costmap_weight: weight of the mean costmap cost along the path, where 255 counts as 1.
        velocity_weight: weight of the difference between the maximum speed and the speed at the end of the roll-out, as a fraction
            of the maximum.
        angle_weight: weight of the angle to the path point at the end of the roll-out, where the opposite direction counts as 1.
        distance_weight: weight of the squared distance to the path point at the end of the roll-out, where the point's distance
            along the path counts as 1.
    """

    window: Window = field(default_factory=lambda: Window(sources=("map",)))
    prediction: Annotated[Named, Plug("predictors")] = field(default_factory=lambda: Named.of("predictors", "constant_velocity"))
    n_linvels: Annotated[int, Within(1, 100)] = 8
    n_angvels: Annotated[int, Within(1, 100)] = 8
    max_trans_vel: TopSpeed | None = None
    min_trans_vel: Speed = 0.08
    max_rot_vel: Positive | None = 1.57
    min_rot_vel: Speed = 0.52
    max_trans_acc: Positive | None = None
    max_rot_acc: Positive | None = None
    xy_goal_tolerance: Distance = 0.1
    goal_distance: Length = 1.5
    wp_tolerance: Length | None = None
    sim_time: Annotated[float, Within(0.1, 10.0)] = 1.5
    sim_granularity: Annotated[float, Within(0.02, 10.0)] = 0.25
    max_obstacle_dist: Distance = 3.0
    sfm_goal_weight: NotNegative = 2.0
    sfm_obstacle_weight: NotNegative = 10.0
    sfm_obstacle_sigma: Positive = 0.2
    sfm_people_weight: NotNegative = 2.1
    importance: NotNegative = 2.0
    gamma: Positive = 0.35
    n: NotNegative = 2.0
    n_prime: NotNegative = 3.0
    social_weight: NotNegative = 2.0
    costmap_weight: NotNegative = 2.0
    velocity_weight: NotNegative = 0.8
    angle_weight: NotNegative = 0.6
    distance_weight: NotNegative = 1.0

    @cached_property
    def declares(self) -> Declaration:
        """The properties of the planner."""
        return Declaration(
            needs=needs_of(self.prediction.part, ("path", "pedestrians", "robots", self.window)),
            label="faithful",
            tunable=_TUNABLE,
            notes=("reason",),
            concurrent=True,
            top_speed=float(own(self.max_trans_vel)),
            requires=self.prediction.part.declares.requires,
        )

    def act(self, observation: Observation, memory: Memory) -> Answer:
        """Return the twists (N, 3), the reasons why robots stop, and the predictor's memory."""
        o, rows = observation, len(observation.pose)
        assert o.path is not None and o.path_count is not None and o.costmap is not None
        twists, reasons = np.zeros((rows, 3), np.float32), np.full(rows, Reason.NO_PATH, np.int8)
        steps = max(round(self.sim_time / self.sim_granularity), 1)
        dt = self.sim_time / steps
        seen, foreseen = discs(self.prediction.part, o, steps, dt, memory)
        if o.path.shape[1] > 0:
            known = (freeze(seen.position), freeze(seen.radius), freeze(seen.present), freeze(seen.expected))
            fastest = self._fastest(o)
            span = fastest * np.float32(self.sim_time * _BEYOND) if self.wp_tolerance is None else np.full(rows, self.wp_tolerance)
            fine = np.maximum(np.ceil(np.minimum(fastest, _FASTEST) * (dt / _SPACING)), 1.0).astype(np.int64)
            people = 0 if o.pedestrians is None else o.pedestrians.present.shape[1]
            inner = inscribed_radius(self.window.corners(o.footprint, o.radius))
            reach = (
                freeze(o.radius),
                freeze(inner.astype(np.float32)),
                freeze(fastest),
                freeze(np.maximum(span, _SPACING).astype(np.float32)),
            )
            samples = (self.n_linvels, self.n_angvels, np.float32(dt), freeze(fine))
            scratch = self._scratch(o, steps * int(fine.max()), seen.present.shape[1])
            plan(self._parameters(o), scene_of(o, self.window), *reach, *samples, known, people, scratch, twists, reasons, 0, rows)
        return Answer(twists, foreseen, {"reason": reasons})

    def _fastest(self, o: Observation) -> Floats:
        """Return the maximum speeds (N,) of samples, m/s: the minimum of the robot's limit, the planner's limit, and the speed up
        to which the robot stays in the window.
        """
        corners = self.window.corners(o.footprint, o.radius)
        reach = np.hypot(corners[..., 0], corners[..., 1]).max(1)
        free = np.maximum(0.5 * self.window.size - reach - 2.0 * self.window.resolution, 0.0)
        most: Floats = np.minimum(np.minimum(o.limits.max_vx, own(self.max_trans_vel)), free / self.sim_time).astype(np.float32)
        return most

    def _parameters(self, o: Observation) -> Any:
        """Return the kernel's parameters."""
        damping = self.sfm_goal_weight / _RELAXATION
        return Parameters.of(self, period=o.dt, inverse_sigma=1.0 / self.sfm_obstacle_sigma, damping=damping)

    def _scratch(self, o: Observation, poses: int, slots: int) -> Scratch:
        """Return the working memory of this thread, kept for the next call."""
        assert o.costmap is not None
        samples = (self.n_linvels + 1) * (2 * self.n_angvels + 1)
        key = (samples, poses, max(slots, 1), key_count(max(o.costmap.cost.shape[1:])))
        if getattr(_LOCAL, "key", None) != key:
            lanes = np.empty((14, samples), np.float32)
            walls = (np.empty(key[3], np.int64), np.empty(_WALLS, np.int64), np.empty((_WALLS, 2), np.float32))
            wanted, away = np.empty((2, samples), np.float32), np.empty((key[2], 4, samples), np.float32)
            _LOCAL.scratch = Scratch(wanted, *lanes, np.empty((poses, 4, samples), np.float32), away, *walls)  # type: ignore[call-arg]
            _LOCAL.key = key
        scratch: Scratch = _LOCAL.scratch
        return scratch


Parameters = kernel_record(
    "Parameters",
    SocialForceWindow,
    limits=("max_rot_vel", "max_trans_acc", "max_rot_acc"),
    computed=("period", "inverse_sigma", "damping"),
)
