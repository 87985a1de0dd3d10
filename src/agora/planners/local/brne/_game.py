"""The game in `agora.planners.local.brne`: sampled paths, the costs of pairs of paths, and the agents' equilibrium weights.

All values are for one robot, in its frame: the robot is at the origin and faces along x.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from agora.core.jit import hidden
from agora.core.scalar import HALF, ONE, TWO, ZERO, exp, sincos
from agora.core.state import Doubles, Floats
from agora.seeds import normal_at

_SIX = np.float32(6.0)
_NOTHING = np.float32(20.0)
"""Exponent of a cost above which the cost is less than 4e-9 of the largest, and counts as 0."""
_FAR = np.float32(3e38)
_NOISE, _JITTER = 1e-4, 1e-6
ROUNDS = 10


class Costs(NamedTuple):
    """Parameters of the cost of a pair of paths: ``a1``, ``a2`` and ``a3`` as in `cost_of`, and ``bodies``, m; if the sum of two
    agents' radii exceeds ``bodies``, the excess is subtracted from their distance.
    """

    a1: np.float32
    a2: np.float32
    a3: np.float32
    bodies: np.float32


class Ways(NamedTuple):
    """The sampled paths of all agents; the robot is the first agent.

    Attributes:
        x: (A, T, S) x of the positions at the times dt, 2 dt ... T dt, m.
        y: (A, T, S) y of the positions, m.
    """

    x: Floats
    y: Floats


def deviations(steps: int, dt: float, a1: float, a2: float) -> Doubles:
    """Return the lower Cholesky factor (T, T) of the covariance of the paths about their mean, at the times dt, 2 dt ... T dt.

    The paths are a Gaussian process with the kernel a2 exp(-a1 (t - t')^2), conditioned on its mean at t = 0.
    """
    times = dt * np.arange(1, steps + 1)
    first, among = a2 * np.exp(-a1 * times**2), a2 * np.exp(-a1 * (times[:, None] - times) ** 2)
    factor = np.linalg.cholesky(among - np.outer(first, first) / (a2 + _NOISE) + _JITTER * np.eye(steps))
    return np.asarray(factor, np.float64)


@hidden
def roll_out(way_x, way_y, speed, turn, dt):
    """Write the paths (T, S) of a robot for constant speeds and turning rates (S,), integrated with the Runge-Kutta method."""
    steps, samples = way_x.shape
    for s in range(samples):
        x, y, heading = ZERO, ZERO, ZERO
        sine, cosine = ZERO, ONE
        for t in range(steps):
            half_sine, half_cosine = sincos(heading + HALF * dt * turn[s])
            heading += dt * turn[s]
            next_sine, next_cosine = sincos(heading)
            x += dt * speed[s] * (cosine + TWO * half_cosine + TWO * half_cosine + next_cosine) / _SIX
            y += dt * speed[s] * (sine + TWO * half_sine + TWO * half_sine + next_sine) / _SIX
            sine, cosine = next_sine, next_cosine
            way_x[t, s], way_y[t, s] = x, y


@hidden
def write_pedestrian_paths(way_x, way_y, mean, factor, scale, key, agent, call, sine, cosine, draws):
    """Write the sampled paths (T, S) of a pedestrian, rotated to the robot's heading; their mean path ``mean`` (T, 2) is given
    along the map's axes.

    The random numbers depend on the agent, the call, the sample and the time step.
    """
    steps, samples = way_x.shape
    for axis in range(2):
        way = way_x if axis == 0 else way_y
        for t in range(steps):
            for s in range(samples):
                draws[t, s] = np.float32(normal_at(key, np.uint64(2 * agent + axis), np.uint64(call), np.uint64(t * samples + s)))
        for t in range(steps):
            along = mean[t, 0] * cosine + mean[t, 1] * sine if axis == 0 else mean[t, 1] * cosine - mean[t, 0] * sine
            for s in range(samples):
                way[t, s] = along
            for k in range(t + 1):
                share = factor[t, k] * scale
                for s in range(samples):
                    way[t, s] += share * draws[k, s]


@hidden
def cost_of(squared, costs, excess):
    """Return the cost of two paths with the given squared minimum distance: a3 at contact, 0 far apart.

    The cost is a3 (2 - 2 / (1 + exp(-a1 d^(2 a2)))). It falls with the distance d, so its maximum over time occurs at the minimum
    d.
    """
    distance = max(math.sqrt(squared) - excess, ZERO)
    exponent = costs.a1 * (distance * distance) ** costs.a2
    if exponent >= _NOTHING:
        return ZERO
    small = exp(-exponent)
    return costs.a3 * TWO * small / (ONE + small)


@hidden
def write_pair_costs(table, ways, agents, radius, costs, nearest):
    """Write the table (A, A, S, S) of costs for each pair of samples of two agents, where table[i, j, s, s'] = table[j, i, s',
    s].
    """
    steps, samples = ways.x.shape[1], ways.x.shape[2]
    for i in range(agents):
        for j in range(i + 1, agents):
            excess = max(radius[i] + radius[j] - costs.bodies, ZERO)
            for s in range(samples):
                nearest[:] = _FAR
                for t in range(steps):
                    x, y = ways.x[i, t, s], ways.y[i, t, s]
                    for k in range(samples):
                        dx, dy = ways.x[j, t, k] - x, ways.y[j, t, k] - y
                        nearest[k] = min(nearest[k], dx * dx + dy * dy)
                for k in range(samples):
                    cost = cost_of(nearest[k], costs, excess)
                    table[i, j, s, k], table[j, i, k, s] = cost, cost


@hidden
def respond_in_turn(weights, table, agents, mean):
    """Write the weights (A, S) of all agents' samples, with mean 1 for each agent, after ten rounds in which the agents update
    their weights one after the other in response to the current weights of the others.

    The weight of a sample is exp(-expected cost); an agent's minimum cost is subtracted first, which does not change the weights
    because they are divided by their mean.
    """
    samples = weights.shape[1]
    share = ONE / np.float32((agents - 1) * samples)
    weights[:agents, :] = ONE
    for _ in range(ROUNDS):
        for i in range(agents):
            mean[:] = ZERO
            for j in range(agents):
                if j != i:
                    for k in range(samples):
                        for s in range(samples):
                            mean[s] += table[j, i, k, s] * weights[j, k]
            least = _FAR
            for s in range(samples):
                least = min(least, mean[s])
            total = ZERO
            for s in range(samples):
                weights[i, s] = exp(share * (least - mean[s]))
                total += weights[i, s]
            total /= np.float32(samples)
            for s in range(samples):
                weights[i, s] /= total
