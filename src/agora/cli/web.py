"""``agora web``: serves the web interface and executes the requested runs with workers. Modules are imported only when a command
runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from agora.cli.given import refuse


def web(
    folder: Annotated[Path, typer.Argument(help="Folder of the runs and of the database; created if it does not exist.")] = Path(
        "results/web"
    ),
    host: Annotated[
        str,
        typer.Option(
            help="Address of this machine to listen on, 0.0.0.0 for all; if other machines can reach it, accounts are turned on."
        ),
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port on this machine; 0 for any free port.", min=0, max=65535)] = 8080,
    database: Annotated[
        str,
        typer.Option(
            help="URL of a database, such as postgresql+psycopg://USER@HOST/NAME; a file in the folder by default.",
            envvar="AGORA_WEB_DATABASE",
        ),
    ] = "",
    workers: Annotated[
        int,
        typer.Option(
            help="Number of workers, each of which executes one run at a time; an additional worker executes training runs. 0 for "
            "none.",
            min=0,
        ),
    ] = 1,
    executor: Annotated[
        str,
        typer.Option(help="Executor of the runs, with its parameters, such as ray:address=HOST:6379; local processes by default."),
    ] = "",
    accounts: Annotated[
        bool,
        typer.Option(
            "--accounts",
            help="Require users to sign in even if only this machine can reach the address, as is the case behind a proxy.",
        ),
    ] = False,
    name: Annotated[
        list[str] | None,
        typer.Option(
            help="With accounts: host name that requests may use for the server; repeat the option for several. Any by default."
        ),
    ] = None,
    proxy: Annotated[
        list[str] | None,
        typer.Option(
            help="With accounts: address or network of a trusted proxy that reports the client's address; repeat the option for "
            "several. Proxies on this machine are trusted."
        ),
    ] = None,
    allow_code: Annotated[
        bool,
        typer.Option(
            "--allow-code", help="Let users with the role run upload planners as Python files, which run in confined processes."
        ),
    ] = False,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")] = True,
) -> None:
    """Open Agora in a browser to run, watch, drive or compare. Only this machine can reach it by default. Ctrl-C stops it."""
    from agora.errors import InputError
    from agora.extras import lacking

    if workers == 0:
        refuse("with --workers 0 (agora server worker has its own --executor option)", "executor")
    if absent := lacking(["web"]):
        raise InputError(f"agora web: {absent}")
    from agora.web.serve import is_loopback, serve
    from agora.web.settings import Settings, read_limits

    signs_in = accounts or not is_loopback(host)
    if not signs_in and (name or proxy):
        raise InputError("--name and --proxy are for a server with accounts; add --accounts")
    settings = Settings(
        folder,
        database,
        executor=executor,
        accounts=signs_in,
        names=tuple(one.lower() for one in name or ()),
        proxies=tuple(proxy or ()),
        limits=read_limits(folder),
        allow_code=allow_code,
    )
    serve(settings, host, port, workers, opens=browser, say=lambda line: typer.echo(line, err=True))
