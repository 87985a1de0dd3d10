"""Checks entries of the leaderboard: runs some of their episodes again, here, and compares every value exactly."""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from agora import __version__
from agora.benchmark import rules, store, tracks
from agora.benchmark.begun import difference_of
from agora.benchmark.conductor import conduct
from agora.benchmark.entry import (
    CHECK,
    ENTRY,
    REPLAYS,
    Check,
    Difference,
    Entry,
    EntrySuite,
    Pins,
    Posted,
    digest_of,
    read_claims,
    read_entry,
    read_replays,
)
from agora.benchmark.events import Advanced, GivenUp
from agora.benchmark.job import Job, RunPlan, key_of
from agora.benchmark.machine import Machine
from agora.benchmark.packages import OWN
from agora.benchmark.request import Options
from agora.config import dump, plain
from agora.errors import InputError, ResultsError
from agora.files import write_whole
from agora.seeds import Stream
from agora.tasks.suite import Suite, load_suite, with_seed

__all__ = ["Sample", "check"]

_MOST_DIFFERENCES = 100


@dataclass(frozen=True)
class Sample:
    """The draw of the episodes that are run again.

    Attributes:
        episodes: number of episodes; all where there are no more.
        seed: seed of the draw; None for one that nobody can foresee.
    """

    episodes: int = 10
    seed: int | None = None


