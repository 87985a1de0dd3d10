"""A fixed set of commands and their predicted consequences: the encoding for policies that judge a dynamic window.

D. Fox, W. Burgard, S. Thrun, "The dynamic window approach to collision avoidance", 1997, rates every command by clearance, heading
and speed with hand-tuned weights. Here, a network reads the results of each command's roll-outs and learns to choose a command (as
in U. Patel et al., "DWA-RL", ICRA 2021, where the commands of recent steps are presented as an image).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from agora.core.scalar import F
from agora.core.state import Array, Floats, Ints, freeze
from agora.costmap.window import Window
from agora.errors import InputError
from agora.interfaces import Channel, Limits, Observation
from agora.policies.command_rollouts import CONTEXT, FEATURES, NEAREST, ROBOT, SIDED, SIDED_FEATURES, Choices, scratch_of, write
from agora.policies.command_scene import SECTORS, Body, Others, Sight
from agora.policies.encoding import ROBOT_FRAME, EncodingBase, tracks_of
from agora.ranges import Count, Distance, Length

__all__ = ["COMMANDS", "MIRROR", "PARTNER", "Commands", "commands_of"]

_SPEEDS = (1.0, 0.75, 0.5, 0.25, 0.0)
_TURNS = (0.0, 0.08, -0.08, 0.25, -0.25, 0.55, -0.55, 1.0, -1.0)
_MAP = Window(6.0, 0.1, inflation_radius=0.1, sources=("map",))
_BACK, _FASTEST_BACK, _FASTEST_TURN = -0.3, -0.4, 2.0  # fraction of the maximum speed; m/s; rad/s

COMMANDS: Floats = np.array(
    [(speed, 0.0, turn) for speed in _SPEEDS for turn in _TURNS]
    + [(_BACK, 0.0, turn) for turn in (0.0, 0.55, -0.55)]
    + [(speed, side, 0.0) for speed in (0.6, 0.0, _BACK) for side in (1.0, -1.0)],
    np.float32,
)
"""(K, 3) commands: vx, vy and omega as fractions of the robot's maximum; the maximum of omega is limited to 2 rad/s."""

PARTNER: Ints = np.abs(COMMANDS * (F(1.0), F(-1.0), F(-1.0)) - COMMANDS[:, None]).sum(-1).argmin(0)
"""(K,) for each command, the index of the command with left and right swapped."""


def _mirror() -> tuple[Ints, Floats]:
    order, sign = np.arange(CONTEXT + len(COMMANDS) * FEATURES), np.ones(CONTEXT + len(COMMANDS) * FEATURES, np.float32)
    order[CONTEXT - SECTORS : CONTEXT] = order[CONTEXT - SECTORS : CONTEXT][::-1]
    order[CONTEXT:] = order[CONTEXT:].reshape(len(COMMANDS), FEATURES)[PARTNER].reshape(-1)
    sign[list(SIDED)] = -1.0
    sign[CONTEXT:].reshape(len(COMMANDS), FEATURES)[:, list(SIDED_FEATURES)] = -1.0
    return freeze(order), freeze(sign)


MIRROR = _mirror()
"""The indices (D,) from which the mirrored scene takes its values, and their signs (D,), for a forward-facing lidar."""

IMPOSSIBLE = F(-1e9)
"""Score of a command that a robot cannot take, or after which it could not brake before a wall."""

LEFT = np.flatnonzero(np.arange(len(COMMANDS)) <= PARTNER)
"""Commands that are judged both in the scene and in its mirror image: commands to the left and straight ahead."""

_PLACE = np.full(len(COMMANDS), -1)
_PLACE[LEFT] = np.arange(len(LEFT))
FIRST = np.where(_PLACE >= 0, _PLACE, len(LEFT) + _PLACE[PARTNER])
SECOND = np.where(_PLACE[PARTNER] >= 0, len(LEFT) + _PLACE[PARTNER], _PLACE)
"""(K,) index of the second of a command's two scores (scene, then mirror image); the command's score is their mean."""


def commands_of(limits: Limits) -> Choices:
    """Return the commands of N robots; reverse speeds are limited to 0.4 m/s, and only holonomic robots get sideways commands."""
    most = np.stack(
        [limits.max_vx, np.where(limits.holonomic, limits.max_vy, F(0.0)), np.minimum(limits.max_omega, F(_FASTEST_TURN))], -1
    )
    twist = (COMMANDS * most[:, None]).astype(np.float32)
    back = np.maximum(np.maximum(twist[..., 0], F(_FASTEST_BACK)), limits.min_vx[:, None])
    twist[..., 0] = np.where(twist[..., 0] < 0, back, twist[..., 0])
    curved = limits.turning_radius > 0
    tightest = np.abs(twist[..., 0]) / np.where(curved, limits.turning_radius, F(1.0))[:, None]
    twist[..., 2] = np.where(curved[:, None], np.clip(twist[..., 2], -tightest, tightest), twist[..., 2])
    return Choices(twist, (COMMANDS[:, 1] == 0) | limits.holonomic[:, None])


