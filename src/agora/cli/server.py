"""``agora server``: commands for administering an ``agora web`` server. Modules are imported only when a command runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from agora.web.settings import Settings

server = typer.Typer(no_args_is_help=True, help="Workers, invitations, backup and restoration of an agora web server.")

Folder = Annotated[Path, typer.Argument(help="Server folder.")]
Database = Annotated[
    str, typer.Option(help="URL of the server's database; a file in the server folder by default.", envvar="AGORA_WEB_DATABASE")
]


@server.command()
def worker(
    folder: Folder,
    database: Database = "",
    count: Annotated[
        int,
        typer.Option(
            help="Number of workers, each of which executes one run at a time; an additional worker executes training runs.", min=1
        ),
    ] = 1,
    executor: Annotated[
        str,
        typer.Option(help="Executor of the runs, with its parameters, such as ray:address=HOST:6379; local processes by default."),
    ] = "",
) -> None:
    """Execute a server's runs until SIGTERM or Ctrl-C; an unfinished run then waits for another worker.

    For workers on machines other than the one that serves the web interface; all machines share the folder and a PostgreSQL
    database. With `agora web --workers 0`, the machine that serves the web interface does not run workers.
    """
    import signal
    import threading

    settings = _settings(folder, database, executor)
    from agora.web.database import open_database
    from agora.web.workers import run_workers

    if not settings.folder.is_dir():
        from agora.errors import InputError

        raise InputError(f"{settings.folder}: not a server folder; create one with agora web")
    over = threading.Event()
    for sign in (signal.SIGTERM, signal.SIGINT):
        signal.signal(sign, lambda *_: over.set())
    with open_database(settings.url) as engine, run_workers(settings, engine, count):
        typer.echo(f"executing the runs of {settings.folder}; press Ctrl-C to stop", err=True)
        while not over.wait(1.0):
            pass


@server.command()
def backup(
    folder: Folder,
    database: Database = "",
    output: Annotated[
        Path, typer.Option("--output", "-o", help="File to write; replaces an existing file once the backup is complete.")
    ] = Path("agora_backup.tar.gz"),
) -> None:
    """Write all content of a server to a single file: database rows, runs, scenarios and worlds. The server may keep running."""
    settings = _settings(folder, database)
    from agora.web.backup import back_up

    counts = back_up(settings, output, lambda line: typer.echo(line, err=True))
    typer.echo(f"{output}  {_said(counts)}, {output.stat().st_size / 1e6:.1f} MB")


@server.command()
def restore(
    file: Annotated[Path, typer.Argument(help="File written by agora server backup.")],
    folder: Annotated[Path, typer.Argument(help="Folder to restore to; must be empty or not exist.")],
    database: Annotated[
        str,
        typer.Option(help="URL of an empty database, of any kind; a file in the folder by default.", envvar="AGORA_WEB_DATABASE"),
    ] = "",
) -> None:
    """Restore a backup to an empty folder and an empty database, which may be of a different kind from the original."""
    settings = _settings(folder, database)
    from agora.web.backup import restore as bring_back

    counts = bring_back(settings, file, lambda line: typer.echo(line, err=True))
    typer.echo(f"{folder}  {_said(counts)}")


@server.command()
def invite(
    folder: Folder,
    database: Database = "",
    role: Annotated[str, typer.Option(help="Role granted by the invitation: look, run or administer.")] = "look",
    user: Annotated[
        str,
        typer.Option(
            help="An existing user, who receives the role, is unblocked and sets a new password; by default, the invitation is for "
            "a new user."
        ),
    ] = "",
    address: Annotated[str, typer.Option(help="Address at which users reach the server.")] = "http://127.0.0.1:8080",
) -> None:
    """Print an invitation link for a new person, or for a user who has lost the password; it can be used once and expires after 7
    days.
    """
    settings = _settings(folder, database)
    from agora.errors import InputError
    from agora.web.invitations import invite as make_invitation

    if not settings.runs.is_dir():
        raise InputError(f"{folder}: not a server folder; create one with agora web")
    typer.echo(f"{address.rstrip('/')}/invitation#{make_invitation(settings, role, user)}")


def _settings(folder: Path, database: str, executor: str = "") -> Settings:
    from agora.errors import InputError
    from agora.extras import lacking

    if absent := lacking(["web"]):
        raise InputError(f"agora server: {absent}")
    from agora.web.settings import Settings, read_limits

    return Settings(folder, database, executor=executor, limits=read_limits(folder))


def _said(counts: dict[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.items())
