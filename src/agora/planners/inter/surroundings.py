"""What interplanners ask about: pedestrians near and ahead, walls behind. Angles and distances are of the robot's base."""

from __future__ import annotations

import numpy as np

from agora.core.state import Array, Bools, Doubles, Floats
from agora.interfaces import Guidance, Observation

_DANGER = 3.0  # m, of Arena's formula
_BESIDE = 0.1  # m outside a pedestrian's disc at which a return still is the pedestrian's


def unchanged(o: Observation) -> Guidance:
    """The path as it is, full speed, no danger."""
    assert o.path is not None and o.path_count is not None
    rows = len(o.pose)
    return Guidance(o.path, o.path_count, o.goal, np.ones(rows, np.float32), np.zeros(rows, np.float32))


def distances(o: Observation) -> Doubles:
    """Distances (N, Q) to the centres of pedestrians, m; infinite in empty slots."""
    x, y = _places(o)
    seen = o.pedestrians
    assert seen is not None
    return np.where(seen.present, np.sqrt(x * x + y * y), np.inf)


def nearest(distance: Doubles) -> Doubles:
    """The least of the distances (N, Q) of each row; infinite where there is nobody."""
    least: Doubles = np.min(distance, axis=1, initial=np.inf)
    return least


def danger(distance: Doubles) -> Floats:
    """Arena's level of danger, exp(-1 / sum (3 m / d)^2), of distances (N, Q)."""
    near = np.where(np.isfinite(distance), (_DANGER / np.maximum(distance, 1e-6)) ** 2, 0.0).sum(axis=1)
    level: Array = np.exp(-1.0 / np.maximum(near, 1e-9))
    return level.astype(np.float32)


def ahead(o: Observation, fov: float) -> Bools:
    """Which pedestrians (N, Q) stand within a field of view about the robot's heading, rad."""
    x, y = _places(o)
    within: Bools = np.arctan2(np.abs(y), x) <= 0.5 * fov
    return within


def wall_behind(o: Observation, reach: Doubles) -> Bools:
    """Which rows (N,) have a return that is no pedestrian's behind them, at most ``reach`` (N,) m from the base.

    What the lidar does not cover is not seen; without a lidar there are no walls.
    """
    if o.scan is None or o.scan_angles is None or o.scan_pose is None or o.scan_range is None:
        return np.zeros(len(o.pose), np.bool_)
    mount = o.scan_pose.astype(float)
    angles = o.scan_angles.astype(float) + mount[2]
    ranges = o.scan.astype(float)
    x, y = mount[0] + ranges * np.cos(angles), mount[1] + ranges * np.sin(angles)
    close = (ranges < o.scan_range) & (x < 0.0) & (x * x + y * y <= (reach * reach)[:, None])
    walls = close.any(axis=1)
    assert o.pedestrians is not None
    places = _places(o)
    for row in np.flatnonzero(walls):
        here, there = close[row], o.pedestrians.present[row]
        dx, dy = x[row, here, None] - places[0][row, there], y[row, here, None] - places[1][row, there]
        radius = o.pedestrians.radius[row, there] + _BESIDE
        walls[row] = not (dx * dx + dy * dy <= radius * radius).any(axis=1).all()
    return np.asarray(walls)


def _places(o: Observation) -> tuple[Doubles, Doubles]:
    """Where pedestrians (N, Q) are in the robots' frames, m."""
    assert o.pedestrians is not None
    offset = o.pedestrians.position.astype(float) - o.pose[:, None, :2]
    heading = o.pose[:, 2].astype(float)
    cosine, sine = np.cos(heading)[:, None], np.sin(heading)[:, None]
    dx, dy = offset[..., 0], offset[..., 1]
    return cosine * dx + sine * dy, cosine * dy - sine * dx
