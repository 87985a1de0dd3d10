"""Policies with a memory (AG-RL, DS-RNN) as ONNX graphs: one step of `agora.policies.actor`.

Values have the axes row, person and entry; those of the robot have one person.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping

from agora.core.state import Floats
from agora.policies import ag_rl
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
    action, after = _STEPS[actor.network](actor, seen.reshape(0, 1, actor.observe.length), memory)
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
    layer = _Layers(arrays)
    edge, node = len(arrays["spatial.state_weight"]), len(arrays["node.state_weight"])

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
    crowd = layer.attended(temporal, spatial, present)
    edges = layer("edges", graph.concat([temporal, crowd])).relu()
    robot = layer("robot", graph.concat([seen.part(k, k + 1) for k in NODE])).relu()
    after = gru(arrays, "node", graph.concat([robot, edges]), remembered(edge, edge + node, 1, node))
    parts = ((temporal, edge), (after, node), (marks, people), (spatial, people * edge))
    return layer.action(after), graph.concat([value.reshape(0, size) for value, size in parts])


def _ag_rl(actor: Actor, seen: Value, memory: Value) -> tuple[Value, Value]:
    """The actions (N, 2) and the next memory (N, S)."""
    arrays, graph, people = actor.arrays, seen.graph, actor.observe.people
    layer, size = _Layers(arrays), len(arrays["tells.bias"]) // ag_rl.HEADS
    persons = seen.part(ROBOT, actor.observe.length).reshape(0, people, PERSON)
    present = ~persons.part(PERSON - 1, PERSON).equals(0.0)
    places = [persons.part(0, 2) + persons.part(2, 4) * (k * ag_rl.STEP) for k in range(ag_rl.PERIODS + 1)]
    there = graph.concat(places if actor.observe.places_only else [*places, persons.part(4, 5)])
    embedded = layer("people", layer("person", there).relu()).relu()

    queries = layer("asks", embedded).reshape(0, people, 1, ag_rl.HEADS, size)
    keys, values = (layer(name, embedded).reshape(0, 1, people, ag_rl.HEADS, size) for name in ("answers", "tells"))
    scores = (queries * keys).sum(-1) * (1.0 / math.sqrt(size))
    mixed = pool(scores, values, present.reshape(0, 1, people, 1, 1), 2).reshape(0, people, ag_rl.HEADS * size)
    crowd = present.where(layer("crowd", mixed).relu(), 0.0)
    robot = layer("robot", graph.concat([seen.part(k, k + 1) for k in ag_rl.NODE])).relu()
    others = layer.attended(robot, crowd, present)
    both = graph.concat([layer("own", robot).relu(), layer("others", others).relu()])
    after = gru(arrays, "node", both, memory.reshape(0, 1, actor.state_size))
    return layer.action(after), after.reshape(0, actor.state_size)


class _Layers:
    """Adds the layers of a network to a graph.

    Args:
        arrays: weights by name.
    """

    def __init__(self, arrays: Mapping[str, Floats]) -> None:
        self._arrays = arrays

    def __call__(self, name: str, values: Value) -> Value:
        """The outputs of a layer."""
        return dense(values, self._arrays[f"{name}.weight"], self._arrays[f"{name}.bias"])

    def attended(self, asking: Value, people: Value, present: Value) -> Value:
        """The mean of people (N, P, V), weighed by attention; scores are multiplied by how many there are."""
        queries, keys = self("query", asking) * present.as_float().sum(_PERSON), self("key", people)
        scores = (queries * keys).sum(2) * (1.0 / math.sqrt(len(self._arrays["key.bias"])))
        return pool(scores, people, present, _PERSON)

    def action(self, state: Value) -> Value:
        """The actions (N, 2) of states (N, 1, S)."""
        hidden = self("actor.1", self("actor.0", self("output", state)).tanh()).tanh()
        return self("actor.2", hidden).reshape(0, ACTIONS)


_STEPS = {"ag_rl": _ag_rl, "ds_rnn": _ds_rnn}
