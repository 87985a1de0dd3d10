"""Reads benchmark folders of Arena 3.0: ``config.yaml``, ``suites/*.yaml`` and ``contests/*.yaml``. Never writes to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

from agora.config import load
from agora.draft.stage import CrowdSettings, Stage
from agora.errors import InputError, similar
from agora.ranges import Checked, Quantity, Within
from agora.registry import Named
from agora.share import folder
from agora.tasks.settings import Settings
from agora.tasks.setup import Setup
from agora.tasks.suite import Suite
from agora.yaml_tree import location_of

_TIMEOUT = 60.0  # Arena's time limit, s


_CROWD = CrowdSettings(Named.of("crowd_models", "helbing"), routes=False, faithful=True)  # as in the published benchmark


@dataclass(frozen=True)
class SuiteChoice(Checked):
    """The suite that ``config.yaml`` selects.

    Attributes:
        config: name of a file in ``suites``.
        scale_episodes: factor by which the number of episodes of each stage is multiplied; each stage has at least one episode.
    """

    config: str
    scale_episodes: Annotated[float, Within(0.0, 1000.0, above=True)] = 1.0


@dataclass(frozen=True)
class ContestChoice:
    """The contest, i.e. the set of planners, that ``config.yaml`` selects.

    Attributes:
        config: name of a file in ``contests``.
    """

    config: str


@dataclass(frozen=True)
class BenchmarkFile:
    """The keys of ``config.yaml``.

    Attributes:
        suite: selected suite.
        contest: selected contest.
        general: the ``simulator`` key; not used.
    """

    suite: SuiteChoice
    contest: ContestChoice
    general: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class StageEntry(Checked):
    """A stage in a file in ``suites``.

    Attributes:
        name: name of the stage, unique within the file.
        episodes: number of episodes.
        robot: model of the robot.
        map: name of the world, or "dynamic_map".
        tm_robots: robots mode.
        tm_obstacles: obstacles mode.
        config: values that override the values in ``task_generator.yaml``.
        timeout: time limit of an episode, s; also overrides the value in ``task_generator.yaml``.
        seed: seed of every random stream; if not given, the benchmark's seed, which is the same for every user.
    """

    name: str
    episodes: Quantity
    robot: str
    map: str
    tm_robots: str
    tm_obstacles: str
    config: dict[str, Any] = field(default_factory=dict)
    timeout: float | None = None
    seed: int | None = None


@dataclass(frozen=True)
class SuiteFile:
    """The keys of a file in ``suites``.

    Attributes:
        stages: stages of the suite, in the order in which they are run.
    """

    stages: tuple[StageEntry, ...]


@dataclass(frozen=True)
class Contestant:
    """A planner in a file in ``contests``.

    Attributes:
        name: label of the planner.
        local_planner: name of the local planner.
        inter_planner: name of the interplanner.
    """

    name: str
    local_planner: str
    inter_planner: str = "bypass"


@dataclass(frozen=True)
class ContestFile:
    """The keys of a file in ``contests``.

    Attributes:
        contestants: planners of the contest.
    """

    contestants: tuple[Contestant, ...]

    def __post_init__(self) -> None:
        names = [contestant.name for contestant in self.contestants]
        if not names or len(set(names)) < len(names):
            raise ValueError(f"contestants: expected at least one, all with different names, got {names}")


@dataclass(frozen=True)
class ArenaBenchmark:
    """The contents of an Arena benchmark folder.

    Attributes:
        suite: stages in the form in which Agora runs them.
        contestants: planners of the contest.
        contest_file: file that lists the planners.
    """

    suite: Suite
    contestants: tuple[Contestant, ...]
    contest_file: Path


def read_arena_benchmark(place: str | Path = "", settings: Settings | None = None) -> ArenaBenchmark:
    """Read an Arena 3.0 benchmark folder.

    Args:
        place: folder with ``config.yaml``; if empty, the benchmark that comes with Agora.
        settings: settings that are overridden by the stages' values; if not given, ``configs/task_generator.yaml`` with Arena's
            time limit.

    Raises:
        InputError: a file is missing or invalid; the message names the file, the line and the key.
    """
    root = Path(place) if str(place) else folder("configs") / "benchmark" / "arena"
    config = load(root / "config.yaml", BenchmarkFile)
    suite_file = _chosen(root / "config.yaml", "suite", root / "suites", config.suite.config)
    entries = load(suite_file, SuiteFile).stages
    stages = tuple(stage_of(suite_file, k, entry, settings, config.suite.scale_episodes) for k, entry in enumerate(entries))
    try:
        suite = Suite(suite_file.stem, stages)
    except ValueError as error:
        raise InputError(f"{suite_file}:1: {error}") from error
    contest_file = _chosen(root / "config.yaml", "contest", root / "contests", config.contest.config)
    return ArenaBenchmark(suite, load(contest_file, ContestFile).contestants, contest_file)


def _chosen(config: Path, key: str, place: Path, name: str) -> Path:
    """Return the path of a file that ``config.yaml`` names."""
    path = place / f"{name.removesuffix('.yaml')}.yaml"
    if not path.is_file():
        known = [other.name for other in place.glob("*.yaml")] if place.is_dir() else []
        raise InputError(f"{location_of(config, key, 'config')}: there is no file {path}{similar(path.name, known)}")
    return path


def stage_of(path: Path, number: int, entry: StageEntry, base: Settings | None = None, scale: float = 1.0) -> Stage:
    """Return a stage in the form in which Agora runs it.

    Args:
        path: file of the stage.
        number: index of the stage in its file.
        entry: the stage's keys.
        base: settings that are overridden by the stage's values; the default is the same as in `read_arena_benchmark`.
        scale: factor by which the stage's number of episodes is multiplied.

    Raises:
        InputError: the stage names something that does not exist or is not suitable; the message names the file, the line and the
            key.
    """
    if base is None:
        base = replace(load(folder("configs") / "task_generator.yaml", Settings), timeout=_TIMEOUT)
    where = f"{location_of(path, 'stages', number)}"
    if entry.timeout is not None and "timeout" in entry.config:
        raise InputError(f"{where}: timeout: has no effect in config because the stage sets it; leave it out")
    tree: Mapping[str, Any] = entry.config if entry.timeout is None else entry.config | {"timeout": entry.timeout}
    try:
        settings = base.overridden(tree, f"{where}.config")
        if entry.seed is not None and settings.random.seed >= 0:
            raise InputError(f"{where}: RANDOM.seed: has no effect in config because the stage sets a seed; leave it out")
        setup = Setup(settings, entry.tm_robots, entry.tm_obstacles, (), entry.map, entry.robot, _CROWD)
        return replace(
            setup.stage(),
            name=entry.name,
            episodes=max(1, round(entry.episodes * scale)),
            seed=entry.seed if settings.random.seed < 0 else settings.random.seed,
        )
    except ValueError as error:
        raise InputError(f"{where}: {error}") from error
    except InputError as error:
        text = str(error)
        raise InputError(text if text.startswith(where) else f"{where}: {text}") from error
