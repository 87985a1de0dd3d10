"""``agora play``: shows recorded episodes of a run as a page, as videos, or in a window, and checks recordings."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer


def play(
    run: Annotated[Path, typer.Argument(help="Folder of a run.", metavar="RUN")],
    keys: Annotated[
        list[str] | None,
        typer.Argument(
            help="Episodes as named in the report, SUITE/STAGE/EPISODE/PLANNER; with --check, all by default.", metavar="KEY..."
        ),
    ] = None,
    video: Annotated[bool, typer.Option("--videos", "--video", help="Write a video of each episode (.mp4).")] = False,
    live: Annotated[bool, typer.Option("--live", help="Show the episodes in a window, one after another.")] = False,
    check: Annotated[
        bool,
        typer.Option(
            "--check", help="Instead of playing episodes, drive the recorded commands again and compare every row and recording."
        ),
    ] = False,
) -> None:
    """Print how recorded episodes of a run ended, and play them as a page in a browser, as videos, or in a window.

    A check exits with code 1 if a row or a recording is not reproduced.
    """
    if check and (video or live):
        raise typer.BadParameter("--check cannot be combined with --video or --live, because it shows nothing")
    if check:
        raise typer.Exit(0 if _agrees(run, keys or ()) else 1)
    if not keys:
        raise typer.BadParameter("expected an episode, SUITE/STAGE/EPISODE/PLANNER, or --check")
    _play(run, keys, video=video, live=live)


def _agrees(run: Path, keys: Sequence[str]) -> bool:
    """Check episodes of a run, print the result, and return whether everything agrees."""
    from agora.benchmark.run_check import check_run
    from agora.cli.differing import lines

    driven = list(check_run(run, keys))
    found = [one for some in driven for one in some.differences]
    rows, unrecorded = sum(some.rows for some in driven), sum(some.unrecorded for some in driven)
    for line in lines(found):
        typer.echo(f"  {line}", err=True)
    said = "do not reproduce every value" if found else "reproduce every value"
    typer.echo(f"{run}: {'DIFFERS' if found else 'agrees'}: the recorded commands of {rows} rows {said}", err=bool(found))
    if unrecorded:
        typer.echo(f"  {unrecorded} rows were not checked: no recording was kept", err=bool(found))
    return not found


def _play(run: Path, keys: Sequence[str], *, video: bool, live: bool) -> None:
    """Play recorded episodes of a run in a browser, as videos, or in a window."""
    from agora.benchmark.results.recordings import recordings
    from agora.benchmark.results.run_folder import RunFolder
    from agora.benchmark.results.selection import RunSelection
    from agora.cli.results import file_name, write_videos
    from agora.errors import ResultsError
    from agora.reporting.failures import titles
    from agora.viewer.live import check_screen
    from agora.viewer.live import play as show
    from agora.viewer.replay import write_replay
    from agora.viewer.why import why

    if live:
        check_screen()
    groups = RunSelection.of(run, keys).groups
    kept = recordings(run, [row["key"] for group in groups for row in group])
    named: dict[str, str] = {}
    blind = RunFolder.read(run).record.blind or ()
    for group in groups:
        if missing := [row["key"] for row in group if row["key"] not in kept]:
            raise ResultsError(f"{run}: no recording of {missing[0]} was kept; run the episode again with agora run")
        named |= titles(group, blind)
    for key, recording in kept.items():
        typer.echo(f"{named[key]}\n  {why(recording).words}")
    if video:
        for path in write_videos(run, [[row["key"] for row in group] for group in groups], named):
            typer.echo(f"video   {path}")
    elif not live:
        page = run / "replay" / f"{file_name(groups[0][0]['key']) if len(groups) == 1 else 'episodes'}.html"
        page.parent.mkdir(exist_ok=True)
        typer.echo(f"replay  {write_replay(page, kept, title=f'{run.name}: replay', titles=named)}")
    for group in groups if live else ():
        shown, *others = (kept[row["key"]] for row in group)
        show(shown, others=others)
