"""DS-RNN's network, evaluated in a fixed order, without PyTorch; `agora.policies.learners.ds_rnn` contains the trainable version.

S. Liu, P. Chang, W. Liang, N. Chakraborty, K. Driggs-Campbell, ICRA 2021, section III, and its code (Shuijing725/CrowdNav_DSRNN).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from agora.core.state import Floats
from agora.interfaces import Encoding, Shape
from agora.policies.joint_state import GOAL, PERSON, RADIUS, ROBOT, SPEED, VX, VY
from agora.policies.layers import attend, relu, tanh
from agora.policies.named_layers import NamedLayers, shapes_of
from agora.policies.networks.remembering import Layers, Remembering
from agora.policies.onnx_graph import Value, gru
from agora.policies.robot_and_people import ACTIONS, RobotAndPeople

if TYPE_CHECKING:
    from agora.policies.policy import Policy


@dataclass(frozen=True)
class DsRnnNetwork(Remembering):
    """A graph of recurrent units: one unit for each person, one for the robot's own velocity, and one for the robot.

    Attributes:
        width: width of the layers, as a fraction of the published width.
    """

    sizes: ClassVar[tuple[int, ...]] = (64, 256, 128, 64, 256)
    """The published sizes of the embeddings, edges, node, attention and heads."""

    node: ClassVar[tuple[int, ...]] = (GOAL, SPEED, RADIUS)
    """Indices of the values of the robot's node in the observation."""

    motion: ClassVar[tuple[int, ...]] = (VX, VY)
    """Indices of the robot's own velocity in the observation."""

    def inputs(self, observe: RobotAndPeople) -> int:
        """Return the number of values per person that the edges read: only the position, or all values except the mark."""
        return 2 if observe.places_only else PERSON - 1

    def shapes(self, observe: Encoding, arrays: Mapping[str, Floats]) -> dict[str, tuple[int, ...]]:
        """Return the shapes that the weights must have.

        Raises:
            InputError: the encoding is not `RobotAndPeople`.
        """
        embedded, edge, node, attention, head = self.scaled
        layers: dict[str, tuple[int, int]] = {
            "person": (self.inputs(self.seen(observe)), embedded),
            "motion": (len(self.motion), embedded),
            "key": (edge, attention),
            "query": (edge, attention),
            "robot": (len(self.node), embedded),
            "edges": (2 * edge, embedded),
            "output": (node, head),
            "actor.0": (head, head),
            "actor.1": (head, head),
            "actor.2": (head, ACTIONS),
        }
        units = {"spatial": (embedded, edge), "temporal": (embedded, edge), "node": (2 * embedded, node)}
        return shapes_of(layers, units)

    def state_size(self, observe: Encoding) -> int:
        """Return the number of values in the network's memory."""
        _, edge, node, _, _ = self.scaled
        return edge + node + self.seen(observe).people * (1 + edge)

    def step(self, arrays: Mapping[str, Floats], seen: Floats, state: Floats) -> tuple[Floats, Floats]:
        """Return the actions (N, 2) for observations (N, D) and states (N, S), and the next states (N, S).

        A row of the state contains the states of the unit for the velocity, of the unit for the robot, and of the units for people.
        The people's states are stored in the current order of the people, preceded by the marks by which people are matched from
        step to step.
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
        temporal = unit("temporal", relu(layer("motion", seen[:, self.motion])), state[:, :edge])
        count = present.sum(1, dtype=np.int64).astype(np.float32)
        keys = layer("key", spatial.reshape(-1, edge)).reshape(rows, people, -1)
        crowd = attend(layer("query", temporal) * count[:, None], keys, spatial, present)
        edges = relu(layer("edges", np.concatenate([temporal, crowd], 1)))
        robot = relu(layer("robot", seen[:, self.node]))
        after = unit("node", np.concatenate([robot, edges], 1), state[:, edge : edge + node])
        hidden = tanh(layer("actor.1", tanh(layer("actor.0", layer("output", after)))))
        return layer("actor.2", hidden), np.concatenate([temporal, after, marks, spatial.reshape(rows, -1)], 1)

    def onnx_step(self, policy: Policy, seen: Value, memory: Value) -> tuple[Value, Value]:
        """Return the actions (N, 2) and the next memory (N, S)."""
        observe = self.seen(policy.observe)
        arrays, graph, people = policy.arrays, seen.graph, observe.people
        layer = Layers(arrays)
        edge, node = len(arrays["spatial.state_weight"]), len(arrays["node.state_weight"])

        def remembered(first: int, last: int, *shape: int) -> Value:
            return memory.part(first, last).reshape(0, *shape)

        persons = seen.part(ROBOT, observe.length).reshape(0, people, PERSON)
        marks, known = persons.part(PERSON - 1, PERSON), remembered(edge + node, edge + node + people, 1, people)
        present = ~marks.equals(0.0)
        same = (marks.equals(known) & present).as_float()
        kept = remembered(edge + node + people, policy.state_size, people, edge)
        before = (same.max(2) > 0.0).where(kept.rows(same.argmax(2)), 0.0)

        spatial = gru(arrays, "spatial", layer("person", persons.part(0, self.inputs(observe))).relu(), before)
        spatial = present.where(spatial, 0.0)
        motion = graph.concat([seen.part(k, k + 1) for k in self.motion])
        temporal = gru(arrays, "temporal", layer("motion", motion).relu(), remembered(0, edge, 1, edge))
        crowd = layer.attended(temporal, spatial, present)
        edges = layer("edges", graph.concat([temporal, crowd])).relu()
        robot = layer("robot", graph.concat([seen.part(k, k + 1) for k in self.node])).relu()
        after = gru(arrays, "node", graph.concat([robot, edges]), remembered(edge, edge + node, 1, node))
        parts = ((temporal, edge), (after, node), (marks, people), (spatial, people * edge))
        return layer.action(after), graph.concat([value.reshape(0, size) for value, size in parts])

    def learner(self, shape: Shape) -> Any:
        """Return the trainable PyTorch network, with a critic."""
        from agora.policies.learners.ds_rnn import DsRnnLearner  # needs PyTorch

        return DsRnnLearner(self, shape)
