"""A plain twin of `agora.planners.local.brne`, for one robot, in float64: without walls and corridor."""

from __future__ import annotations

import math

import numpy as np

from agora.planners.local.brne._game import deviations
from agora.seeds import Stream


def roll_out(speed, turn, steps, dt):
    """The ways (S, T, 2) for constant speeds and turning rates (S,), by the method of Runge and Kutta."""

    def slope(state):
        return np.stack([speed * np.cos(state[:, 2]), speed * np.sin(state[:, 2]), turn], -1)

    state, way = np.zeros((len(speed), 3)), []
    for _ in range(steps):
        a = slope(state)
        b = slope(state + 0.5 * dt * a)
        c = slope(state + 0.5 * dt * b)
        state = state + dt / 6 * (a + 2 * b + 2 * c + slope(state + dt * c))
        way.append(state[:, :2])
    return np.stack(way, axis=1)


def cost(one, other, a1, a2, a3, excess=0.0):
    """The costs (S, S) of two agents' ways (S, T, 2): the largest of all moments."""
    distance = np.hypot(*np.moveaxis(one[:, None] - other[None], -1, 0))
    distance = np.maximum(distance - excess, 0.0)
    with np.errstate(over="ignore"):
        return a3 * (2 - 2 / (1 + np.exp(-a1 * distance ** (2 * a2)))).max(axis=-1)


def equilibrium(ways, radius, a1, a2, a3, bodies):
    """The weights (A, S) of the agents' ways (A, S, T, 2)."""
    agents = len(ways)
    weights = np.ones(ways.shape[:2])
    prices = {
        (i, j): cost(ways[i], ways[j], a1, a2, a3, max(radius[i] + radius[j] - bodies, 0.0))
        for i in range(agents)
        for j in range(agents)
        if i != j
    }
    for _ in range(10):
        for i in range(agents):
            expected = np.mean([prices[i, j] * weights[j] for j in range(agents) if j != i], axis=(0, 2))
            weights[i] = np.exp(-expected)
            weights[i] /= weights[i].mean()
    return weights


def grid(nominal, bend, top, fastest, samples):
    """Speeds and turning rates (S,) about the nominal ones."""
    side = math.isqrt(samples)
    ahead, beside = min(nominal, top - nominal), min(fastest + bend, fastest - bend)
    speed, turn = np.linspace(-ahead, ahead, 2 * side) + nominal, np.linspace(-beside, beside, side // 2) + bend
    return np.tile(speed, len(turn)), np.repeat(turn, len(speed))


def wander(planner, agent, call, mean, speed):
    """The ways (S, T, 2) of a pedestrian about a mean (T, 2) in the robot's frame."""
    factor = deviations(planner.steps, planner.step, planner.kernel_a1, planner.kernel_a2)
    shape = (planner.steps, planner.samples)
    drawn = [Stream("brne", planner.seed, "samples", 2 * agent + axis, call).normal(shape=shape) for axis in range(2)]
    return mean + speed * np.stack([(factor @ d).T for d in drawn], -1)


def command(planner, pose, goal, radius, people, top, fastest, call=0):
    """(v, w) of a robot far from its goal, with people as (place, velocity, radius), and the weights and ways of all."""
    c, s = math.cos(pose[2]), math.sin(pose[2])
    turned = np.array([[c, -s], [s, c]])
    to_goal = (np.asarray(goal) - pose[:2]) @ turned
    bearing = math.atan2(to_goal[1], to_goal[0])
    nominal = top * 2 / 3
    curve = 2 * math.sin(bearing) / np.hypot(*to_goal)
    nominal = min(nominal, fastest / max(abs(curve), 1e-6))
    speed, turn = grid(nominal, nominal * curve, top, fastest, planner.samples)
    robot = roll_out(speed, turn, planner.steps, planner.step)
    near = sorted(((np.hypot(*(p - pose[:2])), k) for k, (p, _, _) in enumerate(people)))
    near = [k for away, k in near if away <= planner.activation][: planner.max_agents - 1]
    if not near:
        reach = min(np.hypot(*to_goal), top * planner.step * planner.steps)
        best = np.hypot(*(robot[:, -1] - reach * to_goal / np.hypot(*to_goal)).T).argmin()
        return speed[best], turn[best], None, None
    times = planner.step * np.arange(1, planner.steps + 1)[:, None]
    ways, radii = [robot], [radius]
    for rank, k in enumerate(near):
        place, velocity, body = people[k]
        mean = (place - pose[:2] + times * velocity) @ turned
        ways.append(wander(planner, rank, call, mean, np.hypot(*velocity)))
        radii.append(body)
    weights = equilibrium(np.array(ways), radii, planner.cost_a1, planner.cost_a2, planner.cost_a3, planner.bodies)
    nearest = (people[near[0]][0] - pose[:2]) @ turned
    keep = planner.close_stop or radius + people[near[0]][2] + 0.1
    safe = np.hypot(*np.moveaxis(robot - nearest, -1, 0)).min(axis=1) > keep
    if not safe.any():
        return 0.0, 0.0, weights, ways
    mine = weights[0] * safe
    return speed @ mine / mine.sum(), turn @ mine / mine.sum(), weights, ways
