"""The arguments of ``start_arena.launch``, looked at before anything is started: one line in place of a graph that cannot work."""

from __future__ import annotations

import sys
from collections.abc import Mapping

import rosgraph
import rosservice

from agora.doctor import UPSTREAMS, ros_package
from agora.errors import InputError, UnknownNameError
from agora.registry import available
from agora.robots.mbf import CONTROLLERS

CHOICES = {
    "simulator": ("flatland", "gazebo", "unity"),
    "navigation": ("agora", "mbf", "external"),
    "complexity": ("1", "2"),
    "synchronous": ("true", "false", "1", "0"),
}
"""The arguments that are looked at, in the order of the command line; simulators of the library's registry come first."""
NEEDS = {
    ("simulator", "flatland"): ("flatland_server", "flatland_plugins"),
    ("simulator", "gazebo"): ("gazebo_ros",),
    ("simulator", "unity"): ("ros_tcp_endpoint",),
    ("navigation", "mbf"): ("mbf_costmap_nav", "navfn", "clear_costmap_recovery"),
    ("complexity", "2"): ("amcl",),
}
"""Packages of others without which an argument's value cannot be."""
RUNNING = {"flatland": "move_model", "gazebo": "/gazebo/spawn_sdf_model", "unity": "unity/spawn_model"}
"""A service of each simulator's process. Where it answers, perhaps on another machine, the packages need not be here."""
WITHOUT_EFFECT = {
    "map_path": "map_file takes the world's folder, agora import arena brings in Arena's worlds",
    "world_file": "the drivers make the world of Gazebo from the map",
    "entity_manager": "pedestrians are always the crowd node's",
    "desired_resets": "episodes:= limits their number",
    "auto_reset": "episodes always follow each other",
    "reset_remove_all": "every reset begins anew",
    "development_mode": "a Unity player is started by hand",
    "headless_unity": "a Unity player is started by hand",
    "benchmark_resume": "agora bench --resume goes on with a benchmark",
}
"""Arguments of Arena's that are accepted, and what to use instead."""


def check(arguments: Mapping[str, str]) -> None:
    """Refuse arguments that cannot work.

    Args:
        arguments: arguments of `CHOICES` by name, and ``local_planner``, where it is not Move Base Flex's default.

    Raises:
        InputError: a value that there is not, a package that is not installed, or values that exclude each other.
    """
    if arguments["complexity"] == "3":
        raise InputError("complexity:=3, mapping while driving, is not there; 1 is exact localisation, 2 AMCL")
    for name, choices in (CHOICES | {"simulator": (*available("simulators"), *CHOICES["simulator"])}).items():
        if arguments[name].lower() not in choices:
            raise UnknownNameError(name, arguments[name], choices)
    for (name, value), packages in NEEDS.items():
        if value == "mbf" and arguments.get("local_planner", "dwa") not in CONTROLLERS:
            continue  # one of the library's: mbf_server answers in Move Base Flex's place
        missing = [package for package in packages if arguments[name] == value and ros_package(package) is None]
        if missing and not is_running(value):
            how = UPSTREAMS[missing[0]][1]
            there = f"; nothing on this roscore offers its service {RUNNING[value]}" if value in RUNNING else ""
            raise InputError(f"{name}:={value} needs the ROS package {missing[0]}, which is not found ({how}){there}")
    simulator, lock_step = arguments["simulator"], arguments["synchronous"].lower() in ("true", "1")
    if lock_step and arguments["complexity"] == "2":
        raise InputError("synchronous:=true: nobody waits for AMCL in lock step; leave it out, or use complexity:=1")
    if lock_step and simulator in ("gazebo", "unity"):
        raise InputError(f"synchronous:=true: {simulator} cannot be stepped; leave it out, or use simulator:=native")


def is_running(simulator: str) -> bool:
    """Return whether there is a roscore, and a simulator of `RUNNING` on it, in the namespace of this process, that answers."""
    if simulator not in RUNNING:
        return False
    try:
        service = rosgraph.names.script_resolve_name("check", RUNNING[simulator])
        rosservice.get_service_headers(service, rosgraph.Master("/check").lookupService(service))
    except (OSError, rosgraph.MasterException, rosservice.ROSServiceException):
        return False
    return True


def main() -> int:
    """Check the values on the command line: roslaunch starts nothing where this returns anything but 0."""
    try:
        check(dict(zip((*CHOICES, "local_planner"), sys.argv[1:], strict=True)))
    except InputError as error:
        print(f"\nagora: {error}\n", file=sys.stderr)
        return 2
    print("yes")
    return 0
