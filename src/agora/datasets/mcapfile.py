"""Reads and writes MCAP files with ROS 1 messages (as in bags), JSON messages and attachments.

Messages are read in the order in which they were written. Files must be complete; truncated files are rejected. Like a bag, an MCAP
file contains the definitions of its messages.

Format: https://mcap.dev/spec
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from agora.datasets.bagfile import Bag, Connection, Message, stem
from agora.errors import InputError, reading
from agora.extras import missing
from agora.yaml_tree import require_file

MAGIC = b"\x89MCAP0\r\n"
ROS1, JSON = "ros1", "json"
"""Encodings of messages; the corresponding encodings of message definitions are ``ros1msg`` and ``jsonschema``."""
_DEFINED_IN = {ROS1: "ros1msg", JSON: "jsonschema"}
_LARGEST = 1 << 28  # bytes, maximum size of an unpacked chunk; recorders write smaller ones


class McapChannel(NamedTuple):
    """The source of some messages: topic, message type, definition of the type, and encoding."""

    topic: str
    type: str
    definition: str
    encoding: str

    @staticmethod
    def json(topic: str, schema: Mapping[str, Any]) -> McapChannel:
        """Return a channel for JSON messages, whose type is the title of the schema."""
        return McapChannel(topic, str(schema["title"]), json.dumps(schema), JSON)


class McapMessage(NamedTuple):
    """A message as stored in the file: channel, record time (ns), and bytes."""

    channel: McapChannel
    nanoseconds: int
    data: bytes

    @staticmethod
    def json(channel: McapChannel, nanoseconds: int, content: Mapping[str, Any]) -> McapMessage:
        """Return a JSON message.

        Raises:
            ValueError: the content contains a non-finite number.
        """
        return McapMessage(channel, nanoseconds, json.dumps(content, allow_nan=False, separators=(",", ":")).encode())


@dataclass
class McapFile:
    """An MCAP file.

    Attributes:
        path: path of the file.
        connections: ROS 1 connections by number, for the part of the file read so far.
        channels: all channels, by number.
        attachments: attachments, by name.
        cut: always empty, because truncated files are rejected.
    """

    path: Path
    connections: dict[int, Connection] = field(default_factory=dict)
    channels: dict[int, McapChannel] = field(default_factory=dict)
    attachments: dict[str, bytes] = field(default_factory=dict)
    cut: str = ""

    @property
    def name(self) -> str:
        """The name of the file without the suffix."""
        return stem(self.path)

    def messages(self, topics: Collection[str] | None = None) -> Iterator[Message]:
        """Yield the ROS 1 messages of the given topics, or of all topics, in the order in which they were written.

        Raises:
            InputError: the file cannot be read, is not an MCAP file, is truncated or is damaged.
        """
        for number, nanoseconds, data in self._entries():
            connection = self.connections.get(number)
            if connection is not None and (topics is None or connection.topic in topics):
                yield Message(connection, nanoseconds, data)

    def contents(self, topics: re.Pattern[str]) -> Iterator[tuple[McapChannel, int, dict[str, Any]]]:
        """Yield the JSON objects on topics that match a pattern, each with its channel and time (ns), in the order in which they
        were written.

        Raises:
            InputError: as in `messages`, or a message is not JSON.
        """
        for number, nanoseconds, data in self._entries():
            channel = self.channels[number]
            if channel.encoding == JSON and topics.fullmatch(channel.topic):
                with reading(self.path, f"an MCAP file: {channel.topic} is not JSON"):
                    content = json.loads(data)
                if isinstance(content, dict):
                    yield channel, nanoseconds, content

    def _entries(self) -> Iterator[tuple[int, int, bytes]]:
        """Yield the channel number, the time (ns), and the bytes of each message."""
        self._check_ends()
        stream, chunk_of = _reader()
        self.connections, self.channels, self.attachments = {}, {}, {}
        schemas: dict[int, Any] = {}
        with reading(self.path, "an MCAP file"), self.path.open("rb") as file:
            for outer in stream(file, emit_chunks=True, record_size_limit=self.path.stat().st_size).records:
                is_chunk = type(outer).__name__ == "Chunk"
                for record in chunk_of(_checked(outer), validate_crc=True) if is_chunk else [outer]:
                    kind = type(record).__name__
                    if kind == "Schema":
                        schemas[record.id] = record
                    elif kind == "Channel":
                        self._connect(record, schemas.get(record.schema_id))
                    elif kind == "Attachment":
                        self.attachments[record.name] = record.data
                    elif kind == "Message":
                        if record.channel_id not in self.channels:
                            raise InputError(f"{self.path}: damaged: a message refers to the missing channel {record.channel_id}")
                        yield record.channel_id, record.log_time, record.data

    def _connect(self, record: Any, schema: Any) -> None:
        name, definition = ("", "") if schema is None else (schema.name, schema.data.decode(errors="replace"))
        self.channels[record.id] = McapChannel(record.topic, name, definition, record.message_encoding)
        if record.message_encoding == ROS1:
            self.connections[record.id] = Connection(record.topic, name, definition)

    def _check_ends(self) -> None:
        """Check that the file has the beginning and the end of an MCAP file.

        Raises:
            InputError: the beginning or the end is missing; the message says which.
        """
        require_file(self.path)
        try:
            with self.path.open("rb") as file:
                start = file.read(len(MAGIC))
                file.seek(max(file.seek(0, io.SEEK_END) - len(MAGIC), 0))
                end = file.read()
        except OSError as error:
            raise InputError(f"{self.path}: cannot be read: {error.strerror or error}") from error
        if start != MAGIC:
            raise InputError(f"{self.path}: not an MCAP file; expected a file that begins with {MAGIC!r}")
        if end != MAGIC:
            raise InputError(
                f"{self.path}: its end is missing (footer and {MAGIC!r}): it was truncated or is still being written; "
                "copy it again, or repair it with mcap recover"
            )


def opened(path: Path) -> Bag | McapFile:
    """Return the reader for a file: an `McapFile` if the first bytes or the name are those of an MCAP file, otherwise a `Bag`.

    Raises:
        InputError: the file cannot be read.
    """
    return McapFile(path) if is_mcap(path) else Bag(path)


def is_mcap(path: Path) -> bool:
    """Return whether a file is an MCAP file, judging by the file's first bytes or name.

    Raises:
        InputError: the file cannot be read.
    """
    require_file(path)
    try:
        with path.open("rb") as file:
            return path.suffix == ".mcap" or file.read(len(MAGIC)) == MAGIC
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from error


def encode_mcap(entries: Iterable[McapMessage], attachments: Mapping[str, tuple[str, bytes]]) -> bytes:
    """Return the bytes of an MCAP file.

    Args:
        entries: messages of the file, in order.
        attachments: media type and bytes of each attachment, by name.

    Raises:
        InputError: the package mcap is missing.
    """
    try:
        from mcap.writer import Writer
    except ImportError as error:
        raise _no_mcap() from error
    file = io.BytesIO()
    writer: Any = Writer(file)
    writer.start(profile="", library="agora")
    for name, (kind, data) in attachments.items():
        writer.add_attachment(create_time=0, log_time=0, name=name, media_type=kind, data=data)
    schemas: dict[tuple[str, str], int] = {}
    channels: dict[McapChannel, int] = {}
    for channel, nanoseconds, data in entries:
        if channel not in channels:
            schema = (channel.type, channel.definition)
            if schema not in schemas:
                encoding = _DEFINED_IN[channel.encoding]
                schemas[schema] = writer.register_schema(name=channel.type, encoding=encoding, data=channel.definition.encode())
            channels[channel] = writer.register_channel(channel.topic, channel.encoding, schemas[schema])
        writer.add_message(channels[channel], log_time=nanoseconds, publish_time=nanoseconds, data=data)
    writer.finish()
    return file.getvalue()


def _reader() -> tuple[Any, Any]:
    """Return the class that reads records and the function that unpacks chunks, from the package mcap."""
    try:
        from mcap.stream_reader import StreamReader, breakup_chunk
    except ImportError as error:
        raise _no_mcap() from error
    return StreamReader, breakup_chunk


def _checked(chunk: Any) -> Any:
    """Return a chunk after checking that it unpacks to its declared size and is not larger than the chunks that recorders write."""
    import zstandard

    size = zstandard.frame_content_size(chunk.data) if chunk.compression == "zstd" else -1
    if chunk.uncompressed_size > _LARGEST or size not in (-1, chunk.uncompressed_size):
        raise ValueError(f"a chunk of {max(size, chunk.uncompressed_size)} bytes, whose header gives {chunk.uncompressed_size}")
    return chunk


def _no_mcap() -> InputError:
    return missing("MCAP files need", "mcap", "ros")
