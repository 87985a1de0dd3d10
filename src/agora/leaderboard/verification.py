"""Checks leaderboard entries: replays all recorded commands, and runs some episodes again with the planner.

Every value is compared exactly. The engine replays the commands without the planner, which reveals rows that were edited and
planners that changed the world while they drove. Running episodes again with the planner reveals commands that the planner never
gave. No package other than Agora is imported into the process that simulates the world: planners from other packages run in
separate processes (`agora.leaderboard._isolation`).
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from agora import __version__
from agora.benchmark.conductor import conduct
from agora.benchmark.events import Advanced, GivenUp
from agora.benchmark.job import Job, RunPlan, key_of
from agora.benchmark.provenance.machine import Machine
from agora.benchmark.provenance.packages import OWN
from agora.benchmark.provenance.planner_code import after_draw
from agora.benchmark.provenance.resumption import difference_of
from agora.benchmark.redrive import Drive, redrive, same
from agora.benchmark.request import Options
from agora.benchmark.results import recording_shards, store
from agora.benchmark.results.differences import Difference, differences
from agora.config import dump, plain
from agora.errors import InputError, ResultsError
from agora.files import write_whole
from agora.leaderboard import _rules
from agora.leaderboard._isolation import IsolatedPlanner, addresses
from agora.leaderboard.entry import CHECK, DRIVES, ENTRY, REPLAYS, ROWS, Check, Entry, EntrySuite, Pins, digest_of
from agora.leaderboard.entry_folder import PostedEntry, read_claims, read_entry, read_replays
from agora.registry import own_alone
from agora.seeds import Stream
from agora.tasks.suite import Suite, load_suite, with_seed

__all__ = ["Sample", "check"]

_MOST_DIFFERENCES, _MOST_OF_A_ROW = 100, 10


@dataclass(frozen=True)
class Sample:
    """The random sample of episodes that are run again.

    Attributes:
        episodes: number of episodes; all episodes if the entry has fewer.
        seed: seed with which the sample is drawn; None for an unpredictable seed.
    """

    episodes: int = 10
    seed: int | None = None


def check(
    folder: Path,
    sample: Sample | None = None,
    options: Options | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
    *,
    connect: bool = False,
) -> Check:
    """Check an entry: first its rows against the rules, then its recorded commands, then the planner on a sample of the episodes.

    The check ends at the first step that fails, so the planner drives only if all commands reproduce their rows.

    Args:
        folder: folder of the entry, to which ``check.yaml`` is written.
        sample: sample of episodes to draw.
        options: options of the run.
        progress: called with the number of finished episodes, and the total.
        connect: whether a planner may connect to an address that the entry names.

    Raises:
        InputError: the entry is damaged, or cannot be run on this machine under the original conditions, because the version of
            Agora, of the suite or of a package differs, because a file differs, or because the planner is not installed, cannot be
            confined, or connects to an address. In that case nothing is written.
        ResultsError: ``check.yaml`` cannot be written.
    """
    with own_alone():
        result = _check(folder, sample or Sample(), replace(options or Options(), trajectories="all"), progress, connect)
    try:
        write_whole(folder / CHECK, dump(result))
    except OSError as error:
        raise ResultsError(f"{folder / CHECK}: cannot be written: {error.strerror or error}") from error
    return result


def _check(folder: Path, sample: Sample, options: Options, progress: Callable[[int, int], None], connect: bool) -> Check:
    """Return the result of the check of an entry."""
    suite = _suite_of(read_claims(folder), folder / ENTRY)
    posted = read_entry(folder)
    if not connect and (places := addresses(posted.entry.planner.configuration)):
        raise InputError(
            f"{folder / ENTRY}: planner: this planner is a program at {places[0]}; if you trust it, connect with --connect"
        )
    _check_pins(posted, suite)
    problems = posted.problems()
    problems += [] if problems else _rules.of_starts(posted.rows, suite.start)
    if suite.edition is not None:
        mark = after_draw(suite.edition, {posted.entry.planner.label: posted.planner}).get(posted.entry.planner.label, "")
        problems += [] if mark == posted.entry.after_draw else [_other_mark(posted.entry.after_draw, mark)]
    seed = secrets.randbelow(2**31) if sample.seed is None else sample.seed
    order = Stream(suite.name, seed, "leaderboard").permutation(len(posted.entry.suite.episodes))
    drawn = [posted.entry.suite.episodes[k] for k in order[: sample.episodes]]
    total, found = len(order) + len(drawn), list[Difference]()
    for count, some in () if problems else _driven(posted, suite, options):
        found += some
        progress(count, total)
        if len(found) >= _MOST_DIFFERENCES:
            break
    again = [] if problems or found else drawn
    if again:
        found += _drive_by_planner(posted, suite, again, options, lambda done, _: progress(len(order) + done, total))
    return Check(
        entry=digest_of(folder / ENTRY),
        when=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        agora=__version__,
        machine=Machine.here(),
        seed=seed,
        driven=0 if problems else len(posted.rows),
        episodes=len(again),
        of=len(order),
        problems=tuple(problems[:_MOST_DIFFERENCES]),
        differences=tuple(found[:_MOST_DIFFERENCES]),
    )


def chance_to_miss(altered: int, episodes: int, of: int) -> float:
    """Return the probability (hypergeometric) that a sample of ``episodes`` out of ``of`` episodes contains none of the ``altered``
    ones.
    """
    return math.comb(of - altered, episodes) / math.comb(of, episodes)


def one_cpu_only(entry: Entry, cpu: str) -> bool:
    """Return whether results are guaranteed only on the CPUs on which the rows were computed, and this CPU is a different one.

    Agora's own planners give the same results on every x86-64-v3 CPU; for other planners, this is not known.
    """
    return not set(entry.pins.packages) <= {OWN} and cpu not in {machine.cpu for machine in entry.made_on}


def _other_mark(claimed: str, mark: str) -> str:
    return (
        f"after_draw: the entry says {claimed or 'nothing'!r}, but on this machine the planner is "
        f"{mark or 'as it was at the draw'!r}"
    )


def _suite_of(entry: Entry, place: Path) -> Suite:
    """Return the suite of an entry, after checking that its episodes equal the episodes of the installed suite."""
    if entry.pins.agora != __version__:
        raise InputError(
            f"{place}: pins.agora: the entry was made with Agora {entry.pins.agora}, but the installed version is {__version__}"
        )
    suite = with_seed(load_suite(_name_of(entry.suite.name, place)), entry.suite.seed)
    if (here := EntrySuite.of(suite)) != entry.suite:
        raise InputError(f"{place}: {difference_of(plain(entry.suite), plain(here), 'suite')}")
    return without_effects(suite)


def without_effects(suite: Suite) -> Suite:
    """Return a suite whose episodes are not also run without robots, because entries do not contain the effects of robots on
    people.
    """
    return replace(suite, stages=tuple(replace(stage, counterfactual=False) for stage in suite.stages))


def _check_pins(posted: PostedEntry, suite: Suite) -> None:
    """Make sure that an entry's episodes can be run on this machine under the original conditions. Whether different code of the
    same version of Agora gives the same results can only be found by running the episodes.
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
    """Return pins without the digest of Agora's own code; Agora's version is a separate pin."""
    return replace(pins, packages={name: one for name, one in pins.packages.items() if name != OWN})


