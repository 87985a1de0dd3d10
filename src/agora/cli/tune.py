"""``agora tune``. Modules are imported only when a command runs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from agora.benchmark.defaults import WORKERS


def tune(
    planner: Annotated[str, typer.Argument(help="A planner or preset to start from, NAME or NAME:key=value,key=value.")],
    suite: Annotated[str, typer.Option("--suite", "-s", help="Suite to tune on: name or file; its split must be training.")],
    held_out: Annotated[
        str, typer.Option("--held-out", help="Suite to compare the result on: name or file; its split must be test.")
    ],
    objective: Annotated[
        str, typer.Option(help="The objective to maximise: a metric, or a weighted sum of metrics.")
    ] = "success + 0.2 * barn_score",
    trials: Annotated[int, typer.Option(help="Number of parameter sets to try.", min=1)] = 64,
    minutes: Annotated[float | None, typer.Option(help="Time limit, minutes; no trials are started after it.", min=0.0)] = None,
    seed: Annotated[int, typer.Option(help="Seed of the search; the suites keep their seeds.", min=0)] = 0,
    prune: Annotated[bool, typer.Option(help="Stop trials that are below the median after a quarter of the episodes.")] = True,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Folder for the results; results/tune_PLANNER by default.")
    ] = None,
    preset: Annotated[
        Path | None, typer.Option(help="File for the tuned parameters; by default, PLANNER_tuned.yaml in Agora's presets folder.")
    ] = None,
    workers: Annotated[
        int, typer.Option(help="Number of worker processes; with 0, episodes run in this process.", min=0)
    ] = WORKERS,
    resume: Annotated[bool, typer.Option("--resume", help="Continue the tuning run in the results folder.")] = False,
) -> None:
    """Tune a planner's parameters on a training suite, and compare the result on a held-out suite."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from agora.benchmark.informed import refuse_informed
    from agora.benchmark.request import Options
    from agora.benchmark.results.run_folder import episodes_kept
    from agora.cli.stopping import stoppable
    from agora.errors import ResultsError
    from agora.files import write_whole
    from agora.planners.presets import named_planner
    from agora.reporting.report import report
    from agora.share import folder as shared
    from agora.tasks.suite import load_suite
    from agora.tuning.objective import Objective
    from agora.tuning.result import Tried, Tuned, estimate_text
    from agora.tuning.result import preset_text as text_of
    from agora.tuning.tune import Tuning
    from agora.tuning.tune import tune as run

    options = Options(workers=workers)
    options.runs.prepare()  # before the planner's code is imported, so that workers are not affected by importing it
    refuse_informed(planner)
    label, named = named_planner(planner)
    tuning = Tuning(label, named, load_suite(suite), load_suite(held_out), Objective.of(objective), trials, seed, prune)
    name = planner.partition(":")[0]
    folder = output or Path("results") / f"tune_{name}"
    file = preset or shared("configs") / "planners" / f"{name}_tuned.yaml"
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task(label, total=trials)

        with stoppable(lambda: episodes_kept(folder)):
            for event in run(tuning, folder, options, resume=resume, minutes=minutes):
                match event:
                    case Tried(_, done, _, best):
                        bar.update(task, completed=done, description=f"{label}: {tuning.objective.text} {best.value:.3f}")
                        if not sys.stderr.isatty():
                            typer.echo(f"{done} of {trials} trials, best {best.value:.3f}", err=True)
                    case Tuned():
                        tuned = event
    compared = tuned.comparisons(tuning.objective)
    for one in compared:
        before, after, difference = estimate_text(one.before), estimate_text(one.after), estimate_text(one.difference, "+")
        typer.echo(f"{one.name}: {before} before, {after} after, {difference}")
    typer.echo(f"report  {report(folder / 'held_out')}")
    if not tuned.better:
        typer.echo("no trial was better than the original planner; no preset is written")
        return
    if not compared[0].gained:
        typer.echo("the best trial is no better than the original planner on the test suite; no preset is written")
        return
    try:
        write_whole(file, text_of(tuning, tuned))
    except OSError as error:
        raise ResultsError(f"{file}: cannot be written: {error.strerror}; choose another file with --preset") from error
    typer.echo(f"preset  {file}")
