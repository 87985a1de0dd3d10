"""``agora play``: recorded episodes of a run, as a page, as videos, or in a window."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def play(
    run: Annotated[Path, typer.Argument(help="Folder of a run.", metavar="RUN")],
    keys: Annotated[
        list[str], typer.Argument(help="Episodes, SUITE/STAGE/EPISODE/PLANNER, as the report names them.", metavar="KEY...")
    ],
    video: Annotated[bool, typer.Option("--videos", "--video", help="Write a video of each (.mp4).")] = False,
    live: Annotated[bool, typer.Option("--live", help="Show them in a window, one after the other.")] = False,
) -> None:
    """Say how recorded episodes of a run ended, and play them: a page that opens in a browser, videos, or a window."""
    from agora.benchmark.exchange import KeptRun
    from agora.benchmark.failures import titles
    from agora.benchmark.kept import recordings
    from agora.benchmark.run_folder import RunFolder
    from agora.cli.results import file_name, write_videos
    from agora.errors import ResultsError
    from agora.viewer.live import check_screen
    from agora.viewer.live import play as show
    from agora.viewer.replay import write_replay
    from agora.viewer.why import why

    if live:
        check_screen()
    groups = KeptRun.of(run, keys).groups
    kept = recordings(run, [row["key"] for group in groups for row in group])
    named: dict[str, str] = {}
    blind = RunFolder.read(run).record.blind or ()
    for group in groups:
        if missing := [row["key"] for row in group if row["key"] not in kept]:
            raise ResultsError(f"{run}: no recording of {missing[0]} was kept; agora run plays the episode again")
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
