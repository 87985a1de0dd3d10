"""The recovery behaviours of move_base, wrapped around a local planner: a robot without a command waits, then turns in place, then
gives up.

Marder-Eppstein, Berger, Foote, Gerkey, Konolige, "The office marathon: robust navigation in an indoor office environment", ICRA
2010. The states and their order are those of move_base (ROS navigation, noetic-devel 9ad6441: ``MoveBase::executeCycle``). The turn
is that of rotate_recovery (``RotateRecovery::runBehavior``), with its parameter names and defaults. Upstream tries four behaviours
in sequence: clear the costmaps outside a 3 m square, turn the robot, clear the costmaps outside a square of four circumscribed
radii, turn again.

Differences from the source:
- Costmaps are not cleared, because the scan already clears them. Upstream clears the layers named ``obstacles``, and clears none if
  the layers have other names, as in BARN's configuration; only the two turns then remain. In this planner, the two turns follow
  each other directly.
- Global planning is not part of this planner: there is no ``planner_patience``, and a robot without a path counts as a robot
  without a command.
- A robot that cannot turn on the spot therefore has no recovery behaviour. A turn does not exceed the robot's limits.
- If the planner is called again after giving up, the robot stands still until it gets another goal.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Annotated, Any, NamedTuple

import numpy as np

from agora.core.jit import hidden, lean_kernel, spliced
from agora.core.kernel_record import kernel_record
from agora.core.recording import Reason
from agora.core.scalar import ONE, TWO, ZERO, sincos, wrap
from agora.core.state import Bools, Floats, Ints
from agora.costmap.window import Window
from agora.errors import InputError
from agora.interfaces import Answer, Declaration, Memory, Observation
from agora.planners import adapters
from agora.planners._rollouts.grids import footprint_cost
from agora.planners._rollouts.poses import scene_of
from agora.planners.memory import map_arrays
from agora.ranges import Checked, Count, Distance, Duration, NotNegative, Positive, Within
from agora.registry import Named, Plug

_PI = np.float32(math.pi)
_RECOVERING, _GAVE_UP = np.int8(Reason.RECOVERING), np.int8(Reason.GAVE_UP)
_NO_COMMAND = (Reason.NO_PATH, Reason.BLOCKED, Reason.START_IN_CONTACT, Reason.NOT_CONVERGED)


@dataclass(frozen=True)
class Recovering(Checked):
    """A local planner with the recovery behaviour of move_base: after a long time without a command, the robot makes full turns,
    then gives up.

    Any result counts as a command unless the local planner notes the reason `NO_PATH`, `BLOCKED`, `START_IN_CONTACT` or
    `NOT_CONVERGED`; backing up therefore counts as a command. The first command makes all turns available again.

    Attributes:
        planner: the local planner, which must note why the robot stops; on the command line and in presets it may be a preset.
        controller_patience: time without a command before recovery starts, s.
        oscillation_timeout: time that the robot may stay within ``oscillation_distance`` before recovery starts, s; 0 for no limit.
        oscillation_distance: minimum distance that counts as motion, m.
        rotations: number of turns before giving up.
        acc_lim_theta: angular acceleration of a turn, rad/s2; None for the robot's limit.
        max_vel_theta: maximum turning rate, rad/s; None for the robot's limit.
        min_in_place_vel_theta: minimum turning rate, rad/s.
        yaw_goal_tolerance: accepted deviation, first from half a turn and then from a full turn, rad.
        sim_granularity: angle between the headings at which the footprint is checked for obstacles before the robot continues to
            turn, rad.
    """

    planner: Annotated[Named, Plug("planners")] = field(default_factory=lambda: Named.of("planners", "trajectory_rollout"))
    controller_patience: Duration = 5.0
    oscillation_timeout: Duration = 0.0
    oscillation_distance: Distance = 0.5
    rotations: Count = 2
    acc_lim_theta: Positive | None = None
    max_vel_theta: Positive | None = None
    min_in_place_vel_theta: NotNegative = 0.4
    yaw_goal_tolerance: Annotated[float, Within(0.0, 6.2832, above=True)] = 0.1
    sim_granularity: Positive = 0.017

    def __post_init__(self) -> None:
        super().__post_init__()
        if "reason" not in self.planner.part.declares.notes:
            raise InputError(f"planner: must note why the robot stands, which {self.planner.name} does not")

    @cached_property
    def declares(self) -> Declaration:
        """The properties of the local planner, plus the costmap that is used to check whether there is room to turn."""
        mine: Declaration = self.planner.part.declares
        channels = {"path": None} | mine.channels | {"costmap": self._window}
        needs = tuple(name if one is None else one for name, one in channels.items())
        return replace(mine, needs=needs, label="faithful", tunable={}, notes=("reason",))

    @property
    def _window(self) -> Window:
        """Return the local costmap that the local planner uses."""
        own = self.planner.part.declares.channels.get("costmap")
        return own if isinstance(own, Window) else Window()

    def act(self, observation: Observation, memory: Memory) -> Answer:
        """Return the twists (N, 3), and the memory, which combines the local planner's memory and the recovery's."""
        o, rows, before = observation, len(observation.pose), memory.get("planner", {})
        answer = adapters.as_batch_planner(self.planner.part).act(o, before)
        twists, reasons = np.array(answer.twists, np.float32), np.array(answer.notes["reason"], np.int8)
        recall = Recall(*(memory["recovery"][name].copy() for name in Recall._fields)) if memory else Recall.fresh(rows)
        asked = np.ones(rows, np.bool_)
        no_command = np.isin(reasons, _NO_COMMAND)
        _supervise(self._parameters(o.dt), scene_of(o, self._window), recall, no_command, twists, reasons, asked, 0, rows)
        after = answer.memory
        if before and not asked.all():
            after = map_arrays(lambda new, old: np.where(asked.reshape(-1, *[1] * (new.ndim - 1)), new, old), after, before)
        return Answer(twists, {"planner": after, "recovery": recall._asdict()}, {"reason": reasons})

    def _parameters(self, dt: float) -> Any:
        """Return the kernel's parameters; ``patience`` and ``timeout`` are given in whole control periods."""
        return Parameters.of(
            self,
            period=dt,
            patience=math.floor(self.controller_patience / dt + 1e-6),
            timeout=math.floor(self.oscillation_timeout / dt + 1e-6),
            oscillates=self.oscillation_timeout > 0,
        )


