"""A network that judges commands one by one, from their predicted consequences and from the values shared by all commands.

The same layers are applied to all commands, as PointNet applies the same layers to all points (C. R. Qi et al., CVPR 2017). The
network is symmetric: a command to the right is judged in the mirrored scene, like the corresponding command to the left. A straight
command is judged in both scenes. This module evaluates the network in a fixed order, without PyTorch;
`agora.policies.learners.judge` contains the trainable version.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from agora.core.scalar import F
from agora.core.state import Floats
from agora.errors import InputError
from agora.interfaces import Encoding, Shape
from agora.policies import onnx_graph
from agora.policies.command_rollouts import CONTEXT, FEATURES
from agora.policies.commands import COMMANDS, FIRST, IMPOSSIBLE, LEFT, MIRROR, SECOND, Commands
from agora.policies.named_layers import NamedLayers, shapes_of
from agora.policies.onnx_graph import OnnxGraph
from agora.ranges import Checked, Natural

if TYPE_CHECKING:
    from agora.policies.policy import Policy

_COUNT = len(COMMANDS)


@dataclass(frozen=True)
class Judge(Checked):
    """Scores all commands; the robot takes the command with the highest score among the commands after which it can brake before
    every wall.

    Attributes:
        context: width of the two layers that read the shared values.
        command: width of the two layers that read a command; the first of these layers also reads the context.
    """

    context: tuple[Natural, Natural] = (96, 64)
    command: tuple[Natural, Natural] = (64, 48)

    @property
    def layers(self) -> dict[str, tuple[int, int]]:
        """Return the number of inputs and the number of outputs of each layer, by name."""
        (first, second), (wide, narrow) = self.context, self.command
        return {
            "context.0": (CONTEXT, first),
            "context.1": (first, second),
            "common": (second, wide),
            "command": (FEATURES, wide),
            "hidden": (wide, narrow),
            "score": (narrow, 1),
        }

    def shapes(self, observe: Encoding, arrays: Mapping[str, Floats]) -> dict[str, tuple[int, ...]]:
        """Return the shapes that the weights must have.

        Raises:
            InputError: the encoding contains no commands.
        """
        if not isinstance(observe, Commands):
            raise InputError(f"judge: it judges what the encoding commands shows, got {type(observe).__name__}")
        return shapes_of(self.layers, {})

    def state_size(self, observe: Encoding) -> int:
        """Return 0, because the network has no memory."""
        return 0

    def scores(self, arrays: Mapping[str, Floats], seen: Floats) -> Floats:
        """Return the scores (N, K) of all commands for observations (N, D); impossible commands score `IMPOSSIBLE`."""
        layers, rows, (order, sign) = NamedLayers(arrays), len(seen), MIRROR
        both = np.concatenate([seen, seen[:, order] * sign])
        shown = both[:, CONTEXT:].reshape(2 * rows, _COUNT, FEATURES)[:, LEFT].reshape(-1, FEATURES)
        context = both[:, :CONTEXT]
        for name in ("context.0", "context.1"):
            context = np.maximum(layers.layer(name, context), F(0.0))
        common = np.repeat(layers.layer("common", context), len(LEFT), 0)
        values = np.maximum(layers.layer("command", shown) + common, F(0.0))
        values = np.maximum(layers.layer("hidden", values), F(0.0))
        scores = np.concatenate(list(layers.layer("score", values).reshape(2, rows, len(LEFT))), 1)
        possible = seen[:, CONTEXT::FEATURES] > F(0.5)
        return np.where(possible, (scores[:, FIRST] + scores[:, SECOND]) * F(0.5), IMPOSSIBLE)

    def step(self, arrays: Mapping[str, Floats], seen: Floats, state: Floats) -> tuple[Floats, Floats]:
        """Return the indices (N, 1) of the chosen commands (in a tie, the first command), and the empty memory."""
        return self.scores(arrays, seen).argmax(1)[:, None].astype(np.float32), state

    def graph(self, policy: Policy, graph: OnnxGraph) -> None:
        """Add the network to an ONNX graph that reads ``observation`` (N, D) and writes ``scores`` (N, K) and ``action`` (N, 1)."""
        arrays, seen, (order, sign) = policy.arrays, graph.read("observation", policy.observe.length), MIRROR

        def layer(name: str, values: Any) -> Any:
            return onnx_graph.dense(values, arrays[f"{name}.weight"], arrays[f"{name}.bias"])

        judged = []
        for scene in (seen, seen.take(order) * sign):
            context = scene.part(0, CONTEXT)
            for name in ("context.0", "context.1"):
                context = layer(name, context).relu()
            shown = scene.part(CONTEXT, policy.observe.length).reshape(0, _COUNT, FEATURES).take(LEFT, 1)
            values = (layer("command", shown) + layer("common", context).reshape(0, 1, self.command[0])).relu()
            judged.append(layer("score", layer("hidden", values).relu()).reshape(0, len(LEFT)))
        scores = graph.concat(judged)
        scores = (scores.take(FIRST) + scores.take(SECOND)) * 0.5
        possible = seen.part(CONTEXT, policy.observe.length).reshape(0, _COUNT, FEATURES).part(0, 1).reshape(0, _COUNT) > 0.5
        scores = possible.where(scores, float(IMPOSSIBLE))
        graph.write("scores", scores, _COUNT)
        graph.write("action", scores.argmax(-1).as_float(), 1)
        graph.about["outputs"] = json.dumps({"action": "number of a command", "commands": COMMANDS.tolist()})

    def learner(self, shape: Shape) -> Any:
        """Return the trainable PyTorch network, with a critic."""
        from agora.policies.learners.judge import JudgeLearner  # needs PyTorch

        return JudgeLearner(self, shape)
