from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import threading
from datetime import timedelta

import pytest

from agora.benchmark.bench import bench, run_all
from agora.benchmark.events import Kept
from agora.benchmark.results.audit import audit_run
from agora.benchmark.results.run_folder import RunFolder
from agora.errors import InputError, StoppedError
from agora.web._runs.benchmark import form_of
from agora.web._runs.queue import RunQueue
from agora.web._runs.worker import name_of, work
from agora.web.database import open_database
from agora.web.workers import run_workers

FORM = {"suite": "demo", "planners": ["go_to_goal"], "stages": ["doorway"], "episodes": 3, "workers": 0, "control": False}
LONG = FORM | {"stages": ["hall"], "episodes": 4, "batch": 1}


def wait_until(holds) -> None:
    while not holds():
        threading.Event().wait(0.01)


def is_kept(folder) -> bool:
    """Return whether a row is on the disk."""
    return RunFolder.is_at(folder) and len(audit_run(folder).rows) > 0


def worked_on(settings, holds) -> None:
    """Have a worker of this process take runs until something holds."""
    stop = threading.Event()
    thread = threading.Thread(target=work, args=(settings, stop))
    thread.start()
    try:
        wait_until(holds)
    finally:
        stop.set()
        thread.join()


HELD = """
import sys, threading
import agora.web._runs.benchmark as benches
from agora.benchmark.bench import bench
from agora.benchmark.events import Kept
from agora.web.settings import Settings
from agora.web._runs.worker import work

def held(request, token):
    for event in bench(request, token):
        yield event
        if isinstance(event, Kept):
            threading.Event().wait()

benches.bench = held
work(Settings(sys.argv[1]), threading.Event())
"""
"""A worker that hangs once the rows of an episode are on the disk."""


@pytest.fixture
def holding(monkeypatch):
    """Let runs wait, once the first episode is on the disk, until they are to stop."""

    def held(request, token):
        for event in bench(request, token):
            yield event
            if isinstance(event, Kept):
                wait_until(lambda: is_asked(token))

    monkeypatch.setattr("agora.web._runs.benchmark.bench", held)
    return lambda: monkeypatch.setattr("agora.web._runs.benchmark.bench", bench)


def is_asked(token) -> bool:
    try:
        token.check()
    except StoppedError:
        return True
    return False


@pytest.fixture
def queue(settings):
    with open_database(settings.url) as engine:
        yield RunQueue(engine)


def test_a_run_from_the_queue_has_the_rows_of_the_same_request_elsewhere(settings, queue, tmp_path):
    run = queue.put("doorway", FORM)
    worked_on(settings, lambda: queue.run(run.id).state == "finished")
    ended = queue.run(run.id)
    assert (ended.done, ended.total, ended.message) == (3, 3, "")
    elsewhere = run_all(form_of(FORM, tmp_path / "elsewhere").request())
    here = sorted(audit_run(settings.runs / run.id).rows, key=lambda row: row["key"])
    assert [list(row) for row in here] == [list(row) for row in elsewhere]
    for mine, other in zip(here, elsewhere, strict=True):
        assert {k: v for k, v in mine.items() if "planning" not in k} == {k: v for k, v in other.items() if "planning" not in k}
    assert (settings.runs / run.id / "report.html").is_file()


def test_a_run_that_fails_says_why_and_the_next_is_taken(settings, queue):
    wrong, right = queue.put("wrong", FORM | {"suite": "gone.yaml"}), queue.put("right", FORM | {"episodes": 1})
    worked_on(settings, lambda: queue.run(right.id).state == "finished")
    assert queue.run(wrong.id).state == "failed"
    assert "gone.yaml" in queue.run(wrong.id).message


def test_a_run_whose_rows_find_no_room_says_so_keeps_what_is_finished_and_goes_on(settings, queue, monkeypatch):
    run, sync = queue.put("full", LONG), os.fsync

    def full(file):
        if list((settings.runs / run.id / "episodes").glob("*.parquet")):
            raise OSError(28, "No space left on device")
        sync(file)

    monkeypatch.setattr(os, "fsync", full)
    worked_on(settings, lambda: queue.run(run.id).state == "failed")
    monkeypatch.undo()
    message = queue.run(run.id).message
    assert "disk of the server is full (No space left on device)" in message and "continue the run" in message
    assert len(audit_run(settings.runs / run.id).rows) == 1
    queue.resume(run.id)
    worked_on(settings, lambda: queue.run(run.id).state == "finished")
    assert len(audit_run(settings.runs / run.id).rows) == 4


def test_a_run_that_breaks_the_worker_has_failed_and_is_not_taken_again(settings, queue, monkeypatch):
    def broken(request, token):
        raise RuntimeError("nobody has thought of this")

    monkeypatch.setattr("agora.web._runs.benchmark.bench", broken)
    run = queue.put("broken", FORM)
    with pytest.raises(RuntimeError):
        work(settings, threading.Event())
    assert queue.run(run.id).state == "failed"
    assert "nobody has thought of this" in queue.run(run.id).message
    assert queue.take("another") is None


