"""Robots as models of Flatland (https://flatland-simulator.readthedocs.io)."""

from __future__ import annotations

import json
import math
from typing import Any

from agora.errors import InputError
from agora.robots.model import RobotModel

_AHEAD = 1e-3  # of an increment, so that the last beam is not lost to rounding


def robot_yaml(model: RobotModel, name: str, scan_period: float) -> str:
    """Return the text (JSON, which is YAML) of a robot's model.

    Its topics are ``<name>/flatland/cmd_vel``, ``odom`` and ``scan``. Flatland's DiffDrive knows no limits of acceleration and
    tells the velocity in the map frame; its laser answers NaN where nothing is in range: whoever reads the topics has to know.

    Args:
        model: of a robot that cannot move sideways.
        name: of the robot.
        scan_period: s between two scans.

    Raises:
        InputError: a robot that moves sideways, or steers, or has a footprint that Box2D does not take.
    """
    if model.kinematics not in ("differential", "legged") or model.vy > 0.0:
        raise InputError(
            f"robot {model.name}: Flatland's plugins drive robots that turn in place and cannot move sideways; choose another"
        )
    if len(model.footprint) > 8:
        raise InputError(f"robot {model.name}: the footprint has {len(model.footprint)} corners, Box2D takes at most 8")
    outline: dict[str, Any] = {"type": "circle", "radius": model.radius}
    if model.footprint:
        outline = {"type": "polygon", "points": [list(corner) for corner in model.footprint]}
    topics = f"{name}/flatland"
    plugins: list[dict[str, Any]] = [
        {
            "type": "DiffDrive", "name": "drive", "body": "base_link", "odom_frame_id": f"{name}/flatland/odom",
            "twist_sub": f"{topics}/cmd_vel", "ground_truth_pub": f"{topics}/odom", "odom_pub": f"{topics}/odom_noisy",
            "enable_twist_pub": False,
        }
    ]  # fmt: skip
    if (lidar := model.lidar) is not None:
        increment = float(lidar.angles[1] - lidar.angles[0]) if lidar.beams > 1 else math.tau
        lowest = float(lidar.angles[0])
        plugins.append(
            {
                "type": "Laser", "name": "laser", "body": "base_link", "frame": f"{name}/{model.sensor_frame}",
                "topic": f"{topics}/scan",
                "origin": [lidar.x, lidar.y, lidar.heading], "range": lidar.range_max, "update_rate": 1.0 / scan_period,
                "noise_std_dev": lidar.noise, "broadcast_tf": False,
                "angle": {"min": lowest, "max": lowest + (lidar.beams - 1 + _AHEAD) * increment, "increment": increment},
            }
        )  # fmt: skip
    body = {"name": "base_link", "type": "dynamic", "color": [0.2, 0.4, 0.8, 1.0], "footprints": [outline | {"density": 1.0}]}
    return json.dumps({"bodies": [body], "plugins": plugins})


def disc_yaml(radius: float) -> str:
    """Return the text (JSON, which is YAML) of a pedestrian: a disc, m, that is moved from outside and pushes nothing."""
    footprint = {"type": "circle", "radius": radius, "density": 1.0, "sensor": False, "collision": False}
    body = {"name": "pedestrian", "type": "kinematic", "color": [0.9, 0.5, 0.2, 1.0], "footprints": [footprint]}
    return json.dumps({"bodies": [body]})
