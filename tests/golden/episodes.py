"""Golden episodes: some planners among some crowd models, every planner among one, every crowd model around one planner, and
crowded places with groups, itineraries, arrivals and queues, in which people get in each other's way.

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
from agora.benchmark.results.recording_shards import read_recordings
from agora.config import build
from agora.planners.presets import runnable_planners
from agora.registry import available, required
from agora.tasks.suite import Suite

FILE = Path(__file__).with_suffix(".json")
SHOWN = ("outcome", "duration", "path_length", "clearing_distance_min", "closest_pedestrian_distance_min", "jerk_average")
PLACES = {
    "office": ("office", 0.15),
    "ward": ({"name": "hospital_ward", "corridor_width": 2.4}, 0.15),
    "canteen": ("canteen", 0.2),
    "doorway": ({"name": "doorway", "door": 1.2, "doors": 1}, 0.12),
    "corridor": ({"name": "corridor", "corridor_width": 2.2}, 0.3),
    "indoor": ({"name": "rosmap_indoor", "corridor_radius": 1.1}, 0.2),
}
"""Generator and density (people per m2) of the crowded places."""


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
        rows += _rows(_places(), ("pure_pursuit",), Path(scratch) / "places")
        people = _people(Path(scratch) / "places")
    names = list(columns) or sorted(set.intersection(*map(set, rows)))
    shown = {}
    for row in rows:
        shown[row["key"]] = {name: row[name] for name in SHOWN} | {"digest": _digest([row[name] for name in names], 8)}
        if row["key"] in people:
            shown[row["key"]]["people"] = people[row["key"]]
    return {"columns": {name: _digest([row[name] for row in rows], 4) for name in names}, "rows": shown}


def _rows(suite: Suite, names: Iterable[str], folder: Path) -> list[dict[str, Any]]:
    return run_all(Request(suite, planners(*names), folder, Options(workers=0, trajectories="all")))


def _people(folder: Path) -> dict[str, str]:
    """Return a digest of the paths of all people by episode: a row says little about people far from the robot."""
    files = sorted((folder / "trajectories").glob("*.parquet"))
    recordings = {key: one for file in files for key, one in read_recordings(file).items()}
    return {key: hashlib.blake2b(one.pedestrian_position.tobytes(), digest_size=8).hexdigest() for key, one in recordings.items()}


def _places() -> Suite:
    """Crowded places in which people step back, walk around each other, wait for a seat and hold doors."""
    crowd = {
        "unsteady": {},
        "models": [{"model": "anticipation"}, {"model": "anticipation", "share": 0.3, "minds_robots": "never"}],
    }
    stages = [
        {
            "name": name,
            "episodes": 1,
            "world": {"name": "generated", "generator": generator, "count": 1, "seed": 7},
            "robots": {"name": "random", "distance": 6.0, "goals": 6},
            "obstacles": {"name": "itineraries", "density": density},
            "crowd": crowd,
            "robot": "tiago",
            "pedestrians": "tracked",
            "ends": ["out_of_map"],
            "timeout": 60.0,
        }
        for name, (generator, density) in PLACES.items()
    ]
    return build({"name": "places", "seed": 3, "stages": stages}, Suite)


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
