"""Recorded episodes as MCAP files, with Foxglove's messages about them: one file an episode of a run, and one a bag.

A bag's messages go into the file as they are. Of a run there are no messages of ROS: its recordings become messages of their own
(`agora.datasets.mcap_recording`). Either way `agora.datasets.recorded` reads the file back, and its metrics are the same.
"""

from __future__ import annotations

import heapq
import logging
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from agora.benchmark import store
from agora.benchmark.kept import recordings
from agora.benchmark.run_folder import RunFolder
from agora.datasets.mcap_recording import entries_of, map_of
from agora.datasets.mcapfile import ROS1, McapChannel, McapMessage, encode_mcap
from agora.datasets.parts import Source
from agora.datasets.played import PlayedEpisode, PlayedRobot
from agora.datasets.recorded import Unsaid, read_source, sources_of
from agora.draft.stage import Stage
from agora.errors import InputError, ResultsError, UnknownNameError
from agora.files import write_whole
from agora.viewer.foxglove import scene_entries

__all__ = ["KeptRun", "write_mcap_files"]

_LOG = logging.getLogger(__name__)
_AT_ONCE = 64  # episodes of a run whose recordings are in memory together


def write_mcap_files(
    folder: Path,
    sources: Sequence[Path],
    keys: Collection[str] = (),
    progress: Callable[[int, int], None] = lambda n, total: None,
    left_out: list[str] | None = None,
) -> list[Path]:
    """Write an MCAP file for each episode of a run and for each bag, and return their paths. A file is there whole or not at all.

    Args:
        folder: folder of the files, made here.
        sources: folders of runs, bags, MCAP files, folders of them or of Arena's recorder.
        keys: keys of episodes of the runs, ``suite/stage/episode/planner`` with or without the robot; all that were kept by
            default.
        progress: called with the number of sources or episodes that are done, and of all.
        left_out: takes the reason for each recording that cannot be read. None for an error at the first.

    Raises:
        InputError: a source cannot be read, or a recording lacks what its bag has; with ``left_out``, nothing can be read.
        UnknownNameError: no such key. ResultsError: a file is there already or cannot be written, or no recording was kept.
    """
    runs = [KeptRun.of(source, keys) for source in sources if RunFolder.is_at(source)]
    if keys and not runs:
        raise InputError(f"--key {sorted(keys)[0]}: keys are of runs; expected the folder of a run among the sources")
    reasons: list[str] = []
    files = sources_of([source for source in sources if not RunFolder.is_at(source)], None if left_out is None else reasons)
    total = len(files) + sum(len(run.groups) for run in runs)
    written: list[Path] = []
    for run in runs:
        for played in run.episodes():
            written.append(write_new(folder / f"{file_name(played)}.mcap", _of_recordings(played)))
            progress(len(written), total)
    for number, file in enumerate(files):
        try:
            for name, content in _of_source(file, list(read_source(file, Unsaid()))):
                written.append(write_new(folder / f"{name}.mcap", content))
        except InputError as error:
            if left_out is None:
                raise
            reasons.append(str(error))
        progress(total - len(files) + number + 1, total)
    if reasons and not written:
        raise InputError("\n".join(reasons))
    if left_out is not None:
        left_out += reasons
    return written


def file_name(played: PlayedEpisode) -> str:
    """The name of an episode's file, without ending: ``suite.stage.episode.planner``."""
    return f"{played.entry}/{played.robots[0].planner}".replace("/", ".")


def refuse_existing(path: Path) -> None:
    """Refuse to write over something. Raises: ResultsError: it is there."""
    if path.exists():
        raise ResultsError(f"{path}: is there already; choose another folder")


def write_new(path: Path, content: bytes) -> Path:
    """Write a new file, whole or not at all, and return its path.

    Raises:
        ResultsError: the file is there already or cannot be written.
    """
    refuse_existing(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, content)
    except OSError as error:
        raise ResultsError(f"{path}: cannot be written: {error.strerror or error}") from error
    return path


def _of_recordings(played: PlayedEpisode) -> bytes:
    """The bytes of the file of an episode whose recordings are all that there is."""
    said = sorted(entries_of(played), key=lambda entry: entry.nanoseconds)
    return encode_mcap(heapq.merge(said, scene_entries(played.robots), key=lambda entry: entry.nanoseconds), map_of(played))


def _of_source(source: Source | Path, episodes: Sequence[PlayedEpisode]) -> Iterator[tuple[str, bytes]]:
    """Names and bytes of the files of a recording: one with the messages of ROS, if it is of such, else one of each episode."""
    said = (
        []
        if isinstance(source, Path)
        else [McapMessage(McapChannel(*m.connection, ROS1), m.nanoseconds, m.data) for m in source.messages()]
    )
    if said and not isinstance(source, Path):
        scenes = [scene_entries(played.robots, played.began) for played in episodes]
        yield source.name, encode_mcap(heapq.merge(said, *scenes, key=lambda entry: entry.nanoseconds), {})
        return
    for played in episodes:
        yield file_name(played) if isinstance(source, Path) else source.name, _of_recordings(played)


@dataclass(frozen=True, eq=False)
class KeptRun:
    """The chosen episodes of a run.

    Attributes:
        run: folder of the run.
        groups: rows of the robots of each episode under a planner.
        asked: whether keys named them.
    """

    run: RunFolder
    groups: list[list[dict[str, Any]]]
    asked: bool

    @staticmethod
    def of(folder: Path, keys: Collection[str]) -> KeptRun:
        """The episodes of these keys, or all."""
        run = RunFolder.read(folder)
        groups: dict[str, list[dict[str, Any]]] = {}
        for read in run.shards("episodes"):
            for row in read.rows:
                groups.setdefault(row["key"].rpartition("/")[0], []).append(row)
        wanted = {key if key.count("/") < 4 else key.rpartition("/")[0] for key in keys}
        for key in sorted(wanted - set(groups)):
            raise UnknownNameError(f"episode of {folder}", key, groups)
        chosen = [sorted(groups[key], key=lambda row: int(row["robot"])) for key in sorted(wanted or groups)]
        return KeptRun(run, chosen, bool(wanted))

    @property
    def folder(self) -> Path:
        """The folder of the run."""
        return self.run.path

    def episodes(self) -> Iterator[PlayedEpisode]:
        """The episodes, with their recordings and planning times.

        Raises:
            InputError: a recording lacks what its bag has. ResultsError: none was kept, or not of an episode that was asked for.
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
            raise InputError(f"{self.folder}: robots of {row['key']} are under several planners; convert the bag itself")
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
        """The stages by name; none where the run does not say them whole, or names what this machine lacks."""
        if any(set(stage) == {"name"} for stage in self.run.record.suite.get("stages", ())):
            return {}
        try:
            suite = self.run.suite()
        except InputError as error:
            _LOG.warning("the files do not say the conditions of their episodes: %s", error)
            return {}
        return {stage.name: stage for stage in suite.stages}

    def _calls(self) -> dict[str, Any]:
        """Wall times of the planner's calls by key."""
        chosen = {row["key"] for group in self.groups for row in group}
        shards = self.run.shards("timing")
        return {
            row["key"]: np.array(row.get(store.CALLS) or (), float) for read in shards for row in read.rows if row["key"] in chosen
        }
