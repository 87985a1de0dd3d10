"""Flatland: avidbots' flatland_server, or Arena's fork, which can be stepped.

The server is started with a world that has no map (`EMPTY_WORLD`): walls and furniture are one static model, so that a new map
needs no new server. Models are files for the server: it must run on this machine, or share the folder.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

import numpy as np
import rosservice
from agora_ros.conversions import to_pose2d
from flatland_msgs.srv import DeleteModel, MoveModel, SpawnModel
from std_srvs.srv import Empty

from agora.core.state import Array, Floats
from agora.errors import InputError
from agora.maps.world3d.flatland import model_yaml
from agora.maps.world3d.solids import Body
from agora.robots.flatland import disc_yaml, robot_yaml
from agora.robots.model import RobotModel
from agora_simulators.drivers.foreign import WALLS, Foreign

EMPTY_WORLD = "properties: {velocity_iterations: 10, position_iterations: 10}\nlayers: []\n"
"""A world of Flatland's with nothing in it; the parameter ``world_path`` of flatland_server names a file with it."""


class Flatland(Foreign):
    """Drives a flatland_server; robots that turn in place and do not move sideways.

    Arena's fork is known by its service ``/step_world``. What its laser and its DiffDrive tell otherwise than others do (see
    `agora.robots.flatland`) is put right here; that it knows no limits of acceleration is not.
    """

    name: ClassVar[str] = "flatland"
    services: ClassVar[tuple[str, ...]] = ("spawn_model", "delete_model", "move_model", "pause", "resume")
    start_it: ClassVar[str] = "start flatland_server, or let start_arena.launch do it where the package flatland_server is found"

    def __init__(self, patience: float = 30.0) -> None:
        super().__init__(patience)
        self._fork = "/step_world" in rosservice.get_service_list()
        self._folder = tempfile.TemporaryDirectory(prefix="agora_flatland_")
        self._spawn_model = self._service("spawn_model", SpawnModel)
        self._delete_model = self._service("delete_model", DeleteModel)
        self._move_model = self._service("move_model", MoveModel)
        self._pause, self._resume = self._service("pause", Empty), self._service("resume", Empty)

    def pause(self) -> None:
        """Let time stand."""
        self._pause()

    def resume(self) -> None:
        """Let time pass again."""
        self._resume()

    def _spawn(self, name: str, text: str, pose: Array) -> None:
        path = Path(self._folder.name) / f"{name}.model.yaml"
        path.write_text(text)
        answer = self._spawn_model(str(path), name, "", to_pose2d(pose))
        if not answer.success:
            raise InputError(f"flatland refuses the model {name}: {answer.message}")

    def _show_walls(self, bodies: Sequence[Body]) -> None:
        self._spawn(WALLS, model_yaml(bodies), np.zeros(3))

    def _show_robot(self, name: str, model: RobotModel, pose: Array, scan_period: float) -> None:
        self._spawn(name, robot_yaml(model, name, scan_period, fork=self._fork), pose)

    def _show_pedestrian(self, name: str, radius: float, pose: Array) -> None:
        self._spawn(name, disc_yaml(radius), pose)

    def _show_obstacle(self, name: str, bodies: Sequence[Body]) -> None:
        self._spawn(name, model_yaml(bodies), np.zeros(3))

    def _place(self, name: str, pose: Array) -> None:
        self._move_model(name, to_pose2d(pose))

    def _remove(self, name: str) -> None:
        self._delete_model(name)

    def _in_robot_frame(self, twist: Floats, heading: float) -> Floats:
        if not self._fork:
            return twist
        c, s = np.cos(heading), np.sin(heading)
        return np.array([c * twist[0] + s * twist[1], c * twist[1] - s * twist[0], twist[2]], np.float32)

    def close(self) -> None:
        """Leave the world as it is, standing."""
        super().close()
        self._folder.cleanup()