def test_a_run_for_which_kernels_are_compiled_says_so_until_it_advances(settings, queue, monkeypatch):
    go_on = threading.Event()

    def compiling(request, token):
        logging.getLogger("agora.core.compiling").info("in a worker", extra={"functions": 7})
        go_on.wait()
        yield from bench(request, token)

    monkeypatch.setattr("agora.web._runs.benchmark.bench", compiling)
    run = queue.put("doorway", FORM)

    def ended() -> bool:
        if "compiling kernels, needed once per machine: 7 functions" in queue.run(run.id).message:
            go_on.set()
        return queue.run(run.id).state == "finished"

    worked_on(settings, ended)
    assert queue.run(run.id).message == ""


def test_a_worker_that_is_to_end_puts_its_run_back_and_another_goes_on_with_it(settings, queue, holding):
    run = queue.put("long", LONG)
    worked_on(settings, lambda: is_kept(settings.runs / run.id))
    assert queue.run(run.id).state == "queued"
    assert len(audit_run(settings.runs / run.id).rows) == 1
    holding()
    worked_on(settings, lambda: queue.run(run.id).state == "finished")
    assert len(audit_run(settings.runs / run.id).rows) == 4


def test_a_cancelled_run_keeps_what_is_finished_and_goes_on_when_asked(settings, queue, holding):
    run = queue.put("long", LONG)

    def cancelled() -> bool:
        if queue.run(run.id).done > 0:
            queue.cancel(run.id)
        return queue.run(run.id).state == "cancelled"

    worked_on(settings, cancelled)
    assert (queue.run(run.id).done, queue.run(run.id).total) == (1, 4)
    queue.resume(run.id)
    holding()
    worked_on(settings, lambda: queue.run(run.id).state == "finished")
    assert len(audit_run(settings.runs / run.id).rows) == 4


def test_a_worker_that_is_killed_loses_no_row(settings, queue, monkeypatch):
    run = queue.put("long", LONG)
    with subprocess.Popen([sys.executable, "-c", HELD, str(settings.folder)]) as worker:
        wait_until(lambda: is_kept(settings.runs / run.id))
        os.kill(worker.pid, signal.SIGKILL)
    (kept,) = audit_run(settings.runs / run.id).rows
    monkeypatch.setattr("agora.web._runs.queue.SILENT", timedelta(0))
    worked_on(settings, lambda: queue.run(run.id).state == "finished")
    rows = audit_run(settings.runs / run.id).rows
    assert len(rows) == 4
    assert dict(kept) in [dict(row) for row in rows]


def dies(settings, kind) -> None:
    """A worker that its first run kills."""
    with open_database(settings.url) as engine:
        if RunQueue(engine).take(name_of(os.getpid()), (kind,)):
            os.kill(os.getpid(), signal.SIGKILL)


def takes_and_stays(settings, kind) -> None:
    """A worker that takes a run and never gets on."""
    with open_database(settings.url) as engine:
        RunQueue(engine).take(name_of(os.getpid()), (kind,))
        threading.Event().wait()


def test_a_run_that_kills_each_of_its_workers_has_failed_with_words_and_the_server_stays(settings, queue, monkeypatch):
    monkeypatch.setattr("agora.web.workers.work", dies)
    runs = queue.put("deadly", FORM), queue.put("deadly", FORM, "training")
    with open_database(settings.url) as engine, run_workers(settings, engine, 1):
        wait_until(lambda: all(queue.run(run.id).state == "failed" for run in runs))
    for run in runs:
        assert "its worker died 3 times" in queue.run(run.id).message
        assert "was killed by SIGKILL" in queue.run(run.id).message


def test_a_run_does_not_wait_for_a_training(settings, queue, monkeypatch):
    monkeypatch.setattr("agora.web.workers.work", takes_and_stays)
    training, run = queue.put("long", FORM, "training"), queue.put("short", FORM)
    with open_database(settings.url) as engine, run_workers(settings, engine, 1):
        wait_until(lambda: queue.run(training.id).state == queue.run(run.id).state == "running")
    assert [queue.run(one.id).state for one in (training, run)] == ["queued", "queued"]


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"suite": "demoo"}, "demoo"),
        ({"suite": "demo", "planner": ["dwa"]}, "planner: unknown key"),
        ({"suite": "demo", "episodes": "many"}, "episodes"),
        ({"planners": ["dwa"]}, "suite"),
        (["demo"], "mapping"),
    ],
)
def test_a_form_that_is_wrong_is_refused_with_the_key(fields, said, tmp_path):
    with pytest.raises(InputError, match=said):
        form_of(fields, tmp_path).request()
