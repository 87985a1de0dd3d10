"""Opens the folder of a run for the only process that may write to it."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from agora.benchmark.provenance.inputs import difference
from agora.benchmark.provenance.machine import Machine
from agora.benchmark.provenance.resumption import check_resumed, check_software, code_change, exclusive_access, write_code
from agora.benchmark.results import store
from agora.benchmark.results.run_folder import RunFolder
from agora.benchmark.results.run_record import RunRecord
from agora.benchmark.results.store import Keep
from agora.errors import ResultsError

_LOG = logging.getLogger(__name__)
_FREE = 64 * 2**20  # bytes that must be free on the disk in addition to the estimated size of the results
_PER_EPISODE: Mapping[Keep, int] = {"all": 2**18, "failed": 2**18, "none": 2**13}  # bytes, a generous estimate


@dataclass(frozen=True)
class OpenRun(RunFolder):
    """The folder of a run to which this process has exclusive access.

    Attributes:
        finished: keys of the existing rows.
        lost: reasons why episodes have no row, by key, including reasons from earlier parts of the run.
    """

    finished: set[str] = field(default_factory=set)
    lost: dict[str, str] = field(default_factory=dict)

    @property
    def mark(self) -> str:
        """The mark of the run's new shards."""
        return self.record.id or self.record.mark()

    def keep_reason(self, key: str, reason: str) -> None:
        """Record that an episode was given up, and why."""
        self.lost[key] = reason
        self.write_lost()

    def keep_rows(self, keys: Iterable[str]) -> None:
        """Record episodes as finished, given the keys of their first rows."""
        done = set(keys)
        self.finished.update(done)
        if forgotten := done.intersection(self.lost):
            for key in forgotten:
                del self.lost[key]
            self.write_lost()

    def write_lost(self) -> None:
        """Write the list of episodes without a row, with the reasons. Raises: ResultsError: the file cannot be written."""
        with _writing(self.path):
            self.write_interrupted(self.lost)

    def check_unchanged(self, inputs: Mapping[str, str], packages: Mapping[str, str]) -> None:
        """At the end of a run, make sure that files and code are unchanged; if not, mark ``run.yaml`` so that the run cannot be
        resumed.

        Args:
            inputs: current digests of the files, by name (`agora.benchmark.provenance.inputs`).
            packages: current versions of the packages, by name (`agora.benchmark.provenance.packages`).

        Raises:
            ResultsError: a file or a package was changed.
        """
        record, both = self.record, "during the run, so its rows may mix both versions; start again in another folder"
        changed = difference(record.inputs or {}, inputs, both)
        if not changed and (code := code_change(self.path, record.packages or {}, packages)):
            changed = f"{code} {both}"
        if changed:
            spoilt = replace(record, inputs=_then(record.inputs or {}, inputs), packages=_then(record.packages or {}, packages))
            spoilt.write(self.path)
            raise ResultsError(f"{self.path}: {changed}")


def _then(was: Mapping[str, str], now: Mapping[str, str]) -> dict[str, str]:
    """Return digests or versions by name; an entry that has changed contains both the earlier and the current value, so that the
    record does not claim a single version.
    """
    return {name: one if now.get(name) == one else f"{one}, then {now.get(name, 'removed')}" for name, one in was.items()}


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    """Within this context, turn a failure to write to the folder into an error that names the folder."""
    try:
        yield
    except OSError as error:
        raise ResultsError(f"{path}: cannot be written: {error.strerror or error}") from error


@contextmanager
def open_run(
    path: Path,
    record: RunRecord,
    code: str,
    *,
    episodes: int,
    resume: bool = False,
    repeats: bool = True,
    before: RunRecord | None = None,
) -> Iterator[OpenRun]:
    """Open a folder for a run, and lock it against other processes.

    Half-written files are deleted, as are rows whose planning times or trajectories are lost, so that the episodes are run again.

    Args:
        path: path of the folder, which is created if necessary.
        record: record of the run, which contains everything that determines the results.
        code: manifest of the run's code (`agora.benchmark.provenance.packages.manifest`).
        episodes: total number of episodes, for which the disk must have room.
        resume: whether the folder may already contain the run.
        repeats: whether repeating an episode gives the same result; if not, incomplete rows are kept, and a message is logged.
        before: record of the existing run in the folder, if this run adds planners to it; None if the record is unchanged.

    Raises:
        ResultsError: the folder cannot be written, the disk does not have enough space, the folder contains another run or rows of
            another run, or another process uses the folder.
        InputError: Agora's own code has changed since this process started.
    """
    keep = record.trajectories or "all"
    if not path.exists():
        check_space(path, episodes, keep)
    with exclusive_access(path):
        begun = _check_folder(path, record, before or record, resume)
        read = _Read.of(begun)
        check_space(path, episodes - len({key.rpartition("/")[0] for key in read.finished()}), keep)
        with _writing(path):
            for part in store.PARTS:
                (path / part).mkdir(exist_ok=True)
                for file in (path / part).glob(".*.part"):
                    file.unlink()
            begun.record.write(path)
            write_code(path, code)
            read.mend(repeats)
        finished = set(read.finished())
        lost = {key: reason for key, reason in begun.interrupted().items() if key not in finished}
        yield OpenRun(path, begun.record, finished, lost)


