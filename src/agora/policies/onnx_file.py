"""Export of policies as ONNX files, for programs that use neither Agora nor PyTorch."""

from __future__ import annotations

import json
from pathlib import Path

from agora.config import plain
from agora.policies.onnx_graph import OnnxGraph
from agora.policies.policy import Policy
from agora.registry import name_of

__all__ = ["export_onnx"]


def export_onnx(policy: Policy, path: Path) -> None:
    """Write a policy and its post-processing as an ONNX file of opset 17. All tensors are float32; N is any number of robots.

    The network defines the inputs and outputs (`agora.interfaces.network.Network.graph`):

    | networks | inputs | outputs |
    |---|---|---|
    | mlp | ``observation`` (N, D) | ``action`` (N, A), in [-1, 1]; ``twist`` (N, 3) if the policy names its robot |
    | cadrl, lstm_rl, sa_cadrl, sarl | ``state`` (N, D) | ``velocity`` (N, 2), m/s; ``promised`` (N, candidates) |
    | ag_rl, ds_rnn | ``observation`` (N, D), ``memory`` (N, S) | ``action`` (N, 2), ``velocity`` (N, 2), ``next_memory`` (N, S) |
    | ga3c | ``observation`` (N, D) | ``action`` (N, 2), ``command`` (N, 2), m/s and rad; ``scores`` (N, 11) |

    A ``twist`` is (vx, vy, omega) in m/s and rad/s, in the robot's frame. It does not take into account the turning radius of
    car-like robots. A ``velocity`` is in the goal frame and scaled like the speeds in the state: multiply it by `JointState.scale`.

    The file's metadata describe the input. ``network`` and ``encoding`` contain registered names. ``observe`` (the parameters of
    the encoding), ``parts`` (the first index of each part, and one more than the last index), ``units`` and ``outputs`` are JSON,
    as are ``body`` and ``period`` if the policy has them; ``frame`` is plain text. The policy's notes are stored under their own
    names. ONNX Runtime rounds differently from Agora, so results differ in the last digits.

    Args:
        policy: policy with any network and encoding.
        path: path of the file.

    Raises:
        InputError: the package onnx is missing, or the file cannot be written.
    """
    graph = OnnxGraph({**policy.about, **_notes(policy)})
    policy.network.graph(policy, graph)
    graph.save(path)


def _notes(policy: Policy) -> dict[str, str]:
    """Return the metadata about the encoding and the training."""
    notes = {name: note for name, note in policy.observe.notes().items() if name != "actions"}
    said = {"observe": plain(policy.observe), "body": plain(policy.body), "period": policy.period} | notes
    names = {"network": name_of("networks", policy.network), "encoding": name_of("encodings", policy.observe)}
    texts = {name: note if isinstance(note, str) else json.dumps(note) for name, note in said.items() if note}
    return {"format": "agora.policy"} | names | texts
