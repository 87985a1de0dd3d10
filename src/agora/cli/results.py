"""Terminal output of commands that produce results: their progress and their final messages. Modules are imported only when a
command runs.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from rich.progress import Progress

    from agora.benchmark.events import RunEvent


def progress_bar() -> Progress:
    """Return a progress bar with the number of finished items, the total, and the remaining time; it shows nothing without a
    terminal.
    """
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, disable=not sys.stderr.isatty())


def follow(events: Iterator[RunEvent], title: str) -> None:
    """Iterate over a run's events until it ends, showing the progress on a terminal; an exception stops the run."""
    from contextlib import closing

    from agora.benchmark.events import Advanced

    with progress_bar() as bar, closing(events):  # type: ignore[type-var]
        task = bar.add_task(title)
        for event in events:
            if isinstance(event, Advanced):
                bar.update(task, completed=event.done, total=event.total)


def finish(folder: Path, video: str, again: Callable[[Mapping[str, Any]], str] = lambda row: "") -> None:
    """Write the report and the videos of a run, then print the results; the rows, which may be many, are held in memory only once.

    Args:
        folder: folder of the run.
        video: number of episodes per planner for which to make a video, or ``failed``.
        again: function that returns the command that repeats the episode of a row; empty if there is no such command.
    """
    from agora.benchmark.results.audit import audit_run
    from agora.benchmark.results.run_folder import RunFolder
    from agora.core.recording import FAILURES
    from agora.reporting.report import first_answers, limits, report, shown_rows
    from agora.reporting.terminal import print_limits, print_rows

    found, record = audit_run(folder), RunFolder.read(folder).record
    if found.rows:
        rows = shown_rows(found.rows, record)
        measured = limits(RunFolder.read(folder), rows)
        labels, blind = ([*map(record.shown, some or ())] for some in (record.labels, record.blind))
        videos, page = _videos(folder, rows, blind, video), report(folder, found, measured)
        print_rows(rows, labels, again, first_answers(rows, labels, [*map(record.shown, record.control or ())]))
        print_limits(measured)
        if record.part:
            typer.echo(record.part)
        for path in videos:
            typer.echo(f"video   {path}")
        typer.echo(f"report  {page}")
    for key, reason in found.interrupted.items():
        typer.echo(f"interrupted  {key}: {reason}", err=True)
    for problem in found.problems():
        typer.echo(f"not as planned  {problem}", err=True)
    for error in found.failed_metrics():
        typer.echo(error, err=True)
    lost = len(found.interrupted) + len(found.missing)
    if lost or found.problems():
        typer.echo(f"{lost} episodes have no row; use --resume to run them again", err=True)
    if lost or found.problems() or found.unmeasured or any(row["outcome"] in FAILURES for row in found.rows):
        raise typer.Exit(1)


def wanted_videos(text: str) -> str:
    """Return the value of the ``--videos`` option: a number or ``failed``.

    Raises:
        InputError: the value is neither.
    """
    from agora.errors import InputError

    if text != "failed" and not text.isdecimal():
        raise InputError(f"--videos: expected a number of episodes per planner, or failed; got {text!r}")
    return text


def _videos(folder: Path, rows: Sequence[Mapping[str, Any]], blind: Collection[str], wanted: str) -> list[Path]:
    """Write videos of recorded episodes: all failed episodes, or a given number per planner. The focus is on the first robot."""
    from agora.reporting.failures import episodes_to_film, failures_to_film, titles

    chosen = failures_to_film(rows) if wanted == "failed" else episodes_to_film(rows, int(wanted))
    return write_videos(folder, chosen, titles(rows, blind))


def write_videos(folder: Path, episodes: Sequence[Sequence[str]], named: Mapping[str, str]) -> list[Path]:
    """Write a video of each of the given episodes that was recorded, and return the paths of the videos.

    Args:
        folder: folder of the run.
        episodes: keys of the robots of each episode.
        named: titles by key.
    """
    from agora.benchmark.results.recordings import recordings
    from agora.viewer.video import write_video

    paths = []
    for keys in episodes:
        kept = recordings(folder, keys)
        shown = [kept[key] for key in keys if key in kept]
        path = folder / "video" / f"{file_name(keys[0])}.mp4"
        path.parent.mkdir(exist_ok=True)
        paths += [write_video(path, shown[0], title=named[keys[0]], others=shown[1:])] if shown else []
    return paths


def file_name(key: str) -> str:
    """Return the file name of an episode's video or page, without suffix."""
    return key.replace("/", "_").replace(":", "_")
