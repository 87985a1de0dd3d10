"""The installation check: which optional and required parts of Agora are available on this machine."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

from agora.errors import InputError
from agora.extras import how_to_install

__all__ = ["UPSTREAMS", "ros_package"]

UPSTREAMS = {
    "robot_state_publisher": (
        "coordinate frames of the robots; without it, agora_bringup publishes them",
        "apt install ros-robot-state-publisher",
    ),
    "rviz": ("windows", "apt install rviz"),
    "joy": ("teleoperation by joystick", "build joystick_drivers from ros-drivers, branch main"),
    "amcl": ("complexity:=2", "build it: .rosinstall, navigation"),
    "mbf_costmap_nav": ("navigation:=mbf", "build it: .rosinstall, move_base_flex"),
    "navfn": ("navigation:=mbf", "build it: .rosinstall, navigation"),
    "clear_costmap_recovery": ("navigation:=mbf", "build it: .rosinstall, navigation"),
    "flatland_server": ("simulator:=flatland", "build it: .rosinstall, flatland"),
    "flatland_plugins": ("simulator:=flatland", "build it: .rosinstall, flatland"),
    "gazebo_ros": (
        "simulator:=gazebo",
        "build it with .rosinstall: gazebo_ros_pkgs; or use a machine with Gazebo 11 on the same roscore",
    ),
    "ros_tcp_endpoint": ("simulator:=unity", "build it: .rosinstall, ROS-TCP-Endpoint"),
}
"""Third-party ROS packages that the graph can use, with their purposes and how to install them."""

_OTHERS = {
    "onnxruntime": ("person detection in images", "images"),
    "cv2": ("person detection in images with HOG", "images"),
    "rosbags": ("bags", "ros"),
    "mcap": ("MCAP files", "ros"),
    "mujoco": ("the mujoco simulator, and cameras", "mujoco"),
    "optuna": ("agora tune", "tune"),
    "onnx": ("export of policies as ONNX", "onnx"),
    "ray": ("the ray executor", "ray"),
    "sklearn": ("agora validate", "validate"),
}
"""Packages that only some commands need, with their purposes and the extras that include them."""


def examine() -> Iterator[tuple[str, bool | None]]:
    """Yield each finding as a line, and whether it is as required, or None for an optional part that is missing."""
    yield f"Python {sys.version.split()[0]} (3.11 or newer)", sys.version_info >= (3, 11)
    for package, what in {"numba": "kernels", "pyarrow": "results", "matplotlib": "figures", "av": "video"}.items():
        yield f"{package}: {what}", find_spec(package) is not None
    yield _kernels()
    for package, what in {"gymnasium": "environments", "stable_baselines3": "training", "torch": "training"}.items():
        yield _package(package, what, "learning")
    for package, (what, extra) in _OTHERS.items():
        yield _package(package, what, extra)
    yield _pictures()
    yield _optional("screen for --live", os.environ.get("DISPLAY"), "not needed for pictures and videos")
    yield _optional("gcc for make bench", shutil.which("gcc"), "needed only for the comparison with C")
    yield _optional(
        f"AGORA_DATA: {os.environ.get('AGORA_DATA', '')}".rstrip(": "), os.environ.get("AGORA_DATA"), "agora data import"
    )
    for line, there in _ros():
        yield f"ROS: {line}", there or None


def _optional(what: str, found: object, how: str) -> tuple[str, bool | None]:
    """Return the line for an optional part: its purpose, and how to install it or do without it."""
    return (what, True) if found else (f"{what}: not found ({how})", None)


def _package(package: str, what: str, extra: str) -> tuple[str, bool | None]:
    """Return the line for an optional package."""
    return _optional(f"{package}: {what}", find_spec(package), how_to_install(extra))


def _kernels() -> tuple[str, bool]:
    """Return a message that says whether a kernel compiles and can be cached, and whether the check succeeded."""
    # Imported here, so that a failing import is reported as one of the findings.
    import numba
    import numpy as np

    from agora.core.scalar import wrap

    value, expected = float(wrap(np.float32(7.0))), 7.0 - 2 * np.pi
    place = Path(str(numba.config.CACHE_DIR))
    if abs(value - expected) > 1e-5:
        return f"a kernel returned {value:g}, expected {expected:g}", False
    if not place.is_dir():
        return f"kernels compile, but cannot be cached: {place} is not a folder", False
    return f"kernels compile and are cached in {place}", True


def _pictures() -> tuple[str, bool | None]:
    """Return the line about off-screen rendering: the installed libraries, and which of them cameras use."""
    from agora.rendering.context import backend, libraries

    found = ", ".join(f"{name} {'found' if there else 'not found'}" for name, there in libraries().items())
    try:
        return f"off-screen rendering for cameras: {backend()} ({found})", True
    except InputError as error:
        return f"off-screen rendering for cameras: not available ({found}): {error}", None


def ros_package(name: str) -> str | None:
    """Return the folder of a ROS package; None if the package or ROS is not installed."""
    if (rospack := shutil.which("rospack")) is None:
        return None
    found = subprocess.run([rospack, "find", name], capture_output=True, text=True, check=False)
    return found.stdout.strip() or None


def _ros() -> Iterator[tuple[str, bool]]:
    """Yield the findings about ROS, all of which is optional."""
    if find_spec("rospy") is None:
        yield "not found (optional; on Debian 12: run make ros and use the environment that it creates)", False
        return
    version = os.environ.get("ROS_DISTRO", "no workspace sourced")
    yield f"rospy in {Path(str(getattr(find_spec('rospy'), 'origin', None))).parent} ({version})", True
    messages = find_spec("agora_msgs")
    if getattr(messages, "origin", None) is None:  # a namespace package is the source folder
        yield "the workspace is not sourced: run make ros, then source build/ros/devel/setup.bash", False
    else:
        yield f"the workspace is sourced: agora_bringup in {ros_package('agora_bringup')}", True
    uri = os.environ.get("ROS_MASTER_URI", "http://localhost:11311")
    answers = _answers(uri)
    yield f"roscore at {uri}: {'answers' if answers else 'not running; roslaunch starts it'}", answers
    for name, (use, how) in UPSTREAMS.items():
        found = ros_package(name)
        yield f"{name}: {found}" if found else f"{name}: not found (only for {use}; {how})", found is not None


def _answers(uri: str) -> bool:
    place = urlsplit(uri)
    try:
        socket.create_connection((place.hostname or "localhost", place.port or 11311), timeout=0.5).close()
    except OSError:
        return False
    return True
