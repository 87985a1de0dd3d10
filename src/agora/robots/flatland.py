"""Robot models for Flatland (https://flatland-simulator.readthedocs.io) and for Arena's fork of Flatland."""

from __future__ import annotations

import json
from typing import Any

from agora.errors import InputError
from agora.optics.lidar import Lidar
from agora.robots.model import RobotModel

__all__ = ["disc_yaml", "robot_yaml"]


def robot_yaml(model: RobotModel, name: str, scan_period: float, *, fork: bool = False) -> str:
    """Return the Flatland model of a robot as text (JSON, which is also valid YAML).

    The robot's topics are ``<name>/flatland/cmd_vel``, ``odom`` and ``scan``. The laser returns NaN if nothing is in range. Arena's
    fork (862fb2d) has no acceleration limits, reports velocity in the map frame, omits the last beam, and rejects the keys that
    would change this.

    Args:
        model: model of the robot, which must be able to turn in place and must not move sideways.
        name: name of the robot.
        scan_period: time between two scans, s.
        fork: whether the model is for Arena's fork.

    Raises:
        InputError: the robot moves sideways, steers, or has a footprint that Box2D does not accept.
    """
    what = f"robot {model.name}"
    if model.kinematics not in ("differential", "legged") or model.vy > 0.0:
        raise InputError(f"{what}: Flatland's DiffDrive turns robots in place and never moves them sideways; choose another robot")
    if len(model.footprint) > 8:
        raise InputError(f"{what}: the footprint has {len(model.footprint)} corners, but Box2D takes at most 8")
    outline: dict[str, Any] = {"type": "circle", "radius": model.radius}
    if model.footprint:
        outline = {"type": "polygon", "points": [list(corner) for corner in model.footprint]}
    topics = f"{name}/flatland"
    drive = {
        "type": "DiffDrive", "name": "drive", "body": "base_link", "odom_frame_id": f"{name}/flatland/odom",
        "twist_sub": f"{topics}/cmd_vel", "ground_truth_pub": f"{topics}/odom", "odom_pub": f"{topics}/odom_noisy",
        "enable_twist_pub": False,
    }  # fmt: skip
    if not fork:
        drive["linear_dynamics"] = _limits(model.ax, model.deceleration or model.ax)
        drive["angular_dynamics"] = _limits(model.alpha, model.alpha)
    plugins = [drive]
    if model.lidar is not None:
        frame, topic = f"{name}/{model.sensor_frame}", f"{topics}/scan"
        plugins.append(_laser(model.lidar, fork) | {"frame": frame, "topic": topic, "update_rate": 1.0 / scan_period})
    body = {"name": "base_link", "type": "dynamic", "color": [0.2, 0.4, 0.8, 1.0], "footprints": [outline | {"density": 1.0}]}
    return json.dumps({"bodies": [body], "plugins": plugins})


def _limits(acceleration: float | None, deceleration: float | None) -> dict[str, float]:
    """Return limits in Flatland's form, in which 0 means no limit."""
    return {"acceleration_limit": acceleration or 0.0, "deceleration_limit": deceleration or 0.0}


def _laser(lidar: Lidar, fork: bool) -> dict[str, Any]:
    """Return the laser's settings. The maximum angle is slightly beyond the last beam, so that rounding does not drop the beam."""
    steps = lidar.beams if fork else lidar.beams - 1
    angle = {"min": lidar.angle_min, "max": lidar.angle_min + (steps + 1e-3) * lidar.increment, "increment": lidar.increment}
    return {
        "type": "Laser", "name": "laser", "body": "base_link", "origin": [lidar.x, lidar.y, lidar.heading],
        "range": lidar.range_max, "noise_std_dev": lidar.noise, "broadcast_tf": False, "angle": angle,
    }  # fmt: skip


def disc_yaml(radius: float) -> str:
    """Return the Flatland model of a pedestrian as text (JSON, which is also valid YAML): a disc with the given radius, m, which is
    moved externally and does not push other objects.
    """
    footprint = {"type": "circle", "radius": radius, "density": 1.0, "collision": False}
    body = {"name": "pedestrian", "type": "kinematic", "color": [0.9, 0.5, 0.2, 1.0], "footprints": [footprint]}
    return json.dumps({"bodies": [body]})
