"""Merges several runs into one that contains the rows of all runs, with notes on what is the same and what differs.

An episode is the same in two runs if both have the same suite name and version, stage, seed, digests of the stage's files, packages
with their code, and version of Agora. If one of these differs, the run's name is appended to the stage name of the later run, so
that its episodes are not paired. The level of perception is a property of the planner, so episodes at different levels are the
same. Runs that use the same version of Agora with different code, for instance before and after a change to a planner, are paired,
and a note names the files that differ.

If a run contains copies of files (`ASKED`), the paths of the copies are replaced by the original paths.

A planner is the same in two runs if its parameters, files, packages, level of perception and Agora's code are the same, if the
common stages are the same except for the seed, and if the rows of the common episodes are the same. The planner is then listed
once, with the episodes of both runs. Otherwise, the run's name is also appended to the planner's label.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from agora.benchmark.provenance.inputs import inputs
from agora.benchmark.provenance.packages import OWN, different_files
from agora.benchmark.provenance.packages import names as package_names
from agora.benchmark.provenance.resumption import code_of, difference_of
from agora.benchmark.results import store
from agora.benchmark.results.audit import RunAudit, audit_run
from agora.benchmark.results.recordings import complete_rows
from agora.benchmark.results.run_record import RunRecord
from agora.config import build
from agora.draft.stage import Stage
from agora.errors import AgoraError, InputError
from agora.metrics.registered import metrics
from agora.planners.presets import planner_of

__all__ = ["Merged", "merged"]

ASKED = "asked"
"""Folder in a web server's run with copies of the server's content that the run uses (`agora.web._runs.inputs`)."""

_COPIED = re.compile(rf"/runs/[^/]+/{ASKED}/")
_FREE = ("episodes", "pedestrians", "counterfactual", "seed")
"""Fields of a stage that do not affect its episodes; the seed is handled separately."""

_SEEDS = ("seed", "seed of the places")
"""Facts of a stage that contain the seeds of its episodes and of its places."""

_Facts = Mapping[str, Any]
"""The data that determines a result, as plain data by name."""


@dataclass(frozen=True)
class Merged:
    """Several runs merged into one.

    Attributes:
        rows: rows of all runs, in the order of the stages, with the labels in ``planners``; a row that two runs share is listed
            once.
        planners: labels of the planners, in the order of the runs.
        names: names of planners, by label, for labels that also contain a level of perception or the name of a run.
        blind: labels of planners that do not see walls.
        unaware: labels of planners that do not see people.
        control: labels of planners that were not requested in any of the runs.
        parameters: planners with their parameters as plain data, by label, if the runs record them.
        notes: sentences that describe each run, and that state what is the same in several runs and what differs.
        problems: deviations from the planned episodes, each with the name of the run.
        interrupted: reason why an episode has no row, with the name of the run, by key.
        incomplete: whether planned episodes are missing.
        records: records of the runs, by name of the run.
        places: folder of the run that a row comes from, and the row's key in that run, by key.
    """

    rows: list[dict[str, Any]]
    planners: list[str]
    names: dict[str, str]
    blind: list[str]
    unaware: list[str]
    control: list[str]
    parameters: dict[str, Any]
    notes: list[str]
    problems: list[str]
    interrupted: dict[str, str]
    incomplete: bool
    records: dict[str, RunRecord]
    places: dict[str, tuple[Path, str]]

    def title(self, stages: Sequence[str] = ()) -> str:
        """Return a one-line description of the runs: the suites, the stages (if only some are used), the seeds and the versions."""
        suites, versions = dict[str, None](), dict[str, None]()
        for record in self.records.values():
            outline = record.outline
            suites[f"{outline.name}{_of(' version ', record.suite.get('version'))}, seed {outline.seed}"] = None
            versions |= {f"Agora {record.version}": None} if record.version else {}
        some = f", {'stages' if len(stages) > 1 else 'stage'} {_join_words(list(stages))}" if stages else ""
        parts = " ".join(dict.fromkeys(record.part for record in self.records.values() if record.part))
        words = f"Suite {_join_words(list(suites))}{some}{f' ({_join_words(list(versions))})' if versions else ''}"
        return f"{words}. {parts.removesuffix('.')}" if parts else words


def _of(words: str, value: Any) -> str:
    """Return a text followed by a value; empty if the value is None."""
    return "" if value is None else f"{words}{value}"


def merged(folders: Sequence[Path], called: Sequence[str] = ()) -> Merged:
    """Merge the runs in the given folders into one; a single run is returned unchanged.

    Args:
        folders: folders of the runs.
        called: distinct names for the runs; if empty, the names of the folders are used.

    Raises:
        InputError: no folder is given, or a folder is given twice. ResultsError: a folder contains no run.
    """
    runs = _read(folders, called)
    notes = [run.words() for run in runs] if len(runs) > 1 else []
    stages, said = _stages(runs)
    labels, more = _labels(runs, stages)
    rows: dict[str, dict[str, Any]] = {}
    places, names, parameters = dict[str, tuple[Path, str]](), dict[str, str](), dict[str, Any]()
    for run in runs:
        for row in complete_rows(run.folder, run.audit.rows):
            renamed = {**row, "stage": stages[run.name, row["stage"]], "planner": labels[run.name, row["planner"]]}
            renamed["key"] = store.episode_key(renamed)
            if renamed["key"] not in rows:
                rows[renamed["key"]], places[renamed["key"]] = renamed, (run.folder, row["key"])
        names |= {labels[run.name, label]: name for label, name in run.record.names.items()}
        parameters |= {labels[run.name, label]: values for label, values in run.record.parameters.items()}
    order = list(dict.fromkeys(stages.values()))
    return Merged(
        sorted(rows.values(), key=lambda row: order.index(row["stage"])),
        list(dict.fromkeys(labels.values())),
        names,
        [labels[run.name, label] for run in runs for label in run.record.blind or ()],
        [labels[run.name, label] for run in runs for label in run.record.unaware or ()],
        _control(runs, labels),
        parameters,
        [*notes, *said, *more, *_machines(runs)],
        [run.named(problem) for run in runs for problem in run.audit.problems() + run.audit.failed_metrics()],
        {run.named(key): reason for run in runs for key, reason in run.audit.interrupted.items()},
        any(run.audit.missing for run in runs),
        {run.name: run.record for run in runs},
        places,
    )


@dataclass(frozen=True, eq=False)
class _Run:
    """One of several runs.

    Attributes:
        name: name of the run; empty for a single run.
        folder: folder of the run.
        record: record of the run.
        audit: comparison of the run's rows with the planned episodes.
        common: names of the files and packages that all runs have.
        read: names of the files and packages that each stage's components use, by the stage as JSON; shared by all runs, which
            mostly have the same stages.
    """

    name: str
    folder: Path
    record: RunRecord
    audit: RunAudit
    common: frozenset[str] = field(default=frozenset())
    read: dict[str, set[str] | None] = field(default_factory=dict)

    def named(self, words: str) -> str:
        """Return a text prefixed with the run's name."""
        return f"{self.name}: {words}" if self.name else words

    def words(self) -> str:
        """Return a description of what was run."""
        outline, made = self.record.outline, self.record.made_on
        of = f"suite {outline.name}{_of(' version ', self.record.suite.get('version'))}, seed {outline.seed}"
        by = f"{_of(', by Agora ', self.record.version)}{_of(', commit ', made and made.commit)}"
        return f"{self.name} is {of}{by}: {self.folder}.{_of(' ', self.record.part or None)}"

    @cached_property
    def stages(self) -> dict[str, _Facts]:
        """Return the data that determines the episodes of each stage."""
        found = {one["name"]: one for one in self.record.suite.get("stages", ())}
        others: dict[str, _Facts] = {str(row["stage"]): {} for row in self.audit.rows if row["stage"] not in found}
        return {name: self._stage(one) for name, one in found.items()} | others

    def _stage(self, stage: Mapping[str, Any]) -> _Facts:
        record, suite = self.record, self.record.suite
        if set(stage) == {"name"} or record.inputs is None or record.version is None:
            return {}
        decided = {key: value for key, value in stage.items() if key not in _FREE}
        world = decided.get("world")
        places = world.get("seed") if isinstance(world, Mapping) else None
        decided["world"] = {key: value for key, value in world.items() if key != "seed"} if isinstance(world, Mapping) else world
        first: dict[str, Any] = {"suite": suite["name"], "version of the suite": suite.get("version"), "Agora": record.version}
        return (
            first
            | {**dict(zip(_SEEDS, (record.seed_of(stage["name"]), places), strict=True)), "stage": _with_original_paths(decided)}
            | self._parts(json.dumps(stage, default=str), lambda: _stage_and_metrics(stage), leave={OWN})
        )

    def planner(self, label: str, stages: Sequence[str]) -> _Facts:
        """Return the data that determines how a planner behaves in the given stages."""
        known = self.record.planners
        values = known.get(label) if isinstance(known, Mapping) else None
        if not isinstance(values, Mapping) or self.record.inputs is None:
            return {}
        level = (self.record.pedestrians or {}).get(label)
        own = {one["name"]: one.get("pedestrians") for one in self.record.suite.get("stages", ()) if one["name"] in stages}
        told = {name: _at(one, level) for name, one in own.items()}
        first: dict[str, Any] = {"parameters": _with_original_paths(values), "knowledge of pedestrians": told}
        return first | self._parts(json.dumps(values, default=str), lambda: (planner_of(values, "planner"),))

    def _parts(self, text: str, built: Callable[[], tuple[Any, ...]], leave: Collection[str] = ()) -> dict[str, Any]:
        """Return the digests of the files that components read, and the versions of the components' packages, except for packages
        in ``leave``.

        If the components cannot be built on this machine, they are assumed to use all files and packages that the runs have in
        common.

        Args:
            text: text that determines the components.
            built: function that builds the components.
            leave: names of packages to leave out.
        """
        if text not in self.read:
            try:
                parts = built()
                self.read[text] = {*inputs(*parts), *package_names(*parts)}
            except AgoraError:
                self.read[text] = None
        found = self.read[text]
        names = set(self.common) if found is None else found
        files, versions = self.record.inputs or {}, self.record.packages or {}
        return {
            "files": {_with_original_paths(name): digest for name, digest in files.items() if name in names},
            "packages": {name: one for name, one in versions.items() if name in names and name not in leave},
        }


