"""Records of a training experiment's runs, one per seed: the test results of the run's policy, and the learning curve."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from agora.benchmark.stop_token import StopToken
from agora.config import dump, load
from agora.errors import InputError, ResultsError
from agora.files import write_whole
from agora.learning.card import SEED, Result, SeedRecord
from agora.learning.checkpoint import read_curve
from agora.learning.run import CURVE, RECORD, Run, play, policy_kept
from agora.tasks.suite import load_suite

__all__ = ["played_elsewhere", "record_of", "untested"]


def record_of(run: Run, *, whole: bool = True) -> SeedRecord:
    """Test the best policy of a run, and return the record. If the run is complete, save the record in the run's folder.

    Raises:
        ResultsError: the training run has not completed a single round.
    """
    kept = run.folder / SEED
    if whole and kept.exists():
        return load(kept, SeedRecord)
    record, policy = untested(run.folder, run.seed, whole=whole), policy_kept(run.folder)
    if policy is None:
        raise ResultsError(f"{run.folder}: contains no policy; the trainer has not validated any")
    planner, test = run.planner(policy), load_suite(run.training.test)
    results = tuple(play(test, stage, planner, before=lambda what: run.token.check()) for stage in run.training.stages)
    record = replace(record, results=results)
    if whole:
        write_whole(kept, dump(record))
    return record


def played_elsewhere(planner: Any, suite: str, token: StopToken | None = None) -> tuple[Result, ...]:
    """Play all stages of a suite with a planner, and return the outcomes.

    If the planner fails in every episode of a stage, all episodes of this stage count as failures.

    Args:
        planner: planner of every robot.
        suite: name of the suite; if empty, nothing is played.
        token: token through which another thread can stop the function.

    Raises:
        StoppedError: the token requested a stop.
    """
    token = token or StopToken()
    if not suite:
        return ()
    results, grounds = list[Result](), load_suite(suite)
    for stage in grounds.stages:
        try:
            results.append(play(grounds, stage.name, planner, before=lambda what: token.check()))
        except InputError:
            results.append(Result(stage.name, stage.count, 0, 0, 0, failed=stage.count, left=0, walls=0))
    return tuple(results)


def untested(folder: Path, seed: int, *, whole: bool) -> SeedRecord:
    """Return the record of a training run from its folder, without testing the policy; raises the same errors as `record_of`."""
    points = read_curve(folder / CURVE)
    if not points:
        raise ResultsError(f"{folder / CURVE}: contains no points; the training run has not completed a round")
    curve = tuple((point["steps"], point["validation_success"]) for point in points if "validation_success" in point)
    made_on = load(folder / RECORD, dict)["made_on"]
    return SeedRecord(seed, int(points[-1]["steps"]), points[-1].get("seconds", 0.0), made_on, curve, (), stopped=not whole)
