"""The command line: its commands, and the handling of errors. Each command imports its modules only when it runs, so that
``--help`` is quick.
"""

from __future__ import annotations

import inspect
import os
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from agora import __version__
from agora.cli.bags import bag
from agora.cli.bench import bench
from agora.cli.compiling import tell_compiling
from agora.cli.data import data
from agora.cli.edition import edition
from agora.cli.ending import end_in_time, open_streams
from agora.cli.export import demonstrations, export, mcap, socnavbench, socnavdata
from agora.cli.leaderboard import leaderboard, submit
from agora.cli.look import look
from agora.cli.machine import doctor, warm
from agora.cli.maps import import_, maps
from agora.cli.names import list_, robot
from agora.cli.once import Once
from agora.cli.play import play
from agora.cli.policies import policies
from agora.cli.report import compare, figures, report, table
from agora.cli.run import run
from agora.cli.scenarios import scenarios
from agora.cli.serve import serve
from agora.cli.server import server
from agora.cli.train import train
from agora.cli.tune import tune
from agora.cli.validate import calibrate, validate
from agora.cli.web import web
from agora.core.untrusted_calls import tell_crashes
from agora.errors import AgoraError, StoppedError, in_words

PANELS: dict[str, dict[str, Any]] = {
    "Run": {"run": run, "bench": bench, "validate": validate, "calibrate": calibrate, "tune": tune, "edition": edition},
    "Look": {
        "report": report,
        "play": play,
        "look": look,
        "compare": compare,
        "table": table,
        "figures": figures,
        "leaderboard": leaderboard,
        "list": list_,
        "robot": robot,
    }
    | {"scenario": scenarios, "map": maps, "data": data},
    "Train": {"train": train, "policy": policies},
    "Convert": {"export": export, "bag": bag, "import": import_, "submit": submit},
    "Servers and this machine": {"web": web, "server": server, "serve": serve, "warm": warm, "doctor": doctor},
}
"""The panels of ``agora --help``: commands, and groups of commands, by their names."""

FORMER = (mcap, socnavbench, socnavdata, demonstrations)
"""Commands that have moved to ``agora export``, and can still be called by their old names."""


class _InPanels(TyperGroup):
    """A command group that lists its commands in the order of the panels."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of the commands in panel order."""
        return [name for panel in PANELS.values() for name in panel]


app = typer.Typer(
    name="agora",
    help="Robot navigation among people: run, benchmark and inspect planners.",
    cls=_InPanels,
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
)
for _panel, _commands in PANELS.items():
    for _name, _command in _commands.items():
        if isinstance(_command, typer.Typer):
            app.add_typer(_command, name=_name, rich_help_panel=_panel)
        else:
            app.command(_name, rich_help_panel=_panel)(_command)
for _former in FORMER:
    app.command(_former.__name__, hidden=True)(_former)


def _prepare(group: typer.Typer) -> None:
    """Make all commands in a group reject repeated single-value options, and wrap their help to the terminal's width."""
    for each in group.registered_commands:
        each.cls = Once
        each.help = each.help or _unwrapped(each.callback)
    for inner in group.registered_groups:
        if inner.typer_instance is not None:
            _prepare(inner.typer_instance)


def _unwrapped(command: Any) -> str:
    """Return the docstring of a command with one line per paragraph; Typer keeps the line breaks of all but the first paragraph."""
    paragraphs = (inspect.getdoc(command) or "").split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


_prepare(app)


@app.callback(invoke_without_command=True)
def _version(show: Annotated[bool, typer.Option("--version", help="Print the version.", is_eager=True)] = False) -> None:
    if show:
        typer.echo(__version__)
        raise typer.Exit


def main() -> None:
    """Run the command line; end silently if the program that reads the output stops reading."""
    open_streams()
    tell_crashes()
    code = 1
    try:
        _run()
        code = 0
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(bool(ended.code))
        raise
    finally:
        end_in_time(code)
        try:
            sys.stdout.flush()
        except BrokenPipeError:  # otherwise, Python would flush the output again at exit, and fail
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _run() -> None:
    """Run a command. Agora's errors, and errors that concern the files given to the command, end it with a single message and exit
    code 2.

    A full disk, a path that is too long or not readable, and a lack of memory are not treated as bugs.
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
        problem = "out of memory"
    else:
        return
    typer.echo(f"error: {problem.encode('utf-8', 'backslashreplace').decode()}", err=True)
    sys.exit(2)
