"""Random trajectories of robots in open space, and the scans that the robots would have taken among imagined obstacles."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from agora.core.jit import lean_kernel
from agora.core.state import Array, Bools, Floats

__all__ = ["Drives", "open_drives", "scans_of", "shrunk"]

_HOLD, _LAG = (0.3, 1.5), 0.25  # time for which a commanded twist is held, and time constant of the robot's response, s
_STEP = 0.02  # time between two samples, s
_LEAST = 0.05  # half axis of the smallest obstacle, m


class Drives(NamedTuple):
    """Trajectories of N robots, each in the frame of its first pose.

    Attributes:
        pose: (N, T, 3) x, y and heading, m and rad.
        twist: (N, T, 2) vx and omega, m/s and rad/s.
        step: time between two samples, s.
    """

    pose: Array
    twist: Array
    step: float


def open_drives(chance: np.random.Generator, count: int, seconds: float, max_vx: float, max_omega: float) -> Drives:
    """Return trajectories of robots that follow a sequence of random twists.

    Args:
        chance: random number generator.
        count: number of robots, N.
        seconds: duration in seconds, excluding the first 1.5 s, in which the robots start moving.
        max_vx: maximum forward speed, m/s.
        max_omega: maximum turning rate, rad/s.
    """
    before, after = round(1.5 / _STEP), round(seconds / _STEP)
    wanted, left, twist = np.zeros((count, 2)), np.zeros(count), np.zeros((count, 2))
    pose, poses, twists = np.zeros((count, 3)), [], []
    for k in range(before + after + 1):
        new = left <= 0.0
        speed = max_vx * np.sqrt(chance.uniform(0.0, 1.0, count))
        turn = np.clip(0.35 * max_omega * chance.standard_normal(count), -max_omega, max_omega)
        wanted = np.where(new[:, None], np.stack([speed, turn], -1), wanted)
        left = np.where(new, chance.uniform(*_HOLD, count), left) - _STEP
        twist = twist + (_STEP / _LAG) * (wanted - twist)
        if k == before:
            pose = np.zeros((count, 3))
        poses.append(pose)
        twists.append(twist)
        half = pose[:, 2] + 0.5 * _STEP * twist[:, 1]
        pose = pose + _STEP * np.stack([twist[:, 0] * np.cos(half), twist[:, 0] * np.sin(half), twist[:, 1]], -1)
    return Drives(np.stack(poses[before:], 1), np.stack(twists[before:], 1), _STEP)


@lean_kernel
def _shrink(ways, centre, axes, margin, out):
    """Write the half axes of ellipses that keep a distance of ``margin`` from the trajectories (N, T, 2); 0 for an ellipse that
    does not fit.
    """
    for n in range(len(ways)):
        for m in range(centre.shape[1]):
            share = 1.0
            for t in range(ways.shape[1]):
                dx, dy = ways[n, t, 0] - centre[n, m, 0], ways[n, t, 1] - centre[n, m, 1]
                away = math.sqrt(dx * dx + dy * dy)
                u, v = dx / axes[n, m, 0], dy / axes[n, m, 1]
                ratio = math.sqrt(u * u + v * v)
                share = min(share, ratio * (1.0 - margin / max(away, 1e-9)))
            fits = share * min(axes[n, m, 0], axes[n, m, 1]) >= _LEAST
            out[n, m, 0] = share * axes[n, m, 0] if fits else 0.0
            out[n, m, 1] = share * axes[n, m, 1] if fits else 0.0


def shrunk(ways: Array, centre: Array, axes: Array, margin: float) -> Array:
    """Shrink ellipses until they keep clear of the trajectories, and return the half axes (N, M, 2); 0 for an ellipse that does not
    fit.

    Distances are measured along the lines to the centres.

    Args:
        ways: (N, T, 2) positions along the trajectories, m.
        centre: (N, M, 2) centres of the ellipses, m.
        axes: (N, M, 2) half axes along x and y, m.
        margin: minimum distance that the ellipses keep from the trajectories, m.
    """
    out = np.empty(axes.shape)
    _shrink(*(np.ascontiguousarray(one, np.float64) for one in (ways, centre, axes)), float(margin), out)
    return out


@lean_kernel
def _cast(centre, axes, cosine, sine, out):
    """Shorten rays (N, B) from the origin to the points where they hit ellipses."""
    for n in range(len(centre)):
        for m in range(centre.shape[1]):
            a, b = axes[n, m, 0], axes[n, m, 1]
            if a <= 0.0:
                continue
            x, y = centre[n, m, 0] / a, centre[n, m, 1] / b
            rest = x * x + y * y - 1.0
            for k in range(len(cosine)):
                u, v = cosine[k] / a, sine[k] / b
                square, along = u * u + v * v, u * x + v * y
                under = along * along - square * rest
                if under >= 0.0 and along > 0.0:
                    out[n, k] = min(out[n, k], max((along - math.sqrt(under)) / square, 0.0))


def scans_of(centre: Array, axes: Array, ends: tuple[float, float], beams: int, rays: int, reach: float) -> Floats:
    """Return scans (N, beams), m, taken at the origin among ellipses; each value is the shortest of ``rays`` neighbouring rays.

    Args:
        centre: (N, M, 2) centres of the ellipses, m.
        axes: (N, M, 2) half axes along x and y, m; 0 if there is no ellipse.
        ends: directions of the lidar's first and last beam, rad.
        beams: number of values in a scan.
        rays: number of rays per value.
        reach: value for rays that hit nothing, m.
    """
    angles = np.linspace(*ends, beams * rays)
    out = np.full((len(centre), beams * rays), reach)
    _cast(*(np.ascontiguousarray(one, np.float64) for one in (centre, axes, np.cos(angles), np.sin(angles))), out)
    scans: Floats = out.reshape(len(centre), beams, rays).min(-1).astype(np.float32)
    return scans


def aims_of(drives: Drives, lookahead: float) -> tuple[Array, Bools]:
    """Return the points (N, 2) at a given distance along the trajectories, m, and whether each trajectory (N,) is that long.

    Args:
        drives: the trajectories.
        lookahead: distance along the trajectories, m.
    """
    steps = np.diff(drives.pose[..., :2], axis=1)
    gone = np.cumsum(np.hypot(steps[..., 0], steps[..., 1]), 1)
    first = np.minimum((gone < lookahead).sum(1) + 1, drives.pose.shape[1] - 1)
    return drives.pose[np.arange(len(first)), first, :2], gone[:, -1] >= lookahead
