"""``agora report``, ``compare`` and ``figures``: pages and figures of runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def report(folder: Annotated[Path, typer.Argument(help="Folder of the results.")]) -> None:
    """Write the report of a run again."""
    from agora.benchmark.kept import report as write

    typer.echo(write(folder))


def compare(
    runs: Annotated[list[Path], typer.Argument(help="Folders of the runs, at least two.", metavar="RUN RUN...")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The page that is written (.html).")] = Path(
        "results/compare.html"
    ),
    baseline: Annotated[
        str | None, typer.Option(help="Planner that the others are compared with; the first one by default.")
    ] = None,
) -> None:
    """Compare runs: write one report of all, with planners paired on the episodes that are the same, and say what is not."""
    from agora.benchmark.compare import differences, write_comparison
    from agora.benchmark.merged import merged
    from agora.benchmark.terminal import print_rows
    from agora.errors import InputError

    if len(runs) < 2:
        raise InputError(f"{runs[0]}: expected at least two runs; agora report writes the page of one")
    if output.suffix.lower() != ".html":
        raise InputError(f"--output {output}: expected a name that ends in .html")
    found = merged(runs)
    if not found.rows:
        raise InputError(f"{', '.join(map(str, runs))}: hold no rows")
    page = write_comparison(found, output, baseline)
    for note in found.notes:
        typer.echo(note)
    print_rows(found.rows)
    for line in differences(found, baseline):
        typer.echo(line)
    for problem in found.problems:
        typer.echo(f"not as planned  {problem}", err=True)
    typer.echo(f"report  {page}")


def figures(
    folder: Annotated[Path, typer.Argument(help="Folder of the results.")],
    metric: Annotated[
        list[str] | None, typer.Option("--metric", "-m", help="A metric to compare; repeat it. Arena 3.0's six by default.")
    ] = None,
    kind: Annotated[str, typer.Option("--format", help="png, pdf or svg.")] = "pdf",
) -> None:
    """Write figures for a paper: outcomes with intervals, the distribution of metrics, and an overview of all of these."""
    from agora.benchmark.headline import ARENA
    from agora.benchmark.kept import figures as write
    from agora.errors import InputError

    if kind not in ("png", "pdf", "svg"):
        raise InputError(f"--format: expected png, pdf or svg, got {kind!r}")
    for path in write(folder, metric or list(ARENA), kind):
        typer.echo(path)
