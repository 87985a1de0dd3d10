"""The tables of the database."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import JSON, Index
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

QUEUED, RUNNING, FINISHED, FAILED, CANCELLED = "queued", "running", "finished", "failed", "cancelled"
"""States of a run."""

BENCH, TRAINING = "bench", "training"
"""Kinds of runs."""

KINDS = (BENCH, TRAINING)
"""All kinds of runs."""

PARTS = 1000
"""Number of parts in which the progress of a training run is counted."""


class Base(DeclarativeBase):
    """The base of all tables."""


class Run(Base):
    """A requested run.

    Attributes:
        id: name of the run and of its folder.
        kind: "bench" for a benchmark run, "training" for a training run.
        title: title to show.
        state: state of the run.
        form: fields of the filled-in `RequestForm` (`agora.benchmark.request_form`) or `TrainingForm`
            (`agora.web._runs.trainings`).
        done: number of finished episodes, or of finished `PARTS` of a training run.
        total: total number of episodes, or `PARTS`; 0 until the run has started.
        message: reason for a failure, or notice about work that takes a long time.
        stop: whether a stop was requested.
        worker: name of the worker that executes the run; empty if there is none.
        deaths: number of times a worker has died while executing the run, since the run was last requested or made progress.
        beat: time of the worker's last heartbeat.
        created: time of the request.
        started: time at which the run was started or resumed.
        ended: time at which the run ended.
        owner: name of the user who requested the run; empty on a server without accounts.
    """

    __tablename__ = "runs"
    __table_args__ = (Index("runs_by_state", "state", "created"),)

    id: Mapped[str] = mapped_column(primary_key=True)
    kind: Mapped[str] = mapped_column(default=BENCH, server_default=BENCH)
    title: Mapped[str]
    state: Mapped[str]
    form: Mapped[dict[str, Any]] = mapped_column(JSON)
    done: Mapped[int] = mapped_column(default=0)
    total: Mapped[int] = mapped_column(default=0)
    message: Mapped[str] = mapped_column(default="")
    stop: Mapped[bool] = mapped_column(default=False)
    worker: Mapped[str] = mapped_column(default="")
    deaths: Mapped[int] = mapped_column(default=0, server_default="0")
    beat: Mapped[datetime | None]
    created: Mapped[datetime]
    started: Mapped[datetime | None]
    ended: Mapped[datetime | None]
    owner: Mapped[str] = mapped_column(default="", server_default="")

    def plain(self) -> dict[str, Any]:
        """Return the run in the format used by the front end."""
        times = {name: iso_time(getattr(self, name)) for name in ("created", "started", "ended")}
        names = ("id", "kind", "title", "state", "done", "total", "message", "stop", "form", "owner")
        return {name: getattr(self, name) for name in names} | times


class WorkerHeartbeat(Base):
    """A worker that has sent a heartbeat, with or without a run.

    Attributes:
        worker: name of the worker.
        beat: time of the worker's last heartbeat.
    """

    __tablename__ = "workers"

    worker: Mapped[str] = mapped_column(primary_key=True)
    beat: Mapped[datetime]


def now() -> datetime:
    """Return the current time in UTC, without a time zone, so that databases store it unchanged."""
    return datetime.now(UTC).replace(tzinfo=None)


def iso_time(time: datetime | None) -> str | None:
    """Return a time in the format used by the front end."""
    return None if time is None else time.isoformat(timespec="milliseconds") + "Z"
