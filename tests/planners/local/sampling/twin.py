"""The choice of the sampling planner once more: plain, slow, float64."""

from __future__ import annotations

import heapq
import math

import numpy as np

CLOSED = 1000.0


def fitted(goal, speed, horizon):
    """Coefficients x, y, p, highest order first and without the constant, from the conditions at both ends."""
    gx, gy, heading = goal
    factor = speed + math.hypot(gx, gy)
    ends = np.array([[0.0, 0.0, 1.0], [1.0, 1.0, 1.0], [3.0, 2.0, 1.0]])  # derivative at 0, place and derivative at 1
    x = np.linalg.solve(ends, [factor, gx, factor * math.cos(heading)])
    y = np.linalg.solve(ends, [0.0, gy, factor * math.sin(heading)])
    p = np.linalg.solve(ends, [horizon * speed / factor, 1.0, 0.0])
    return x, y, p


def places(x, y, p, share):
    """Place, heading, speed and turning rate times the final time, at shares (K,) of the time."""
    way, pace = np.polyval([*p, 0.0], share), np.polyval(np.polyder([*p, 0.0]), share)
    px, py = np.polyval([*x, 0.0], way), np.polyval([*y, 0.0], way)
    dx, dy = (np.polyval(np.polyder([*one, 0.0]), way) for one in (x, y))
    ddx, ddy = (np.polyval(np.polyder([*one, 0.0], 2), way) for one in (x, y))
    return px, py, np.arctan2(dy, dx), np.hypot(dx, dy) * pace, (dx * ddy - dy * ddx) / (dx**2 + dy**2) * pace


def field(blocked, cell, origin, path, pose):
    """Distances to the goal by fast marching from the last free place of the way before it leaves the window, and the seed's."""
    way = np.vstack([pose[:2], onto(path, pose[:2])])
    legs = np.linalg.norm(np.diff(way, axis=0), axis=1)
    along = np.concatenate([[0.0], np.cumsum(legs)])
    seed, rest = None, 0.0
    for s in np.arange(0.0, along[-1] + 1e-9, 0.005):
        point = np.array([np.interp(s, along, way[:, 0]), np.interp(s, along, way[:, 1])])
        column, row = np.floor((point - origin) / cell).astype(int)
        if not (1 <= column < blocked.shape[1] - 1 and 1 <= row < blocked.shape[0] - 1):
            break
        if not blocked[row, column]:
            seed, rest = point, along[-1] - s
    distance = np.full(blocked.shape, np.inf)
    if seed is None:
        return np.full(blocked.shape, CLOSED), 0.0
    column, row = np.floor((seed - origin) / cell - 0.5).astype(int)
    queue = []
    for v in (row, row + 1):
        for u in (column, column + 1):
            if not blocked[v, u] and 1 <= v < blocked.shape[0] - 1 and 1 <= u < blocked.shape[1] - 1:
                distance[v, u] = math.dist(origin + (np.array([u, v]) + 0.5) * cell, seed)
                heapq.heappush(queue, (distance[v, u], v, u))
    while queue:
        d, v, u = heapq.heappop(queue)
        if d > distance[v, u]:
            continue
        for i, j in ((v - 1, u), (v + 1, u), (v, u - 1), (v, u + 1)):
            if 1 <= i < blocked.shape[0] - 1 and 1 <= j < blocked.shape[1] - 1 and not blocked[i, j]:
                a, b = sorted((min(distance[i, j - 1], distance[i, j + 1]), min(distance[i - 1, j], distance[i + 1, j])))
                new = a + cell if b - a >= cell else 0.5 * (a + b + math.sqrt(2 * cell**2 - (a - b) ** 2))
                if new < distance[i, j] - 1e-12:
                    distance[i, j] = new
                    heapq.heappush(queue, (new, i, j))
    return rest + np.where(np.isfinite(distance), distance, CLOSED), rest


def onto(path, place):
    """The path from the point on it that is nearest to a place."""
    best = (np.inf, 1, path[0])
    for k in range(len(path) - 1):
        leg = path[k + 1] - path[k]
        share = np.clip((place - path[k]) @ leg / max(leg @ leg, 1e-12), 0.0, 1.0)
        point = path[k] + share * leg
        if math.dist(point, place) < best[0]:
            best = (math.dist(point, place), k + 1, point)
    return np.vstack([best[2], path[best[1] :]])


def between(grid, u, v):
    """Bilinear values and slopes along both axes, in cells."""
    j, i = np.floor(u).astype(int), np.floor(v).astype(int)
    a, b = u - j, v - i
    low, high = (1 - a) * grid[i, j] + a * grid[i, j + 1], (1 - a) * grid[i + 1, j] + a * grid[i + 1, j + 1]
    right = (1 - b) * (grid[i, j + 1] - grid[i, j]) + b * (grid[i + 1, j + 1] - grid[i + 1, j])
    return (1 - b) * low + b * high, right, high - low


def gaps_of(blocked, cell):
    """Distances between the centres of cells and the edges of blocked ones, straight on."""
    rows, columns = np.nonzero(blocked)
    if not len(rows):
        return np.full(blocked.shape, 1e3)
    lines, places = np.indices(blocked.shape)
    least = np.full(blocked.shape, np.inf)
    for i, j in zip(rows, columns, strict=True):
        least = np.minimum(least, np.hypot(lines - i, places - j))
    return cell * (least - 0.5)


def cost(planner, spline, time, distance, gaps, blocked, cell, origin, pose):
    """The published cost of one spline; infinite where it enters a closed cell or leaves the window."""
    count = math.ceil(time / planner.step - 1e-6)
    px, py, heading, _, _ = places(*spline, np.minimum(np.arange(count) * planner.step / time, 1.0))
    c, s = math.cos(pose[2]), math.sin(pose[2])
    u = (pose[0] + c * px - s * py - origin[0]) / cell - 0.5
    v = (pose[1] + s * px + c * py - origin[1]) / cell - 0.5
    if (u < 0).any() or (v < 0).any() or (u >= blocked.shape[1] - 1).any() or (v >= blocked.shape[0] - 1).any():
        return np.inf
    if blocked[np.floor(v + 0.5).astype(int), np.floor(u + 0.5).astype(int)].any():
        return np.inf
    goal, right, up = between(distance, u, v)
    gap, _, _ = between(gaps, u, v)
    turn = np.abs(np.remainder(heading + pose[2] - np.arctan2(-up, -right) + math.pi, math.tau) - math.pi)
    near = planner.obstacle_cost * (np.maximum(planner.obstacle_margin - gap, 0.0) / planner.obstacle_width) ** 3
    far = planner.goal_cost * (goal**2 - planner.goal_margin**2)
    return float(np.mean(near + far + planner.angle_cost * turn))
