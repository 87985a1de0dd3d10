"""Agora: a platform to develop, train, simulate and benchmark robot navigation among people.

Most programs need only the names in this module. Each name is imported from its module when it is first used. The page "Python API"
in the manual lists all public names.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agora.benchmark.bench import bench
    from agora.benchmark.request_form import RequestForm
    from agora.benchmark.results.recordings import recordings
    from agora.engine.conditions import Conditions
    from agora.episode import Episodes
    from agora.errors import AgoraError
    from agora.learning.env import AgoraVectorEnv
    from agora.metrics.registered import measure
    from agora.registry import make
    from agora.reporting.report import report
    from agora.tasks.suite import load_suite

__version__ = "0.1.0"
__all__ = [
    "AgoraError",
    "AgoraVectorEnv",
    "Conditions",
    "Episodes",
    "RequestForm",
    "bench",
    "load_suite",
    "make",
    "measure",
    "recordings",
    "report",
]

_HOMES = {
    "AgoraError": "agora.errors",
    "AgoraVectorEnv": "agora.learning.env",
    "Conditions": "agora.engine.conditions",
    "Episodes": "agora.episode",
    "RequestForm": "agora.benchmark.request_form",
    "bench": "agora.benchmark.bench",
    "load_suite": "agora.tasks.suite",
    "make": "agora.registry",
    "measure": "agora.metrics.registered",
    "recordings": "agora.benchmark.results.recordings",
    "report": "agora.reporting.report",
}


def __getattr__(name: str) -> Any:
    """Import one of the names in ``__all__``.

    Raises:
        AttributeError: the name is unknown.
    """
    if name not in _HOMES:
        raise AttributeError(f"module 'agora' has no attribute {name!r}; it has {', '.join(__all__)}")
    value = globals()[name] = getattr(importlib.import_module(_HOMES[name]), name)
    return value


def __dir__() -> list[str]:
    """Return the names in ``__all__`` in addition to the existing ones."""
    return sorted({*globals(), *__all__})
