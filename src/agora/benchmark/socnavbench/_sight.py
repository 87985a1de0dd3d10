"""The camera images for a SocNavBench joystick in full-render mode, rendered whenever the joystick requests a state.

SocNavBench (CMU-TBD/SocNavBench 2724ea85) renders images only after an episode, for videos, and does not send any to joysticks. The
default camera, `CAMERA`, is the camera of these videos.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from agora.benchmark.cameras import camera_from
from agora.channels.camera import Camera, Cameras
from agora.core.state import Array
from agora.errors import InputError
from agora.rendering.context import backend
from agora.robots.model import load_robot

if TYPE_CHECKING:
    from agora.robots.model import RobotModel
    from agora.world.world import World

CAMERA = "pioneer3dx_rgbd"
"""Name of the robot that has SocNavBench's camera."""


def sight_camera(model: RobotModel, text: str) -> Camera:
    """Return the camera whose images a joystick receives; its rate and latency are ignored.

    Args:
        model: robot; its camera is used if it has one, otherwise `CAMERA`.
        text: parameter overrides for the camera, or another robot's camera, as in `agora.benchmark.cameras.camera_from`.

    Raises:
        InputError: the camera is unknown or fixed in the world, or no renderer is installed.
    """
    camera = camera_from(text, model.camera or load_robot(CAMERA).camera, "camera")
    if camera.fixed:
        raise InputError("camera: fixed must be false: the joystick receives images from a camera on the robot")
    backend()
    return replace(camera, rate=0.0, latency=0.0)


class JoystickSight:
    """A camera on an episode's robot that takes images on request.

    Args:
        world: world of the episode.
        camera: camera returned by `sight_camera`.
    """

    def __init__(self, world: World, camera: Camera) -> None:
        size: tuple[Any, ...] = (world.layout.worlds, world.layout.robots)
        room = {name: np.zeros(size + field.shape, field.kind) for name, field in camera.fields.items()}
        self._cameras = Cameras(world, camera, room)

    def walk(self) -> None:
        """Move people to their current positions. This must be called once per step, so that images do not depend on how often the
        joystick requests them.
        """
        self._cameras.walk(0)

    def images(self) -> Mapping[str, Array]:
        """Return the current images, keyed by camera field name."""
        self._cameras.take(0)
        return {name: array[0, 0] for name, array in self._cameras.reading.items()}


def told_camera(camera: Camera) -> dict[str, Any]:
    """Return the description of a camera for a joystick: image size and intrinsics, px; pose on the robot, m and rad; depth range,
    m.
    """
    optics = camera.pinhole
    size = {"width": camera.width, "height": camera.height}
    names = ("fx", "fy", "cx", "cy", "x", "y", "z", "roll", "pitch", "yaw")
    return size | {name: getattr(optics, name) for name in names} | {"depth_min": camera.depth_min, "depth_max": camera.depth_max}
