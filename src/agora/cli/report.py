"""``agora report``, ``compare``, ``table`` and ``figures``: pages, tables and figures of runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def report(folder: Annotated[Path, typer.Argument(help="Results folder.")]) -> None:
    """Rewrite the report of a run."""
    from agora.reporting.report import report as write

    typer.echo(write(folder))


def compare(
    runs: Annotated[list[Path], typer.Argument(help="Folders of the runs, at least two.", metavar="RUN RUN...")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The page to write (.html).")] = Path("results/compare.html"),
    baseline: Annotated[
        str | None, typer.Option(help="Baseline planner that the others are compared with; the first planner by default.")
    ] = None,
) -> None:
    """Compare runs: write a single report on all of them, with planners paired on identical episodes, and list the differences."""
    from agora.errors import InputError
    from agora.reporting.merged_runs import merged
    from agora.reporting.report import first_answers
    from agora.reporting.run_comparison import differences, write_comparison
    from agora.reporting.terminal import print_rows

    if len(runs) < 2:
        raise InputError(f"{runs[0]}: expected at least two runs; for one run, use agora report")
    if output.suffix.lower() != ".html":
        raise InputError(f"--output {output}: expected a name that ends in .html")
    found = merged(runs)
    if not found.rows:
        raise InputError(f"{', '.join(map(str, runs))}: expected runs with rows, got none")
    page = write_comparison(found, output, baseline)
    for note in found.notes:
        typer.echo(note)
    print_rows(found.rows, found.planners, answers=first_answers(found.rows, found.planners, found.control))
    for line in differences(found, baseline):
        typer.echo(line)
    for problem in found.problems:
        typer.echo(f"not as planned  {problem}", err=True)
    typer.echo(f"report  {page}")


def table(
    runs: Annotated[list[Path], typer.Argument(help="One or more run folders, as for agora compare.", metavar="RUN...")],
    kind: Annotated[str, typer.Option("--format", "-f", help="latex, csv or markdown.")] = "markdown",
    metric: Annotated[
        list[str] | None,
        typer.Option(
            "--metric", "-m", help="A metric; repeat the option for several. By default, the metrics at the top of the report."
        ),
    ] = None,
    stage: Annotated[
        list[str] | None, typer.Option("--stage", help="A stage; repeat the option for several. By default, all stages together.")
    ] = None,
    planner: Annotated[
        list[str] | None, typer.Option("--planner", "-p", help="A planner; repeat the option for several. All by default.")
    ] = None,
    own: Annotated[
        bool,
        typer.Option(
            "--own-episodes",
            help="Average over each planner's own episodes, not over those in which every planner reached the goal.",
        ),
    ] = False,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write the table to a file instead of printing it.")] = None,
) -> None:
    """Print a table for papers with planners as rows, metrics as columns and 95 % intervals; the best value is bold if the
    comparison is fair.
    """
    from agora.errors import InputError, UnknownNameError
    from agora.files import write_whole
    from agora.reporting.merged_runs import merged
    from agora.reporting.paper_tables import FORMATS, paper_table

    if kind not in FORMATS:
        raise InputError(f"--format: expected latex, csv or markdown, got {kind!r}")
    found = merged(runs)
    stages = dict.fromkeys(row["stage"] for row in found.rows)
    for name, known, what in ((stage, stages, "stage"), (planner, found.planners, "planner")):
        for one in name or ():
            if one not in known:
                raise UnknownNameError(what, one, known)
    rows = [row for row in found.rows if row["stage"] in (stage or stages) and row["planner"] in (planner or found.planners)]
    labels = [label for label in found.planners if label in (planner or found.planners)]
    text = FORMATS[kind](paper_table(rows, labels, found.title(stage or ()), metric or (), common=not own))
    for note in (*found.notes, *(f"not as planned  {problem}" for problem in found.problems)):
        typer.echo(note, err=True)
    if output is None:
        typer.echo(text, nl=False)
    else:
        write_whole(output, text)
        typer.echo(f"table  {output}")


def figures(
    folder: Annotated[Path, typer.Argument(help="Results folder.")],
    metric: Annotated[
        list[str] | None,
        typer.Option(
            "--metric", "-m", help="A metric to compare; repeat the option for several. By default, the six metrics of Arena 3.0."
        ),
    ] = None,
    kind: Annotated[str, typer.Option("--format", help="png, pdf or svg.")] = "pdf",
) -> None:
    """Write figures for a paper: outcomes with intervals, the distributions of metrics, and an overview of all of these."""
    from agora.errors import InputError
    from agora.reporting.headline import ARENA
    from agora.reporting.report import figures as write

    if kind not in ("png", "pdf", "svg"):
        raise InputError(f"--format: expected png, pdf or svg, got {kind!r}")
    for path in write(folder, metric or list(ARENA), kind):
        typer.echo(path)
