"""The dynamic window approach once more: plain, slow, float64; the first step of an episode."""

from __future__ import annotations

import math
from collections import deque

import numpy as np


def densified(path, cell):
    points = [tuple(path[0])]
    for a, b in zip(path[:-1], path[1:], strict=True):
        pieces = max(math.ceil(math.dist(a, b) / cell), 1)
        points += [tuple(a + (b - a) * j / pieces) for j in range(1, pieces + 1)]
    return points


def cell_at(point, origin, cell, cost):
    column, row = (math.floor((p - o) / cell) for p, o in zip(point, origin, strict=True))
    return (row, column) if 0 <= row < cost.shape[0] and 0 <= column < cost.shape[1] else None


def wavefront(cost, seeds):
    distance = np.full(cost.shape, cost.size + 1.0)
    queue = deque(seeds)
    for place in seeds:
        distance[place] = 0.0
    while queue:
        row, column = queue.popleft()
        for place in ((row, column - 1), (row, column + 1), (row - 1, column), (row + 1, column)):
            inside = 0 <= place[0] < cost.shape[0] and 0 <= place[1] < cost.shape[1]
            if inside and distance[place] > cost.size and cost[place] < 253:
                distance[place] = distance[row, column] + 1
                queue.append(place)
    distance[(cost >= 253) & (distance > 0)] = cost.size
    return distance


