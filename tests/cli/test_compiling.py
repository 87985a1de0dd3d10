"""A run that compiles says so at once, and how far it is, wherever the compiling is done."""

from __future__ import annotations

import logging
import sys
from collections import deque

import numba
import pytest

from agora.benchmark.executors.processes import Processes
from agora.cli.compiling import tell_compiling
from agora.core import compiling
from agora.interfaces import Done

LOG = logging.getLogger(compiling.__name__)


@pytest.fixture
def telling(monkeypatch):
    """A terminal that is told a word at each function."""
    monkeypatch.setattr("agora.cli.compiling._EVERY", 0.0)
    before = (LOG.level, LOG.propagate, LOG.handlers[:])
    tell_compiling()
    yield
    LOG.level, LOG.propagate, LOG.handlers[:] = before


def compile_one():
    """Compile a function that was never compiled, with one that it calls."""

    @numba.njit
    def half(x):
        return 0.5 * x

    @numba.njit
    def quarter(x):
        return half(half(x))

    return quarter(2.0)


def test_the_first_function_is_told_at_once_and_the_rest_by_number(telling, capsys):
    assert compile_one() == 0.5
    said = capsys.readouterr().err.splitlines()
    assert said[0] == "compiling kernels; needed once per machine, takes a minute or two ..."
    assert said[1].startswith("compiling kernels: 2 functions in ")


class Unread:
    """An error stream whose reader has gone."""

    def write(self, text):
        raise BrokenPipeError

    flush = write


def test_an_error_stream_that_nobody_reads_stops_no_compilation(telling, monkeypatch):
    monkeypatch.setattr(sys, "stderr", Unread())
    assert compile_one() == 0.5


def test_what_is_compiled_already_is_silent(telling, capsys):
    again = numba.njit(lambda x: x + 1.0)
    again(1.0)
    capsys.readouterr()
    again(2.0)
    assert capsys.readouterr().err == ""


class Work:
    """A job that compiles in the worker."""

    def of(self, planner):
        return self

    def files(self):
        return {}

    def carrying(self, job):
        return job

    def __call__(self, job, watch):
        compile_one()
        yield Done(job.name, {})


class Job:
    name, planner = "compile", "planner"


def test_what_a_worker_compiles_is_told_here(telling, capsys):
    events = list(Processes(workers=1).run(Work(), deque([Job()])))
    assert [event.job for event in events if isinstance(event, Done)] == ["compile"]
    assert capsys.readouterr().err.startswith("compiling kernels; needed once per machine")
