"""Runs jobs on a Ray cluster, whose workers and nodes may die: each job is a Ray task that streams its events back.

A Ray worker runs no episode itself. It keeps a process beside it and watches over that (`agora.benchmark.executors.processes`),
so a planner that hangs or ends its process is reported in the same words and by the same call as on one machine, and Ray does not
notice it. Ray notices a worker or a node that is gone. No planner is to blame then, and the whole job is begun again elsewhere.
Ray's own retries are off: they go on with the old stream of events, which need not fit the events of the second attempt.

Jobs are sent without the data that is made from this machine's files: making it costs the benchmark's own process more than all
else. A worker that has other files says so; from then on jobs carry the data.
"""

from __future__ import annotations

import logging
import os
import socket
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated, Any

from agora.benchmark.executors.processes import DEADLINE, Processes
from agora.benchmark.provenance.packages import change, check_imported
from agora.errors import InputError
from agora.extras import missing
from agora.interfaces import Done, Event, Lost, Progress, Waiting, Work
from agora.ranges import Within

LOCAL = "local"
"""The address that stands for a Ray of its own on this machine."""

_ANSWER = 120.0  # s in which every node says what is installed there
_ALONE = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_worker_niceness": "0"}  # of Ray's own 15, other programs leave next to nothing
_PERIOD = 1.0  # s between two tellings of how far a job is, and of waiting
_QUIET: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.CRITICAL}


@dataclass(frozen=True)
class Ray:
    """Workers of a Ray cluster, which need Agora and no file of this machine; they are faster where they have the same.

    The connection lasts until Python ends; where the program has connected to Ray already, that connection is used.

    Attributes:
        address: address of the cluster, ``HOST:PORT``; ``auto`` finds the one that runs on this machine, ``local`` starts one here.
        workers: number of jobs under way; those that find no free CPU wait in Ray's queue.
        deadline: longest time of one call of a planner, one step of the world or one metric, s, before its process is killed. Time
            in which it waits for a processor, or in which Numba compiles, does not count.
        retries: number of times that a job is begun again after the worker or the node that ran it has died.
    """

    address: str = "auto"
    workers: Annotated[int, Within(1, 10_000)] = 2
    deadline: Annotated[float, Within(0.0, 1e6, above=True)] = DEADLINE
    retries: Annotated[int, Within(0, 1000)] = 3

    def prepare(self) -> None:
        """Connect to the cluster, and make sure that its nodes have the same versions as this machine.

        Raises:
            InputError: Ray is not installed, there is no cluster, or its versions are others.
        """
        _check(_connect(self.address, self.workers))

    def run(self, work: Work, jobs: deque[Any]) -> Iterator[Event]:
        """Run every job; see `agora.interfaces.Executor.run`."""
        if not jobs:
            return
        ray = _connect(self.address, self.workers)
        _check(ray)
        task = ray.remote(num_cpus=1, num_returns="streaming", max_retries=0)(_run_job)
        shared = [ray.put(work)]  # in a list, or Ray would unpickle it for every job
        asked = _Conditions(self.deadline, versions()(), work.files(), work.packages())
        under_way = _JobsUnderWay(ray, lambda job, carried: task.remote(shared, job, carried, asked), work.carrying)
        try:
            while jobs or under_way.running:
                while jobs and len(under_way.running) < self.workers:
                    under_way.begin(jobs.popleft())
                if jobs and under_way.carrying:
                    jobs[0] = work.carrying(jobs[0])  # while the others run
                yield from under_way.next_events(self.retries)
        finally:
            under_way.stop()


@dataclass(frozen=True)
class _Conditions:
    """The conditions on which a worker may run jobs.

    Attributes:
        deadline: longest time of one call, s.
        versions: versions on the machine that began the run.
        files: digests of the files that enter the episodes there, by name.
        packages: versions of the packages that hold the components there, by name.
    """

    deadline: float
    versions: Mapping[str, str]
    files: Mapping[str, str]
    packages: Mapping[str, str]


@dataclass(eq=False)
class _Running:
    """A job, the stream of its events, and how often it was begun again."""

    job: Any
    stream: Any
    again: int = 0


