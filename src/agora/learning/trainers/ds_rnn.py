"""DS-RNN's network in PyTorch, to be trained; `agora.policies.actor` evaluates its actor without it.

S. Liu et al., ICRA 2021, section III, and its code (Shuijing725/CrowdNav_DSRNN, pytorchBaselines/a2c_ppo_acktr/srnn_model.py).
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn
from torch.nn import functional

from agora.errors import InputError
from agora.learning.trainers.actor_critic import ActorCritic, Shape
from agora.learning.trainers.value_networks import arrays_of
from agora.policies.actor import ACTIONS, MOTION, NODE, Actor, inputs_of
from agora.policies.joint_state import PERSON, ROBOT
from agora.policies.robot_and_people import RobotAndPeople

_EMBEDDING, _EDGE, _NODE, _ATTENTION, _HEAD = 64, 256, 128, 64, 256  # the published sizes


class DsRnn(ActorCritic):
    """An actor and a critic over the robot's node, its temporal edge and the spatial edges to people.

    Edges to people share one gated recurrent unit; the temporal edge and the node have a unit each. The robot attends to people.
    The code scales the attention by the number of people; here that is the number of those who are there.

    Args:
        shape: what the network is made for; ``width`` scales the published sizes, ``sizes`` and ``activation`` do not count.

    Raises:
        InputError: the encoding is not `RobotAndPeople`.
    """

    def __init__(self, shape: Shape) -> None:
        super().__init__(shape)
        if not isinstance(shape.observe, RobotAndPeople):
            raise InputError(f"a network 'ds_rnn' sees with the encoding robot_and_people, got {type(shape.observe).__name__}")
        embedded, self.edge_size, self.node_size, attention, head = (
            max(1, round(shape.width * size)) for size in (_EMBEDDING, _EDGE, _NODE, _ATTENTION, _HEAD)
        )
        self.observe, self.inputs = shape.observe, inputs_of(shape.observe)
        self.person, self.motion = nn.Linear(self.inputs, embedded), nn.Linear(len(MOTION), embedded)
        self.spatial, self.temporal = (_unit(embedded, self.edge_size) for _ in range(2))
        self.query, self.key = (nn.Linear(self.edge_size, attention) for _ in range(2))
        self.robot, self.edges = _orthogonal(len(NODE), embedded), nn.Linear(2 * self.edge_size, embedded)
        self.node, self.output = _unit(2 * embedded, self.node_size), nn.Linear(self.node_size, head)
        self.actor, self.critic = (
            nn.Sequential(_orthogonal(head, head), nn.Tanh(), _orthogonal(head, head), nn.Tanh(), last)
            for last in (_orthogonal(head, ACTIONS, 1.0), _orthogonal(head, 1))
        )
        self.state_size = self.edge_size + self.node_size + self.observe.people * (1 + self.edge_size)

    def forward(self, seen: Tensor, state: Tensor, begins: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Go through T steps of N worlds.

        Args:
            seen: (T, N, D) encoded observations.
            state: (N, S) before the first step.
            begins: (T, N) bool, whether an episode begins with the step; the state is zeroed there.

        Returns:
            Means of the actions (T, N, 2), values (T, N), and the state after the last step (N, S).
        """
        people, edge, node = self.observe.people, self.edge_size, self.node_size
        persons = seen[..., ROBOT:].unflatten(-1, (people, PERSON))
        marks, stay = persons[..., -1], (~begins)[..., None].to(seen.dtype)
        temporal, after, known, spatial = state.split((edge, node, people, people * edge), -1)
        seen_people = self._edges(persons, marks, stay, known, spatial.unflatten(-1, (people, edge)))
        moves = functional.linear(torch.relu(self.motion(seen[..., MOTION])), self.temporal.weight_ih, self.temporal.bias_ih)
        own = _unrolled(self.temporal, moves, stay, temporal)
        crowd = self._attend(own, seen_people, marks != 0.0)
        edges = torch.relu(self.edges(torch.cat([own, crowd], -1)))
        both = torch.cat([torch.relu(self.robot(seen[..., NODE])), edges], -1)
        nodes = _unrolled(self.node, functional.linear(both, self.node.weight_ih, self.node.bias_ih), stay, after)
        output = self.output(nodes)
        last = torch.cat([own[-1], nodes[-1], marks[-1], seen_people[-1].flatten(1)], -1)
        return self.actor(output), self.critic(output)[..., 0], last

    def _edges(self, persons: Tensor, marks: Tensor, stay: Tensor, known: Tensor, before: Tensor) -> Tensor:
        """Return the states (T, N, P, E) of people, each going on from that of the same mark; 0 where there is nobody."""
        gates = functional.linear(
            torch.relu(self.person(persons[..., : self.inputs])), self.spatial.weight_ih, self.spatial.bias_ih
        )
        states = []
        for gate, mark, goes_on in zip(gates, marks, stay, strict=True):
            present = mark[..., None] != 0.0
            same = (mark[..., None] == (known * goes_on)[:, None, :]) & present
            going_on = same.to(before.dtype) @ before
            before = _next(self.spatial, gate, going_on) * present
            known = mark
            states.append(before)
        return torch.stack(states)

    def _attend(self, own: Tensor, people: Tensor, present: Tensor) -> Tensor:
        """Return the mean (T, N, E) of the states of people, weighed by attention; 0 where there is nobody."""
        query, keys = self.query(own), self.key(people)
        scale = present.sum(-1, keepdim=True) / keys.shape[-1] ** 0.5
        scores = ((query[..., None, :] * keys).sum(-1) * scale).masked_fill(~present, -torch.inf)
        somebody = present.any(-1, keepdim=True)
        share = torch.softmax(torch.where(somebody, scores, 0.0), -1) * somebody
        return (share[..., None] * people).sum(-2)

    def policy(self, about: Mapping[str, str]) -> Actor:
        """Return the policy that drives without PyTorch: it takes the means of the actions.

        Args:
            about: notes for readers.
        """
        arrays = {name: array for name, array in arrays_of(self).items() if not name.startswith("critic")}
        return Actor("ds_rnn", arrays, self.observe, self.shape.period, dict(about))


