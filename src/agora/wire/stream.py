"""Streams of messages: an episode, then its moments, and the next episode whenever one begins.

Before each message stand four bytes with its length, little-endian. A file that was cut ends with the last whole message.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO

from agora.errors import InputError
from agora.wire.episode import Episode
from agora.wire.message import decode, encode, unpack
from agora.wire.snapshot import Snapshot

LONGEST = 1 << 30
"""Most bytes of a message."""

_OF = {"agora.episode": Episode, "agora.snapshot": Snapshot}


def frame(record: Any) -> bytes:
    """Return a message with its length before it."""
    data = encode(record)
    return len(data).to_bytes(4, "little") + data


def read(source: BinaryIO, where: str = "stream") -> Iterator[Episode | Snapshot]:
    """Yield what a stream holds, as it comes.

    Raises:
        InputError: a message is longer than `LONGEST`, or is none of an episode or a moment; says which.
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
