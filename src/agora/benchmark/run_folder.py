"""The folder of a run: read by whoever asks for its rows, opened by who runs it.

``run.yaml`` says what the run is of (`agora.benchmark.record`). ``episodes``, ``timing`` and ``trajectories`` hold shards
(`agora.benchmark.store`), ``interrupted.txt`` the episodes that were given up, with the reason.
"""

from __future__ import annotations

import logging
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from agora.benchmark import store
from agora.benchmark.begun import alone, check_resumed
from agora.benchmark.inputs import difference
from agora.benchmark.machine import Machine
from agora.benchmark.record import RunRecord
from agora.benchmark.store import Keep, Shard
from agora.documents import read_text
from agora.errors import AgoraError, ResultsError
from agora.files import write_whole
from agora.tasks.suite import Suite

__all__ = ["RunFolder", "episodes_kept"]

_LOG = logging.getLogger(__name__)
_INTERRUPTED = "interrupted.txt"
_FREE = 64 * 2**20  # bytes that must be free beyond the estimate
_PER_EPISODE: Mapping[Keep, int] = {"all": 2**18, "failed": 2**18, "none": 2**13}  # bytes, a generous estimate


@dataclass(frozen=True)
class RunFolder:
    """The folder of a run.

    Attributes:
        path: of the folder. record: what the run is of.
    """

    path: Path
    record: RunRecord

    @staticmethod
    def read(path: Path) -> RunFolder:
        """Return the run in a folder.

        Raises:
            ResultsError: it holds none. InputError: its ``run.yaml`` is wrong.
        """
        return RunFolder(path, RunRecord.read(path))

    @staticmethod
    def is_at(path: Path) -> bool:
        """Whether a folder holds a run."""
        return RunRecord.path_in(path).is_file()

    def suite(self) -> Suite:
        """Return the suite of the run.

        Raises:
            InputError: it is of another version of Agora, or names what this machine does not have.
        """
        return self.record.build_suite(self.path)

    def interrupted(self) -> dict[str, str]:
        """Return the episodes that were given up and have no row, with the reason, by key."""
        listed = self.path / _INTERRUPTED
        lines = read_text(listed).splitlines() if listed.is_file() else []
        return {key: reason for key, _, reason in (line.partition("\t") for line in lines)}

    def write_interrupted(self, reasons: Mapping[str, str]) -> None:
        """Write which episodes were given up. Raises: OSError: it cannot be written."""
        write_whole(self.path / _INTERRUPTED, "".join(f"{key}\t{reason}\n" for key, reason in reasons.items()))

    def shards(self, part: str, columns: Sequence[str] | None = None) -> Iterator[Shard]:
        """Yield the shards of one part of the run, as `agora.benchmark.store.shards`, without the rows of other runs."""
        for read in store.shards(self.path / part, columns):
            strange = {row["key"] for row in self.strangers(read)}
            yield read._replace(rows=[row for row in read.rows if row["key"] not in strange])

    def strangers(self, read: Shard) -> list[dict[str, Any]]:
        """Return the rows of a shard that are not of the run: all where another's mark is on it, else those that nobody planned."""
        record = self.record
        if read.run and record.id is not None:
            return read.rows if read.run != record.id else []
        return [row for row in read.rows if not self._is_own(row)] if record.planned else []

    def _is_own(self, row: Mapping[str, Any]) -> bool:
        """Whether a row of an unmarked shard is of a planned episode."""
        name, stage, number, planner, _ = row["key"].split("/")
        record, planned = self.record, self.record.planned or {}
        if name != record.outline.name or planner not in record.planners or int(number) >= planned.get(stage, 0):
            return False
        return row.get("seed") in (None, record.seed_of(stage))


def episodes_kept(path: Path) -> str:
    """Say how many episodes of the run in a folder are finished and kept."""
    try:
        done = {key.rpartition("/")[0] for key in store.keys(path / "episodes")}
        planned = RunRecord.read(path).episodes
    except (AgoraError, OSError):
        return f"no episode was begun in {path}"
    of = f" of {planned}" if planned else ""
    return f"{len(done)}{of} episodes are finished and kept in {path}"


@dataclass(frozen=True)
class OpenRun(RunFolder):
    """The folder of a run that this process alone is at work in.

    Attributes:
        finished: keys of the rows that are there. lost: why episodes have no row, by key, those of earlier parts too.
    """

    finished: set[str] = field(default_factory=set)
    lost: dict[str, str] = field(default_factory=dict)

    def keep_reason(self, key: str, reason: str) -> None:
        """Write that an episode was given up."""
        self.lost[key] = reason
        self.write_lost()

    def keep_rows(self, keys: Iterable[str]) -> None:
        """Take in that episodes are finished, by the keys of their first rows."""
        done = set(keys)
        self.finished.update(done)
        if forgotten := done.intersection(self.lost):
            for key in forgotten:
                del self.lost[key]
            self.write_lost()

    def write_lost(self) -> None:
        """Write which episodes have no row, and why. Raises: ResultsError: it cannot be written."""
        with _writing(self.path):
            self.write_interrupted(self.lost)

    def check_unchanged(self, now: Mapping[str, str]) -> None:
        """Make sure at the end that the files are those that the run began with; else ``run.yaml`` keeps it from being resumed.

        Args:
            now: digests of the files (`agora.benchmark.inputs`).

        Raises:
            ResultsError: a file was changed.
        """
        was = self.record.inputs or {}
        both = "while the run was on, so its rows may be of both; begin anew in another folder"
        if changed := difference(was, now, both):
            said = {name: d if now.get(name) == d else f"{d}, then {now.get(name, 'gone')}" for name, d in was.items()}
            replace(self.record, inputs=said).write(self.path)
            raise ResultsError(f"{self.path}: {changed}")


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    """Name the folder where something cannot be written into it."""
    try:
        yield
    except OSError as error:
        raise ResultsError(f"{path}: cannot be written: {error.strerror or error}") from error