def check(
    folder: Path,
    sample: Sample | None = None,
    options: Options | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Check:
    """Check an entry's rows by rules; if they keep them, run a sample of the episodes again, and those of the replays.

    Args:
        folder: folder of the entry; ``check.yaml`` is written there.
        sample: draw of the episodes.
        options: options of the run.
        progress: called with the number of finished episodes and of all.

    Raises:
        InputError: the entry is damaged, or cannot be run here as it was made: another version of Agora, of the suite or of a
            package, other files, or a planner that is not installed. Nothing is written.
        ResultsError: ``check.yaml`` cannot be written.
    """
    sample, options = sample or Sample(), replace(options or Options(), trajectories="all")
    suite = _suite_of(read_claims(folder), folder / ENTRY)
    posted = read_entry(folder)
    _check_pins(posted, suite)
    problems = posted.problems()
    problems += [] if problems else rules.of_starts(posted.rows, suite.start)
    seed = secrets.randbelow(2**31) if sample.seed is None else sample.seed
    order = Stream(suite.name, seed, "leaderboard").permutation(len(posted.entry.suite.episodes))
    drawn = [posted.entry.suite.episodes[k] for k in order[: sample.episodes]]
    theirs = {key: tracks.encode_recordings({key: recording}) for key, recording in read_replays(posted).items()}
    played = [(row["stage"], row["episode"]) for row in posted.rows if row["key"] in theirs]
    again = [] if problems else list(dict.fromkeys([*drawn, *(one for one in played if one in set(posted.entry.suite.episodes))]))
    found = list[Difference]()
    if again:
        rows, recordings = _run(posted, suite, again, options, progress)
        found = [one for episode in again for one in _compared(posted, suite, episode, rows)]
        found += [Difference(key, REPLAYS, "another recording", "") for key, data in theirs.items() if recordings.get(key) != data]
    result = Check(
        entry=digest_of(folder / ENTRY),
        when=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        agora=__version__,
        machine=Machine.here(),
        seed=seed,
        episodes=len(drawn) if again else 0,
        of=len(order),
        replays=len(theirs) if again else 0,
        problems=tuple(problems[:_MOST_DIFFERENCES]),
        differences=tuple(found[:_MOST_DIFFERENCES]),
    )
    try:
        write_whole(folder / CHECK, dump(result))
    except OSError as error:
        raise ResultsError(f"{folder / CHECK}: cannot be written: {error.strerror or error}") from error
    return result


def missed(altered: int, episodes: int, of: int) -> float:
    """The chance that none of the altered among ``of`` episodes is in a sample of so many: hypergeometric."""
    return math.comb(of - altered, episodes) / math.comb(of, episodes)


def one_cpu_only(entry: Entry, cpu: str) -> bool:
    """Return whether the results are promised only on the CPUs that the rows were made on, and this CPU is none of these.

    Agora's own planners give the same on every x86-64-v3 CPU; for others nobody knows.
    """
    return not set(entry.pins.packages) <= {OWN} and cpu not in {machine.cpu for machine in entry.made_on}


def _suite_of(entry: Entry, place: Path) -> Suite:
    """The suite of an entry, after it is sure that its episodes are those of the suite here."""
    if entry.pins.agora != __version__:
        raise InputError(f"{place}: pins.agora: the entry is of Agora {entry.pins.agora}, this is {__version__}")
    suite = with_seed(load_suite(_name_of(entry.suite.name, place)), entry.suite.seed)
    if (here := EntrySuite.of(suite)) != entry.suite:
        raise InputError(f"{place}: {difference_of(plain(entry.suite), plain(here), 'suite')}")
    return suite


def _check_pins(posted: Posted, suite: Suite) -> None:
    """Make sure that an entry's episodes can be run here as they were; whether other code of one version of Agora gives the same is
    what running them again shows.
    """
    entry, place = posted.entry, posted.folder / ENTRY
    told = [row["pedestrians"] for row in posted.rows]
    pins = Pins.of(suite, posted.planner, told, {column for row in posted.rows for column in row}, posted.folder)
    differ = [
        difference_of(plain(theirs), plain(ours), f"pins.{part.name}")
        for part in fields(Pins)
        if (theirs := getattr(_of_others(entry.pins), part.name)) != (ours := getattr(_of_others(pins), part.name))
    ]
    if differ:
        raise InputError("\n".join(f"{place}: {words}" for words in differ))


def _of_others(pins: Pins) -> Pins:
    """Pins without the digest of Agora's own code; its version stands beside it."""
    return replace(pins, packages={name: one for name, one in pins.packages.items() if name != OWN})


def _name_of(name: str, place: Path) -> str:
    """The name of a suite, which is no path."""
    if "/" in name or Path(name).suffix:
        raise InputError(f"{place}: suite.name: expected a suite that comes with Agora, got {name!r}")
    return name


def _run(
    posted: Posted, suite: Suite, episodes: Sequence[tuple[str, int]], options: Options, progress: Callable[[int, int], None]
) -> tuple[dict[str, dict[str, Any]], dict[str, bytes]]:
    """Rows by key of episodes that are run again, and their recordings as bytes.

    Raises:
        ResultsError: an episode could not be run.
    """
    label, level = posted.entry.planner.label, posted.entry.planner.pedestrians
    jobs = [Job(stage, label, tuple(k for s, k in episodes if s == stage)) for stage in posted.entry.suite.stages]
    plan = RunPlan(
        suite, {label: posted.planner}, options.worlds, options.threads, options.slots, "all", {label: level} if level else {}
    )
    options.runs.prepare()
    with TemporaryDirectory() as scratch:
        work, folder = [job for job in jobs if job.episodes], Path(scratch)
        lost = []
        for event in conduct(plan, work, folder, options.runs):
            match event:
                case Advanced(done, _):
                    progress(done, len(episodes))
                case GivenUp(stage, planner, episode, reason):
                    lost.append(f"{key_of(suite, stage, episode, planner, 0)}: {reason}")
        if lost:
            raise ResultsError(f"{posted.folder}: an episode could not be run: {'; '.join(lost)}")
        rows = {row["key"]: row for row in store.read_rows(folder / "episodes")}
        kept = {
            k: one
            for path in sorted((folder / "trajectories").glob("*.parquet"))
            for k, one in tracks.read_recordings(path).items()
        }
    return rows, {key: tracks.encode_recordings({key: recording}) for key, recording in kept.items()}


def _compared(
    posted: Posted, suite: Suite, episode: tuple[str, int], rows: Mapping[str, Mapping[str, Any]]
) -> Iterable[Difference]:
    """Yield the differences between the rows of an episode in the entry and here."""
    theirs = {row["key"]: row for row in posted.rows if (row["stage"], row["episode"]) == episode}
    start = key_of(suite, *episode, posted.entry.planner.label, 0).removesuffix("0")
    ours = {key: row for key, row in rows.items() if key.startswith(start)}
    for key in dict.fromkeys([*theirs, *ours]):
        if key not in theirs or key not in ours:
            yield Difference(key, "key", "a row" if key in theirs else "no row", "a row" if key in ours else "no row")
            continue
        for column in dict.fromkeys([*theirs[key], *ours[key]]):
            value, here = theirs[key].get(column), ours[key].get(column)
            if column not in theirs[key] and here is not None:
                yield Difference(key, column, "no such column", repr(here))
            elif column not in ours[key] and value is not None:
                yield Difference(key, column, repr(value), "no such column")
            elif repr(value) != repr(here):  # which tells 0.0 from -0.0
                yield Difference(key, column, repr(value), repr(here))
