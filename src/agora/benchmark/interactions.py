"""Counts the episodes of a run in which the interaction of their scenario card occurred."""

from __future__ import annotations

from pathlib import Path

from agora.benchmark.results.audit import audit_run
from agora.benchmark.results.recordings import recordings
from agora.benchmark.results.run_folder import RunFolder
from agora.tasks.cards.card import situation_of


def interactions(folder: Path) -> dict[tuple[str, str], tuple[int, int]]:
    """Return, by stage and planner, the number of recordings for which the card's predicate is true, and the number of kept
    recordings.

    Raises:
        ResultsError: the folder contains no run. InputError: its suite cannot be read.
    """
    suite = RunFolder.read(folder).suite()
    cards = {stage.name for stage in suite.stages if stage.world.name == "card"}
    rows = {str(row["key"]): row for row in audit_run(folder).rows if row["stage"] in cards}
    counted: dict[tuple[str, str], tuple[int, int]] = {}
    for key, recording in recordings(folder, rows).items():
        stage, planner, episode = str(rows[key]["stage"]), str(rows[key]["planner"]), int(rows[key]["episode"])
        happened, total = counted.get((stage, planner), (0, 0))
        counted[stage, planner] = (happened + situation_of(suite, stage, episode).happened(recording), total + 1)
    return counted
