"""Policies with a memory (DS-RNN) as ONNX graphs: one step of `agora.policies.actor`.

Values have the axes row, person and entry; those of the robot have one person.
"""

from __future__ import annotations

import json
import math

from agora.policies.actor import Actor
from agora.policies.ds_rnn import ACTIONS, MOTION, NODE, inputs_of
from agora.policies.joint_state import PERSON, ROBOT, SPEED
from agora.policies.onnx_graph import Graph, Value, dense, gru, pool
from agora.policies.onnx_notes import GOAL_FRAME, notes_of_joint_state

_PERSON = 1  # the axis of people


def actor_graph(actor: Actor) -> Graph:
    """Return the graph of a policy with a memory.

    It reads ``observation`` (N, D) and ``memory`` (N, S), all zero at the start of an episode. It writes ``action`` (N, 2) and
    ``next_memory`` (N, S), the answers of `Actor`, and ``velocity`` (N, 2), the action shortened to a length of 1 and multiplied
    by the preferred speed of the observation.
    """
    graph = Graph(_notes(actor))
    seen, memory = graph.read("observation", actor.observe.length), graph.read("memory", actor.state_size)
    action, after = _ds_rnn(actor, seen.reshape(0, 1, actor.observe.length), memory)
    graph.write("action", action, ACTIONS)
    graph.write("next_memory", after, actor.state_size)
    speed = seen.part(SPEED, SPEED + 1) / (action * action).sum(1).sqrt().maximum(1.0)
    graph.write("velocity", action * speed, ACTIONS)
    return graph


def _notes(actor: Actor) -> dict[str, str]:
    """The metadata of the file."""
    outputs = {
        "action": f"preferred speeds; frame: {GOAL_FRAME}",
        "velocity": f"m/s in the speeds of the observation; frame: {GOAL_FRAME}",
        "next_memory": "the memory of the next step, one period later",
    }
    mark = "1 + identity of a person, -1 - identity of a robot, or six zeros where nobody is"
    return {
        **actor.about,
        **notes_of_joint_state(actor.observe, last=mark),
        "format": "agora.actor",
        "network": actor.network,
        "period": json.dumps(actor.period),
        "outputs": json.dumps(outputs),
    }


def _ds_rnn(actor: Actor, seen: Value, memory: Value) -> tuple[Value, Value]:
    """The actions (N, 2) and the next memory (N, S)."""
    arrays, graph, people = actor.arrays, seen.graph, actor.observe.people
    edge, node = len(arrays["spatial.state_weight"]), len(arrays["node.state_weight"])

    def layer(name: str, values: Value) -> Value:
        return dense(values, arrays[f"{name}.weight"], arrays[f"{name}.bias"])

    def remembered(first: int, last: int, *shape: int) -> Value:
        return memory.part(first, last).reshape(0, *shape)

    persons = seen.part(ROBOT, actor.observe.length).reshape(0, people, PERSON)
    marks, known = persons.part(PERSON - 1, PERSON), remembered(edge + node, edge + node + people, 1, people)
    present = ~marks.equals(0.0)
    same = (marks.equals(known) & present).as_float()
    kept = remembered(edge + node + people, actor.state_size, people, edge)
    before = (same.max(2) > 0.0).where(kept.rows(same.argmax(2)), 0.0)

    spatial = gru(arrays, "spatial", layer("person", persons.part(0, inputs_of(actor.observe))).relu(), before)
    spatial = present.where(spatial, 0.0)
    motion = graph.concat([seen.part(k, k + 1) for k in MOTION])
    temporal = gru(arrays, "temporal", layer("motion", motion).relu(), remembered(0, edge, 1, edge))
    keys, queries = layer("key", spatial), layer("query", temporal) * present.as_float().sum(_PERSON)
    scores = (queries * keys).sum(2) * (1.0 / math.sqrt(len(arrays["key.bias"])))
    crowd = pool(scores, spatial, present, _PERSON)
    edges = layer("edges", graph.concat([temporal, crowd])).relu()
    robot = layer("robot", graph.concat([seen.part(k, k + 1) for k in NODE])).relu()
    after = gru(arrays, "node", graph.concat([robot, edges]), remembered(edge, edge + node, 1, node))
    hidden = layer("actor.1", layer("actor.0", layer("output", after)).tanh()).tanh()
    parts = ((temporal, edge), (after, node), (marks, people), (spatial, people * edge))
    return layer("actor.2", hidden).reshape(0, ACTIONS), graph.concat([value.reshape(0, size) for value, size in parts])
