"""Routes for training runs."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated, Any

from fastapi import FastAPI
from fastapi.responses import Response
from sqlalchemy.exc import SQLAlchemyError

from agora.config import build
from agora.errors import InputError
from agora.web._accounts.people import CurrentPerson
from agora.web._accounts.quotas import Ledger
from agora.web._accounts.restrictions import check_restrictions
from agora.web._routes.http import download
from agora.web._runs import training_progress
from agora.web._runs.queue import RunQueue, fresh_id
from agora.web._runs.trainings import FREE, TrainingForm, Trainings, write_training
from agora.web._schemas.base import Documented, file_response
from agora.web._schemas.runs import Run
from agora.web._schemas.trainings import CurvePart, TrainingEntry, TrainingFields, TrainingProgress, TrainingRequest
from agora.web._tables import TRAINING
from agora.web._user_planners.policies import Policies
from agora.web.settings import Settings


def add_trainings(app: FastAPI, settings: Settings, queue: RunQueue, trainings: Trainings, ledger: Ledger) -> None:
    """Add the routes for training runs."""

    @app.get("/api/trainings", response_model=list[TrainingEntry])
    def all_trainings() -> list[dict[str, Any]]:
        """All training configurations included in Agora."""
        return trainings.all()

    @app.get("/api/trainings/{name}", response_model=TrainingFields)
    def training(name: str) -> dict[str, Any]:
        """A training configuration with its fields and their values."""
        return trainings.get(name)

    @app.post("/api/trainings", status_code=201, response_model=Run)
    def ask(person: CurrentPerson, fields: Annotated[dict[str, Any], Documented(TrainingRequest)]) -> dict[str, Any]:
        """Add a training run to the queue, given the fields of a `TrainingForm` and a ``title``."""
        form = {name: value for name, value in fields.items() if name != "title"}
        asked = build(form, TrainingForm, "training")
        check_restrictions(person, {**form, "changes": {key: value for key, value in asked.changes.items() if key not in FREE}})
        ledger.check_run(person)
        chosen = trainings.resolve(asked)
        title = fields.get("title") or f"training of {chosen.name}"
        if not isinstance(title, str):
            raise InputError(f"training: title: expected a string, got {title!r}")
        with ledger.turn(person):
            ledger.check_run(person)
            id = fresh_id()
            try:
                write_training(settings.runs / id, chosen)
                return queue.put(title[:200], form, TRAINING, id, person.name).plain()
            except (OSError, SQLAlchemyError):
                shutil.rmtree(settings.runs / id, ignore_errors=True)
                raise

    _add_requested(app, settings, queue)


def _add_requested(app: FastAPI, settings: Settings, queue: RunQueue) -> None:
    """Add the routes for a requested training run."""
    policies = Policies(settings)

    def folder(id: str) -> Path:
        if queue.run(id).kind != TRAINING:
            raise InputError(f"run {id} is not a training")
        return settings.runs / id

    @app.get("/api/runs/{id}/training", response_model=TrainingProgress)
    def progress(id: str) -> dict[str, Any]:
        """A requested training run: the training file, the seeds with their checkpoints, the policy, and the policy's card."""
        return training_progress.describe_training(folder(id), policies)

    @app.get("/api/runs/{id}/curve/{seed}", response_model=CurvePart)
    def curve(id: str, seed: int, version: str = "", offset: int = 0) -> dict[str, Any]:
        """The new points of a training curve; ``version`` and ``offset`` come from the previous response."""
        return training_progress.curve(folder(id), seed, version, offset)

    @app.get("/api/runs/{id}/training/{file}", **file_response())
    def file(id: str, file: str) -> Response:
        """A file of a training run: ``policy.safetensors``, ``card.yaml``, ``training.yaml`` or ``curve_SEED.jsonl``."""
        found = training_progress.file_of(folder(id), file)
        return download(found.read_bytes(), f"{id}_{file}")
