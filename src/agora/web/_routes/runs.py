"""Routes for the queue of runs."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

from fastapi import Body, FastAPI
from sqlalchemy.exc import SQLAlchemyError

from agora.config import build
from agora.errors import InputError
from agora.web._accounts.people import CurrentPerson
from agora.web._accounts.quotas import Ledger
from agora.web._accounts.restrictions import check_restrictions
from agora.web._runs.benchmark import request_of
from agora.web._runs.inputs import describe_suite, keep_inputs
from agora.web._runs.queue import RunQueue, fresh_id
from agora.web._runs.trainings import TrainingForm
from agora.web._schemas.base import Documented
from agora.web._schemas.runs import ResumeRequest, Run, RunRequest, RunSuite
from agora.web._tables import TRAINING
from agora.web._tables import Run as RunRow
from agora.web._user_planners.policies import Policies
from agora.web.settings import Settings


def add_runs(
    app: FastAPI, settings: Settings, queue: RunQueue, suite: Callable[[str], str], policies: Policies, ledger: Ledger
) -> None:
    """Add the routes for the queue of runs.

    Args:
        app: the application.
        settings: settings of the server.
        queue: queue of the server's runs.
        suite: function that converts the name of a suite to an argument of `agora.tasks.suite.load_suite`.
        policies: policies of the server.
        ledger: usage of each person.
    """

    @app.get("/api/runs", response_model=list[Run])
    def runs() -> list[dict[str, Any]]:
        """All runs, newest first."""
        return [run.plain() for run in queue.runs()]

    @app.post("/api/runs", status_code=201, response_model=Run)
    def ask(person: CurrentPerson, fields: Annotated[dict[str, Any], Documented(RunRequest)]) -> dict[str, Any]:
        """Add a run to the queue, given the fields of a `RequestForm` and a ``title``."""
        form = {name: value for name, value in fields.items() if name != "title"}
        for name in ("output", "resume", "add", "executor"):
            if name in form:
                raise InputError(f"run: the server sets {name!r}")
        if form.get("workers") == 0:
            why = "a planner that does not run in its own process could crash the server's worker"
            raise InputError(f"run: workers: expected an integer of at least 1, got 0; {why}")
        check_restrictions(person, form)
        ledger.check_run(person)
        planned = request_of(form, settings.runs / "asked", suite, policies)
        asked = [name for name in planned.planners if name not in planned.controls]
        title = fields.get("title") or f"{planned.suite.name}: {', '.join(asked)}"
        if not isinstance(title, str):
            raise InputError(f"run: title: expected a string, got {title!r}")
        with ledger.turn(person):
            options, id = planned.options, fresh_id()
            ledger.check_run(person, planned.episodes, options.workers * options.threads)
            with _whole_or_removed(settings.runs / id):
                keep_inputs(settings, settings.runs / id, suite(form["suite"]), planned.planners.values())
                return queue.put(title[:200], form, id=id, owner=person.name).plain()

    _add_one_run(app, settings, queue, suite, ledger)


def _add_one_run(app: FastAPI, settings: Settings, queue: RunQueue, suite: Callable[[str], str], ledger: Ledger) -> None:
    """Add the routes for a single run."""

    @app.get("/api/runs/{id}", response_model=Run)
    def run(id: str) -> dict[str, Any]:
        """A run."""
        return queue.run(id).plain()

    @app.get("/api/runs/{id}/suite", response_model=RunSuite)
    def run_suite(id: str) -> dict[str, str]:
        """The file of a run's suite at the time of the request and, if the suite is one of yours, whether it has changed or been
        removed since then.
        """
        asked = queue.run(id)
        return describe_suite(settings.runs / id, str(asked.form.get("suite", "")), suite)

    @app.post("/api/runs/{id}/cancel", response_model=Run)
    def cancel(id: str) -> dict[str, Any]:
        """Stop a run; finished episodes are kept."""
        return queue.cancel(id).plain()

    @app.post("/api/runs/{id}/resume", response_model=Run)
    def resume(
        person: CurrentPerson,
        id: str,
        fields: Annotated[dict[str, Any], Documented(ResumeRequest), Body(default_factory=dict)],
    ) -> dict[str, Any]:
        """Resume a stopped run; a training run may be given new ``minutes``, or null for no limit."""
        with ledger.turn(person):
            ledger.check_run(person)
            return queue.resume(id, _changed_fields(queue.run(id), fields)).plain()

    @app.delete("/api/runs/{id}", status_code=204)
    def remove(id: str) -> None:
        """Remove a run and its results."""
        queue.remove(id)
        shutil.rmtree(settings.runs / id, ignore_errors=True)


@contextmanager
def _whole_or_removed(folder: Path) -> Iterator[None]:
    """Remove a run's folder if the run's inputs cannot be stored completely."""
    try:
        yield
    except (OSError, SQLAlchemyError):
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _changed_fields(run: RunRow, fields: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a run's form that are changed when the run is resumed."""
    allowed = ["minutes"] if run.kind == TRAINING else []
    for name in fields:
        if name not in allowed:
            raise InputError(f"run {run.id}: {name!r} cannot be changed")
    if fields:
        build({**run.form, **fields}, TrainingForm, "training")
    return fields
