"""Exports episodes of a run as ROS 1 bags without requiring ROS. RViz, rqt and rosbag can play the bags, and ``agora bag`` can read
them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from pathlib import Path

from agora.benchmark.exports.new_files import file_name, refuse_existing
from agora.benchmark.results.selection import RunSelection
from agora.datasets.bag_messages import messages_of, store
from agora.datasets.played import PlayedEpisode
from agora.errors import InputError, ResultsError
from agora.tasks.suite import Suite

__all__ = ["write_bags"]


def write_bags(
    folder: Path, source: Path, keys: Collection[str] = (), progress: Callable[[int, int], None] = lambda n, total: None
) -> list[Path]:
    """Write a bag for each episode of a run, and return the paths. Files are written atomically.

    Args:
        folder: folder for the files, created by this function.
        source: folder of a run.
        keys: keys of episodes, as in `agora.benchmark.exports.mcap.write_mcap_files`; by default, all kept episodes.
        progress: function that is called with the number of finished episodes, and the total number.

    Raises:
        InputError: the package rosbags is missing, or the suite of the run cannot be built on this machine.
        UnknownNameError: no episode has this key. ResultsError: a file exists or cannot be written, or no recording was kept.
    """
    store()
    run, written = RunSelection.of(source, keys), list[Path]()
    suite = run.run.suite()
    for played in run.episodes():
        written.append(_write(folder / f"{file_name(played)}.bag", played, suite))
        progress(len(written), len(run.groups))
    return written


def _write(path: Path, played: PlayedEpisode, suite: Suite) -> Path:
    from rosbags.rosbag1 import Writer

    if played.conditions is None:
        raise InputError(f"{played.source}: does not contain the conditions of episode {played.entry}")
    refuse_existing(path)
    messages = messages_of(played, suite.start(played.stage, played.episode), played.conditions)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with Writer(part) as bag:
            topics = {}
            for one in messages:
                if one.topic not in topics:
                    topics[one.topic] = bag.add_connection(one.topic, one.type, typestore=store(), latching=int(one.latched))
                bag.write(topics[one.topic], one.nanoseconds, one.data)
        part.replace(path)
    except OSError as error:
        raise ResultsError(f"{path}: cannot be written: {error.strerror or error}") from error
    finally:
        part.unlink(missing_ok=True)
    return path
