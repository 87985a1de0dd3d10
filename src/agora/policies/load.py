"""Policies of any kind by name or file; the file's format tells the kind."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from agora.documents import refuse_what_is_no_file
from agora.errors import InputError, reading
from agora.policies.actor import Actor, load_actor
from agora.policies.ga3c import Ga3c, load_ga3c
from agora.policies.policy import Policy, load_policy
from agora.policies.value import ValuePolicy, load_value_policy
from agora.policies.weights import format_of, weights_file

__all__ = ["AnyPolicy", "load_any"]

AnyPolicy = Policy | ValuePolicy | Actor | Ga3c

_LOADERS: dict[str, Callable[[Path], AnyPolicy]] = {
    "agora.actor": load_actor,
    "agora.ga3c": load_ga3c,
    "agora.policy": load_policy,
    "agora.value": load_value_policy,
}


def load_any(name_or_path: str | Path) -> AnyPolicy:
    """Return the policy of a name (``configs/policies/<name>.safetensors``) or of a file, of whatever kind it is.

    Args:
        name_or_path: a name, or a path (a `Path`, or text with a folder or the ending .safetensors).

    Raises:
        UnknownNameError: no such policy.
        InputError: the file is wrong, or no file of a policy.
    """
    path = weights_file(name_or_path)
    with reading(path, "a policy"):
        refuse_what_is_no_file(path)
        kind = format_of(path)
    if kind not in _LOADERS:
        raise InputError(f"{path}: expected a file of {', '.join(_LOADERS)}, got {kind or 'no format'}")
    return _LOADERS[kind](path)
