"""``agora doctor`` and ``agora warm``: this machine, and its compiled kernels."""

from __future__ import annotations

import typer


def doctor() -> None:
    """Report what is available on this machine and what is missing."""
    from agora.doctor import examine

    good = True
    for line, fine in examine():
        good &= fine is not False
        typer.echo(f"{'absent' if fine is None else 'ok' if fine else 'MISSING':7s} {line}")
    raise typer.Exit(0 if good else 1)


def warm() -> None:
    """Compile the kernels of a ROS graph in advance, so that its first start is quick; needed once per machine, takes about a
    minute.
    """
    from agora.node_logic.warm import warm as compile_kernels

    typer.echo("compiling kernels; needed once per machine, takes about a minute ...")
    compile_kernels()
    typer.echo("done")
