"""A stand-in for the package ray: tasks run in this process, one at a time, and die when they are told to."""

from __future__ import annotations

import sys
from itertools import islice
from types import ModuleType, SimpleNamespace

from agora.benchmark.executors import ray as executor


class Ref:
    """A value in the store."""

    def __init__(self, value):
        self.value = value

    def hex(self):
        return f"{id(self):x}"


class RayError(Exception):
    pass


class Died(RayError):
    pass


class Task:
    """A function that runs elsewhere; its stream dies after ``deaths[0]`` items, the next after ``deaths[1]``."""

    def __init__(self, function, streams, deaths, elsewhere):
        self.function, self.streams, self.deaths, self.elsewhere = function, streams, deaths, elsewhere

    def options(self, **_):
        return self

    def remote(self, *args):
        if not self.streams:
            return Ref(self.function(*args) | self.elsewhere)
        return self._stream(self.function(*args), self.deaths.pop(0) if self.deaths else None)

    def _stream(self, items, death):
        yield from map(Ref, islice(items, death))
        if death is not None:
            raise Died


def install(monkeypatch, deaths=(), **elsewhere):
    """Put it in the place of ray, with a node of one CPU, on which these packages have other versions."""
    monkeypatch.setattr(executor, "_LOCAL_WORKERS", {})  # of this process, which goes on
    fake, deaths = ModuleType("ray"), list(deaths)
    fake.exceptions = SimpleNamespace(
        RayError=RayError, RayTaskError=type("RayTaskError", (RayError,), {}), GetTimeoutError=type("Late", (RayError,), {})
    )
    fake.is_initialized = lambda: True
    fake.nodes = lambda: [{"NodeID": "a", "Alive": True, "Resources": {"CPU": 1.0}, "NodeManagerAddress": "10.0.0.7"}]
    fake.put, fake.get = Ref, lambda ref, timeout=None: ref.value
    fake.wait = lambda refs, num_returns=1, timeout=None: (refs[:num_returns], refs[num_returns:])
    fake.cancel = lambda stream, force: stream.close()
    fake.remote = lambda **how: lambda function: Task(function, how.get("num_returns") == "streaming", deaths, elsewhere)
    strategies = ModuleType("ray.util.scheduling_strategies")
    strategies.NodeAffinitySchedulingStrategy = lambda key, soft: key
    for name, module in {"ray": fake, "ray.util": ModuleType("ray.util"), strategies.__name__: strategies}.items():
        monkeypatch.setitem(sys.modules, name, module)
