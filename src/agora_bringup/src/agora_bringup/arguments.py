"""Checks the arguments of ``start_arena.launch`` before any node is started, so that the user gets a one-line error instead of a
graph that cannot work.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping

import rosgraph
import rosservice
import yaml

from agora.doctor import UPSTREAMS, ros_package
from agora.errors import InputError, UnknownNameError
from agora.node_logic.arguments import without_effect
from agora.registry import available
from agora.robots.mbf import CONTROLLERS

CHOICES = {
    "simulator": ("flatland", "gazebo", "unity"),
    "navigation": ("agora", "mbf", "external"),
    "complexity": ("1", "2"),
    "synchronous": ("true", "false", "1", "0"),
}
"""Arguments with a fixed set of values; the library's registered simulators come first."""
WORDS = {
    "headless": ("0", "1", "2"),
    "show_rviz": ("true", "false", "1", "0"),
    "visualization": ("rviz", "flatland", "none"),
    "record_data": ("true", "false", "1", "0"),
    "mbf_people": ("cloud", "grid", "none"),
}
"""Arguments that roslaunch itself reads, or that may be empty."""
NEEDS = {
    ("simulator", "flatland"): ("flatland_server", "flatland_plugins"),
    ("simulator", "gazebo"): ("gazebo_ros",),
    ("simulator", "unity"): ("ros_tcp_endpoint",),
    ("navigation", "mbf"): ("mbf_costmap_nav", "navfn", "clear_costmap_recovery"),
    ("complexity", "2"): ("amcl",),
}
"""Third-party packages that a value of an argument requires."""
RUNNING = {"flatland": "move_model", "gazebo": "/gazebo/spawn_sdf_model", "unity": "unity/spawn_model"}
"""A service offered by each simulator's process. If it answers, perhaps from another machine, the packages need not be installed on
this machine.
"""
ARENAS: dict[str, tuple[tuple[str, ...], str]] = {
    "map_path": ((), "map_file takes the folder of a world; agora import arena imports Arena's worlds"),
    "world_file": ((), "the drivers create Gazebo's world from the map"),
    "entity_manager": (("crowdsim", "pedsim"), "the crowd node always moves pedestrians"),
    "desired_resets": ((), "episodes:= sets the number of episodes"),
    "auto_reset": (("true", "1"), "episodes always follow each other"),
    "reset_remove_all": (("true", "1"), "every reset starts from scratch"),
    "development_mode": (("false", "0"), "start the Unity player by hand"),
    "headless_unity": (("false", "0"), "start the Unity player by hand"),
    "benchmark_resume": (("false", "0"), "agora bench --resume continues a benchmark"),
}
"""Arena's arguments with the values that describe what this graph does, and the reason why other values are rejected."""


def check(arguments: Mapping[str, str]) -> None:
    """Reject arguments that cannot work.

    Args:
        arguments: strings, keyed by argument name, including the arguments in `CHOICES`; an empty string counts as not given.

    Raises:
        InputError: a named item does not exist, a package is not installed, values exclude each other, or an argument has no effect
            in combination with the others.
    """
    if arguments["complexity"] == "3":
        raise InputError("complexity:=3 (SLAM) is not supported; use 1 (exact localisation) or 2 (AMCL)")
    for name, choices in (CHOICES | {"simulator": (*available("simulators"), *CHOICES["simulator"])}).items():
        if arguments[name].lower() not in choices:
            raise UnknownNameError(name, arguments[name], choices)
    for name, choices in WORDS.items():
        if (given := arguments.get(name, "")) and given.lower() not in choices:
            raise UnknownNameError(name, given, choices)
    for (name, value), packages in NEEDS.items():
        if value == "mbf" and (arguments.get("local_planner") or "dwa") not in CONTROLLERS:
            continue  # one of the library's planners: mbf_server takes the place of Move Base Flex
        missing = [package for package in packages if arguments[name] == value and ros_package(package) is None]
        if missing and not is_running(value):
            how = UPSTREAMS[missing[0]][1]
            there = f"; nothing on this roscore offers its service {RUNNING[value]}" if value in RUNNING else ""
            raise InputError(f"{name}:={value} needs the ROS package {missing[0]}, which is not found ({how}){there}")
    for name, (fine, instead) in ARENAS.items():
        if (value := arguments.get(name, "")) and value.lower() not in fine:
            raise InputError(f"{name}:={value} has no effect: {instead}; leave it out")
    simulator, lock_step = arguments["simulator"], arguments["synchronous"].lower() in ("true", "1")
    if lock_step and arguments["complexity"] == "2":
        raise InputError("synchronous:=true: lock step does not wait for AMCL; leave it out, or use complexity:=1")
    if lock_step and simulator in ("gazebo", "unity"):
        raise InputError(f"synchronous:=true: {simulator} cannot be stepped; leave it out, or use simulator:=native")
    try:
        given = {name: yaml.safe_load(text) for name, text in arguments.items() if text}
    except yaml.YAMLError:
        return  # the node that reads the string reports the error
    if wrong := without_effect(given, "start_arena.launch"):
        raise InputError("\n".join(wrong))


def is_running(simulator: str) -> bool:
    """Return whether a roscore is running, and the simulator's service in `RUNNING` answers in the namespace of this process."""
    if simulator not in RUNNING:
        return False
    try:
        service = rosgraph.names.script_resolve_name("check", RUNNING[simulator])
        rosservice.get_service_headers(service, rosgraph.Master("/check").lookupService(service))
    except (OSError, rosgraph.MasterException, rosservice.ROSServiceException):
        return False
    return True


def main() -> int:
    """Check the arguments on the command line; roslaunch starts no nodes unless this returns 0."""
    try:
        check(dict(argument.split(":=", 1) for argument in sys.argv[1:]))
    except InputError as error:
        print(f"\nagora: {error}\n", file=sys.stderr)
        return 2
    print("yes")
    return 0
