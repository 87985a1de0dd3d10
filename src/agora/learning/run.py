"""The folder of a training run: its configuration, checkpoints, curve and policies.

``training.yaml`` contains the resolved configuration, and describes the machine and the software used. ``curve.jsonl`` and the
TensorBoard file contain the learning curve. ``checkpoint.safetensors`` contains the complete state from which the training resumes.
It is written atomically, so a training run that was killed resumes with the same curve. ``policy.safetensors`` is the policy with
the best validation. ``latest.safetensors`` is the policy from the last validation, or from the round after which the training was
stopped.
"""

from __future__ import annotations

import json
import math
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from importlib.metadata import version
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from agora.benchmark.provenance.inputs import inputs
from agora.benchmark.provenance.machine import Machine
from agora.benchmark.provenance.packages import check_imported, manifest, packages
from agora.benchmark.provenance.resumption import check_resumed, check_software, mark_of, write_code
from agora.benchmark.stop_token import StopToken
from agora.config import dump, load, parse_component, plain
from agora.core.recording import Outcome
from agora.core.state import Array
from agora.episode import Conditions, Episodes
from agora.errors import AgoraError, ComponentError, DivergedError, InputError, nearest
from agora.files import naming, write_whole
from agora.interfaces import Savable
from agora.learning.card import Result
from agora.learning.checkpoint import check_finite, read_checkpoint, read_curve, steps_of, write_checkpoint
from agora.learning.events import Learned, Saved
from agora.learning.rewards import COLLISIONS
from agora.registry import available
from agora.tasks.drawn import Drawn
from agora.tasks.suite import Suite, load_suite, suite_names

if TYPE_CHECKING:
    from agora.learning.training import Training

CHECKPOINT, POLICY, CURVE, RECORD = "checkpoint.safetensors", "policy.safetensors", "curve.jsonl", "training.yaml"
LATEST = "latest.safetensors"
_MADE_ON = "made_on"


def _software(made_on: Mapping[str, Any]) -> dict[str, str]:
    """Return the recorded versions that affect the results of a training run, by name."""
    machine = Machine(**{field.name: made_on.get(field.name, {} if field.name == "packages" else "") for field in fields(Machine)})
    return machine.software | {"torch": made_on.get("torch", "")}


def planner_with(text: str, file: str) -> Any:
    """Return the planner of a training run, configured to use a weights file; the file is not read.

    Args:
        text: planner string: the name of a registered planner and its parameters.
        file: weights file.

    Raises:
        InputError: the planner does not exist, or it has no weights file.
    """
    name = text.partition(":")[0]
    if name not in (known := available("planners")):
        register = 'a package registers its planners in pyproject.toml, under [project.entry-points."agora.planners"]'
        raise InputError(f"planner: no registered planner is called {name!r}; {nearest(name, known)} {register}")
    part = parse_component("planners", text, "planner").part
    if "file" not in {one.name for one in fields(part)}:
        raise InputError(f"planner: {text!r} has no weights file")
    return replace(part, file=file)


def validation_of(name: str, suite: Suite) -> list[tuple[Suite, str]]:
    """Return the stages used to choose the best policy of a training run, with their suites.

    Args:
        name: name of a stage of the suite, or name of another suite, all of whose stages are used.
        suite: suite that the policy is trained on.

    Raises:
        InputError: there is neither a stage nor a suite with this name.
    """
    if name not in [stage.name for stage in suite.stages] and name in suite_names():
        chosen = load_suite(name)
        return [(chosen, stage.name) for stage in chosen.stages]
    return [(suite, suite.stage(name).name)]


def play(
    suite: Suite,
    stage: str,
    planner: Any,
    *,
    worlds: int = 64,
    threads: int = 1,
    before: Callable[[str], None] = lambda what: None,
) -> Result:
    """Play all episodes of a stage with a planner, and return their outcomes.

    Args:
        suite: suite that contains the stage.
        stage: name of the stage.
        planner: planner of every robot.
        worlds: number of worlds that run in parallel.
        threads: number of threads among which the worlds are divided.
        before: called before each call of the planner and each step of the world, with the name of the operation.

    Raises:
        InputError: the planner fails in every episode; the message gives the reason for the first failure.
    """
    starts = Drawn(suite, stage)
    ends: Counter[Outcome] = Counter()
    times: list[float] = []
    failures: list[str] = []
    for _, robots in Episodes(starts, planner, Conditions.of(suite.stage(stage)), worlds=worlds, threads=threads, before=before):
        for robot in robots:
            ends[robot.outcome] += 1
            times += [robot.time[-1]] if robot.outcome is Outcome.REACHED else []
            failures += [robot.failure] if robot.outcome is Outcome.PLANNER_FAILED else []
    if failures and len(failures) == ends.total():
        raise InputError(f"the planner fails in every episode of stage {stage!r}: {failures[0]}")
    left = ends[Outcome.OUT_OF_MAP]
    hits = sum(ends[outcome] for outcome in COLLISIONS) - left
    seconds = float(np.mean(times)) if times else None
    counts = (ends[Outcome.REACHED], hits, ends[Outcome.TIMEOUT], seconds, len(failures), left, ends[Outcome.WALL_COLLISION])
    return Result(stage, ends.total(), *counts, lost=ends[Outcome.SIMULATOR_FAILED])


