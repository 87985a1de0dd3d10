from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import timedelta

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import create_engine, text

from agora.errors import InputError, UnknownNameError
from agora.web._runs.queue import MOST_DEATHS, SILENT, RunQueue
from agora.web._tables import Base, now
from agora.web.database import open_database
from tests.web.conftest import POSTGRES


@pytest.fixture
def engine(url):
    with open_database(url) as found:
        yield found


class Clock:
    """A clock that tests can move."""

    def __init__(self) -> None:
        self.time = 0.0

    def __call__(self) -> float:
        return self.time


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def queue(engine, clock):
    return RunQueue(engine, clock)


def silence(queue, clock) -> None:
    """Let every worker be silent for longer than allowed."""
    queue.requeue_silent()
    clock.time += SILENT.total_seconds() + 1.0


def test_the_versions_of_the_tables_end_at_what_the_code_says(engine):
    with engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), Base.metadata) == []


@pytest.mark.parametrize(
    "url", ["mysql://here/agora", "agora", "sqlite:///none/there.sqlite", "postgresql+psycopg://127.0.0.1:1/agora"]
)
def test_a_database_that_cannot_be_used_is_said(url):
    with pytest.raises(InputError, match="database"), open_database(url):
        pass


def test_programs_that_begin_at_the_same_time_make_the_tables_once(url):
    with ThreadPoolExecutor(4) as pool, ExitStack() as stack:
        engines = list(pool.map(lambda _: stack.enter_context(open_database(url)), range(4)))
        assert [len(RunQueue(engine).runs()) for engine in engines] == [0, 0, 0, 0]


def test_a_database_that_is_opened_again_keeps_its_runs(url):
    with open_database(url) as engine:
        RunQueue(engine).put("one", {"suite": "demo"})
    with open_database(url) as engine:
        assert [run.title for run in RunQueue(engine).runs()] == ["one"]


@pytest.mark.skipif(not POSTGRES, reason="no PostgreSQL")
def test_a_database_made_where_no_language_was_set_takes_every_text(postgres):
    engine = create_engine(postgres, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text("CREATE DATABASE plain ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0"))
    engine.dispose()
    with open_database(postgres.replace("/agora?", "/plain?")) as engine:
        RunQueue(engine).put("人 ü", {})
        assert [run.title for run in RunQueue(engine).runs()] == ["人 ü"]


def test_workers_get_the_runs_in_the_order_in_which_they_were_asked_for(queue):
    first, second = queue.put("first", {}), queue.put("second", {})
    assert [queue.take("a").id, queue.take("b").id, queue.take("c")] == [first.id, second.id, None]
    assert [run.title for run in queue.runs()] == ["second", "first"]


def test_of_workers_who_ask_at_the_same_time_one_gets_the_run(url):
    with ExitStack() as stack, ThreadPoolExecutor(4) as pool:
        queues = [RunQueue(stack.enter_context(open_database(url))) for _ in range(4)]
        for number in range(3):
            queues[0].put(f"run {number}", {})
        taken = list(pool.map(lambda pair: pair[1].take(f"worker {pair[0]}"), enumerate(queues)))
    assert sorted(run.title for run in taken if run is not None) == ["run 0", "run 1", "run 2"]


def test_a_run_of_a_silent_worker_goes_to_another_and_the_first_is_told(queue, clock):
    run = queue.put("one", {})
    queue.take("first")
    assert queue.report_progress(run.id, "first", 3, 10, "") is True
    assert queue.take("second") is None
    silence(queue, clock)
    again = queue.take("second")
    assert (again.id, again.worker, again.done) == (run.id, "second", 3)
    assert queue.report_progress(run.id, "first", 4, 10, "") is False
    queue.end(run.id, "first", "failed", "too late")
    assert queue.run(run.id).state == "running"


@pytest.mark.parametrize("jump", [timedelta(hours=-5), timedelta(hours=5)])
def test_a_clock_adjustment_takes_no_run_from_a_worker_but_a_silent_worker_loses_its_run(queue, clock, jump, monkeypatch):
    run = queue.put("one", {})
    queue.take("first")
    queue.note_heartbeat("first")
    queue.requeue_silent()
    monkeypatch.setattr("agora.web._runs.queue.now", lambda: now() + jump)
    assert queue.take("second") is None
    assert [one.worker for one in queue.workers()] == ["first"]
    assert queue.report_progress(run.id, "first", 1, 10, "") is True
    silence(queue, clock)
    assert queue.take("second").id == run.id
    assert queue.workers() == []


