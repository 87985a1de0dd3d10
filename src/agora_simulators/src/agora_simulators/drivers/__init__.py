"""The simulators behind the node: the library's own engine, and one file for each that is reached through ROS."""

from __future__ import annotations

from importlib import import_module

from agora.errors import UnknownNameError
from agora.simulators.base import Simulator

DRIVERS = {
    "native": "agora.simulators.native:Native",
    "flatland": "agora_simulators.drivers.flatland:Flatland",
    "gazebo": "agora_simulators.drivers.gazebo:Gazebo",
    "unity": "agora_simulators.drivers.unity:Unity",
}
"""Where the class of each driver is."""


def make_driver(name: str) -> Simulator:
    """The driver of a name.

    Raises:
        UnknownNameError: there is none.
        InputError: its simulator cannot be reached.
    """
    if name not in DRIVERS:
        raise UnknownNameError("simulator", name, DRIVERS)
    module, kind = DRIVERS[name].split(":")
    driver: Simulator = getattr(import_module(module), kind)()
    return driver
