"""Writes measured rows and pictures into the manual from the results of a suite: python docs/measure.py FOLDER...

Numbers that correspond to published ones (configs/published) go to docs/reference/published.csv. Rows of a planner on the suites
`KEPT` and their editions go to docs/reference/measured/SUITE.csv, or SUITE_STAGE.csv for a run of one stage. The outcomes of the
episodes of an edition and of the `limits` suite go to docs/reference/measured/episodes (docs/episodes.py), and the limits computed
from them go to docs/reference/limits.csv. Pictures of a planner's first episode in the stages in `PICTURED` go to
docs/images/planners, or to docs/images/interplanners if it is combined with an interplanner. The table of planners in the README is
generated from the rows on an edition and from the limits (docs/standings.py). New values replace existing ones and include the
version and date of the run. No other program writes these files.
"""

from __future__ import annotations

import csv
import datetime
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from episodes import write_episodes
from limits import SUITE, draw_limits, measured_limits
from rows import OUTCOMES, read_rows
from standings import standings

from agora.benchmark.informed import INFORMED
from agora.benchmark.results.audit import audit_run
from agora.benchmark.results.copies import PLACE, distinct
from agora.benchmark.results.recordings import complete_rows, recordings
from agora.benchmark.results.run_folder import RunFolder
from agora.draft.edition import MARK
from agora.reporting.clean_arrivals import clean_share, most_often
from agora.reporting.clusters import by_place
from agora.reporting.limits.table import limit_lines, write_limits
from agora.reporting.published_numbers import compare_with_published, words
from agora.reporting.statistics import bootstrap, wilson
from agora.viewer.figures import save, trajectory_figure

HERE = Path(__file__).resolve().parent
ROWS, PICTURES = HERE / "reference" / "measured", HERE / "images"
LIMITS = HERE / "reference" / "limits.csv"
KEPT = ("planners", "social")
PICTURED = ("frontal_approach", "narrow_doorway")
PUBLISHED = ("source", "planner", "table", "metric")
COLUMNS = (
    *("planner", "component", "interplanner", "suite_version", "seed", "agora", "date", "episodes"),
    *("success", "success_low", "success_high", *OUTCOMES),
    *("clean_arrival", "clean_arrival_low", "clean_arrival_high", "clean_arrival_spoilt_by"),
    *("barn_score", "barn_score_low", "barn_score_high", "time_to_goal", "time_to_goal_low", "time_to_goal_high"),
    *("after_draw", "places", "success_low_by_place", "success_high_by_place", "success_wider_by_place"),
)


def measured(folder: Path) -> list[dict[str, Any]]:
    """Return a row for each planner of a run, which must have all its episodes."""
    run, found = RunFolder.read(folder).record, audit_run(folder)
    if found.problems():
        raise SystemExit("\n".join([f"{folder} is not whole:", *found.problems()]))
    rows = distinct(complete_rows(folder, found.rows))
    found = []
    for label, planner in run.planners.items():
        mine = [row for row in rows if row["planner"] == label]
        if len({row["seed"] for row in mine}) != 1:
            raise SystemExit(f"{folder}: {label} has no episodes, or stages have seeds of their own")
        component, guide = parts(label, planner)
        if component == INFORMED:
            continue
        won = sum(row["success"] == 1 for row in mine)
        line = {
            "planner": label,
            "component": component,
            "interplanner": guide,
            "suite_version": run.suite["version"],
            "seed": mine[0]["seed"],
            "agora": run.version,
            "date": day(folder),
            "episodes": len(mine),
            "success": won / len(mine),
        }
        low, high = wilson(won, len(mine))
        line |= {"success_low": low, "success_high": high}
        line["after_draw"] = (run.after_draw or {}).get(label)
        if (wide := by_place([float(row["success"]) for row in mine], [row.get(PLACE) for row in mine], low, high)) is not None:
            line |= {"places": wide.places, "success_wider_by_place": wide.wider}
            line |= {"success_low_by_place": wide.low, "success_high_by_place": wide.high}
        line |= {outcome: sum(row["outcome"] == outcome for row in mine) / len(mine) for outcome in OUTCOMES}
        clean = clean_share(mine)
        if clean.n == len(mine):
            line |= {"clean_arrival": clean.value, "clean_arrival_low": clean.low, "clean_arrival_high": clean.high}
            line["clean_arrival_spoilt_by"] = most_often(mine)
        for name in ("barn_score", "time_to_goal"):
            mean = bootstrap([row[name] for row in mine if row[name] is not None])
            line |= {name: mean.value, f"{name}_low": mean.low, f"{name}_high": mean.high}
        found.append({key: "" if v is None else f"{v:.4g}" if isinstance(v, float) else str(v) for key, v in line.items()})
    return found


def day(folder: Path) -> str:
    """Return the day on which a run's last shard was written."""
    newest = max(path.stat().st_mtime for path in (folder / "episodes").glob("*.parquet"))
    return datetime.datetime.fromtimestamp(newest, datetime.UTC).date().isoformat()


