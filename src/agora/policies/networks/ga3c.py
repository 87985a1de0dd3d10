"""GA3C-CADRL's network, which takes the other agents as input and chooses one of eleven actions.

M. Everett, Y. F. Chen, J. P. How, "Motion planning among dynamic, decision-making agents with deep reinforcement learning", IROS
2018, sections III and IV, and its code (mit-acl/gym-collision-avoidance). This module evaluates the network in a fixed order,
without PyTorch; `agora.policies.learners.ga3c` contains the trainable version.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from agora.core.jit import lean_kernel
from agora.core.scalar import ZERO, atan2
from agora.core.state import Bools, Floats
from agora.errors import InputError
from agora.interfaces import Encoding, Shape
from agora.policies import onnx_graph
from agora.policies.agents import CHOICES, HOST, HOST_MEAN, HOST_SCALE, OTHER, OTHER_MEAN, OTHER_SCALE, TURN, Agents
from agora.policies.joint_state import COSINE, GOAL, GOAL_FRAME, PERSON, RADIUS, ROBOT, SINE, SPEED
from agora.policies.layers import dense, lstm, relu
from agora.policies.onnx_graph import OnnxGraph, Value
from agora.ranges import Checked, Size

if TYPE_CHECKING:
    from agora.policies.policy import Policy

_MEMORY, _HIDDEN = 64, 256  # the published sizes
_TINY = 1e-30


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
    """Return the normalised inputs of the network from joint states (N, D).

    Returns: The robot's values (N, 4): distance to the goal, heading in the goal frame, preferred speed, radius. The other agents'
        values (P, N, 7), nearest last: position (2) and velocity (2) in the goal frame, radius, sum of both radii, distance between
        the edges. Whether each of the other agents exists (P, N).
    """
    people = (seen.shape[1] - ROBOT) // PERSON
    host, others = np.empty((len(seen), HOST), np.float32), np.empty((people, len(seen), OTHER), np.float32)
    _read(np.ascontiguousarray(seen, np.float32), host, others, 0, len(seen))
    present: Bools = seen[:, ROBOT + PERSON - 1 :: PERSON].T[::-1] != ZERO
    return host, others, present


@dataclass(frozen=True)
class Ga3cNetwork(Checked):
    """A long short-term memory that reads the other agents, nearest last, and layers that score the eleven actions.

    Two layers read the state of the memory and the robot's values, and a last layer scores the actions.

    Attributes:
        width: width of the layers, as a fraction of the published width.
    """

    width: Size = 1.0

    @property
    def scaled(self) -> tuple[int, int]:
        """Return the sizes of the memory and of the hidden layers at this width."""
        return max(1, round(self.width * _MEMORY)), max(1, round(self.width * _HIDDEN))

    def seen(self, observe: Encoding) -> Agents:
        """Return ``observe`` if it is the ``agents`` encoding.

        Raises:
            InputError: the encoding is not ``agents``.
        """
        if not isinstance(observe, Agents):
            raise InputError(f"network 'ga3c' sees with the encoding agents, got {type(observe).__name__}")
        return observe

    def shapes(self, observe: Encoding, arrays: Mapping[str, Floats]) -> dict[str, tuple[int, ...]]:
        """Return the shapes that the weights must have.

        Raises:
            InputError: the encoding is not `Agents`.
        """
        self.seen(observe)
        size, wide = self.scaled
        layers = {"hidden.0": (HOST + size, wide), "hidden.1": (wide, wide), "choice": (wide, len(CHOICES))}
        shapes: dict[str, tuple[int, ...]] = {
            "lstm.weight": (OTHER, 4 * size),
            "lstm.bias": (4 * size,),
            "lstm.state_weight": (size, 4 * size),
            "lstm.state_bias": (4 * size,),
        }
        for name, (inputs, outputs) in layers.items():
            shapes |= {f"{name}.weight": (inputs, outputs), f"{name}.bias": (outputs,)}
        return shapes

    def state_size(self, observe: Encoding) -> int:
        """Return 0, because the network has no memory between decisions."""
        return 0

    def scores(self, arrays: Mapping[str, Floats], seen: Floats) -> Floats:
        """Return the scores (N, 11) of the actions: the logarithms of their probabilities, up to a constant per row."""
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

    def step(self, arrays: Mapping[str, Floats], seen: Floats, state: Floats) -> tuple[Floats, Floats]:
        """Return the actions (N, 2) with the highest score for observations (N, D), and the empty memory."""
        chosen: Floats = CHOICES[np.argmax(self.scores(arrays, seen), 1)]
        return chosen, state

    def graph(self, policy: Policy, graph: OnnxGraph) -> None:
        """Add the network to an ONNX graph.

        The graph reads ``observation`` (N, D). It writes ``scores`` (N, 11), the scores of the actions; ``action`` (N, 2), the
        action with the highest score; and ``command`` (N, 2), the speed in m/s, scaled like the speeds in the observation, and the
        change of heading within one period in rad.
        """
        seen = graph.read("observation", policy.observe.length)
        scores = self._onnx_scores(policy, seen)
        action = graph.add("Gather", CHOICES, scores.argmax(1, keep=False), axis=0)
        graph.write("scores", scores, len(CHOICES))
        graph.write("action", action, 2)
        command = graph.concat([action.part(0, 1) * seen.part(SPEED, SPEED + 1), action.part(1, 2) * TURN])
        graph.write("command", command, 2)
        outputs = {
            "scores": "of the actions; their softmax are the probabilities",
            "action": "speed in preferred speeds; change of heading in units of 30 degrees, positive to the left",
            "command": "speed in the speeds of the observation, m/s; change of heading within a period, rad",
        }
        graph.about |= {"actions": json.dumps(CHOICES.tolist()), "outputs": json.dumps(outputs), "frame": GOAL_FRAME}

    def _onnx_scores(self, policy: Policy, seen: Value) -> Value:
        """Return the scores (N, 11)."""
        arrays, graph, people = policy.arrays, seen.graph, self.seen(policy.observe).people
        row = seen.reshape(0, 1, policy.observe.length)
        goal, speed, radius, cosine, sine = (row.part(k, k + 1) for k in (GOAL, SPEED, RADIUS, COSINE, SINE))
        host = _scaled(graph, [goal, _angle(sine, cosine), speed, radius], HOST_MEAN, HOST_SCALE)
        persons = row.part(ROBOT, policy.observe.length).reshape(0, people, PERSON)
        x, y, vx, vy, other = persons.columns(PERSON - 1)
        both = radius + other
        others = _scaled(graph, [x, y, vx, vy, other, both, (x * x + y * y).sqrt() - both], OTHER_MEAN, OTHER_SCALE)
        present = ~persons.part(PERSON - 1, PERSON).equals(0.0)
        state = cell = host.part(0, 1) * np.zeros((1, 1, len(arrays["lstm.state_weight"])), np.float32)
        for p in range(people - 1, -1, -1):
            after, kept = onnx_graph.lstm(arrays, "lstm", others.part(p, p + 1, 1), state, cell)
            there = present.part(p, p + 1, 1)
            state, cell = there.where(after, state), there.where(kept, cell)
        values = graph.concat([host, state])
        for name in ("hidden.0", "hidden.1"):
            values = onnx_graph.dense(values, arrays[f"{name}.weight"], arrays[f"{name}.bias"]).relu()
        return onnx_graph.dense(values, arrays["choice.weight"], arrays["choice.bias"]).reshape(0, len(CHOICES))

    def learner(self, shape: Shape) -> Any:
        """Return the trainable PyTorch network, with a critic."""
        from agora.policies.learners.ga3c import Ga3cLearner  # needs PyTorch

        return Ga3cLearner(self, shape)


def _angle(y: Value, x: Value) -> Value:
    """Return the angle of (x, y), computed from half of the angle, because ONNX has no two-argument arctangent."""
    graph, length = y.graph, (x * x + y * y).sqrt()
    ahead = graph.add("Atan", y / (length + x).maximum(_TINY)) * 2.0
    behind = graph.add("Atan", y / (length - x).maximum(_TINY)) * 2.0
    return (x < 0.0).where((y < 0.0).where(-math.pi - behind, math.pi - behind), ahead)


def _scaled(graph: OnnxGraph, values: list[Value], mean: Floats, scale: Floats) -> Value:
    return (graph.concat(values) - mean) / scale