class _JobsUnderWay:
    """The jobs that are under way.

    Attributes:
        running: jobs under way.
        carrying: whether jobs are sent with everything that is made from files, because some worker has other files.
    """

    def __init__(self, ray: Any, send: Callable[[Any, bool], Any], carry: Callable[[Any], Any]) -> None:
        self._ray, self._send, self._carry = ray, send, carry
        self.running: list[_Running] = []
        self.carrying = False

    def begin(self, job: Any) -> None:
        """Send a job to whichever worker is free first."""
        self.running.append(_Running(job, self._sent(job)))

    def _sent(self, job: Any) -> Any:
        return self._send(self._carry(job) if self.carrying else job, self.carrying)

    def next_events(self, retries: int) -> Iterator[Event]:
        """Wait for a worker, and yield its events; a job whose worker is gone is begun again, ``retries`` times at most."""
        ready, _ = self._ray.wait([one.stream for one in self.running], num_returns=1, timeout=_PERIOD)
        if not ready:
            yield Waiting()
            return
        one = next(one for one in self.running if one.stream is ready[0])
        self.running.remove(one)
        told: list[Event | Exception]
        try:
            told = self._ray.get(next(one.stream))
        except self._ray.exceptions.RayTaskError:
            raise
        except (self._ray.exceptions.RayError, StopIteration) as error:
            told = self._again(one, retries, type(error).__name__)
        if not told:
            self.carrying = True
            one.stream = self._sent(one.job)
        if not (told and isinstance(told[-1], Done | Lost | Exception)):
            self.running.append(one)  # the last in the row, so that all get their turn
        for event in told:
            if isinstance(event, Exception):
                raise event
            yield event

    def _again(self, one: _Running, retries: int, how: str) -> list[Event | Exception]:
        """Begin a job again whose worker is gone; or report that it is lost after too many attempts."""
        if one.again == retries:
            return [Lost(one.job.name, f"its Ray worker or node died {retries + 1} times ({how})")]
        one.again += 1
        one.stream = self._sent(one.job)
        return [Progress(one.job.name, 0)]

    def stop(self) -> None:
        """Cancel the jobs under way."""
        for one in self.running:
            with suppress(self._ray.exceptions.RayError):
                self._ray.cancel(one.stream, force=True)


def _connect(address: str, workers: int) -> Any:
    """The module ray, connected to a cluster."""
    os.environ.setdefault("RAY_DEDUP_LOGS_SKIP_REGEX", ".")  # Ray reads it once; it prints a page for every worker that dies
    try:
        import ray
    except ImportError as error:
        raise missing("the executor ray needs", "ray", "ray") from error
    if ray.is_initialized():
        return ray
    try:
        if address == LOCAL:
            for name, value in _ALONE.items():
                os.environ.setdefault(name, value)
            ray.init(address, num_cpus=workers, include_dashboard=False, **_QUIET)
        else:
            _check_answers(address)
            ray.init(address, **_QUIET)
    except (OSError, RuntimeError, ValueError) as error:
        if "ersion mismatch" in str(error):
            raise InputError(f"the Ray cluster at {address!r} has other versions than this machine: {error}") from error
        raise InputError(
            f"no Ray cluster answers at {address!r} ({error}); start one with 'ray start --head', or say ray:address={LOCAL}; "
            "one that asks for a token is joined with RAY_AUTH_MODE=token"
        ) from error
    return ray


def _check_answers(address: str) -> None:
    """Make sure that something listens at an address, of which Ray would be sure after a minute only."""
    host, _, port = address.rpartition(":")
    if port.isdigit():
        socket.create_connection((host, int(port)), timeout=5.0).close()


def versions() -> Callable[[], dict[str, str]]:
    """Return a function that gives the versions on which results depend where it is called, by name; "none" if not installed.

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
    """Make sure that all nodes which can run a job have the same versions as this machine."""
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


class _LocalWorker:
    """A worker process beside the Ray worker, which goes on to the next job of the same run.

    Attributes:
        sees: whether the files that episodes are made from are here, the same as where the run was begun.
    """

    def __init__(self, work: Work, asked: _Conditions) -> None:
        self._work, self._deadline = work, asked.deadline
        self._jobs: deque[Any] = deque()
        self._events: Iterator[Event] | None = None
        check_imported()
        if changed := change(asked.packages, work.packages()):
            raise InputError(f"{changed} on a worker; results would differ: install the same")
        try:
            self.sees = work.files() == asked.files
        except (InputError, OSError):
            self.sees = False

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


_LOCAL_WORKERS: dict[str, _LocalWorker] = {}
"""Of this Ray worker, by run: one at most."""


def _run_job(shared: list[Any], job: Any, carried: bool, asked: _Conditions) -> Iterator[list[Event | Exception]]:
    """Run a job in a Ray worker, and yield its events, or its exception; an empty list where the worker lacks files.

    Events come in lists, at most one in `_PERIOD` but for those that finish something: each list costs Ray some milliseconds.
    """
    import ray

    run, last = shared[0].hex(), float("-inf")
    waiting: list[Event | Exception] = []
    try:
        if run not in _LOCAL_WORKERS:
            refuse_others("the machine that began the run", asked.versions)
            _LOCAL_WORKERS.clear()
            _LOCAL_WORKERS[run] = _LocalWorker(ray.get(shared[0]), asked)
        if not (carried or _LOCAL_WORKERS[run].sees):
            yield []
            return
        for event in _LOCAL_WORKERS[run].run(job):
            if isinstance(event, Waiting):
                continue
            waiting.append(event)
            if not isinstance(event, Progress) or time.monotonic() - last > _PERIOD:
                yield waiting
                waiting, last = [], time.monotonic()
    except Exception as error:  # noqa: BLE001 - raised again by the run
        yield [*waiting, error]
