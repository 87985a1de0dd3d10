"""Runs planners from other packages in separate processes, so that their code has no access to the world.

A planner that runs in the same process as the world can change the world, through the stack frames above its own call or by
replacing a function. The check of an entry therefore does not import other packages: the planner is created in a confined process,
and gets observations over a socket.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from agora.benchmark.provenance.inputs import inputs, named_file
from agora.benchmark.provenance.packages import packages
from agora.config import build
from agora.errors import AgoraError, InputError, PlannerError
from agora.interfaces import Label
from agora.planners.contained.child import Child
from agora.planners.contained.confine import lack
from agora.planners.contained.confined import Confined
from agora.planners.presets import planner_of
from agora.registry import KINDS, Named, available, is_own
from agora.wire.question import Hello

DEADLINE, FIRST, MEMORY = 30.0, 600.0, 16.0
"""Maximum response time, s; maximum time of the first response, which includes compilation, s; memory limit, GiB."""

_IMPORTED = 120.0  # s
_MOST = 1 << 20  # maximum size of the claims, bytes


@dataclass(frozen=True)
class Claims:
    """The claims of a planner's code about itself.

    Attributes:
        label: category that the planner claims to belong to.
        packages: versions of the packages of the planner's components (`agora.benchmark.provenance.packages.packages`).
        files: digests of the files that the planner reads (`agora.benchmark.provenance.inputs.inputs`).
    """

    label: Label
    packages: dict[str, str]
    files: dict[str, str]

    @staticmethod
    def of(planner: Named) -> Claims:
        """Return the claims of a planner; for a planner in a separate process, the claims come from that process."""
        if isinstance(planner.part, IsolatedPlanner):
            return planner.part.claims
        return Claims(planner.part.declares.label, packages(planner), inputs(planner))


@dataclass(frozen=True)
class IsolatedPlanner(Confined):
    """A planner from an installed package that runs in a separate process with limits (`agora.planners.contained.confine`).

    Attributes:
        configuration: name and parameters of the planner, as plain data.
        deadline: maximum response time, s; a call that takes longer fails.
        memory: memory limit of the process, GiB.
    """

    configuration: dict[str, Any]
    deadline: float = DEADLINE
    memory: float = MEMORY

    def __post_init__(self) -> None:
        if lacking := lack():
            raise InputError(
                f"planner {self.configuration['name']}: a planner from another package must run in a sandbox, but {lacking}"
            )

    @property
    def claims(self) -> Claims:
        """The claims of the planner's code about itself.

        Raises:
            InputError: the planner cannot be imported, or does not accept its parameters.
        """
        assert self.hello  # the claims follow the handshake
        return self._child.claims

    @cached_property
    def _child(self) -> _Child:
        words = [json.dumps(self.configuration), str(self.deadline), str(self.memory), json.dumps(sys.path)]
        return _Child(self.configuration["name"], "agora.leaderboard._isolated_program", words, readable(self.configuration))


class _Child(Child):
    """A connection to a planner whose process sends its claims after the handshake."""

    claims: Claims

    @property
    def _patiences(self) -> tuple[float, float]:
        return _IMPORTED, FIRST

    def _opened(self) -> Hello:
        said = super()._opened()
        length = int.from_bytes(self._bytes(4, self._begin(_IMPORTED), "claims"), "little")
        if length > _MOST:
            raise PlannerError(f"{self._name}: its declarations have {length} bytes, expected at most {_MOST}")
        try:
            self.claims = build(json.loads(self._bytes(length, self._begin(_IMPORTED), "claims")), Claims, self._name)
        except (ValueError, RecursionError, AgoraError) as error:
            raise PlannerError(f"{self._name}: its process sent invalid declarations: {error}") from error
        return said


def runnable_planner(configuration: Mapping[str, Any], where: str) -> Named:
    """Return the planner with a given configuration. The planner runs in a separate process if it has components from another
    package, because this process does not import other packages.

    Args:
        configuration: name and parameters of the planner, as plain data.
        where: name of the data in messages.

    Raises:
        InputError: the planner is not installed, does not have these parameters, or cannot be confined on this machine.
    """
    if any(_foreign(configuration)):
        return Named(str(configuration["name"]), IsolatedPlanner(dict(configuration)))
    return planner_of(configuration, where)


def addresses(configuration: Any) -> list[str]:
    """Return the addresses that the planners in a configuration connect to."""
    if isinstance(configuration, list):
        return [found for value in configuration for found in addresses(value)]
    if not isinstance(configuration, Mapping):
        return []
    own = [str(configuration.get("address"))] if configuration.get("name") == "remote" else []
    return own + [found for value in configuration.values() for found in addresses(value)]


def readable(configuration: Any) -> set[Path]:
    """Return the files and folders that a planner with a given configuration reads besides Python's path: weights and packages."""
    found = {file for text in _texts(configuration) if (file := named_file(text)) is not None}
    for top in {point for point in _foreign(configuration)}:
        spec = find_spec(top)
        places = [] if spec is None else [*(spec.submodule_search_locations or ()), *filter(None, [spec.origin])]
        found |= {Path(place) for place in places}
    return found


def _foreign(configuration: Any) -> Iterator[str]:
    """Yield the top-level modules of other packages whose components a configuration may name, in a mapping or in a string."""
    named = {text.partition(end)[0] for text in _texts(configuration) for end in (":", "(", "+")}
    for kind in KINDS:
        for name, point in available(kind).items():
            if name in named and not is_own(kind, name):
                yield point.module.partition(".")[0]


def _texts(value: Any) -> Iterator[str]:
    """Yield all strings in plain data, except the names of parameters."""
    if isinstance(value, str):
        yield value
    for item in value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ():
        yield from _texts(item)
