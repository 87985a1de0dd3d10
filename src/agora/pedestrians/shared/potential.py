"""Learned potentials for pedestrians: small networks with one output, and their file format."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from agora.core.state import Doubles, Floats
from agora.errors import InputError, UnknownNameError, reading
from agora.files import write_whole
from agora.policies.weights import packed, read_safetensors
from agora.share import folder
from agora.yaml_tree import require_file

_SUFFIX = ".safetensors"
_MOST_UNITS = 64


@dataclass(frozen=True, eq=False)
class Potential:
    """V(b) = sum_k weight_k softplus(rate_k b + offset_k), m2/s2: a network with one hidden layer of H units.

    All rates are negative, so V and the force vanish at large distances, regardless of the values learned at short distances.

    Attributes:
        rate: (H,) rates, 1/m.
        offset: (H,) offsets.
        weight: (H,) weights, m2/s2.
        about: notes on the origin of the potential, keyed by topic.

    Raises:
        InputError: the arrays have different lengths, a number is non-finite, or a rate is not negative.
    """

    rate: Floats
    offset: Floats
    weight: Floats
    about: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Copy, check and freeze the arrays."""
        for name in ("rate", "offset", "weight"):
            array = np.array(getattr(self, name), np.float32)
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        arrays = (self.rate, self.offset, self.weight)
        if len({a.shape for a in arrays}) != 1 or self.rate.ndim != 1 or not 1 <= self.rate.size <= _MOST_UNITS:
            raise InputError(f"potential: expected three arrays of 1 to {_MOST_UNITS} numbers, got {[a.shape for a in arrays]}")
        if not all(np.isfinite(a).all() for a in arrays):
            raise InputError("potential: a number is not finite")
        if (self.rate >= 0.0).any():
            raise InputError("potential: a rate is not below 0, so the potential would not vanish far away")

    @staticmethod
    def exponential(height: float, length: float) -> Potential:
        """Return the potential height * exp(-b / length) of Helbing and Molnar (1995), accurate to 1e-5, because softplus
        approaches the exponential for very negative arguments.

        Args:
            height: value at distance 0, m2/s2.
            length: decay length, m.
        """
        low = -12.0
        rate, offset, weight = (np.array([value], np.float32) for value in (-1.0 / length, low, height * np.exp(-low)))
        return Potential(rate, offset, weight)

    def value(self, b: ArrayLike) -> Doubles:
        """Return V, m2/s2, at distances b, m, in float64."""
        z = self._inner(b)
        return np.asarray(np.logaddexp(0.0, z) @ self.weight.astype(np.float64))

    def slope(self, b: ArrayLike) -> Doubles:
        """Return dV/db, m/s2, at distances b, m, in float64."""
        z = self._inner(b)
        return np.asarray(np.exp(-np.logaddexp(0.0, -z)) @ (self.rate.astype(np.float64) * self.weight))

    def _inner(self, b: ArrayLike) -> Doubles:
        return np.asarray(b, np.float64)[..., None] * self.rate.astype(np.float64) + self.offset

    def save(self, path: Path) -> None:
        """Write a safetensors file, with ``about`` as its metadata.

        Raises:
            InputError: the file cannot be written.
        """
        data = packed({"rate": self.rate, "offset": self.offset, "weight": self.weight}, self.about)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, data)
        except OSError as error:
            raise InputError(f"{path}: cannot be written: {error.strerror}") from error


def potential_names() -> list[str]:
    """Return the names of the potentials that come with Agora, sorted."""
    return sorted(path.stem for path in (folder("configs") / "pedestrians").glob(f"*{_SUFFIX}"))


def potential_file(name_or_path: str | Path) -> Path:
    """Return the file of a potential, given its name or path.

    Raises:
        UnknownNameError: no potential has this name.
    """
    if isinstance(name_or_path, Path) or "/" in name_or_path or name_or_path.endswith(_SUFFIX):
        return Path(name_or_path)
    if name_or_path not in potential_names():
        raise UnknownNameError("potential", name_or_path, potential_names())
    return folder("configs") / "pedestrians" / f"{name_or_path}{_SUFFIX}"


def load_potential(name_or_path: str | Path) -> Potential:
    """Return the potential with a given name (``configs/pedestrians/<name>.safetensors``) or from a file.

    Args:
        name_or_path: a name, or a path (a `Path`, or a string with a folder or the extension .safetensors).

    Raises:
        UnknownNameError: no potential has this name.
        InputError: the file is invalid.
    """
    path = potential_file(name_or_path)
    with reading(path, "a potential"):
        require_file(path)
        return _load_once(path, path.stat().st_mtime_ns)


@functools.lru_cache(maxsize=16)
def _load_once(path: Path, changed: int) -> Potential:
    """Return the potential in a file, which is read again only if it has changed."""
    about, arrays = read_safetensors(path)
    if set(arrays) != {"rate", "offset", "weight"} or any(a.dtype != np.float32 for a in arrays.values()):
        found = ", ".join(f"{name} {a.dtype}" for name, a in sorted(arrays.items()))
        raise InputError(f"{path}: expected float32 arrays offset, rate and weight, got {found}")
    try:
        return Potential(**arrays, about=about)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
