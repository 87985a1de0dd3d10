"""A training configuration: the network, the episodes to train on, and the episodes to evaluate on. Configuration files are in
``configs/training``.
"""

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
    """A published result of the method.

    Attributes:
        stage: stage of the test suite to which the result applies.
        success: published success rate.
        source: publication, and the conditions under which the result was obtained.
        seconds: mean duration of the episodes in which the robot reached the goal, s.
    """

    stage: str
    success: float
    source: str
    seconds: float | None = None


@dataclass(frozen=True)
class Training(Checked):
    """A training configuration, which describes a training experiment from scratch to a finished policy.

    Attributes:
        name: name of the policy and of the results folder.
        label: label that states what the policy claims to be.
        method: the method, and the publication that it follows.
        trainer: the trainer and its parameters.
        planner: planner that uses the policy, as a string: a registered planner with parameters. The planner's ``file`` field is
            set to the policy's file.
        suite: suite to train on; the suite's split must be ``training``.
        stage: stage of the suite to train on.
        validation: stage of the suite used to choose the best policy, or another suite, all of whose stages are used.
        test: suite on which the policy is tested, for the results on the card.
        stages: stages of the test suite to run.
        elsewhere: suite with environments in which the policy is not trained; the card also reports the results in this suite.
            Empty if there is no such suite.
        cannot: limitations of the policy.
        published: published results for comparison.
        seeds: seeds, with one training run per seed; the first seed's policy is kept.
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
            raise InputError(f"seeds: expected at least one seed and no duplicates, got {list(self.seeds)}")


def training_names() -> list[str]:
    """Return the names of the training configurations that come with Agora."""
    return names_in("training")


def load_training(name_or_path: str | Path) -> Training:
    """Return the training configuration with the given name (``configs/training/<name>.yaml``) or from the given file.

    Raises:
        UnknownNameError: there is no training configuration with this name.
        InputError: the file is invalid, its stages do not exist, or it would train on a test suite.
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
    """Reject a training configuration that refers to missing suites, stages or planners, or would train on a test suite.

    Args:
        training: the training configuration.
        where: name by which messages refer to the training configuration.

    Raises:
        InputError: a suite, stage or planner does not exist, or a suite has the wrong split.
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
    """Train with one seed, and yield the events; the last event is `Trained`, which contains the run; the run's folder contains the
    best policy.

    The training starts when the first event is requested. The iterator may run in any thread. To stop the training, close the
    iterator, or call ``token.stop()`` from another thread. With ``resume``, the training continues from the last checkpoint and
    produces the same curve as an uninterrupted run. The token is checked after every round and, during validation, before every
    call of the policy. If the token or the time limit stops the training, the policy after the last round is kept as
    ``latest.safetensors``.

    Args:
        training: the training configuration.
        output: folder of the run.
        seed: seed of all random numbers.
        resume: whether to resume the run in the folder.
        token: token through which another thread can stop the training run.
        seconds: wall-clock time after which the training is stopped at the end of a round, once there is a policy, s;
            `Trained.whole` is then False.

    Raises:
        InputError: the trainer does not report the end of each round.
        StoppedError: the token requested a stop; the message says what is kept.
        ResultsError: the folder contains another training run, or cannot be written.
        DivergedError: the training run produced non-finite numbers.
        ComponentError: the trainer raised, or passed an invalid value to the run; the message names file and line.
    """
    token, trainer = token or StopToken(), training.trainer
    if not inspect.isgeneratorfunction(trainer.part.train):
        raise InputError(f"trainer {trainer.name!r}: its train() method must be a generator that yields after every round")
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
        raise StoppedError(f"stopped: {checkpoint_kept(output)}; repeat the training with resume to continue") from None


def _rounds(trainer: Named, run: Run) -> Generator[Savable | None]:
    """Yield what the trainer yields after each round, i.e. a policy or None.

    Raises:
        ComponentError: the trainer raised, or it yielded an object that is not a policy.
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
                raise ComponentError(f"{name} yielded {type(policy).__name__}; expected a policy with a save() method, or None")
            yield policy
