"""Golden episodes: some planners among some crowd models, every planner among one, and every crowd model around one planner.

To write them anew: ``python -m tests.golden.episodes``.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.suites import PLANNERS, planners, suite, write_world

from agora.benchmark.bench import run_all
from agora.benchmark.request import Options, Request
from agora.planners.presets import runnable_planners
from agora.registry import available, required
from agora.tasks.suite import Suite

FILE = Path(__file__).with_suffix(".json")
SHOWN = ("outcome", "duration", "path_length", "clearing_distance_min", "closest_pedestrian_distance_min", "jerk_average")


def episodes(columns: Iterable[str] = ()) -> dict[str, Any]:
    """Return some columns of each row by key, with digests of each row and of each column.

    Only ``columns`` enter the digests, or the columns that all rows have: columns that are added later change nothing.
    """
    with tempfile.TemporaryDirectory() as scratch:
        world = write_world(Path(scratch) / "room")
        told = {"source": "truth", "walls": False}  # of everybody, as when they were written down
        rows = _rows(suite(world, episodes=2, timeout=8.0, pedestrians=told), PLANNERS, Path(scratch) / "some")
        rows += _rows(
            _named("planners", suite(world, 1, crowds=("anticipation",))), runnable_planners()[0], Path(scratch) / "planners"
        )
        rows += _rows(_named("crowds", suite(world, 1, crowds=_crowds())), ("pure_pursuit",), Path(scratch) / "crowds")
    names = list(columns) or sorted(set.intersection(*map(set, rows)))
    shown = {}
    for row in rows:
        shown[row["key"]] = {name: row[name] for name in SHOWN} | {"digest": _digest([row[name] for name in names], 8)}
    return {"columns": {name: _digest([row[name] for row in rows], 4) for name in names}, "rows": shown}


def _rows(suite: Suite, names: Iterable[str], folder: Path) -> list[dict[str, Any]]:
    return run_all(Request(suite, planners(*names), folder, Options(workers=0)))


def _named(name: str, suite: Suite) -> Suite:
    return dataclasses.replace(suite, name=name)


def _crowds() -> list[str]:
    """Every crowd model that needs no parameters."""
    return [name for name in available("crowd_models") if not required("crowd_models", name)]


def _digest(values: list[Any], size: int) -> str:
    return hashlib.blake2b(json.dumps(values).encode(), digest_size=size).hexdigest()


def golden() -> dict[str, Any]:
    """The episodes as they were written down."""
    written: dict[str, Any] = json.loads(FILE.read_text())
    return written


if __name__ == "__main__":
    if "--print" in sys.argv:
        sys.stdout.write(json.dumps(episodes(golden()["columns"])))
    else:
        FILE.write_text(json.dumps(episodes(), indent=1) + "\n")
