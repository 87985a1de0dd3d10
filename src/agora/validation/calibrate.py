"""Calibrates a crowd model: searches for the parameters with the smallest distance from recorded people in some scenes.

The search minimises a mean of distances, weighted by `WEIGHTS`. Distances are measured in standard deviations of the recorded
samples, the error of a single replaced pedestrian in multiples of the constant-velocity error, and deviations from Weidmann's
speeds in standard deviations of preferred speeds. The deviation from Weidmann's speeds is necessary because the density in the
recordings hardly exceeds one person per square metre; without this term, the best fit may push dense crowds backwards. The search
does not use the classifier or the held-out scenes. If each scene is left out once, there is one search per scene. A resumed run
requests the same parameters again and finds their values in the folder.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from agora import __version__
from agora.benchmark.provenance.inputs import inputs
from agora.benchmark.provenance.packages import manifest, packages
from agora.benchmark.provenance.resumption import check_resumed, exclusive_access, write_code
from agora.benchmark.stop_token import StopToken
from agora.config import dump, load, plain
from agora.errors import ResultsError, StoppedError
from agora.files import write_whole
from agora.registry import Named
from agora.tuning.result import changed_parameters
from agora.tuning.search import Study, round_parameters, space, with_parameters
from agora.validation.crowd import SimulatedCrowd
from agora.validation.flow import fundamental_diagram
from agora.validation.motion import Motion, motion
from agora.validation.replaced import constant_velocity, replaced_error
from agora.validation.scores import Recorded, compare
from agora.validation.stretches import SAMPLES
from agora.validation.window import window

WEIGHTS = {
    "speed": 1.0,
    "people": 1.0,
    "walls": 1.0,
    "density": 1.0,
    "overtaking": 1.0,
    "crossing": 1.0,
    "head-on": 1.0,
    "sidestep": 1.0,
    "one error": 1.0,
    "Weidmann": 1.0,
}
"""Weights of the distances from recorded people, and of the deviation from Weidmann's speeds at `DENSITIES`."""

DENSITIES = (0.5, 1.0, 2.0, 3.0)
"""Densities in the corridor at which speeds are compared with Weidmann's speeds, 1/m2."""

_SPREAD = 0.26  # standard deviation of preferred speeds, m/s


@dataclass(frozen=True)
class CalibrationTrial:
    """One set of parameters that was tried.

    Attributes:
        parameters: values of the parameters; trial 0 uses the model's own parameters.
        value: value of the objective; None if positions were non-finite.
    """

    parameters: dict[str, float]
    value: float | None


@dataclass(frozen=True)
class Calibration:
    """The settings of a calibration, which determine its result together with the recorded people.

    Attributes:
        model: crowd model from which the search starts, or a `Motion`, whose parameters are fitted with the crowd model in
            ``beside``.
        beside: crowd that provides the engine settings other than the model.
        trials: number of parameter sets to try; the first is the model's own parameter set.
        seed: random seed of the search.
        weights: weight of each distance, from `WEIGHTS`.

    Raises:
        InputError: the model has no parameters to calibrate.
    """

    model: Named
    beside: SimulatedCrowd = field(default_factory=lambda: SimulatedCrowd(None))
    trials: int = 64
    seed: int = 0
    weights: Mapping[str, float] = field(default_factory=lambda: dict(WEIGHTS))

    def __post_init__(self) -> None:
        space(self.model, "crowd model")

    def crowd(self, model: Named | None = None) -> SimulatedCrowd:
        """Return the crowd with a given model, by default the initial model."""
        part = (model or self.model).part
        return part.crowd(self.beside) if isinstance(part, Motion) else replace(self.beside, model=part)

    def describe(self, people: Recorded) -> dict[str, Any]:
        """Return the settings that determine the result, as plain data; the number of trials is omitted, so that a run can be
        extended.
        """
        beside = self.beside
        return {
            "version": __version__,
            "inputs": inputs(self.model, beside.behaviours),
            "packages": packages(self.model, beside.behaviours),
            "model": plain(self.model),
            "space": plain(space(self.model, "crowd model")),
            "seed": self.seed,
            "behaviours": [{type(part).__name__: plain(part)} for part in beside.behaviours],
            "beside": plain(beside.model),
            "engine": {
                "routes": beside.routes,
                "careful": beside.careful,
                "unsteady": plain(beside.unsteady),
                "steps": plain(beside.steps),
            },
            "weights": dict(self.weights),
            "scenes": sorted({stretch.scene for stretch in people.cut}),
            "stretches": len(people.cut),
            "replaced": len(people.replaced),
        }


