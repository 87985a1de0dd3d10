"""The simulators that the node can use: the library's registered simulators, and one module for each simulator reached through
ROS.
"""

from __future__ import annotations

from importlib import import_module

from agora.errors import UnknownNameError
from agora.node_logic.driver import Driver
from agora.node_logic.one_world import OneWorld
from agora.registry import Named, available

DRIVERS = {
    "flatland": "agora_simulators.drivers.flatland:Flatland",
    "gazebo": "agora_simulators.drivers.gazebo:Gazebo",
    "unity": "agora_simulators.drivers.unity:Unity",
}
"""Module and class of each driver that reaches a simulator through ROS."""


def make_driver(name: str) -> Driver:
    """Return the driver with a given name.

    Raises:
        UnknownNameError: no driver has this name.
        InputError: the driver's simulator cannot be reached.
    """
    own = available("simulators")
    if name in own:
        return OneWorld(Named.of("simulators", name))
    if name not in DRIVERS:
        raise UnknownNameError("simulator", name, [*own, *DRIVERS])
    module, kind = DRIVERS[name].split(":")
    driver: Driver = getattr(import_module(module), kind)()
    return driver
