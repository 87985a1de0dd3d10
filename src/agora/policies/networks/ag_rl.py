"""AG-RL's network, evaluated in a fixed order, without PyTorch; `agora.policies.learners.ag_rl` contains the trainable version.

S. Liu, P. Chang, Z. Huang, N. Chakraborty, K. Hong, W. Liang, D. L. McPherson, J. Geng, K. Driggs-Campbell, "Intention aware robot
crowd navigation with attention-based interaction graph", ICRA 2023, section III, and its code
(Shuijing725/CrowdNav_Prediction_AttnGraph).

People's positions are predicted at constant velocity, which is one of the published predictors.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from agora.core.state import Floats
from agora.interfaces import Encoding, Shape
from agora.policies.joint_state import GOAL, PERSON, RADIUS, ROBOT, SPEED, VX, VY
from agora.policies.layers import attend, mix, relu, tanh
from agora.policies.named_layers import NamedLayers, shapes_of
from agora.policies.networks.remembering import Layers, Remembering
from agora.policies.onnx_graph import Value, gru, pool
from agora.policies.robot_and_people import ACTIONS, RobotAndPeople

if TYPE_CHECKING:
    from agora.policies.policy import Policy


@dataclass(frozen=True)
class AgRlNetwork(Remembering):
    """Attention among people, and from the robot to people, based on current positions and predictions for the next 1.25 s.

    Attributes:
        width: width of the layers, as a fraction of the published width.
    """

    sizes: ClassVar[tuple[int, ...]] = (128, 64, 256, 64, 128, 64)
    """The published sizes of the first layer, each head, the edges, the embeddings, the node and the attention."""

    node: ClassVar[tuple[int, ...]] = (GOAL, SPEED, RADIUS, VX, VY)
    """Indices of the values of the robot's node in the observation."""

    periods: ClassVar[int] = 5
    """Number of predicted positions per person."""

    period: ClassVar[float] = 0.25
    """Time between two predicted positions, s."""

    heads: ClassVar[int] = 8
    """Number of heads of the attention among people."""

    def inputs(self, observe: RobotAndPeople) -> int:
        """Return the number of values that the network reads per person: positions, as published, or positions and the radius."""
        return 2 * (self.periods + 1) + (0 if observe.places_only else 1)

    def shapes(self, observe: Encoding, arrays: Mapping[str, Floats]) -> dict[str, tuple[int, ...]]:
        """Return the shapes that the weights must have.

        Raises:
            InputError: the encoding is not `RobotAndPeople`.
        """
        first, head, edge, embedded, node, attention = self.scaled
        wide = self.heads * head
        layers = {
            "person": (self.inputs(self.seen(observe)), first),
            "people": (first, wide),
            **{name: (wide, wide) for name in ("asks", "answers", "tells")},
            "crowd": (wide, edge),
            "robot": (len(self.node), edge),
            **{name: (edge, attention) for name in ("query", "key")},
            **{name: (edge, embedded) for name in ("own", "others")},
            "output": (node, edge),
            "actor.0": (edge, edge),
            "actor.1": (edge, edge),
            "actor.2": (edge, ACTIONS),
        }
        return shapes_of(layers, {"node": (2 * embedded, node)})

    def state_size(self, observe: Encoding) -> int:
        """Return the number of values in the network's memory."""
        return self.scaled[4]

    def step(self, arrays: Mapping[str, Floats], seen: Floats, state: Floats) -> tuple[Floats, Floats]:
        """Return the actions (N, 2) for observations (N, D) and memories (N, S), and the next memories (N, S)."""
        named = NamedLayers(arrays)
        layer = named.layer
        persons = seen[:, ROBOT:].reshape(len(seen), -1, PERSON)
        present = persons[..., -1] != 0.0

        def placed(values: Floats) -> Floats:
            out = np.zeros((*present.shape, values.shape[1]), np.float32)
            out[present] = values
            return out

        there = self.places(persons[present])[:, : len(arrays["person.weight"])]
        people = relu(layer("people", relu(layer("person", there))))
        queries, keys, values = (placed(layer(name, people)) for name in ("asks", "answers", "tells"))
        crowd = placed(relu(layer("crowd", mix(queries, keys, values, present, self.heads)[present])))
        robot = relu(layer("robot", seen[:, self.node]))
        count = present.sum(1, dtype=np.int64).astype(np.float32)
        told = layer("key", crowd.reshape(-1, crowd.shape[2])).reshape(*present.shape, -1)
        others = attend(layer("query", robot) * count[:, None], told, crowd, present)
        both = np.concatenate([relu(layer("own", robot)), relu(layer("others", others))], 1)
        after = named.unit("node", both, state)
        hidden = tanh(layer("actor.1", tanh(layer("actor.0", layer("output", after)))))
        return layer("actor.2", hidden), after

    def places(self, persons: Floats) -> Floats:
        """Return, for observed people (M, PERSON), the current and predicted positions and the radius (M, 2 (periods + 1) + 1)."""
        ahead = (np.arange(self.periods + 1) * self.period).astype(np.float32)
        there = (persons[:, None, :2] + ahead[:, None] * persons[:, None, 2:4]).reshape(len(persons), 2 * (self.periods + 1))
        return np.concatenate([there, persons[:, 4:5]], 1)

    def onnx_step(self, policy: Policy, seen: Value, memory: Value) -> tuple[Value, Value]:
        """Return the actions (N, 2) and the next memory (N, S)."""
        observe = self.seen(policy.observe)
        arrays, graph, people = policy.arrays, seen.graph, observe.people
        layer, size = Layers(arrays), len(arrays["tells.bias"]) // self.heads
        persons = seen.part(ROBOT, observe.length).reshape(0, people, PERSON)
        present = ~persons.part(PERSON - 1, PERSON).equals(0.0)
        places = [persons.part(0, 2) + persons.part(2, 4) * (k * self.period) for k in range(self.periods + 1)]
        there = graph.concat(places if observe.places_only else [*places, persons.part(4, 5)])
        embedded = layer("people", layer("person", there).relu()).relu()

        queries = layer("asks", embedded).reshape(0, people, 1, self.heads, size)
        keys, values = (layer(name, embedded).reshape(0, 1, people, self.heads, size) for name in ("answers", "tells"))
        scores = (queries * keys).sum(-1) * (1.0 / math.sqrt(size))
        mixed = pool(scores, values, present.reshape(0, 1, people, 1, 1), 2).reshape(0, people, self.heads * size)
        crowd = present.where(layer("crowd", mixed).relu(), 0.0)
        robot = layer("robot", graph.concat([seen.part(k, k + 1) for k in self.node])).relu()
        others = layer.attended(robot, crowd, present)
        both = graph.concat([layer("own", robot).relu(), layer("others", others).relu()])
        after = gru(arrays, "node", both, memory.reshape(0, 1, policy.state_size))
        return layer.action(after), after.reshape(0, policy.state_size)

    def learner(self, shape: Shape) -> Any:
        """Return the trainable PyTorch network, with a critic."""
        from agora.policies.learners.ag_rl import AgRlLearner  # needs PyTorch

        return AgRlLearner(self, shape)
