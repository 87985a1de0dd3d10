"""The measurements in the manual: what each depends on, the commands that produce it, and the file that stores its values.

A measurement is fresh as long as the digests of its dependencies are the same as when it was made (``pytask.lock``):

- the engine: golden episodes of the planners `ENGINE`, which change if a crowd model, a sensor, a metric or the engine changes,
- the planner: its code, parameters and weights (`agora.benchmark.provenance.planner_code`),
- the suite: its version, its seed and its stages.
"""

from __future__ import annotations

import csv
import functools
import hashlib
import importlib.util
import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from agora.benchmark.informed import INFORMED
from agora.benchmark.provenance.planner_code import code_of, digest_of
from agora.planners.presets import named_planner, runnable_planners
from agora.registry import available, make
from agora.tasks.modules.axis import axis_of
from agora.tasks.suite import load_suite

ROOT = Path(__file__).resolve().parents[2]
KEPT = ROOT / "docs" / "reference"
GOLDEN = ROOT / "tests" / "golden" / "episodes.json"

EDITION = "social@2026.12"
"""The edition whose rows the README and the manual show."""

ENGINE = ("go_to_goal", "pure_pursuit")
"""Planners whose golden episodes represent the engine: they drive to the goal or along the path, whatever the crowd does."""


@dataclass(frozen=True)
class Measurement:
    """Values that are produced by one run of some commands.

    Attributes:
        table: table that shows the values.
        key: part of the table, for example the planner of a row.
        commands: commands that produce the values and write them to ``kept``; run in the root of the repository.
        depends: digest of each dependency.
        kept: file that stores the values, relative to the root.
        measured: whether ``kept`` has values.
    """

    table: str
    key: str
    commands: tuple[str, ...]
    depends: Mapping[str, str]
    kept: str
    measured: bool

    @property
    def task(self) -> str:
        """Name of the task, with characters that pytask allows in an expression."""
        return re.sub(r"\W+", "_", self.table)

    @property
    def id(self) -> str:
        """The key as pytask allows it in an expression."""
        return self.key.replace("@", "-")

    @property
    def name(self) -> str:
        """Name of the measurement, as `make measured` lists it."""
        return f"{self.task}[{self.id}]"


def catalogue() -> Iterator[Measurement]:
    """Return all measurements of the manual."""
    yield from _suite_rows(EDITION)
    yield _informed()
    yield from _suite_rows("social")
    yield from _suite_rows("planners")
    yield from _limits()
    yield from _narrow()
    yield from _recorded_people()


def _suite_rows(suite: str) -> Iterator[Measurement]:
    """Yield the rows of `agora bench` on a suite: one measurement for each planner that has a row or can run."""
    kept = KEPT / "measured" / f"{suite}.csv"
    there = {row["planner"] for row in _rows(kept)}
    own = {"suite": suite_digest(suite)}
    for label in sorted(there | _planners()):
        run = _bench(f"{suite} --planner {label}", (), "--no-control", f"{suite}/{label}")
        yield Measurement(suite, label, run, _engine() | _planner(label) | own, _path(kept), label in there)


def _informed() -> Measurement:
    """Return the episodes of the informed robot on the edition, the ceiling of its tables."""
    kept = KEPT / "measured" / "episodes" / f"{EDITION}.csv"
    run = _bench(f"{EDITION} --planner {INFORMED}", (), "--no-control", f"{EDITION}/{INFORMED}")
    depends = _engine() | {"planner": _code("agora.benchmark.informed"), "suite": suite_digest(EDITION)}
    return Measurement(EDITION, INFORMED, run, depends, _path(kept), any(INFORMED in row for row in _rows(kept)))


def _recorded_people() -> Iterator[Measurement]:
    """Yield the tables of crowd models against recorded people."""
    depends = _golden(lambda key: key.startswith("crowds/") or "/pure_pursuit/" in key) | {"code": _code("agora.validation")}
    figure = "docs/images/validation_crowds.png"
    for name, what, copies in (
        ("crowds", "--all", (f"cp {{}}/crowds.png {figure}",)),
        ("crowds_unsteady", "anticipation rvo2 orca helbing --unsteady", ()),
    ):
        kept, folder = KEPT / "measured" / f"{name}.md", f"results/measured/{name}"
        run = (f"agora validate {what} --output {folder}", f"cp {folder}/crowds.md {_path(kept)}")
        run += tuple(copy.format(folder) for copy in copies)
        yield Measurement("recorded people", name, run, depends, _path(kept), kept.exists())


