"""``agora report`` and ``agora figures``: pages and figures of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def report(folder: Annotated[Path, typer.Argument(help="Folder of the results.")]) -> None:
    """Write the report of a run again."""
    from agora.benchmark.kept import report as write

    typer.echo(write(folder))


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