def _name_of(name: str, place: Path) -> str:
    """Return the name of a suite, which must not be a path."""
    if "/" in name or Path(name).suffix in (".yaml", ".yml", ".json"):
        raise InputError(f"{place}: suite.name: expected a suite that comes with Agora, got {name!r}")
    return name


def _driven(posted: PostedEntry, suite: Suite, options: Options) -> Iterator[tuple[int, list[Difference]]]:
    """Replay the recorded commands of all episodes, and yield, after each batch of episodes, the number of finished episodes and
    the differences found in the batch.
    """
    rows, replays, done = {row["key"]: row for row in posted.rows}, read_replays(posted), 0
    plan, label = _plan_of(posted, suite, options), posted.entry.planner.label
    for stage, planned in posted.entry.suite.stages.items():
        for first in range(0, planned.episodes, options.batch):
            some, found = tuple(range(first, min(first + options.batch, planned.episodes))), list[Difference]()
            for row, recording in redrive(plan, Job(stage, label, some), posted.drives):
                key = row["key"]
                theirs, told = rows[key], Drive.of(recording)
                found += _first(theirs, {**row, "failure": theirs["failure"] if row["failure"] else ""})
                if part := posted.drives[key].differs(told):
                    counts = (f"given for {len(drive.commands)} calls" for drive in (posted.drives[key], told))
                    found.append(Difference(DRIVES, key, part, *counts))
                if key in replays and not same(replays[key], recording):
                    found.append(Difference(REPLAYS, key, "the recording", "the stored one", "a different one"))
            done += len(some)
            yield done, found


