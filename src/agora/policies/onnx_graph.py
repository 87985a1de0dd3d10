"""Builds ONNX graphs with values that support NumPy's operators, so that the code of an exported policy reads like its NumPy
version.

All operators belong to ONNX's default domain, opset 17, which ONNX Runtime has supported since version 1.12. A reduction keeps the
reduced axis with a length of 1, so that its result broadcasts against its input.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from agora import __version__
from agora.core.state import Array, Floats
from agora.errors import InputError
from agora.extras import missing
from agora.files import write_whole

__all__ = ["OnnxGraph", "Value", "dense", "gru", "lstm", "mlp", "pool"]

_OPSET, _IR = 17, 8


@dataclass(frozen=True)
class _Node:
    """An operator with its inputs, output and attributes."""

    operator: str
    inputs: tuple[str, ...]
    output: str
    attributes: dict[str, Any]


@dataclass(frozen=True, eq=False)
class Value:
    """A tensor of a graph; the first axis has N rows.

    Attributes:
        graph: graph to which operators are added.
        name: name of the tensor in the graph.
    """

    graph: OnnxGraph
    name: str
    __array_ufunc__ = None  # makes NumPy scalars on the left use the operators of this class

    def _with(self, operator: str, *others: Value | Array | float, **attributes: Any) -> Value:
        return self.graph.add(operator, self, *others, **attributes)

    def __add__(self, other: Value | Array | float) -> Value:
        return self._with("Add", other)

    def __sub__(self, other: Value | Array | float) -> Value:
        return self._with("Sub", other)

    def __mul__(self, other: Value | Array | float) -> Value:
        return self._with("Mul", other)

    def __truediv__(self, other: Value | Array | float) -> Value:
        return self._with("Div", other)

    def __matmul__(self, other: Value | Array) -> Value:
        return self._with("MatMul", other)

    def __radd__(self, other: Array | float) -> Value:
        return self.graph.add("Add", other, self)

    def __rsub__(self, other: Array | float) -> Value:
        return self.graph.add("Sub", other, self)

    def __rmul__(self, other: Array | float) -> Value:
        return self.graph.add("Mul", other, self)

    def __neg__(self) -> Value:
        return self._with("Neg")

    def __lt__(self, other: Value | Array | float) -> Value:  # type: ignore[misc]  # like NumPy, it does not return a bool
        return self._with("Less", other)

    def __gt__(self, other: Value | Array | float) -> Value:  # type: ignore[misc]
        return self._with("Greater", other)

    def __and__(self, other: Value) -> Value:
        return self._with("And", other)

    def __or__(self, other: Value) -> Value:
        return self._with("Or", other)

    def __invert__(self) -> Value:
        return self._with("Not")

    def equals(self, other: Value | Array | float) -> Value:
        """Return a condition that is true where both values are equal."""
        return self._with("Equal", other)

    def sqrt(self) -> Value:
        """Return the square root."""
        return self._with("Sqrt")

    def exp(self) -> Value:
        """Return the exponential."""
        return self._with("Exp")

    def tanh(self) -> Value:
        """Return the hyperbolic tangent."""
        return self._with("Tanh")

    def sigmoid(self) -> Value:
        """Return the logistic function."""
        return self._with("Sigmoid")

    def relu(self) -> Value:
        """Return the value, with negative entries replaced with 0."""
        return self._with("Relu")

    def maximum(self, other: Value | Array | float) -> Value:
        """Return the element-wise maximum of two values."""
        return self._with("Max", other)

    def minimum(self, other: Value | Array | float) -> Value:
        """Return the element-wise minimum of two values."""
        return self._with("Min", other)

    def within(self, low: Value | Array | float, high: Value | Array | float) -> Value:
        """Return the value clipped to an interval."""
        return self.maximum(low).minimum(high)

    def where(self, yes: Value | Array | float, no: Value | Array | float) -> Value:
        """Return ``yes`` where this condition is true, ``no`` elsewhere."""
        return self._with("Where", yes, no)

    def as_float(self) -> Value:
        """Return 1.0 where this condition is true, 0.0 elsewhere."""
        return self._with("Cast", to=_FLOAT)

    def sum(self, axis: int) -> Value:
        """Return the sum over an axis."""
        return self._with("ReduceSum", np.array([axis]))

    def min(self, axis: int) -> Value:
        """Return the minimum over an axis."""
        return self._with("ReduceMin", axes=[axis])

    def max(self, axis: int) -> Value:
        """Return the maximum over an axis."""
        return self._with("ReduceMax", axes=[axis])

    def any(self, axis: int) -> Value:
        """Return whether this condition is true anywhere along an axis."""
        return self.as_float().max(axis) > 0.0

    def argmax(self, axis: int, *, keep: bool = True) -> Value:
        """Return the index of the maximum over an axis; the first index if several values are equal."""
        return self._with("ArgMax", axis=axis, keepdims=int(keep))

    def part(self, first: int, last: int, axis: int = -1) -> Value:
        """Return the entries ``first <= k < last`` along an axis."""
        return self._with("Slice", np.array([first]), np.array([last]), np.array([axis]))

    def take(self, index: Array, axis: int = -1) -> Value:
        """Return the entries along an axis that are selected by a constant index (P,)."""
        return self._with("Gather", index, axis=axis)

    def columns(self, count: int) -> list[Value]:
        """Return the first ``count`` entries of the last axis, each as a value whose last axis has a length of 1."""
        return [self.part(k, k + 1) for k in range(count)]

    def reshape(self, *shape: int) -> Value:
        """Return the value with a different shape; a length of 0 keeps the length of the axis."""
        return self._with("Reshape", np.array(shape))

    def spread(self, *shape: int) -> Value:
        """Return the value repeated along axes of length 1; a length of 1 keeps the length of the axis."""
        return self._with("Expand", np.array(shape))

    def rows(self, index: Value) -> Value:
        """Return the rows (N, P, V) with the given indices (N, P, 1) from a value (N, Q, V)."""
        return self._with("GatherND", index, batch_dims=1)


_FLOAT = 1  # onnx.TensorProto.FLOAT


@dataclass(eq=False)
class OnnxGraph:
    """The operators of a policy, in the order of evaluation, and the weights.

    Attributes:
        about: metadata of the ONNX file.
    """

    about: dict[str, str] = field(default_factory=dict)
    _nodes: list[_Node] = field(default_factory=list)
    _constants: dict[tuple[str, tuple[int, ...], bytes], tuple[str, Array]] = field(default_factory=dict)
    _inputs: dict[str, int] = field(default_factory=dict)
    _outputs: dict[str, int] = field(default_factory=dict)

    def read(self, name: str, size: int) -> Value:
        """Add an input, float32 (N, size)."""
        self._inputs[name] = size
        return Value(self, name)

    def write(self, name: str, value: Value, size: int) -> None:
        """Add an output, float32 (N, size)."""
        self._outputs[name] = size
        self._nodes.append(_Node("Identity", (value.name,), name, {}))

    def constant(self, array: Array | float) -> Value:
        """Return a constant: int64 for integer arrays, otherwise float32. Equal constants are stored only once."""
        numbers = np.asarray(array)
        kept = np.ascontiguousarray(numbers, np.int64 if numbers.dtype.kind == "i" and numbers.ndim else np.float32)
        kept = kept.reshape(numbers.shape)
        name, _ = self._constants.setdefault(
            (kept.dtype.str, kept.shape, kept.tobytes()), (f"constant_{len(self._constants)}", kept)
        )
        return Value(self, name)

    def add(self, operator: str, *inputs: Value | Array | float, **attributes: Any) -> Value:
        """Add an operator and return its output."""
        names = tuple((one if isinstance(one, Value) else self.constant(one)).name for one in inputs)
        self._nodes.append(_Node(operator, names, f"value_{len(self._nodes)}", attributes))
        return Value(self, self._nodes[-1].output)

    def concat(self, values: Sequence[Value], axis: int = -1) -> Value:
        """Return values concatenated along an axis."""
        return self.add("Concat", *values, axis=axis)

    def save(self, path: Path) -> None:
        """Check the graph and write it as a file.

        Raises:
            InputError: the package onnx is missing, or the file cannot be written.
        """
        try:
            import onnx
            from onnx import helper, numpy_helper
        except ImportError as error:
            raise missing("ONNX files need", "onnx", "onnx") from error
        nodes = [helper.make_node(one.operator, one.inputs, [one.output], **one.attributes) for one in self._nodes]
        weights = [numpy_helper.from_array(array, name) for name, array in self._constants.values()]
        inputs, outputs = (
            [helper.make_tensor_value_info(name, _FLOAT, ["N", size]) for name, size in end.items()]
            for end in (self._inputs, self._outputs)
        )
        graph = helper.make_graph(nodes, "policy", inputs, outputs, weights)
        made = {"opset_imports": [helper.make_opsetid("", _OPSET)], "producer_name": "agora", "producer_version": __version__}
        model = helper.make_model(graph, ir_version=_IR, **made)
        helper.set_model_props(model, self.about)
        onnx.checker.check_model(model, full_check=True)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, model.SerializeToString())
        except OSError as error:
            raise InputError(f"{path}: cannot be written: {error.strerror}") from error


def dense(inputs: Value, weight: Floats, bias: Floats) -> Value:
    """Return the result of `agora.policies.layers.dense` for inputs (..., I)."""
    return inputs @ weight + bias


def mlp(arrays: Mapping[str, Floats], name: str, values: Value, *, first: int = 0, last_relu: bool = False) -> Value:
    """Return the output of the layers ``<name>.<first>``, ``<name>.<first + 1>`` ... in sequence, with ReLU between layers."""
    count = sum(key.startswith(f"{name}.") and key.endswith(".weight") for key in arrays)
    for k in range(first, count):
        values = dense(values, arrays[f"{name}.{k}.weight"], arrays[f"{name}.{k}.bias"])
        values = values.relu() if k < count - 1 or last_relu else values
    return values


def _gates(arrays: Mapping[str, Floats], name: str, inputs: Value, state: Value) -> tuple[Value, Value, int]:
    """Return the contributions of inputs and state to the gates of a recurrent unit, and the size of the state."""
    of_inputs = dense(inputs, arrays[f"{name}.weight"], arrays[f"{name}.bias"])
    of_state = dense(state, arrays[f"{name}.state_weight"], arrays[f"{name}.state_bias"])
    return of_inputs, of_state, len(arrays[f"{name}.state_weight"])


def gru(arrays: Mapping[str, Floats], name: str, inputs: Value, state: Value) -> Value:
    """Return the result of `agora.policies.layers.gru` for the unit ``name``."""
    gates, hidden, size = _gates(arrays, name, inputs, state)
    reset, update = ((gates.part(k * size, (k + 1) * size) + hidden.part(k * size, (k + 1) * size)).sigmoid() for k in range(2))
    new = (gates.part(2 * size, 3 * size) + reset * hidden.part(2 * size, 3 * size)).tanh()
    return (1.0 - update) * new + update * state


def lstm(arrays: Mapping[str, Floats], name: str, inputs: Value, state: Value, cell: Value) -> tuple[Value, Value]:
    """Return the result of `agora.policies.layers.lstm` for the unit ``name``."""
    gates, hidden, size = _gates(arrays, name, inputs, state)
    enters, stays, new, shown = ((gates + hidden).part(k * size, (k + 1) * size) for k in range(4))
    kept = stays.sigmoid() * cell + enters.sigmoid() * new.tanh()
    return shown.sigmoid() * kept.tanh(), kept


def pool(scores: Value, values: Value, present: Value, axis: int) -> Value:
    """Return the result of `agora.policies.layers.pool`: the sum over the axis of people, weighted by the softmax of the scores."""
    highest = present.where(scores, float(np.finfo(np.float32).min)).max(axis)
    shares = present.where((scores - highest).exp(), 0.0)
    return (shares / shares.sum(axis).maximum(1.0) * values).sum(axis)
