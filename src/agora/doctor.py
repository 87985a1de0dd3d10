"""What a machine has of what Agora can use."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path


def examine() -> Iterator[tuple[str, bool]]:
    """Yield a line for each thing looked at, and whether it is as it should be."""
    yield f"Python {sys.version.split()[0]} (3.11 or newer)", sys.version_info >= (3, 11)
    for package, what in {"numba": "kernels", "pyarrow": "results", "matplotlib": "figures", "av": "video"}.items():
        yield f"{package}: {what}", find_spec(package) is not None
    yield _kernels()
    for package, what in {"gymnasium": "environments", "stable_baselines3": "training", "torch": "training"}.items():
        found = find_spec(package) is not None
        yield f"{package}: {what}{'' if found else ' (optional: pip install agora-nav[learning])'}", True
    yield f"screen for --live: {'yes' if os.environ.get('DISPLAY') else 'no (pictures and video need none)'}", True
    yield f"gcc for make bench: {shutil.which('gcc') or 'no (only the comparison with C needs it)'}", True
    yield f"AGORA_DATA: {os.environ.get('AGORA_DATA') or 'not set (agora data import)'}", True


def _kernels() -> tuple[str, bool]:
    """Whether a kernel compiles and can be kept."""
    import numba
    import numpy as np

    from agora.core.scalar import wrap

    value = float(wrap(np.float32(7.0)))
    place = Path(str(numba.config.CACHE_DIR))
    return f"kernels compile and are kept in {place}", abs(value - (7.0 - 2 * np.pi)) < 1e-5 and place.is_dir()
