"""Runs jobs on a Ray cluster, and tolerates the loss of workers and nodes. Each job is a Ray task that streams back its events.

A Ray worker does not run episodes itself. It starts a separate process and watches it (`agora.benchmark.executors.processes`), so a
planner that hangs or ends its process is reported in the same way as without Ray, and Ray does not notice. If Ray reports the loss
of a worker or node, no planner is to blame, and the whole job is restarted elsewhere. Ray's own retries are disabled, because they
continue the old stream of events, which may not match the events of the second attempt.

Jobs are sent without the data in this machine's files, because the benchmark's own process would otherwise spend most of its time
reading files. If a worker reports that its files differ, all later jobs contain the data.
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
from agora.ranges import Checked, Within

LOCAL = "local"
"""The address that stands for a Ray instance started on this machine."""

_ANSWER = 120.0  # s, time within which every node must report its versions
_ALONE = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_worker_niceness": "0",
}  # with Ray's default niceness of 15, other programs would leave the workers almost no CPU time
_PERIOD = 1.0  # s, time between two progress reports of a job, and maximum wait for events
_QUIET: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.CRITICAL}


@dataclass(frozen=True)
class Ray(Checked):
    """Runs jobs on the workers of a Ray cluster.

    The workers need Agora but no files from this machine; jobs are faster if the workers have the same files.

    The connection to Ray lasts until Python exits. If the program is already connected to Ray, the existing connection is used.

    Attributes:
        address: address of the cluster, ``HOST:PORT``; ``auto`` finds the cluster that runs on this machine, and ``local`` starts
            one.
        workers: number of jobs sent at once; jobs without a free CPU wait in Ray's queue.
        deadline: maximum time for one planner call, one step of the world or one metric, s; a process that exceeds it is killed.
            The time in which the process waits for a processor or Numba compiles functions is not counted.
        retries: number of times that a job is restarted after its worker or node has died.
    """

    address: str = "auto"
    workers: Annotated[int, Within(1, 10_000)] = 2
    deadline: Annotated[float, Within(0.0, 1e6, above=True)] = DEADLINE
    retries: Annotated[int, Within(0, 1000)] = 3

    def prepare(self) -> None:
        """Connect to the cluster, and make sure that its nodes have the same software versions as this machine.

        Raises:
            InputError: Ray is not installed, there is no cluster, or the versions on its nodes differ.
        """
        _check(_connect(self.address, self.workers))

    def run(self, work: Work, jobs: deque[Any]) -> Iterator[Event]:
        """Run every job; see `agora.interfaces.Executor.run`."""
        if not jobs:
            return
        ray = _connect(self.address, self.workers)
        _check(ray)
        task = ray.remote(num_cpus=1, num_returns="streaming", max_retries=0)(_run_job)
        shared = [ray.put(work)]  # in a list, because otherwise Ray would unpickle the object for every job
        asked = _Conditions(self.deadline, versions()(), work.files(), work.packages())
        under_way = _JobsUnderWay(ray, lambda job, carried: task.remote(shared, job, carried, asked), work.carrying)
        try:
            while jobs or under_way.running:
                while jobs and len(under_way.running) < self.workers:
                    under_way.begin(jobs.popleft())
                if jobs and under_way.carrying:
                    jobs[0] = work.carrying(jobs[0])  # prepared while the other jobs run
                yield from under_way.next_events(self.retries)
        finally:
            under_way.stop()


@dataclass(frozen=True)
class _Conditions:
    """The conditions that a worker must meet to run jobs.

    Attributes:
        deadline: maximum time for one watched call, s.
        versions: software versions on the machine that started the run.
        files: digests, on that machine, of the files that the episodes depend on, by name.
        packages: versions, on that machine, of the packages that contain the components, by name.
    """

    deadline: float
    versions: Mapping[str, str]
    files: Mapping[str, str]
    packages: Mapping[str, str]


@dataclass(eq=False)
class _Running:
    """A job with its event stream and its number of attempts."""

    job: Any
    stream: Any
    again: int = 0


class _JobsUnderWay:
    """The running jobs.

    Attributes:
        running: jobs that are running on the cluster.
        carrying: whether jobs are sent with the data from files, because at least one worker has different files.
    """

    def __init__(self, ray: Any, send: Callable[[Any, bool], Any], carry: Callable[[Any], Any]) -> None:
        self._ray, self._send, self._carry = ray, send, carry
        self.running: list[_Running] = []
        self.carrying = False

    def begin(self, job: Any) -> None:
        """Send a job to the first free worker."""
        self.running.append(_Running(job, self._sent(job)))

    def _sent(self, job: Any) -> Any:
        return self._send(self._carry(job) if self.carrying else job, self.carrying)

    def next_events(self, retries: int) -> Iterator[Event]:
        """Wait until a worker sends events, and yield them; the job of a lost worker is restarted at most ``retries`` times."""
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
            self.running.append(one)  # moved to the end, so that all jobs take turns
        for event in told:
            if isinstance(event, Exception):
                raise event
            yield event

    def _again(self, one: _Running, retries: int, how: str) -> list[Event | Exception]:
        """Restart a job whose worker is lost, or report the job as lost after too many attempts."""
        if one.again == retries:
            return [Lost(one.job.name, f"its Ray worker or node died {retries + 1} times ({how})")]
        one.again += 1
        one.stream = self._sent(one.job)
        return [Progress(one.job.name, 0)]

    def stop(self) -> None:
        """Cancel the running jobs."""
        for one in self.running:
            with suppress(self._ray.exceptions.RayError):
                self._ray.cancel(one.stream, force=True)


def _connect(address: str, workers: int) -> Any:
    """Connect to a cluster, and return the module ``ray``."""
    os.environ.setdefault(
        "RAY_DEDUP_LOGS_SKIP_REGEX", "."
    )  # Ray reads this variable once; without it, Ray prints a page of output for every dead worker
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
            raise InputError(f"the Ray cluster at {address!r} runs different versions from this machine: {error}") from error
        raise InputError(
            f"no Ray cluster answers at {address!r} ({error}); start one with 'ray start --head', or give ray:address={LOCAL}; "
            "set RAY_AUTH_MODE=token for a cluster that requires a token"
        ) from error
    return ray


def _check_answers(address: str) -> None:
    """Make sure that something listens at an address; Ray itself would report a failure only after a minute."""
    host, _, port = address.rpartition(":")
    if port.isdigit():
        socket.create_connection((host, int(port)), timeout=5.0).close()


def versions() -> Callable[[], dict[str, str]]:
    """Return a function that returns the software versions on which results depend, by name; "none" if a package is not installed.

    The function is nested so that Ray sends its code instead of its name; it therefore also works on nodes without Agora.
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
    """Make sure that all nodes that can run a job have the same software versions as this machine."""
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
            continue  # the node died, so nothing will run on it


