"""Exports recorded episodes as MCAP files with Foxglove's message types: one file per episode of a run, and one file per bag.

A bag's messages are copied unchanged. A run has no ROS messages, so its recordings are converted to messages
(`agora.datasets.mcap_recording`). In both cases, `agora.datasets.recorded` can read the file, and metrics computed from the file
equal the original metrics.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path

from agora.benchmark.exports.new_files import file_name, write_new
from agora.benchmark.results.run_folder import RunFolder
from agora.benchmark.results.selection import RunSelection
from agora.datasets.mcap_recording import entries_of, map_of
from agora.datasets.mcapfile import ROS1, McapChannel, McapMessage, encode_mcap
from agora.datasets.parts import Source
from agora.datasets.played import PlayedEpisode
from agora.datasets.recorded import Unsaid, read_source, sources_of
from agora.errors import InputError
from agora.viewer.foxglove import scene_entries

__all__ = ["write_mcap_files"]


def write_mcap_files(
    folder: Path,
    sources: Sequence[Path],
    keys: Collection[str] = (),
    progress: Callable[[int, int], None] = lambda n, total: None,
    left_out: list[str] | None = None,
) -> list[Path]:
    """Write an MCAP file for each episode of a run and for each bag, and return the paths. Files are written atomically.

    Args:
        folder: folder for the files, created by this function.
        sources: folders of runs, bags, MCAP files, folders that contain these, or folders of Arena's recorder.
        keys: keys of episodes of the runs, ``suite/stage/episode/planner`` with or without the robot; by default, all kept
            episodes.
        progress: function that is called with the number of finished sources or episodes, and the total number.
        left_out: list to which, for each recording that cannot be read, the reason is appended. If None, the first such recording
            raises an error.

    Raises:
        InputError: a source cannot be read, or a recording lacks data that its bag contains; with ``left_out``, only if no source
            can be read.
        UnknownNameError: no episode has this key. ResultsError: a file exists or cannot be written, or no recording was kept.
    """
    runs = [RunSelection.of(source, keys) for source in sources if RunFolder.is_at(source)]
    if keys and not runs:
        raise InputError(f"--key {sorted(keys)[0]}: keys select episodes of runs; expected the folder of a run among the sources")
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


def _of_recordings(played: PlayedEpisode) -> bytes:
    """Return the contents of the MCAP file for an episode that has recordings but no messages."""
    said = sorted(entries_of(played), key=lambda entry: entry.nanoseconds)
    return encode_mcap(heapq.merge(said, scene_entries(played.robots), key=lambda entry: entry.nanoseconds), map_of(played))


def _of_source(source: Source | Path, episodes: Sequence[PlayedEpisode]) -> Iterator[tuple[str, bytes]]:
    """Yield the names and contents of a source's files: one file with the ROS messages if the source has any, otherwise one file
    per episode.
    """
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
