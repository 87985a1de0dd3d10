"""Trainings: the trainer, its episodes, and the test of the policy; files in ``configs/training``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from agora.benchmark.begun import alone
from agora.config import load
from agora.draft.stage import check_name
from agora.errors import InputError, UnknownNameError
from agora.interfaces import Label
from agora.learning.run import Run, Show, planner_with, silent
from agora.registry import Named, Plug
from agora.share import folder
from agora.tasks.suite import load_suite

__all__ = ["Training", "load_training"]


@dataclass(frozen=True)
class Published:
    """A number that was published for what is trained.

    Attributes:
        stage: stage of the test.
        success: share of episodes that reached the goal.
        source: where it was published, and under which conditions.
        seconds: mean time of the episodes that reached the goal, s.
    """

    stage: str
    success: float
    source: str
    seconds: float | None = None


@dataclass(frozen=True)
class Training:
    """A training from nothing to a policy.

    Attributes:
        name: of the policy, and of the folder of the results.
        label: what it claims to be.
        method: what is trained, and after which publication.
        trainer: how.
        planner: that drives with the policy, as text: a registered one, with parameters; its field ``file`` is set.
        suite: whose split is training.
        stage: of the suite, to train on.
        validation: stage of the suite to choose the best policy by.
        test: suite on which the card's numbers are made.
        stages: of the test.
        cannot: what the policy cannot do.
        published: numbers for comparison.
        seeds: one training a seed; the first seed's policy comes along.
    """

    name: str
    label: Label
    method: str
    trainer: Annotated[Named, Plug("trainers")]
    planner: str
    suite: str
    stage: str
    validation: str
    test: str
    stages: tuple[str, ...]
    cannot: str
    published: tuple[Published, ...] = ()
    seeds: tuple[int, ...] = (1,)

    def __post_init__(self) -> None:
        check_name(self.name)
        if not self.seeds or min(self.seeds) < 0 or len(set(self.seeds)) < len(self.seeds):
            raise InputError(f"seeds must be different numbers of at least 0, got {list(self.seeds)}")


def training_names() -> list[str]:
    """Names of the trainings that come with Agora."""
    return sorted(path.stem for path in (folder("configs") / "training").glob("*.yaml"))


def load_training(name_or_path: str | Path) -> Training:
    """Return the training of a name (``configs/training/<name>.yaml``) or of a file.

    Raises:
        UnknownNameError: no such training.
        InputError: the file is wrong, its stages are not there, or it would train on a test.
    """
    path = Path(name_or_path)
    if not (path.suffix in (".yaml", ".yml", ".json") or "/" in str(name_or_path)):
        if str(name_or_path) not in training_names():
            raise UnknownNameError("training", str(name_or_path), training_names())
        path = folder("configs") / "training" / f"{name_or_path}.yaml"
    training = load(path, Training)
    suite = load_suite(training.suite)
    if suite.split != "training":
        raise InputError(f"{path}: suite: the split of {suite.name!r} is {suite.split}; nothing is trained on a test")
    test = load_suite(training.test)
    if test.split != "test":
        raise InputError(f"{path}: test: the split of {test.name!r} is {test.split}; a card's numbers are made on a test")
    if training.validation == training.stage:
        raise InputError(f"{path}: validation: stage {training.stage!r} is trained on; choose another to validate on")
    for stage in (training.stage, training.validation):
        suite.stage(stage)
    for stage in training.stages:
        test.stage(stage)
    planner_with(training.planner, "")
    return training


def train(training: Training, output: Path, seed: int, *, resume: bool = False, show: Show = silent) -> Run:
    """Train with one seed, and return the run, whose folder holds the best policy.

    Args:
        training: what is trained.
        output: folder of the run.
        seed: of everything random.
        resume: whether to go on with a run that was begun in the folder.
        show: called after every round.

    Raises:
        ResultsError: the folder holds another training, or cannot be written.
        DivergedError: the training came to numbers that are not finite.
    """
    with alone(output):
        run = Run(output, training, seed, resume=resume, show=show)
        try:
            training.trainer.part.train(run)
        finally:
            run.close()
    return run
