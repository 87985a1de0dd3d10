"""``agora train``; imports are made when it runs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer


def train(
    training: Annotated[str, typer.Argument(help="A training's name (agora list trainings) or file.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Folder of the results; results/train_NAME by default.")
    ] = None,
    seed: Annotated[
        list[int] | None, typer.Option(help="Instead of the training's seeds; repeat it to train with several.", min=0)
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a training that was begun in the folder.")] = False,
) -> None:
    """Train a policy, test it, and write its card.

    The folder gets a run for each seed (seed_1, ...) with checkpoints, curve.jsonl, TensorBoard's file and the best policy by
    validation; and policy.safetensors, that of the first seed, with card.yaml, card.md and curve.png.
    """
    from dataclasses import replace

    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    from agora.cli.stopping import stoppable
    from agora.config import plain
    from agora.documents import refuse_what_is_no_file
    from agora.files import write_whole
    from agora.learning.card import PAGE, PolicyCard, record_of
    from agora.learning.events import Learned, Trained
    from agora.learning.run import POLICY, checkpoint_kept
    from agora.learning.training import load_training
    from agora.learning.training import train as run_training

    chosen = load_training(training)
    chosen = replace(chosen, seeds=tuple(seed)) if seed else chosen
    folder = output or Path("results") / f"train_{chosen.name}"
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    records = []
    with Progress(*columns, disable=not sys.stderr.isatty()) as bar:
        for number in chosen.seeds:
            place, task = folder / f"seed_{number}", bar.add_task(f"seed {number}", total=1.0)

            with stoppable(lambda place=place: checkpoint_kept(place)):  # type: ignore[misc]
                for event in run_training(chosen, place, number, resume=resume):
                    match event:
                        case Learned():
                            bar.update(task, completed=event.share, description=f"seed {number}: {event}")
                            if not sys.stderr.isatty():
                                typer.echo(f"seed {number}: {100 * event.share:.0f} %, {event}", err=True)
                        case Trained(run):
                            records.append(record_of(run))
            for result in records[-1].results:
                typer.echo(f"seed {number}, {chosen.test}/{result.stage}: {result}")
    best = folder / f"seed_{chosen.seeds[0]}" / POLICY
    refuse_what_is_no_file(best)
    write_whole(folder / POLICY, best.read_bytes())
    PolicyCard(plain(chosen), tuple(records)).save(folder)
    typer.echo(f"policy  {folder / POLICY}\ncard    {folder / PAGE}")
