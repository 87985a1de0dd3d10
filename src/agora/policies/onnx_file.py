"""Policies as ONNX files, for programs without Agora and PyTorch."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from agora.core.scalar import F
from agora.policies.ga3c import Ga3c
from agora.policies.load import AnyPolicy
from agora.policies.onnx_actor import actor_graph
from agora.policies.onnx_ga3c import ga3c_graph
from agora.policies.onnx_graph import Graph, Value, dense
from agora.policies.onnx_notes import ROBOT_FRAME, notes_of_observe
from agora.policies.onnx_value import value_graph
from agora.policies.policy import Body, Policy
from agora.policies.value import ValuePolicy

__all__ = ["export_onnx"]

_ACTIVATIONS: dict[str, Callable[[Value], Value]] = {
    "none": lambda value: value,
    "relu": Value.relu,
    "sigmoid": Value.sigmoid,
    "tanh": Value.tanh,
}


def export_onnx(policy: AnyPolicy, path: Path) -> None:
    """Write a policy and its post-processing as an ONNX file of opset 17. All tensors are float32; N is any number of robots.

    | policy | inputs | outputs |
    |---|---|---|
    | `Policy` | ``observation`` (N, D) | ``action`` (N, A), in [-1, 1]; ``twist`` (N, 3) where the policy names its robot |
    | `ValuePolicy` | ``state`` (N, D) | ``velocity`` (N, 2), m/s; ``promised`` (N, candidates) |
    | `Actor` | ``observation`` (N, D), ``memory`` (N, S) | ``action`` (N, 2), ``velocity`` (N, 2), ``next_memory`` (N, S) |
    | `Ga3c` | ``observation`` (N, D) | ``action`` (N, 2), ``command`` (N, 2), m/s and rad; ``scores`` (N, 11) |

    A ``twist`` is (vx, vy, omega) in m/s and rad/s, in the robot's frame. It does not know the turning radius of car-like robots.
    A ``velocity`` is in the goal frame, in the speeds of the state: multiply it by `JointState.scale`.

    The metadata describe the input. ``format`` has the kind of the policy. ``observe`` (the fields of the encoding), ``parts``
    (the first index of each part and one more than its last), ``units`` and ``outputs`` are JSON; ``frame`` is text. The notes of
    the policy follow under their own names. ONNX Runtime rounds differently: its answers differ in the last digits.

    Args:
        policy: of any kind.
        path: of the file.

    Raises:
        InputError: the package onnx is missing, or the file cannot be written.
    """
    if isinstance(policy, Policy):
        graph = _policy_graph(policy)
    elif isinstance(policy, ValuePolicy):
        graph = value_graph(policy)
    elif isinstance(policy, Ga3c):
        graph = ga3c_graph(policy)
    else:
        graph = actor_graph(policy)
    graph.save(path)


def _policy_graph(policy: Policy) -> Graph:
    """The graph of a policy of layers."""
    graph, size = Graph(_notes(policy)), len(policy.layers[-1].bias)
    values = graph.read("observation", policy.observe.length)
    for layer in policy.layers:
        values = _ACTIVATIONS[layer.activation](dense(values, layer.weight, layer.bias))
    action = values.within(-1.0, 1.0)
    graph.write("action", action, size)
    if policy.body is not None:
        graph.write("twist", _twist(graph, policy.body, action, size), 3)
    return graph


def _twist(graph: Graph, body: Body, action: Value, size: int) -> Value:
    """The twists (N, 3) of actions (N, 2) or (N, 3): `agora.policies.encoding.to_twists`."""
    low, high = F(body.min_vx), F(body.max_vx)
    middle, half = F(0.5) * (high + low), F(0.5) * (high - low)
    vx = (action.part(0, 1) * float(half) + float(middle)).within(body.min_vx, body.max_vx)
    vy = action.part(1, 2) * (body.max_vy if size == 3 else 0.0)
    return graph.concat([vx, vy, action.part(size - 1, size) * body.max_omega])


def _notes(policy: Policy) -> dict[str, str]:
    """The metadata of the file."""
    names = ("vx", "vy", "omega") if len(policy.layers[-1].bias) == 3 else ("vx", "omega")
    outputs = {"action": f"{', '.join(names)}, each from -1, the robot's lowest, to 1, its highest; frame: {ROBOT_FRAME}"}
    notes = {**policy.about, **notes_of_observe(policy.observe), "format": "agora.policy"}
    if policy.body is not None:
        outputs["twist"] = f"vx, vy (m/s), omega (rad/s); frame: {ROBOT_FRAME}"
        notes["body"] = json.dumps(asdict(policy.body))
    return notes | {"outputs": json.dumps(outputs)}
