"""The command line: its commands, and the errors that end it. Commands import their parts when they run, so ``--help`` is quick."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from agora import __version__
from agora.cli.bags import bag, demonstrations, mcap, socnavbench, socnavdata
from agora.cli.bench import bench
from agora.cli.compiling import tell_compiling
from agora.cli.data import data
from agora.cli.export import export
from agora.cli.leaderboard import leaderboard, submit
from agora.cli.machine import doctor, warm
from agora.cli.maps import import_, maps
from agora.cli.names import list_, robot
from agora.cli.policies import policies
from agora.cli.report import compare, figures, report, table
from agora.cli.run import run
from agora.cli.scenarios import scenarios
from agora.cli.serve import serve
from agora.cli.train import train
from agora.cli.tune import tune
from agora.cli.validate import calibrate, validate
from agora.errors import AgoraError, StoppedError, in_words

app = typer.Typer(
    name="agora",
    help="Robot navigation among people: run, benchmark, look.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
)
COMMANDS = (
    (bench, run, report, compare, table, figures, validate, calibrate, tune, train)
    + (bag, submit, leaderboard)
    + (list_, robot, warm, doctor)
)
GROUPS = {"export": export, "data": data, "scenario": scenarios, "map": maps, "import": import_, "policy": policies, "serve": serve}
FORMER = (mcap, socnavbench, socnavdata, demonstrations)
"""Commands that are among those of ``agora export`` now, and go on under their old names, too."""

for _command in COMMANDS:
    app.command(_command.__name__.rstrip("_"))(_command)
for _former in FORMER:
    app.command(_former.__name__, hidden=True)(_former)
for _name, _group in GROUPS.items():
    app.add_typer(_group, name=_name)


@app.callback(invoke_without_command=True)
def _version(show: Annotated[bool, typer.Option("--version", help="Print the version.", is_eager=True)] = False) -> None:
    if show:
        typer.echo(__version__)
        raise typer.Exit


def main() -> None:
    """Run the command line; whoever reads its output may stop reading, which ends it without a word."""
    try:
        _run()
    finally:
        try:
            sys.stdout.flush()
        except BrokenPipeError:  # Python would flush once more at its end, and complain
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _run() -> None:
    """Run a command: errors of Agora, and of the files that it was given, are one message and exit code 2.

    A disk that is full, a path that is too long or may not be read, and a machine without memory are nobody's mistake in the code.
    """
    tell_compiling()
    try:
        app()
    except StoppedError as stopped:
        typer.echo(str(stopped), err=True)
        sys.exit(stopped.code)
    except AgoraError as error:
        problem = str(error)
    except OSError as error:
        problem = in_words(error) if error.filename is None else f"{error.filename}: {error.strerror}"
    except MemoryError:
        problem = "the memory of this machine is not enough"
    else:
        return
    typer.echo(f"error: {problem.encode('utf-8', 'backslashreplace').decode()}", err=True)
    sys.exit(2)
