"""Arguments and options that several commands have."""

from __future__ import annotations

from typing import Annotated

import typer

SuiteName = Annotated[
    str,
    typer.Argument(help="A suite's name (agora list suites) or file, a scenario file (.json), or a folder of Arena's benchmark."),
]

InterPlannerName = Annotated[
    str, typer.Option("--interplanner", "-i", help="In front of planners that name none: NAME or NAME:key=value,key=value.")
]

Seed = Annotated[
    int | None,
    typer.Option(help="Seed instead of the suite's and its stages', of people and of generated places.", min=0),
]

Simulator = Annotated[str, typer.Option(help="What moves the robots, NAME or NAME:key=value; the stage's own by default.")]

VideoCount = Annotated[
    str, typer.Option("--videos", "--video", help="Episodes of each planner to film, or failed for every failure.")
]
