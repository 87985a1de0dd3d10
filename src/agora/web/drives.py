"""Drives by hand, kept as runs: their rows stand beside those of planners, and learners read them as demonstrations."""

from __future__ import annotations

from pathlib import Path

from agora.benchmark.kept import report
from agora.benchmark.played import write_played
from agora.core.recording import Recording
from agora.datasets.played import PlayedEpisode, PlayedRobot
from agora.tasks.suite import Suite
from agora.world.start import Start

LABEL = "driven by hand"
"""Label of a person as a planner."""


def write_drive(folder: Path, suite: Suite, stage: str, episode: int, start: Start, recordings: list[Recording]) -> None:
    """Write an episode that a person drove as a run of its own, with its report.

    Args:
        folder: folder of the run, which is made.
        suite: suite of the episode.
        stage: name of its stage.
        episode: number of it.
        start: start of it.
        recordings: recordings of its robots.

    Raises:
        ResultsError: the folder cannot be used.
    """
    robots = tuple(PlayedRobot(LABEL, robot.model.name, one) for robot, one in zip(start.robots, recordings, strict=True))
    played = PlayedEpisode(folder, suite.name, stage, episode, suite.seed_of(stage), robots, conditions=suite.stage(stage))
    write_played(folder, [played])
    report(folder)
