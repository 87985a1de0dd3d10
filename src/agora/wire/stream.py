"""Streams of messages: an episode, then its snapshots, and the next episode whenever one begins.

Each message is preceded by its length, four bytes, little-endian. A truncated file ends with its last complete message.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO

from agora.errors import InputError
from agora.wire.episode import Episode
from agora.wire.message import decode, encode, unpack
from agora.wire.snapshot import Snapshot

LONGEST = 1 << 30
"""Maximum size of a message, bytes."""

_OF = {"agora.episode": Episode, "agora.snapshot": Snapshot}


def frame(record: Any) -> bytes:
    """Return a record as a message preceded by its length."""
    data = encode(record)
    return len(data).to_bytes(4, "little") + data


def read(source: BinaryIO, where: str = "stream") -> Iterator[Episode | Snapshot]:
    """Yield the records in a stream as they arrive.

    Raises:
        InputError: a message is longer than `LONGEST`, or is neither an episode nor a snapshot; the error says which message.
    """
    number = 0
    while len(head := source.read(4)) == 4:
        length = int.from_bytes(head, "little")
        if length > LONGEST:
            raise InputError(f"{where}: message {number} has {length} bytes, expected at most {LONGEST}")
        data = source.read(length)
        if len(data) < length:
            return
        name, _, _ = unpack(data, f"{where}: message {number}")
        if name not in _OF:
            raise InputError(f"{where}: message {number}: expected {' or '.join(_OF)}, got {name}")
        yield decode(data, _OF[name], f"{where}: message {number}")
        number += 1