@dataclass(frozen=True)
class Record:
    """The contents of a calibration file.

    Attributes:
        calibration: settings that determine the result.
        trials: all trials so far, in the order of their numbers.
    """

    calibration: dict[str, Any]
    trials: list[CalibrationTrial] = field(default_factory=list)


@dataclass(frozen=True)
class Calibrated:
    """The result of a calibration.

    Attributes:
        trials: trials, in the order of their numbers.
        best: number of the best trial; in case of a tie, the first of the tied trials.
        model: model with the parameters of the best trial.
        scene: scene that was left out; empty if no scene was left out.
    """

    trials: list[CalibrationTrial]
    best: int
    model: Named
    scene: str = ""


@dataclass(frozen=True)
class Fitted:
    """Event: a set of parameters was tried.

    Attributes:
        trial: set of parameters and its value.
        done: number of trials so far.
        total: planned number of trials.
        best: smallest value so far.
        scene: scene that is left out; empty if no scene is left out.
    """

    trial: CalibrationTrial
    done: int
    total: int
    best: float
    scene: str = ""


def objective(people: Recorded, crowd: SimulatedCrowd, weights: Mapping[str, float], threads: int = 1) -> float | None:
    """Return the weighted mean of a crowd's distances; None if positions were non-finite.

    Args:
        people: recorded people.
        crowd: crowd to compare with the recorded people.
        weights: weight of each distance; distances for which there are no recorded samples are ignored.
        threads: number of threads; the worlds are divided among them.
    """
    walked = people.walked(crowd, threads)
    if not all(np.isfinite(way).all() for way in walked):
        return None
    samples = [motion(window(stretch, way)) for stretch, way in zip(people.cut, walked, strict=True)]
    total, counted = 0.0, 0.0
    for name, weight in weights.items():
        scale: float | None
        value: float | None
        if name == "Weidmann":
            scale, value = _SPREAD, fundamental_diagram(crowd, DENSITIES).error
        elif name == "one error":
            scale = replaced_error(people.cut, people.replaced, None).value
            value = replaced_error(people.cut, people.replaced, crowd, threads=threads).value
        elif name == "crowd error":
            scale = people.crowd_error([constant_velocity(stretch, SAMPLES) for stretch in people.cut]).value
            value = people.crowd_error(walked).value
        else:
            recorded = np.concatenate([one[name] for one in people.motions])
            scale = float(recorded.std()) if len(recorded) else None
            value = compare(people.motions, samples, (name,), resamples=0)[name].value
        if value is not None and scale:
            total, counted = total + weight * value / scale, counted + weight
    return total / counted if counted and math.isfinite(total) else None


def calibrate(
    calibration: Calibration,
    people: Recorded,
    folder: Path,
    *,
    threads: int = 1,
    resume: bool = False,
    token: StopToken | None = None,
) -> Iterator[Fitted | Calibrated]:
    """Search for the parameters with the smallest distance from recorded people; yield each trial and finally the result.

    Nothing runs until the first event is requested. The iterator may run in any thread. To stop the search, close the iterator, or
    call ``token.stop()`` from another thread; the search stops after the current trial. A search that is resumed with ``resume``
    gives the same result.

    Args:
        calibration: settings that determine the result.
        people: recorded people.
        folder: folder for ``calibration.yaml``, created by this function.
        threads: number of threads; the worlds are divided among them.
        resume: whether to continue the run in ``folder``.
        token: token with which another thread can stop the search.

    Raises:
        InputError: Optuna is not installed.
        ResultsError: the folder cannot be used or contains another run, or the model's own parameters give non-finite positions.
        StoppedError: a stop was requested through ``token``; the message says what is kept.
    """
    token = token or StopToken()
    try:
        token.check()
        yield from _calibrate(calibration, people, folder, threads, resume, token)
    except StoppedError:
        raise StoppedError(f"stopped: {trials_kept(folder)}; repeat the calibration with resume to continue") from None