def check_space(folder: Path, episodes: int, keep: Keep = "all") -> None:
    """Make sure that a disk has enough space for the results.

    Args:
        folder: folder of the results.
        episodes: number of episodes to run.
        keep: which recordings are kept.

    Raises:
        ResultsError: the disk does not have enough space, or its free space is unknown.
    """
    need = _FREE + episodes * _PER_EPISODE[keep]
    try:
        free = shutil.disk_usage(next(place for place in (folder, *folder.absolute().parents) if place.is_dir())).free
    except OSError as error:
        raise ResultsError(f"{folder}: cannot be written: {error.strerror or error}") from error
    if free < need:
        raise ResultsError(f"{folder}: {free / 2**20:.0f} MiB free, but {episodes} episodes may need {need / 2**20:.0f} MiB")


def _check_folder(path: Path, record: RunRecord, before: RunRecord, resume: bool) -> RunFolder:
    """Return the existing run in a folder, whose record must equal ``before``, or a new run; this machine is added to the
    record.
    """
    here, file = Machine.here(), RunRecord.path_in(path)
    if RunFolder.is_at(path):
        written = RunRecord.read(path)
        check_resumed(file, "run", written.decides(), before.decides(), resume, ", or add planners to it with --add")
        check_software(file, "run", written.made_on.software if written.made_on else {}, here.software)
        if written.decides() != record.decides():
            earlier = (*(written.earlier or ()), *([written.id] if written.id else []))
            written = replace(record, made_on=written.made_on, resumed_on=written.resumed_on, earlier=earlier or None)
    elif any((path / "episodes").glob("*.parquet")):
        raise ResultsError(f"{path}: contains episodes but no {file.name} that identifies their run; choose another folder")
    else:
        written = replace(record, made_on=here)
    others = written.resumed_on or ()
    also = () if here in (written.made_on, *others) else (here,)
    return RunFolder(path, replace(written, id=written.id or record.mark(), resumed_on=(*others, *also)))


@dataclass(frozen=True)
class _Read:
    """The identities of the rows in a folder's shards and the keys in the folder's other parts; each shard is read only once.

    Attributes:
        run: run that the shards belong to.
        rows: rows of each intact shard, by name of the shard.
        keys_of: keys in the other parts, by name of the part and name of the shard.
        names: names of all shards, including damaged and incomplete ones.
    """

    run: RunFolder
    rows: dict[str, list[dict[str, Any]]]
    keys_of: dict[tuple[str, str], set[str]]
    names: list[str]

    @staticmethod
    def of(run: RunFolder) -> _Read:
        """Read the shards. Raises: ResultsError: a shard contains a row of another run, or two shards contain the same row."""
        columns = {"episodes": (*store.IDENTITY, "outcome"), "timing": store.IDENTITY, "trajectories": ("key",)}
        rows, keys_of, names = dict[str, list[dict[str, Any]]](), dict[tuple[str, str], set[str]](), set[str]()
        for part in store.PARTS:
            for read in store.shards(run.path / part, columns[part]):
                for row in run.strangers(read):
                    raise ResultsError(
                        f"{read.path}: contains {row['key']!r}, which belongs to another run; move the file to another folder"
                    )
                name = read.path.stem
                names.add(name)
                keys_of[part, name] = {row["key"] for row in read.rows}
                if part == "episodes" and not read.problem:
                    rows[name] = read.rows
        store.check_unique([row for some in rows.values() for row in some], run.path / "episodes")
        return _Read(run, rows, keys_of, sorted(names))

    def finished(self) -> Iterator[str]:
        """Return the keys of the existing rows."""
        return (row["key"] for some in self.rows.values() for row in some)

    def mend(self, repeats: bool) -> None:
        """Delete incomplete shards, and shards with lost data if their episodes can be run again."""
        for name in self.names:
            if name not in self.rows:
                store.remove(self.run.path, name)
            elif lost := " and ".join(self._lost(name)):
                file = self.run.path / "episodes" / f"{name}.parquet"
                again = "its episodes are run again" if repeats else "which cannot be restored"
                _LOG.warning("%s: its rows lack %s%s %s", file, lost, ";" if repeats else ",", again)
                if repeats:
                    store.remove(self.run.path, name)
                    del self.rows[name]

    def _lost(self, name: str) -> list[str]:
        """Return the parts (timing, trajectories) in which data is missing for some rows of a shard."""
        rows, keep = self.rows[name], self.run.record.trajectories or "none"
        kept = {row["key"] for row in rows if store.is_kept(row, keep)}
        wanted = {"timing": {row["key"] for row in rows}, "trajectories": kept}
        return [part for part, some in wanted.items() if not some <= self.keys_of.get((part, name), set())]
