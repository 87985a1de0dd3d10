"""``agora submit`` and ``agora leaderboard``. Modules are imported only when a command runs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agora.benchmark.defaults import WORKERS
from agora.cli.differing import LINES, lines
from agora.cli.given import refuse

if TYPE_CHECKING:
    from agora.leaderboard.entry import Check


def submit(
    folder: Annotated[list[Path], typer.Argument(help="Folder of a finished run; with --check, folders of entries.")],
    check: Annotated[
        bool, typer.Option("--check", help="Run a sample of an entry's episodes again and compare the results.")
    ] = False,
    planner: Annotated[
        list[str] | None,
        typer.Option("--planner", "-p", help="Label of a planner in the run; repeat the option for several. All by default."),
    ] = None,
    name: Annotated[str, typer.Option(help="Name of the entry; the planner's label by default.")] = "",
    author: Annotated[str, typer.Option(help="Author of the entry.")] = "",
    description: Annotated[str, typer.Option(help="A description of the planner in a few sentences.")] = "",
    replays: Annotated[
        int, typer.Option(help="Maximum number of recordings to keep, starting with one per outcome.", min=0, max=8)
    ] = 2,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Leaderboard folder; entries are stored as FOLDER/SUITE/NAME.")
    ] = Path("leaderboard"),
    episodes: Annotated[int, typer.Option(help="With --check: number of episodes to run again.", min=1)] = 10,
    seed: Annotated[
        int | None, typer.Option(help="With --check: seed for choosing the episodes; random by default.", min=0)
    ] = None,
    workers: Annotated[
        int, typer.Option(help="With --check: number of worker processes; with 0, episodes run in this process.", min=0)
    ] = WORKERS,
    connect: Annotated[bool, typer.Option("--connect", help="With --check: connect to the address given in an entry.")] = False,
) -> None:
    """Create leaderboard entries from a finished run, or check entries by replaying their commands and running some episodes again.

    A check exits with code 1 if a result was not reproduced, and with code 2 if the entry cannot be run on this machine under the
    original conditions.
    """
    from agora.leaderboard.submission import Words
    from agora.leaderboard.submission import submit as make

    if not check:
        refuse("without --check", "episodes", "seed", "workers", "connect")
        words = Words(name, author, description)
        for run in folder:
            for place in make(run, output, planner or (), words, replays=replays):
                typer.echo(f"entry  {place}")
        return
    refuse("with --check", "planner", "name", "author", "description", "replays", "output")
    agree = [_check(entry, episodes, seed, workers, connect) for entry in folder]
    raise typer.Exit(0 if all(agree) else 1)


def _check(folder: Path, episodes: int, seed: int | None, workers: int, connect: bool) -> bool:
    """Check an entry, print the result, and return whether everything agrees."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    from agora.benchmark.request import Options
    from agora.leaderboard.entry_folder import read_entry
    from agora.leaderboard.verification import Sample, one_cpu_only
    from agora.leaderboard.verification import check as verify

    with Progress(
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), disable=not sys.stderr.isatty(), transient=True
    ) as bar:
        task = bar.add_task(str(folder))
        result = verify(
            folder,
            Sample(episodes, seed),
            Options(workers=workers),
            lambda done, total: bar.update(task, completed=done, total=total),
            connect=connect,
        )
    _say(folder, result)
    entry = read_entry(folder).entry
    if one_cpu_only(entry, result.machine.cpu):
        made = ", ".join(dict.fromkeys(machine.cpu for machine in entry.made_on))
        typer.echo(
            f"note  the entry was made on {made}, but this machine has {result.machine.cpu}; planners that use "
            f"{', '.join(entry.pins.packages)} are only reproducible on the same CPU, so a small difference may be due "
            "to the CPU",
            err=not result.agrees,
        )
    return result.agrees


def _say(folder: Path, check: Check) -> None:
    """Print the result of a check."""
    from agora.leaderboard.verification import chance_to_miss

    drawn = f"{check.episodes} of {check.of} episodes, sampled with seed {check.seed}"
    if check.agrees:
        typer.echo(
            f"{folder}: agrees: the recorded commands of all {check.driven} rows, and the planner on {drawn}, reproduce every value"
        )
    elif check.problems:
        typer.echo(f"{folder}: BREAKS THE RULES, so no episode was run again", err=True)
    elif check.episodes:
        typer.echo(f"{folder}: DIFFERS: the planner does not reproduce these values on {drawn}", err=True)
    else:
        typer.echo(f"{folder}: DIFFERS: the recorded commands do not reproduce these values, so the planner was not run", err=True)
    for line in (*check.problems[:LINES], *lines(check.differences)):
        typer.echo(f"  {line}", err=True)
    if check.agrees and check.episodes < check.of:
        tenth = max(2, round(check.of / 10))
        chances = ", ".join(f"{chance_to_miss(k, check.episodes, check.of):.0%} for {k}" for k in (1, tenth))
        typer.echo(
            f" probability that such a sample misses falsified episodes: {chances}; --episodes {check.of} runs all episodes again"
        )


def leaderboard(
    folder: Annotated[list[Path] | None, typer.Argument(help="Folders that contain entries, at any depth.")] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="Page to write (.html).")] = Path("leaderboard.html"),
    alone: Annotated[bool, typer.Option("--alone", help="Leave out the entries that come with Agora's source.")] = False,
) -> None:
    """Write all entries to a single page that works offline: a table for each suite, with intervals, ranks, filters and replays."""
    from agora.leaderboard.page import write

    typer.echo(f"page  {write(folder or [], output, with_own=not alone)}")
