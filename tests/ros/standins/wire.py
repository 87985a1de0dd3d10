"""Frames of ROS-TCP-Connector and ROS-TCP-Endpoint 0.7: length and destination, length and payload, little-endian.

A payload is a ROS 1 message, or JSON where the destination begins with two underscores.
"""

from __future__ import annotations

import importlib
import json
import socket
import struct
from io import BytesIO
from typing import Any


def _exactly(connection: socket.socket, size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        piece = connection.recv(size - len(data))
        if not piece:
            raise ConnectionError("the other side has gone")
        data += piece
    return bytes(data)


def receive(connection: socket.socket) -> tuple[str, bytes]:
    """The destination and payload of the next frame."""
    parts = [_exactly(connection, struct.unpack("<I", _exactly(connection, 4))[0]) for _ in range(2)]
    return parts[0].decode().rstrip("\x00"), parts[1]


def frame(destination: str, payload: bytes | dict | Any) -> bytes:
    """A frame: bytes as they are, a dictionary as JSON, anything else as a ROS message."""
    if isinstance(payload, dict):
        payload = json.dumps(payload).encode()
    elif not isinstance(payload, bytes):
        buffer = BytesIO()
        payload.serialize(buffer)
        payload = buffer.getvalue()
    name = destination.encode()
    return struct.pack("<I", len(name)) + name + struct.pack("<I", len(payload)) + payload


def type_of(name: str, kind: str) -> Any:
    """The class of ``package/Type``; ``kind`` is msg or srv."""
    package, _, type_name = name.partition("/")
    return getattr(importlib.import_module(f"{package}.{kind}"), type_name)
