"""A small world for planners: unicycle, exact arcs, perfect actuation, one costmap cut from a fixed picture of walls."""

from __future__ import annotations

import math

import numpy as np

from agora.costmap.inflation import cost_of
from agora.interfaces import Costmap, Limits, Observation


def limits(rows=1, *, min_vx=0.0, max_vx=1.0, max_vy=0.0, max_omega=1.5, acceleration=2.5, alpha=3.2, turning_radius=0.0):
    values = (min_vx, max_vx, max_vy, max_omega, acceleration, acceleration, alpha, turning_radius)
    return Limits(np.full(rows, max_vy > 0), *(np.full(rows, v, np.float32) for v in values))


def window(pose, discs, size, cell, radius, inflation=0.55):
    """Costs about one robot; ``discs`` are walls (x, y, radius)."""
    cells = round(size / cell)
    origin = np.floor(np.asarray(pose[:2]) / cell) * cell - 0.5 * cells * cell
    centre = (np.arange(cells) + 0.5) * cell
    gap = np.full((cells, cells), np.inf)
    for x, y, r in discs:
        gap = np.minimum(gap, np.hypot(centre + origin[0] - x, centre[:, None] + origin[1] - y) - r)
    return cost_of(gap, radius, inflation, touch=0.5 * cell), origin


def look(pose, twist, goal, *, path=None, discs=(), dt=0.05, robot=None, radius=0.3, size=6.0, cell=0.05):
    """Return the observation of one robot, as a batch of one; the path is straight unless given."""
    path = np.linspace(pose[:2], goal[:2], 80) if path is None else np.asarray(path, float)
    cost, origin = window(pose, discs, size, cell, radius)

    def row(values):
        return np.array([values], np.float32)

    return Observation(
        pose=row(pose),
        twist=row(twist),
        goal=row(goal),
        radius=row(radius),
        footprint=np.zeros((1, 0, 2), np.float32),
        limits=robot or limits(),
        dt=dt,
        path=row(path),
        path_count=np.array([len(path)], np.int32),
        costmap=Costmap(cost[None], row(origin), cell),
    )


def moved(pose, twist, dt):
    """The pose after ``dt`` of a constant twist in the robot's frame (exact)."""
    x, y, heading = pose
    vx, vy, omega = twist
    half = heading + 0.5 * omega * dt
    chord = dt * float(np.sinc(omega * dt / (2 * math.pi)))
    x += chord * (vx * math.cos(half) - vy * math.sin(half))
    y += chord * (vx * math.sin(half) + vy * math.cos(half))
    return x, y, math.remainder(heading + omega * dt, 2 * math.pi)


def drive(planner, start, goal, seconds, **scene):
    """Let one robot drive; return its poses and twists (T, 3)."""
    dt = scene.setdefault("dt", 0.05)
    path = scene.pop("path", np.linspace(start[:2], goal[:2], 80))
    pose, twist, memory = tuple(start), (0.0, 0.0, 0.0), {}
    poses, twists = [pose], []
    for _ in range(round(seconds / dt)):
        answer = planner.act(look(pose, twist, goal, path=path, **scene), memory)
        twist, memory = answer.twists, answer.memory
        twist = tuple(twist[0].tolist())
        pose = moved(pose, twist, dt)
        poses.append(pose)
        twists.append(twist)
    return np.array(poses), np.array(twists)
