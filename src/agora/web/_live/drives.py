"""Manually driven episodes, stored as runs, so that their rows can be compared with planners' rows and learners can use them as
demonstrations.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from agora.benchmark.external_results import write_played
from agora.benchmark.provenance.inputs import inputs
from agora.benchmark.provenance.packages import packages
from agora.benchmark.results.run_folder import RunFolder
from agora.core.recording import Recording
from agora.datasets.played import PlayedEpisode, PlayedRobot
from agora.metrics.registered import metrics
from agora.reporting.report import report
from agora.tasks.suite import Suite
from agora.world.start import Start

LABEL = "driven by hand"
"""Label that stands for a person in place of a planner."""


def write_drive(folder: Path, suite: Suite, stage: str, episode: int, start: Start, recordings: list[Recording]) -> None:
    """Write an episode that a person drove as a separate run, with its report.

    The run's record has the same data as a benchmark's, so that comparisons pair the manually driven episode with planners'
    episodes.

    Args:
        folder: folder of the run; it is created.
        suite: suite of the episode.
        stage: name of the episode's stage.
        episode: number of the episode.
        start: start of the episode.
        recordings: recordings of the episode's robots.

    Raises:
        ResultsError: the folder cannot be used.
    """
    robots = tuple(PlayedRobot(LABEL, robot.model.name, one) for robot, one in zip(start.robots, recordings, strict=True))
    played = PlayedEpisode(folder, suite.name, stage, episode, suite.seed_of(stage), robots, conditions=suite.stage(stage))
    write_played(folder, [played])
    record, part = RunFolder.read(folder).record, suite.part((stage,), None)
    replace(
        record,
        suite={**record.suite, "version": suite.version},
        planners={LABEL: {"name": "by_hand"}},
        inputs=inputs(part),
        packages=packages(part, metrics()),
    ).write(folder)
    report(folder)