def trials_kept(folder: Path) -> str:
    """Return a message that the trials so far are kept."""
    return f"finished trials are kept in {folder}"


def _calibrate(
    calibration: Calibration, people: Recorded, folder: Path, threads: int, resume: bool, token: StopToken
) -> Iterator[Fitted | Calibrated]:
    """Yield the events of a search."""
    study = Study(calibration.model, calibration.seed, "minimize", "crowd model")
    described, file = calibration.describe(people), folder / "calibration.yaml"
    trials: list[CalibrationTrial] = []
    with exclusive_access(folder):
        known = _known(file, described, resume)
        write_code(folder, manifest(calibration.model, calibration.beside.behaviours))
        for number in range(calibration.trials):
            asked = study.ask()
            parameters = round_parameters(asked.params)
            if number < len(known) and known[number].parameters == parameters:
                trial = CalibrationTrial(parameters, known[number].value)
            else:
                crowd = calibration.crowd(with_parameters(calibration.model, parameters))
                trial = CalibrationTrial(parameters, objective(people, crowd, calibration.weights, threads))
            study.tell(asked, trial.value)
            trials.append(trial)
            if len(trials) > len(known):
                write_whole(file, dump(Record(described, trials)))
            if trials[0].value is None:
                raise ResultsError(f"{folder}: the original parameters give no result; there is nothing to compare with")
            yield Fitted(trial, number + 1, calibration.trials, min(t.value for t in trials if t.value is not None))
            token.check()
    best = min((t.value, k) for k, t in enumerate(trials) if t.value is not None)[1]
    yield Calibrated(trials, best, with_parameters(calibration.model, trials[best].parameters) if best else calibration.model)


def _known(file: Path, described: dict[str, Any], resume: bool) -> list[CalibrationTrial]:
    """Return the trials that a folder already contains."""
    if not file.exists():
        return []
    record = load(file, Record)
    check_resumed(file, "calibration", record.calibration, described, resume)
    return record.trials


def leave_one_out(
    calibration: Calibration,
    people: Recorded,
    folder: Path,
    *,
    threads: int = 1,
    resume: bool = False,
    token: StopToken | None = None,
) -> Iterator[Fitted | Calibrated]:
    """Calibrate once per scene, each time on all other scenes; yield each trial, and the result for each scene that was left out.

    Args:
        calibration: as for `calibrate`.
        people: as for `calibrate`.
        threads: as for `calibrate`.
        resume: as for `calibrate`.
        token: as for `calibrate`.
        folder: folder that contains one subfolder per scene.

    Raises:
        InputError, ResultsError, StoppedError: as in `calibrate`.
    """
    for scene in dict.fromkeys(stretch.scene for stretch in people.cut):
        events = calibrate(calibration, people.without(scene), folder / scene, threads=threads, resume=resume, token=token)
        for event in events:
            yield replace(event, scene=scene)


def preset(calibration: Calibration, found: Calibrated, scenes: str) -> str:
    """Return a block of YAML for a suite, with the crowd model or with keys of ``crowd``, preceded by a comment that gives the
    source of the parameters.
    """
    first, best = found.trials[0].value, found.trials[found.best].value
    lines = [
        f"# {calibration.model.name} calibrated by `agora calibrate` (Agora {__version__}) on {scenes} of ETH/UCY.",
        f"# Budget: {len(found.trials)} trials, seed {calibration.seed}; best is trial {found.best}.",
        f"# Objective, the weighted mean of distances: {first:.3f} before, {best:.3f} after.",
        f"# Weights: {', '.join(f'{name} {weight:g}' for name, weight in calibration.weights.items())}.",
    ]
    part = found.model.part
    block = part.block() if isinstance(part, Motion) else {"name": calibration.model.name, **changed_parameters(part)}
    return "\n".join(lines) + "\n" + dump(block)
