"""Creates leaderboard entries from a finished run."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from agora import __version__
from agora.benchmark.provenance.inputs import difference, inputs, named_file
from agora.benchmark.provenance.packages import packages
from agora.benchmark.provenance.resumption import code_change, difference_of
from agora.benchmark.redrive import Drive, write_drives
from agora.benchmark.results import recording_shards, store
from agora.benchmark.results.audit import audit_run
from agora.benchmark.results.recordings import recordings
from agora.benchmark.results.rows import UNMEASURED
from agora.benchmark.results.run_folder import RunFolder
from agora.benchmark.results.store import Row
from agora.config import dump, plain
from agora.errors import InputError, ResultsError, UnknownNameError
from agora.files import write_whole
from agora.leaderboard.entry import (
    DRIVES,
    ENTRY,
    LARGEST_FILE,
    REPLAYS,
    ROWS,
    TIMING,
    WEIGHTS,
    Entry,
    EntryPlanner,
    EntryResults,
    EntrySuite,
    Pins,
    digest_of,
    locate_weights,
)
from agora.metrics.registered import metrics
from agora.planners.presets import planner_of
from agora.reporting.clean_arrivals import without_delays
from agora.reporting.failures import choose
from agora.tasks.suite import Suite, load_suite, suite_names, with_seed

__all__ = ["Words", "submit"]

_ELSEWHERE = "was not run by Agora's own benchmark, so its episodes cannot be run again"


@dataclass(frozen=True)
class Words:
    """The name, author and description of an entry on the page.

    Attributes:
        name: name of the entry; if empty, the planner's label.
        author: author of the entry; any text.
        description: description of the entry; any text.
    """

    name: str = ""
    author: str = ""
    description: str = ""


def submit(
    results: Path, folder: Path, planners: Sequence[str] = (), words: Words | None = None, *, replays: int = 2
) -> list[Path]:
    """Create an entry ``folder/SUITE/NAME`` for each planner of a run, and return the folders.

    Entries from a ``--counterfactual`` run omit the effects of robots on people, so they look like entries from an ordinary run.
    Metrics from other packages are also omitted.

    Args:
        results: folder of the run.
        folder: folder of the leaderboard.
        planners: labels of the planners to submit; all planners if empty.
        words: name, author and description on the page.
        replays: maximum number of recordings per entry, starting with one recording per outcome.

    Raises:
        ResultsError: the folder contains no run, the run is not complete, or an entry already exists or cannot be written.
        InputError: the run's suite is not identical to a suite that comes with this version of Agora, or no planner has a given
            label.
    """
    words, run = words or Words(), RunFolder.read(results)
    suite, configurations = _suite_of(run), _configurations(run)
    labels = _chosen(configurations, planners)
    if words.name and len(labels) > 1:
        raise InputError(
            f"got one name for {len(labels)} planners ({', '.join(labels)}); choose one of them, or leave out the name"
        )
    every = {label: planner_of(values, f"{results}: planners") for label, values in configurations.items()}
    if changed := difference(
        run.record.inputs or {}, inputs(suite, every), "since the run; put the file back, or run the suite again"
    ):
        raise InputError(f"{results}: {changed}")
    if changed := code_change(results, run.record.packages or {}, packages(suite, every, metrics())):
        raise InputError(f"{results}: {changed} since the run; install that version, or run the suite again")
    found = audit_run(results)
    if lost := [f"{key}: {reason}" for key, reason in found.interrupted.items()] + found.problems():
        raise ResultsError(f"{results}: the run is incomplete, so it cannot become an entry: {'; '.join(lost)}")
    places = {label: folder / suite.name / _slug(words.name or label) for label in labels}
    for place in places.values():
        if os.path.lexists(place):
            raise ResultsError(f"{place}: already exists; move it away, or choose another name")
    stages = list(run.record.planned or {})
    effects = {metric.name for metric in metrics() if metric.group == "effect"}
    others = {UNMEASURED} | {metric.name for metric in metrics()} - {metric.name for metric in metrics(own=True)}
    for label, place in places.items():
        every_row = [row for row in found.rows if row["planner"] == label]
        mine = [{k: None if k in effects else v for k, v in without_delays(row).items() if k not in others} for row in every_row]
        rows = sorted(mine, key=lambda r: (stages.index(str(r["stage"])), r["episode"]))
        named = Words(words.name or label, words.author, words.description)
        _write(_Made(run, suite, label, configurations[label], rows), place, named, replays)
    return list(places.values())


@dataclass(frozen=True)
class _Made:
    """The parts of an entry."""

    run: RunFolder
    suite: Suite
    label: str
    configuration: Mapping[str, Any]
    rows: Sequence[Row]


def _suite_of(run: RunFolder) -> Suite:
    """Return the suite of a run, which must be identical to one that comes with this version of Agora, except for the seed."""
    results, record, name = run.path, run.record, run.record.outline.name
    if not record.planned or record.version is None or record.made_on is None:
        raise InputError(f"{results}: {_ELSEWHERE}")
    if record.version != __version__:
        raise InputError(
            f"{results}: the run was made with Agora {record.version}, but the installed version is {__version__}; run the suite "
            "again"
        )
    if name not in suite_names():
        raise InputError(
            f"{results}: suite {name!r} does not come with Agora; a leaderboard only compares on suites that come with Agora"
        )
    suite, here = run.suite(), load_suite(name)
    if suite.version != here.version:
        raise InputError(
            f"{results}: the run used version {suite.version} of suite {name!r}, but the installed version is {here.version}; "
            "run it again"
        )
    if all(stage.counterfactual for stage in suite.stages):  # --counterfactual does not change how planners drive
        asked = {stage.name: stage.counterfactual for stage in here.stages}
        suite = replace(suite, stages=tuple(replace(stage, counterfactual=asked.get(stage.name, True)) for stage in suite.stages))
    if (now := plain(with_seed(here, suite.seed))) != plain(suite):
        raise InputError(f"{results}: {difference_of(plain(suite), now, 'suite')}; expected suite {name!r} as it comes with Agora")
    return suite


def _configurations(run: RunFolder) -> Mapping[str, Any]:
    """Return the planners of a run with their parameters, by label."""
    if not isinstance(run.record.planners, dict):
        raise InputError(f"{run.path}: {_ELSEWHERE}")
    return run.record.planners


def _chosen(configurations: Mapping[str, Any], planners: Sequence[str]) -> list[str]:
    """Return the requested labels."""
    for label in planners:
        if label not in configurations:
            raise UnknownNameError("planner of the run", label, configurations)
    return list(dict.fromkeys(planners)) or list(configurations)


def _slug(name: str) -> str:
    """Return a folder name derived from an entry's name."""
    return re.sub(r"[^\w.+-]+", "_", name).strip("._")[:80] or "entry"


