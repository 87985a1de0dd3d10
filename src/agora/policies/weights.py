"""Policy files: safetensors files that contain a format name, a version, a JSON header and the weights."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import cast, get_args

import numpy as np

from agora.core.state import Array, Floats
from agora.errors import InputError, UnknownNameError
from agora.files import write_whole
from agora.interfaces import Label
from agora.share import folder, names_in

SUFFIX, FORMAT = ".safetensors", "agora.policy"
_VERSION, _SAID = "2", "policy"
_OLDER = ("agora.actor 1", "agora.ga3c 1", "agora.policy 1", "agora.value 1")

_STRANGERS: dict[str, Callable[[Path, bytes], bool]] = {
    "a zip archive, as Stable-Baselines3 and PyTorch save models": lambda path, head: head.startswith(b"PK\x03\x04"),
    "an ONNX file": lambda path, head: path.suffix.lower() == ".onnx",
    "a pickle, which Agora does not open": lambda path, head: (
        head[:1] == b"\x80" and head[1:2] in (b"\x02", b"\x03", b"\x04", b"\x05")
    ),
    "an HDF5 file, as Keras saves models": lambda path, head: head.startswith(b"\x89HDF"),
}
"""File types from other programs that may contain networks: their names, and how to recognise them."""


def write_weights(path: Path, said: str, arrays: Mapping[str, Floats]) -> None:
    """Write a policy file.

    Args:
        path: path of the file.
        said: JSON header: everything in the policy except the weights.
        arrays: the weights by name, float32.

    Raises:
        InputError: the file cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, packed(arrays, {"format": FORMAT, "version": _VERSION, _SAID: said}))
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror}") from error


def packed(arrays: Mapping[str, Array], about: Mapping[str, str]) -> bytes:
    """Return the bytes of a safetensors file. The metadata are sorted, which the library itself does not do, so equal contents give
    equal bytes.
    """
    from safetensors.numpy import save

    whole = save(dict(arrays), metadata=dict(about))
    end = 8 + int.from_bytes(whole[:8], "little")
    header = json.loads(whole[8:end])
    header["__metadata__"] = dict(sorted(about.items()))
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + whole[end:]


def read_weights(path: Path) -> tuple[str, dict[str, Array]]:
    """Return the JSON header and the weights by name from a file written by `write_weights`.

    Raises:
        InputError: the file is not a safetensors file, or has a different format or version.
    """
    about, arrays = read_safetensors(path)
    if about.get("format") != FORMAT or about.get("version") != _VERSION:
        found = f"{about.get('format', 'no format')} {about.get('version', '')}".strip()
        older = "; a file of an earlier Agora, whose header names no network: train it again" if found in _OLDER else ""
        raise InputError(f"{path}: expected a file of {FORMAT} {_VERSION}, got {found}{older}")
    return about.get(_SAID, ""), arrays


def read_safetensors(path: Path) -> tuple[dict[str, str], dict[str, Array]]:
    """Return the metadata and the arrays of a safetensors file.

    Raises:
        InputError: the file is not a safetensors file.
    """
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="numpy") as file:
            arrays: dict[str, Array] = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - no mapping
            return file.metadata() or {}, arrays
    except SafetensorError as error:
        raise _not_safetensors(path, error) from error


def _not_safetensors(path: Path, error: Exception) -> InputError:
    """Return the error for a file that is not a safetensors file; it names the file type and explains how to import the network."""
    with path.open("rb") as file:
        head = file.read(8)
    for found, is_it in _STRANGERS.items():
        if is_it(path, head):
            return InputError(
                f"{path}: {found}; expected a safetensors file: take the layers out of the network in PyTorch and write them with "
                "Policy.of_torch(observe, layers).save(path), as the manual's page on training a policy shows"
            )
    return InputError(f"{path}: not a safetensors file: {error}")


def check_weights(arrays: Mapping[str, Floats], shapes: Mapping[str, tuple[int, ...]], network: str) -> None:
    """Reject weights that do not fit a network.

    Args:
        arrays: weights by name.
        shapes: required shapes by name.
        network: name of the network, used in messages.

    Raises:
        InputError: a weight is missing or unknown, has the wrong shape, or is not a finite float32 array.
    """
    for name in sorted(shapes.keys() | arrays.keys()):
        if name not in arrays or name not in shapes:
            raise InputError(f"weight {name} {'is missing' if name in shapes else f'is not part of {network}'}")
        array = arrays[name]
        if array.shape != shapes[name] or not array.size:
            raise InputError(f"weight {name}: expected the shape {shapes[name]}, got {array.shape}")
        if array.dtype != np.float32 or not np.isfinite(array).all():
            raise InputError(f"weight {name} must be finite float32, got {array.dtype}")


def label_of(about: Mapping[str, str]) -> Label:
    """Return the label in a policy's notes; "own" if the notes contain no label.

    Raises:
        InputError: the label is unknown.
    """
    label = about.get("label", "own")
    if label not in get_args(Label):
        raise InputError(f"label must be one of {', '.join(get_args(Label))}, got {label!r}")
    return cast(Label, label)


def policy_names() -> list[str]:
    """Return the names of the policies that come with Agora, sorted."""
    return names_in("policies", SUFFIX)


def weights_file(name_or_path: str | Path) -> Path:
    """Return the file of a policy that comes with Agora (``configs/policies/<name>.safetensors``), or the given path.

    Args:
        name_or_path: a name, or a path: a `Path`, a string that contains a folder or has the extension .safetensors, or the path of
            an existing file.

    Raises:
        UnknownNameError: no policy has this name.
    """
    path = Path(name_or_path)
    if isinstance(name_or_path, Path) or "/" in name_or_path or path.suffix == SUFFIX:
        return path
    if name_or_path not in policy_names() and path.is_file():
        return path
    if name_or_path not in policy_names():
        raise UnknownNameError("policy", str(name_or_path), policy_names())
    return folder("configs") / "policies" / f"{name_or_path}{SUFFIX}"
