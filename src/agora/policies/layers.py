"""Network layers, evaluated in a fixed order: the result for a row depends neither on the number of rows nor on padding.

BLAS products depend on both, so a policy would behave differently in a batch of 64 than alone. Here, every output is summed over
its inputs in order, and the outputs of a row are computed in parallel lanes. Weights are float32 and stored with inputs first,
which is the order in which the kernels read them; PyTorch stores outputs first.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from agora.core.jit import hidden, lean_kernel
from agora.core.scalar import ONE, TWO, ZERO, F, exp
from agora.core.state import Bools, Floats

__all__ = ["ACTIVATIONS", "attend", "convolve", "dense", "gru", "lstm", "mix", "pool", "relu", "sigmoid", "tanh"]


@lean_kernel
def _dense(inputs, weight, bias, out, first, last):
    """Process four rows and four inputs at a time, so that each weight is read once per four rows. Inputs are added in order."""
    count = inputs.shape[1]
    whole, end = count - count % 4, last - (last - first) % 4
    for n in range(first, last):
        for o in range(out.shape[1]):
            out[n, o] = bias[o]
    for n in range(first, end, 4):
        for i in range(0, whole, 4):
            a0, a1, a2, a3 = inputs[n, i], inputs[n, i + 1], inputs[n, i + 2], inputs[n, i + 3]
            b0, b1, b2, b3 = inputs[n + 1, i], inputs[n + 1, i + 1], inputs[n + 1, i + 2], inputs[n + 1, i + 3]
            c0, c1, c2, c3 = inputs[n + 2, i], inputs[n + 2, i + 1], inputs[n + 2, i + 2], inputs[n + 2, i + 3]
            d0, d1, d2, d3 = inputs[n + 3, i], inputs[n + 3, i + 1], inputs[n + 3, i + 2], inputs[n + 3, i + 3]
            for o in range(out.shape[1]):
                w0, w1, w2, w3 = weight[i, o], weight[i + 1, o], weight[i + 2, o], weight[i + 3, o]
                out[n, o] = out[n, o] + a0 * w0 + a1 * w1 + a2 * w2 + a3 * w3
                out[n + 1, o] = out[n + 1, o] + b0 * w0 + b1 * w1 + b2 * w2 + b3 * w3
                out[n + 2, o] = out[n + 2, o] + c0 * w0 + c1 * w1 + c2 * w2 + c3 * w3
                out[n + 3, o] = out[n + 3, o] + d0 * w0 + d1 * w1 + d2 * w2 + d3 * w3
    for n in range(first, last):
        for i in range(whole if n < end else 0, count):
            value = inputs[n, i]
            for o in range(out.shape[1]):
                out[n, o] += value * weight[i, o]


def dense(inputs: Floats, weight: Floats, bias: Floats) -> Floats:
    """Return ``inputs @ weight + bias``.

    Args:
        inputs: (N, I) inputs.
        weight: (I, O) weights.
        bias: (O,) biases.

    Returns:
        (N, O) outputs.
    """
    out = np.empty((len(inputs), len(bias)), np.float32)
    _dense(inputs, weight, bias, out, 0, len(out))
    return out


@lean_kernel
def _convolve(inputs, weight, bias, stride, out, first, last):
    high, wide, channels = weight.shape[:3]
    for n in range(first, last):
        for r in range(out.shape[1]):
            for c in range(out.shape[2]):
                for o in range(out.shape[3]):
                    out[n, r, c, o] = bias[o]
                for h in range(high):
                    for w in range(wide):
                        for k in range(channels):
                            value = inputs[n, r * stride + h, c * stride + w, k]
                            for o in range(out.shape[3]):
                                out[n, r, c, o] += value * weight[h, w, k, o]


def convolve(inputs: Floats, weight: Floats, bias: Floats, *, stride: int = 1, padding: int = 0) -> Floats:
    """Return a two-dimensional convolution; for one-dimensional data, use images and kernels with a height of 1.

    Args:
        inputs: (N, H, W, C) inputs, channels last.
        weight: (KH, KW, C, O) weights.
        bias: (O,) biases.
        stride: number of cells between two outputs, along both axes.
        padding: number of zero cells on each side, along every axis on which the kernel is longer than 1.

    Returns:
        (N, H', W', O) outputs.
    """
    high, wide, _, outputs = weight.shape
    pads = [padding if size > 1 else 0 for size in (high, wide)]
    padded = np.ascontiguousarray(np.pad(inputs, ((0, 0), (pads[0],) * 2, (pads[1],) * 2, (0, 0))), np.float32)
    size = ((padded.shape[1] - high) // stride + 1, (padded.shape[2] - wide) // stride + 1)
    out = np.empty((len(padded), *size, outputs), np.float32)
    _convolve(padded, weight, bias, stride, out, 0, len(out))
    return out


@hidden
def _sigmoid(x):
    return ONE / (ONE + exp(-x))


@hidden
def _tanh(x):
    shrunk = exp(-TWO * abs(x))
    size = (ONE - shrunk) / (ONE + shrunk)
    return size if x >= ZERO else -size


@lean_kernel
def _gates(gates, hidden_gates, state, out, first, last):
    size = state.shape[1]
    for n in range(first, last):
        for k in range(size):
            reset = _sigmoid(gates[n, k] + hidden_gates[n, k])
            update = _sigmoid(gates[n, size + k] + hidden_gates[n, size + k])
            new = _tanh(gates[n, 2 * size + k] + reset * hidden_gates[n, 2 * size + k])
            out[n, k] = (ONE - update) * new + update * state[n, k]


def gru(inputs: Floats, state: Floats, weight: Floats, bias: Floats, state_weight: Floats, state_bias: Floats) -> Floats:
    """Return the next states of a gated recurrent unit (K. Cho et al. 2014, in the variant that PyTorch's GRUCell uses).

    Args:
        inputs: (N, I) inputs.
        state: (N, S) states before the step.
        weight: (I, 3 S) weights of the inputs, for the reset gate, the update gate and the new state.
        bias: (3 S,) biases of the inputs.
        state_weight: (S, 3 S) weights of the states.
        state_bias: (3 S,) biases of the states.

    Returns:
        (N, S) states after the step.
    """
    out = np.empty_like(state)
    _gates(dense(inputs, weight, bias), dense(state, state_weight, state_bias), state, out, 0, len(out))
    return out


@lean_kernel
def _lstm_gates(gates, state_gates, cell, out, kept, first, last):
    size = cell.shape[1]
    for n in range(first, last):
        for k in range(size):
            enters = _sigmoid(gates[n, k] + state_gates[n, k])
            stays = _sigmoid(gates[n, size + k] + state_gates[n, size + k])
            new = _tanh(gates[n, 2 * size + k] + state_gates[n, 2 * size + k])
            shown = _sigmoid(gates[n, 3 * size + k] + state_gates[n, 3 * size + k])
            kept[n, k] = stays * cell[n, k] + enters * new
            out[n, k] = shown * _tanh(kept[n, k])


def lstm(
    inputs: Floats, state: Floats, cell: Floats, weight: Floats, bias: Floats, state_weight: Floats, state_bias: Floats
) -> tuple[Floats, Floats]:
    """Return the next states and cells of a long short-term memory (S. Hochreiter, J. Schmidhuber 1997; PyTorch's LSTMCell).

    Args:
        inputs: (N, I) inputs.
        state: (N, S) states before the step.
        cell: (N, S) cells before the step.
        weight: (I, 4 S) weights of the inputs, for the input gate, the forget gate, the new cell and the output gate.
        bias: (4 S,) biases of the inputs.
        state_weight: (S, 4 S) weights of the states.
        state_bias: (4 S,) biases of the states.

    Returns:
        The states (N, S) and the cells (N, S) after the step.
    """
    out, kept = np.empty_like(state), np.empty_like(cell)
    _lstm_gates(dense(inputs, weight, bias), dense(state, state_weight, state_bias), cell, out, kept, 0, len(out))
    return out, kept


@hidden
def _softmax(scores, present):
    """Replace the scores (P,) in place with weights that are 0 for absent entries and add up to 1 over present entries."""
    highest = ZERO
    found = False
    for p in range(len(scores)):
        if present[p]:
            highest = max(highest, scores[p]) if found else scores[p]
            found = True
    total = ZERO
    for p in range(len(scores)):
        scores[p] = exp(scores[p] - highest) if present[p] else ZERO
        total += scores[p]
    for p in range(len(scores)):
        if present[p]:
            scores[p] /= total


@lean_kernel
def _pool(scores, values, present, out, first, last):
    for n in range(first, last):
        _softmax(scores[n], present[n])
        for v in range(out.shape[1]):
            out[n, v] = ZERO
        for p in range(scores.shape[1]):
            if present[n, p]:
                for v in range(out.shape[1]):
                    out[n, v] += scores[n, p] * values[n, p, v]


def pool(scores: Floats, values: Floats, present: Bools) -> Floats:
    """Return the sums of values, weighted by the softmax of the scores; zeros if no entry is present.

    Args:
        scores: (N, P) scores.
        values: (N, P, V) values.
        present: (N, P) whether each entry is present; absent entries have no effect.

    Returns:
        (N, V) weighted sums.
    """
    out = np.empty((len(scores), values.shape[2]), np.float32)
    _pool(scores.copy(), values, present, out, 0, len(out))
    return out


@lean_kernel
def _scores(queries, keys, scale, out, first, last):
    for n in range(first, last):
        for p in range(keys.shape[1]):
            total = ZERO
            for k in range(keys.shape[2]):
                total += queries[n, k] * keys[n, p, k]
            out[n, p] = total * scale


def attend(queries: Floats, keys: Floats, values: Floats, present: Bools) -> Floats:
    """Return scaled dot-product attention with one head (A. Vaswani et al. 2017, equation 1).

    Args:
        queries: (N, K) queries.
        keys: (N, P, K) keys.
        values: (N, P, V) values.
        present: (N, P) whether each entry is present.

    Returns:
        (N, V) weighted values; zeros if no entry is present.
    """
    scores = np.empty(keys.shape[:2], np.float32)
    _scores(queries, keys, np.float32(1.0 / np.sqrt(keys.shape[2])), scores, 0, len(scores))
    return pool(scores, values, present)


@lean_kernel
def _mix(queries, keys, values, present, heads, scores, out, first, last):
    """Apply `mix` with keys (N, E, P): the scores of all people are accumulated in parallel, each in the order of the entries."""
    size = queries.shape[2] // heads
    scale = ONE / math.sqrt(F(size))
    for n in range(first, last):
        for p in range(queries.shape[1]):
            for head in range(heads):
                begin = head * size
                for v in range(begin, begin + size):
                    out[n, p, v] = ZERO
                if not present[n, p]:
                    continue
                for q in range(scores.shape[1]):
                    scores[n, q] = ZERO
                for k in range(begin, begin + size):
                    asked = queries[n, p, k]
                    for q in range(scores.shape[1]):
                        scores[n, q] += asked * keys[n, k, q]
                for q in range(scores.shape[1]):
                    scores[n, q] *= scale
                _softmax(scores[n], present[n])
                for q in range(scores.shape[1]):
                    if present[n, q]:
                        for v in range(begin, begin + size):
                            out[n, p, v] += scores[n, q] * values[n, q, v]


def mix(queries: Floats, keys: Floats, values: Floats, present: Bools, heads: int) -> Floats:
    """Return scaled dot-product attention among people, with several heads (A. Vaswani et al. 2017).

    Args:
        queries: (N, P, E) queries, with the entries of the heads concatenated.
        keys: (N, P, E) keys.
        values: (N, P, E) values.
        present: (N, P) whether each person is present.
        heads: number of heads; must divide E.

    Returns:
        (N, P, E) weighted values; zeros for absent people.
    """
    out = np.empty_like(values)
    by_entry = np.ascontiguousarray(keys.transpose(0, 2, 1))
    _mix(queries, by_entry, values, present, heads, np.empty(present.shape, np.float32), out, 0, len(out))
    return out


@lean_kernel
def _tanh_all(values, first, last):
    for n in range(first, last):
        for k in range(values.shape[1]):
            values[n, k] = _tanh(values[n, k])


@lean_kernel
def _sigmoid_all(values, first, last):
    for n in range(first, last):
        for k in range(values.shape[1]):
            values[n, k] = _sigmoid(values[n, k])


def tanh(values: Floats) -> Floats:
    """Apply the hyperbolic tangent to values (N, K) in place, with an error below 1e-6, and return the values."""
    _tanh_all(values, 0, len(values))
    return values


def sigmoid(values: Floats) -> Floats:
    """Apply the logistic function to values (N, K) in place, with an error below 1e-6, and return the values."""
    _sigmoid_all(values, 0, len(values))
    return values


def relu(values: Floats) -> Floats:
    """Replace negative values with 0, in place, and return the values."""
    return np.maximum(values, ZERO, out=values)


ACTIVATIONS: dict[str, Callable[[Floats], Floats]] = {
    "none": lambda values: values,
    "relu": relu,
    "sigmoid": sigmoid,
    "tanh": tanh,
}
"""Activations of layers, by name."""
