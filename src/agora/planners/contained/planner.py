"""A planner from a Python file, run in its own process."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

from agora.planners.contained.child import Child
from agora.planners.contained.confine import lack
from agora.planners.contained.confined import Confined
from agora.ranges import Checked, Within

MEMORY = 2.0
"""Default memory limit of the process, GiB."""


@dataclass(frozen=True)
class Contained(Checked, Confined):
    """Drives with the planner class in a Python file, which runs in its own process with restricted rights.

    The process cannot start other processes or threads, open connections, write files, or read files other than Python's and
    Agora's (`agora.planners.contained.confine`). This requires Linux with Landlock and libseccomp.

    Attributes:
        file: path of the file; it must contain exactly one dataclass with ``declares``, and ``plan`` or ``act``.
        values: parameters of the planner in the file, by name.
        deadline: maximum time for an answer, s; a longer call fails. The first call may take 20 s, because it includes compilation.
        memory: memory limit of the process, GiB.
    """

    file: str
    values: dict[str, Any] = field(default_factory=dict)
    deadline: Annotated[float, Within(0.0, 20.0, above=True)] = 5.0
    memory: Annotated[float, Within(1.0, 64.0)] = MEMORY

    def __post_init__(self) -> None:
        super().__post_init__()
        if Path(self.file).suffix != ".py" or not Path(self.file).is_file():
            raise ValueError(f"file: expected a file of Python, whose name ends in .py; got {self.file!r}")
        if lacking := lack():
            raise ValueError(f"file: {lacking}")

    @cached_property
    def _child(self) -> Child:
        file = Path(self.file).absolute()
        words = [str(file), json.dumps(self.values), str(self.deadline), str(self.memory)]
        return Child(file.name, "agora.planners.contained.program", words, [file])