def refuse_others(where: str, theirs: Mapping[str, str]) -> None:
    """Make sure that the software versions in another place are the same as in this process.

    Raises:
        InputError: a version differs; the message gives both versions.
    """
    for name, mine in versions()().items():
        if theirs[name] != mine:
            raise InputError(
                f"{where}: {name} is {theirs[name]}, but {mine} on this machine; results would differ; install the same version"
            )


class _LocalWorker:
    """The local worker process that a Ray worker controls; it is reused for later jobs of the same run.

    Attributes:
        sees: whether the files from which episodes are created are the same on this node as on the machine that started the run.
    """

    def __init__(self, work: Work, asked: _Conditions) -> None:
        self._work, self._deadline = work, asked.deadline
        self._jobs: deque[Any] = deque()
        self._events: Iterator[Event] | None = None
        check_imported()
        if changed := change(asked.packages, work.packages()):
            raise InputError(f"{changed} on a worker; results would differ; install the same version")
        try:
            self.sees = work.files() == asked.files
        except (InputError, OSError):
            self.sees = False

    def run(self, job: Any) -> Iterator[Event]:
        """Yield the events of a job, ending with `Done` or `Lost`."""
        self._jobs.append(job)
        events = self._events or Processes(1, self._deadline).run(self._work, self._jobs)
        self._events = None
        for event in events:
            if isinstance(event, Done | Lost):
                self._events = events  # this iterator checks the queue when it is called again
                yield event
                return
            yield event


_LOCAL_WORKERS: dict[str, _LocalWorker] = {}
"""The local worker of this Ray worker, by run; at most one entry."""


def _run_job(shared: list[Any], job: Any, carried: bool, asked: _Conditions) -> Iterator[list[Event | Exception]]:
    """Run a job in a Ray worker, and yield its events or its exception, or an empty list if the worker lacks files.

    Events are sent in lists, because each transfer takes Ray a few milliseconds: at most one list per `_PERIOD`, unless an event
    other than progress occurs.
    """
    import ray

    run, last = shared[0].hex(), float("-inf")
    waiting: list[Event | Exception] = []
    try:
        if run not in _LOCAL_WORKERS:
            refuse_others("the machine that started the run", asked.versions)
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
