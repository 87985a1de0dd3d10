"""Reads the kept recordings of a run with their maps, and completes rows from them."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from agora.benchmark.results import recording_shards
from agora.benchmark.results.run_folder import RunFolder
from agora.benchmark.results.store import Row
from agora.core.recording import Recording
from agora.errors import AgoraError, InputError
from agora.maps.exact import read_exact
from agora.maps.grid import Map
from agora.metrics.clean import CAUSES, clean_arrival
from agora.registry import load as load_component

__all__ = ["complete_rows", "recordings"]

_LOG = logging.getLogger(__name__)


def recordings(folder: Path, keys: Iterable[str] | None = None) -> dict[str, Recording]:
    """Return the kept recordings by episode key, each with the map that the suite defines for the episode.

    Without ``keys``, all kept recordings are returned. If the suite's worlds are missing on this machine, recordings have no map,
    and a message is logged.

    Raises:
        ResultsError: the folder contains no run.
    """
    run = RunFolder.read(folder)
    if keys is None:
        keys = [row["key"] for shard in run.shards("trajectories", ["key"]) for row in shard.rows]
    wanted = list(keys)
    found: dict[str, Recording] = {}
    for read in run.shards("trajectories", ["key"]) if wanted else ():
        if read.problem:
            _LOG.warning("%s: %s; its episodes cannot be replayed", read.path, read.problem)
        if some := {row["key"] for row in read.rows}.intersection(wanted):
            try:
                found.update({k: r for k, r in recording_shards.read_recordings(read.path).items() if k in some})
            except AgoraError as error:
                _LOG.warning("%s; its episodes cannot be replayed", error)
    kept = {key: found[key] for key in wanted if key in found}
    try:
        if (maps := run.record.maps) is not None:
            return {key: replace(r, map=_kept_map(folder, maps, key)) for key, r in kept.items()}
        suite, places = run.suite(), {key: (key.split("/")[1], int(key.split("/")[2])) for key in kept}
        drawn = {(stage, episode): suite.map(stage, episode) for stage, episode in dict.fromkeys(places.values())}
        return {key: replace(kept[key], map=drawn[place]) for key, place in places.items()}
    except InputError as error:
        _LOG.warning("recordings are shown without their maps: %s", error)
    return kept


def complete_rows(folder: Path, rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Return the rows of a run; if they lack the metrics of clean arrivals, compute these metrics from the recordings.

    The metrics are missing if the run is older than the metrics. If any episode that reached its goal has no recording with a map,
    all rows are returned unchanged, without metrics of clean arrivals.

    Args:
        folder: folder of the run.
        rows: rows read from the run's shards.

    Raises:
        ResultsError: the folder contains no run.
    """
    whole = [dict(row) for row in rows]
    lacking = [row for row in whole if clean_arrival.name not in row]
    arrived = [row["key"] for row in lacking if row["outcome"] == "reached"]
    found = recordings(folder, arrived) if arrived else {}
    if any(key not in found or found[key].map is None for key in arrived):
        return whole
    measures = [clean_arrival, *(load_component("metrics", name) for name in CAUSES)]
    for row in lacking:
        recording = found.get(row["key"])
        row |= {metric.name: 0.0 if recording is None else metric(recording) for metric in measures}
    return whole


def _kept_map(folder: Path, maps: dict[str, str], key: str) -> Map | None:
    """Return the map of an externally run episode, read from the results folder; None if the folder does not contain the map."""
    name = maps.get("/".join(key.split("/")[:3]))
    return None if name is None else read_exact(folder / "maps" / name)
