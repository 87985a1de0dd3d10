"""Golden episodes: every built-in planner among every reacting crowd model.

To write them anew: ``python -m tests.golden.episodes``.
"""

from __future__ import annotations

import hashlib
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.suites import PLANNERS, planners, suite, write_world

from agora.benchmark.bench import run_all
from agora.benchmark.request import Options, Request

FILE = Path(__file__).with_suffix(".json")
SHOWN = ("outcome", "duration", "path_length", "clearing_distance_min", "closest_pedestrian_distance_min", "jerk_average")


def episodes(columns: list[str] | None = None) -> dict[str, Any]:
    """Some columns of each row, by key, and a digest of ``columns``, or of all that every row has: later ones change nothing."""
    with tempfile.TemporaryDirectory() as scratch:
        told = {"source": "truth", "walls": False}  # of everybody, as when they were written down
        small = suite(write_world(Path(scratch) / "room"), episodes=2, timeout=8.0, pedestrians=told)
        rows = run_all(Request(small, planners(*PLANNERS), Path(scratch) / "run", Options(workers=0)))
    columns = columns or sorted(set.intersection(*map(set, rows)))
    shown = {row["key"]: {name: row[name] for name in SHOWN} | {"digest": _digest(row, columns)} for row in rows}
    return {"columns": columns, "rows": shown}


def _digest(row: dict[str, Any], columns: list[str]) -> str:
    return hashlib.blake2b(json.dumps([row[name] for name in columns]).encode(), digest_size=8).hexdigest()


def golden() -> dict[str, Any]:
    """The episodes as they were written down."""
    written: dict[str, Any] = json.loads(FILE.read_text())
    return written


if __name__ == "__main__":
    if "--print" in sys.argv:
        sys.stdout.write(json.dumps(episodes(golden()["columns"])))
    else:
        FILE.write_text(json.dumps(episodes(), indent=1) + "\n")
