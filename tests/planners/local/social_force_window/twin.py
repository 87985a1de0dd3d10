"""The social force window planner once more: plain, slow, float64; away from the goal, and with people at constant velocity."""

from __future__ import annotations

import math

import numpy as np
from tests.planners.local.dwa.twin import cell_at, under_footprint


def social_force(offset, velocity, p):
    """The force of somebody at ``offset`` from one who moves with ``velocity`` relative to them (Moussaid 2009)."""
    d = np.hypot(*offset)
    e = offset / d
    toward = p.importance * velocity + e
    size = np.hypot(*toward)
    t, b = toward / size, p.gamma * size
    theta = math.atan2(t[0] * e[1] - t[1] * e[0], t @ e)
    left = np.array((-t[1], t[0]))
    brake, turn = (math.exp(-d / b - (m * b * theta) ** 2) for m in (p.n_prime, p.n))
    return -p.sfm_people_weight * (brake * t + np.sign(theta) * turn * left)


def walls_about(pose, costmap, reach):
    """The nearest lethal cell of each block of 3 x 3 about the robot's cell, within reach; the nearest 128."""
    cost, origin, cell = costmap
    own = np.floor((np.asarray(pose[:2]) - origin) / cell).astype(int)
    blocks = {}
    for row, column in np.argwhere(cost == 254):
        place = origin + (np.array((column, row)) + 0.5) * cell
        far = np.hypot(*(place - pose[:2]))
        key = ((row - own[1] + 1) // 3, (column - own[0] + 1) // 3)
        if far < reach and far < blocks.get(key, (np.inf,))[0]:
            blocks[key] = (far, place)
    return [place for _, place in sorted(blocks.values(), key=lambda one: one[0])[:128]]


def ahead(path, at, span):
    """The point ``span`` m along the path from its point nearest to ``at``; and how far along it is."""
    fine = np.concatenate([np.linspace(a, b, 400, endpoint=False) for a, b in zip(path[:-1], path[1:], strict=True)] + [path[-1:]])
    start = np.argmin(np.hypot(*(fine - at).T))
    way = np.concatenate(((0.0,), np.cumsum(np.hypot(*np.diff(fine[start:], axis=0).T))))
    k = min(np.searchsorted(way, span), len(way) - 1)
    return fine[start + k], way[k], way[-1]


def seen(costmap, here, there):
    """Whether no inscribed cell is between two places, once the robot has left those that it stands in."""
    cost, origin, cell = costmap
    left = False
    for share in np.linspace(0, 1, math.ceil(math.dist(here, there) / cell) + 2):
        place = cell_at(here + share * (there - here), origin, cell, cost)
        if place is None:
            return True
        if left and cost[place] >= 253:
            return False
        left = left or cost[place] < 253
    return True


def scores(p, fastest, radius, inner, people, pose, twist, limits, dt, path, costmap, corners):
    """Scores of all samples (v, omega); ``people`` are (place, velocity, radius, yields)."""
    cost, origin, cell = costmap
    steps = round(p.sim_time / p.sim_granularity)
    step, here = p.sim_time / steps, np.array(pose[:2])
    fine = max(math.ceil(step * fastest / 0.1), 1)
    short, span = step / fine, 1.1 * fastest * p.sim_time if p.wp_tolerance is None else p.wp_tolerance
    for _ in range(9):
        point, along, _ = ahead(path, here, span)
        if seen(costmap, here, point):
            break
        span *= 0.8
    walls, turn = walls_about(pose, costmap, p.max_obstacle_dist + radius), min(p.max_rot_vel, limits["max_omega"])
    grown = corners * (1 + 0.5 * cell / inner)
    grown = grown if under_footprint(cost, origin, cell, grown, np.array(pose)) is not None else corners
    gain, found = np.array(limits["acceleration"])[[0, 2]] * short, {}
    tried = [
        (fastest * i / p.n_linvels, turn * j / p.n_angvels)
        for i in range(p.n_linvels + 1)
        for j in range(-p.n_angvels, p.n_angvels + 1)
    ]
    for wanted in tried:
        at, v, work, contact, mean = np.array(pose, float), np.array(twist, float)[[0, 2]], 0.0, 0.0, 0.0
        off, drift = np.zeros((len(people), 2)), np.zeros((len(people), 2))
        outline = grown if wanted[0] > 0.25 else corners
        for t in range(1, steps + 1):
            before = at.copy()
            for _ in range(fine):
                v = np.clip(wanted, v - gain, v + gain)
                if limits["turning_radius"] > 0:
                    v[1] = np.clip(v[1], -abs(v[0]) / limits["turning_radius"], abs(v[0]) / limits["turning_radius"])
                middle = at[2] + 0.5 * short * v[1]
                at += short * np.array((v[0] * math.cos(middle), v[0] * math.sin(middle), v[1]))
                place = cell_at(at[:2], origin, cell, cost)
                free = place is not None and under_footprint(cost, origin, cell, outline, at) is not None
                mean += cost[place] / 255 / (steps * fine) if free else np.inf
            total, moving = np.zeros(2), v[0] * np.array((math.cos(at[2]), math.sin(at[2])))
            for m, (place, velocity, size, yields) in enumerate(people):
                was, now = place + (t - 1) * step * velocity, place + t * step * velocity
                force = social_force(now + off[m] - at[:2], moving - velocity - drift[m], p)
                total, work = total + force, work + np.hypot(*force)
                drift[m] = yields * (max(1 - p.sfm_goal_weight / 0.5 * step, 0.0) * drift[m] - step * force)
                off[m] += step * drift[m]
                a, b = was - before[:2], now - at[:2]
                share = np.clip(a @ (a - b) / max((a - b) @ (a - b), 1e-12), 0.0, 1.0)
                least, last = np.hypot(*(a + share * (b - a))), np.hypot(*b)
                first, reach = np.hypot(*(place - here)), size + radius
                if last < first if first < reach else least < reach:
                    contact = max(contact, 1 + abs(v[0]))
            pushes = [(at[:2] - wall, np.hypot(*(at[:2] - wall))) for wall in walls]
            push = [p.sfm_obstacle_weight * math.exp((inner - d) / p.sfm_obstacle_sigma) * o / d for o, d in pushes]
            work += np.hypot(*total) + (np.hypot(*np.mean(push, axis=0)) if push else 0.0)
        left = point - at[:2]
        angle = abs(math.remainder(math.atan2(left[1], left[0]) - at[2], 2 * math.pi)) / math.pi
        found[wanted] = (
            p.velocity_weight * abs(fastest - v[0]) / fastest
            + p.distance_weight * (left @ left) / along**2
            + p.angle_weight * angle
            + p.social_weight * work
            + p.costmap_weight * mean
            + 1e4 * contact
        )
    return found