def test_a_run_told_to_stop_is_cancelled_if_its_worker_goes_silent(queue, clock):
    run = queue.put("one", {})
    queue.take("first")
    queue.cancel(run.id)
    assert queue.report_progress(run.id, "first", 1, 10, "") is False
    silence(queue, clock)
    assert queue.take("second") is None
    assert queue.run(run.id).state == "cancelled"


def test_a_run_whose_workers_keep_dying_fails_and_can_be_retried(queue, clock):
    run = queue.put("one", {})
    for number in range(MOST_DEATHS):
        assert queue.take(f"worker {number}").id == run.id
        queue.report_progress(run.id, f"worker {number}", 2, 10, "")
        if number == 1:
            silence(queue, clock)
        else:
            queue.requeue_dead(f"worker {number}", "was killed by SIGKILL")
    assert queue.take("another") is None
    failed = queue.run(run.id)
    assert (failed.state, failed.worker, failed.done) == ("failed", "", 2)
    assert "its worker died 3 times" in failed.message
    assert "was killed by SIGKILL" in failed.message
    assert "continue the run to try again" in failed.message
    queue.resume(run.id)
    queue.take("first")
    queue.requeue_dead("first", "ended with exit code 3")
    assert (queue.run(run.id).state, queue.run(run.id).message) == (
        "queued",
        "its worker ended with exit code 3; another worker continues",
    )


def test_a_run_that_gets_on_between_the_deaths_of_its_workers_goes_on(queue):
    run = queue.put("one", {})
    for number in range(3 * MOST_DEATHS):
        queue.take("a")
        queue.report_progress(run.id, "a", number, 10, "")
        queue.requeue_dead("a", "was killed by SIGKILL")
    assert queue.run(run.id).state == "queued"


def test_a_run_of_a_worker_that_ends_in_order_goes_back_and_no_death_is_counted(queue):
    run, other = queue.put("one", {}), queue.put("other", {})
    for _ in range(2 * MOST_DEATHS):
        assert queue.take("a").id == run.id
        queue.remove_worker("a")
    assert queue.run(run.id).state == "queued"
    queue.take("a"), queue.take("b")
    queue.cancel(run.id)
    queue.remove_worker("a")
    assert (queue.run(run.id).state, queue.run(other.id).state) == ("cancelled", "running")


def test_a_worker_of_one_kind_leaves_other_runs_waiting(queue):
    training, run = queue.put("training", {}, "training"), queue.put("run", {})
    assert queue.has_waiting("training")
    assert queue.take("a", ("bench",)).id == run.id
    assert queue.take("a", ("bench",)) is None
    assert queue.take("b", ("training",)).id == training.id
    assert not queue.has_waiting("training")


def test_a_run_that_waits_is_cancelled_at_once_and_can_go_on_later(queue):
    run = queue.put("one", {})
    assert queue.cancel(run.id).state == "cancelled"
    assert queue.take("a") is None
    assert queue.resume(run.id).state == "queued"
    assert queue.take("a").id == run.id


def test_a_finished_run_has_nothing_to_go_on_with(queue):
    run = queue.put("one", {})
    queue.take("a")
    queue.end(run.id, "a", "finished")
    with pytest.raises(InputError, match="is finished"):
        queue.resume(run.id)
    assert queue.run(run.id).ended is not None


def test_a_run_under_way_is_not_removed(queue):
    run = queue.put("one", {})
    queue.take("a")
    with pytest.raises(InputError, match="cancel it first"):
        queue.remove(run.id)
    queue.end(run.id, "a", "failed", "why")
    queue.remove(run.id)
    with pytest.raises(UnknownNameError):
        queue.run(run.id)


@pytest.mark.parametrize(
    ("wrong", "said"), [("no url", "no url"), ("sqlite:////nowhere/at/all.sqlite", "unable to open"), ("klingon://x/y", "klingon")]
)
def test_a_database_that_cannot_be_opened_is_said_in_words(wrong, said):
    with pytest.raises(InputError, match=said), open_database(wrong):
        pass
