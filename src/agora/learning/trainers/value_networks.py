"""The value networks of the CrowdNav family in PyTorch, to be trained; `agora.policies.value` evaluates them without it.

Sizes are those of the CrowdNav code (vita-epfl/CrowdNav, crowd_nav/configs/policy.config), where nothing else is said.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn

from agora.core.state import Floats
from agora.errors import InputError, UnknownNameError
from agora.policies.joint_state import OWN, PAIR


def mlp(sizes: Sequence[int], *, last_relu: bool = False) -> nn.Sequential:
    """Return layers of these sizes with ReLU between them."""
    layers: list[nn.Module] = []
    for k, (inputs, outputs) in enumerate(zip(sizes[:-1], sizes[1:], strict=True)):
        layers.append(nn.Linear(inputs, outputs))
        if last_relu or k < len(sizes) - 2:
            layers.append(nn.ReLU())
    return nn.Sequential(*layers)


class Cadrl(nn.Module):
    """Y. F. Chen et al. 2017: the value with the worst person."""

    def __init__(self, width: float = 1.0) -> None:
        super().__init__()
        self.value = mlp([PAIR, *_scaled(width, 150, 100, 100), 1])

    def forward(self, pairs: Tensor, present: Tensor) -> Tensor:
        """Return the values (N,) of states as pairs (N, P, 13) of which ``present`` (N, P) are there."""
        values = self.value(pairs)[..., 0].masked_fill(~present, torch.inf)
        return torch.where(present.any(1), torch.amin(values, 1), 0.0)


class LstmRl(nn.Module):
    """M. Everett et al. 2018, as a baseline of C. Chen et al. 2019: an LSTM over people, the farthest first."""

    def __init__(self, width: float = 1.0) -> None:
        super().__init__()
        (size,) = _scaled(width, 50)
        self.lstm = nn.LSTMCell(PAIR, size)
        self.value = mlp([OWN + size, *_scaled(width, 150, 100, 100), 1])

    def forward(self, pairs: Tensor, present: Tensor) -> Tensor:
        """Return the values (N,) of states as pairs (N, P, 13), the nearest first, of which ``present`` (N, P) are there."""
        state = cell = pairs.new_zeros(len(pairs), self.lstm.hidden_size)
        for p in range(pairs.shape[1] - 1, -1, -1):
            after, kept = self.lstm(pairs[:, p], (state, cell))
            there = present[:, p, None]
            state, cell = torch.where(there, after, state), torch.where(there, kept, cell)
        value: Tensor = self.value(torch.cat([pairs[:, 0, :OWN], state], 1))[:, 0]
        return value


class Sarl(nn.Module):
    """C. Chen et al. 2019, equations 2 to 7, without the local map."""

    def __init__(self, width: float = 1.0) -> None:
        super().__init__()
        first, second, third = _scaled(width, 150, 100, 50)
        self.mlp1 = mlp([PAIR, first, second], last_relu=True)
        self.mlp2 = mlp([second, second, third])
        self.attention = mlp([2 * second, second, second, 1])
        self.mlp3 = mlp([OWN + third, first, second, second, 1])

    def forward(self, pairs: Tensor, present: Tensor) -> Tensor:
        """Return the values (N,) of states as pairs (N, P, 13) of which ``present`` (N, P) are there."""
        seen = self.mlp1(pairs)
        there = present[..., None].to(pairs.dtype)
        mean = (seen * there).sum(1, keepdim=True) / there.sum(1, keepdim=True).clamp(min=1.0)
        scores = self.attention(torch.cat([seen, mean.expand_as(seen)], -1))[..., 0].masked_fill(~present, -torch.inf)
        share = torch.where(present.any(1, keepdim=True), torch.softmax(scores, 1), 0.0)
        crowd = (share[..., None] * self.mlp2(seen)).sum(1)
        value: Tensor = self.mlp3(torch.cat([pairs[:, 0, :OWN], crowd], 1))[:, 0]
        return value


class SaCadrl(nn.Module):
    """Y. F. Chen et al. 2017 (SA-CADRL): layers that all people share, and the largest of each of their values.

    The sizes are those of the code (mit-acl/gym-collision-avoidance, ``compute_multi_net_param``), whose layers let people see each
    other, too.
    """

    def __init__(self, width: float = 1.0) -> None:
        super().__init__()
        (size,) = _scaled(width, 50)
        self.each = mlp([PAIR, size, size], last_relu=True)
        self.value = mlp([OWN + size, size, 1])

    def forward(self, pairs: Tensor, present: Tensor) -> Tensor:
        """Return the values (N,) of states as pairs (N, P, 13) of which ``present`` (N, P) are there."""
        crowd = self.each(pairs).masked_fill(~present[..., None], 0.0).amax(1)
        value: Tensor = self.value(torch.cat([pairs[:, 0, :OWN], crowd], 1))[:, 0]
        return value


NETWORKS: dict[str, type[nn.Module]] = {"cadrl": Cadrl, "lstm_rl": LstmRl, "sa_cadrl": SaCadrl, "sarl": Sarl}


def network_of(name: str, width: float = 1.0) -> nn.Module:
    """Return an untrained network.

    Args:
        name: of one of `NETWORKS`.
        width: of its layers, as a share of the published one.

    Raises:
        UnknownNameError: no such network.
    """
    if name not in NETWORKS:
        raise UnknownNameError("value network", name, NETWORKS)
    return NETWORKS[name](width)


def arrays_of(network: nn.Module) -> dict[str, Floats]:
    """Return the weights by name as `agora.policies.value` and `agora.policies.actor` read them.

    Raises:
        InputError: a module that is no `Linear`, no `Sequential` of them, no `LSTMCell` and no `GRUCell`.
    """
    arrays: dict[str, Floats] = {}
    for name, part in network.named_children():
        if isinstance(part, (nn.LSTMCell, nn.GRUCell)):
            arrays[f"{name}.weight"], arrays[f"{name}.bias"] = _plain(part.weight_ih.T), _plain(part.bias_ih)
            arrays[f"{name}.state_weight"], arrays[f"{name}.state_bias"] = _plain(part.weight_hh.T), _plain(part.bias_hh)
        elif isinstance(part, nn.Linear):
            arrays[f"{name}.weight"], arrays[f"{name}.bias"] = _plain(part.weight.T), _plain(part.bias)
        elif isinstance(part, nn.Sequential):
            for k, layer in enumerate(one for one in part if isinstance(one, nn.Linear)):
                arrays[f"{name}.{k}.weight"], arrays[f"{name}.{k}.bias"] = _plain(layer.weight.T), _plain(layer.bias)
        else:
            raise InputError(f"{name} is a {type(part).__name__}; expected a Linear, a Sequential, an LSTMCell or a GRUCell")
    return arrays


def _plain(tensor: Tensor) -> Floats:
    return np.ascontiguousarray(tensor.detach().cpu().numpy().astype(np.float32))


def _scaled(width: float, *sizes: int) -> list[int]:
    return [max(1, round(width * size)) for size in sizes]
