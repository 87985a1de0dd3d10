"""Arguments and options shared by several commands."""

from __future__ import annotations

from typing import Annotated

import typer

SuiteName = Annotated[
    str,
    typer.Argument(help="A suite's name (agora list suites) or file, a scenario file (.json), or an Arena benchmark folder."),
]

InterPlannerName = Annotated[
    str,
    typer.Option(
        "--interplanner", "-i", help="Interplanner for planners that do not specify one: NAME or NAME:key=value,key=value."
    ),
]

Seed = Annotated[
    int | None,
    typer.Option(help="Seed for people and generated places, instead of the seeds in the suite and its stages.", min=0),
]

Simulator = Annotated[str, typer.Option(help="Simulator of the robots, NAME or NAME:key=value; by default, the stage's simulator.")]

VideoCount = Annotated[
    str,
    typer.Option(
        "--videos", "--video", help="Number of episodes per planner to write as videos, or failed for all failed episodes."
    ),
]
