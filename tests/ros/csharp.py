"""Unity's player in C#, built without Unity by Mono: the sources of the package on the small engine in ``unity/``."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
PACKAGE = HERE.parent.parent / "src" / "agora_simulators" / "unity"


def build(program: Path, *defines: str) -> Path:
    """Compile the player, with no warning; skips the test where Debian's mono-mcs is not installed."""
    if not (shutil.which("mcs") and shutil.which("mono")):
        pytest.skip("no mcs: apt install mono-mcs")
    sources = sorted(map(str, [*PACKAGE.rglob("*.cs"), *(HERE / "unity").rglob("*.cs")]))
    symbols = [f"-define:{symbol}" for symbol in defines]
    subprocess.run(["mcs", "-langversion:7", "-warnaserror", *symbols, f"-out:{program}", *sources], check=True)
    return program
