"""Reads all messages of ROS 1 bags (``.bag``, format 2.0), in the order in which they were written, without ROS.

A bag is read record by record from its beginning, not through its index, because a bag whose recorder was killed has no index. Such
a file (``.bag.active``) ends in the middle of a record; all records before it are complete. A bag contains the definitions of its
messages, so messages from packages that are not installed can also be read.

Format: http://wiki.ros.org/Bags/Format/2.0
"""

from __future__ import annotations

import bz2
import functools
import io
import re
import struct
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from agora.errors import InputError, reading
from agora.extras import missing
from agora.yaml_tree import require_file

MAGIC = b"#ROSBAG V2.0\n"
_MESSAGE, _HEADER, _CHUNK, _CONNECTION = 0x02, 0x03, 0x05, 0x07
_LARGEST = 1 << 28  # bytes, maximum size of a record or an unpacked chunk; recorders write smaller ones
_PIECE = 1 << 22  # number of bytes that are read at a time


def stem(path: Path) -> str:
    """Return the name of a bag (even a truncated one) or an MCAP file, without the suffix."""
    return re.split(r"\.bag|\.mcap", path.name)[0]


class Connection(NamedTuple):
    """The source of some messages: topic, message type (``package/Name``), and definition of the type."""

    topic: str
    type: str
    definition: str


class Message(NamedTuple):
    """A message as stored in the bag: connection, record time (ns), and bytes."""

    connection: Connection
    nanoseconds: int
    data: bytes

    def decode(self) -> Any:
        """Return the decoded message, which has the attributes given by the definition; numeric arrays are NumPy arrays.

        Raises:
            InputError: the bytes do not match the definition, or the package rosbags is missing.
        """
        store, name = _decoder(self.connection.type, self.connection.definition)
        with reading(self.connection.topic, f"a {self.connection.type}"):
            return store.deserialize_ros1(self.data, name)


class _Cut(Exception):  # noqa: N818
    """Raised at the point at which a file ends unexpectedly or becomes corrupt."""


@dataclass
class Bag:
    """A bag, complete or truncated.

    Attributes:
        path: path of the file.
        connections: connections by number, for the part of the bag read so far.
        cut: description of the problem found in the part of the bag read so far; empty if no problem was found.
    """

    path: Path
    connections: dict[int, Connection] = field(default_factory=dict)
    cut: str = ""

    @property
    def name(self) -> str:
        """The name of the file without the suffix."""
        return stem(self.path)

    def messages(self, topics: Collection[str] | None = None) -> Iterator[Message]:
        """Yield the messages of the given topics, or of all topics, in the order in which they were written; afterwards, `cut`
        describes any damage.

        Raises:
            InputError: the file cannot be read, or is not a bag.
        """
        self.connections, self.cut = {}, ""
        try:
            require_file(self.path)
            with self.path.open("rb") as file:
                if file.read(len(MAGIC)) != MAGIC:
                    raise InputError(f"{self.path}: not a ROS 1 bag; expected a file that begins with {MAGIC.decode().strip()!r}")
                yield from self._records(file, topics)
        except OSError as error:
            raise InputError(f"{self.path}: cannot be read: {error.strerror or error}") from error

    def _records(self, file: BinaryIO, topics: Collection[str] | None) -> Iterator[Message]:
        """Yield the messages from the current file position on. A chunk that was never closed has no length; its records are read
        individually.
        """
        while True:
            try:
                record = _record(file)
                if record is None:
                    return
                header, data = record
                op = header["op"][0]
                if op == _HEADER and _number(header, "index_pos") == 0:
                    self.cut = "it was not closed"
                elif op == _CHUNK:
                    inner = io.BytesIO(_unpacked(header, data))
                elif op == _CONNECTION:
                    self._connect(header, data)
                message = self._message(header, data, topics) if op == _MESSAGE else None
            except (_Cut, KeyError, struct.error, UnicodeDecodeError, IndexError) as error:
                self.cut = f"truncated or damaged at byte {file.tell()}" + (f" ({error})" if isinstance(error, _Cut) else "")
                return
            if op == _CHUNK:
                yield from self._records(inner, topics)
            elif message is not None:
                yield message

    def _connect(self, header: dict[str, bytes], data: bytes) -> None:
        fields = _fields(data)
        self.connections[_number(header, "conn")] = Connection(
            header["topic"].decode(), fields["type"].decode(), fields["message_definition"].decode(errors="replace")
        )

    def _message(self, header: dict[str, bytes], data: bytes, topics: Collection[str] | None) -> Message | None:
        connection = self.connections[_number(header, "conn")]
        if topics is not None and connection.topic not in topics:
            return None
        seconds, nanoseconds = struct.unpack("<II", header["time"])
        return Message(connection, seconds * 1_000_000_000 + nanoseconds, data)


