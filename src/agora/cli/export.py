"""``agora export``: episodes of a run as files of other programs; imports are made when they run."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from agora.cli.bags import demonstrations, mcap, socnavbench, socnavdata

export = typer.Typer(
    help="Write episodes or rows of a run as files that other programs open.",
    epilog="Elsewhere: tables for papers agora table, figures agora figures, maps agora map export, policies agora policy export.",
    no_args_is_help=True,
)
for _command in (mcap, socnavbench, socnavdata, demonstrations):
    export.command(_command.__name__)(_command)


@export.command()
def rosbag(
    run: Annotated[Path, typer.Argument(help="Folder of a run.", metavar="RUN")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder of the bags, one for each episode.")],
    key: Annotated[
        list[str] | None,
        typer.Option("--key", "-k", help="An episode, SUITE/STAGE/EPISODE/PLANNER; repeat it; all by default."),
    ] = None,
) -> None:
    """Write episodes as bags of ROS 1, without ROS: for RViz, rqt and rosbag, and for agora bag."""
    from agora.benchmark.bag_files import write_bags

    with _bar("rosbag") as progress:
        written = write_bags(output, run, key or (), progress)
    for path in written:
        typer.echo(f"bag  {path}")


@export.command("csv")
def csv_(
    run: Annotated[Path, typer.Argument(help="Folder of a run.", metavar="RUN")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The file (.csv).")],
) -> None:
    """Write the rows of a run as one CSV file: a line for each episode and robot, with every metric, for a spreadsheet."""
    from agora.benchmark.rows_csv import write_csv

    typer.echo(f"csv  {write_csv(output, run)}")


@contextmanager
def _bar(title: str) -> Iterator[Callable[[int, int], None]]:
    """The progress on a terminal: a function of what is done and of all."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task(title)
        yield lambda done, total: bar.update(task, completed=done, total=total)
