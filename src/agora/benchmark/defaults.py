"""The defaults of a run's options for requests, forms and the command line, which starts without importing the engine."""

from __future__ import annotations

from typing import Final

WORKERS: Final = 2
"""Worker processes."""

THREADS: Final = 1
"""Threads over worlds, in each worker."""

BATCH: Final = 64
"""Most episodes of a job."""

TRAJECTORIES: Final = "all"
"""Choice of the recordings that are kept."""
