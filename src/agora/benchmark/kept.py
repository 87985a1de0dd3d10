"""What a run kept: its recordings with their maps, and the report made of them."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from agora.benchmark import store
from agora.benchmark.report import choose, render
from agora.config import build, load
from agora.core.recording import Recording
from agora.documents import read_text
from agora.errors import InputError, ResultsError
from agora.files import write_whole
from agora.maps.exact import read_exact
from agora.maps.grid import Map
from agora.registry import available
from agora.registry import load as load_component
from agora.tasks.suite import Suite

_LOG = logging.getLogger(__name__)
REPLAYS = 24
"""Episodes that a report embeds."""


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
    """Return the episodes of a run that have no row because their worker was killed or died, with the reason."""
    listed = folder / "interrupted.txt"
    lines = read_text(listed).splitlines() if listed.is_file() else []
    return {key: reason for key, _, reason in (line.partition("\t") for line in lines)}


def recordings(folder: Path, keys: Iterable[str]) -> dict[str, Recording]:
    """Return recordings by key, as far as they were kept, with the map that the suite gives the episode.

    Where the suite's worlds are not on this machine, recordings have no map, and the log says so.

    Raises:
        ResultsError: the folder holds no run.
    """
    wanted, run = list(keys), described(folder)
    found: dict[str, Recording] = {}
    for shard in sorted((folder / "trajectories").glob("*.parquet")) if wanted else []:
        try:
            found.update({k: r for k, r in store.read_recordings(shard).items() if k in wanted})
        except ResultsError as error:
            _LOG.warning("%s; its episodes are not replayed", error)
    kept = {key: found[key] for key in wanted if key in found}
    rows = {str(row["key"]): row for row in store.read_rows(folder / "episodes")} if kept else {}
    try:
        if "maps" in run:
            return {key: replace(r, map=_kept_map(folder, run["maps"], key)) for key, r in kept.items()}
        suite = build(run["suite"], Suite, str(folder / "run.yaml"))
        for key in kept:
            kept[key] = replace(kept[key], map=suite.start(str(rows[key]["stage"]), int(rows[key]["episode"])).map)
    except InputError as error:
        _LOG.warning("recordings are shown without their maps: %s", error)
    return kept


def _kept_map(folder: Path, maps: dict[str, str], key: str) -> Map | None:
    """The map of an episode that was played elsewhere, from the results themselves."""
    name = maps.get("/".join(key.split("/")[:3]))
    return None if name is None else read_exact(folder / "maps" / name)


def report(folder: Path) -> Path:
    """Write ``report.html`` of a run and return its path.

    Raises:
        ResultsError: the folder holds no run, or the page cannot be written.
    """
    run = described(folder)
    stages = [stage["name"] for stage in run["suite"].get("stages", ())]
    rows = sorted(store.read_rows(folder / "episodes"), key=lambda row: stages.index(row["stage"]) if row["stage"] in stages else 0)
    metrics = [load_component("metrics", name) for name in available("metrics")]
    timing: dict[str, list[float]] = {}
    for row in store.read_rows(folder / "timing"):
        timing.setdefault(str(row["planner"]), []).extend(row.get(store.CALLS) or ())
    made_on = run.get("made_on", {})
    shown = {
        **run,
        "suite": run["suite"]["name"],
        "commit": made_on.get("commit"),
        "hardware": made_on.get("cpu"),
        "interrupted": [f"{key}: {reason}" for key, reason in interrupted(folder).items()],
        "planners": list(run["planners"]),
    }
    kept = recordings(folder, choose(rows, REPLAYS))
    page = render(shown, rows, metrics, kept, timing={name: np.array(times) for name, times in timing.items()})
    path = folder / "report.html"
    try:
        write_whole(path, page)
    except OSError as error:
        raise ResultsError(f"{path}: cannot be written: {error}") from error
    return path


def figures(folder: Path, names: Iterable[str], kind: str) -> list[Path]:
    """Write the outcomes of a run and the distributions of metrics as figures, and return their paths.

    Args:
        folder: of the run. names: of metrics. kind: png, pdf or svg.

    Raises:
        ResultsError: the folder holds no run. UnknownNameError: no such metric.
    """
    from agora.benchmark.comparisons import comparison_figure, outcome_figure
    from agora.viewer.figures import save

    described(folder)
    rows = store.read_rows(folder / "episodes")
    drawn = {"outcomes": outcome_figure(rows)} | {n: comparison_figure(rows, load_component("metrics", n)) for n in names}
    place = folder / "figures"
    place.mkdir(exist_ok=True)
    return [save(figure, place / f"{name}.{kind}") for name, figure in drawn.items()]