@contextmanager
def opened(path: Path, record: RunRecord, *, episodes: int, resume: bool = False, repeats: bool = True) -> Iterator[OpenRun]:
    """Open a folder for a run, and keep other processes out of it meanwhile.

    What was left half-written is deleted. Rows that have lost their planning times or trajectories are deleted too, so that their
    episodes are run again.

    Args:
        path: of the folder, made here. record: what decides the results.
        episodes: of the run in all, for which there must be room. resume: whether the folder may hold the run already.
        repeats: whether an episode that is run again is the same; if not, rows that have lost something stay, and the log says so.

    Raises:
        ResultsError: the folder cannot be written, has no room, or holds another run or rows of one; or another process is there.
    """
    keep = record.trajectories or "all"
    if not path.exists():
        check_space(path, episodes, keep)
    with alone(path):
        begun = _begun(path, record, resume)
        read = _Read.of(begun)
        check_space(path, episodes - len({key.rpartition("/")[0] for key in read.finished()}), keep)
        with _writing(path):
            for part in store.PARTS:
                (path / part).mkdir(exist_ok=True)
                for file in (path / part).glob(".*.part"):
                    file.unlink()
            begun.record.write(path)
            read.mend(repeats)
        finished = set(read.finished())
        lost = {key: reason for key, reason in begun.interrupted().items() if key not in finished}
        yield OpenRun(path, begun.record, finished, lost)


def check_space(folder: Path, episodes: int, keep: Keep = "all") -> None:
    """Make sure that a disk has room for the results.

    Args:
        folder: of the results. episodes: that are to be run. keep: whose recordings.

    Raises:
        ResultsError: it has not, or nobody can say.
    """
    need = _FREE + episodes * _PER_EPISODE[keep]
    try:
        free = shutil.disk_usage(next(place for place in (folder, *folder.absolute().parents) if place.is_dir())).free
    except OSError as error:
        raise ResultsError(f"{folder}: cannot be written: {error.strerror or error}") from error
    if free < need:
        raise ResultsError(f"{folder}: {free / 2**20:.0f} MiB are free, {episodes} episodes may need {need / 2**20:.0f} MiB")


def _begun(path: Path, record: RunRecord, resume: bool) -> RunFolder:
    """The run with where it is made: as it is in the folder already, which must be this one, or a new one."""
    here, mark = Machine.here(), record.mark()
    if RunFolder.is_at(path):
        written = RunRecord.read(path)
        check_resumed(RunRecord.path_in(path), "run", written.decides(), record.decides(), resume)
    elif any((path / "episodes").glob("*.parquet")):
        raise ResultsError(
            f"{path}: holds episodes but no {RunRecord.path_in(path).name} that says of which run; choose another folder"
        )
    else:
        written = replace(record, made_on=here)
    others = written.resumed_on or ()
    also = () if here in (written.made_on, *others) else (here,)
    return RunFolder(path, replace(written, id=mark, resumed_on=(*others, *also)))


@dataclass(frozen=True)
class _Read:
    """Everything that the shards of a folder hold, each read once: rows without their values, and keys of the other parts.

    Attributes:
        run: that they are of. rows: of each shard that is whole, by its name.
        keys_of: of the other parts, by name of the part and of the shard. names: of all shards, whole or not.
    """

    run: RunFolder
    rows: dict[str, list[dict[str, Any]]]
    keys_of: dict[tuple[str, str], set[str]]
    names: list[str]

    @staticmethod
    def of(run: RunFolder) -> _Read:
        """Read the shards. Raises: ResultsError: one holds a row of another run, or two hold the same row."""
        columns = {"episodes": (*store.IDENTITY, "outcome"), "timing": store.IDENTITY, "trajectories": ("key",)}
        rows, keys_of, names = dict[str, list[dict[str, Any]]](), dict[tuple[str, str], set[str]](), set[str]()
        for part in store.PARTS:
            for read in store.shards(run.path / part, columns[part]):
                for row in run.strangers(read):
                    raise ResultsError(f"{read.path}: holds {row['key']!r} of another run; move the file out of this folder")
                name = read.path.stem
                names.add(name)
                keys_of[part, name] = {row["key"] for row in read.rows}
                if part == "episodes" and not read.problem:
                    rows[name] = read.rows
        store.check_unique([row for some in rows.values() for row in some], run.path / "episodes")
        return _Read(run, rows, keys_of, sorted(names))

    def finished(self) -> Iterator[str]:
        """The keys of the rows that are there."""
        return (row["key"] for some in self.rows.values() for row in some)

    def mend(self, repeats: bool) -> None:
        """Delete shards that are not whole, and those of which something was lost, so that it is run again where it can be."""
        for name in self.names:
            if name not in self.rows:
                store.remove(self.run.path, name)
            elif lost := " and ".join(self._lost(name)):
                file = self.run.path / "episodes" / f"{name}.parquet"
                again = "its episodes are run again" if repeats else "which cannot be restored"
                _LOG.warning("%s: its rows have lost their %s%s %s", file, lost, ";" if repeats else ",", again)
                if repeats:
                    store.remove(self.run.path, name)
                    del self.rows[name]

    def _lost(self, name: str) -> list[str]:
        """The parts of the run, timing and trajectories, that lack something of the rows of a shard."""
        rows, keep = self.rows[name], self.run.record.trajectories or "none"
        kept = {row["key"] for row in rows if store.is_kept(row, keep)}
        wanted = {"timing": {row["key"] for row in rows}, "trajectories": kept}
        return [part for part, some in wanted.items() if not some <= self.keys_of.get((part, name), set())]
