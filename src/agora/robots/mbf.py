"""Parameters that configure Move Base Flex (http://wiki.ros.org/move_base_flex) for a robot, with navfn and either DWA or TEB."""

from __future__ import annotations

from typing import Any

from agora.errors import InputError, UnknownNameError
from agora.robots.model import RobotModel

__all__ = ["CONTROLLERS", "mbf_parameters"]

CONTROLLERS = {"dwa": "dwa_local_planner/DWAPlannerROS", "teb": "teb_local_planner/TebLocalPlannerROS"}
"""Third-party local planners for which parameters can be generated, and their plug-ins."""
PEOPLE = ("cloud", "grid", "none")
"""How pedestrians beyond the scan enter the global costmap: as points, as a grid over the map, or not at all."""

_FAST = 10.0  # m/s2 and rad/s2, for robots whose model has no limit


def mbf_parameters(model: RobotModel, name: str, controller: str = "dwa", people: str = "cloud") -> dict[str, Any]:
    """Return the parameters of a node ``<name>/move_base_flex``.

    Topics are relative to ``<name>``: ``scan``, ``odom``; ``map``, ``people_cloud`` and ``people_grid`` should be remapped. Frames
    are those of the ROS graph, ``map``, ``<name>/odom`` and ``<name>/<base_frame>``. Parameters that the model does not determine
    keep the defaults of Move Base Flex, costmap_2d and the planners, except for the inflation radius (0.3 m around the robot) and
    the goal tolerances (0.2 m and 0.3 rad).

    Args:
        model: model of the robot, which must not be car-like.
        name: name of the robot, as used in its topics.
        controller: local planner, one of `CONTROLLERS`.
        people: source of the pedestrians, one of `PEOPLE`.

    Raises:
        InputError: the robot steers.
        UnknownNameError: the controller or the source of pedestrians is unknown.
    """
    if controller not in CONTROLLERS:
        raise UnknownNameError("controller", controller, CONTROLLERS)
    if people not in PEOPLE:
        raise UnknownNameError("source of people", people, PEOPLE)
    if model.kinematics == "ackermann":
        raise InputError(
            f"robot {model.name} has car-like steering: neither DWA nor these TEB parameters can drive it; choose another robot"
        )
    body: dict[str, Any] = {"footprint": [list(c) for c in model.footprint]} if model.footprint else {"robot_radius": model.radius}
    common = body | {"robot_base_frame": f"{name}/{model.base_frame}", "update_frequency": 5.0, "publish_frequency": 2.0}
    inflation = {"inflation_radius": round(model.radius + 0.3, 3), "cost_scaling_factor": 5.0}
    layers = {"obstacles": _obstacles(model, name if people == "cloud" else ""), "inflation": inflation}
    local, world = dict(common), dict(common)
    local |= {"global_frame": f"{name}/odom", "rolling_window": True, "width": 6.0, "height": 6.0, "resolution": 0.05} | layers
    local["plugins"] = _plugins("obstacles", "inflation")
    world |= {"global_frame": "map", "static": {"map_topic": "map"}} | layers
    world["plugins"] = _plugins("static", *(["people"] if people == "grid" else []), "obstacles", "inflation")
    if people == "grid":
        world["people"] = {"map_topic": "people_grid", "use_maximum": True}
    return {
        "robot_frame": f"{name}/{model.base_frame}", "map_frame": "map", "global_frame": "map", "odom_topic": "odom",
        "planner_frequency": 0.0, "planner_patience": 5.0, "planner_max_retries": 2,
        "controller_frequency": 10.0, "controller_patience": 5.0, "controller_max_retries": 2, "oscillation_timeout": 15.0,
        "planners": [{"name": "navfn", "type": "navfn/NavfnROS"}],
        "controllers": [{"name": controller, "type": CONTROLLERS[controller]}],
        "recovery_behaviors": [{"name": "clear", "type": "clear_costmap_recovery/ClearCostmapRecovery"}],
        "global_costmap": world, "local_costmap": local,
        controller: _dwa(model) if controller == "dwa" else _teb(model, name),
    }  # fmt: skip


def _plugins(*names: str) -> list[dict[str, str]]:
    kinds = {"static": "Static", "people": "Static", "obstacles": "Obstacle", "inflation": "Inflation"}
    return [{"name": name, "type": f"costmap_2d::{kinds[name]}Layer"} for name in names]


def _obstacles(model: RobotModel, people_of: str) -> dict[str, Any]:
    """Return the obstacle layer, in which the scan marks and clears cells, and the people's points mark cells."""
    reach = 10.0 if model.lidar is None else min(10.0, model.lidar.range_max)
    marks = {"marking": True, "obstacle_range": 0.9 * reach, "raytrace_range": reach}
    sources: dict[str, Any] = {"scan": marks | {"topic": "scan", "data_type": "LaserScan", "clearing": True, "inf_is_valid": True}}
    if people_of:
        sources["people"] = marks | {
            "topic": "people_cloud", "data_type": "PointCloud2", "clearing": False, "min_obstacle_height": 0.0,
            # The range is measured from this frame's origin. It must not exceed the range that the scan clears, or people leave
            # trails.
            "sensor_frame": f"{people_of}/{model.base_frame}",
        }  # fmt: skip
    return {"observation_sources": " ".join(sources)} | sources


def _top(model: RobotModel) -> tuple[float, float]:
    """Return the maximum forward and sideways velocities, m/s, for planners with a 6 m costmap."""
    vx = min(model.vx[1], 1.0)
    return vx, min(model.vy, vx)


def _dwa(model: RobotModel) -> dict[str, Any]:
    vx, vy = _top(model)
    return {
        "odom_topic": "odom",
        "max_vel_x": vx, "min_vel_x": max(-0.1, model.vx[0]), "max_vel_y": vy, "min_vel_y": -vy,
        "max_vel_trans": vx, "min_vel_trans": min(0.1, vx / 4), "max_vel_theta": min(model.omega, 2.0), "min_vel_theta": 0.2,
        "acc_lim_x": min(model.ax or _FAST, _FAST), "acc_lim_y": min(model.ay or _FAST, _FAST) if vy else 0.0,
        "acc_lim_theta": min(model.alpha or _FAST, _FAST), "vy_samples": 10 if vy else 1,
        "xy_goal_tolerance": 0.2, "yaw_goal_tolerance": 0.3,
    }  # fmt: skip


def _teb(model: RobotModel, name: str) -> dict[str, Any]:
    vx, vy = _top(model)
    outline: dict[str, Any] = {"type": "circular", "radius": model.radius}
    if model.footprint:
        outline = {"type": "polygon", "vertices": [list(corner) for corner in model.footprint]}
    return {
        "odom_topic": "odom", "map_frame": f"{name}/odom",
        "max_vel_x": vx, "max_vel_x_backwards": max(0.05, min(-model.vx[0], 0.2)), "max_vel_y": vy, "max_vel_trans": vx,
        "max_vel_theta": min(model.omega, 2.0), "weight_kinematics_forward_drive": 1.0 if model.vx[0] < 0.0 else 1000.0,
        "acc_lim_x": min(model.ax or _FAST, 2.5), "acc_lim_y": min(model.ay or _FAST, 2.5),
        "acc_lim_theta": min(model.alpha or _FAST, 3.2),
        "footprint_model": outline, "min_obstacle_dist": 0.15, "inflation_dist": 0.4, "include_costmap_obstacles": True,
        "enable_homotopy_class_planning": False, "xy_goal_tolerance": 0.2, "yaw_goal_tolerance": 0.3,
    }  # fmt: skip
