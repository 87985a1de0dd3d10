"""Model predictive path integral control: averages a thousand roll-outs around the last plan; roll-outs with low costs have high
weights.

G. Williams, N. Wagener, B. Goldfain, P. Drews, J. M. Rehg, B. Boots and E. A. Theodorou, "Information theoretic MPC for model-based
reinforcement learning", ICRA 2017, algorithm 2. The samples are u + eps, and their weights exp(-S / temperature). The new plan is
the weighted mean of the samples, smoothed by a Savitzky-Golay filter; the plan is shifted in time before the next call. Parameters
that also exist in Nav2's MPPI controller have the names and default values used there (std, temperature, gamma, time_steps; Nav2
has 0.05 s per step).

The publication leaves the cost to the user. In this planner, the cost consists of the terms of the dynamic window approach (`dwa`),
averaged over a roll-out: the distances of the centre and of the nose to the path, the distance along the path to the local goal,
the costmap's cost, and the turning rate. A term for the distance to people, whose motion a predictor predicts, is added. Averaging
rewards early arrival, unlike `dwa`, which only rates the last pose.

Differences from the publication and from Nav2:
- `dwa` measures the distance to the local goal in steps along rows and columns. In this planner, that distance is the remaining
  path length from the nearest cell of the path, so that a sidestep around a person does not count as a step back.
- The noise is drawn only once, as in Nav2 by default, and is symmetric: each sample has a mirror image that turns by the same
  amount to the other side. Mirrored scenes therefore give mirrored commands, and no result depends on a random number generator.
- The noise of a sample is correlated in time (B. Vlahov et al., "Low frequency sampling in model predictive path integral control",
  RA-L 2024). With independent noise at every step, a robot whose goal is behind it would never try to turn round.
- Sample 0 is the plan itself. Sample 1 brakes, so that stopping is always one of the choices.
- Samples drive within the robot's limits of speed, acceleration and turning radius. As in the publication, the mean is taken over
  the sampled twists; the mean over the driven twists would never reach the top speed.
- A roll-out whose outline touches a wall has weight 0. If all roll-outs touch a wall, the robot brakes, so a robot inside a wall
  stays there.
- The mean of collision-free paths may touch a wall, and the filter includes past commands. If the robot could not stop before a
  wall after the command, it drives the sample with the lowest cost instead. Coming within one cell of a wall has a cost, like
  Nav2's cost near collisions, because the costmap locates a wall only to within half a cell.
- Contact with people only has a cost, which grows with the robot's speed, because a person that walks into a stationary robot
  should not make the robot freeze. If the robot touches a person, it may only drive away from that person.
- If there are good samples on both sides and few in between, for example in front of a person or with the goal directly behind,
  only the samples on the better side count, because the mean of two paths around an obstacle is not a path around it. (In the
  publication, where the noise differs at every call, chance decides between the sides.)
"""

from __future__ import annotations

import functools
import math
import threading
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any

import numpy as np

from agora.core.kernel_record import kernel_record
from agora.core.recording import Reason
from agora.core.state import Floats, freeze
from agora.costmap.inflation import cost_of
from agora.costmap.window import Window, inscribed_radius
from agora.interfaces import Answer, Declaration, Memory, Observation, Span
from agora.planners._expected import discs, needs_of
from agora.planners._limits import own
from agora.planners._rollouts.poses import scene_of
from agora.planners.local.mppi._rollout import PAST, Recall, Scratch, plan
from agora.ranges import Checked, Duration, Length, NotNegative, Period, Positive, Speed, TopSpeed, Velocity, Within
from agora.registry import Named, Plug
from agora.seeds import Stream

_LOCAL = threading.local()
_TOUCHES = 253.0

_MEANS = (
    *("path_scale", "goal_scale", "heading_scale", "obstacle_scale", "critical_scale"),
    *("people_scale", "contact_scale", "twirling_scale", "backward_scale", "sideways_scale"),
)
"""Scales of means over a roll-out."""


_TUNABLE: dict[str, Span] = {
    "horizon": Span(1.0, 4.0),
    "spread_x": Span(0.05, 1.0, log=True),
    "std_theta": Span(0.1, 2.0, log=True),
    "noise_time": Span(0.1, 3.0, log=True),
    "temperature": Span(0.05, 1.0, log=True),
    "path_scale": Span(0.3, 30.0, log=True),
    "goal_scale": Span(1.0, 50.0, log=True),
    "heading_scale": Span(0.3, 30.0, log=True),
    "obstacle_scale": Span(0.3, 100.0, log=True),
    "people_scale": Span(1.0, 300.0, log=True),
    "people_distance": Span(0.1, 1.5),
}