def line(a, b):
    """Cells of Bresenham's line: the minor coordinate is rounded from a closed form."""
    (r0, c0), (r1, c1) = a, b
    rows, columns = abs(r1 - r0), abs(c1 - c0)
    longest, shortest = max(rows, columns), min(rows, columns)
    for i in range(longest + 1):
        minor = (longest // 2 + i * shortest) // longest if longest else 0
        major_is_row = rows > columns
        dr, dc = (i, minor) if major_is_row else (minor, i)
        yield r0 + int(math.copysign(dr, r1 - r0)), c0 + int(math.copysign(dc, c1 - c0))


def under_footprint(cost, origin, cell, corners, pose):
    x, y, heading = pose
    turn = np.array([[math.cos(heading), -math.sin(heading)], [math.sin(heading), math.cos(heading)]])
    cells = [cell_at(p, origin, cell, cost) for p in corners @ turn.T + (x, y)]
    centre = cell_at((x, y), origin, cell, cost)
    if centre is None or None in cells:
        return None
    values = [cost[place] for k in range(len(cells)) for place in line(cells[k - 1], cells[k])]
    return None if max(values) >= 254 else float(max(max(values), cost[centre]))


def samples_of(low, high, count):
    if low >= high:
        return [high]
    values = np.linspace(low, high, max(count, 2)).tolist()
    values = [0.0 if abs(v) < 1e-6 else v for v in values]
    between = [k for k in range(1, len(values)) if values[k - 1] < 0 < values[k]]
    return values[: between[0]] + [0.0] + values[between[0] :] if between else values


def local_targets(planner, pose, path, costmap):
    """Cells of the local path, the local goal, the nose's goal, and how far the end is, m; None without a local path."""
    cost, origin, cell = costmap
    points = densified(path, cell)
    far = [math.dist(p, pose[:2]) for p in points]
    if planner.prune_plan and any(d < 1.0 for d in far):
        start = next(k for k, d in enumerate(far) if d < 1.0)
        points, far = points[start:], far[start:]
    reach = 0.5 * cell * max(cost.shape)
    near = [k for k, d in enumerate(far) if d <= reach]
    if not near:
        return None
    last = next((k for k in range(near[0], len(far)) if far[k] > reach), len(far) - 1)
    points = points[near[0] : last + 1]

    def known(point):
        place = cell_at(point, origin, cell, cost)
        return place if place is not None and cost[place] != 255 else None

    places = [known(p) for p in points]
    first = next((k for k, place in enumerate(places) if place), None)
    if first is None:
        return None
    behind = next((k for k in range(first, len(places)) if not places[k]), len(places))
    stretch = places[first:behind]
    end = points[-1]
    away = math.dist(end, pose[:2])
    ahead = []
    if behind == len(places):
        along = ((end[0] - pose[0]) / away, (end[1] - pose[1]) / away) if away else (1.0, 0.0)
        pieces = max(math.ceil(planner.forward_point_distance / cell), 1)
        for j in range(1, pieces + 1):
            share = planner.forward_point_distance * j / pieces
            place = known((end[0] + share * along[0], end[1] + share * along[1]))
            if not place:
                break
            ahead.append(place)

    def last_free(candidates):
        free = [place for place in candidates if cost[place] < 253]
        return free[-1] if free else candidates[-1]

    return stretch, last_free(stretch), last_free(stretch + ahead), away


def scores(planner, pose, twist, corners, limits, dt, path, costmap):
    """Every sample that is not discarded, with its score."""
    cost, origin, cell = costmap
    targets = local_targets(planner, pose, path, costmap)
    if targets is None:
        return {}
    stretch, goal, nose_goal, away = targets
    align = away > planner.forward_point_distance
    to_path, to_goal, to_nose = (wavefront(cost, cells) for cells in (list(dict.fromkeys(stretch)), [goal], [nose_goal]))
    low = np.array(
        [
            max(planner.min_vel_x, limits["min_vx"]),
            -min(planner.max_vel_y, limits["max_vy"]),
            -min(planner.max_vel_theta, limits["max_omega"]),
        ]
    )
    high = np.array([min(planner.max_vel_x, limits["max_vx"]), -low[1], -low[2]])
    acceleration = np.minimum((planner.acc_lim_x, planner.acc_lim_y, planner.acc_lim_theta), limits["acceleration"])
    max_trans = min(planner.max_vel_trans, math.hypot(max(high[0], -low[0]), high[1]))
    window = dt if planner.use_dwa else planner.sim_time
    if planner.patient_start:
        slowest = max(planner.min_vel_trans / acceleration[0], planner.min_vel_theta / acceleration[2])
        window = max(window, min(planner.sim_time, slowest))
    gains = window > dt or not planner.use_dwa
    if not planner.use_dwa:
        away = math.dist(path[-1], pose[:2]) / planner.sim_time
        high[0], high[1] = max(min(high[0], away), low[0]), min(high[1], away)
        low[1] = -high[1]
    bottom = np.clip(twist - acceleration * window, low, high)
    top = np.clip(twist + acceleration * window, low, high)
    counts = (planner.vx_samples, planner.vy_samples, planner.vth_samples)
    axes = [samples_of(a, b, n) for a, b, n in zip(bottom, top, counts, strict=True)]
    fastest, _, turn = (max(abs(values[0]), abs(values[-1])) for values in axes)
    fastest += max(abs(axes[1][0]), abs(axes[1][-1]))
    slowest = [min(planner.min_vel_trans, max_trans), min(planner.min_vel_theta, high[2])]
    if planner.patient_start:
        slowest = [min(slowest[0], fastest), min(slowest[1], turn)]
    reach = min(fastest, max_trans) if planner.use_dwa else max(fastest, math.hypot(twist[0], twist[1]))
    weight = planner.occdist_scale * (reach * planner.sim_time / planner.occdist_length if planner.occdist_length else 1.0)
    found = {}
    for vx in axes[0]:
        for vy in axes[1]:
            for omega in axes[2]:
                speed = math.hypot(vx, vy)
                if speed + 1e-4 < slowest[0] and abs(omega) + 1e-4 < slowest[1]:
                    continue
                if speed - 1e-4 > max_trans or abs(omega) * limits["turning_radius"] > abs(vx) + 1e-4:
                    continue
                drive, poses = roll(planner, pose, twist, (vx, vy, omega), acceleration, gains)
                if not poses:
                    continue
                grids = (to_path, to_goal, to_nose)
                score = score_of(planner, drive, poses, corners, max_trans, (cost, origin, cell), grids, align, weight)
                if score is not None:
                    found[drive] = min(score, found.get(drive, math.inf))
    return found


def roll(planner, pose, twist, target, acceleration, gains):
    count = math.ceil(
        max(
            math.hypot(target[0], target[1]) * planner.sim_time / planner.sim_granularity,
            abs(target[2]) * planner.sim_time / planner.angular_sim_granularity,
        )
        - 1e-6
    )
    if count == 0:
        return target, []
    dt = planner.sim_time / count
    now, target = np.array(twist if gains else target, float), np.array(target, float)
    drive = now = np.clip(target, now - acceleration * dt, now + acceleration * dt)
    poses, place = [], np.array(pose, float)
    for _ in range(count):
        poses.append(tuple(place))
        now = np.clip(target, now - acceleration * dt, now + acceleration * dt)
        c, s = math.cos(place[2]), math.sin(place[2])
        place = place + np.array((c * now[0] - s * now[1], s * now[0] + c * now[1], now[2])) * dt
    return tuple(drive.tolist()), poses


def score_of(planner, drive, poses, corners, max_trans, costmap, grids, align, weight):
    cost, origin, cell = costmap
    to_path, to_goal, to_nose = grids
    speed = math.hypot(drive[0], drive[1])
    scale = 1.0
    if speed > planner.scaling_speed and max_trans > planner.scaling_speed:
        scale += planner.max_scaling_factor * (speed - planner.scaling_speed) / (max_trans - planner.scaling_speed)
    worst = 0.0
    for x, y, heading in poses:
        place = cell_at((x, y), origin, cell, cost)
        shift = planner.forward_point_distance
        nose = cell_at((x + shift * math.cos(heading), y + shift * math.sin(heading)), origin, cell, cost)
        if place is None or nose is None or max(to_path[place], to_goal[place]) >= cost.size:
            return None
        value = under_footprint(cost, origin, cell, scale * corners, (x, y, heading))
        if value is None:
            return None
        worst = max(worst, float(cost[place]) if planner.occdist_at == "centre" else value)
    return (
        weight * worst
        + cell * planner.goal_distance_bias * (to_nose[nose] + to_goal[place])
        + cell * planner.path_distance_bias * ((to_path[nose] if align else 0.0) + to_path[place])
        + planner.twirling_scale * abs(drive[2])
    )