Parameters = kernel_record(
    "Parameters",
    Recovering,
    limits=("acc_lim_theta", "max_vel_theta"),
    computed=("period",),
    others=("patience", "timeout", "oscillates"),
)


class Recall(NamedTuple):
    """The memory of the rows; all values are zero at the start of an episode.

    Attributes:
        goal: (N, 3) current goal of the robot.
        waited: (N,) periods since the robot's last command.
        stuck: (N,) periods since the robot was at ``place``, or made a recovery turn there.
        place: (N, 2) place from which motion is measured, m.
        tried: (N,) number of turns since the robot last moved away or, if the turns were caused by a missing command, since the
            last command.
        oscillated: (N,) whether the turns were caused by the robot staying in one place.
        clearing: (N,) whether the robot starts a turn, or gives up, in the next period.
        turning: (N,) whether the robot is turning.
        begun: (N,) heading at which the turn started, rad.
        half: (N,) whether half of the turn has been completed.
        gave_up: (N,) whether the robot has given up.
    """

    goal: Floats
    waited: Ints
    stuck: Ints
    place: Floats
    tried: Ints
    oscillated: Bools
    clearing: Bools
    turning: Bools
    begun: Floats
    half: Bools
    gave_up: Bools

    @staticmethod
    def fresh(rows: int) -> Recall:
        """Return the memory at the start of an episode, for N rows."""
        f, i, b = np.float32, np.int32, np.bool_
        return Recall(
            goal=np.zeros((rows, 3), f),
            waited=np.zeros(rows, i),
            stuck=np.zeros(rows, i),
            place=np.zeros((rows, 2), f),
            tried=np.zeros(rows, i),
            oscillated=np.zeros(rows, b),
            clearing=np.zeros(rows, b),
            turning=np.zeros(rows, b),
            begun=np.zeros(rows, f),
            half=np.zeros(rows, b),
            gave_up=np.zeros(rows, b),
        )


@spliced
def _begin(recall, n, pose, goal):
    """Reset the memory for a new goal."""
    recall.goal[n, 0], recall.goal[n, 1], recall.goal[n, 2] = goal[0], goal[1], goal[2]
    recall.place[n, 0], recall.place[n, 1] = pose[0], pose[1]
    recall.waited[n], recall.stuck[n], recall.tried[n] = 0, 0, 0
    recall.oscillated[n], recall.clearing[n], recall.turning[n], recall.gave_up[n] = False, False, False, False