def parts(label: str, planner: dict[str, Any]) -> tuple[str, str]:
    """Return the local planner of one of a run's planners, and the interplanner before it, or "" if there is none."""
    if planner["name"] == "guided":
        return planner["planner"]["name"], planner["interplanner"]["name"]
    return planner["name"], "bypass" if label.endswith("+bypass") else ""  # bypass leaves a planner unchanged


def picture(label: str, planner: dict[str, Any], stage: str) -> Path | None:
    """Return the path of the picture of a planner without other parameters, alone or with an interplanner."""
    name, guide = parts(label, planner)
    if label != (f"{name}+{guide}" if guide else name):
        return None
    return PICTURES / ("interplanners" if guide else "planners") / f"{label.replace('+', '_')}_{stage}.png"


def suite_of(folder: Path) -> str:
    """Return the name of a run's suite, followed by its stage if it ran only one of several."""
    outline, played = RunFolder.read(folder).record.outline, {row["stage"] for row in audit_run(folder).rows}
    return f"{outline.name}_{played.pop()}" if len(played) == 1 else outline.name


def write_rows(folder: Path) -> Path:
    """Replace the rows of a run's planners in the file of its suite."""
    path = ROWS / f"{suite_of(folder)}.csv"
    there = {row["planner"]: row for row in read_rows(path)}
    there |= {row["planner"]: row for row in measured(folder)}
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(there[planner] for planner in sorted(there))
    return path


def keep_outcomes(folder: Path) -> Path:
    """Store the outcomes of a run of the `limits` suite."""
    found = audit_run(folder)
    if found.problems():
        raise SystemExit("\n".join([f"{folder} is not whole:", *found.problems()]))
    return write_episodes(SUITE, complete_rows(folder, found.rows))


def write_limit_rows(path: Path = LIMITS) -> list[Path]:
    """Compute all limits from the stored outcomes of the `limits` suite, and draw them."""
    made = measured_limits()
    return [write_limits(path, limit_lines(made)), draw_limits(made)]


def write_standings() -> Path:
    """Replace the table of planners in the README."""
    path = HERE.parent / "README.md"
    text = path.read_text(encoding="utf-8")
    begin = text.index("| rank [95 %] | ")
    end = text.index("\n\n", begin)
    path.write_text(text[:begin] + "\n".join(standings()) + text[end:], encoding="utf-8")
    return path


def write_published(folder: Path) -> Path:
    """Write a run's numbers next to the published ones, replacing earlier values of the same numbers."""
    run, found = RunFolder.read(folder).record, audit_run(folder)
    if found.problems():
        raise SystemExit("\n".join([f"{folder} is not whole:", *found.problems()]))
    path, suite = ROWS.parent / "published.csv", run.suite
    made = {"suite_version": suite["version"], "agora": run.version, "date": day(folder)}
    there = {tuple(row[column] for column in PUBLISHED): row for row in read_rows(path)}
    for one in compare_with_published(suite["name"], found.rows):
        key = (one.source, one.row.planner, one.row.table, one.metric.name)
        there[key] = dict(zip(PUBLISHED, key, strict=True)) | {"n": one.ours.n, **words(one), **made}
    with path.open("w", newline="", encoding="utf-8") as file:
        columns = (*PUBLISHED, "n", "published", "ours", "difference", "verdict", *made)
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(there[key] for key in sorted(there))
    return path


def draw(folder: Path) -> list[Path]:
    """Draw each registered planner, alone or with an interplanner, in the first episode of the stages that have pictures."""
    run = RunFolder.read(folder).record
    suite = run.outline.name
    wanted = {
        f"{suite}/{stage}/0/{label}/0": path
        for stage in PICTURED
        for label, planner in run.planners.items()
        if (path := picture(label, planner, stage)) is not None
    }
    found = recordings(folder, wanted)
    return [save(trajectory_figure(found[key], focus=1.5), wanted[key], dpi=100) for key in found]


def main(folders: Sequence[Path]) -> None:
    """Write everything that depends on the given runs; results that depend on all of them are computed once."""
    made, has_limits, has_rows = list[Path](), False, False
    for folder in folders:
        made.append(write_published(folder))
        suite, _, edition = suite_of(folder).partition(MARK)
        if RunFolder.read(folder).record.outline.name == SUITE:
            made.append(keep_outcomes(folder))
            has_limits = True
        if suite in KEPT and "_" not in edition:
            made += [write_rows(folder), *draw(folder)]
            has_rows = True
            if edition:
                made.append(write_episodes(suite_of(folder), distinct(complete_rows(folder, audit_run(folder).rows))))
    made += write_limit_rows() if has_limits else []
    made += [write_standings()] if has_limits or has_rows else []
    for path in dict.fromkeys(made):
        print(path.relative_to(HERE.parent))


if __name__ == "__main__":
    main([*map(Path, sys.argv[1:])])
