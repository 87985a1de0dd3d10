"""Messages: plain data with the name and version of their format, as bytes and back.

The bytes form a safetensors file (https://github.com/huggingface/safetensors): eight bytes with the length of the header, the
header as JSON, then the arrays, little-endian and one after another. The header's ``__metadata__.agora`` is a JSON string with the
keys ``format``, ``version`` and ``content``. In the content, an array is written as ``{"$array": NAME}``, with its name in the
header, and an infinite number as ``{"$number": "inf"}`` or ``"-inf"``. Equal contents give identical bytes.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load, save

from agora.core.recording import Recording
from agora.errors import InputError, UnknownNameError
from agora.maps.grid import Map
from agora.wire.episode import Episode
from agora.wire.plain import from_plain, to_plain
from agora.wire.question import Hello, Question, Reply
from agora.wire.snapshot import Snapshot
from agora.world.start import Start
from agora.yaml_tree import value_text

__all__ = ["decode", "encode"]

T = TypeVar("T")

FORMATS: dict[str, type] = {
    "agora.map": Map,
    "agora.start": Start,
    "agora.episode": Episode,
    "agora.recording": Recording,
    "agora.snapshot": Snapshot,
    "agora.hello": Hello,
    "agora.question": Question,
    "agora.answer": Reply,
}
"""The record type of each format."""

_NUMBERED = "since version 2 an answer repeats the number of its question"
_CHANGED = dict.fromkeys(("agora.hello", "agora.question", "agora.answer"), (2, _NUMBERED))
"""Versions of the formats that are no longer at version 1, each with the change that was made."""

LONGEST_HEADER = 1 << 20
"""Maximum size of the header of a message from an external program, bytes; parsed JSON takes many times its length in memory."""
_OF_STRANGERS = (Hello, Reply)
_ARRAY, _NUMBER, _KEY = "$array", "$number", "agora"
_TYPES = {np.dtype(name) for name in ("bool", "uint8", "int8", "int16", "int32", "int64", "float32", "float64")}
_DEEPEST = 60


def version_of(name: str) -> int:
    """Return the version of a format, which is increased when a field changes its meaning, is added without a default, or is
    removed.
    """
    return _CHANGED.get(name, (1, ""))[0]


def encode(record: Any) -> bytes:
    """Return a record encoded as a message.

    Raises:
        InputError: there is no format for records of this type.
    """
    name = next((name for name, kind in FORMATS.items() if kind is type(record)), None)
    if name is None:
        raise InputError(f"there is no format for a {type(record).__name__}; formats exist for {', '.join(FORMATS)}")
    return pack(name, version_of(name), to_plain(record))


def decode(data: bytes, kind: type[T], where: str = "message") -> T:
    """Return the record in a message; ``where`` names the message in errors.

    Raises:
        InputError: the bytes are not a message, have another format or a version that this release of Agora cannot read, or their
            content does not match the format.
    """
    if kind in _OF_STRANGERS and (length := int.from_bytes(data[:8], "little")) > LONGEST_HEADER:
        raise InputError(f"{where}: its header has {length} bytes, expected at most {LONGEST_HEADER}")
    name, version, content = unpack(data, where)
    wanted = next(known for known, record in FORMATS.items() if record is kind)
    if name not in FORMATS:
        raise UnknownNameError("format", name, FORMATS)
    if name != wanted:
        raise InputError(f"{where}: expected the format {wanted}, got {name}")
    if version != version_of(name):
        hint = f": {_CHANGED[name][1]}" if name in _CHANGED else ""
        raise InputError(f"{where}: version {version} of {name}; this Agora reads version {version_of(name)}{hint}")
    return from_plain(content, kind, where)


def pack(name: str, version: int, content: Any) -> bytes:
    """Return plain data as bytes, with the name and version of their format."""
    arrays: dict[str, Any] = {}
    head = {"format": name, "version": version, "content": _without_arrays(content, "", arrays)}
    data: bytes = save(arrays, {_KEY: json.dumps(head, separators=(",", ":"), allow_nan=False)})
    return data


def unpack(data: bytes, where: str = "message") -> tuple[str, int, Any]:
    """Return the name and version of a message's format, and its plain data.

    Raises:
        InputError: the bytes are not a message.
    """
    try:
        arrays = load(data)
        header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
        head = json.loads(header["__metadata__"][_KEY], parse_constant=_no_number)
        name, version, content = head["format"], head["version"], head["content"]
    except (SafetensorError, KeyError, TypeError, ValueError, RecursionError, OverflowError) as error:
        raise InputError(f"{where}: expected an Agora message (safetensors with Agora's header), got something else") from error
    if not isinstance(name, str) or type(version) is not int:
        raise InputError(f"{where}: expected a format and an integer as version, got {value_text(name)} and {value_text(version)}")
    return name, version, _with_arrays(content, arrays, where)


def _no_number(text: str) -> float:
    raise ValueError(text)


def _without_arrays(value: Any, path: str, arrays: dict[str, Any]) -> Any:
    """Return plain data in a form that JSON can represent; arrays are moved to ``arrays`` under the path of their key."""
    if isinstance(value, np.ndarray):
        if value.dtype not in _TYPES:
            raise InputError(f"{path}: messages cannot contain arrays of {value.dtype}")
        arrays[path] = np.ascontiguousarray(value, value.dtype.newbyteorder("<"))
        return {_ARRAY: path}
    if isinstance(value, Mapping):
        return {key: _without_arrays(item, f"{path}.{key}" if path else str(key), arrays) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without_arrays(item, f"{path}[{k}]", arrays) for k, item in enumerate(value)]
    if isinstance(value, float) and math.isinf(value):
        return {_NUMBER: str(value)}
    return value


def _with_arrays(value: Any, arrays: Mapping[str, Any], where: str, depth: int = 0) -> Any:
    """Return plain data with the arrays restored: the inverse of `_without_arrays`."""
    if depth > _DEEPEST:
        raise InputError(f"{where}: nested too deeply")
    if isinstance(value, dict) and value.keys() == {_ARRAY}:
        name = value[_ARRAY]
        if not isinstance(name, str) or name not in arrays:
            raise InputError(f"{where}: the array {value_text(name)} is not in the message")
        return arrays[name]
    if isinstance(value, dict) and value.keys() == {_NUMBER}:
        if value[_NUMBER] not in ("inf", "-inf"):
            raise InputError(f"{where}: expected inf or -inf as {_NUMBER}, got {value_text(value[_NUMBER])}")
        return float(value[_NUMBER])
    if isinstance(value, dict):
        return {key: _with_arrays(item, arrays, where, depth + 1) for key, item in value.items()}
    if isinstance(value, list):
        return [_with_arrays(item, arrays, where, depth + 1) for item in value]
    return value
