"""Observations of a few robots to try planners on."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from agora.interfaces import Costmap, Limits, Observation, Tracks


def limits(n, **values):
    """Limits of ``n`` holonomic robots with room to spare, but for ``values``."""
    defaults = dict(
        holonomic=True,
        min_vx=-3.0,
        max_vx=3.0,
        max_vy=3.0,
        max_omega=2.0,
        max_ax=9.0,
        max_ay=9.0,
        max_alpha=9.0,
        turning_radius=0.0,
    )
    full = {name: np.full(n, value, np.bool_ if name == "holonomic" else np.float32) for name, value in (defaults | values).items()}
    return Limits(**full)


def tracks(position, velocity=None, radius=0.3):
    """Tracks (N, Q) from positions (N, Q, 2)."""
    position = np.asarray(position, np.float32)
    n, q = position.shape[:2]
    velocity = np.zeros_like(position) if velocity is None else np.asarray(velocity, np.float32)
    ids = np.tile(np.arange(q, dtype=np.int32), (n, 1))
    return Tracks(
        position, velocity, np.full((n, q), radius, np.float32), np.ones((n, q), bool), ids, np.full((n, q), -1, np.int32)
    )


def observe(pose, goal, *, twist=None, pedestrians=None, robots=None, path=None, path_count=None, dt=0.05, radius=0.25, **bounds):
    """Return the observation of robots at the poses (N, 3); without a path they have the goal (N, 2) as its only point."""
    pose = np.asarray(pose, np.float32)
    n = len(pose)
    goal = np.concatenate([np.asarray(goal, np.float32), np.zeros((n, 1), np.float32)], axis=1)
    nobody = tracks(np.zeros((n, 0, 2)))
    return Observation(
        pose=pose,
        twist=np.zeros((n, 3), np.float32) if twist is None else np.asarray(twist, np.float32),
        goal=goal,
        radius=np.full(n, radius, np.float32),
        footprint=np.zeros((n, 0, 2), np.float32),
        limits=limits(n, **bounds),
        dt=dt,
        path=goal[:, None, :2].copy() if path is None else np.asarray(path, np.float32),
        path_count=np.ones(n, np.int32) if path_count is None else np.asarray(path_count, np.int32),
        pedestrians=pedestrians or nobody,
        robots=robots or nobody,
    )


def beside(o, wall, cell=0.02, cells=220):
    """The same robots with costmaps of the segments ``wall`` (S, 4), each drawn one cell thick."""
    origin = (np.floor(o.pose[:, :2].astype(float) / cell) - cells // 2) * cell
    centre = (np.arange(cells) + 0.5) * cell
    cost = np.zeros((len(origin), cells, cells), np.uint8)
    for n, (x, y) in enumerate(origin):
        at = np.stack(np.meshgrid(centre + x, centre + y), -1)
        for ax, ay, bx, by in wall:
            along = np.array([bx - ax, by - ay])
            share = np.clip((at - (ax, ay)) @ along / (along @ along), 0.0, 1.0)
            cost[n][np.hypot(*np.moveaxis(at - (ax, ay) - share[..., None] * along, -1, 0)) <= cell / 2] = 254
    return replace(o, costmap=Costmap(cost, origin.astype(np.float32), cell))