@dataclass(frozen=True)
class Commands(EncodingBase):
    """The robot, its path, people, a scan, and 54 commands with their predicted consequences.

    An action is the index of a command. A command is held for 0.8 s; then the robot follows its path at the same speed, continues
    unchanged, or brakes, until 3 s from now. For each roll-out, the observation contains the minimum clearances to walls and to
    people in several time spans, the minimum clearance to the lines between members of a group, and the progress along the path.
    People and other robots are assumed to keep their velocity. Walls come from the scan and, in directions that the lidar does not
    cover, from the map; the map's edge counts as a wall. A command after which the robot could not brake before a wall is marked as
    impossible.

    Attributes:
        people: number of nearest people and other robots to include in the roll-outs.
        reach: distance beyond which people and robots are not seen, m.
        sectors: number of sectors of the scan; the nearest point in each sector counts as a wall.
        margin: minimum distance to walls for a braking robot, m.
    """

    people: Count = 12
    reach: Length = 8.0
    sectors: Count = 96
    margin: Distance = 0.03

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.sectors % SECTORS:
            raise InputError(f"sectors: must be a multiple of {SECTORS}, is {self.sectors}")

    @property
    def needs(self) -> frozenset[str | Channel]:
        """Return the channels that a planner with this encoding needs."""
        return frozenset({"scan", "path", "pedestrians", "robots", _MAP})

    @property
    def length(self) -> int:
        """Number of values, D."""
        return CONTEXT + FEATURES * len(COMMANDS)

    @property
    def low(self) -> Floats:
        """Minimum values (D,)."""
        return np.full(self.length, -np.inf, np.float32)

    @property
    def high(self) -> Floats:
        """Maximum values (D,)."""
        return np.full(self.length, np.inf, np.float32)

    def write(self, observation: Observation, out: Floats, first: int, last: int) -> None:
        """Write the vectors of the rows ``first <= n < last`` into ``out`` (N, D).

        Raises:
            InputError: the scan is missing.
        """
        o, m, rows = observation, observation.limits, len(observation.pose)
        if o.scan is None or o.scan_angles is None or o.scan_pose is None:
            raise InputError("commands: the policy sees walls by the scan of a lidar, which the robot does not have")
        path, count = np.zeros((rows, 0, 2), np.float32), np.zeros(rows, np.int32)
        if o.path is not None and o.path_count is not None:
            path, count = o.path, o.path_count
        angles, sensor = (freeze(np.asarray(one, np.float32)) for one in (o.scan_angles, o.scan_pose))
        able = (m.max_vx, m.max_omega, m.max_ax, m.max_ay, m.max_alpha, m.turning_radius, m.holonomic)
        body = Body(*(freeze(one) for one in (o.pose, o.twist, o.radius, *able)))
        cost, corner, cell = np.zeros((rows, 0, 0), np.uint8), np.zeros((rows, 2), np.float32), 1.0
        if o.costmap is not None:
            cost, corner, cell = o.costmap.cost, o.costmap.origin, o.costmap.resolution
        sight = Sight(
            freeze(o.scan), angles, sensor, freeze(path), freeze(count), freeze(o.goal), freeze(cost), freeze(corner), F(cell)
        )
        people, robots = tracks_of(o.pedestrians, rows), tracks_of(o.robots, rows)
        position, velocity, radius, present = (np.concatenate(both, 1) for both in zip(people, robots, strict=True))
        group = np.full(present.shape, -1, np.int64)
        if o.pedestrians is not None:
            group[:, : o.pedestrians.group.shape[1]] = o.pedestrians.group
        others = Others(*(freeze(one) for one in (position, velocity, radius, group, present)))
        choices = Choices(*(freeze(one) for one in commands_of(m)))
        s = scratch_of(len(COMMANDS), self.people, self.sectors)
        write(F(self.reach), F(self.margin), body, choices, sight, others, s, out, first, last)

    def action_size(self, limits: Limits) -> int:
        """Return 1, because an action is the index of a command."""
        return 1

    def twists(self, actions: Array, limits: Limits, pose: Floats, goal: Floats) -> Floats:
        """Return the twists (N, 3) for command indices (N, 1); a non-finite index gives a twist of NaN."""
        number = np.asarray(actions, np.float32)[:, 0]
        chosen = np.clip(np.where(np.isfinite(number), number, 0), 0, len(COMMANDS) - 1).astype(np.int64)
        twists: Floats = commands_of(limits).twist[np.arange(len(chosen)), chosen]
        twists[~np.isfinite(number)] = np.nan
        return twists

    def actions(self, twists: Array, limits: Limits, pose: Floats, goal: Floats) -> Floats:
        """Return the indices (N, 1) of the commands closest to twists (N, 3); if several commands are equally close, the first is
        used.
        """
        choices = commands_of(limits)
        most = np.stack([limits.max_vx, limits.max_vy, np.minimum(limits.max_omega, F(_FASTEST_TURN))], -1)
        most = np.maximum(most, F(1e-3))  # limits can be 0, for example in rows without a robot
        apart = (((choices.twist - np.asarray(twists, np.float32)[:, None]) / most[:, None]) ** 2).sum(-1)
        nearest: Floats = np.where(choices.possible, apart, np.inf).argmin(1)[:, None].astype(np.float32)
        return nearest

    def notes(self) -> Mapping[str, Any]:
        """Return the parts and the frame of the values, and the meaning of an action."""
        parts = {
            "robot": [0, ROBOT],
            "path": [ROBOT, ROBOT + 8],
            "people": [ROBOT + 8, ROBOT + 8 + 6 * NEAREST],
            "scan": [CONTEXT - SECTORS, CONTEXT],
            "commands": [CONTEXT, self.length],
        }
        return {"actions": "number of a command, see agora.policies.commands.COMMANDS", "parts": parts, "frame": ROBOT_FRAME}
