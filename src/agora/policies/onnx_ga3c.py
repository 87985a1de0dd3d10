"""GA3C-CADRL's policies as ONNX graphs: `agora.policies.ga3c`.

Values have the axes row, other and entry; those of the robot have one other.
"""

from __future__ import annotations

import json
import math

import numpy as np

from agora.core.state import Floats
from agora.policies.ga3c import CHOICES, HOST_MEAN, HOST_SCALE, OTHER_MEAN, OTHER_SCALE, TURN, Ga3c
from agora.policies.joint_state import COSINE, GOAL, PERSON, RADIUS, ROBOT, SINE, SPEED
from agora.policies.onnx_graph import Graph, Value, dense, lstm
from agora.policies.onnx_notes import GOAL_FRAME, notes_of_joint_state

_TINY = 1e-30


def ga3c_graph(policy: Ga3c) -> Graph:
    """Return the graph of a policy of GA3C-CADRL.

    It reads ``observation`` (N, D). It writes ``scores`` (N, 11) of the actions, ``action`` (N, 2), the answer of `Ga3c`, and
    ``command`` (N, 2): the speed in the speeds of the observation, m/s, and the change of heading within a period, rad.
    """
    graph = Graph(_notes(policy))
    seen = graph.read("observation", policy.observe.length)
    scores = _scores(policy, seen)
    action = graph.add("Gather", CHOICES, scores.argmax(1, keep=False), axis=0)
    graph.write("scores", scores, len(CHOICES))
    graph.write("action", action, 2)
    command = graph.concat([action.part(0, 1) * seen.part(SPEED, SPEED + 1), action.part(1, 2) * TURN])
    graph.write("command", command, 2)
    return graph


def _notes(policy: Ga3c) -> dict[str, str]:
    """The metadata of the file."""
    outputs = {
        "scores": "of the actions; their softmax are the probabilities",
        "action": "speed in preferred speeds; change of heading in units of 30 degrees, positive to the left",
        "command": "speed in the speeds of the observation, m/s; change of heading within a period, rad",
    }
    return {
        **policy.about,
        **notes_of_joint_state(policy.observe, last="1, or six zeros where nobody is"),
        "format": "agora.ga3c",
        "network": "ga3c",
        "period": json.dumps(policy.observe.period),
        "actions": json.dumps(CHOICES.tolist()),
        "outputs": json.dumps(outputs),
        "frame": GOAL_FRAME,
    }


def _angle(y: Value, x: Value) -> Value:
    """The angle of (x, y), by that of half of it: ONNX has no arc tangent of two values."""
    graph, length = y.graph, (x * x + y * y).sqrt()
    ahead = graph.add("Atan", y / (length + x).maximum(_TINY)) * 2.0
    behind = graph.add("Atan", y / (length - x).maximum(_TINY)) * 2.0
    return (x < 0.0).where((y < 0.0).where(-math.pi - behind, math.pi - behind), ahead)


def _scaled(graph: Graph, values: list[Value], mean: Floats, scale: Floats) -> Value:
    return (graph.concat(values) - mean) / scale


def _scores(policy: Ga3c, seen: Value) -> Value:
    """The scores (N, 11)."""
    arrays, graph, people = policy.arrays, seen.graph, policy.observe.people
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
        after, kept = lstm(arrays, "lstm", others.part(p, p + 1, 1), state, cell)
        there = present.part(p, p + 1, 1)
        state, cell = there.where(after, state), there.where(kept, cell)
    values = graph.concat([host, state])
    for name in ("hidden.0", "hidden.1"):
        values = dense(values, arrays[f"{name}.weight"], arrays[f"{name}.bias"]).relu()
    return dense(values, arrays["choice.weight"], arrays["choice.bias"]).reshape(0, len(CHOICES))
