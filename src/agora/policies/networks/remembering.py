"""A base class for recurrent networks that read the states of the robot and the people around it, and output a velocity."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from agora.core.state import Floats
from agora.errors import InputError
from agora.interfaces import Encoding
from agora.policies.joint_state import GOAL_FRAME, SPEED
from agora.policies.onnx_graph import OnnxGraph, Value, dense, pool
from agora.policies.robot_and_people import ACTIONS, RobotAndPeople
from agora.ranges import Checked, Size
from agora.registry import name_of

if TYPE_CHECKING:
    from agora.policies.policy import Policy

_PERSON = 1  # the axis of people


@dataclass(frozen=True)
class Remembering(Checked):
    """A network with the published architecture (DS-RNN, AG-RL), whose layers may be narrower or wider.

    Attributes:
        width: width of the layers, as a fraction of the published width.
    """

    sizes: ClassVar[tuple[int, ...]] = ()
    """The published layer sizes."""

    width: Size = 1.0

    @property
    def scaled(self) -> list[int]:
        """Return the layer sizes at this width."""
        return [max(1, round(self.width * size)) for size in self.sizes]

    def seen(self, observe: Encoding) -> RobotAndPeople:
        """Return ``observe`` if it is the ``robot_and_people`` encoding.

        Raises:
            InputError: the encoding is not ``robot_and_people``.
        """
        if not isinstance(observe, RobotAndPeople):
            name, other = name_of("networks", self), type(observe).__name__
            raise InputError(f"network {name!r} sees with the encoding robot_and_people, got {other}")
        return observe

    def graph(self, policy: Policy, graph: OnnxGraph) -> None:
        """Add a step to an ONNX graph.

        The graph reads ``observation`` (N, D) and ``memory`` (N, S), which is zero at the start of an episode. It writes ``action``
        (N, 2) and ``next_memory`` (N, S), the results of `Policy.step`, and ``velocity`` (N, 2), the action limited to a length of
        1 and multiplied by the preferred speed in the observation.
        """
        length, remembered = policy.observe.length, policy.state_size
        seen, memory = graph.read("observation", length), graph.read("memory", remembered)
        action, after = self.onnx_step(policy, seen.reshape(0, 1, length), memory)
        graph.write("action", action, ACTIONS)
        graph.write("next_memory", after, remembered)
        speed = seen.part(SPEED, SPEED + 1) / (action * action).sum(1).sqrt().maximum(1.0)
        graph.write("velocity", action * speed, ACTIONS)
        outputs = {
            "action": f"preferred speeds; frame: {GOAL_FRAME}",
            "velocity": f"m/s in the speeds of the observation; frame: {GOAL_FRAME}",
            "next_memory": "the memory of the next step, one period later",
        }
        graph.about["outputs"] = json.dumps(outputs)

    def onnx_step(self, policy: Policy, seen: Value, memory: Value) -> tuple[Value, Value]:
        """Return the actions (N, 2) and the next memory (N, S) for ``seen`` (N, 1, D) and ``memory`` (N, S).

        Values have the axes row, person and entry; in values that belong to the robot, the person axis has a length of 1.
        """
        raise NotImplementedError


class Layers:
    """Adds the layers of a network to a graph.

    Args:
        arrays: weights by name.
    """

    def __init__(self, arrays: Mapping[str, Floats]) -> None:
        self._arrays = arrays

    def __call__(self, name: str, values: Value) -> Value:
        """Return the outputs of a layer."""
        return dense(values, self._arrays[f"{name}.weight"], self._arrays[f"{name}.bias"])

    def attended(self, asking: Value, people: Value, present: Value) -> Value:
        """Return the mean of the people's values (N, P, V), weighted by attention; scores are multiplied by the number of people
        present.
        """
        queries, keys = self("query", asking) * present.as_float().sum(_PERSON), self("key", people)
        scores = (queries * keys).sum(2) * (1.0 / math.sqrt(len(self._arrays["key.bias"])))
        return pool(scores, people, present, _PERSON)

    def action(self, state: Value) -> Value:
        """Return the actions (N, 2) for states (N, 1, S)."""
        hidden = self("actor.1", self("actor.0", self("output", state)).tanh()).tanh()
        return self("actor.2", hidden).reshape(0, ACTIONS)
