"""Results of episodes that were played elsewhere, in the format of a benchmark run: rows, recordings and their maps."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from agora import __version__
from agora.benchmark import store, tracks
from agora.benchmark.bench import alone, check_space, surroundings
from agora.benchmark.job import metrics
from agora.config import dump, plain
from agora.datasets.played import Played, PlayedRobot
from agora.errors import InputError, ResultsError
from agora.files import write_whole
from agora.interfaces import Metric
from agora.maps.exact import write_exact
from agora.maps.grid import Map
from agora.metrics.efficiency import TIMING
from agora.metrics.notes import main_reason

_LOG = logging.getLogger(__name__)


def row_of(played: Played, number: int, measures: Iterable[Metric]) -> dict[str, Any]:
    """The row of one robot of an episode, as `agora.benchmark.job.row_of` makes it; None for what nobody recorded."""
    robot = played.robots[number]
    recording = robot.recording
    row: dict[str, Any] = {
        "suite": played.suite,
        "stage": played.stage,
        "episode": played.episode,
        "seed": played.seed,
        "planner": robot.planner,
        "robot": number,
        "model": robot.model,
        **({} if played.conditions is None else {"pedestrians": played.conditions.perception.source}),
        "outcome": "unknown" if "outcome" in robot.missing else recording.outcome.label,
        "duration": float(recording.time[-1]),
        "clipped": None if "clipped" in robot.missing else recording.clipped,
        "failure": recording.failure,
        **({} if recording.reason is None else {"reason": main_reason(recording)}),
    }
    return {"key": store.episode_key(row)} | row | {m.name: robot.measure(m) for m in measures}


def write_played(folder: Path, episodes: Sequence[Played]) -> list[dict[str, Any]]:
    """Write the results of episodes, one shard each, and return their rows by key.

    Of several that are one episode under one planner the last that ended counts; what has no end is listed as interrupted.

    Args:
        folder: of the results, made here; it must hold no run.
        episodes: at least one.

    Raises:
        InputError: there is no episode, or they are of several suites. ResultsError: the folder cannot be used.
    """
    suites = sorted({played.suite for played in episodes})
    if len(suites) != 1:
        raise InputError(f"expected episodes of one suite, got {', '.join(suites) or 'none'}; choose them one suite at a time")
    check_space(folder, len(episodes))
    with alone(folder):
        if (folder / "run.yaml").exists() or any((folder / "episodes").glob("*.parquet")):
            raise ResultsError(f"{folder}: holds a run already; choose another folder")
        ended = _last_of_each([played for played in episodes if not played.interrupted])
        measures = metrics()
        rows = [row for played in ended for row in _write_shard(folder, played, measures)]
        try:
            maps = _write_maps(folder, ended)
            write_whole(folder / "run.yaml", dump(_described(suites[0], ended, maps)))
            write_whole(folder / "interrupted.txt", "".join(_interrupted(episodes, ended)))
        except OSError as error:
            raise ResultsError(f"{folder}: cannot be written: {error.strerror or error}") from error
    return sorted(rows, key=lambda row: str(row["key"]))


def _last_of_each(episodes: Iterable[Played]) -> list[Played]:
    """One of each episode and planners."""
    last: dict[tuple[str, ...], Played] = {}
    for played in episodes:
        key = (played.entry, *(robot.planner for robot in played.robots))
        if key in last:
            _LOG.warning("%s and %s hold the same episode %s; the second counts", last[key].source, played.source, played.entry)
        last[key] = played
    return [last[key] for key in sorted(last)]


def _keys(played: Played) -> list[str]:
    return [str(row_of(played, number, ())["key"]) for number in range(len(played.robots))]


def _write_shard(folder: Path, played: Played, measures: Sequence[Metric]) -> list[dict[str, Any]]:
    """Write the rows and recordings of an episode."""
    lasting, fleeting = [m for m in measures if m.name not in TIMING], [m for m in measures if m.name in TIMING]
    rows = [row_of(played, number, lasting) for number in range(len(played.robots))]
    timing = [
        {name: row[name] for name in store.IDENTITY}
        | {m.name: robot.measure(m) for m in fleeting}
        | {store.CALLS: robot.recording.planning_time}
        for row, robot in zip(rows, played.robots, strict=True)
    ]
    name = hashlib.blake2b("\n".join(str(row["key"]) for row in rows).encode(), digest_size=8).hexdigest()
    tracks.write_recordings(
        folder / "trajectories" / f"{name}.parquet",
        {str(row["key"]): robot.recording for row, robot in zip(rows, played.robots, strict=True)},
    )
    store.write_rows(folder / "timing" / f"{name}.parquet", timing)
    store.write_rows(folder / "episodes" / f"{name}.parquet", rows)
    return rows


def _write_maps(folder: Path, episodes: Iterable[Played]) -> dict[str, str]:
    """Write every different map once, and return the name of its file by episode."""
    (folder / "maps").mkdir(exist_ok=True)
    names: dict[str, str] = {}
    for played in episodes:
        place = _map_of(played.robots)
        if place is None:
            continue
        names[played.entry] = f"{_digest(place)}.npz"
        if not (folder / "maps" / names[played.entry]).exists():
            write_exact(place, folder / "maps" / names[played.entry])
    return names


def _map_of(robots: Sequence[PlayedRobot]) -> Map | None:
    return next((robot.recording.map for robot in robots if robot.recording.map is not None), None)


def _digest(place: Map) -> str:
    frame = (place.name, place.resolution, place.origin, place.offset, place.shape)
    digest = hashlib.blake2b(repr(frame).encode(), digest_size=8)
    for array in (place.occupied, place.unknown, place.segments, place.discs, *place.polygons):
        digest.update(b"" if array is None else array.tobytes())
    return digest.hexdigest()


def _described(suite: str, episodes: Sequence[Played], maps: dict[str, str]) -> dict[str, Any]:
    """The contents of ``run.yaml``: as far as the episodes say what decided them."""
    stages = {played.stage: played.conditions for played in episodes}
    seeds = sorted({played.seed for played in episodes})
    return {
        "suite": {"name": suite, "seed": seeds[0] if seeds else 0, "stages": [plain(s) or {"name": n} for n, s in stages.items()]},
        "planners": {robot.planner: "played elsewhere" for played in episodes for robot in played.robots},
        "version": __version__,
        "made_on": surroundings(),
        "sources": [str(played.source) for played in episodes],
        "notes": sorted({note for played in episodes for note in played.notes}),
        "maps": maps,
    }


def _interrupted(episodes: Iterable[Played], ended: Sequence[Played]) -> Iterable[str]:
    """Lines about the episodes that never ended, in no other file either."""
    done = {key for played in ended for key in _keys(played)}
    for played in episodes:
        for key in _keys(played) if played.interrupted else []:
            if key not in done:
                yield f"{key}\t{played.interrupted} ({played.source})\n"
