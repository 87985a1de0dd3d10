"""The ledger, which tracks each person's usage and rejects requests that exceed the quotas."""

from __future__ import annotations

import threading
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from agora.errors import InputError
from agora.web._accounts.ownership import Ownership, size_of
from agora.web._accounts.people import Person
from agora.web._runs.queue import RunQueue
from agora.web._tables import QUEUED, RUNNING, Run
from agora.web.settings import Quotas

_MIB = 1 << 20


@dataclass(frozen=True)
class Use:
    """A person's current usage, in the units of `agora.web.settings.Quotas`.

    Attributes:
        runs: number of waiting and active runs.
        results: size of the results of all runs, MiB.
        uploads: number of files and folders that the person has stored through the web interface.
        upload_size: total size of these files and folders, MiB.
    """

    runs: int
    results: float
    uploads: int
    upload_size: float


class Ledger:
    """Tracks everyone's usage, and rejects requests that exceed the quotas.

    Args:
        queue: the queue of runs.
        folder: folder of the results.
        things: other owned content.
    """

    def __init__(self, queue: RunQueue, folder: Path, ownership: Ownership) -> None:
        self._queue, self._folder, self._ownership = queue, folder, ownership
        self._turns: dict[str, threading.Lock] = {}
        self._weighed: dict[str, tuple[object, int]] = {}

    def turn(self, person: Person) -> AbstractContextManager[Any]:
        """Return a lock that a route holds from checking a quota until the content has been added, so that simultaneous requests
        cannot exceed the quota.
        """
        return nullcontext() if person.quotas is None else self._turns.setdefault(person.name, threading.Lock())

    def use(self, name: str) -> Use:
        """Return a person's usage."""
        runs = self._queue.runs(name)
        own = self._ownership.of(name)
        return Use(
            runs=sum(run.state in (QUEUED, RUNNING) for run in runs),
            results=sum(map(self._weigh, runs)) / _MIB,
            uploads=len(own),
            upload_size=sum(map(size_of, own)) / _MIB,
        )

    def _weigh(self, run: Run) -> int:
        """Return the size of a run's folder, bytes; a finished run is measured once, and again only if its folder changes."""
        folder = self._folder / run.id
        if run.state in (QUEUED, RUNNING):
            return size_of(folder)
        try:
            state = (run.ended, folder.stat().st_mtime_ns)
        except OSError:
            return 0
        known, size = self._weighed.get(run.id, (None, 0))
        if known != state:
            size = size_of(folder)
            self._weighed[run.id] = (state, size)
        return size

    def check_run(self, person: Person, episodes: int = 0, processors: int = 1) -> None:
        """Reject a run that would exceed a person's quotas.

        Args:
            person: person who makes the request.
            episodes: number of episodes of the run, over all its planners.
            processors: number of the run's workers times the number of threads per worker.

        Raises:
            InputError: a quota would be exceeded; the message states the usage and the limit.
        """
        if (most := person.quotas) is None:
            return
        if episodes > most.episodes:
            raise InputError(f"quota: the run has {episodes:,} episodes, but you may run {most.episodes:,} at once")
        if processors > most.processors:
            raise InputError(
                f"quota: the run asks for {processors} processors (workers times threads), but you may use {most.processors}"
            )
        use = self.use(person.name)
        _check_room(use, most)
        if use.runs >= most.runs:
            raise InputError(
                f"quota: {use.runs} of your {most.runs} runs are waiting or running; wait until one ends, or cancel one"
            )

    def check_results(self, person: Person) -> None:
        """Reject requests that write results if a person's quota for results is used up.

        Raises:
            InputError: the results use up the quota; the message states the usage and the limit.
        """
        if person.quotas is not None:
            _check_room(self.use(person.name), person.quotas)

    def check_upload(self, person: Person, size: int = 0, *, new: bool = True) -> None:
        """Reject content that would exceed a person's quotas.

        Args:
            person: person who makes the request.
            size: size of the content, bytes; 0 if it is unknown until the content exists.
            new: whether the content is new.

        Raises:
            InputError: a quota would be exceeded; the message states the usage and the limit.
        """
        if (most := person.quotas) is None:
            return
        use = self.use(person.name)
        if new and use.uploads >= most.uploads:
            raise InputError(f"quota: you have {use.uploads} of {most.uploads} scenarios, worlds and other files; remove some")
        if use.upload_size + size / _MIB > most.upload_size:
            raise InputError(
                f"quota: your scenarios, worlds and other files use {use.upload_size:.1f} of {most.upload_size} MiB, and "
                f"this upload needs {size / _MIB:.1f} MiB; remove some"
            )

    def plain(self, person: Person) -> dict[str, Any]:
        """Return quotas and usage in the format used by the front end."""
        quotas = None if person.quotas is None else asdict(person.quotas)
        return {"quotas": quotas, "use": asdict(self.use(person.name)) if person.name else None}


def _check_room(use: Use, most: Quotas) -> None:
    if use.results >= most.results:
        raise InputError(f"quota: your results use {use.results:.1f} of {most.results} MiB; remove some runs")