def _write(made: _Made, place: Path, words: Words, replays: int) -> None:
    """Write an entry under a temporary name, and rename it when it is complete."""
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=f".{place.name}.", dir=place.parent) as scratch:
            whole = Path(scratch) / place.name
            whole.mkdir()
            _fill(made, whole, words, replays)
            whole.rename(place)
    except OSError as error:
        raise ResultsError(f"{place}: cannot be written: {error.strerror or error}") from error


def _fill(made: _Made, folder: Path, words: Words, replays: int) -> None:
    """Write the files of an entry into its folder, ``entry.yaml`` last."""
    store.write_rows(folder / ROWS, made.rows)
    store.write_rows(folder / TIMING, _timing(made))
    recorded = recordings(made.run.path, [row["key"] for row in made.rows])
    if lost := [row["key"] for row in made.rows if row["key"] not in recorded]:
        raise InputError(
            f"{made.run.path}: no recording of {lost[0]!r} was kept; an entry needs the commands of all episodes "
            "(--trajectories all)"
        )
    write_drives(folder / DRIVES, {row["key"]: Drive.of(recorded[row["key"]]) for row in made.rows})
    played = {key: recorded[key] for key in choose(made.rows, replays)}
    if played:
        recording_shards.write_recordings(
            folder / REPLAYS, {k: replace(one, undisturbed=None, sensors={}) for k, one in played.items()}
        )
    configuration = carry(made.configuration, folder)
    planner = planner_of(locate_weights(configuration, folder), "planner")
    told = [row["pedestrians"] for row in made.rows]
    columns = {column for row in made.rows for column in row}
    record = made.run.record
    machines = [one for one in (record.made_on, *(record.resumed_on or ())) if one is not None]
    entry = Entry(
        name=words.name,
        suite=EntrySuite.of(made.suite),
        planner=EntryPlanner(made.label, configuration, (record.pedestrians or {}).get(made.label)),
        pins=Pins.of(made.suite, planner, told, columns, folder),
        made_on=tuple(one for k, one in enumerate(machines) if one not in machines[:k]),
        results=EntryResults.of(made.rows),
        files={path.relative_to(folder).as_posix(): digest_of(path) for path in sorted(folder.rglob("*")) if path.is_file()},
        author=words.author,
        description=words.description,
        after_draw=(record.after_draw or {}).get(made.label, ""),
    )
    write_whole(folder / ENTRY, dump(entry))


def _timing(made: _Made) -> list[dict[str, Any]]:
    """Return the planning times of an entry's rows, without the times of individual calls."""
    keys = {row["key"] for row in made.rows}
    every = [row for read in made.run.shards("timing") for row in read.rows if row["key"] in keys]
    return sorted(
        ({name: value for name, value in row.items() if name != store.CALLS} for row in every), key=lambda row: row["key"]
    )


def carry(values: Any, folder: Path) -> Any:
    """Return a configuration that others can use; the files that it names (`named_file`) are copied to the entry's ``weights/``.

    Raises:
        InputError: a file is too large.
    """
    if isinstance(values, Mapping):
        return {key: carry(value, folder) for key, value in values.items()}
    if isinstance(values, list):
        return [carry(value, folder) for value in values]
    if not isinstance(values, str) or (source := named_file(values)) is None:
        return values
    place = folder / WEIGHTS / source.name
    if source.stat().st_size > LARGEST_FILE:
        raise InputError(
            f"{source}: is larger than {LARGEST_FILE // 2**20} MiB, which is too large for an entry; ship it with the "
            "planner's package"
        )
    place.parent.mkdir(exist_ok=True)
    while place.exists() and place.read_bytes() != source.read_bytes():
        place = place.with_name(f"_{place.name}")
    shutil.copyfile(source, place)
    return place.relative_to(folder).as_posix()
