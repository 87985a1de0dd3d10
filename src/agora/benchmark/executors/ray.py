"""Runs jobs on a Ray cluster, whose workers and nodes may die: each job is a Ray task that streams its events back.

A Ray worker runs no episode itself. It keeps a process beside it and watches over that (`agora.benchmark.executors.processes`),
so a planner that hangs or ends its process is told in the same words and by the same call as on one machine, and Ray never hears of
it. What Ray does hear of, a worker or a node that is gone, is nobody's failure: the whole job is begun again elsewhere.
Ray's own retries are off: they go on with the old stream of events, which need not fit what is told the second time.
"""

from __future__ import annotations

import logging
import os
import socket
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated, Any

from agora.benchmark.executors.processes import DEADLINE, Processes
from agora.errors import InputError
from agora.interfaces import Done, Event, Lost, Progress, Work
from agora.ranges import Within

LOCAL = "local"
"""The address that stands for a Ray of its own on this machine."""

_ANSWER = 120.0  # s in which every node says what is installed there
_QUIET = {"log_to_driver": False, "logging_level": logging.CRITICAL}


@dataclass(frozen=True)
class Ray:
    """Workers of a Ray cluster, which need Agora and no file of this machine.

    The connection lasts until Python ends; where the program has connected to Ray already, that connection is used.

    Attributes:
        address: of the cluster, ``HOST:PORT``; ``auto`` finds the one that runs on this machine, ``local`` starts one here.
        workers: how many jobs are under way; those that find no free CPU wait in Ray's queue.
        deadline: s that one call of a planner or one step of the world may take before its process is killed; compiling does not
            count.
        retries: how often a job is begun again after the worker or the node that ran it has died.
    """

    address: str = "auto"
    workers: Annotated[int, Within(1, 10_000)] = 2
    deadline: Annotated[float, Within(0.0, 1e6, above=True)] = DEADLINE
    retries: Annotated[int, Within(0, 1000)] = 3

    def prepare(self) -> None:
        """Connect to the cluster, and make sure that its nodes have what this machine has.

        Raises:
            InputError: Ray is not installed, there is no cluster, or its versions are others.
        """
        _check(_connected(self.address, self.workers))

    def run(self, work: Work, jobs: deque[Any]) -> Iterator[Event]:
        """Run every job; see `agora.interfaces.Executor.run`."""
        if not jobs:
            return
        ray = _connected(self.address, self.workers)
        _check(ray)
        task = ray.remote(num_cpus=1, num_returns="streaming", max_retries=0)(_events)
        shared = [ray.put(work)]  # in a list, or Ray would unpickle it for every job
        mine = versions()()

        def begin(job: Any) -> Any:
            return task.remote(shared, job, self.deadline, mine)

        running: list[_Running] = []
        try:
            while jobs or running:
                while jobs and len(running) < self.workers:
                    job = work.carrying(jobs.popleft())
                    running.append(_Running(job, begin(job)))
                (ready, *_), _ = ray.wait([one.stream for one in running], num_returns=1)
                one = next(one for one in running if one.stream is ready)
                running.remove(one)
                event = one.hear(ray, begin, self.retries)
                if isinstance(event, Exception):
                    raise event
                if not isinstance(event, Done | Lost):
                    running.append(one)  # the last in the row, so that all are heard
                yield event
        finally:
            for one in running:
                with suppress(ray.exceptions.RayError):
                    ray.cancel(one.stream, force=True)


@dataclass(eq=False)
class _Running:
    """A job, the stream of its events, and how often it was begun again."""

    job: Any
    stream: Any
    again: int = 0

    def hear(self, ray: Any, begin: Callable[[Any], Any], retries: int) -> Event | Exception:
        """The next event; where who ran the job is gone, it is begun again, or `Lost` after so many times."""
        try:
            event: Event | Exception = ray.get(next(self.stream))
            return event
        except ray.exceptions.RayTaskError:
            raise
        except (ray.exceptions.RayError, StopIteration) as error:
            if self.again == retries:
                return Lost(self.job.name, f"its Ray worker or node died {retries + 1} times ({type(error).__name__})")
        self.again += 1
        self.stream = begin(self.job)
        return Progress(self.job.name, 0)


