"""The progress and the end of commands that make results, on a terminal; imports are made when they run."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from agora.benchmark.events import RunEvent


def follow(events: Iterator[RunEvent], title: str) -> None:
    """Run to the end, and show the progress on a terminal; an exception in between stops the run."""
    from contextlib import closing

    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from agora.benchmark.events import Advanced

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, disable=not sys.stderr.isatty()) as bar, closing(events):  # type: ignore[type-var]
        task = bar.add_task(title)
        for event in events:
            if isinstance(event, Advanced):
                bar.update(task, completed=event.done, total=event.total)


def finish(folder: Path, video: int) -> None:
    """Write the report and the videos of a run, then say how it went; its rows are in memory once, which many episodes fill."""
    from agora.benchmark.account import account
    from agora.benchmark.kept import first_answers, report
    from agora.benchmark.run_folder import RunFolder
    from agora.benchmark.terminal import print_rows

    found, record = account(folder), RunFolder.read(folder).record
    if found.rows:
        videos, page = _videos(folder, found.rows, video), report(folder, found)
        print_rows(found.rows, record.labels, first_answers(found.rows, record.labels))
        if record.part:
            typer.echo(record.part)
        for path in videos:
            typer.echo(f"video   {path}")
        typer.echo(f"report  {page}")
    for key, reason in found.interrupted.items():
        typer.echo(f"interrupted  {key}: {reason}", err=True)
    for problem in found.problems():
        typer.echo(f"not as planned  {problem}", err=True)
    lost = len(found.interrupted) + len(found.missing)
    if lost or found.problems():
        typer.echo(f"{lost} episodes have no row; go on with --resume to try them again", err=True)
        raise typer.Exit(1)


def _videos(folder: Path, rows: Sequence[Mapping[str, Any]], count: int) -> list[Path]:
    """Videos of the first ``count`` kept episodes of each planner: of their first robots, among the others."""
    if count <= 0:
        return []
    from agora.benchmark.kept import recordings
    from agora.viewer.video import write_video

    episodes: dict[str, dict[tuple[str, int], list[str]]] = {}
    for row in sorted(rows, key=lambda row: (row["stage"], row["episode"], row["robot"])):
        episodes.setdefault(row["planner"], {}).setdefault((row["stage"], row["episode"]), []).append(row["key"])
    chosen = [keys for each in episodes.values() for keys in list(each.values())[:count]]
    kept, paths = recordings(folder, [key for keys in chosen for key in keys]), []
    for keys in chosen:
        shown = [kept[key] for key in keys if key in kept]
        path = folder / "video" / (keys[0].replace("/", "_").replace(":", "_") + ".mp4")
        path.parent.mkdir(exist_ok=True)
        paths += [write_video(path, shown[0], title=keys[0], others=shown[1:])] if shown else []
    return paths
