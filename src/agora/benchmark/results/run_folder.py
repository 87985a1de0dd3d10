"""Reads the folder of a run; `agora.benchmark.results.open_run` opens a folder for writing.

``run.yaml`` describes the run (`agora.benchmark.results.run_record`). ``episodes``, ``timing`` and ``trajectories`` contain shards
(`agora.benchmark.results.store`). ``interrupted.txt`` lists the episodes that were given up, with the reasons.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agora.benchmark.results import store
from agora.benchmark.results.run_record import RunRecord
from agora.benchmark.results.store import Shard
from agora.errors import AgoraError
from agora.files import write_whole
from agora.tasks.suite import Suite
from agora.yaml_tree import read_text

__all__ = ["RunFolder", "episodes_kept"]

_INTERRUPTED = "interrupted.txt"


@dataclass(frozen=True)
class RunFolder:
    """The folder of a run.

    Attributes:
        path: path of the folder.
        record: record of the run.
    """

    path: Path
    record: RunRecord

    @staticmethod
    def read(path: Path) -> RunFolder:
        """Return the run in a folder.

        Raises:
            ResultsError: the folder contains no run. InputError: its ``run.yaml`` is invalid.
        """
        return RunFolder(path, RunRecord.read(path))

    @staticmethod
    def is_at(path: Path) -> bool:
        """Return whether a folder contains a run."""
        return RunRecord.path_in(path).is_file()

    def suite(self) -> Suite:
        """Return the suite of the run.

        Raises:
            InputError: the suite was written by another version of Agora, or refers to components or files that are missing on this
                machine.
        """
        return self.record.build_suite(self.path)

    def interrupted(self) -> dict[str, str]:
        """Return the reason why each episode without a row was given up, by key."""
        listed = self.path / _INTERRUPTED
        lines = read_text(listed).splitlines() if listed.is_file() else []
        return {key: reason for key, _, reason in (line.partition("\t") for line in lines)}

    def write_interrupted(self, reasons: Mapping[str, str]) -> None:
        """Write the list of episodes that were given up, or delete the file if the list is empty. Raises: OSError: the file cannot
        be written.
        """
        if reasons:
            write_whole(self.path / _INTERRUPTED, "".join(f"{key}\t{reason}\n" for key, reason in reasons.items()))
        else:
            (self.path / _INTERRUPTED).unlink(missing_ok=True)

    def shards(self, part: str, columns: Sequence[str] | None = None) -> Iterator[Shard]:
        """Yield the shards of one part of the run, like `agora.benchmark.results.store.shards`, without rows of other runs."""
        for read in store.shards(self.path / part, columns):
            strange = {row["key"] for row in self.strangers(read)}
            yield read._replace(rows=[row for row in read.rows if row["key"] not in strange])

    def strangers(self, read: Shard) -> list[dict[str, Any]]:
        """Return the rows of a shard that do not belong to the run: all rows if the shard has the mark of another run, otherwise
        the rows of episodes that were not planned.
        """
        record = self.record
        if read.run and record.id is not None:
            return read.rows if read.run not in (record.id, *(record.earlier or ())) else []
        return [row for row in read.rows if not self._is_own(row)] if record.planned else []

    def _is_own(self, row: Mapping[str, Any]) -> bool:
        """Return whether a row of an unmarked shard belongs to a planned episode."""
        name, stage, number, planner, _ = row["key"].split("/")
        record, planned = self.record, self.record.planned or {}
        if name != record.outline.name or planner not in record.planners or int(number) >= planned.get(stage, 0):
            return False
        return row.get("seed") in (None, record.seed_of(stage))


def episodes_kept(path: Path) -> str:
    """Return a message with the number of finished episodes that a run's folder contains."""
    try:
        done = {key.rpartition("/")[0] for key in store.keys(path / "episodes")}
        planned = RunRecord.read(path).episodes
    except (AgoraError, OSError):
        return f"no episode was started in {path}"
    of = f" of {planned}" if planned else ""
    return f"{len(done)}{of} episodes are finished and kept in {path}"
