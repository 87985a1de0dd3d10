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
    minutes: Annotated[
        float | None, typer.Option(help="Stop the training with each seed after so many minutes; its policy is tested.", min=0.0)
    ] = None,
) -> None:
    """Train a policy, test it, and write its card.

    The folder gets a run for each seed (seed_1, ...) with checkpoints, curve.jsonl, TensorBoard's file and the best policy by
    validation; and policy.safetensors, that of the first seed, with card.yaml, card.md and curve.png. Ctrl-C ends the training
    after the round; policy and card are written then, too, without a test.
    """
    import math
    from dataclasses import replace

    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    from agora.benchmark.stop_token import StopToken
    from agora.cli.stopping import finishing
    from agora.config import plain
    from agora.documents import refuse_what_is_no_file
    from agora.errors import StoppedError
    from agora.files import write_whole
    from agora.learning.card import PAGE, PolicyCard, SeedRecord, record_of, untested
    from agora.learning.events import Learned, Trained
    from agora.learning.run import POLICY, checkpoint_kept, policy_kept
    from agora.learning.training import load_training
    from agora.learning.training import train as run_training

    chosen = load_training(training)
    chosen = replace(chosen, seeds=tuple(seed)) if seed else chosen
    folder = output or Path("results") / f"train_{chosen.name}"
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    records, token, place = list[SeedRecord](), StopToken(), folder
    seconds = math.inf if minutes is None else 60.0 * minutes

    def ask() -> None:
        typer.echo("stopping after this round; Ctrl-C again ends at once", err=True)
        token.stop()

    with finishing(ask, lambda: checkpoint_kept(place)):
        with Progress(*columns, disable=not sys.stderr.isatty()) as bar:
            for number in chosen.seeds:
                place, task, whole = folder / f"seed_{number}", bar.add_task(f"seed {number}", total=1.0), False
                try:
                    for event in run_training(chosen, place, number, resume=resume, token=token, seconds=seconds):
                        match event:
                            case Learned():
                                bar.update(task, completed=event.share, description=f"seed {number}: {event}")
                                if not sys.stderr.isatty():
                                    typer.echo(f"seed {number}: {100 * event.share:.0f} %, {event}", err=True)
                            case Trained(run, whole):
                                records.append(record_of(run, whole=whole))
                except StoppedError:
                    records += [untested(place, number, whole=whole)] if policy_kept(place) else []
                    break
                if not whole:
                    steps = f"its time was up after {records[-1].steps} steps"
                    typer.echo(f"seed {number}: {steps}; the same command with --resume goes on", err=True)
                for result in records[-1].results:
                    typer.echo(f"seed {number}, {chosen.test}/{result.stage}: {result}")
        best = policy_kept(folder / f"seed_{chosen.seeds[0]}")
        if best is not None:
            refuse_what_is_no_file(best)
            write_whole(folder / POLICY, best.read_bytes())
            PolicyCard(plain(chosen), tuple(records)).save(folder)
            typer.echo(f"policy  {folder / POLICY}\ncard    {folder / PAGE}")
