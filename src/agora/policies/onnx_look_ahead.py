"""The look-ahead of policies that evaluate states (`agora.policies.look_ahead`), as operators of ONNX graphs.

Values have the axes row, candidate, person and entry. An axis on which a value does not depend has a length of 1.
"""

from __future__ import annotations

import math

from agora.policies.joint_state import GOAL, PAIR, PERSON, RADIUS, ROBOT, SPEED
from agora.policies.look_ahead import SIDES, LookAhead
from agora.policies.onnx_graph import Value

PERSON_AXIS = 2
_COS_30, _COS_45 = math.cos(math.pi / 6), math.cos(math.pi / 4)
_TINY, _FAR = 1e-6, 1e9


def looked_ahead(ahead: LookAhead, states: Value, length: int) -> tuple[Value, Value, Value, Value]:
    """Return the result of `agora.policies.look_ahead.look_ahead` for joint states (N, D).

    Returns:
        Pairs (N, A, P, 13) after a step, rewards (N, A, 1, 1), discount factors (N, 1, 1, 1), and whether each person (N, 1, P, 1)
            is present.
    """
    graph, count = states.graph, (length - ROBOT) // PERSON
    state = states.reshape(0, 1, 1, length)
    people = states.part(ROBOT, length).reshape(0, 1, count, PERSON)
    present = people.part(PERSON - 1, PERSON) > 0.5
    goal, speed, radius = (state.part(k, k + 1) for k in (GOAL, SPEED, RADIUS))
    x, y, vx, vy, person_radius = people.columns(PERSON - 1)
    ux, uy = (speed * column.reshape(1, -1, 1, 1) for column in ahead.velocities.T)

    gx, gy = goal - ux * ahead.step, uy * -ahead.step
    left = (gx * gx + gy * gy).sqrt()
    away, size = left > _TINY, left.maximum(_TINY)
    ex, ey = away.where(gx / size, 1.0), away.where(gy / size, 0.0)

    sx, sy = (vx - ux) * ahead.step, (vy - uy) * ahead.step
    length2 = sx * sx + sy * sy
    moves = length2 > 0.0
    share = moves.where(-(x * sx + y * sy) / moves.where(length2, 1.0), 0.0).within(0.0, 1.0)
    nx, ny = x + share * sx, y + share * sy
    apart = (nx * nx + ny * ny).sqrt() - radius - person_radius
    clearance = present.where(apart, _FAR).min(PERSON_AXIS)

    discomfort = (ahead.discomfort_distance - clearance).maximum(0.0) * (ahead.discomfort * ahead.step)
    rewards = (clearance < 0.0).where(ahead.collision, (left < radius).where(ahead.reached, discomfort))
    discounts = (speed * (ahead.step * math.log(ahead.discount))).exp()

    px, py = x + sx, y + sy
    px, py = ex * px + ey * py, ex * py - ey * px
    own = (left, speed, speed * 0.0, radius, ex * ux + ey * uy, ex * uy - ey * ux)
    theirs = (px, py, ex * vx + ey * vy, ex * vy - ey * vx, person_radius, (px * px + py * py).sqrt(), radius + person_radius)
    shape = (1, len(ahead.velocities), count, 1)
    pairs = present.where(graph.concat([value.spread(*shape) for value in (*own, *theirs)]), 0.0)
    if ahead.norm:
        fading = math.log(ahead.discount)
        gain = ((goal - speed).maximum(0.0) * fading).exp() - (goal * fading).exp()
        wrong = present.part(0, 1, PERSON_AXIS) & _wrong_side(pairs.part(0, 1, PERSON_AXIS), SIDES[ahead.side])
        rewards = rewards - wrong.as_float() * gain * (ahead.norm * ahead.step)
    return pairs, rewards, discounts, present


def chosen(ahead: LookAhead, state: Value, present: Value, promised: Value) -> Value:
    """Return the velocities (N, 2) with the highest expected return; a robot that is alone or at its goal drives straight to the
    goal.
    """
    accompanied = present.any(PERSON_AXIS).reshape(0, 1)
    graph, (goal, speed, radius) = state.graph, (state.part(k, k + 1) for k in (GOAL, SPEED, RADIUS))
    best = graph.add("Gather", ahead.velocities, promised.argmax(1, keep=False), axis=0) * speed
    straight = speed.minimum(goal / ahead.step)
    return (~accompanied | (goal < radius)).where(graph.concat([straight, straight * 0.0]), best)


def _wrong_side(pairs: Value, side: float) -> Value:
    """Return (N, A, 1, 1) whether the robot passes a person on the wrong side, like `agora.policies.look_ahead.wrong_side`."""
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
