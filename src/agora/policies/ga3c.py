"""GA3C-CADRL's policies: what a robot among others sees, the eleven actions, the network, and the file that keeps them.

M. Everett, Y. F. Chen, J. P. How, "Motion planning among dynamic, decision-making agents with deep reinforcement learning",
IROS 2018, sections III and IV, and its code (mit-acl/gym-collision-avoidance). `agora.learning.trainers.ga3c` trains the network;
here it is evaluated in a fixed order, without PyTorch.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from agora.config import build
from agora.core.jit import lean_kernel
from agora.core.scalar import ONE, ZERO, F, atan2
from agora.core.state import Array, Bools, Floats
from agora.errors import InputError
from agora.interfaces import Label, Limits
from agora.policies.encoding import within
from agora.policies.joint_state import COSINE, GOAL, PERSON, RADIUS, ROBOT, SINE, SPEED, JointState
from agora.policies.layers import dense, lstm, relu
from agora.policies.weights import check_weights, label_of, loader, read_weights, write_weights
from agora.ranges import Count, Distance

if TYPE_CHECKING:
    from agora.robots.model import RobotModel

__all__ = ["CHOICES", "Agents", "Ga3c", "load_ga3c"]

_FORMAT, _VERSION = "agora.ga3c", 1

TURN = math.pi / 6.0
"""The largest change of heading, rad: an action of 1."""

CHOICES: Floats = np.array(
    [(1.0, turn) for turn in (-1.0, -0.5, 0.0, 0.5, 1.0)] + [(speed, turn) for speed in (0.5, 0.0) for turn in (-1.0, 0.0, 1.0)],
    np.float32,
)
"""(11, 2) the published actions in their order: speed in preferred speeds, and change of heading in units of `TURN`."""

HOST, OTHER = 4, 7
"""Values of the robot, and of each of the others, that the network reads."""

HOST_MEAN: Floats = np.array([0.0, 0.0, 1.0, 0.5], np.float32)
HOST_SCALE: Floats = np.array([5.0, 3.14, 1.0, 1.0], np.float32)
OTHER_MEAN: Floats = np.array([0.0, 0.0, 0.0, 0.0, 0.5, 0.0, 1.0], np.float32)
OTHER_SCALE: Floats = np.array([5.0, 5.0, 1.0, 1.0, 1.0, 5.0, 1.0], np.float32)
"""The published normalisation: a value minus its mean, divided by its scale."""


@dataclass(frozen=True)
class Agents(JointState):
    """A `JointState` of others, people and robots alike, and actions that are a speed and a change of heading.

    An action is (speed, turn): the speed in preferred speeds, cut to [0, 1], and the change of heading in units of 30 degrees, cut
    to [-1, 1], positive to the left. The robot drives forwards at the speed and turns evenly over ``period``. In the published
    dynamics (``UnicycleDynamics``) it turns at once and then drives straight on: the heading after a step is the same, and the way
    of the step differs in direction by half of the turn. A robot that turns too slowly makes a smaller turn.

    Attributes:
        people: how many of the nearest others.
        reach: others farther away are not seen, m; the published code sees everybody.
        goal_range: a farther goal counts as this far, m.
        trained_speed: preferred speed of the robot in training, m/s.
        preferred_speed: of the robot, m/s; None for its largest. A robot that cannot drive so fast prefers its largest speed.
        period: time of a change of heading, s: the control period of the training.
    """

    people: Count = 9
    reach: Distance = 20.0
    goal_range: Distance = 20.0
    period: float = 0.2
    kind: Literal["agents"] = "agents"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0.0 < self.period < math.inf:
            raise InputError(f"agents: period must be above 0 s, got {self.period}")

    def check(self, robot: RobotModel) -> None:
        """Refuse robots that cannot take every action in training; `agora.planners.learned.ga3c_cadrl` drives those, too.

        Raises:
            InputError: the robot turns too slowly, or not in place.
        """
        if float(robot.limits(1).max_omega[0]) * self.period < TURN * (1.0 - 1e-3) or robot.turning_radius > 0.0:
            raise InputError(f"agents: robot {robot.name!r} cannot turn by 30 degrees in place in {self.period:g} s")

    def action_size(self, limits: Limits) -> int:
        """Return 2."""
        return 2

    def twists(self, actions: Array, limits: Limits, pose: Floats, goal: Floats) -> Floats:
        """Return the twists (N, 3) of actions (N, 2), within the limits of the robots."""
        wanted = np.asarray(actions, np.float32)
        speed = np.minimum(np.maximum(wanted[:, 0], ZERO), ONE) * self.scale(limits) * F(self.trained_speed)
        turn = np.minimum(np.maximum(wanted[:, 1], -ONE), ONE) * F(TURN / self.period)
        return within(np.stack([speed, np.zeros_like(speed), turn], 1), limits)

    def actions(self, twists: Array, limits: Limits, pose: Floats, goal: Floats) -> Floats:
        """Return the actions (N, 2) nearest to twists (N, 3); a velocity sideways is left out."""
        speed = twists[:, 0] / (self.scale(limits) * F(self.trained_speed))
        turn = twists[:, 2] * F(self.period / TURN)
        return np.stack([np.clip(speed, ZERO, ONE), np.clip(turn, -ONE, ONE)], 1).astype(np.float32)


@lean_kernel
def _read(seen, host, others, first, last):
    people = len(others)
    for n in range(first, last):
        radius = seen[n, RADIUS]
        heading = atan2(seen[n, SINE], seen[n, COSINE])
        for k, value in enumerate((seen[n, GOAL], heading, seen[n, SPEED], radius)):
            host[n, k] = (value - HOST_MEAN[k]) / HOST_SCALE[k]
        for p in range(people):
            at = ROBOT + PERSON * p
            x, y, other = seen[n, at], seen[n, at + 1], seen[n, at + 4]
            both = radius + other
            values = (x, y, seen[n, at + 2], seen[n, at + 3], other, both, math.sqrt(x * x + y * y) - both)
            for k, value in enumerate(values):
                others[people - 1 - p, n, k] = (value - OTHER_MEAN[k]) / OTHER_SCALE[k]


def read(seen: Floats) -> tuple[Floats, Floats, Bools]:
    """Return what the network reads of joint states (N, D), normalised.

    Returns:
        Of the robot (N, 4): distance to the goal, heading in the goal frame, preferred speed, radius. Of the others (P, N, 7), the
        nearest last: place (2) and velocity (2) in the goal frame, radius, sum of both radii, distance between the edges. And which
        others (P, N) are there.
    """
    people = (seen.shape[1] - ROBOT) // PERSON
    host, others = np.empty((len(seen), HOST), np.float32), np.empty((people, len(seen), OTHER), np.float32)
    _read(np.ascontiguousarray(seen, np.float32), host, others, 0, len(seen))
    present: Bools = seen[:, ROBOT + PERSON - 1 :: PERSON].T[::-1] != ZERO
    return host, others, present


@dataclass(frozen=True)
class _Said:
    """What a file says of its policy beside the weights."""

    observe: dict[str, Any]
    about: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Ga3c:
    """A network from what a robot sees to one of the eleven actions.

    A long short-term memory reads the others, the nearest last. Two layers read its state and the robot's own values, and a last
    one scores the actions.

    Attributes:
        arrays: its weights by name, float32; inputs first.
        observe: what the robot sees, and what actions mean.
        about: notes for readers, such as steps of training.

    Raises:
        InputError: weights that do not make up the network, or numbers that are not finite.
    """

    arrays: Mapping[str, Floats]
    observe: Agents
    about: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        shapes = _shapes(self.arrays)
        check_weights(self.arrays, shapes, "ga3c")

    @property
    def label(self) -> Label:
        """What the policy claims to be, by its notes."""
        return label_of(self.about)

    def scores(self, seen: Floats) -> Floats:
        """Return the scores (N, 11) of the actions: logarithms of their probabilities but for a constant of each row.

        A row does not depend on the others.
        """
        arrays = self.arrays
        host, others, present = read(seen)
        state = cell = np.zeros((len(seen), len(arrays["lstm.state_weight"])), np.float32)
        weights = [arrays[f"lstm.{part}"] for part in ("weight", "bias", "state_weight", "state_bias")]
        for values, there in zip(others, present[..., None], strict=True):
            after, kept = lstm(values, state, cell, *weights)
            state, cell = np.where(there, after, state), np.where(there, kept, cell)
        values = np.concatenate([host, state], 1)
        for name in ("hidden.0", "hidden.1"):
            values = relu(dense(values, arrays[f"{name}.weight"], arrays[f"{name}.bias"]))
        return dense(values, arrays["choice.weight"], arrays["choice.bias"])

    def __call__(self, seen: Floats) -> Floats:
        """Return the actions (N, 2) of the highest score, of what N robots see (N, D)."""
        chosen: Floats = CHOICES[np.argmax(self.scores(seen), 1)]
        return chosen

    def save(self, path: Path) -> None:
        """Write a safetensors file.

        Raises:
            InputError: the file cannot be written.
        """
        observe = {one.name: getattr(self.observe, one.name) for one in fields(self.observe)}
        write_weights(path, _FORMAT, _VERSION, _Said(observe, dict(self.about)), self.arrays)


def _shapes(arrays: Mapping[str, Floats]) -> dict[str, tuple[int, ...]]:
    """The shapes that the weights must have, by the sizes that some of them have."""

    def outputs(name: str) -> int:
        bias = arrays.get(name)
        return 1 if bias is None or bias.ndim != 1 else len(bias)

    state = arrays.get("lstm.state_weight")
    size = 1 if state is None or not state.ndim else len(state)
    first, second = outputs("hidden.0.bias"), outputs("hidden.1.bias")
    layers = {"hidden.0": (HOST + size, first), "hidden.1": (first, second), "choice": (second, len(CHOICES))}
    shapes: dict[str, tuple[int, ...]] = {
        "lstm.weight": (OTHER, 4 * size),
        "lstm.bias": (4 * size,),
        "lstm.state_weight": (size, 4 * size),
        "lstm.state_bias": (4 * size,),
    }
    for name, (inputs, width) in layers.items():
        shapes |= {f"{name}.weight": (inputs, width), f"{name}.bias": (width,)}
    return shapes


@loader
def load_ga3c(path: Path) -> Ga3c:
    """Return the policy of a name (``configs/policies/<name>.safetensors``) or of a file.

    Args:
        path: a name, or a path (a `Path`, or text with a folder or the ending .safetensors).

    Raises:
        UnknownNameError: no such policy.
        InputError: the file is wrong.
    """
    said, arrays = read_weights(path, _FORMAT, _VERSION, _Said)
    observe = build(said.observe, Agents, f"{path}: observe")
    try:
        return Ga3c(arrays, observe, said.about)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
