"""Adds reference planners to a run: the control planner, which does not see people, and, if a stage has an axis, the informed
robot.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from agora.benchmark.informed import INFORMED, Informed, informed
from agora.benchmark.knowledge import Knowledge
from agora.benchmark.results.run_folder import RunFolder
from agora.perception.perception import LEVELS
from agora.planners.presets import named_planner
from agora.registry import Named
from agora.tasks.modules.axis import axis_of
from agora.tasks.suite import Suite

CONTROL = "pure_pursuit"
"""Name of the control planner, which follows its path and does not see people."""


def with_control(suite: Suite, planners: Mapping[str, Named], folder: Path, resume: bool) -> dict[str, Named]:
    """Return the planners by label, with the control planner added if it is informative.

    The control planner is informative in every stage with an axis, where it gives the lower bound, and in suites with people unless
    another planner already ignores people. A resumed run keeps the control planner if the run started with it.

    Args:
        suite: suite of the run.
        planners: requested planners, by label.
        folder: folder of the results.
        resume: whether the run may already exist.
    """
    control = dict([named_planner(CONTROL)])
    if resume and RunFolder.is_at(folder):
        wanted = RunFolder.read(folder).record.has(CONTROL, control[CONTROL])
    else:
        wanted = _has_axis(suite) or (
            not any(map(_is_blind, planners.values()))
            and any(suite.start(stage.name, 0).crowd_size for stage in suite.stages if stage.count)
        )
    return dict(planners) | (control if wanted and CONTROL not in planners else {})


def entrant(text: str, interplanner: str = "") -> tuple[str, Named]:
    """Return the label and the planner for a string, like `agora.planners.presets.named_planner`, but also accept the informed
    robot.

    Raises:
        UnknownNameError, InputError: as in `named_planner`.
    """
    return (INFORMED, informed()) if text == INFORMED else named_planner(text, interplanner)


def with_ceiling(suite: Suite, planners: Mapping[str, Named], folder: Path, resume: bool) -> dict[str, Named]:
    """Return the planners by label, with the informed robot added if any stage of the suite has an axis.

    A resumed run keeps the informed robot if the run started with it.

    Args:
        suite: suite of the run.
        planners: planners by label.
        folder: folder of the results.
        resume: whether the run may already exist.
    """
    begun = resume and RunFolder.is_at(folder)
    wanted = RunFolder.read(folder).record.has(INFORMED, informed()) if begun else _has_axis(suite)
    return dict(planners) | ({INFORMED: informed()} if wanted and INFORMED not in planners else {})


def _has_axis(suite: Suite) -> bool:
    return any(axis_of(stage) is not None for stage in suite.stages)


def _is_blind(planner: Named) -> bool:
    """Return whether a planner does not read any channel that shows people: no pedestrians, no sensor, no costmap."""
    if isinstance(planner.part, Informed):
        return False
    knows = Knowledge.of(planner, LEVELS)
    return knows.pedestrians == "none" and set(knows.channels) <= {"path"}
