"""Arguments and options shared by several commands."""

from __future__ import annotations

from typing import Annotated

import typer

SuiteName = Annotated[
    str,
    typer.Argument(help="A suite's name (agora list suites) or file, a scenario file (.json), or a folder of Arena's benchmark."),
]

InterPlannerName = Annotated[
    str, typer.Option("--interplanner", "-i", help="Interplanner of the planners that name none: NAME or NAME:key=value,key=value.")
]

Seed = Annotated[
    int | None,
    typer.Option(help="Seed of people and generated places, instead of the seeds of the suite and its stages.", min=0),
]

Simulator = Annotated[str, typer.Option(help="Simulator of the robots, NAME or NAME:key=value; that of the stage by default.")]

VideoCount = Annotated[
    str, typer.Option("--videos", "--video", help="Number of episodes per planner to film, or failed for every failure.")
]
