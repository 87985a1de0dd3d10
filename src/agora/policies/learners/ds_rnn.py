"""DS-RNN's network in PyTorch, for training; `agora.policies.networks.ds_rnn` evaluates its actor without PyTorch.

S. Liu et al., ICRA 2021, section III, and its code (Shuijing725/CrowdNav_DSRNN, pytorchBaselines/a2c_ppo_acktr/srnn_model.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn
from torch.nn import functional

from agora.interfaces import Shape
from agora.policies.joint_state import PERSON, ROBOT
from agora.policies.learners.actor_critic import ActorCritic
from agora.policies.learners.recurrent import attended, following, orthogonal, unit, unrolled
from agora.policies.robot_and_people import ACTIONS

if TYPE_CHECKING:
    from agora.policies.networks.ds_rnn import DsRnnNetwork


class DsRnnLearner(ActorCritic):
    """An actor and a critic that read the robot's node, the temporal edge and the spatial edges to people.

    All edges to people share one gated recurrent unit; the temporal edge and the node have one unit each. The robot attends to
    people. This network scales the attention by the number of people present; the published code uses the number of all people.

    Args:
        network: network to train.
        shape: encoding, action size, control period and robot used in training.
    """

    def __init__(self, network: DsRnnNetwork, shape: Shape) -> None:
        super().__init__(network, shape)
        embedded, self.edge_size, self.node_size, attention, head = network.scaled
        self.observe, self._seen, self._moves = network.seen(shape.observe), network.node, network.motion
        self.inputs = network.inputs(self.observe)
        self.person, self.motion = nn.Linear(self.inputs, embedded), nn.Linear(len(network.motion), embedded)
        self.spatial, self.temporal = (unit(embedded, self.edge_size) for _ in range(2))
        self.query, self.key = (nn.Linear(self.edge_size, attention) for _ in range(2))
        self.robot, self.edges = orthogonal(len(network.node), embedded), nn.Linear(2 * self.edge_size, embedded)
        self.node, self.output = unit(2 * embedded, self.node_size), nn.Linear(self.node_size, head)
        self.actor, self.critic = (
            nn.Sequential(orthogonal(head, head), nn.Tanh(), orthogonal(head, head), nn.Tanh(), last)
            for last in (orthogonal(head, ACTIONS, 1.0), orthogonal(head, 1))
        )
        self.state_size = network.state_size(self.observe)

    def forward(self, seen: Tensor, state: Tensor, begins: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Evaluate T steps of N worlds.

        Args:
            seen: (T, N, D) encoded observations.
            state: (N, S) state of the network before the first step.
            begins: (T, N) bool, whether an episode begins with the step; the state is then reset to zero.

        Returns:
            Means of the actions (T, N, 2), values (T, N), and the state after the last step (N, S).
        """
        people, edge, node = self.observe.people, self.edge_size, self.node_size
        persons = seen[..., ROBOT:].unflatten(-1, (people, PERSON))
        marks, stay = persons[..., -1], (~begins)[..., None].to(seen.dtype)
        temporal, after, known, spatial = state.split((edge, node, people, people * edge), -1)
        seen_people = self._edges(persons, marks, stay, known, spatial.unflatten(-1, (people, edge)))
        moves = functional.linear(torch.relu(self.motion(seen[..., self._moves])), self.temporal.weight_ih, self.temporal.bias_ih)
        own = unrolled(self.temporal, moves, stay, temporal)
        crowd = attended(self.query(own), self.key(seen_people), seen_people, marks != 0.0)
        edges = torch.relu(self.edges(torch.cat([own, crowd], -1)))
        both = torch.cat([torch.relu(self.robot(seen[..., self._seen])), edges], -1)
        nodes = unrolled(self.node, functional.linear(both, self.node.weight_ih, self.node.bias_ih), stay, after)
        output = self.output(nodes)
        last = torch.cat([own[-1], nodes[-1], marks[-1], seen_people[-1].flatten(1)], -1)
        return self.actor(output), self.critic(output)[..., 0], last

    def _edges(self, persons: Tensor, marks: Tensor, stay: Tensor, known: Tensor, before: Tensor) -> Tensor:
        """Return the states (T, N, P, E) of people; each person's state continues the previous state with the same mark. States of
        absent people are 0.
        """
        gates = functional.linear(
            torch.relu(self.person(persons[..., : self.inputs])), self.spatial.weight_ih, self.spatial.bias_ih
        )
        states = []
        for gate, mark, goes_on in zip(gates, marks, stay, strict=True):
            present = mark[..., None] != 0.0
            same = (mark[..., None] == (known * goes_on)[:, None, :]) & present
            going_on = same.to(before.dtype) @ before
            before = following(self.spatial, gate, going_on) * present
            known = mark
            states.append(before)
        return torch.stack(states)
