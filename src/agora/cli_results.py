"""How the commands that make results end: a table, videos and a report; imports are made when they run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer


def finish(rows: list[dict[str, Any]], folder: Path, video: int) -> None:
    """Say how a run went, and write its report and videos."""
    from agora.benchmark.account import account
    from agora.benchmark.kept import report
    from agora.benchmark.terminal import print_rows

    if rows:
        print_rows(rows)
        for path in _videos(folder, video):
            typer.echo(f"video   {path}")
        typer.echo(f"report  {report(folder)}")
    found = account(folder)
    for key, reason in found.interrupted.items():
        typer.echo(f"interrupted  {key}: {reason}", err=True)
    for problem in found.problems():
        typer.echo(f"not as planned  {problem}", err=True)
    lost = len(found.interrupted) + len(found.missing)
    if lost or found.problems():
        typer.echo(f"{lost} episodes have no row; go on with --resume to try them again", err=True)
        raise typer.Exit(1)


def _videos(folder: Path, count: int) -> list[Path]:
    """Videos of the first ``count`` kept episodes of each planner."""
    if count <= 0:
        return []
    from agora.benchmark.account import account
    from agora.benchmark.kept import recordings
    from agora.viewer.video import write_video

    chosen: dict[str, list[str]] = {}
    for row in account(folder).rows:
        chosen.setdefault(row["planner"], []).append(row["key"])
    paths = []
    for key, recording in recordings(folder, [k for keys in chosen.values() for k in sorted(keys)[:count]]).items():
        path = folder / "video" / (key.replace("/", "_").replace(":", "_") + ".mp4")
        path.parent.mkdir(exist_ok=True)
        paths.append(write_video(path, recording, title=key))
    return paths