def _stage_and_metrics(stage: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the components that an episode of a stage uses, apart from planners."""
    return build(dict(stage), Stage, "stage", complete=True), metrics()


def _with_original_paths(value: Any) -> Any:
    """Return plain data in which paths of copied files are replaced by the original paths; digests still reveal copies that were
    edited.
    """
    if isinstance(value, Mapping):
        return {key: _with_original_paths(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_with_original_paths(item) for item in value]
    return _COPIED.sub("/", value) if isinstance(value, str) else value


def _at(own: Any, level: str | None) -> Any:
    """Return the plain data of a stage's perception, changed to the given level."""
    values = dict(own) if isinstance(own, Mapping) else {"source": own}
    return values if level is None else values | {"source": level}


def _read(folders: Sequence[Path], names: Sequence[str]) -> list[_Run]:
    """Read the runs in the given folders, and give each a distinct name."""
    places = [Path(folder).resolve() for folder in folders]
    if not places:
        raise InputError("expected the folder of a run")
    for place, folder in zip(places, folders, strict=True):
        if places.count(place) > 1:
            raise InputError(f"{folder}: given twice; expected different runs")
    audits = [audit_run(folder) for folder in folders]
    records = [RunRecord.read(folder) for folder in folders]
    known = [frozenset({*(record.inputs or ()), *(record.packages or ())}) for record in records]
    common = frozenset.intersection(*known)
    several = zip(names or _names(places), folders, records, audits, strict=True)
    read: dict[str, set[str] | None] = {}
    return [_Run(name, Path(folder), record, one, common, read) for name, folder, record, one in several]


def _names(places: Sequence[Path]) -> list[str]:
    """Return short, distinct names of folders, made of as many trailing path components as necessary; a single folder gets no
    name.
    """
    if len(places) == 1:
        return [""]
    for count in range(1, max(len(place.parts) for place in places) + 1):
        names = ["-".join(part for part in place.parts[-count:] if part != "/") for place in places]
        if len(set(names)) == len(names):
            return names
    return [f"{place.name} {number}" for number, place in enumerate(places, 1)]


def _stages(runs: Sequence[_Run]) -> tuple[dict[tuple[str, str], str], list[str]]:
    """Return the names of stages by run and original stage, and notes on the stages; two names are equal only if the episodes are
    the same.
    """
    labels: dict[tuple[str, str], str] = {}
    same: dict[tuple[str, ...], list[str]] = {}
    notes: dict[str, list[str]] = {}
    for stage in dict.fromkeys(stage for run in runs for stage in run.stages):
        kinds: list[tuple[_Facts, _Run]] = []
        for run in [run for run in runs if stage in run.stages]:
            facts = run.stages[stage]
            like = next((other for known, other in kinds if facts and known == facts), None)
            if like is None:
                kinds.append((facts, run))
                if len(kinds) > 1:
                    reason = _reason(kinds[0][1], kinds[0][0], run, facts)
                    notes.setdefault(f"{reason}: the episodes differ and are not paired.", []).append(f"{stage} ({run.name})")
            else:
                same.setdefault((like.name, run.name), []).append(f"{stage}{_share(stage, like, run)}")
            own = run if like is None else like
            labels[run.name, stage] = stage if own is kinds[0][1] else f"{stage} ({own.name})"
    said = [f"{_join_words(stages)}: {words}" for words, stages in notes.items()]
    said += [f"The same episodes in {a} and {b}, on which planners are paired: {', '.join(some)}." for (a, b), some in same.items()]
    return labels, said


def _share(stage: str, one: _Run, other: _Run) -> str:
    """Return a text with the numbers of episodes of a stage in two runs; empty if the numbers are equal."""
    counts = [len({row["episode"] for row in run.audit.rows if row["stage"] == stage}) for run in (one, other)]
    return "" if counts[0] == counts[1] else f" ({counts[0]} and {counts[1]} episodes)"


def _labels(runs: Sequence[_Run], stages: Mapping[tuple[str, str], str]) -> tuple[dict[tuple[str, str], str], list[str]]:
    """Return the labels of planners by run and original label, and notes on the planners; two labels are equal only if the planners
    are the same.
    """
    labels: dict[tuple[str, str], str] = {}
    known = {run.name: list(dict.fromkeys([*run.record.labels, *(row["planner"] for row in run.audit.rows)])) for run in runs}
    notes: list[str] = []
    for label in dict.fromkeys(label for some in known.values() for label in some):
        first, *others = [run for run in runs if label in known[run.name]]
        reasons = [reason for run in others for reason in _differences(label, first, run, stages)]
        for run in (first, *others):
            labels[run.name, label] = f"{run.record.shown(label)} ({run.name})" if reasons else run.record.shown(label)
        if others and not reasons:
            shared = [(run.name, stage) for run in others for stage in run.stages if stage in first.stages]
            pooled = any(stages[name, stage] != stages[first.name, stage] for name, stage in shared)
            words = "its episodes are counted for each seed" if pooled else "its rows are included once"
            notes.append(f"{label} is the same in {_join_words([run.name for run in (first, *others)])}; {words}.")
        notes += [f"{label}: {reason}." for reason in reasons[:1]]
    order = {(run.name, label): None for run in runs for label in known[run.name]}
    return {key: labels[key] for key in order}, notes


def _differences(label: str, first: _Run, other: _Run, stages: Mapping[tuple[str, str], str]) -> Iterator[str]:
    """Yield the reasons why a planner differs between two runs; nothing if it is the same."""
    both = [stage for stage in first.stages if stage in other.stages]
    if not both:
        yield f"no stage is in both {first.name} and {other.name}"
        return
    facts, theirs = first.planner(label, both), other.planner(label, both)
    if not facts or facts != theirs:
        yield _reason(first, facts, other, theirs)
    elif any(
        stages[first.name, stage] != stages[other.name, stage] and not _differ_in_seed(first.stages[stage], other.stages[stage])
        for stage in both
    ):
        yield f"its episodes in {first.name} and {other.name} are not the same"
    elif changed := _count_changed(label, first, other, {s for s in both if stages[first.name, s] == stages[other.name, s]}):
        yield f"{changed} of the episodes in both {first.name} and {other.name} have different results for the same planner"


def _differ_in_seed(one: _Facts, other: _Facts) -> bool:
    """Return whether two stages differ only in their seeds."""
    return bool(one) and {**one, **dict.fromkeys(_SEEDS)} == {**other, **dict.fromkeys(_SEEDS)}


def _count_changed(label: str, first: _Run, other: _Run, stages: Collection[str]) -> int:
    """Return the number of rows in the common stages of two runs that differ in any column that has a value in both runs."""
    rows = {row["key"]: row for row in first.audit.rows if row["planner"] == label and row["stage"] in stages}
    both = [row for row in other.audit.rows if row["key"] in rows]
    pairs = [(rows[row["key"]], row) for row in both if rows[row["key"]].get("seed") == row.get("seed")]
    values = [[(a[name], b[name]) for name in a.keys() & b.keys()] for a, b in pairs]
    return sum(any(x != y for x, y in some if x is not None and y is not None) for some in values)


def _reason(first: _Run, facts: _Facts, other: _Run, theirs: _Facts) -> str:
    """Return the reason why two stages or two planners are not the same."""
    for run, known in ((first, facts), (other, theirs)):
        if not known:
            return f"{run.name} does not record the settings that decide its results"
    key = next(key for key in facts if facts[key] != theirs[key])
    return difference_of(facts[key], theirs[key], key, (f"in {first.name}", f"in {other.name}"))


def _control(runs: Sequence[_Run], labels: Mapping[tuple[str, str], str]) -> list[str]:
    """Return the labels of planners that were not requested in any run."""
    there = {run.name: run.record.control or () for run in runs}
    asked = {shown for (name, label), shown in labels.items() if label not in there[name]}
    return list(dict.fromkeys(shown for shown in labels.values() if shown not in asked))


def _machines(runs: Sequence[_Run]) -> Iterator[str]:
    """Yield notes on runs of the same version with different code, and on runs on different machines."""
    made = [run.record.made_on for run in runs]
    known = [(run, run.record.packages[OWN]) for run in runs if run.record.packages and OWN in run.record.packages]
    other = next((run for run, code in known if code != known[0][1]), None)
    if other is not None and len({run.record.version for run in runs}) == 1:
        files = different_files(code_of(known[0][0].folder), code_of(other.folder)) or "their files are unknown"
        commits = " and ".join(dict.fromkeys(one.commit for one in made if one is not None))
        yield (
            f"The runs used the same version of Agora but different code (commits {commits}): {files}. "
            "Episodes that this code affects differ."
        )
    if len({one.cpu for one in made if one is not None}) > 1:
        yield "The runs come from different machines, so planning times are not comparable."


def _join_words(words: Sequence[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
