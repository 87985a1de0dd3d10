"""A training: the network, the episodes it is trained on, and the episodes that judge it; files in ``configs/training``."""

from __future__ import annotations

import inspect
import math
import time
from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from agora.benchmark.provenance.resumption import exclusive_access
from agora.benchmark.stop_token import StopToken
from agora.config import load
from agora.core.answers import blame
from agora.draft.stage import check_name
from agora.errors import ComponentError, InputError, StoppedError, UnknownNameError
from agora.interfaces import Label, Savable
from agora.learning.events import Trained, TrainingEvent
from agora.learning.run import LATEST, Run, checkpoint_kept, planner_with, policy_kept, validation_of
from agora.ranges import Checked, Whole
from agora.registry import Named, Plug
from agora.share import folder, names_in
from agora.tasks.suite import load_suite

__all__ = ["Training", "load_training", "train"]


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
class Training(Checked):
    """A training from nothing to a policy.

    Attributes:
        name: of the policy, and of the folder of the results.
        label: what it claims to be.
        method: what is trained, and after which publication.
        trainer: how.
        planner: that drives with the policy, as text: a registered one, with parameters; its field ``file`` is set.
        suite: whose split is training.
        stage: of the suite, to train on.
        validation: stage of the suite to choose the best policy by, or another suite, all of whose stages are played for it.
        test: suite on which the card's numbers are made.
        stages: of the test.
        elsewhere: suite of grounds that the policy is not trained on, which the card reports as well; empty for none.
        cannot: what the policy cannot do.
        published: numbers for comparison.
        seeds: one training per seed; the policy of the first seed is kept.
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
    elsewhere: str = ""
    published: tuple[Published, ...] = ()
    seeds: tuple[Whole, ...] = (1,)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_name(self.name)
        if not self.seeds or len(set(self.seeds)) < len(self.seeds):
            raise InputError(f"seeds: must be different numbers, at least one, are {list(self.seeds)}")


def training_names() -> list[str]:
    """Names of the trainings that come with Agora."""
    return names_in("training")


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
    check_training(training, str(path))
    return training


def check_training(training: Training, where: str) -> None:
    """Refuse a training that names what there is not, or would train on a test.

    Args:
        training: what is to be trained.
        where: names the training in messages.

    Raises:
        InputError: a suite, stage or planner is not there, or a suite has the wrong split.
    """
    suite = load_suite(training.suite)
    if suite.split != "training":
        raise InputError(f"{where}: suite: the split of {suite.name!r} is {suite.split}; training on a test suite is not allowed")
    test = load_suite(training.test)
    if test.split != "test":
        raise InputError(f"{where}: test: the split of {test.name!r} is {test.split}; a card's results must come from a test suite")
    if training.validation == training.stage:
        raise InputError(f"{where}: validation: stage {training.stage!r} is used for training; choose another for validation")
    if training.validation == training.test:
        raise InputError(f"{where}: validation: {training.test!r} is used for the test; choose another for validation")
    suite.stage(training.stage)
    validation_of(training.validation, suite)
    for stage in training.stages:
        test.stage(stage)
    planner_with(training.planner, "")


def train(
    training: Training,
    output: Path,
    seed: int,
    *,
    resume: bool = False,
    token: StopToken | None = None,
    seconds: float = math.inf,
) -> Iterator[TrainingEvent]:
    """Train with one seed, and yield what happens; the last event is `Trained`, whose run's folder holds the best policy.

    Nothing is done before the first event is asked for. The iterator may run in any thread. To stop the training, close it, or call
    ``token.stop()`` from another thread; ``resume`` continues from the last checkpoint, with the same curve. A token is looked
    at after every round, and in validations before every call of the policy. If the token or the time stops it, the policy
    after the last round is kept as ``latest.safetensors``.

    Args:
        training: what is trained.
        output: folder of the run.
        seed: of everything random.
        resume: whether to continue the run in the folder.
        token: by which another thread can stop it.
        seconds: wall time after which it is stopped, at the end of a round, once there is a policy; `Trained` then says that it is
            not whole.

    Raises:
        InputError: the trainer does not say when it has made a round.
        StoppedError: the token asked for it; the message says what is kept.
        ResultsError: the folder holds another training, or cannot be written.
        DivergedError: the training came to numbers that are not finite.
        ComponentError: the trainer raised, or gave the run an impossible value; the message names file and line.
    """
    token, trainer = token or StopToken(), training.trainer
    if not inspect.isgeneratorfunction(trainer.part.train):
        raise InputError(f"trainer {trainer.name!r}: its method train must be a generator, which yields after every round")
    began, whole = time.perf_counter(), True
    latest: Savable | None = None
    try:
        token.check()
        with exclusive_access(output), closing(Run(output, training, seed, resume=resume, token=token)) as run:
            try:
                with closing(_rounds(trainer, run)) as rounds:
                    for policy in rounds:
                        latest = policy or latest
                        yield from run.taken()
                        token.check()
                        some = latest is not None or policy_kept(output) is not None
                        whole = time.perf_counter() - began < seconds or not some
                        if not whole:
                            break
            except StoppedError:
                whole = False
                raise
            finally:
                if latest is not None and not whole:
                    latest.save(output / LATEST)
            yield from run.taken()
        yield Trained(run, whole)
    except StoppedError:
        raise StoppedError(f"stopped: {checkpoint_kept(output)}; the same training with resume continues") from None


def _rounds(trainer: Named, run: Run) -> Generator[Savable | None]:
    """Yield what a trainer yields after each round.

    Raises:
        ComponentError: the trainer's code raised, or it yielded an object that is not a policy.
    """
    name = f"trainer {trainer.name}"
    with closing(trainer.part.train(run)) as rounds:
        while True:
            with blame(name):
                try:
                    policy = next(rounds)
                except StopIteration:
                    return
            if policy is not None and not callable(getattr(policy, "save", None)):
                raise ComponentError(f"{name} yielded {type(policy).__name__}; expected a policy with a method save, or None")
            yield policy
