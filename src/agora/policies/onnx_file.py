"""Policies as ONNX files, for programs without Agora and PyTorch."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from agora import __version__
from agora.errors import InputError
from agora.files import write_whole
from agora.policies.policy import Policy

__all__ = ["export_onnx"]

_OPERATORS = {"relu": "Relu", "sigmoid": "Sigmoid", "tanh": "Tanh"}
_OPSET, _IR = 17, 8
"""Versions that ONNX Runtime reads since 1.12."""


def export_onnx(policy: Policy, path: Path) -> None:
    """Write the network of a policy as an ONNX file.

    The network reads ``observation``, float32 (N, D), and writes ``action``, float32 (N, A). Clip the action to [-1, 1], as Agora
    does. Two entries of the file's metadata describe an observation: ``observe`` has the fields of `Observe` as JSON, ``parts`` the
    first index of each part and one more than its last. ONNX Runtime rounds differently: its actions differ in the last digits.

    Args:
        policy: any policy of layers.
        path: of the file.

    Raises:
        InputError: the package onnx is missing, or the file cannot be written.
    """
    try:
        import onnx
        from onnx import TensorProto, helper, numpy_helper
    except ImportError as error:
        raise InputError("ONNX files need the package onnx; install it: pip install 'agora-nav[onnx]'") from error

    nodes: list[Any] = []
    weights: list[Any] = []
    value = "observation"
    last = len(policy.layers) - 1
    for k, layer in enumerate(policy.layers):
        weights += [numpy_helper.from_array(layer.weight, f"weight_{k}"), numpy_helper.from_array(layer.bias, f"bias_{k}")]
        acts = layer.activation in _OPERATORS
        summed = f"sum_{k}" if acts or k < last else "action"
        nodes.append(helper.make_node("Gemm", [value, f"weight_{k}", f"bias_{k}"], [summed]))
        value = summed
        if acts:
            value = "action" if k == last else f"value_{k}"
            nodes.append(helper.make_node(_OPERATORS[layer.activation], [summed], [value]))
    sizes = {"observation": policy.observe.length, "action": len(policy.layers[-1].bias)}
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", size]) for name, size in sizes.items()]
    graph = helper.make_graph(nodes, "policy", ends[:1], ends[1:], weights)
    made = {"opset_imports": [helper.make_opsetid("", _OPSET)], "producer_name": "agora", "producer_version": __version__}
    model = helper.make_model(graph, ir_version=_IR, **made)
    seen = {name: number for name, number in asdict(policy.observe).items() if name != "sensors"}
    parts = {name: [part.start, part.stop] for name, part in policy.observe.parts.items()}
    helper.set_model_props(model, {"observe": json.dumps(seen), "parts": json.dumps(parts), **policy.about})
    onnx.checker.check_model(model, full_check=True)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, model.SerializeToString())
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror}") from error
