"""The facts about a run at the top of its report, as text: the suite, the robots, the people, and the perception."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agora.benchmark.results.run_record import RunRecord
from agora.benchmark.results.store import Row

_NO_CROWD = {"replay": "replayed tracks", "none": "nobody", "motion_profiles": "motion profiles"}
"""Descriptions of the obstacles modes in which no crowd model moves the people, if there are any."""

_TOLD: dict[str, str] = {
    "truth": "the true states of pedestrians",
    "view": "the true states of pedestrians in view",
    "visible": "the true states of pedestrians that the lidar sees",
    "tracked": "tracks from the robot's own scans",
    "camera": "tracks from the robot's camera",
}
"""Descriptions of what planners know about people, by level of perception."""


def setting(record: RunRecord) -> dict[str, Any]:
    """Return the setting of a run's stages: ``robots``, ``crowds``, ``known`` (what planners know about people), ``control``,
    ``simulators``, and ``drawn_places`` (the seeds of generated places).

    Facts that are missing from the record are left out, as for the stages of externally run episodes.
    """
    stages = [stage for stage in record.suite.get("stages") or () if isinstance(stage, Mapping)]
    levels: list[str] = [*(record.pedestrians or {}).values()]
    levels = levels or [level for stage in stages for level in _names(stage.get("pedestrians"))]
    periods = [stage["periods"].get("control") for stage in stages if isinstance(stage.get("periods"), Mapping)]
    found = {
        "robots": [name for stage in stages for name in _names(stage.get("robot"))],
        "crowds": [name for stage in stages for name in _crowd(stage)],
        "known": [_TOLD.get(level, level) for level in levels],
        "control": [f"{period:g} s" for period in periods if period],
        "simulators": [name for stage in stages for name in _names(stage.get("simulator"))],
        "drawn_places": [str(w["seed"]) for stage in stages if isinstance(w := stage.get("world"), Mapping) and "seed" in w],
    }
    return {name: list(dict.fromkeys(some)) for name, some in found.items() if some}


def facts(run: Mapping[str, Any], rows: Sequence[Row], planners: Sequence[str]) -> list[tuple[str, str]]:
    """Return the facts about a run, from its record or its rows, as pairs of a name and a text.

    Args:
        run: description of the run, as in `agora.reporting.page.render`.
        rows: rows of the run.
        planners: labels of the planners.
    """
    seeds = sorted({row["seed"] for row in rows if row.get("seed") is not None})
    drawn = f"{len(seeds)}, from {seeds[0]} to {seeds[-1]}" if len(seeds) > 1 else ", ".join(map(str, seeds))
    said = {
        "Suite": run.get("suite"),
        "Planners": list(planners),
        "Stages": list(dict.fromkeys(row["stage"] for row in rows)),
        "Episodes": len(rows),
        "Robot": run.get("robots"),
        "People moved by": run.get("crowds"),
        "Planners' knowledge of people": run.get("known"),
        "Control period": run.get("control"),
        "Simulator": run.get("simulators"),
        "Seeds": run.get("seeds", drawn),
        "Seeds of the places": run.get("drawn_places"),
        "Agora": run.get("version"),
        "Commit": run.get("commit"),
        "Hardware": run.get("hardware"),
        "Trajectories": run.get("trajectories"),
        "Interrupted": len(run.get("interrupted") or ()) or None,
    }
    return [(fact, words_of(value)) for fact, value in said.items() if value not in (None, "", [])]


def words_of(value: Any) -> str:
    """Return a value from the run's file as text."""
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {words_of(inner)}" for key, inner in value.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(words_of(inner) for inner in value)
    return "" if value is None else str(value)


def _names(value: Any) -> list[str]:
    """Return the name of a component, the names of several components, or the sources of perception, given as plain data."""
    if isinstance(value, Mapping):
        value = value.get("name") or value.get("source")
    return [name for one in value for name in _names(one)] if isinstance(value, (list, tuple)) else [str(value)] if value else []


def _crowd(stage: Mapping[str, Any]) -> list[str]:
    """Return the names of the models that move the people of a stage, or the description of the stage's obstacles mode."""
    for mode in _names(stage.get("obstacles")):
        if mode in _NO_CROWD:
            return [_NO_CROWD[mode]]
    crowd = stage.get("crowd")
    if not isinstance(crowd, Mapping):
        return []
    return _names(crowd.get("model")) + [n for one in crowd.get("models") or () for n in _names(one.get("model"))]