@spliced
def _notice_motion(p, recall, n, pose):
    """Record whether the robot has moved away from the position at which it was last recorded."""
    dx, dy = pose[0] - recall.place[n, 0], pose[1] - recall.place[n, 1]
    if dx * dx + dy * dy >= p.oscillation_distance * p.oscillation_distance:
        recall.stuck[n] = 0
        recall.place[n, 0], recall.place[n, 1] = pose[0], pose[1]
        if recall.oscillated[n]:
            recall.tried[n] = 0


@hidden
def _is_rotation_free(p, scene, n, left):
    """Return whether the footprint is free of obstacles at every heading in the rest of a turn, ``left`` rad."""
    x, y = scene.pose[n, 0] - scene.origin[n, 0], scene.pose[n, 1] - scene.origin[n, 1]
    for i in range(np.int32(np.ceil(left / p.sim_granularity))):
        sine, cosine = sincos(scene.pose[n, 2] + np.float32(i) * p.sim_granularity)
        if footprint_cost(scene.cost[n], scene.footprint_x[n], scene.footprint_y[n], ONE, x, y, sine, cosine, scene.inverse) < 0:
            return False
    return True


@spliced
def _turn(p, scene, n, recall):
    """Return the turning rate for one period of a turn; 0 if the turn ends because an obstacle is in the way."""
    heading = scene.pose[n, 2]
    if recall.half[n]:
        left = abs(wrap(recall.begun[n] - heading))
        recall.turning[n] = left > p.yaw_goal_tolerance
    else:
        to_half = abs(wrap(recall.begun[n] + _PI - heading))
        left = _PI + to_half
        recall.half[n] = to_half < p.yaw_goal_tolerance
    if scene.turning_radius[n] > ZERO or not _is_rotation_free(p, scene, n, left):
        recall.turning[n] = False
        return ZERO
    rate = min(max(math.sqrt(TWO * p.acc_lim_theta * left), p.min_in_place_vel_theta), p.max_vel_theta)
    return min(rate, scene.max_theta[n], max(scene.twist[n, 2] + scene.acc_theta[n] * p.period, ZERO))


@spliced
def _recover(p, scene, n, recall):
    """Continue the turn, start the next turn, or give up; return the turning rate."""
    if recall.clearing[n]:
        recall.clearing[n] = False
        if recall.tried[n] >= p.rotations:
            recall.gave_up[n] = True
            return ZERO
        recall.tried[n] += 1
        recall.turning[n], recall.half[n], recall.begun[n] = True, False, scene.pose[n, 2]
    rate = _turn(p, scene, n, recall)
    if not recall.turning[n]:
        recall.stuck[n] = 0
    return rate


@spliced
def _judge(p, recall, n, no_command):
    """Count the periods without a command and the periods spent in one place; decide whether a turn starts in the next period."""
    if p.oscillates and recall.stuck[n] > p.timeout:
        recall.clearing[n], recall.oscillated[n] = True, True
    recall.stuck[n] += 1
    if not no_command:
        recall.waited[n] = 0
        if not recall.oscillated[n]:
            recall.tried[n] = 0
        return
    recall.clearing[n] = recall.waited[n] > p.patience
    if recall.clearing[n]:
        recall.oscillated[n] = False


@lean_kernel
def _supervise(p, scene, recall, no_command, twists, reasons, asked, first, last):
    """Overrule the local planner in the rows ``first <= n < last`` that turn or have given up.

    Args:
        p: `Parameters`.
        scene: `agora.planners._rollouts.poses.Observed`.
        recall: `Recall`, changed in place.
        no_command: (N,) whether the local planner has no command.
        twists: (N, 3) twists from the local planner, changed in place.
        reasons: (N,) reasons from the local planner, changed in place.
        asked: out, (N,) whether the local planner's result is used; False in the rows that are overruled.
        first: first row.
        last: one past the last row.
    """
    for n in range(first, last):
        pose, goal = scene.pose[n], scene.goal[n]
        if goal[0] != recall.goal[n, 0] or goal[1] != recall.goal[n, 1] or goal[2] != recall.goal[n, 2]:
            _begin(recall, n, pose, goal)
        recall.waited[n] += 1
        if not recall.turning[n]:
            _notice_motion(p, recall, n, pose)
        if recall.gave_up[n] or recall.turning[n] or recall.clearing[n]:
            rate = ZERO if recall.gave_up[n] else _recover(p, scene, n, recall)
            twists[n, 0], twists[n, 1], twists[n, 2], asked[n] = ZERO, ZERO, rate, False
            reasons[n] = _GAVE_UP if recall.gave_up[n] else _RECOVERING
        else:
            _judge(p, recall, n, no_command[n])
