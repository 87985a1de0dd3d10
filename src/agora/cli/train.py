"""``agora train``. Modules are imported only when a command runs."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer


def train(
    training: Annotated[str, typer.Argument(help="A training's name (agora list trainings) or file.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Folder for the results; results/train_NAME by default.")
    ] = None,
    seed: Annotated[
        list[int] | None, typer.Option(help="Seed to use instead of the training's seeds; repeat the option for several.", min=0)
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue the training run in the results folder.")] = False,
    minutes: Annotated[
        float | None,
        typer.Option(help="Time limit for the training with each seed, minutes; the policy is still tested.", min=0.0),
    ] = None,
) -> None:
    """Train a policy, test it, and write its card.

    The folder will contain a training run for each seed (seed_1, ...), with checkpoints, curve.jsonl, a TensorBoard file and the
    policy that was best in validation; and policy.safetensors, the policy of the first seed, with card.yaml, card.md and curve.png.
    Ctrl-C ends the training after the current round; policy and card are still written, without a test.
    """
    import math
    from dataclasses import replace

    from rich.progress import BarColumn, Progress, TaskID, TaskProgressColumn, TextColumn, TimeRemainingColumn

    from agora.benchmark.stop_token import StopToken
    from agora.cli.stopping import finishing
    from agora.errors import StoppedError
    from agora.learning.card import PAGE, SeedRecord
    from agora.learning.events import Learned
    from agora.learning.run import POLICY, checkpoint_kept, policy_kept
    from agora.learning.seeds import seed_folder, train_seeds
    from agora.learning.training import load_training

    chosen = load_training(training)
    chosen = replace(chosen, seeds=tuple(seed)) if seed else chosen
    folder = output or Path("results") / f"train_{chosen.name}"
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    seconds, token, tasks = math.inf if minutes is None else 60.0 * minutes, StopToken(), dict[int, TaskID]()
    number = chosen.seeds[0]

    def ask() -> None:
        typer.echo("stopping after this round; press Ctrl-C again to stop immediately", err=True)
        token.stop()

    with finishing(ask, lambda: checkpoint_kept(seed_folder(folder, number))):
        with Progress(*columns, disable=not sys.stderr.isatty()) as bar, suppress(StoppedError):
            for number, event in train_seeds(chosen, folder, resume=resume, token=token, seconds=seconds):
                if number not in tasks:
                    tasks[number] = bar.add_task(f"seed {number}", total=1.0)
                match event:
                    case Learned():
                        bar.update(tasks[number], completed=event.share, description=f"seed {number}: {event}")
                        if not sys.stderr.isatty():
                            typer.echo(f"seed {number}: {100 * event.share:.0f} %, {event}", err=True)
                    case SeedRecord():
                        if event.stopped:
                            steps = f"its time limit was reached after {event.steps} steps"
                            typer.echo(f"seed {number}: {steps}; run the same command with --resume to continue", err=True)
                        for result in event.results:
                            typer.echo(f"seed {number}, {chosen.test}/{result.stage}: {result}")
        if policy_kept(seed_folder(folder, chosen.seeds[0])) is not None:
            typer.echo(f"policy  {folder / POLICY}\ncard    {folder / PAGE}")
