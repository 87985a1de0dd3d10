"""Evaluates layers and recurrent units, given the names of their weights."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from agora.core.state import Floats
from agora.policies.layers import dense, gru


class NamedLayers:
    """Evaluates the layers of a network.

    Args:
        arrays: weights by name, float32: ``<layer>.weight`` (I, O) and ``<layer>.bias`` (O,). A recurrent unit also has
            ``state_weight`` and ``state_bias``.
    """

    def __init__(self, arrays: Mapping[str, Floats]) -> None:
        self._arrays = arrays

    def layer(self, name: str, values: Floats) -> Floats:
        """Return the outputs (N, O) of a layer for inputs (N, I)."""
        return dense(np.ascontiguousarray(values), self._arrays[f"{name}.weight"], self._arrays[f"{name}.bias"])

    def unit(self, name: str, values: Floats, before: Floats) -> Floats:
        """Return the next states (N, S) of a gated recurrent unit, given inputs (N, I) and states (N, S)."""
        weights = (self._arrays[f"{name}.{part}"] for part in ("weight", "bias", "state_weight", "state_bias"))
        return gru(values, np.ascontiguousarray(before), *weights)


def shapes_of(layers: Mapping[str, tuple[int, int]], units: Mapping[str, tuple[int, int]]) -> dict[str, tuple[int, ...]]:
    """Return the shapes of weights by name.

    Args:
        layers: number of inputs and number of outputs of each layer, by name.
        units: number of inputs and number of state values of each gated recurrent unit, by name.
    """
    shapes: dict[str, tuple[int, ...]] = {}
    for name, (inputs, outputs) in layers.items():
        shapes |= {f"{name}.weight": (inputs, outputs), f"{name}.bias": (outputs,)}
    for name, (inputs, states) in units.items():
        shapes |= {f"{name}.weight": (inputs, 3 * states), f"{name}.bias": (3 * states,)}
        shapes |= {f"{name}.state_weight": (states, 3 * states), f"{name}.state_bias": (3 * states,)}
    return shapes
