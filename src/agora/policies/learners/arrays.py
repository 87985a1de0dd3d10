"""Converts the weights of PyTorch modules to the named arrays that the networks in `agora.policies.networks` read."""

from __future__ import annotations

import numpy as np
from torch import Tensor, nn

from agora.core.state import Floats
from agora.errors import InputError

__all__ = ["arrays_of"]


def arrays_of(network: nn.Module) -> dict[str, Floats]:
    """Return the weights by name, with inputs first: ``<module>.weight``, or ``<module>.<k>.weight`` for layer k of a sequence.

    Raises:
        InputError: a module is not a `Linear`, `Sequential` of `Linear`, `LSTMCell` or `GRUCell`.
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
