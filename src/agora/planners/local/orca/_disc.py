"""The disc around a robot's outline, for planners that represent robots as discs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from agora.interfaces import Observation


def with_outline_discs(observation: Observation) -> Observation:
    """Return the observation with each robot's disc centred on its outline instead of on its base.

    The base of a car is the middle of its rear axle, so a disc around the base would have to be half as wide again. Pose, twist and
    radius become those of the disc around the outline's centre. Goal, path, outline and windows are unchanged. A robot whose
    outline is centred at the base keeps its disc.
    """
    o = observation
    if not o.footprint.shape[1]:
        return o
    middle = 0.5 * (o.footprint.min(axis=1) + o.footprint.max(axis=1))
    aside = middle.any(axis=1)
    if not aside.any():
        return o
    pose, twist = o.pose.copy(), o.twist.copy()
    c, s = np.cos(pose[:, 2]), np.sin(pose[:, 2])
    pose[:, 0] += c * middle[:, 0] - s * middle[:, 1]
    pose[:, 1] += s * middle[:, 0] + c * middle[:, 1]
    twist[:, 0] -= twist[:, 2] * middle[:, 1]
    twist[:, 1] += twist[:, 2] * middle[:, 0]
    corners = o.footprint - middle[:, None]
    radius = np.where(aside, np.hypot(corners[..., 0], corners[..., 1]).max(axis=1), o.radius)
    return replace(o, pose=pose, twist=twist, radius=radius.astype(np.float32))
