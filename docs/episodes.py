"""How each episode of an edition, or of the `limits` suite, ended for each planner, and the resulting ranks.

The file docs/reference/measured/episodes/SUITE.csv, written by docs/measure.py, has a line per episode and a column per planner, so
that anyone can check every rank and compare a planner of their own on the same episodes.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rows import read_rows

from agora.benchmark.results.copies import PLACE
from agora.registry import load
from agora.reporting.ranking import Pair, Ranked, ranking

FOLDER = Path(__file__).resolve().parent / "reference" / "measured" / "episodes"
CLEAN = "clean"
"""Outcome of an episode in which the robot arrived cleanly at its goal; ``reached`` means that it arrived, but not cleanly."""

_KEY = ("stage", "episode", PLACE)

Row = dict[str, Any]


def write_episodes(suite: str, rows: Sequence[Mapping[str, Any]], folder: Path = FOLDER) -> Path:
    """Write the outcomes of rows to the file of a suite, replacing older outcomes.

    Args:
        suite: name of the suite.
        rows: rows of whole stages, one for each episode and planner.
        folder: folder of the files.

    Raises:
        SystemExit: the file and the rows have different episodes or places in a stage.
    """
    path = folder / f"{suite}.csv"
    lines = {tuple(line[key] for key in _KEY): line for line in read_rows(path)}
    made: dict[tuple[str, ...], dict[str, str]] = {}
    for row in rows:
        end = CLEAN if row["outcome"] == "reached" and row["clean_arrival"] == 1 else row["outcome"]
        made.setdefault(tuple(str(row[key]) for key in _KEY), {})[row["planner"]] = end
    stages = {stage for stage, *_ in lines} & {stage for stage, *_ in made}
    if any((key in lines) != (key in made) for key in lines.keys() | made.keys() if key[0] in stages):
        raise SystemExit(f"{path} and this run have different episodes")
    whole = lines | {key: lines.get(key, {}) | dict(zip(_KEY, key, strict=True)) | ends for key, ends in made.items()}
    names = sorted({name for line in whole.values() for name in line} - {*_KEY})
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [*_KEY, *names], restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(whole[key] for key in sorted(whole, key=lambda key: (key[0], int(key[1]))))
    return path


def read_episodes(suite: str, folder: Path = FOLDER) -> list[Row]:
    """Return a row for each planner and episode in the file of a suite, with its outcome, ``success`` and ``clean_arrival``."""
    return [
        {"stage": line["stage"], "episode": int(line["episode"]), PLACE: line[PLACE]}
        | {"planner": planner, "outcome": "reached" if end == CLEAN else end}
        | {"success": float(end in (CLEAN, "reached")), "clean_arrival": float(end == CLEAN)}
        for line in read_rows(folder / f"{suite}.csv")
        for planner, end in line.items()
        if planner not in _KEY and end
    ]


def ranked(rows: Iterable[Row], metric: str) -> tuple[list[Ranked], list[Pair]]:
    """Return the planners of rows from the best to the worst with their ranks, and their pairs.

    Args:
        rows: rows of `read_episodes`.
        metric: ``success`` or ``clean_arrival``.
    """
    chosen = list(rows)
    ranks, pairs, _ = ranking(chosen, load("metrics", metric), list(dict.fromkeys(row["planner"] for row in chosen)))
    return ranks, pairs


def by_stage(rows: Iterable[Row]) -> dict[str, dict[str, int]]:
    """Return the number of goals that each planner reached in each stage, by stage and planner."""
    found: dict[str, dict[str, int]] = {}
    for row in rows:
        reached = found.setdefault(row["stage"], {})
        reached[row["planner"]] = reached.get(row["planner"], 0) + int(row["success"])
    return found
