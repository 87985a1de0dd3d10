"""Rows of a run beside its plan: missing, damaged, of another run, or without timing or trajectory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from itertools import groupby
from pathlib import Path
from typing import Any

from agora.benchmark import store
from agora.benchmark.store import Keep, Shard
from agora.config import build, load
from agora.documents import read_text
from agora.errors import ResultsError

_MOST_RANGES = 6


@dataclass(frozen=True)
class _Stage:
    name: str


@dataclass(frozen=True)
class _Suite:
    name: str
    stages: tuple[_Stage, ...] = ()


@dataclass(frozen=True)
class _Run:
    """What is read of ``run.yaml``, beside what makes the suite."""

    suite: _Suite
    planners: dict[str, Any] | list[str]
    made_on: dict[str, Any] = field(default_factory=dict)
    maps: dict[str, str] = field(default_factory=dict)
    planned: dict[str, int] = field(default_factory=dict)
    trajectories: Keep = "none"


def _of(kind: type, values: Any) -> Any:
    """Those of some values that a dataclass has fields for."""
    return {f.name: values[f.name] for f in fields(kind) if f.name in values} if isinstance(values, dict) else values


def described(folder: Path) -> dict[str, Any]:
    """The contents of ``run.yaml``.

    Raises:
        ResultsError: the folder holds no run.
        InputError: the file cannot be read, or a part of it that everybody needs is missing or of another type.
    """
    path = folder / "run.yaml"
    if not path.is_file():
        raise ResultsError(f"{folder}: no run.yaml; expected the folder of a run")
    run = dict(load(path, dict))
    suite = _of(_Suite, run.get("suite"))
    if isinstance(suite, dict) and isinstance(suite.get("stages"), list):
        suite["stages"] = [_of(_Stage, stage) for stage in suite["stages"]]
    build({**_of(_Run, run), "suite": suite}, _Run, str(path))
    return run


def interrupted(folder: Path) -> dict[str, str]:
    """Return the episodes of a run that were given up and have no row, with the reason."""
    listed = folder / "interrupted.txt"
    lines = read_text(listed).splitlines() if listed.is_file() else []
    return {key: reason for key, _, reason in (line.partition("\t") for line in lines)}


@dataclass(frozen=True)
class Account:
    """What a run has of what it planned.

    Attributes:
        rows: of the run's own episodes, in the order of the shards.
        planned: episodes of each planner by stage; empty where ``run.yaml`` does not say, as of bags.
        missing: planner, stage and number of each planned episode that has neither a row nor a reason.
        interrupted: why episodes were given up, by key.
        damaged: what is wrong with shards that cannot be read, by path. foreign: rows of another run, by path.
        untimed, unrecorded: keys of rows whose planning times or trajectories should be there and are not.
    """

    rows: Sequence[Mapping[str, Any]]
    planned: Mapping[str, int]
    missing: Sequence[tuple[str, str, int]]
    interrupted: Mapping[str, str]
    damaged: Mapping[Path, str]
    foreign: Mapping[Path, int]
    untimed: frozenset[str]
    unrecorded: frozenset[str]

    def problems(self) -> list[str]:
        """A sentence for each thing that is not as planned, but for interrupted episodes, which are listed with their reasons."""
        each = sum(self.planned.values())
        said = []
        for planner, some in groupby(sorted(self.missing), lambda one: one[0]):
            lost = [(stage, number) for _, stage, number in some]
            said.append(f"{planner}: {len(lost)} of {each} planned episodes have no row: {_places(lost)}")
        said += [f"{_short(path)}: {problem}" for path, problem in self.damaged.items()]
        said += [
            f"{_short(path)}: {count} row{'s are' if count > 1 else ' is'} of another run and left out"
            for path, count in self.foreign.items()
        ]
        if self.untimed:
            said.append(f"{len(self.untimed)} of {len(self.rows)} rows have lost their planning times")
        if self.unrecorded:
            said.append(f"{len(self.unrecorded)} of {len(self.rows)} rows have lost their trajectories and cannot be replayed")
        return said


def _short(path: Path) -> str:
    """A shard's path in its run's folder."""
    return f"{path.parent.name}/{path.name}"


def _places(episodes: Iterable[tuple[str, int]]) -> str:
    """Stages and ranges of numbers in words: ``hall 0, 3 to 7; room 2``."""
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
    """Whether these are the parts of the key of a row."""
    return len(parts) == 5 and parts[2].isdecimal()


def strangers(read: Shard, run: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of a shard that are not of a run: all of one that is marked as another's, else of episodes not planned.

    Args:
        read: the shard. run: the contents of ``run.yaml``.
    """
    if read.run and "id" in run:
        return read.rows if read.run != run["id"] else []
    planned, suite = run.get("planned"), run["suite"]
    if not planned:
        return []
    seeds = {stage["name"]: stage.get("seed") for stage in suite["stages"]}

    def is_own(row: Mapping[str, Any]) -> bool:
        name, stage, number, planner, _ = row["key"].split("/")
        if name != suite["name"] or planner not in run["planners"] or int(number) >= planned.get(stage, 0):
            return False
        return bool(row.get("seed") in (None, suite.get("seed") if seeds.get(stage) is None else seeds[stage]))

    return [row for row in read.rows if not is_own(row)]


def own_shards(folder: Path, part: str, run: Mapping[str, Any], columns: Sequence[str] | None = None) -> Iterator[Shard]:
    """Yield the shards of one part of a run, as `agora.benchmark.store.shards`, without the rows of other runs."""
    for read in store.shards(folder / part, columns):
        strange = {row["key"] for row in strangers(read, run)}
        yield read._replace(rows=[row for row in read.rows if row["key"] not in strange])


def account(folder: Path) -> Account:
    """Compare the rows of a run with what it planned.

    Raises:
        ResultsError: the folder holds no run, or two rows of one episode.
        InputError: ``run.yaml`` is wrong.
    """
    run = described(folder)
    rows: list[dict[str, Any]] = []
    damaged: dict[Path, str] = {}
    foreign: dict[Path, int] = {}
    for read in store.shards(folder / "episodes"):
        strange = {row["key"] for row in strangers(read, run)}
        rows += [row for row in read.rows if row["key"] not in strange]
        if read.problem:
            damaged[read.path] = f"{read.problem}; its rows are left out"
        if strange:
            foreign[read.path] = len(strange)
    store.check_unique(rows, folder / "episodes")
    parts: dict[str, set[str]] = {"timing": set(), "trajectories": set()}
    for part, kept in parts.items():
        for read in own_shards(folder, part, run, ["key"]):
            kept.update(row["key"] for row in read.rows)
            if read.problem:
                damaged[read.path] = read.problem
    planned, stopped = dict(run.get("planned", {})), interrupted(folder)
    keys = {row["key"] for row in rows}
    done = {(row["planner"], row["stage"], row["episode"]) for row in rows}
    done |= {(parts[3], parts[1], int(parts[2])) for parts in (key.split("/") for key in stopped) if _is_key(parts)}
    wanted = [(label, stage, k) for label in run["planners"] for stage, count in planned.items() for k in range(count)]
    keep: Keep = run.get("trajectories", "none")
    return Account(
        rows,
        planned,
        [one for one in wanted if one not in done],
        {key: reason for key, reason in stopped.items() if key not in keys},
        damaged,
        foreign,
        frozenset(keys - parts["timing"]),
        frozenset(row["key"] for row in rows if store.is_kept(row, keep) and row["key"] not in parts["trajectories"]),
    )
