"""Checks a run by replaying the recorded commands of its episodes and comparing every row and recording exactly.

The check neither calls nor imports planners. It detects planners that changed the world during an episode, and rows and recordings
that were edited or corrupted.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agora import __version__
from agora.benchmark.job import Job, RunPlan
from agora.benchmark.provenance.inputs import difference, inputs
from agora.benchmark.redrive import Drive, redrive, same
from agora.benchmark.results import recording_shards
from agora.benchmark.results.differences import Difference, differences
from agora.benchmark.results.run_folder import RunFolder
from agora.benchmark.results.selection import RunSelection
from agora.errors import InputError
from agora.registry import Named
from agora.tasks.suite import Suite

_AT_ONCE = 64  # number of episodes that are replayed at a time


@dataclass(frozen=True)
class Driven:
    """The result of replaying the commands of some episodes.

    Attributes:
        rows: number of rows that were compared.
        unrecorded: number of rows without recorded commands; not included in ``rows``.
        differences: values that the replay did not reproduce.
    """

    rows: int
    unrecorded: int
    differences: tuple[Difference, ...]


def check_run(folder: Path, keys: Collection[str] = ()) -> Iterator[Driven]:
    """Replay the recorded commands of a run's episodes, and yield results for a few episodes at a time.

    Args:
        folder: folder of the run.
        keys: keys of the episodes to replay, including the planners; all episodes if empty.

    Raises:
        ResultsError: the folder contains no run, or a recording cannot be read. UnknownNameError: no episode has this key.
        InputError: the run was not made by Agora's own benchmark or was made by another version, or one of the suite's files has
            changed.
    """
    kept = RunSelection.of(folder, keys)
    suite = _suite_of(kept.run)
    places = {part: _places(kept.run, part) for part in ("episodes", "trajectories")}
    groups: dict[tuple[str, str], list[list[dict[str, Any]]]] = defaultdict(list)
    for group in kept.groups:
        groups[group[0]["planner"], group[0]["stage"]].append(group)
    for (planner, stage), some in groups.items():
        for first in range(0, len(some), _AT_ONCE):
            rows = {row["key"]: row for group in some[first : first + _AT_ONCE] for row in group}
            yield _driven(kept.run, suite, Job(stage, planner, ()), rows, places)


def _suite_of(run: RunFolder) -> Suite:
    """Return the suite of a run; raise an error if the run cannot be replayed on this machine."""
    record = run.record
    if not record.planned or record.version is None:
        raise InputError(f"{run.path}: was not run by Agora's own benchmark, so its commands cannot be executed again")
    if record.version != __version__:
        raise InputError(f"{run.path}: the run was made with Agora {record.version}, but the installed version is {__version__}")
    suite = run.suite()
    now = inputs(suite)
    if changed := difference({name: (record.inputs or {}).get(name, "") for name in now}, now, "since the run; put the file back"):
        raise InputError(f"{run.path}: {changed}")
    return suite


def _places(run: RunFolder, part: str) -> dict[str, Path]:
    """Return the path of the shard that contains each key in one part of the run."""
    return {row["key"]: shard.path for shard in run.shards(part, ["key"]) for row in shard.rows}


def _driven(
    run: RunFolder, suite: Suite, job: Job, rows: Mapping[str, Mapping[str, Any]], places: Mapping[str, Mapping[str, Path]]
) -> Driven:
    """Replay the episodes of the given rows, and return the result."""
    files = {path for key in rows if (path := places["trajectories"].get(key)) is not None}
    recordings = {key: one for path in files for key, one in recording_shards.read_recordings(path).items() if key in rows}
    lost = {rows[key]["episode"] for key in rows if key not in recordings}
    whole = tuple(sorted({row["episode"] for row in rows.values()} - lost))
    level = (run.record.pedestrians or {}).get(job.planner)
    nobody = Named("nobody", None)
    plan = RunPlan(suite, {job.planner: nobody}, pedestrians={job.planner: level} if level else {})
    found, count = list[Difference](), 0
    if whole:
        again = redrive(plan, Job(job.stage, job.planner, whole), {key: Drive.of(one) for key, one in recordings.items()})
        for row, recording in again:
            count += 1
            key = row["key"]
            files_of = {part: f"{part}/{some[key].name}" for part, some in places.items() if key in some}
            # no planner is called, so the planner's failure message is not reproduced
            failure = {"failure": rows[key]["failure"]} if row["failure"] and rows[key]["failure"] else {}
            found += differences(files_of["episodes"], rows[key], {**row, **failure})
            if not same(recordings[key], recording):
                found.append(Difference(files_of["trajectories"], key, "the recording", "the stored one", "a different one"))
    return Driven(count, len(rows) - count, tuple(found))
