"""Parses camera strings: the name of the robot whose camera is used, plus any parameter overrides."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from agora.channels.camera import Camera
from agora.config import parse_parameters, split
from agora.errors import InputError
from agora.registry import make
from agora.robots.model import load_robot

__all__ = ["camera_from"]


def camera_from(text: str, otherwise: Camera | Mapping[str, Any], where: str) -> Camera:
    """Return the camera described by ``ROBOT``, ``ROBOT,key=value,key=value`` or ``key=value,key=value``.

    Args:
        text: string in one of these formats.
        otherwise: camera, or parameters of a camera, used if the string does not name a robot.
        where: name of the option that contained the string, for messages.

    Raises:
        UnknownNameError: no robot has this name.
        InputError: the robot has no camera, or a parameter is unknown or invalid.
    """
    first, *others = split(text) if text else [""]
    given, base = text, otherwise
    if first and "=" not in first:
        camera = load_robot(first.strip()).camera
        if camera is None:
            raise InputError(f"{where}: robot {first.strip()!r} has no camera")
        given, base = ",".join(others), camera
    if isinstance(base, Camera):
        base = {field.name: getattr(base, field.name) for field in fields(base)}
    made = make("channels", "camera", **(dict(base) | (parse_parameters(given, where) if given else {})))
    assert isinstance(made, Camera)
    return made
