"""AG-RL's network in PyTorch, for training; `agora.policies.networks.ag_rl` evaluates its actor without PyTorch.

S. Liu et al., ICRA 2023, section III, and its code (Shuijing725/CrowdNav_Prediction_AttnGraph,
rl/networks/selfAttn_srnn_temp_node.py). The authors' code has two consecutive linear layers both before and after the attention
among people; here, each pair is replaced by one layer, which is equally expressive.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn
from torch.nn import functional

from agora.interfaces import Shape
from agora.policies.joint_state import PERSON, ROBOT
from agora.policies.learners.actor_critic import ActorCritic
from agora.policies.learners.recurrent import attended, orthogonal, unit, unrolled
from agora.policies.robot_and_people import ACTIONS

if TYPE_CHECKING:
    from agora.policies.networks.ag_rl import AgRlNetwork

_NOBODY = -1e9


class AgRlLearner(ActorCritic):
    """An actor and a critic that read the robot's state, and people's current positions and predicted positions for the next 1.25
    s.

    People attend to each other, and the robot attends to people. A gated recurrent unit serves as memory.

    Args:
        network: network to train.
        shape: encoding, action size, control period and robot used in training.
    """

    def __init__(self, network: AgRlNetwork, shape: Shape) -> None:
        super().__init__(network, shape)
        first, head, edge, embedded, self.state_size, attention = network.scaled
        self.observe, wide = network.seen(shape.observe), network.heads * head
        self._seen, self._heads, self._periods, self._period = network.node, network.heads, network.periods, network.period
        self.person, self.people = nn.Linear(network.inputs(self.observe), first), nn.Linear(first, wide)
        self.asks, self.answers, self.tells = (nn.Linear(wide, wide) for _ in range(3))
        self.crowd, self.robot = nn.Linear(wide, edge), nn.Linear(len(network.node), edge)
        self.query, self.key = (nn.Linear(edge, attention) for _ in range(2))
        self.own, self.others = (nn.Linear(edge, embedded) for _ in range(2))
        self.node, self.output = unit(2 * embedded, self.state_size), nn.Linear(self.state_size, edge)
        self.actor, self.critic = (
            nn.Sequential(orthogonal(edge, edge), nn.Tanh(), orthogonal(edge, edge), nn.Tanh(), last)
            for last in (orthogonal(edge, ACTIONS, 1.0), orthogonal(edge, 1))
        )

    def forward(self, seen: Tensor, state: Tensor, begins: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Evaluate T steps of N worlds.

        Args:
            seen: (T, N, D) encoded observations.
            state: (N, S) state of the network before the first step.
            begins: (T, N) bool, whether an episode begins with the step; the state is then reset to zero.

        Returns:
            Means of the actions (T, N, 2), values (T, N), and the state after the last step (N, S).
        """
        persons = seen[..., ROBOT:].unflatten(-1, (self.observe.people, PERSON))
        present = persons[..., -1] != 0.0
        most = 1 + int((present * torch.arange(self.observe.people)).max())  # the nearest people come first, empty slots last
        persons, present = persons[..., :most, :], present[..., :most]
        robot = torch.relu(self.robot(seen[..., self._seen]))
        crowd = self._crowd(persons, present)
        others = attended(self.query(robot), self.key(crowd), crowd, present)
        both = torch.cat([torch.relu(self.own(robot)), torch.relu(self.others(others))], -1)
        gates = functional.linear(both, self.node.weight_ih, self.node.bias_ih)
        nodes = unrolled(self.node, gates, (~begins)[..., None].to(seen.dtype), state)
        output = self.output(nodes)
        return self.actor(output), self.critic(output)[..., 0], nodes[-1]

    def _crowd(self, persons: Tensor, present: Tensor) -> Tensor:
        """Return the features of people (T, N, P, E) after attention among people; 0 for absent people."""
        which = present.flatten().nonzero()[:, 0]

        def placed(values: Tensor) -> Tensor:
            return values.new_zeros(present.numel(), values.shape[-1]).index_copy(0, which, values)

        there = self._futures(persons.flatten(0, -2)[which])
        people = torch.relu(self.people(torch.relu(self.person(there))))
        size = present.shape[-1]
        queries, keys, values = (
            placed(layer(people)).unflatten(0, (-1, size)).unflatten(-1, (self._heads, -1)).transpose(1, 2)
            for layer in (self.asks, self.answers, self.tells)
        )
        mask = torch.where(present, 0.0, _NOBODY).flatten(0, -2)[:, None, None]
        scores = queries @ keys.transpose(-1, -2) / queries.shape[-1] ** 0.5 + mask
        mixed = (torch.softmax(scores, -1) @ values).transpose(1, 2).flatten(0, 1).flatten(1)
        crowd: Tensor = placed(torch.relu(self.crowd(mixed[which]))).unflatten(0, present.shape)
        return crowd

    def _futures(self, persons: Tensor) -> Tensor:
        """Return the network's inputs (M, I) for people (M, 6): positions predicted at constant velocity, and radii."""
        ahead = torch.arange(self._periods + 1, dtype=persons.dtype) * self._period
        places = (persons[:, None, :2] + ahead[:, None] * persons[:, None, 2:4]).flatten(1)
        return places if self.observe.places_only else torch.cat([places, persons[:, 4:5]], 1)
