"""Schemas of runs and their results."""

from __future__ import annotations

from typing import Any, Literal

from agora.web._schemas.base import Model, OpenModel


class Run(Model):
    """A benchmark or training run; times are in ISO format."""

    id: str
    kind: Literal["bench", "training"]
    title: str
    state: Literal["queued", "running", "finished", "failed", "cancelled"]
    done: int
    total: int
    message: str
    stop: bool
    form: dict[str, Any]
    owner: str
    created: str
    started: str | None
    ended: str | None


class RunSuite(Model):
    """A run's suite file as it was when the run was requested; ``now`` states whether it has since changed or been removed."""

    name: str
    path: str
    text: str
    now: Literal["", "changed", "gone"]


class Column(Model):
    """A column of the rows, with its unit."""

    name: str
    unit: str


class RowsPage(Model):
    """Some rows of a run; ``few`` names the main columns, ``recorded`` the episodes that can be replayed."""

    total: int
    columns: list[Column]
    few: list[str]
    recorded: list[str]
    rows: list[list[str | int | float | bool | None]]


class RunRequest(OpenModel):
    """A request for a run: the options of ``agora bench`` under their Python names, and a title."""

    suite: str
    planners: list[str] = []
    title: str = ""


class ResumeRequest(Model):
    """Changes to a run that is resumed; ``minutes`` is for training runs only."""

    minutes: float | None = None
