"""Benchmarks whose episodes are played outside of this process: in a ROS graph, by whatever drives the robot there.

The results are those of a benchmark in this process: one shard an episode, written when it has ended, so a run that is killed goes
on where it was.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agora.benchmark import store
from agora.benchmark.account import interrupted
from agora.benchmark.bench import Options, alone, check, check_space, check_unchanged, describe, jobs_for, prepare
from agora.benchmark.inputs import inputs
from agora.benchmark.job import Plan, Rows, key_of
from agora.core.recording import Recording
from agora.errors import InputError
from agora.files import write_whole
from agora.registry import Named
from agora.tasks.suite import Suite

__all__ = ["EpisodeLostError", "bench_outside"]

_NOTHING: Mapping[str, str] = {}


class EpisodeLostError(Exception):
    """An episode was not played to its end; the message says why."""


@dataclass(frozen=True)
class External:
    """Whatever drives the robots outside: a planner that this process cannot call."""

    graph: str = "ROS"


def bench_outside(
    suite: Suite,
    label: str,
    folder: Path,
    play: Callable[[str, int], list[Recording]],
    *,
    resume: bool = False,
    progress: Callable[[int, int], None] = lambda done, total: None,
    beside: Mapping[str, str] = _NOTHING,
) -> list[dict[str, Any]]:
    """Have every episode of a suite played that has no row yet.

    Args:
        suite: the episodes. label: of what drives the robots. folder: of the results, made here.
        play: plays an episode, by its stage and number, and returns a recording of each robot; raises `EpisodeLostError`.
        resume: go on with a run that was begun in ``folder``.
        progress: called with the number of finished episodes and of all.
        beside: texts that stand in every row that is made now, by column.

    Returns:
        The rows of all episodes, by key.

    Raises:
        InputError: the suite cannot be put together. ResultsError: the folder cannot be used, or a file was changed.
    """
    if "/" in label or not label.isprintable() or not label:
        raise InputError(f"planner {label!r}: expected a label of printable characters without '/'")
    planners, folder = {label: Named("external", External())}, folder.absolute()
    check(suite)
    total = len(suite.entries())
    check_space(folder, total)
    with alone(folder):
        described = describe(suite, planners)
        run = prepare(folder, described, resume, repeats=False)
        jobs = jobs_for(suite, planners, store.finished(folder / "episodes"), Options(batch=1))
        plan = Plan(suite, planners, run=run)
        lost = interrupted(folder)
        for number, job in enumerate(jobs):
            progress(total - len(jobs) + number, total)
            (episode,) = job.episodes
            key = key_of(suite, job.stage, episode, label, 0)
            try:
                recordings = play(job.stage, episode)
            except EpisodeLostError as reason:
                lost[key] = str(reason)
            else:
                rows = Rows(plan, job, beside=beside)
                rows.add(episode, suite.start(job.stage, episode), recordings)
                store.keep(folder, job.name, rows.finished().files)
                lost.pop(key, None)
            write_whole(folder / "interrupted.txt", "".join(f"{key}\t{reason}\n" for key, reason in lost.items()))
        check_unchanged(folder, described["inputs"], inputs(suite, planners))
        progress(total - len(lost), total)
    return sorted(store.read_rows(folder / "episodes"), key=lambda row: str(row["key"]))
