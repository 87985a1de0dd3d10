"""``agora web``: the pages, and the worker of their runs; imports are made when they run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def web(
    folder: Annotated[Path, typer.Argument(help="Folder of the runs and of the database; made where it is not there.")] = Path(
        "results/web"
    ),
    port: Annotated[int, typer.Option(help="Port on this machine; 0 for any that is free.", min=0, max=65535)] = 8080,
    database: Annotated[
        str,
        typer.Option(
            help="URL of a database, such as postgresql+psycopg://USER@HOST/NAME; a file in the folder by default.",
            envvar="AGORA_WEB_DATABASE",
        ),
    ] = "",
    workers: Annotated[int, typer.Option(help="Workers of the queue, each for one run at a time; 0 for none.", min=0)] = 1,
    executor: Annotated[
        str, typer.Option(help="Who runs the episodes of runs, with parameters: ray:address=HOST:6379; processes here by default.")
    ] = "",
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")] = True,
) -> None:
    """Open Agora in a browser: run, watch, drive, compare. It listens on this machine alone; Ctrl-C ends it."""
    from agora.errors import InputError
    from agora.extras import lacking

    if absent := lacking(["web"]):
        raise InputError(f"agora web: {absent}")
    from agora.web.serve import serve
    from agora.web.settings import Settings

    serve(Settings(folder, database, executor=executor), port, workers, opens=browser, say=lambda line: typer.echo(line, err=True))
