"""Compares a run with its planned episodes: finds missing, damaged and foreign rows, and rows without timing or trajectory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from agora.benchmark.results import store
from agora.benchmark.results.rows import UNMEASURED
from agora.benchmark.results.run_folder import RunFolder

_MOST_RANGES = 6


@dataclass(frozen=True)
class RunAudit:
    """The result of comparing the rows of a run with its planned episodes.

    Attributes:
        rows: rows that belong to the run, in the order of the shards.
        planned: planned number of episodes of each planner, by stage; empty if the run's record does not contain these numbers, for
            instance for bags.
        missing: planner, stage and number of each planned episode that has no row and was not given up.
        interrupted: reason why an episode was given up, by key.
        damaged: description of the problem with each shard that cannot be read, by path.
        foreign: number of rows that belong to another run, by path of the shard.
        untimed: keys of rows that should have planning times but do not.
        unrecorded: keys of rows that should have a trajectory but do not.
        unmeasured: number of rows in which a metric failed, by error message.
    """

    rows: Sequence[Mapping[str, Any]]
    planned: Mapping[str, int]
    missing: Sequence[tuple[str, str, int]]
    interrupted: Mapping[str, str]
    damaged: Mapping[Path, str]
    foreign: Mapping[Path, int]
    untimed: frozenset[str]
    unrecorded: frozenset[str]
    unmeasured: Mapping[str, int]

    def problems(self) -> list[str]:
        """Return one sentence per deviation from the plan; interrupted episodes are not included, because they are listed
        separately with their reasons.
        """
        each = sum(self.planned.values())
        said = []
        for planner, some in groupby(sorted(self.missing), lambda one: one[0]):
            lost = [(stage, number) for _, stage, number in some]
            said.append(f"{planner}: {len(lost)} of {each} planned episodes have no row: {_places(lost)}")
        said += [f"{_short(path)}: {problem}" for path, problem in self.damaged.items()]
        said += [
            f"{_short(path)}: {count} row{'s belong' if count > 1 else ' belongs'} to another run and "
            f"{'are' if count > 1 else 'is'} left out"
            for path, count in self.foreign.items()
        ]
        if self.untimed:
            said.append(f"{len(self.untimed)} of {len(self.rows)} rows lack planning times")
        if self.unrecorded:
            said.append(f"{len(self.unrecorded)} of {len(self.rows)} rows lack trajectories and cannot be replayed")
        return said

    def failed_metrics(self) -> list[str]:
        """Return one sentence per error of a metric."""
        return [f"{count} of {len(self.rows)} rows lack a metric: {error}" for error, count in self.unmeasured.items()]


def _short(path: Path) -> str:
    """Return a shard's path relative to the folder of the run."""
    return f"{path.parent.name}/{path.name}"


def _places(episodes: Iterable[tuple[str, int]]) -> str:
    """Return episodes as text, by stage and as ranges of numbers: ``hall 0, 3 to 7; room 2``."""
    words = []
    for stage, some in groupby(episodes, lambda one: one[0]):
        runs: list[list[int]] = []
        for _, number in some:
            if runs and number == runs[-1][-1] + 1:
                runs[-1].append(number)
            else:
                runs.append([number])
        ranges = [str(one[0]) if len(one) == 1 else f"{one[0]} to {one[-1]}" for one in runs]
        more = ["and more"] if len(ranges) > _MOST_RANGES else []
        words.append(f"{stage} {', '.join([*ranges[:_MOST_RANGES], *more])}")
    return "; ".join(words)


def _is_key(parts: Sequence[str]) -> bool:
    """Return whether strings are the parts of a row's key."""
    return len(parts) == 5 and parts[2].isdecimal()


def audit_run(folder: Path) -> RunAudit:
    """Compare the rows of a run with the planned episodes.

    Raises:
        ResultsError: the folder contains no run, or an episode has two rows.
        InputError: the run's record is invalid.
    """
    run = RunFolder.read(folder)
    rows: list[dict[str, Any]] = []
    damaged: dict[Path, str] = {}
    foreign: dict[Path, int] = {}
    for read in store.shards(folder / "episodes"):
        strange = {row["key"] for row in run.strangers(read)}
        rows += [row for row in read.rows if row["key"] not in strange]
        if read.problem:
            damaged[read.path] = f"{read.problem}; its rows are left out"
        if strange:
            foreign[read.path] = len(strange)
    store.check_unique(rows, folder / "episodes")
    parts: dict[str, set[str]] = {"timing": set(), "trajectories": set()}
    for part, kept in parts.items():
        for read in run.shards(part, ["key"]):
            kept.update(row["key"] for row in read.rows)
            if read.problem:
                damaged[read.path] = read.problem
    planned, stopped = dict(run.record.planned or {}), run.interrupted()
    keys = {row["key"] for row in rows}
    done = {(row["planner"], row["stage"], row["episode"]) for row in rows}
    done |= {(parts[3], parts[1], int(parts[2])) for parts in (key.split("/") for key in stopped) if _is_key(parts)}
    wanted = [(label, stage, k) for label in run.record.labels for stage, count in planned.items() for k in range(count)]
    keep = run.record.trajectories or "none"
    return RunAudit(
        rows,
        planned,
        [one for one in wanted if one not in done],
        {key: reason for key, reason in stopped.items() if key not in keys},
        damaged,
        foreign,
        frozenset(keys - parts["timing"]),
        frozenset(row["key"] for row in rows if store.is_kept(row, keep) and row["key"] not in parts["trajectories"]),
        Counter(str(row[UNMEASURED]) for row in rows if row.get(UNMEASURED)),
    )