def _unrolled(unit: nn.GRUCell, gates: Tensor, stay: Tensor, state: Tensor) -> Tensor:
    """Return the states (T, N, S) of a unit over T steps; ``stay`` (T, N, 1) is 0 where it begins anew."""
    states = []
    for gate, going_on in zip(gates, stay, strict=True):
        state = _next(unit, gate, state * going_on)
        states.append(state)
    return torch.stack(states)


def _next(unit: nn.GRUCell, gates: Tensor, state: Tensor) -> Tensor:
    """Return a unit's next state, given its inputs' share of the gates, which is computed for all steps at once."""
    reset, update, new = gates.chunk(3, -1)
    old_reset, old_update, old_new = functional.linear(state, unit.weight_hh, unit.bias_hh).chunk(3, -1)
    keep = torch.sigmoid(update + old_update)
    found = torch.tanh(new + torch.sigmoid(reset + old_reset) * old_new)
    return found + keep * (state - found)


def _unit(inputs: int, size: int) -> nn.GRUCell:
    """A gated recurrent unit with orthogonal weights and zero biases."""
    unit = nn.GRUCell(inputs, size)
    for name, weights in unit.named_parameters():
        if "bias" in name:
            nn.init.zeros_(weights)
        else:
            nn.init.orthogonal_(weights)
    return unit


def _orthogonal(inputs: int, outputs: int, gain: float = 2.0**0.5) -> nn.Linear:
    layer = nn.Linear(inputs, outputs)
    nn.init.orthogonal_(layer.weight, gain)
    nn.init.zeros_(layer.bias)
    return layer