def _plan_of(posted: PostedEntry, suite: Suite, options: Options) -> RunPlan:
    """Return the plan of an entry's run, whose rows contain only Agora's own metrics."""
    label, level = posted.entry.planner.label, posted.entry.planner.pedestrians
    sizes = (options.worlds, options.threads, options.slots)
    return RunPlan(suite, {label: posted.planner}, *sizes, "all", {label: level} if level else {}, own=True)


def _drive_by_planner(
    posted: PostedEntry,
    suite: Suite,
    episodes: Sequence[tuple[str, int]],
    options: Options,
    progress: Callable[[int, int], None],
) -> list[Difference]:
    """Run episodes with the planner, and return the differences in their rows and commands.

    Raises:
        ResultsError: an episode could not be run.
    """
    plan, label, found = _plan_of(posted, suite, options), posted.entry.planner.label, list[Difference]()
    rows, told = _run(plan, label, episodes, options, progress, posted.folder)
    apart = isinstance(plan.planners[label].part, IsolatedPlanner)
    for row in (row for row in posted.rows if (row["stage"], row["episode"]) in set(episodes)):
        key = row["key"]
        ours = rows[key]
        # failures in a separate process have different messages
        words = {"failure": row["failure"]} if apart and row["failure"] and ours["failure"] else {}
        found += _first(row, {**ours, **words})
        if part := posted.drives[key].differs(told[key]):
            found.append(Difference(DRIVES, key, part, "the stored one", "a different one"))
    return found


def _run(
    plan: RunPlan,
    label: str,
    episodes: Sequence[tuple[str, int]],
    options: Options,
    progress: Callable[[int, int], None],
    place: Path,
) -> tuple[dict[str, dict[str, Any]], dict[str, Drive]]:
    """Run episodes again with the planner, and return their rows and commands by key.

    Raises:
        ResultsError: an episode could not be run.
    """
    jobs = [Job(stage.name, label, tuple(k for s, k in episodes if s == stage.name)) for stage in plan.suite.stages]
    options.runs.prepare()
    with TemporaryDirectory() as scratch:
        work, folder = [job for job in jobs if job.episodes], Path(scratch)
        lost = []
        for event in conduct(plan, work, folder, options.runs):
            match event:
                case Advanced(done, _):
                    progress(done, len(episodes))
                case GivenUp(stage, planner, episode, reason):
                    lost.append(f"{key_of(plan.suite, stage, episode, planner, 0)}: {reason}")
        if lost:
            raise ResultsError(f"{place}: an episode could not be run: {'; '.join(lost)}")
        rows = {row["key"]: row for row in store.read_rows(folder / "episodes")}
        paths = sorted((folder / "trajectories").glob("*.parquet"))
        return rows, {key: Drive.of(one) for path in paths for key, one in recording_shards.read_recordings(path).items()}


def _first(theirs: Mapping[str, Any], ours: Mapping[str, Any]) -> Iterable[Difference]:
    """Return the first differences between a row of an entry and the same row recomputed on this machine."""
    return islice(differences(ROWS, theirs, ours), _MOST_OF_A_ROW)
