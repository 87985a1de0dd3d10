"""Fully connected layers, their conversion from PyTorch modules, and their conversion to weights by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from agora.core.state import Floats
from agora.errors import InputError
from agora.policies.layers import ACTIVATIONS


@dataclass(frozen=True)
class Layer:
    """A fully connected layer.

    Attributes:
        weight: (I, O) weights.
        bias: (O,) biases.
        activation: name of an activation in `agora.policies.layers.ACTIVATIONS`.
    """

    weight: Floats
    bias: Floats
    activation: str = "none"


def weights_of(layers: Sequence[Layer]) -> dict[str, Floats]:
    """Return the weights of a sequence of layers by name: ``0.weight``, ``0.bias``, ``1.weight`` and so on.

    Raises:
        InputError: there are no layers, or the shapes of a weight and its bias do not match.
    """
    if not layers:
        raise InputError("a policy needs at least one layer")
    for number, layer in enumerate(layers):
        if layer.weight.ndim != 2 or layer.bias.shape != layer.weight.shape[1:]:
            found = f"weight {layer.weight.shape} and bias {layer.bias.shape}"
            raise InputError(f"layer {number}: expected a weight (I, O) and a bias (O,), got {found}")
    return {f"{k}.{name}": getattr(layer, name) for k, layer in enumerate(layers) for name in ("weight", "bias")}


def layers_of_torch(modules: Sequence[Any]) -> tuple[Layer, ...]:
    """Return the layers of PyTorch modules, including nested sequences.

    Raises:
        InputError: a module is not a ``Linear``, ``ReLU``, ``Tanh``, ``Sigmoid`` or ``Flatten``.
    """
    layers: list[Layer] = []
    for module in _flat(modules):
        name = type(module).__name__.lower()
        if name == "linear":
            weight, bias = (tensor.detach().cpu().numpy().astype(np.float32) for tensor in (module.weight, module.bias))
            layers.append(Layer(np.ascontiguousarray(weight.T), bias))
        elif name in ACTIVATIONS and layers:
            layers[-1] = Layer(layers[-1].weight, layers[-1].bias, name)
        elif name not in ("flatten", "identity"):
            raise InputError(f"a policy is made of Linear, ReLU, Tanh and Sigmoid, got {type(module).__name__}")
    return tuple(layers)


def _flat(modules: Sequence[Any]) -> list[Any]:
    """Yield the modules of nested sequences of modules."""
    return [m for module in modules for m in (_flat(module) if type(module).__name__ == "Sequential" else [module])]
