"""Value policies (CADRL, LSTM-RL, SA-CADRL, SARL) as ONNX graphs: the whole look-ahead of `agora.policies.value`.

Values have the axes row, candidate, person and entry. A value that does not depend on an axis has a length of 1 there.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import asdict

import numpy as np

from agora.policies.joint_state import GOAL, OWN, PAIR, PERSON, RADIUS, ROBOT, SPEED
from agora.policies.look_ahead import SIDES, LookAhead
from agora.policies.onnx_graph import Graph, Value, dense, lstm, mlp, pool
from agora.policies.onnx_notes import GOAL_FRAME, notes_of_joint_state
from agora.policies.value import ValuePolicy

_PERSON = 2  # the axis of people
_COS_30, _COS_45 = math.cos(math.pi / 6), math.cos(math.pi / 4)
_TINY, _FAR, _LARGEST = 1e-6, 1e9, float(np.finfo(np.float32).max)


def value_graph(policy: ValuePolicy) -> Graph:
    """Return the graph of a value policy.

    It reads ``state`` (N, D). It writes ``velocity`` (N, 2), the answer of `ValuePolicy` where every candidate is allowed, and
    ``promised`` (N, A), what each candidate promises (`ValuePolicy.returns`).
    """
    observe, ahead = policy.observe, policy.ahead
    graph, candidates = Graph(_notes(policy)), len(ahead.velocities)
    state = graph.read("state", observe.length)
    people = state.part(ROBOT, observe.length).reshape(0, 1, observe.people, PERSON)
    present = people.part(PERSON - 1, PERSON) > 0.5
    pairs, rewards, discounts = _look_ahead(policy, state.reshape(0, 1, 1, observe.length), people, present)
    values = _NETWORKS[policy.network](policy, pairs, present)
    promised = (rewards + discounts * values).reshape(0, candidates)
    graph.write("velocity", _chosen(ahead, state, present.any(_PERSON).reshape(0, 1), promised), 2)
    graph.write("promised", promised, candidates)
    return graph


def _notes(policy: ValuePolicy) -> dict[str, str]:
    """The metadata of the file."""
    outputs = {
        "velocity": f"m/s in the speeds of the state; frame: {GOAL_FRAME}",
        "promised": "reward of the step and discounted value after it, for each candidate",
    }
    return {
        **policy.about,
        **notes_of_joint_state(policy.observe, last="1, or six zeros where nobody is"),
        "format": "agora.value",
        "network": policy.network,
        "ahead": json.dumps(asdict(policy.ahead)),
        "candidates": json.dumps(policy.ahead.velocities.tolist()),
        "outputs": json.dumps(outputs),
    }


def _look_ahead(policy: ValuePolicy, state: Value, people: Value, present: Value) -> tuple[Value, Value, Value]:
    """Pairs (N, A, P, 13) after a step, rewards (N, A, 1, 1) and discounts (N, 1, 1, 1): `agora.policies.look_ahead.look_ahead`."""
    ahead, graph = policy.ahead, state.graph
    goal, speed, radius = (state.part(k, k + 1) for k in (GOAL, SPEED, RADIUS))
    x, y, vx, vy, person_radius = people.columns(PERSON - 1)
    ux, uy = (speed * column.reshape(1, -1, 1, 1) for column in ahead.velocities.T)

    gx, gy = goal - ux * ahead.step, uy * -ahead.step
    left = (gx * gx + gy * gy).sqrt()
    away, length = left > _TINY, left.maximum(_TINY)
    ex, ey = away.where(gx / length, 1.0), away.where(gy / length, 0.0)

    sx, sy = (vx - ux) * ahead.step, (vy - uy) * ahead.step
    length2 = sx * sx + sy * sy
    moves = length2 > 0.0
    share = moves.where(-(x * sx + y * sy) / moves.where(length2, 1.0), 0.0).within(0.0, 1.0)
    nx, ny = x + share * sx, y + share * sy
    apart = (nx * nx + ny * ny).sqrt() - radius - person_radius
    clearance = present.where(apart, _FAR).min(_PERSON)

    discomfort = (ahead.discomfort_distance - clearance).maximum(0.0) * (ahead.discomfort * ahead.step)
    rewards = (clearance < 0.0).where(ahead.collision, (left < radius).where(ahead.reached, discomfort))
    discounts = (speed * (ahead.step * math.log(ahead.discount))).exp()

    px, py = x + sx, y + sy
    px, py = ex * px + ey * py, ex * py - ey * px
    own = (left, speed, speed * 0.0, radius, ex * ux + ey * uy, ex * uy - ey * ux)
    theirs = (px, py, ex * vx + ey * vy, ex * vy - ey * vx, person_radius, (px * px + py * py).sqrt(), radius + person_radius)
    shape = (1, len(ahead.velocities), policy.observe.people, 1)
    pairs = present.where(graph.concat([value.spread(*shape) for value in (*own, *theirs)]), 0.0)
    if ahead.norm:
        fading = math.log(ahead.discount)
        gain = ((goal - speed).maximum(0.0) * fading).exp() - (goal * fading).exp()
        wrong = present.part(0, 1, _PERSON) & _wrong_side(pairs.part(0, 1, _PERSON), SIDES[ahead.side])
        rewards = rewards - wrong.as_float() * gain * (ahead.norm * ahead.step)
    return pairs, rewards, discounts


def _wrong_side(pairs: Value, side: float) -> Value:
    """Where (N, A, 1, 1) a robot passes a person on the wrong side: `agora.policies.look_ahead.wrong_side`."""
    goal, preferred, _, _, vx, vy, px, py, wx, wy = pairs.columns(PAIR)[:10]
    vy, py, wy = vy * side, py * side, wy * side
    speed, theirs = (vx * vx + vy * vy).sqrt(), (wx * wx + wy * wy).sqrt()
    along = wx / theirs.maximum(_TINY)
    same, ahead = along > _COS_30, px > 0.0
    faster, slower = speed > theirs + 0.1, speed < theirs - 0.1
    overtakes = same & faster & (vy < 0.0) & (py > -0.5) & (py < 2.0) & ahead & (px < 3.0)
    overtaken = same & slower & (vy > 0.0) & (py > -2.0) & (py < 0.0) & (px > -3.0) & (px < 0.0)
    meets = (along < -_COS_30) & (vy > _TINY) & (py > -2.0) & (py < 0.0) & ahead & (px < 5.0)
    near = (along < _COS_45) & ahead & (px * px + py * py < 9.0) & (preferred > theirs - 0.2)
    crosses = near & ~(same & (faster | slower)) & (py * (vx - wx) - px * (vy - wy) < 0.0)
    moving = (goal > 1.0) & (speed > _TINY) & (theirs > _TINY)
    return moving & (overtakes | overtaken | meets | crosses)


def _chosen(ahead: LookAhead, state: Value, accompanied: Value, promised: Value) -> Value:
    """The velocities (N, 2) that promise most; alone, or within a radius of the goal, straight to the goal."""
    graph, (goal, speed, radius) = state.graph, (state.part(k, k + 1) for k in (GOAL, SPEED, RADIUS))
    best = graph.add("Gather", ahead.velocities, promised.argmax(1, keep=False), axis=0) * speed
    straight = speed.minimum(goal / ahead.step)
    return (~accompanied | (goal < radius)).where(graph.concat([straight, straight * 0.0]), best)


def _sarl(policy: ValuePolicy, pairs: Value, present: Value) -> Value:
    arrays, there = policy.arrays, present.as_float()
    seen = mlp(arrays, "mlp1", pairs, last_relu=True)
    features = mlp(arrays, "mlp2", seen)
    mean = (seen * there).sum(_PERSON) / there.sum(_PERSON).maximum(1.0)
    weight, size = arrays["attention.0.weight"], arrays["mlp2.0.weight"].shape[0]
    both = (seen @ weight[:size] + dense(mean, weight[size:], arrays["attention.0.bias"])).relu()
    scores = mlp(arrays, "attention", both, first=1)
    crowd = pool(scores, features, present, _PERSON)
    return mlp(arrays, "mlp3", pairs.graph.concat([_own(pairs), crowd]))


def _cadrl(policy: ValuePolicy, pairs: Value, present: Value) -> Value:
    worst = present.where(mlp(policy.arrays, "value", pairs), _LARGEST).min(_PERSON)
    return present.any(_PERSON).where(worst, 0.0)


def _lstm_rl(policy: ValuePolicy, pairs: Value, present: Value) -> Value:
    arrays = policy.arrays
    state = cell = pairs.graph.constant(np.zeros((1, 1, 1, len(arrays["lstm.state_weight"])), np.float32))
    for p in range(policy.observe.people - 1, -1, -1):
        after, kept = lstm(arrays, "lstm", pairs.part(p, p + 1, _PERSON), state, cell)
        there = present.part(p, p + 1, _PERSON)
        state, cell = there.where(after, state), there.where(kept, cell)
    return mlp(arrays, "value", pairs.graph.concat([_own(pairs), state]))


def _sa_cadrl(policy: ValuePolicy, pairs: Value, present: Value) -> Value:
    seen = mlp(policy.arrays, "each", pairs, last_relu=True)
    return mlp(policy.arrays, "value", pairs.graph.concat([_own(pairs), present.where(seen, 0.0).max(_PERSON)]))


def _own(pairs: Value) -> Value:
    """The robot's values (N, A, 1, 6)."""
    return pairs.part(0, 1, _PERSON).part(0, OWN)


_NETWORKS: dict[str, Callable[[ValuePolicy, Value, Value], Value]] = {
    "cadrl": _cadrl,
    "lstm_rl": _lstm_rl,
    "sa_cadrl": _sa_cadrl,
    "sarl": _sarl,
}
