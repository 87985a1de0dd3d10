"""The defaults of a run's options for requests, forms and the command line, which starts without importing the engine."""

from __future__ import annotations

from typing import Final

WORKERS: Final = 2
"""Number of worker processes."""

THREADS: Final = 1
"""Number of threads over worlds, in each worker."""

BATCH: Final = 64
"""Largest number of episodes per job."""

TRAJECTORIES: Final = "all"
"""Choice of the recordings that are kept."""
