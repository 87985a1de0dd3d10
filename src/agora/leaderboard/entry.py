"""A leaderboard entry: a folder with one planner's rows for one suite, and everything that others need to reproduce them.

``entry.yaml`` names the author and pins everything that determines the rows. ``rows.parquet`` contains the rows, and
``commands.parquet`` the commands that produced them (`agora.benchmark.redrive`). ``timing.parquet`` contains the planning times,
which are measured but not compared. ``replays.parquet`` contains a few recordings, and ``weights/`` the files to which the
planner's configuration refers by path. ``check.yaml`` contains the result of the latest check (`agora.leaderboard.verification`).
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from agora import __version__
from agora.benchmark.knowledge import Knowledge
from agora.benchmark.provenance.inputs import inputs
from agora.benchmark.provenance.machine import Machine
from agora.benchmark.provenance.packages import packages
from agora.benchmark.results.differences import Difference
from agora.benchmark.results.store import Row
from agora.interfaces import Label
from agora.leaderboard._isolation import Claims
from agora.metrics.registered import HEADLINE, metrics
from agora.perception.perception import Level
from agora.ranges import Number
from agora.registry import Named
from agora.tasks.suite import Suite

ENTRY, CHECK, ROWS, DRIVES, TIMING, REPLAYS, WEIGHTS = (
    "entry.yaml",
    "check.yaml",
    "rows.parquet",
    "commands.parquet",
    "timing.parquet",
    "replays.parquet",
    "weights",
)

LARGEST_FILE = 64 * 2**20
"""Maximum size of a file in an entry, bytes."""
MOST_REPLAYS = 8
"""Maximum number of recordings per entry."""

_LONGEST = {"name": 80, "author": 200, "description": 2000}


@dataclass(frozen=True)
class EntryStage:
    """The number of episodes in one stage, and the seed of its random streams."""

    episodes: Number
    seed: int


@dataclass(frozen=True)
class EntrySuite:
    """The suite that was run, with its stages by name. Except for the seed, it is the suite that comes with Agora."""

    name: str
    version: Number
    seed: int
    stages: dict[str, EntryStage]

    @staticmethod
    def of(suite: Suite) -> EntrySuite:
        """Return the part of a suite that an entry describes."""
        stages = {stage.name: EntryStage(stage.count, suite.seed_of(stage.name)) for stage in suite.stages}
        return EntrySuite(suite.name, suite.version, suite.seed, stages)

    @property
    def episodes(self) -> list[tuple[str, int]]:
        """Return the stage and the number of every episode."""
        return [(name, k) for name, stage in self.stages.items() for k in range(stage.episodes)]


@dataclass(frozen=True)
class EntryPlanner:
    """The planner of an entry.

    Attributes:
        label: label in the keys of the planner's rows.
        configuration: name and parameters of the planner; a file in the entry is given as ``weights/FILE``.
        pedestrians: level of perception in all stages; if None, each stage uses its own level.
    """

    label: str
    configuration: dict[str, Any]
    pedestrians: Level | None = None


@dataclass(frozen=True)
class Pins:
    """Everything that determines the rows besides the suite and the planner's configuration.

    Attributes:
        agora: Agora version.
        packages: versions of the packages of the suite's and the planner's components and of the metrics
            (`agora.benchmark.provenance.packages.packages`).
        label: category that the planner claims to belong to.
        knows: knowledge of the robot besides its own pose and goal.
        metrics: versions of the metrics in the rows; metrics at version 1 are omitted.
        inputs: digests of the suite's files.
        weights: digests of the planner's files.
    """

    agora: str
    packages: dict[str, str]
    label: Label
    knows: Knowledge
    metrics: dict[str, Number]
    inputs: dict[str, str]
    weights: dict[str, str]

    @staticmethod
    def of(suite: Suite, planner: Named, told: Iterable[Level], columns: Iterable[str], folder: Path) -> Pins:
        """Return the pins on this machine for the entry in a folder, whose rows have the given columns.

        Raises:
            InputError: a file of the suite or the planner cannot be read.
        """
        present, claims = set(columns), Claims.of(planner)
        measured = [metric for metric in metrics(own=True) if metric.name in present]
        return Pins(
            __version__,
            dict(sorted((packages(suite, measured) | claims.packages).items())),
            claims.label,
            Knowledge.of(planner, told),
            {metric.name: metric.version for metric in measured if metric.version != 1},
            inputs(suite),
            {_portable(name, folder): digest for name, digest in claims.files.items()},
        )


@dataclass(frozen=True)
class EntryResults:
    """A summary of the rows.

    Attributes:
        rows: number of rows.
        outcomes: number of rows with each outcome.
        means: means of the report's first metrics, for metrics that occur in at least one row.
    """

    rows: Number
    outcomes: dict[str, Number]
    means: dict[str, float]

    @staticmethod
    def of(rows: Sequence[Row]) -> EntryResults:
        """Return the summary of rows."""
        ends = sorted({str(row["outcome"]) for row in rows})
        values = {name: [float(row[name]) for row in rows if row.get(name) is not None] for name in HEADLINE}
        means = {name: math.fsum(some) / len(some) for name, some in values.items() if some}
        return EntryResults(len(rows), {end: sum(row["outcome"] == end for row in rows) for end in ends}, means)


@dataclass(frozen=True)
class Entry:
    """The contents of ``entry.yaml``.

    Attributes:
        name: name of the entry on the page.
        author: author of the entry on the page.
        description: description of the entry on the page.
        after_draw: text that marks a planner that was changed after the suite's edition was drawn
            (`agora.benchmark.provenance.planner_code`).
        suite: the suite that was run.
        planner: the planner with its configuration.
        pins: everything else that determines the rows.
        made_on: all machines on which a part of the rows was computed.
        results: summary of the rows.
        files: digests of the entry's other files.
        format: version of the entry's format.
    """

    name: str
    suite: EntrySuite
    planner: EntryPlanner
    pins: Pins
    made_on: tuple[Machine, ...]
    results: EntryResults
    files: dict[str, str]
    author: str = ""
    description: str = ""
    after_draw: str = ""
    format: Literal[2] = 2

    def __post_init__(self) -> None:
        for key, most in _LONGEST.items():
            text = getattr(self, key)
            if len(text) > most or not all(letter.isprintable() or letter == "\n" for letter in text):
                raise ValueError(f"{key} must be at most {most} printable characters")
        if not self.name.strip():
            raise ValueError("name must not be empty")
        if not self.made_on:
            raise ValueError("made_on must name a machine")
        if "name" not in self.planner.configuration:
            raise ValueError("planner.configuration must have the same name as the planner")


@dataclass(frozen=True)
class Check:
    """The contents of ``check.yaml``.

    Attributes:
        entry: digest of the ``entry.yaml`` that was checked.
        when: date and time of the check, UTC.
        agora: Agora version that performed the check.
        machine: machine on which the check was performed.
        seed: seed with which the sample of episodes was drawn.
        driven: number of rows whose recorded commands were replayed; 0 if there is a problem.
        episodes: number of episodes that were run again with the planner; 0 if an earlier step found a problem or a difference.
        of: number of episodes in the entry.
        problems: rules that the entry breaks; if there are any, nothing was replayed.
        differences: values that were not reproduced.
    """

    entry: str
    when: str
    agora: str
    machine: Machine
    seed: int
    driven: Number
    episodes: Number
    of: Number
    problems: tuple[str, ...] = ()
    differences: tuple[Difference, ...] = ()

    @property
    def agrees(self) -> bool:
        """True if all values were reproduced."""
        return not self.problems and not self.differences


def digest_of(path: Path) -> str:
    """Return the digest of a file."""
    return hashlib.blake2b(path.read_bytes(), digest_size=16).hexdigest()


def locate_weights(values: Any, folder: Path) -> Any:
    """Return a configuration in which ``weights/FILE`` is replaced by the path of the file in an entry's folder."""
    if isinstance(values, Mapping):
        return {key: locate_weights(value, folder) for key, value in values.items()}
    if isinstance(values, list):
        return [locate_weights(value, folder) for value in values]
    is_ours = isinstance(values, str) and values.startswith(f"{WEIGHTS}/") and Path(values).parent == Path(WEIGHTS)
    return str((folder / values).resolve()) if is_ours else values


def _portable(name: str, folder: Path) -> str:
    """Return the portable name of a file: its path relative to the entry, to Agora or to the data folder, otherwise the last part
    of its path.
    """
    path = Path(name)
    if not path.is_absolute():
        return name
    own = folder.resolve()
    return path.relative_to(own).as_posix() if path.is_relative_to(own) else path.name
