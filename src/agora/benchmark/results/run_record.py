"""The file ``run.yaml``: what was run, on which machines, and the planned contents of the folder.

The suite and the planners are stored as plain data, because their components may be missing on this machine.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any

from agora.benchmark.labels import name_of
from agora.benchmark.provenance.machine import Machine
from agora.benchmark.provenance.resumption import mark_of
from agora.benchmark.results.store import Keep
from agora.config import build, dump, load, plain
from agora.errors import ResultsError
from agora.files import write_whole
from agora.perception.perception import Level
from agora.registry import Named
from agora.tasks.suite import Suite

__all__ = ["RunRecord"]

_FILE = "run.yaml"
_DECIDES = ("suite", "planners", "version", "pedestrians", "record", "inputs", "packages", "tuning", "planned", "trajectories")
"""Fields of `RunRecord` that determine the results or the planned episodes, in the order in which they enter the digest."""


@dataclass(frozen=True)
class _StageOutline:
    """The fields of a stage that can be read from every record."""

    name: str
    seed: int | None = None


@dataclass(frozen=True)
class _SuiteOutline:
    """The fields of a suite that can be read from every record."""

    name: str
    seed: int | None = None
    stages: tuple[_StageOutline, ...] = ()


@dataclass(frozen=True)
class RunRecord:
    """The contents of ``run.yaml``. A field is None if the file does not contain it, because the program that wrote the file does
    not record it.

    Attributes:
        suite: resolved suite, as plain data.
        planners: planners and their parameters as plain data, by label; or only the labels.
        version: version of Agora.
        pedestrians: levels of perception of planners, by label; other planners have the stages' levels.
        record: names of channels whose readings are kept in the recordings.
        inputs: digests of the files that the episodes depend on, by name.
        packages: versions of the packages that contain the components, by name.
        tuning: settings of the parameter search, if the run's planners are the trials of a search.
        planned: number of episodes of each planner, by stage.
        trajectories: which recordings are kept.
        whole: number of episodes of the whole suite, by stage, if this run covers only a part of the suite.
        blind: labels of planners that do not see walls (`agora.benchmark.knowledge.blind`).
        unaware: labels of planners that do not see people (`agora.benchmark.knowledge.unaware`).
        control: labels of planners that were not requested but were run for comparison (`agora.benchmark.control`).
        after_draw: marks of planners that were changed after the suite's edition was drawn, by label
            (`agora.benchmark.provenance.planner_code`).
        id: digest of the fields that determine the results or the planned episodes; shards of the run are marked with this digest.
        earlier: marks of shards that were written before planners were added to the run.
        made_on: machine on which the run started.
        resumed_on: other machines on which the run was resumed.
        sources: files of externally run episodes.
        notes: notes on externally run episodes.
        maps: names of the map files, by episode.
    """

    suite: dict[str, Any]
    planners: dict[str, Any] | list[str]
    version: str | None = None
    pedestrians: dict[str, Level] | None = None
    record: tuple[str, ...] | None = None
    inputs: dict[str, str] | None = None
    packages: dict[str, str] | None = None
    tuning: dict[str, Any] | None = None
    planned: dict[str, int] | None = None
    trajectories: Keep | None = None
    whole: dict[str, int] | None = None
    blind: tuple[str, ...] | None = None
    unaware: tuple[str, ...] | None = None
    control: tuple[str, ...] | None = None
    after_draw: dict[str, str] | None = None
    id: str | None = None
    earlier: tuple[str, ...] | None = None
    made_on: Machine | None = None
    resumed_on: tuple[Machine, ...] | None = None
    sources: tuple[str, ...] | None = None
    notes: tuple[str, ...] | None = None
    maps: dict[str, str] | None = None

    @staticmethod
    def path_in(folder: Path) -> Path:
        """Return the path of the record in a run's folder."""
        return folder / _FILE

    @staticmethod
    def read(folder: Path) -> RunRecord:
        """Read the record in a run's folder; unknown keys in the file are ignored.

        Raises:
            ResultsError: the folder contains no run.
            InputError: the file cannot be read, or a part of it is missing or has the wrong type.
        """
        path = folder / _FILE
        if not path.is_file():
            raise ResultsError(f"{folder}: contains no {_FILE}; expected a run folder")
        values = _of(RunRecord, load(path, dict))
        if "made_on" in values:
            values["made_on"] = _of(Machine, values["made_on"])
        if isinstance(values.get("resumed_on"), list):
            values["resumed_on"] = [_of(Machine, one) for one in values["resumed_on"]]
        build({"suite": _outline_of(values.get("suite"))}, _Outlined, str(path))
        return build(values, RunRecord, str(path))

    def write(self, folder: Path) -> None:
        """Write the file atomically. Raises: OSError: the file cannot be written."""
        write_whole(folder / _FILE, dump(self._said([field.name for field in fields(self)])))

    def decides(self) -> dict[str, Any]:
        """Return the fields that determine the results and the planned episodes, as plain data, by name."""
        return self._said(_DECIDES)

    def mark(self) -> str:
        """Return the digest of `decides`."""
        return mark_of(self.decides())

    def _said(self, names: Iterable[str]) -> dict[str, Any]:
        return {name: plain(value) for name in names if (value := getattr(self, name)) is not None}

    @cached_property
    def outline(self) -> _SuiteOutline:
        """The name, seed and stages of the suite."""
        return build(_outline_of(self.suite), _SuiteOutline, "suite")

    @property
    def labels(self) -> list[str]:
        """The labels of the planners."""
        return list(self.planners)

    @property
    def parameters(self) -> dict[str, Any]:
        """The names and parameters of planners as plain data, by label, including the level of perception if the record contains
        one.
        """
        known = self.planners if isinstance(self.planners, dict) else {}
        levels: Mapping[str, str] = self.pedestrians or {}
        told = {label: values for label, values in known.items() if isinstance(values, Mapping)}
        return {label: {**values, "pedestrians": levels.get(label)} for label, values in told.items()}

    @property
    def part(self) -> str:
        """A description of the part of the suite that the run covers; empty if the run covers the whole suite."""
        if not self.whole:
            return ""
        planned = self.planned or {}
        shares = {stage: f"{count} of {self.whole.get(stage, count)} episodes" for stage, count in planned.items()}
        others = [stage for stage in self.whole if stage not in planned]
        said = ", ".join(f"{stage} ({share})" for stage, share in shares.items())
        if len(shares) > 1 and len(set(shares.values())) == 1:
            said = f"{shares.popitem()[1]} of each {'of ' + ', '.join(planned) if others else 'stage'}"
        return f"A part of the suite: {said}{'; not ' if others else ''}{', '.join(others)}."

    def shown(self, label: str) -> str:
        """Return a planner's label as shown in tables, with a mark if the planner was changed after the suite's edition was
        drawn.
        """
        mark = (self.after_draw or {}).get(label)
        return f"{label} ({mark})" if mark else label

    @property
    def episodes(self) -> int:
        """The total number of episodes; 0 if the record does not contain it."""
        return sum((self.planned or {}).values()) * len(self.planners)

    @property
    def names(self) -> dict[str, str]:
        """The names of the planners, by label; labels that differ only in the level of perception have the same name."""
        levels: Mapping[str, Level] = self.pedestrians or {}
        return {label: name_of(label, levels.get(label)) for label in self.planners}

    def has(self, label: str, planner: Named) -> bool:
        """Return whether the run has a planner with this name and these parameters."""
        return isinstance(self.planners, dict) and any(
            self.names[one] == label and values == plain(planner) for one, values in self.planners.items()
        )

    def build_suite(self, where: Path) -> Suite:
        """Return the suite; ``where`` is the folder of the run, for messages.

        Raises:
            InputError: the suite was written by another version of Agora, or refers to components or files that are missing on this
                machine.
        """
        return build(self.suite, Suite, str(where / _FILE), complete=True)

    def seed_of(self, stage: str) -> int | None:
        """Return the seed of a stage: its own seed or the suite's; None if the record has neither."""
        own = next((one.seed for one in self.outline.stages if one.name == stage), None)
        return self.outline.seed if own is None else own


@dataclass(frozen=True)
class _Outlined:
    """Wraps an outline so that error messages give its location in the file."""

    suite: _SuiteOutline


def _of(kind: type, values: Any) -> Any:
    """Return those values whose keys are fields of a dataclass."""
    return {f.name: values[f.name] for f in fields(kind) if f.name in values} if isinstance(values, Mapping) else values


def _outline_of(suite: Any) -> Any:
    """Return the outline of a suite given as plain data."""
    values = _of(_SuiteOutline, suite)
    if isinstance(values, dict) and isinstance(values.get("stages"), list):
        values["stages"] = [_of(_StageOutline, stage) for stage in values["stages"]]
    return values
