"""Components of PyTorch networks that read people: recurrent units over several steps, and attention to people."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional


def unrolled(unit: nn.GRUCell, gates: Tensor, stay: Tensor, state: Tensor) -> Tensor:
    """Return the states (T, N, S) of a recurrent unit over T steps; ``stay`` (T, N, 1) is 0 at steps that reset the state."""
    states = []
    for gate, going_on in zip(gates, stay, strict=True):
        state = following(unit, gate, state * going_on)
        states.append(state)
    return torch.stack(states)


def following(unit: nn.GRUCell, gates: Tensor, state: Tensor) -> Tensor:
    """Return a unit's next state, given ``gates``, the inputs' contribution to the gates, which is computed in advance for all
    steps.
    """
    reset, update, new = gates.chunk(3, -1)
    old_reset, old_update, old_new = functional.linear(state, unit.weight_hh, unit.bias_hh).chunk(3, -1)
    keep = torch.sigmoid(update + old_update)
    found = torch.tanh(new + torch.sigmoid(reset + old_reset) * old_new)
    return found + keep * (state - found)


def unit(inputs: int, size: int) -> nn.GRUCell:
    """Return a gated recurrent unit with orthogonal weights and zero biases."""
    unit = nn.GRUCell(inputs, size)
    for name, weights in unit.named_parameters():
        if "bias" in name:
            nn.init.zeros_(weights)
        else:
            nn.init.orthogonal_(weights)
    return unit


def orthogonal(inputs: int, outputs: int, gain: float = 2.0**0.5) -> nn.Linear:
    """Return a fully connected layer with orthogonal weights and zero biases."""
    layer = nn.Linear(inputs, outputs)
    nn.init.orthogonal_(layer.weight, gain)
    nn.init.zeros_(layer.bias)
    return layer


def attended(query: Tensor, keys: Tensor, values: Tensor, present: Tensor) -> Tensor:
    """Return the mean (..., E) of people's values, weighted by attention; 0 if no one is present.

    Scores are multiplied by the number of people present; the published code of DS-RNN and AG-RL uses the number of all people
    instead.

    Args:
        query: (..., K) query of the robot.
        keys: (..., P, K) keys of the people.
        values: (..., P, E) values of the people.
        present: (..., P) whether each person is present.
    """
    scale = present.sum(-1, keepdim=True) / keys.shape[-1] ** 0.5
    scores = ((query[..., None, :] * keys).sum(-1) * scale).masked_fill(~present, -torch.inf)
    somebody = present.any(-1, keepdim=True)
    share = torch.softmax(torch.where(somebody, scores, 0.0), -1) * somebody
    return (share[..., None] * values).sum(-2)
