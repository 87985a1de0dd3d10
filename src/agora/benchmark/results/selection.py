"""Selects all episodes of a run, or those with given keys, with their recordings, planning times and conditions."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from agora.benchmark.results import store
from agora.benchmark.results.recordings import recordings
from agora.benchmark.results.run_folder import RunFolder
from agora.datasets.played import PlayedEpisode, PlayedRobot
from agora.draft.stage import Stage
from agora.errors import InputError, ResultsError, UnknownNameError

__all__ = ["RunSelection"]

_LOG = logging.getLogger(__name__)
_AT_ONCE = 64  # number of episodes whose recordings are in memory at the same time


@dataclass(frozen=True, eq=False)
class RunSelection:
    """The selected episodes of a run.

    Attributes:
        run: folder of the run.
        groups: rows of each combination of episode and planner, one row per robot.
        asked: whether the episodes were selected by key.
    """

    run: RunFolder
    groups: list[list[dict[str, Any]]]
    asked: bool

    @staticmethod
    def of(folder: Path, keys: Collection[str]) -> RunSelection:
        """Select the episodes with the given keys, or all episodes if there are no keys."""
        run = RunFolder.read(folder)
        groups: dict[str, list[dict[str, Any]]] = {}
        for read in run.shards("episodes"):
            for row in read.rows:
                groups.setdefault(row["key"].rpartition("/")[0], []).append(row)
        wanted = {key if key.count("/") < 4 else key.rpartition("/")[0] for key in keys}
        for key in sorted(wanted - set(groups)):
            raise UnknownNameError(f"episode of {folder}", key, groups)
        chosen = [sorted(groups[key], key=lambda row: int(row["robot"])) for key in sorted(wanted or groups)]
        return RunSelection(run, chosen, bool(wanted))

    @property
    def folder(self) -> Path:
        """The folder of the run."""
        return self.run.path

    def episodes(self) -> Iterator[PlayedEpisode]:
        """Yield the episodes with their recordings and planning times.

        Raises:
            InputError: a recording lacks data that its bag contains. ResultsError: no recording was kept, or the recording of a
                requested episode was not kept.
        """
        stages, calls, some = self._stages(), self._calls(), False
        for first in range(0, len(self.groups), _AT_ONCE):
            groups = self.groups[first : first + _AT_ONCE]
            kept = recordings(self.folder, [row["key"] for group in groups for row in group])
            for group in groups:
                if all(row["key"] in kept for row in group):
                    some = True
                    yield self._played(group, kept, calls, stages.get(group[0]["stage"]))
                elif self.asked:
                    raise ResultsError(f"{self.folder}: no recording of {group[0]['key']} was kept")
        if not some:
            raise ResultsError(f"{self.folder}: no recordings were kept; run it with --trajectories all")

    def _played(
        self, group: list[dict[str, Any]], kept: dict[str, Any], calls: dict[str, Any], stage: Stage | None
    ) -> PlayedEpisode:
        row = group[0]
        if [int(one["robot"]) for one in group] != list(range(len(group))):
            raise InputError(f"{self.folder}: the robots of {row['key']} have different planners; convert the bag itself")
        if any(one.get("clipped") is None for one in group):
            raise InputError(f"{self.folder}: {row['key']} was not recorded by Agora and lacks contacts; convert the bag itself")
        robots = []
        for one in group:
            recording = replace(kept[one["key"]], planning_time=calls.get(one["key"], np.zeros(0)))
            robots.append(PlayedRobot(one["planner"], one.get("model", "unknown"), recording))
        if stage is not None and "pedestrians" in row:
            stage = replace(stage, pedestrians=replace(stage.perception, source=row["pedestrians"]))
        return PlayedEpisode(
            self.folder, row["suite"], row["stage"], int(row["episode"]), int(row["seed"]), tuple(robots), conditions=stage
        )

    def _stages(self) -> dict[str, Stage]:
        """Return the stages by name; empty if the run's record does not describe them fully, or refers to components or files that
        are missing on this machine.
        """
        if any(set(stage) == {"name"} for stage in self.run.record.suite.get("stages", ())):
            return {}
        try:
            suite = self.run.suite()
        except InputError as error:
            _LOG.warning("the files do not contain the conditions of their episodes: %s", error)
            return {}
        return {stage.name: stage for stage in suite.stages}

    def _calls(self) -> dict[str, Any]:
        """Return the wall times of the planner calls, by key of the row."""
        chosen = {row["key"] for group in self.groups for row in group}
        shards = self.run.shards("timing")
        return {
            row["key"]: np.array(row.get(store.CALLS) or (), float) for read in shards for row in read.rows if row["key"] in chosen
        }
