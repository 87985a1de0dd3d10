"""A module that runs an Arena 3.0 benchmark, one episode per reset."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import lru_cache
from pathlib import Path
from typing import ClassVar

from agora.draft.stage import Stage
from agora.errors import InputError
from agora.interfaces import Module, ResetPlan
from agora.share import folder
from agora.tasks.arena_benchmark import ArenaBenchmark, Contestant, read_arena_benchmark

__all__ = ["Benchmark"]

_OWN = ("name", "episodes", "world", "crowd", "modules", "seed")
"""Keys that a stage with this module keeps or must set itself."""


@dataclass(frozen=True)
class Benchmark(Module):
    """Arena's ``benchmark``: runs the stages of a suite one after another, once for each planner of a contest.

    An episode's world, starts and goals depend on the benchmark and the seed, not on the planner, the date or the user. To get a
    report of the results, run the benchmark with `agora.benchmark.contest`.

    Attributes:
        path: folder with ``config.yaml``, ``suites`` and ``contests``; if empty, the benchmark that comes with Agora.
    """

    sets: ClassVar = tuple(each.name for each in fields(Stage) if each.name not in _OWN)

    path: str = ""

    def __post_init__(self) -> None:
        try:
            self.read()
        except InputError as error:
            raise ValueError(f"path: {error}") from error

    def files(self) -> list[Path]:
        """Return the folder of the benchmark."""
        return [Path(self.path) if self.path else folder("configs") / "benchmark" / "arena"]

    def read(self) -> ArenaBenchmark:
        """Return the benchmark.

        Raises:
            InputError: a file is missing or invalid.
        """
        (root,) = self.files()
        changed = sum(file.stat().st_mtime_ns for file in root.rglob("*.yaml"))
        return _read_once(str(root), changed)

    def contestant(self, episode: int) -> Contestant:
        """Return the contestant whose turn it is in an episode."""
        read = self.read()
        return read.contestants[episode // len(read.suite.entries()) % len(read.contestants)]

    def before_reset(self, plan: ResetPlan) -> ResetPlan:
        """Return the plan of the benchmark's episode, with the crowd of the given plan; the modules of the benchmark's stage run
        after this module.
        """
        suite = self.read().suite
        entries = suite.entries()
        name, episode = entries[plan.episode % len(entries)]
        stage = suite.stage(name)
        whole = replace(stage, modules=plan.stage.modules + stage.modules, crowd=plan.stage.crowd)
        return ResetPlan(suite.name, whole, episode, plan.seed if stage.seed is None else stage.seed)


@lru_cache(maxsize=16)
def _read_once(place: str, changed: int) -> ArenaBenchmark:
    return read_arena_benchmark(place)