def _limits() -> Iterator[Measurement]:
    """Yield the outcomes of the `limits` suite: one measurement per axis and planner."""
    kept = KEPT / "measured" / "episodes" / "limits.csv"
    lines = _rows(kept)
    columns = [name for name in lines[0] if name not in ("stage", "episode", "place")]
    axes: dict[str, list[str]] = {}
    for stage in load_suite("limits").stages:
        if (axis := axis_of(stage)) is not None:
            axes.setdefault(axis.axis, []).append(stage.name)
    for axis, stages in axes.items():
        own = {"suite": suite_digest("limits", tuple(stages))}
        for label in columns:
            run = _bench(f"limits --planner {label}", stages, "--no-control", f"limits/{axis.replace(' ', '_')}/{label}")
            there = any(line["stage"] in stages and line[label] for line in lines)
            planner = {"planner": _code("agora.benchmark.informed")} if label == INFORMED else _planner(label)
            yield Measurement(f"limits, {axis}", label, run, _engine() | planner | own, _path(kept), there)


def _narrow() -> Iterator[Measurement]:
    """Yield the narrow places: one measurement per planner that reads walls and was not trained."""
    kept = KEPT / "narrow.csv"
    there = {row["planner"] for row in _rows(kept)}
    there = {row["planner"] for row in _rows(kept)}
    for label in sorted(_wall_readers()):
        run = (f"python benchmarks/narrow.py {label} --write",)
        own = {"places": _code("agora.testing.narrow")}
        yield Measurement("narrow", label, run, _engine() | _planner(label) | own, _path(kept), label in there)


def _wall_readers() -> set[str]:
    """Return the planners that read walls and have no weights: the others do at a wall whatever they have learned."""
    parts = {name: make("planners", name) for name in _planners() & {*available("planners")}}
    return {name for name, part in parts.items() if "costmap" in part.declares.channels and not hasattr(part, "file")}


def _bench(what: str, stages: Sequence[str], options: str, folder: str) -> tuple[str, ...]:
    """Return the commands of a run that continues where it was interrupted and whose values go into the manual."""
    place = f"results/measured/{folder}"
    chosen = " ".join([*(f"--stage {stage}" for stage in stages), *options.split()])
    resume = f"$(test -d {place} && echo --resume)"
    return f"agora bench {what} {chosen} --output {place} {resume}", f"python docs/measure.py {place}"


def _planners() -> set[str]:
    """Return the planners that have rows of their own; `policy` and `recovering` only serve as a basis for other planners."""
    return {*runnable_planners()[0]} - {"policy", "recovering"}


@functools.cache
def _engine() -> dict[str, str]:
    return _golden(lambda key: key.split("/")[-2] in ENGINE)


def _golden(chosen: Callable[[str], bool]) -> dict[str, str]:
    """Return a digest of the golden episodes with the chosen keys."""
    rows = json.loads(GOLDEN.read_text(encoding="utf-8"))["rows"]
    return {"engine": _digest({key: row for key, row in rows.items() if chosen(key)})}


@functools.cache
def _planner(label: str) -> dict[str, str]:
    return {"planner": digest_of(named_planner(label)[1])}


@functools.cache
def _code(name: str) -> str:
    """Return a digest of the code of a module, or of all modules of a package."""
    spec = importlib.util.find_spec(name)
    assert spec is not None and spec.origin is not None
    file = Path(spec.origin)
    files = sorted(file.parent.rglob("*.py")) if file.stem == "__init__" else [file]
    return _digest([code_of(one.read_text(encoding="utf-8")) for one in files])


def suite_digest(name: str, stages: Collection[str] = ()) -> str:
    """Return a digest of the version, the seed and some stages of a suite; of all stages if ``stages`` is empty."""
    file = yaml.safe_load((ROOT / "configs" / "benchmark" / f"{name}.yaml").read_text(encoding="utf-8"))
    chosen = [stage for stage in file["stages"] if not stages or stage["name"] in stages]
    return _digest([file.get("version"), file.get("seed"), chosen])


def _digest(value: Any) -> str:
    return hashlib.blake2b(json.dumps(value, sort_keys=True, default=str).encode(), digest_size=8).hexdigest()


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _path(path: Path) -> str:
    return str(path.relative_to(ROOT))
