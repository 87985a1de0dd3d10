"""Suites for tests: a crooked place, the three reacting crowd models, short episodes; and rows as bytes."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from agora.benchmark.results import recording_shards, store
from agora.config import build
from agora.core.recording import Recording
from agora.planners.presets import named_planner
from agora.registry import Named
from agora.tasks.suite import Suite

CROWDS = ("helbing", "pysocial", "orca")
PLANNERS = ("orca", "social_force", "dwa_kinetic:sim_time=0.8,vth_samples=5,sim_granularity=0.1", "pure_pursuit", "go_to_goal")


def write_world(folder: Path) -> Path:
    """A room of 13.6 x 9.2 m with two blocks, its lower-left corner at (-4.3, 2.1)."""
    image = np.full((92, 136), 254, np.uint8)
    image[:2], image[-2:], image[:, :2], image[:, -2:] = 0, 0, 0, 0
    image[30:42, 50:58] = 0
    image[60:70, 90:110] = 0
    (folder / "map").mkdir(parents=True)
    Image.fromarray(image).save(folder / "map" / "map.png")
    (folder / "map" / "map.yaml").write_text(
        "image: map.png\nresolution: 0.1\norigin: [-4.3, 2.1, 0.0]\nnegate: 0\noccupied_thresh: 0.65\nfree_thresh: 0.196\n"
    )
    return folder


def stage(world: Path, crowd: str, episodes: int, timeout: float = 6.0, **more: Any) -> dict[str, Any]:
    """A stage as a suite file writes it: two robots among two to nine pedestrians."""
    return {
        "name": crowd,
        "episodes": episodes,
        "world": {"name": "folder", "path": str(world)},
        "robots": {"name": "random", "distance": 3.0, "count": 2, "goals": 2},
        "obstacles": {"name": "random", "dynamic": [2, 9], "static": [0, 2], "group_size": [1, 2]},
        "crowd": {"model": crowd},
        "robot": ["jackal", "burger"],
        "timeout": timeout,
    } | more


def suite(world: Path, episodes: int, timeout: float = 6.0, crowds: Iterable[str] = CROWDS, **more: Any) -> Suite:
    """A suite of one stage for each crowd model."""
    stages = [stage(world, crowd, episodes, timeout, **more) for crowd in crowds]
    return build({"name": "small", "seed": 3, "stages": stages}, Suite)


def planners(*texts: str) -> dict[str, Named]:
    """Planners by label."""
    return dict(named_planner(text) for text in texts)


def heard(recording: Recording) -> Recording:
    """Return the part of a recording that a bag gives: no planned paths."""
    return dataclasses.replace(recording, planned_path=None)


def fingerprint(recording: Recording) -> bytes:
    """Everything in a recording but wall times, as a digest."""
    digest = hashlib.blake2b()
    for field in dataclasses.fields(recording):
        if field.name not in ("planning_time", "asked_again", "map"):
            value = getattr(recording, field.name)
            digest.update(repr((field.name, value.shape, value.tobytes()) if isinstance(value, np.ndarray) else value).encode())
    return digest.digest()


def results(
    folder: Path,
    scratch: Path,
    of: Callable[[Recording], Recording] = lambda recording: recording,
    without: Collection[str] = (),
) -> tuple[bytes, bytes]:
    """Rows and recordings of a run, each as the bytes of one shard.

    Args:
        folder: folder of the run.
        scratch: folder for the shards.
        of: returns the part of a recording that counts.
        without: columns that do not count.
    """
    rows = sorted(store.read_rows(folder / "episodes"), key=lambda row: row["key"])
    rows = [{name: value for name, value in row.items() if name not in without} for row in rows]
    store.write_rows(scratch / "rows.parquet", rows)
    kept = {}
    for path in sorted((folder / "trajectories").glob("*.parquet")):
        kept.update({key: of(recording) for key, recording in recording_shards.read_recordings(path).items()})
    recording_shards.write_recordings(scratch / "kept.parquet", dict(sorted(kept.items())))
    return (scratch / "rows.parquet").read_bytes(), (scratch / "kept.parquet").read_bytes()


def plane(episodes: int = 6, timeout: float = 1.0, **more: Any) -> Suite:
    """A suite of one robot on a plane with x from -6 to 6 and nobody else."""
    world = {"name": "open", "width": 12.0, "height": 9.0, "x": -6.0, "y": 1.0}
    one = {"name": "plane", "episodes": episodes, "world": world, "robots": {"name": "random", "distance": 2.0}, "timeout": timeout}
    return build({"name": "plain", "seed": 5, "stages": [one | more]}, Suite)
