"""Writes the results of externally run episodes in the format of a benchmark run: rows, recordings and maps."""

from __future__ import annotations

import hashlib
import io
import logging
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from agora import __version__
from agora.benchmark.provenance.machine import Machine
from agora.benchmark.provenance.resumption import exclusive_access
from agora.benchmark.results import store
from agora.benchmark.results.open_run import check_space
from agora.benchmark.results.rows import EndedEpisode, ShardRows
from agora.benchmark.results.run_folder import RunFolder
from agora.benchmark.results.run_record import RunRecord
from agora.config import plain
from agora.datasets.played import PlayedEpisode, PlayedRobot
from agora.errors import InputError, ResultsError
from agora.files import write_whole
from agora.interfaces import Metric
from agora.maps.exact import write_exact
from agora.maps.grid import Map
from agora.metrics.registered import metrics

_LOG = logging.getLogger(__name__)


def write_played(folder: Path, episodes: Sequence[PlayedEpisode]) -> list[dict[str, Any]]:
    """Write the results of episodes, one shard per episode, and return their rows by key.

    If an episode was run several times with the same planner, the last complete attempt counts. Episodes that did not end are
    listed as interrupted.

    Args:
        folder: folder of the results, created by this function; it must not contain a run, but may contain results of the same
            episodes left by a killed process.
        episodes: at least one episode.

    Raises:
        InputError: there is no episode, or the episodes belong to several suites. ResultsError: the folder cannot be used.
    """
    suites = sorted({played.suite for played in episodes})
    if len(suites) != 1:
        raise InputError(
            f"expected episodes of one suite, got {', '.join(suites) or 'none'}; choose episodes of one suite at a time"
        )
    check_space(folder, len(episodes))
    with exclusive_access(folder):
        ended = {_shard_of(played): played for played in _last_of_each([one for one in episodes if not one.interrupted])}
        others = {path.stem for path in (folder / "episodes").glob("*.parquet")} - set(ended)
        if RunFolder.is_at(folder) or others:
            raise ResultsError(f"{folder}: already contains a run; choose another folder")
        for part in folder.rglob(".*.part"):
            part.unlink()
        measures = metrics()
        rows = [row for name, played in ended.items() for row in _write_shard(folder, name, played, measures)]
        try:
            maps = _write_maps(folder, ended.values())
            run = RunFolder(folder, _record_of(suites[0], list(ended.values()), maps))
            run.write_interrupted(dict(_interruptions(episodes, list(ended.values()))))
            run.record.write(folder)  # written last; a folder without a record was left by a killed process and is rewritten
        except OSError as error:
            raise ResultsError(f"{folder}: cannot be written: {error.strerror or error}") from error
    return sorted(rows, key=lambda row: str(row["key"]))


def _last_of_each(episodes: Iterable[PlayedEpisode]) -> list[PlayedEpisode]:
    """Return one attempt per episode and set of planners."""
    last: dict[tuple[str, ...], PlayedEpisode] = {}
    for played in episodes:
        key = (played.entry, *(robot.planner for robot in played.robots))
        if key in last:
            _LOG.warning("%s and %s contain the same episode %s; the second is used", last[key].source, played.source, played.entry)
        last[key] = played
    return [last[key] for key in sorted(last)]


def _shard_of(played: PlayedEpisode) -> str:
    """Return the name of the shard of an episode."""
    return hashlib.blake2b("\n".join(EndedEpisode.of(played).keys).encode(), digest_size=8).hexdigest()


def _write_shard(folder: Path, name: str, played: PlayedEpisode, measures: Sequence[Metric]) -> list[dict[str, Any]]:
    """Write the rows and recordings of an episode, and return the rows."""
    rows = ShardRows(measures, "all")
    rows.add(EndedEpisode.of(played))
    store.keep(folder, name, rows.files())
    return rows.rows


def _write_maps(folder: Path, episodes: Iterable[PlayedEpisode]) -> dict[str, str]:
    """Write each distinct map once, and return the names of the map files by episode."""
    (folder / "maps").mkdir(exist_ok=True)
    names, written = dict[str, str](), dict[str, Map]()
    for played in episodes:
        place = _map_of(played.robots)
        if place is None:
            continue
        names[played.entry] = f"{_digest(place)}.npz"
        written.setdefault(names[played.entry], place)
    for name, place in written.items():
        packed = io.BytesIO()
        write_exact(place, packed)
        write_whole(folder / "maps" / name, packed.getvalue())
    return names


def _map_of(robots: Sequence[PlayedRobot]) -> Map | None:
    return next((robot.recording.map for robot in robots if robot.recording.map is not None), None)


def _digest(place: Map) -> str:
    frame = (place.name, place.resolution, place.origin, place.offset, place.shape)
    digest = hashlib.blake2b(repr(frame).encode(), digest_size=8)
    for array in (place.occupied, place.unknown, place.segments, place.discs, *place.polygons):
        digest.update(b"" if array is None else array.tobytes())
    return digest.hexdigest()


def _record_of(suite: str, episodes: Sequence[PlayedEpisode], maps: dict[str, str]) -> RunRecord:
    """Return the record of the run, filled from the information in the episodes."""
    stages = {played.stage: played.conditions for played in episodes}
    seeds = sorted({played.seed for played in episodes})
    return RunRecord(
        suite={"name": suite, "seed": seeds[0] if seeds else 0, "stages": [plain(s) or {"name": n} for n, s in stages.items()]},
        planners={robot.planner: "played elsewhere" for played in episodes for robot in played.robots},
        version=__version__,
        made_on=Machine.here(),
        sources=tuple(str(played.source) for played in episodes),
        notes=tuple(sorted({note for played in episodes for note in played.notes})),
        maps=maps,
    )


def _interruptions(episodes: Iterable[PlayedEpisode], ended: Sequence[PlayedEpisode]) -> Iterator[tuple[str, str]]:
    """Yield the key of each episode that did not end in any file, and the reason."""
    done = {key for played in ended for key in EndedEpisode.of(played).keys}
    for played in episodes:
        for key in EndedEpisode.of(played).keys if played.interrupted else []:
            if key not in done:
                yield key, f"{played.interrupted} ({played.source})"