def _record(file: BinaryIO) -> tuple[dict[str, bytes], bytes] | None:
    """Return the header and the data of the next record; None at the end of the file."""
    size = file.read(4)
    if not size:
        return None
    header = _fields(_exactly(file, _length(size)))
    return header, _exactly(file, _length(_exactly(file, 4)))


def _length(data: bytes) -> int:
    if len(data) < 4:
        raise _Cut("the last record is incomplete")
    length = int(struct.unpack("<I", data)[0])
    if length > _LARGEST:
        raise _Cut(f"a record of {length} bytes")
    return length


def _exactly(file: BinaryIO, count: int) -> bytes:
    parts, left = [], count
    while left and (part := file.read(min(left, _PIECE))):  # read in parts, so that a corrupt length does not allocate much memory
        parts.append(part)
        left -= len(part)
    if left:
        raise _Cut("the last record is incomplete")
    return b"".join(parts)


def _fields(data: bytes) -> dict[str, bytes]:
    """Return the fields of a header, which have the form ``name=value``, by name."""
    fields, place = {}, 0
    while place < len(data):
        (length,) = struct.unpack_from("<I", data, place)
        name, separator, value = data[place + 4 : place + 4 + length].partition(b"=")
        if not separator or place + 4 + length > len(data):
            raise _Cut("an invalid header")
        fields[name.decode()] = value
        place += 4 + length
    return fields


def _number(header: dict[str, bytes], name: str) -> int:
    return int.from_bytes(header[name], "little")


def _unpacked(header: dict[str, bytes], data: bytes) -> bytes:
    """Return the unpacked records of a chunk; at most the declared number of bytes is unpacked."""
    compression, size = header["compression"].decode(), _length(header["size"])
    try:
        if compression == "none":
            return data
        if compression == "bz2":
            unpacked = bz2.BZ2Decompressor().decompress(data, size + 1)
        elif compression == "lz4":
            import lz4.frame

            unpacked = bytes(lz4.frame.LZ4FrameDecompressor().decompress(data, size + 1))
        else:
            raise _Cut(f"a chunk with the unknown compression {compression!r}")
    except (OSError, ValueError, RuntimeError, EOFError) as error:
        raise _Cut(f"a chunk that cannot be decompressed: {error}") from error
    except ImportError as error:
        raise _no_rosbags() from error
    if len(unpacked) != size:
        raise _Cut(f"a chunk whose size differs from the {size} bytes in its header")
    return unpacked


def _no_rosbags() -> InputError:
    return missing("reading bags needs", "rosbags", "ros")


@functools.lru_cache(maxsize=256)
def _decoder(name: str, definition: str) -> tuple[Any, str]:
    """Return the decoder for a message type with the given definition, and the name of the type in this decoder."""
    try:
        from rosbags.typesys import Stores, TypesysError, get_types_from_msg, get_typestore
    except ImportError as error:
        raise _no_rosbags() from error
    package, _, kind = name.partition("/")
    known = f"{package}/msg/{kind}"
    store = get_typestore(Stores.EMPTY)
    try:
        store.register(get_types_from_msg(definition, known))
    except TypesysError as error:
        raise InputError(f"{name}: its definition in the bag cannot be used: {error}") from error
    if known not in store.fielddefs:
        raise InputError(f"{name}: its definition in the bag belongs to another type")
    return store, known