def checkpoint_kept(folder: Path) -> str:
    """Return a message about the checkpoint in the folder of a training run."""
    steps = steps_of(folder / CHECKPOINT)
    return (
        "there is no checkpoint yet, so a resumed training run would start from scratch"
        if steps is None
        else f"the checkpoint after {steps:.0f} steps is in {folder}"
    )


def policy_kept(folder: Path) -> Path | None:
    """Return the file of the best policy or, before the first validation, of the latest policy; None if there is no policy yet."""
    return next((folder / name for name in (POLICY, LATEST) if (folder / name).exists()), None)


class Run:
    """A training run in progress, with its folder.

    Args:
        folder: folder of the run.
        training: the training configuration.
        seed: seed of all random numbers.
        resume: whether the folder may already contain this training run.
        token: token through which another thread can stop the run.

    Attributes:
        events: events that have occurred since the last call of `taken`.

    Raises:
        ResultsError: the folder contains another training run (the message lists the differences), or it contains this training run
            and ``resume`` is False.
    """

    def __init__(
        self,
        folder: Path,
        training: Training,
        seed: int,
        *,
        resume: bool = False,
        token: StopToken | None = None,
    ) -> None:
        from torch.utils.tensorboard import SummaryWriter

        self.folder, self.training, self.seed, self.token = folder, training, seed, token or StopToken()
        self.events = list[Learned | Saved]()
        self.suite, self.stage = load_suite(training.suite), training.stage
        self._validation = validation_of(training.validation, self.suite)
        self._mark = self._describe(resume)
        self.best = (-1.0, 0.0)
        self._before, self._began, self._steps_before = 0.0, time.perf_counter(), 0.0
        self._numbers: Mapping[str, float] = {}
        self._arrays: Mapping[str, Array] = {}
        if (folder / CHECKPOINT).exists():
            self._numbers, self._arrays = read_checkpoint(folder / CHECKPOINT, self._mark)
            self._before, self._steps_before = self._numbers["seconds"], self._numbers["steps"]
            self.best = self._numbers["best_success"], self._numbers["best_seconds"]
        self._cut_curve()
        again = int(self._numbers["steps"]) + 1 if self._numbers else None
        self._board = SummaryWriter(str(folder / "tensorboard"), purge_step=again)

    def _describe(self, resume: bool) -> str:
        """Record everything that determines the training, or compare it with the existing record; return its digest."""
        check_imported()
        training = self.training
        trainer, others = training.trainer, {suite.name: suite for suite, _ in self._validation if suite is not self.suite}
        played = (self.suite, load_suite(training.test), *others.values())
        described = {"training": plain(training), "seed": self.seed, "suite": plain(self.suite)}
        parts = (played, trainer, planner_with(training.planner, ""))
        described |= {"inputs": inputs(played, trainer), "packages": packages(*parts)}
        record, here = self.folder / RECORD, plain(Machine.here()) | {"torch": version("torch")}
        if record.exists():
            written = load(record, dict)
            made_on = written.pop(_MADE_ON, {})
            check_resumed(record, "training", written, described, resume)
            check_software(record, "training", _software(made_on), _software(here))
        else:
            write_code(self.folder, manifest(*parts))
            write_whole(record, dump(described | {_MADE_ON: here}))
        return mark_of(described)

    @property
    def resumed(self) -> tuple[Mapping[str, float], Mapping[str, Array]] | None:
        """The numbers and arrays of the last checkpoint; None at the start of a new run."""
        return (self._numbers, self._arrays) if self._numbers else None

    @property
    def seconds(self) -> float:
        """Total time spent on the training, s; for a resumed run, earlier sessions are included."""
        return self._before + time.perf_counter() - self._began

    def _cut_curve(self) -> None:
        """Remove the curve's points after the checkpoint, because the training repeats these steps."""
        curve, steps = self.folder / CURVE, self._numbers.get("steps", 0)
        kept = [json.dumps(point) for point in read_curve(curve) if point["steps"] <= steps]
        write_whole(curve, "".join(f"{line}\n" for line in kept))

    def about(self, steps: int) -> dict[str, str]:
        """Return the notes for a policy after the given number of environment steps."""
        training = self.training
        return {"label": training.label, "training": training.name, "seed": str(self.seed), "steps": str(steps)}

    def save(self, steps: int, numbers: Mapping[str, float], arrays: Mapping[str, Array]) -> None:
        """Replace the checkpoint.

        Raises:
            DivergedError: a number or an array is non-finite; the previous checkpoint is kept.
            ComponentError: a value is not a number or an array.
        """
        self._check_number("save", "steps", steps)
        for name, number in numbers.items():
            self._check_number("save", name, number, DivergedError)
        for name, array in arrays.items():
            if not isinstance(array, np.ndarray) or array.dtype.kind not in "fiub":
                raise ComponentError(f"trainer {self.training.trainer.name}: save: {name} is not an array of numbers")
        check_finite(f"step {steps}:", arrays, DivergedError, f" any more; the last good checkpoint is in {self.folder}")
        said = {**numbers, "steps": steps, "seconds": self.seconds, "best_success": self.best[0], "best_seconds": self.best[1]}
        write_checkpoint(self.folder / CHECKPOINT, self._mark, said, arrays)
        self.events.append(Saved(steps))

    def log(self, steps: int, share: float, **values: float) -> None:
        """Add a point to the curve.

        Args:
            steps: number of environment steps so far.
            share: fraction of the training run that has been completed.
            values: values by name; non-finite values are omitted.

        Raises:
            ComponentError: a value is not a number.
        """
        self._check_number("log", "steps", steps)
        self._check_number("log", "share", share)
        for name, value in values.items():
            self._check_number("log", name, value, None)
        finite = {name: float(value) for name, value in values.items() if math.isfinite(value)}
        path = self.folder / CURVE
        with naming(path), path.open("a") as curve:
            curve.write(json.dumps({"steps": steps, "seconds": round(self.seconds, 1), **finite}) + "\n")
        for name, value in finite.items():
            self._board.add_scalar(name, value, steps)
        rate = (steps - self._steps_before) / max(self.seconds - self._before, 1e-9)
        self.events.append(Learned(steps, share, rate, finite))

    def _check_number(self, where: str, name: str, value: Any, error: type[AgoraError] | None = ComponentError) -> None:
        """Raise `ComponentError` if a value from the trainer is not a number; raise ``error``, if given, if the value is
        non-finite.
        """
        said = f"trainer {self.training.trainer.name}: {where}: {name} is {value!r:.40}"
        if not isinstance(value, Real) or isinstance(value, bool):
            raise ComponentError(f"{said}; expected a number")
        if error is not None and not math.isfinite(value):
            raise error(f"{said}; expected a finite number")

    def validate(self, policy: Savable, steps: int, share: float) -> Result:
        """Validate a policy, and keep it if it is better than all earlier policies.

        The policy with the higher success rate is better; if the rates are equal, the policy with the shorter mean time is better.

        Raises:
            ComponentError: the policy cannot be saved.
        """
        if not callable(getattr(policy, "save", None)):
            expected = "expected a policy with a save() method"
            raise ComponentError(f"trainer {self.training.trainer.name}: validate got {type(policy).__name__}; {expected}")
        latest = self.folder / LATEST
        policy.save(latest)
        planner = self.planner(latest)
        results = [play(*place, planner, before=lambda what: self.token.check()) for place in self._validation]
        result = Result.together(self.training.validation, results)
        score = (result.success[0], -1e9 if result.seconds is None else -result.seconds)
        if score > self.best:
            self.best = score
            policy.save(self.folder / POLICY)
        self.log(steps, share, validation_success=result.success[0], validation_seconds=result.seconds or math.nan)
        return result

    def planner(self, file: Path) -> Any:
        """Return the training's planner, configured to use a weights file."""
        return planner_with(self.training.planner, str(file))

    def taken(self) -> list[Learned | Saved]:
        """Return the events since the last call, and clear them."""
        events, self.events = self.events, []
        return events

    def close(self) -> None:
        """Close the TensorBoard file."""
        self._board.close()
