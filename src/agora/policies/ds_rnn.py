"""DS-RNN's network, evaluated in a fixed order, without PyTorch; `agora.learning.trainers.ds_rnn` trains it.

S. Liu, P. Chang, W. Liang, N. Chakraborty, K. Driggs-Campbell, ICRA 2021, section III, and its code (Shuijing725/CrowdNav_DSRNN).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from agora.core.state import Floats
from agora.policies.joint_state import GOAL, PERSON, RADIUS, ROBOT, SPEED, VX, VY
from agora.policies.layers import attend, relu, tanh
from agora.policies.named_layers import NamedLayers, shapes_of, size_of
from agora.policies.robot_and_people import RobotAndPeople

NODE, MOTION = (GOAL, SPEED, RADIUS), (VX, VY)
"""Where the values of the robot's node and of its own velocity stand in what the robot sees."""

ACTIONS = 2


def inputs_of(observe: RobotAndPeople) -> int:
    """Return how many values of a person DS-RNN's edges read: the place alone, or everything but the mark."""
    return 2 if observe.places_only else PERSON - 1


def shapes(arrays: Mapping[str, Floats], observe: RobotAndPeople) -> dict[str, tuple[int, ...]]:
    """Return the shapes that the weights must have, by the sizes that some of them have."""
    edge, node = (size_of(arrays, f"{name}.state_weight", 0) for name in ("spatial", "node"))
    attention, embedded, output, head = (size_of(arrays, f"{name}.weight", 1) for name in ("key", "person", "output", "actor.0"))
    layers: dict[str, tuple[int, int]] = {
        "person": (inputs_of(observe), embedded),
        "motion": (len(MOTION), embedded),
        "key": (edge, attention),
        "query": (edge, attention),
        "robot": (len(NODE), embedded),
        "edges": (2 * edge, embedded),
        "output": (node, output),
        "actor.0": (output, head),
        "actor.1": (head, head),
        "actor.2": (head, ACTIONS),
    }
    units = {"spatial": (embedded, edge), "temporal": (embedded, edge), "node": (2 * embedded, node)}
    return shapes_of(layers, units)


def state_size(arrays: Mapping[str, Floats], people: int) -> int:
    """Return S, how many values the network remembers."""
    edge, node = len(arrays["spatial.state_weight"]), len(arrays["node.state_weight"])
    return edge + node + people * (1 + edge)


def step(arrays: Mapping[str, Floats], seen: Floats, state: Floats) -> tuple[Floats, Floats]:
    """Return the actions and the next state; a row of the state is that of the velocity, of the robot, and of people.

    People's states stand in the order in which people are seen now, behind the marks by which they are found again.
    """
    named = NamedLayers(arrays)
    layer, unit = named.layer, named.unit
    rows, people = len(seen), (seen.shape[1] - ROBOT) // PERSON
    edge, node = len(arrays["spatial.state_weight"]), len(arrays["node.state_weight"])
    persons = seen[:, ROBOT:].reshape(rows, people, PERSON)
    marks, known = persons[..., -1], state[:, edge + node : edge + node + people]
    present = marks != 0.0
    same = (marks[:, :, None] == known[:, None, :]) & present[..., None]
    kept = state[:, edge + node + people :].reshape(rows, people, edge)
    before = np.where(same.any(2)[..., None], np.take_along_axis(kept, same.argmax(2)[..., None], 1), np.float32(0.0))

    inputs = arrays["person.weight"].shape[0]
    seen_people = relu(layer("person", persons[..., :inputs].reshape(-1, inputs)))
    spatial = unit("spatial", seen_people, before.reshape(-1, edge)).reshape(rows, people, edge)
    spatial = np.where(present[..., None], spatial, np.float32(0.0))
    temporal = unit("temporal", relu(layer("motion", seen[:, MOTION])), state[:, :edge])
    count = present.sum(1, dtype=np.int64).astype(np.float32)
    keys = layer("key", spatial.reshape(-1, edge)).reshape(rows, people, -1)
    crowd = attend(layer("query", temporal) * count[:, None], keys, spatial, present)
    edges = relu(layer("edges", np.concatenate([temporal, crowd], 1)))
    robot = relu(layer("robot", seen[:, NODE]))
    after = unit("node", np.concatenate([robot, edges], 1), state[:, edge : edge + node])
    hidden = tanh(layer("actor.1", tanh(layer("actor.0", layer("output", after)))))
    return layer("actor.2", hidden), np.concatenate([temporal, after, marks, spatial.reshape(rows, -1)], 1)