def _connected(address: str, workers: int) -> Any:
    """The module ray, connected to a cluster."""
    os.environ.setdefault("RAY_DEDUP_LOGS_SKIP_REGEX", ".")  # Ray reads it once; it prints a page for every worker that dies
    try:
        import ray
    except ImportError as error:
        raise InputError("the executor ray needs the package ray; install it: pip install 'agora-nav[ray]'") from error
    if ray.is_initialized():
        return ray
    try:
        if address == LOCAL:
            os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
            ray.init(address, num_cpus=workers, include_dashboard=False, **_QUIET)
        else:
            _knock(address)
            ray.init(address, **_QUIET)
    except (OSError, RuntimeError, ValueError) as error:
        if "ersion mismatch" in str(error):
            raise InputError(f"the Ray cluster at {address!r} has other versions than this machine: {error}") from error
        raise InputError(
            f"no Ray cluster answers at {address!r} ({error}); start one with 'ray start --head', or say ray:address={LOCAL}; "
            "one that asks for a token is joined with RAY_AUTH_MODE=token"
        ) from error
    return ray


def _knock(address: str) -> None:
    """Make sure that something listens at an address, of which Ray would be sure after a minute only."""
    host, _, port = address.rpartition(":")
    if port.isdigit():
        socket.create_connection((host, int(port)), timeout=5.0).close()


def versions() -> Callable[[], dict[str, str]]:
    """What says on which versions results depend where it is called, by name; "none" of what is not there.

    It is made here so that Ray sends its code, not its name: it answers where there is no Agora.
    """

    def installed() -> dict[str, str]:
        import platform
        from importlib.metadata import PackageNotFoundError, version

        found = {"Python": ".".join(platform.python_version_tuple()[:2])}
        try:
            from agora import __version__

            found["Agora"] = __version__
        except ImportError:
            found["Agora"] = "none"
        for name in ("numpy", "numba", "scipy", "pyarrow"):
            try:
                found[name] = version(name)
            except PackageNotFoundError:
                found[name] = "none"
        return found

    return installed


def _check(ray: Any) -> None:
    """Make sure that all nodes which can run a job have what this machine has."""
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy as On

    nodes = {node["NodeID"]: node for node in ray.nodes() if node["Alive"] and node["Resources"].get("CPU", 0) >= 1}
    ask = ray.remote(num_cpus=0, max_retries=0)(versions())
    asked = {key: ask.options(scheduling_strategy=On(key, soft=False)).remote() for key in nodes}
    ray.wait([*asked.values()], num_returns=len(asked), timeout=_ANSWER) if asked else None
    for key, answer in asked.items():
        try:
            refuse_others(f"node {nodes[key]['NodeManagerAddress']} of the Ray cluster", ray.get(answer, timeout=0))
        except ray.exceptions.GetTimeoutError as error:
            raise InputError(f"node {nodes[key]['NodeManagerAddress']} of the Ray cluster: no answer in {_ANSWER:g} s") from error
        except ray.exceptions.RayTaskError:
            raise
        except ray.exceptions.RayError:
            continue  # it died; nothing will run there


def refuse_others(where: str, theirs: Mapping[str, str]) -> None:
    """Make sure that versions are those of this process.

    Raises:
        InputError: one is not; both are named.
    """
    for name, mine in versions()().items():
        if theirs[name] != mine:
            raise InputError(f"{where}: {name} there is {theirs[name]}, here it is {mine}; results would differ: install the same")


class _Seat:
    """A worker process beside the Ray worker, which goes on to the next job of the same run."""

    def __init__(self, work: Work, deadline: float) -> None:
        self._work, self._deadline = work, deadline
        self._jobs: deque[Any] = deque()
        self._events: Iterator[Event] | None = None

    def run(self, job: Any) -> Iterator[Event]:
        """The events of a job, `Done` or `Lost` last."""
        self._jobs.append(job)
        events = self._events or Processes(1, self._deadline).run(self._work, self._jobs)
        self._events = None
        for event in events:
            if isinstance(event, Done | Lost):
                self._events = events  # it looks into the queue when it is asked again
                yield event
                return
            yield event


_SEATS: dict[str, _Seat] = {}
"""Of this Ray worker, by run: one at most."""


def _events(shared: list[Any], job: Any, deadline: float, asked: Mapping[str, str]) -> Iterator[Event | Exception]:
    """Run a job in a Ray worker, and yield its events, or what was raised."""
    import ray

    run = shared[0].hex()
    try:
        if run not in _SEATS:
            refuse_others("the machine that began the run", asked)
            _SEATS.clear()
            _SEATS[run] = _Seat(ray.get(shared[0]), deadline)
        yield from _SEATS[run].run(job)
    except Exception as error:  # noqa: BLE001 - raised again by the run
        yield error
