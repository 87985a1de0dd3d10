"""Converts PyTorch networks and optimisers to and from named arrays, for checkpoints without pickle."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
from torch import nn

from agora.core.state import Array
from agora.errors import ResultsError


def state_of(network: nn.Module, optimiser: torch.optim.Optimizer) -> dict[str, Array]:
    """Return copies of the weights of a network and of the state of its optimiser."""
    arrays = {f"network.{name}": np.array(tensor.detach().cpu()) for name, tensor in network.state_dict().items()}
    for index, kept in optimiser.state_dict()["state"].items():
        for name, value in kept.items():
            if value is not None:
                arrays[f"optimiser.{index}.{name}"] = np.array(value.cpu() if isinstance(value, torch.Tensor) else value)
    return arrays


def restore(arrays: Mapping[str, Array], network: nn.Module, optimiser: torch.optim.Optimizer) -> None:
    """Restore a network and its optimiser from the arrays returned by `state_of`.

    Raises:
        ResultsError: the arrays belong to another network.
    """
    weights = {name.removeprefix("network."): torch.tensor(array) for name, array in arrays.items() if name.startswith("network.")}
    try:
        network.load_state_dict(weights)
    except RuntimeError as error:
        raise ResultsError(f"the checkpoint belongs to another network: {error}") from error
    state: dict[int, dict[str, torch.Tensor]] = {}
    for name, array in arrays.items():
        if name.startswith("optimiser."):
            _, index, key = name.split(".", 2)
            state.setdefault(int(index), {})[key] = torch.tensor(array)
    optimiser.load_state_dict({"state": state, "param_groups": optimiser.state_dict()["param_groups"]})
