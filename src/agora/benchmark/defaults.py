"""Default values of a run's options. They are in a separate module so that the command line can start without importing the
engine.
"""

from __future__ import annotations

from typing import Final

WORKERS: Final = 2
"""Number of worker processes."""

THREADS: Final = 1
"""Number of threads per worker; the worlds are divided among them."""

BATCH: Final = 64
"""Maximum number of episodes per job."""

TRAJECTORIES: Final = "all"
"""Which recordings are kept."""
