"""Model predictive path integral control once more: plain, slow, float64; the first step of an episode, without people in it."""

from __future__ import annotations

from collections import deque

import numpy as np
from tests.planners.local.dwa.twin import cell_at, local_targets, under_footprint

from agora.costmap.window import inscribed_radius

SAVITZKY_GOLAY = np.array((-21, 14, 39, 54, 59, 54, 39, 14, -21)) / 231.0


def waves(cost, seeds):
    """Distances of all cells to the path, and from the path's cell that is nearest to the path's end, in cells."""
    left = [0.0] * len(seeds)
    for k in range(len(seeds) - 2, -1, -1):
        ahead = min(k + 8, len(seeds) - 1)
        left[k] = np.hypot(*np.subtract(seeds[ahead], seeds[k])) + left[ahead]
    distance, away = np.full(cost.shape, cost.size + 1.0), np.full(cost.shape, cost.size + 1.0)
    queue = deque(seeds)
    for place, rest in zip(seeds, left, strict=True):
        distance[place], away[place] = 0.0, rest
    while queue:
        row, column = queue.popleft()
        for place in ((row, column - 1), (row, column + 1), (row - 1, column), (row + 1, column)):
            inside = 0 <= place[0] < cost.shape[0] and 0 <= place[1] < cost.shape[1]
            if inside and distance[place] > cost.size and cost[place] < 253:
                distance[place], away[place] = distance[row, column] + 1, away[row, column]
                queue.append(place)
    return distance, away


def command(planner, noise, pose, twist, limits, dt, path, costmap, corners, discs):
    """Return the twist of one robot that has no plan yet; ``discs`` are expected places (M, T, 2), places of now, and reaches."""
    cost, origin, cell = costmap
    on_path, to_goal = waves(cost, list(dict.fromkeys(local_targets(planner, pose, path, costmap)[0])))
    steps, samples = planner.time_steps, noise.shape[2]
    step = planner.horizon / steps
    spread = np.array((planner.spread_x * limits["max_vx"], planner.spread_y * limits["max_vy"], planner.std_theta))
    low = np.array((max(limits["min_vx"], planner.min_vel_x), -limits["max_vy"], -limits["max_omega"]))
    high = np.array((limits["max_vx"], limits["max_vy"], limits["max_omega"]))
    gain = np.array(limits["acceleration"]) * step
    tried, total, side = np.zeros((samples, steps, 3)), np.zeros(samples), np.zeros(samples)
    change, now = np.array(limits["acceleration"]) * dt, np.array(twist)
    for k in range(samples):
        at, v, hit = np.array(pose, float), np.array(twist, float), False
        for t in range(steps):
            tried[k, t] = spread * noise[t, :, k] * (k != 1)
            held = np.clip(tried[k, t], low, high)
            held[:2] *= min(max(high[:2]) / max(np.hypot(*held[:2]), 1e-6), 1.0)
            v = np.clip(held, v - gain, v + gain)
            if limits["turning_radius"] > 0:
                v[2] = np.clip(v[2], -abs(v[0]) / limits["turning_radius"], abs(v[0]) / limits["turning_radius"])
            middle = at[2] + 0.5 * step * v[2]
            c, s = np.cos(middle), np.sin(middle)
            at += step * np.array((v[0] * c - v[1] * s, v[0] * s + v[1] * c, v[2]))
            side[k] += at[2] - pose[2]
            total[k] += (planner.twirling_scale * abs(v[2]) + planner.backward_scale * max(-v[0], 0.0)) / steps
            total[k] += planner.sideways_scale * abs(v[1]) / steps
            place = cell_at(at[:2], origin, cell, cost)
            if place is None:
                hit = True
                continue
            off, away = cell * min(on_path[place], cost.size), cell * min(to_goal[place], cost.size)
            ahead = cell_at(at[:2] + planner.forward_point_distance * np.array((np.cos(at[2]), np.sin(at[2]))), origin, cell, cost)
            nose_off, behind = off, 0.0
            if ahead is not None and away > planner.forward_point_distance and on_path[ahead] < cost.size:
                nose_off = cell * on_path[ahead]
                behind = max((nose_off + cell * to_goal[ahead] - away - off) / planner.forward_point_distance, 0.0)
            total[k] += (planner.path_scale * (off + nose_off) + planner.goal_scale / min(max(high[:2]), 1.0) * away) / steps
            total[k] += planner.heading_scale * behind / steps
            total[k] += planner.obstacle_scale * cost[place] / 252.0 / steps
            touches = cost[place] >= 253 or under_footprint(cost, origin, cell, corners, at) is None
            hit = hit or touches
            wider = corners * (1.0 + cell / inscribed_radius(corners[None])[0])
            near = not touches and under_footprint(cost, origin, cell, wider, at) is None
            total[k] += planner.critical_scale * near / steps
            for way, here, reach in zip(*discs, strict=True):
                far = np.hypot(*(way[t] - at[:2]))
                near = max(reach + planner.people_distance - far, 0.0) / planner.people_distance
                total[k] += planner.people_scale * near / steps
                touches = far < reach and far < np.hypot(*(here - pose[:2]))
                hit = hit or (touches and np.hypot(*(here - pose[:2])) < reach)
                total[k] += planner.contact_scale * touches * (1.0 + np.hypot(v[0], v[1])) / steps
        total[k] = np.inf if hit else total[k]
    if np.isinf(total).all():
        return np.clip(
            0.0, np.array(twist) - np.array(limits["acceleration"]) * dt, np.array(twist) + np.array(limits["acceleration"]) * dt
        )
    weight = np.exp((total.min() - total) / planner.temperature)
    free, left, right = np.isfinite(total), weight[side > 0].sum(), weight[side < 0].sum()
    if weight @ side**2 / weight.sum() > (side[free] ** 2).mean() and min(left, right) > 0.05 * weight.sum():
        weight = np.where((side < 0) == (right > left), weight, 0.0)
    plan = np.clip(np.einsum("k,kta->ta", weight, tried) / weight.sum(), low, high)
    smooth = SAVITZKY_GOLAY[4:] @ plan[:5]
    smooth = np.clip(smooth, low, high)
    smooth[:2] *= min(max(high[:2]) / max(np.hypot(*smooth[:2]), 1e-6), 1.0)
    smooth = np.clip(smooth, now - change, now + change)
    smooth[:2] *= min(max(high[:2]) / max(np.hypot(*smooth[:2]), 1e-6), 1.0)
    if limits["turning_radius"] > 0:
        smooth[2] = np.clip(smooth[2], -abs(smooth[0]) / limits["turning_radius"], abs(smooth[0]) / limits["turning_radius"])
    return smooth
