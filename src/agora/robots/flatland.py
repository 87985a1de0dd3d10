"""Robots as models of Flatland (https://flatland-simulator.readthedocs.io), and of Arena's fork of it."""

from __future__ import annotations

import json
from typing import Any

from agora.errors import InputError
from agora.optics.lidar import Lidar
from agora.robots.model import RobotModel

__all__ = ["disc_yaml", "robot_yaml"]


def robot_yaml(model: RobotModel, name: str, scan_period: float, *, fork: bool = False) -> str:
    """Return the text (JSON, which is YAML) of a robot's model.

    Its topics are ``<name>/flatland/cmd_vel``, ``odom`` and ``scan``. The laser reads NaN where nothing is in range. Arena's fork
    (862fb2d) knows no limits of acceleration, tells the velocity in the map frame, counts beams without the last one, and refuses
    the keys that say otherwise.

    Args:
        model: model of a robot that turns in place and cannot move sideways.
        name: name of the robot.
        scan_period: time between two scans, s.
        fork: whether it is for Arena's fork.

    Raises:
        InputError: a robot that moves sideways, or steers, or has a footprint that Box2D does not take.
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
    """Limits as Flatland writes them, where 0 means none."""
    return {"acceleration_limit": acceleration or 0.0, "deceleration_limit": deceleration or 0.0}


def _laser(lidar: Lidar, fork: bool) -> dict[str, Any]:
    """The laser; the largest angle is a little beyond the last beam, so that rounding does not cost it."""
    steps = lidar.beams if fork else lidar.beams - 1
    angle = {"min": lidar.angle_min, "max": lidar.angle_min + (steps + 1e-3) * lidar.increment, "increment": lidar.increment}
    return {
        "type": "Laser", "name": "laser", "body": "base_link", "origin": [lidar.x, lidar.y, lidar.heading],
        "range": lidar.range_max, "noise_std_dev": lidar.noise, "broadcast_tf": False, "angle": angle,
    }  # fmt: skip


def disc_yaml(radius: float) -> str:
    """Return the text (JSON, which is YAML) of a pedestrian: a disc, m, that is moved from outside and pushes nothing."""
    footprint = {"type": "circle", "radius": radius, "density": 1.0, "collision": False}
    body = {"name": "pedestrian", "type": "kinematic", "color": [0.9, 0.5, 0.2, 1.0], "footprints": [footprint]}
    return json.dumps({"bodies": [body]})
