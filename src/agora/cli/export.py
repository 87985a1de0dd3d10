"""``agora export``: writes episodes of a run as files for other programs. Modules are imported only when a command runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

Keys = Annotated[
    list[str] | None,
    typer.Option(
        "--key", "-k", help="An episode to export, SUITE/STAGE/EPISODE/PLANNER; repeat the option for several. All by default."
    ),
]

export = typer.Typer(
    help="Export episodes or rows of a run to formats that other programs read.",
    epilog="See also: agora table (tables for papers), agora figures, agora map export, agora policy export.",
    no_args_is_help=True,
)


@export.command()
def mcap(
    sources: Annotated[
        list[Path],
        typer.Argument(
            help="Run folders, bags, MCAP files, folders that contain them, or folders written by Arena's recorder.",
            metavar="SOURCE...",
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the MCAP files, one per episode.")],
    key: Keys = None,
) -> None:
    """Write recorded episodes as MCAP files, which Foxglove can show and agora bag can read."""
    from agora.benchmark.exports.mcap import write_mcap_files
    from agora.errors import InputError

    unread: list[str] = []
    with _bar("mcap") as progress:
        written = write_mcap_files(output, sources, key or (), progress, unread)
    for path in written:
        typer.echo(f"mcap  {path}")
    if unread:
        raise InputError("\n".join([f"left out {len(unread)} recordings that cannot be read:", *unread]))


@export.command()
def socnavbench(
    run: Annotated[Path, typer.Argument(help="Folder of a run of a SocNavBench suite.", metavar="RUN")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder in which test_PLANNER/EPISODE are created.")],
    key: Keys = None,
) -> None:
    """Write episodes as files for SocNavBench's own programs: episode_log.txt, scores, sim_state_data, joystick_data."""
    from agora.benchmark.socnavbench.files import write_socnavbench_files

    for path in write_socnavbench_files(output, run, key or ()):
        typer.echo(f"episode  {path}")


@export.command()
def socnavdata(
    run: Annotated[Path, typer.Argument(help="Folder of a run whose episodes have one robot each.", metavar="RUN")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the JSON files, one per episode.")],
    key: Keys = None,
    context: Annotated[str, typer.Option(help="The robot's task, in English; written as context_description in each file.")] = "",
) -> None:
    """Write episodes as SocNavData2026 trajectory files (JSON), for its raters and its learned metric ALT."""
    from agora.benchmark.exports.socnavdata import write_socnavdata_files

    for path in write_socnavdata_files(output, run, key or (), context):
        typer.echo(f"trajectory  {path}")


@export.command()
def demonstrations(
    run: Annotated[Path, typer.Argument(help="Folder of a run with --record scan.", metavar="RUN")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the demonstrations, one .npz file per robot.")],
) -> None:
    """Write the observations and commands of a run as training demonstrations; for bags, use agora bag --demonstrations."""
    from agora.learning.demonstrations import write_demonstrations_of_run

    for path in write_demonstrations_of_run(run, output):
        typer.echo(f"demonstration  {path}")


@export.command()
def rosbag(
    run: Annotated[Path, typer.Argument(help="Folder of a run.", metavar="RUN")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the bags, one per episode.")],
    key: Keys = None,
) -> None:
    """Write episodes as ROS 1 bags, without ROS: for RViz, rqt and rosbag, and for agora bag."""
    from agora.benchmark.exports.rosbag import write_bags

    with _bar("rosbag") as progress:
        written = write_bags(output, run, key or (), progress)
    for path in written:
        typer.echo(f"bag  {path}")


@export.command("csv")
def csv_(
    run: Annotated[Path, typer.Argument(help="Folder of a run.", metavar="RUN")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The CSV file to write.")],
) -> None:
    """Write the rows of a run as a CSV file for spreadsheets: one line per episode and robot, with every metric."""
    from agora.benchmark.exports.rows_csv import write_csv

    typer.echo(f"csv  {write_csv(output, run)}")


@contextmanager
def _bar(title: str) -> Iterator[Callable[[int, int], None]]:
    """Show progress on a terminal; yield a function that takes the number of finished items and the total number."""
    from agora.cli.results import progress_bar

    with progress_bar() as bar:
        task = bar.add_task(title)
        yield lambda done, total: bar.update(task, completed=done, total=total)
