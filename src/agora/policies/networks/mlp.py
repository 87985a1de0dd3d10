"""A sequence of fully connected layers, without memory."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from agora.core.scalar import F
from agora.core.state import Floats
from agora.errors import InputError, UnknownNameError
from agora.interfaces import Encoding, Shape
from agora.policies import onnx_graph
from agora.policies.encoding import ROBOT_FRAME, FromLimitToLimit
from agora.policies.layers import ACTIVATIONS, dense
from agora.policies.onnx_graph import OnnxGraph, Value
from agora.ranges import Checked, Natural

if TYPE_CHECKING:
    from agora.policies.policy import Policy, TrainedRobot

__all__ = ["Mlp"]

_GRAPHS: dict[str, Callable[[Value], Value]] = {
    "none": lambda value: value,
    "relu": Value.relu,
    "sigmoid": Value.sigmoid,
    "tanh": Value.tanh,
}


@dataclass(frozen=True)
class Mlp(Checked):
    """A sequence of fully connected layers.

    Attributes:
        sizes: sizes of the hidden layers.
        activation: activation of the hidden layers, "relu", "tanh" or "sigmoid"; the last layer then has no activation.
            Alternatively, one name per layer, including the last layer.
    """

    sizes: tuple[Natural, ...] = (128, 128)
    activation: str | tuple[str, ...] = "relu"

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.activations) != len(self.sizes) + 1:
            raise InputError(f"activation: expected {len(self.sizes) + 1} names, one a layer, got {len(self.activations)}")
        for name in self.activations:
            if name not in ACTIVATIONS:
                raise UnknownNameError("activation", name, ACTIVATIONS)

    @property
    def activations(self) -> tuple[str, ...]:
        """Return the activation of each layer."""
        return (*([self.activation] * len(self.sizes)), "none") if isinstance(self.activation, str) else self.activation

    def shapes(self, observe: Encoding, arrays: Mapping[str, Floats]) -> dict[str, tuple[int, ...]]:
        """Return the shapes that the weights must have; the length of the last bias determines the length of an action.

        Raises:
            InputError: the encoding's actions cannot have this length.
        """
        last = len(self.sizes)
        actions = np.size(arrays.get(f"{last}.bias", np.zeros(2)))
        if isinstance(observe, FromLimitToLimit) and actions not in (2, 3):
            raise InputError(f"the last layer gives {actions} values; an action has 2 (vx, omega) or 3 (vx, vy, omega)")
        ends = (observe.length, *self.sizes, actions)
        return {
            name: shape
            for k, (inputs, outputs) in enumerate(zip(ends[:-1], ends[1:], strict=True))
            for name, shape in ((f"{k}.weight", (inputs, outputs)), (f"{k}.bias", (outputs,)))
        }

    def state_size(self, observe: Encoding) -> int:
        """Return 0, because the network has no memory."""
        return 0

    def step(self, arrays: Mapping[str, Floats], seen: Floats, state: Floats) -> tuple[Floats, Floats]:
        """Return the actions (N, A) for observations (N, D), and the empty memory."""
        values = seen
        for k, activation in enumerate(self.activations):
            values = ACTIVATIONS[activation](dense(values, arrays[f"{k}.weight"], arrays[f"{k}.bias"]))
        return values, state

    def graph(self, policy: Policy, graph: OnnxGraph) -> None:
        """Add the layers to an ONNX graph.

        The graph reads ``observation`` (N, D) and writes ``action`` (N, A). If actions span the robot's limits, they are clipped to
        [-1, 1]; if, in addition, the policy has a body, the graph also writes ``twist`` (N, 3).
        """
        arrays, values = policy.arrays, graph.read("observation", policy.observe.length)
        for k, activation in enumerate(self.activations):
            values = _GRAPHS[activation](onnx_graph.dense(values, arrays[f"{k}.weight"], arrays[f"{k}.bias"]))
        size, limited = len(arrays[f"{len(self.sizes)}.bias"]), isinstance(policy.observe, FromLimitToLimit)
        action = values.within(-1.0, 1.0) if limited else values
        graph.write("action", action, size)
        if not limited:
            return
        names = ("vx", "vy", "omega") if size == 3 else ("vx", "omega")
        outputs = {"action": f"{', '.join(names)}, each from -1, the robot's lowest, to 1, its highest; frame: {ROBOT_FRAME}"}
        if policy.body is not None:
            graph.write("twist", _twist(graph, policy.body, action, size), 3)
            outputs["twist"] = f"vx, vy (m/s), omega (rad/s); frame: {ROBOT_FRAME}"
        graph.about["outputs"] = json.dumps(outputs)

    def learner(self, shape: Shape) -> Any:
        """Return two PyTorch towers, one for the actions and one for the value."""
        from agora.policies.learners.mlp import Towers  # needs PyTorch

        return Towers(self, shape)


def _twist(graph: OnnxGraph, body: TrainedRobot, action: Value, size: int) -> Value:
    """Return the twists (N, 3) for actions (N, 2) or (N, 3), like `agora.policies.encoding.to_twists`."""
    low, high = F(body.min_vx), F(body.max_vx)
    middle, half = F(0.5) * (high + low), F(0.5) * (high - low)
    vx = (action.part(0, 1) * float(half) + float(middle)).within(body.min_vx, body.max_vx)
    vy = action.part(1, 2) * (body.max_vy if size == 3 else 0.0)
    return graph.concat([vx, vy, action.part(size - 1, size) * body.max_omega])
