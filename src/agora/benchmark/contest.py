"""Reads suites by name, and Arena 3.0 contests as Agora planners, so that `agora.benchmark.bench.bench` can run Arena's
benchmarks.
"""

from __future__ import annotations

from pathlib import Path

from agora.errors import InputError
from agora.planners.presets import named_interplanner, named_planner
from agora.registry import Named
from agora.tasks.arena_benchmark import read_arena_benchmark
from agora.tasks.suite import Suite, load_suite
from agora.yaml_tree import location_of as located


def read_contest(place: str | Path = "") -> tuple[Suite, dict[str, Named]]:
    """Return the suite and the planners of an Arena benchmark; planners are keyed by label.

    Args:
        place: folder with ``config.yaml``, ``suites`` and ``contests``; if empty, the benchmark that comes with Agora.

    Raises:
        InputError: a file is missing or invalid, or refers to an unknown planner or interplanner; the message names the file, the
            line and the key.
    """
    read = read_arena_benchmark(place)
    planners = {}
    for number, contestant in enumerate(read.contestants):
        key = "inter_planner"
        try:
            named_interplanner(contestant.inter_planner)
            key = "local_planner"
            planners[contestant.name] = named_planner(contestant.local_planner, contestant.inter_planner)[1]
        except InputError as error:
            raise InputError(f"{located(read.contest_file, 'contestants', number, key)}: {error}") from error
    return read.suite, planners


def read_benchmark(name: str) -> tuple[Suite, dict[str, Named]]:
    """Return a suite with no planners or, for an Arena benchmark folder, the folder's suite and planners.

    Args:
        name: name or file of the suite, or the Arena benchmark folder.

    Raises:
        InputError: the suite or the benchmark cannot be read.
    """
    return read_contest(name) if "/" in name and Path(name).is_dir() else (load_suite(name), {})
