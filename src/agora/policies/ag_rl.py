"""AG-RL's network, evaluated in a fixed order, without PyTorch; `agora.learning.trainers.ag_rl` trains it.

S. Liu, P. Chang, Z. Huang, N. Chakraborty, K. Hong, W. Liang, D. L. McPherson, J. Geng, K. Driggs-Campbell, "Intention aware robot
crowd navigation with attention-based interaction graph", ICRA 2023, section III, and its code
(Shuijing725/CrowdNav_Prediction_AttnGraph).

People are predicted at constant velocity, one of the published predictors.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from agora.core.state import Floats
from agora.policies.joint_state import GOAL, PERSON, RADIUS, ROBOT, SPEED, VX, VY
from agora.policies.layers import attend, mix, relu, tanh
from agora.policies.named_layers import NamedLayers, shapes_of, size_of
from agora.policies.robot_and_people import RobotAndPeople

NODE = (GOAL, SPEED, RADIUS, VX, VY)
"""Where the values of the robot's node stand in what the robot sees."""

PERIODS, STEP = 5, 0.25
"""How many places of a person are predicted, and the time between two, s."""

HEADS = 8
"""Of the attention of people to each other."""

ACTIONS = 2


def inputs_of(observe: RobotAndPeople) -> int:
    """Return how many values of a person the network reads: the places alone, as published, or the radius, too."""
    return 2 * (PERIODS + 1) + (0 if observe.places_only else 1)


def shapes(arrays: Mapping[str, Floats], observe: RobotAndPeople) -> dict[str, tuple[int, ...]]:
    """Return the shapes that the weights must have, by the sizes that some of them have."""
    first, wide, edge = (size_of(arrays, f"{name}.weight", 1) for name in ("person", "people", "crowd"))
    attention, embedded = (size_of(arrays, f"{name}.weight", 1) for name in ("key", "own"))
    node = size_of(arrays, "output.weight", 0)
    wide -= wide % HEADS
    layers = {
        "person": (inputs_of(observe), first),
        "people": (first, wide),
        **{name: (wide, wide) for name in ("asks", "answers", "tells")},
        "crowd": (wide, edge),
        "robot": (len(NODE), edge),
        **{name: (edge, attention) for name in ("query", "key")},
        **{name: (edge, embedded) for name in ("own", "others")},
        "output": (node, edge),
        "actor.0": (edge, edge),
        "actor.1": (edge, edge),
        "actor.2": (edge, ACTIONS),
    }
    return shapes_of(layers, {"node": (2 * embedded, node)})


def state_size(arrays: Mapping[str, Floats], people: int) -> int:
    """Return S, how many values the network remembers."""
    return len(arrays["node.state_weight"])


def step(arrays: Mapping[str, Floats], seen: Floats, state: Floats) -> tuple[Floats, Floats]:
    """Return the actions (N, 2) of what N robots see (N, D) and remember (N, S), and what they remember then."""
    named = NamedLayers(arrays)
    layer = named.layer
    persons = seen[:, ROBOT:].reshape(len(seen), -1, PERSON)
    present = persons[..., -1] != 0.0

    def placed(values: Floats) -> Floats:
        out = np.zeros((*present.shape, values.shape[1]), np.float32)
        out[present] = values
        return out

    there = _futures(persons[present], len(arrays["person.weight"]))
    people = relu(layer("people", relu(layer("person", there))))
    queries, keys, values = (placed(layer(name, people)) for name in ("asks", "answers", "tells"))
    crowd = placed(relu(layer("crowd", mix(queries, keys, values, present, HEADS)[present])))
    robot = relu(layer("robot", seen[:, NODE]))
    count = present.sum(1, dtype=np.int64).astype(np.float32)
    told = layer("key", crowd.reshape(-1, crowd.shape[2])).reshape(*present.shape, -1)
    others = attend(layer("query", robot) * count[:, None], told, crowd, present)
    both = np.concatenate([relu(layer("own", robot)), relu(layer("others", others))], 1)
    after = named.unit("node", both, state)
    hidden = tanh(layer("actor.1", tanh(layer("actor.0", layer("output", after)))))
    return layer("actor.2", hidden), after


def _futures(persons: Floats, inputs: int) -> Floats:
    """What the network reads (M, I) of people (M, 6): their places at constant velocity, and their radii."""
    ahead = (np.arange(PERIODS + 1) * STEP).astype(np.float32)
    places = (persons[:, None, :2] + ahead[:, None] * persons[:, None, 2:4]).reshape(len(persons), 2 * (PERIODS + 1))
    return np.concatenate([places, persons[:, 4:5]], 1)[:, :inputs]
