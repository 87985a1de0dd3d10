"""``agora edition``: draws an edition of a suite. Modules are imported only when a command runs."""

from __future__ import annotations

from typing import Annotated

import typer


def edition(
    suite: Annotated[str, typer.Argument(help="A suite's name, such as social.")],
    name: Annotated[str, typer.Argument(help="Name of the edition: a year and a month, such as 2026.12.")],
    text: Annotated[
        str, typer.Option(help="A public text that did not exist at the time of the commit, such as a public random number.")
    ],
    published: Annotated[str, typer.Option(help="Time at which the text was published, such as 2026-12-03T12:00:00+00:00.")],
    source: Annotated[str, typer.Option(help="Address at which the text can be read.")],
    episodes: Annotated[int | None, typer.Option(help="Episodes per stage; as in the suite by default.", min=1)] = None,
) -> None:
    """Draw an edition of a suite at the checked-out commit; its worlds are determined by the commit and a later public text."""
    from agora.benchmark.editions import draw

    path, left_out = draw(suite, name, text, published=published, source=source, episodes=episodes)
    for planner, reason in left_out.items():
        typer.echo(f"not in the draw: {planner}: {reason}", err=True)
    typer.echo(f"edition  {path}")
    typer.echo(f"run it with: agora bench {path.stem}")
