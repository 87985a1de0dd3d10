"""The machine on which results were computed."""

from __future__ import annotations

import platform
import subprocess
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

__all__ = ["Machine"]

_PACKAGES = ("numpy", "numba", "scipy", "pyarrow")


@dataclass(frozen=True)
class Machine:
    """A machine and its software.

    Attributes:
        commit: checked-out commit of Agora; "unknown" if Agora does not run from a clone.
        cpu: model of the CPU.
        system: name and version of the operating system.
        python: name and version of Python.
        packages: versions of the packages on which numerical results depend, by name.
    """

    commit: str
    cpu: str
    system: str
    python: str
    packages: dict[str, str] = field(default_factory=dict)

    @staticmethod
    def here() -> Machine:
        """Return this machine."""
        packages = {name: version(name) for name in _PACKAGES}
        return Machine(_commit(), _cpu(), platform.platform(), platform.python_version(), packages)

    @property
    def software(self) -> dict[str, str]:
        """The versions on which numerical results depend, by name: Python's version without the patch number, and the versions in
        `packages`.
        """
        return {"Python": ".".join(self.python.split(".")[:2]), **self.packages}


def _commit() -> str:
    here = Path(__file__).parent
    try:
        answer = subprocess.run(
            ["git", "-C", str(here), "describe", "--always", "--dirty"], capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return answer.stdout.strip()


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())