@dataclass(frozen=True)
class Mppi(Checked):
    """Rolls out many noisy variants of the last plan, and drives their mean, in which variants with low costs have high weights.

    The limits apply in addition to the robot's own; None means that only the robot's limit applies.

    Attributes:
        window: local costmap; people and robots are represented by discs and need not be in the costmap.
        prediction: predictor of the pedestrians' paths; other robots are assumed to keep their velocity.
        samples: number of roll-outs; must be even.
        time_steps: number of steps in a roll-out.
        horizon: duration of the roll-outs, s. Roll-outs must stay inside the window, which limits the speed of robots that could
            leave it in that time. A robot that turns by much less than a right angle in this time never turns round; at an angular
            acceleration of 0.15 rad/s2, it needs 6 s.
        spread_x: standard deviation of the noise of the speed along x, as a fraction of the robot's top speed.
        spread_y: standard deviation of the noise of the speed along y, as a fraction of the robot's top sideways speed.
        std_theta: standard deviation of the noise of the turning rate, rad/s.
        noise_time: correlation time of the noise of a sample, s; 0 for independent noise at every step.
        temperature: cost difference that reduces the weight of a sample by a factor of e.
        gamma: weight of the cost of deviating from the plan.
        path_scale: weight of the mean distances of the centre and of the nose to the path, 1/m.
        goal_scale: weight of the mean distance along the path to the local goal, 1/m; increased for robots slower than 1 m/s.
        heading_scale: weight of the cost of facing backwards along the path, which is 0 for angles to the path up to 90 degrees.
        obstacle_scale: weight of the mean costmap cost under the centre, where 252 counts as 1.
        critical_scale: cost of staying within one cell of contact with a wall during the whole roll-out.
        people_scale: weight of the mean proximity to people, which is 1 at contact and 0 beyond ``people_distance``.
        people_distance: gap to people below which proximity has a cost, m.
        contact_scale: weight of the mean speed while in contact with people, s/m; 1 m/s is added to this speed, so that standing
            still has a cost, too.
        twirling_scale: weight of the mean turning rate, s/rad.
        backward_scale: weight of the mean reverse speed, s/m.
        sideways_scale: weight of the mean sideways speed, s/m; with 0, a robot that moves as fast sideways as forward has no
            preferred heading.
        forward_point_distance: distance of the nose ahead of the robot's centre, m.
        max_vel_x: maximum forward speed, m/s.
        min_vel_x: minimum speed along x, m/s; the robot drives in reverse only if this is negative.
        max_vel_y: maximum sideways speed, m/s; only for robots that can move sideways.
        max_vel_theta: maximum turning rate, rad/s.
        acc_lim_x: acceleration limit along x, m/s2.
        acc_lim_y: acceleration limit along y, m/s2.
        acc_lim_theta: angular acceleration limit, rad/s2.
    """

    window: Window = field(default_factory=lambda: Window(sources=("map",)))
    prediction: Annotated[Named, Plug("predictors")] = field(default_factory=lambda: Named.of("predictors", "constant_velocity"))
    samples: Annotated[int, Within(8, 100_000)] = 1000
    time_steps: Annotated[int, Within(2, 1000)] = 25
    horizon: Period = 2.5
    spread_x: Positive = 0.3
    spread_y: Positive = 0.3
    std_theta: Positive = 0.8
    noise_time: Duration = 1.0
    temperature: Positive = 0.3
    gamma: NotNegative = 0.015
    path_scale: NotNegative = 3.0
    goal_scale: NotNegative = 5.0
    heading_scale: NotNegative = 4.0
    obstacle_scale: NotNegative = 3.0
    critical_scale: NotNegative = 30.0
    people_scale: NotNegative = 20.0
    people_distance: Length = 0.5
    contact_scale: NotNegative = 100.0
    twirling_scale: NotNegative = 0.1
    backward_scale: NotNegative = 1.0
    sideways_scale: NotNegative = 2.0
    forward_point_distance: Length = 0.325
    max_vel_x: TopSpeed | None = None
    min_vel_x: Velocity = 0.0
    max_vel_y: Speed | None = None
    max_vel_theta: Positive | None = None
    acc_lim_x: Positive | None = None
    acc_lim_y: Positive | None = None
    acc_lim_theta: Positive | None = None

    @cached_property
    def declares(self) -> Declaration:
        """The properties of the planner."""
        return Declaration(
            needs=needs_of(self.prediction.part, ("path", "pedestrians", "robots", self.window)),
            label="faithful",
            tunable=_TUNABLE,
            notes=("reason",),
            concurrent=True,
            top_speed=float(own(self.max_vel_x)),
            requires=self.prediction.part.declares.requires,
        )

    def act(self, observation: Observation, memory: Memory) -> Answer:
        """Return the twists (N, 3), the reasons why robots stop, and the memory: the plan, past commands, progress along the path,
        and the predictor's memory.
        """
        o, rows = observation, len(observation.pose)
        assert o.path is not None and o.path_count is not None and o.costmap is not None
        twists, reasons = np.zeros((rows, 3), np.float32), np.full(rows, Reason.NO_PATH, np.int8)
        recall, step = self._copy_memory(memory, rows), self.horizon / self.time_steps
        seen, foreseen = discs(self.prediction.part, o, self.time_steps, step, memory.get("prediction", {}))
        if o.path.shape[1] > 0:
            known = (freeze(seen.position), freeze(seen.radius), freeze(seen.present), freeze(seen.expected))
            about = (scene_of(o, self.window), freeze(o.radius), np.float32(step), *self._outlines(o), known)
            near = np.empty(max(seen.present.shape[1], 1), np.int64)
            kept = math.exp(-step / self.noise_time) if self.noise_time > 0 else 0.0
            noise = _noise(self.samples - self.samples % 2, self.time_steps, kept)
            plan(self._parameters(o), *about, noise, near, recall, self._scratch(o), twists, reasons, 0, rows)
        return Answer(twists, {"plan": recall._asdict(), "prediction": foreseen}, {"reason": reasons})

    def _copy_memory(self, memory: Memory, rows: int) -> Recall:
        """Return a copy of the memory; zeros at the start of an episode."""
        if memory:
            return Recall(*(memory["plan"][name].copy() for name in Recall._fields))
        zeros = np.zeros((rows, self.time_steps, 3), np.float32), np.zeros((rows, PAST, 3), np.float32)
        return Recall(*zeros, np.zeros((rows, 3), np.float32), np.zeros((rows, 2), np.int64))

    def _outlines(self, o: Observation) -> tuple[Floats, Floats]:
        """Return the cost (N,) under the centre above which the outline may touch a wall, and the factor (N,) that enlarges the
        outline by one cell.
        """
        corners = self.window.corners(o.footprint, o.radius)
        inside, w, cell = inscribed_radius(corners), self.window, o.costmap.resolution  # type: ignore[union-attr]
        wider = 1.0 + cell / inside
        reach = wider * np.hypot(corners[..., 0], corners[..., 1]).max(1) + cell
        costs = [cost_of(far, near, w.inflation_radius, w.cost_scaling) for far, near in zip(reach, inside, strict=True)]
        return np.array([min(float(cost), _TOUCHES) for cost in costs], np.float32), np.asarray(wider, np.float32)

    def _parameters(self, o: Observation) -> Any:
        """Return the kernel's parameters; scales for means are converted to scales for sums."""
        scales = {name: getattr(self, name) * (1.0 / self.time_steps) for name in _MEANS}
        inverses = {"inverse_temperature": 1.0 / self.temperature, "inverse_distance": 1.0 / self.people_distance}
        return Parameters.of(self, period=o.dt, **inverses, **scales)

    def _scratch(self, o: Observation) -> Scratch:
        """Return the working memory of this thread, kept for the next call."""
        assert o.costmap is not None
        rows, columns = o.costmap.cost.shape[1:]
        key = ((rows + 2) * (columns + 2), self.samples - self.samples % 2, self.time_steps)
        if getattr(_LOCAL, "key", None) != key:
            cells, samples, steps = key
            path, label, queue = (np.empty(cells, np.int32) for _ in range(3))
            x, y, theta, sine, cosine, side, cost = np.empty((7, samples), np.float32)
            twist, tried = np.empty((3, samples), np.float32), np.empty((steps, 3, samples), np.float32)
            left, hit = np.empty(cells, np.float32), np.empty(samples, np.bool_)
            _LOCAL.scratch = Scratch(path, label, queue, left, x, y, theta, sine, cosine, side, twist, cost, hit, tried)
            _LOCAL.key = key
        scratch: Scratch = _LOCAL.scratch
        return scratch


Parameters = kernel_record(
    "Parameters",
    Mppi,
    limits=("max_vel_x", "max_vel_y", "max_vel_theta", "acc_lim_x", "acc_lim_y", "acc_lim_theta"),
    computed=("period", "inverse_temperature", "inverse_distance", *_MEANS),
)


@functools.lru_cache(4)
def _noise(samples: int, steps: int, kept: float) -> Floats:
    """Return standard normal numbers (T, 3, K), correlated from step to step (an Ornstein-Uhlenbeck process).

    They are zero for sample 0. The other samples form pairs of a sample and its mirror image.
    """
    drawn = np.zeros((steps, 3, samples), np.float32)
    drawn[:, :, 2::2] = Stream("mppi", 0, "noise").normal(0.0, 1.0, (steps, 3, samples // 2 - 1))
    for t in range(1, steps):
        drawn[t] = kept * drawn[t - 1] + math.sqrt(1.0 - kept * kept) * drawn[t]
    drawn[:, 0, 3::2] = drawn[:, 0, 2::2]
    drawn[:, 1:, 3::2] = -drawn[:, 1:, 2::2]
    return freeze(drawn)
