"""Layers against plain float64 and against PyTorch, and that a row knows of no other."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from agora.policies.layers import ACTIVATIONS, attend, convolve, dense, gru, mix, pool


def real(rng, *shape):
    return rng.normal(0.0, 1.0, shape).astype(np.float32)


def plain_attention(queries, keys, values, present):
    """Attention, row by row, in float64."""
    out = np.zeros((len(queries), values.shape[2]))
    for n, here in enumerate(present):
        if here.any():
            scores = keys[n, here].astype(float) @ queries[n] / np.sqrt(keys.shape[2])
            weights = np.exp(scores - scores.max())
            out[n] = (weights / weights.sum()) @ values[n, here].astype(float)
    return out


@pytest.mark.parametrize(("rows", "inputs", "outputs"), [(1, 1, 1), (7, 5, 3), (13, 61, 130)])
def test_a_dense_layer_is_the_product_in_float64(rng, rows, inputs, outputs):
    x, w, b = real(rng, rows, inputs), real(rng, inputs, outputs), real(rng, outputs)
    exact = x.astype(float) @ w.astype(float) + b
    assert dense(x, w, b) == pytest.approx(exact, abs=2e-6 * inputs)


@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("padding", [0, 1])
def test_convolutions_are_those_of_torch(rng, stride, padding):
    pictures, w, b = real(rng, 3, 8, 11, 4), real(rng, 3, 5, 4, 6), real(rng, 6)
    theirs = torch.nn.functional.conv2d(
        torch.from_numpy(pictures.transpose(0, 3, 1, 2).copy()), torch.from_numpy(w.transpose(3, 2, 0, 1).copy()),
        torch.from_numpy(b), stride, padding,
    )  # fmt: skip
    assert convolve(pictures, w, b, stride=stride, padding=padding) == pytest.approx(theirs.numpy().transpose(0, 2, 3, 1), abs=2e-5)
    scans, w = real(rng, 2, 1, 37, 1), real(rng, 1, 5, 1, 6)
    theirs = torch.nn.functional.conv1d(
        torch.from_numpy(scans[:, 0].transpose(0, 2, 1).copy()), torch.from_numpy(w[0].transpose(2, 1, 0).copy()),
        torch.from_numpy(b), stride, padding,
    )  # fmt: skip
    assert convolve(scans, w, b, stride=stride, padding=padding)[:, 0] == pytest.approx(theirs.numpy().transpose(0, 2, 1), abs=2e-5)


def test_a_gated_recurrent_unit_is_that_of_torch(rng):
    cell = torch.nn.GRUCell(6, 9)
    x, state = real(rng, 5, 6), real(rng, 5, 9)
    theirs = state.copy()
    ours = state.copy()
    weights = [p.detach().numpy() for p in (cell.weight_ih, cell.bias_ih, cell.weight_hh, cell.bias_hh)]
    transposed = [np.ascontiguousarray(w.T) if w.ndim == 2 else w for w in weights]
    for _ in range(20):
        theirs = cell(torch.from_numpy(x), torch.from_numpy(theirs)).detach().numpy()
        ours = gru(x, ours, *transposed)
    assert ours == pytest.approx(theirs, abs=2e-5)


def test_attention_is_the_softmax_over_those_who_are_present(rng):
    queries, keys, values = real(rng, 6, 4), real(rng, 6, 5, 4), real(rng, 6, 5, 3)
    present = rng.random((6, 5)) < 0.6
    present[0], present[1] = False, [False, True, False, False, False]
    out = attend(queries, keys, values, present)
    assert out == pytest.approx(plain_attention(queries, keys, values, present), abs=1e-5)
    assert (out[0] == 0).all() and (out[1] == values[1, 1]).all()


def test_attention_of_several_heads_is_that_of_torch(rng):
    queries, keys, values = (real(rng, 7, 5, 12) for _ in range(3))
    present = rng.random((7, 5)) < 0.6
    present[0], present[1] = False, [False, True, False, False, False]
    out = mix(queries, keys, values, present, 3)
    split = (torch.from_numpy(one).unflatten(-1, (3, 4)).transpose(1, 2) for one in (queries, keys, values))
    mask = torch.from_numpy(np.where(present, 0.0, -1e9).astype(np.float32))[:, None, None]
    theirs = torch.nn.functional.scaled_dot_product_attention(*split, attn_mask=mask).transpose(1, 2).flatten(2).numpy()
    assert out == pytest.approx(np.where(present[..., None], theirs, 0.0), abs=1e-5)
    assert out[1, 1] == pytest.approx(values[1, 1], abs=1e-6)


def test_absent_slots_change_no_bit(rng):
    scores, values, present = real(rng, 3, 4), real(rng, 3, 4, 2), np.ones((3, 4), bool)
    wider = [np.concatenate([array, real(rng, *array.shape)], axis=1) for array in (scores, values)]
    gone = np.concatenate([present, ~present], axis=1)
    assert pool(*wider, gone).tobytes() == pool(scores, values, present).tobytes()


@pytest.mark.parametrize("name", sorted(ACTIVATIONS))
def test_activations_are_theirs_in_float64(name):
    x = np.linspace(-12.0, 12.0, 1001, dtype=np.float32)[:, None]
    exact = {"none": lambda v: v, "relu": lambda v: np.maximum(v, 0), "sigmoid": lambda v: 1 / (1 + np.exp(-v)), "tanh": np.tanh}
    assert ACTIVATIONS[name](x.copy()) == pytest.approx(exact[name](x.astype(float)), abs=1e-5)


def test_a_row_does_not_know_of_the_others(rng):
    """Alone, in the middle of many, and last of an odd number: the same bits."""
    x, state = real(rng, 37, 19), real(rng, 37, 21)
    w, b = real(rng, 19, 63), real(rng, 63)
    w2, b2 = real(rng, 21, 63), real(rng, 63)
    pictures, kernel = real(rng, 37, 1, 19, 1), real(rng, 1, 5, 1, 7)
    keys, values, present = real(rng, 37, 6, 19), real(rng, 37, 6, 9), rng.random((37, 6)) < 0.5

    def everything(rows):
        yield dense(x[rows], w, b)
        yield gru(x[rows], state[rows], w, b, w2, b2)
        yield convolve(pictures[rows], kernel, b[:7], stride=2, padding=1)
        yield attend(x[rows], keys[rows], values[rows], present[rows])
        yield mix(keys[rows], keys[rows][:, ::-1].copy(), keys[rows] + 1, present[rows], 19)
        yield ACTIVATIONS["tanh"](x[rows].copy())

    whole = list(everything(slice(None)))
    for rows in (slice(0, 1), slice(18, 19), slice(5, 12), slice(36, 37)):
        for some, all_ in zip(everything(rows), whole, strict=True):
            assert some.tobytes() == all_[rows].tobytes()
