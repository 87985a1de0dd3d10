"""Episodes that are drawn on request in this process, or in advance in worker processes."""

from __future__ import annotations

import io
import multiprocessing
import pickle
import signal
from collections import deque
from collections.abc import Iterable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, overload
from weakref import WeakKeyDictionary, WeakValueDictionary

from agora.maps.grid import Map
from agora.world.start import Start

if TYPE_CHECKING:
    from agora.tasks.suite import Suite

KEPT = 1024
"""Maximum length of a sequence that keeps its episodes in memory."""

_RECENT = 64  # number of maps from workers that are kept for later episodes
_Sent = tuple[
    bytes, bytes, bytes
]  # an episode without its map, the map's digest, and the map itself unless the worker has already sent it


class Drawn(Sequence[Start]):
    """The episodes of a stage, by number. Each episode is drawn when it is requested; it does not depend on the time of the
    request.

    A sequence of up to `KEPT` episodes keeps its episodes in memory. A longer sequence does not, so it may have any length.

    Args:
        suite: suite of the stage.
        stage: name of the stage.
        count: number of episodes; if 0, the stage's number of episodes.
        workers: number of processes that draw announced episodes (`soon`) in advance.

    Raises:
        InputError: the stage has no such episode; raised when the episode is drawn.
    """

    def __init__(self, suite: Suite, stage: str, count: int = 0, *, workers: int = 0) -> None:
        self._suite, self._stage, self._workers = suite, stage, workers
        self._count = count or suite.stage(stage).count
        self._kept: dict[int, Start] = {}
        self._coming: dict[int, Future[_Sent]] = {}
        self._maps: WeakValueDictionary[bytes, Map] = WeakValueDictionary()
        self._recent: deque[Map] = deque(maxlen=_RECENT)
        self._pool: ProcessPoolExecutor | None = None

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, number: int) -> Start: ...
    @overload
    def __getitem__(self, number: slice) -> list[Start]: ...
    def __getitem__(self, number: int | slice) -> Start | list[Start]:
        if isinstance(number, slice):
            return [self[k] for k in range(*number.indices(self._count))]
        return self.draw(range(self._count)[number])

    def draw(self, number: int) -> Start:
        """Return the episode with the given number, which may be beyond the last episode; such episodes are not kept in memory."""
        kept = self._kept.get(number)
        if kept is not None:
            return kept
        start = self._arrived(number) or self._suite.start(self._stage, number)
        if number < self._count <= KEPT:
            self._kept[number] = start
        return start

    def soon(self, numbers: Iterable[int]) -> None:
        """Announce episodes that will be requested soon, so that workers draw them in advance; without workers, do nothing."""
        wanted = [k for k in numbers if k not in self._kept and k not in self._coming] if self._workers else []
        if not wanted:
            return
        if self._pool is None:
            context = multiprocessing.get_context("forkserver")
            self._pool = ProcessPoolExecutor(self._workers, context, _begin, (self._suite, self._stage))
        try:
            for k in wanted:
                self._coming[k] = self._pool.submit(_draw, k)
                self._coming[k].add_done_callback(self._keep_map)
        except BrokenProcessPool:
            self._go_on_alone()

    def _keep_map(self, coming: Future[_Sent]) -> None:
        """Keep the map that a worker sent; later episodes on this map are sent without it."""
        if coming.cancelled() or coming.exception() is not None:
            return
        _, digest, surroundings = coming.result()
        if surroundings and digest not in self._maps:
            place = pickle.loads(surroundings)
            self._maps[digest] = place
            self._recent.append(place)

    def _arrived(self, number: int) -> Start | None:
        """Return an episode from a worker; None if it was not announced, the workers have died, or its map is no longer kept."""
        coming = self._coming.pop(number, None)
        if coming is None:
            return None
        try:
            start, digest, _ = coming.result()
            self._keep_map(coming)
        except BrokenProcessPool:
            self._go_on_alone()
            return None
        place = self._maps.get(digest)
        return None if place is None else _Reader(io.BytesIO(start), place).read()

    def _go_on_alone(self) -> None:
        """Draw every episode in this process from now on, because the workers have died."""
        self.close()
        self._workers = 0

    def close(self) -> None:
        """Stop the workers."""
        self._coming.clear()
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._pool = None


class _Writer(pickle.Pickler):
    """Writes an episode without its map."""

    def __init__(self, file: io.BytesIO, place: Map) -> None:
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self._place = place

    def persistent_id(self, value: Any) -> str | None:
        return "map" if value is self._place else None


class _Reader(pickle.Unpickler):
    """Reads an episode that was written without its map, and attaches the map."""

    def __init__(self, file: io.BytesIO, place: Map) -> None:
        super().__init__(file)
        self._place = place

    def persistent_load(self, pid: Any) -> Map:
        return self._place

    def read(self) -> Start:
        start: Start = self.load()
        return start


_work: tuple[Suite, str]  # state of a worker process
_sent: WeakKeyDictionary[Map, bytes] = WeakKeyDictionary()


def _begin(suite: Suite, stage: str) -> None:
    global _work  # noqa: PLW0603
    _work = suite, stage
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends this process


def _draw(number: int) -> _Sent:
    suite, stage = _work
    start = suite.start(stage, number)
    surroundings = b""
    if start.map not in _sent:
        surroundings = pickle.dumps(start.map, pickle.HIGHEST_PROTOCOL)
        _sent[start.map] = blake2b(surroundings, digest_size=16).digest()
    file = io.BytesIO()
    _Writer(file, start.map).dump(start)
    return file.getvalue(), _sent[start.map], surroundings
