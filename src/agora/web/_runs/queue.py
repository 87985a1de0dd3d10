"""The queue of runs, stored in the database. Servers add runs, and workers take them one at a time.

A run belongs to the worker that has written its own name to the run. Workers send a heartbeat every few seconds. If a worker goes
silent, its run returns to the queue, and the next worker continues with the existing rows. A run whose workers die repeatedly
fails.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import timedelta
from typing import Any

from sqlalchemy import Engine, case, delete, func, select, update
from sqlalchemy.orm import Session

from agora.errors import InputError, UnknownNameError
from agora.web._runs.heartbeats import HeartbeatMonitor
from agora.web._tables import BENCH, CANCELLED, FAILED, FINISHED, KINDS, QUEUED, RUNNING, Run, WorkerHeartbeat, now

SILENT = timedelta(seconds=15)
"""Time without a heartbeat after which a worker counts as lost."""

MOST_DEATHS = 3
"""Number of deaths of a run's workers, without progress in between, after which the run fails."""


def fresh_id() -> str:
    """Return a unique name for a run; names sort by time."""
    return f"{now():%Y%m%d-%H%M%S}-{secrets.token_hex(3)}"


class RunQueue:
    """The runs in a database.

    Args:
        engine: engine of the database.
        clock: clock used to detect silent workers, s.
    """

    def __init__(self, engine: Engine, clock: Callable[[], float] = time.monotonic) -> None:
        self._engine = engine
        self._runs, self._workers = HeartbeatMonitor(clock), HeartbeatMonitor(clock)

    def put(self, title: str, form: dict[str, Any], kind: str = BENCH, id: str = "", owner: str = "") -> Run:
        """Add a run to the end of the queue, and return the run. If its ``id`` is given, its folder may already exist."""
        return self._add(Run(id=id or fresh_id(), kind=kind, title=title, state=QUEUED, form=form, created=now(), owner=owner))

    def put_finished(self, id: str, title: str, form: dict[str, Any], count: int, owner: str = "") -> Run:
        """Add a run whose episodes were executed elsewhere, and return the run."""
        times = {"created": now(), "ended": now()}
        run = Run(id=id, title=title, state=FINISHED, form=form, done=count, total=count, owner=owner, **times)
        return self._add(run)

    def _add(self, run: Run) -> Run:
        with self._session() as session:
            session.add(run)
            session.commit()
        return run

    def runs(self, owner: str | None = None) -> Sequence[Run]:
        """Return all runs, or those of one owner, newest first."""
        chosen = select(Run) if owner is None else select(Run).where(Run.owner == owner)
        with self._session() as session:
            return session.scalars(chosen.order_by(Run.created.desc(), Run.id.desc())).all()

    def counts(self) -> dict[str, int]:
        """Return the number of runs in each state."""
        with self._session() as session:
            return {state: count for state, count in session.execute(select(Run.state, func.count()).group_by(Run.state))}

    def run(self, id: str) -> Run:
        """Return a run.

        Raises:
            UnknownNameError: there is no such run.
        """
        with self._session() as session:
            found = session.get(Run, id)
        if found is None:
            raise UnknownNameError("run", id, [run.id for run in self.runs()])
        return found

    def owner(self, id: str) -> str | None:
        """Return the name of a run's owner; empty if the run has no owner, None if there is no such run."""
        with self._session() as session:
            return session.scalar(select(Run.owner).where(Run.id == id))

    def take(self, worker: str, kinds: Collection[str] = KINDS) -> Run | None:
        """Assign the oldest waiting run of the given kinds to a worker, and return the run; None if no such run is waiting."""
        self.requeue_silent()
        waiting = select(Run.id).where(Run.state == QUEUED, Run.kind.in_(kinds)).order_by(Run.created, Run.id)
        with self._session() as session:
            for id in session.scalars(waiting):
                mine = update(Run).where(Run.id == id, Run.state == QUEUED)
                taken = mine.values(state=RUNNING, worker=worker, beat=now(), started=now(), ended=None, stop=False, message="")
                if session.execute(taken).rowcount:  # type: ignore[attr-defined]
                    session.commit()
                    return self.run(id)
                session.rollback()
        return None

    def has_waiting(self, kind: str) -> bool:
        """Return whether a run of the given kind is waiting."""
        self.requeue_silent()
        with self._session() as session:
            return session.scalar(select(Run.id).where(Run.state == QUEUED, Run.kind == kind).limit(1)) is not None

    def note_heartbeat(self, worker: str) -> None:
        """Record that a worker is alive."""
        with self._session() as session:
            session.execute(delete(WorkerHeartbeat).where(WorkerHeartbeat.beat < now() - 10 * SILENT))
            session.merge(WorkerHeartbeat(worker=worker, beat=now()))
            session.commit()

    def remove_worker(self, worker: str) -> None:
        """Remove a worker that is ending; its run returns to the queue or, if a stop was requested, is cancelled."""
        mine = (Run.state == RUNNING, Run.worker == worker)
        self._set(*mine, Run.stop.is_(True), state=CANCELLED, worker="", ended=now())
        self._set(*mine, state=QUEUED, worker="")
        with self._session() as session:
            session.execute(delete(WorkerHeartbeat).where(WorkerHeartbeat.worker == worker))
            session.commit()

    def workers(self) -> Sequence[WorkerHeartbeat]:
        """Return all live workers, by name."""
        with self._session() as session:
            heard = session.scalars(select(WorkerHeartbeat).order_by(WorkerHeartbeat.worker)).all()
        silent = self._workers.silent_names({one.worker: one.beat for one in heard}, SILENT)
        return [one for one in heard if one.worker not in silent]

    def requeue_silent(self) -> None:
        """Return the runs of silent workers to the queue, like `requeue_dead`."""
        with self._session() as session:
            beats = {id: beat for id, beat in session.execute(select(Run.id, Run.beat).where(Run.state == RUNNING)) if beat}
        for id in self._runs.silent_names(beats, SILENT):
            self._requeue_lost((Run.id == id) & (Run.beat == beats[id]), f"did not respond for {SILENT.seconds} s")

    def requeue_dead(self, worker: str, how: str) -> None:
        """Requeue the run of a dead worker. The run is cancelled instead if a stop was requested, and fails if its workers keep
        dying.

        Args:
            worker: name of the worker.
            how: cause of death, worded to follow "its worker".
        """
        self._requeue_lost(Run.worker == worker, how)
        self.remove_worker(worker)

    def _requeue_lost(self, which: Any, how: str) -> None:
        """Requeue the runs of lost workers."""
        gone = (Run.state == RUNNING, which)
        self._set(*gone, Run.stop.is_(True), state=CANCELLED, worker="", ended=now())
        reason = (
            f"its worker died {MOST_DEATHS} times without progress in the run; the last one {how}. Perhaps a planner crashes "
            "it, or there is too little memory: try other planners or fewer workers. Finished episodes are kept; "
            "continue the run to try again"
        )
        last = Run.deaths >= MOST_DEATHS - 1
        self._set(*gone, last, state=FAILED, worker="", ended=now(), deaths=MOST_DEATHS, message=reason)
        self._set(*gone, state=QUEUED, worker="", deaths=Run.deaths + 1, message=f"its worker {how}; another worker continues")

    def report_progress(self, id: str, worker: str, done: int, total: int, message: str) -> bool:
        """Record the progress of a worker's run; return whether the worker should continue."""
        mine = (Run.id == id, Run.worker == worker, Run.state == RUNNING)
        deaths = case((Run.done < done, 0), else_=Run.deaths)
        if not self._set(*mine, beat=now(), done=done, total=total, message=message, deaths=deaths):
            return False
        return not self.run(id).stop

    def requeue(self, id: str, worker: str) -> None:
        """Requeue a worker's run because the worker should end."""
        self._set(Run.id == id, Run.worker == worker, Run.state == RUNNING, state=QUEUED, worker="")

    def end(self, id: str, worker: str, state: str, message: str = "") -> None:
        """Record the end of a worker's run."""
        self._set(Run.id == id, Run.worker == worker, state=state, message=message, worker="", ended=now(), stop=False)

    def cancel(self, id: str) -> Run:
        """Remove a run from the queue, or ask the run's worker to stop; finished episodes are kept.

        Raises:
            UnknownNameError: there is no such run.
        """
        self._set(Run.id == id, Run.state == QUEUED, state=CANCELLED, ended=now())
        self._set(Run.id == id, Run.state == RUNNING, stop=True)
        return self.run(id)

    def resume(self, id: str, changed: Mapping[str, Any] | None = None) -> Run:
        """Requeue a cancelled or failed run, which then continues where it ended.

        Args:
            id: name of the run.
            changed: new values for fields of the run's form.

        Raises:
            UnknownNameError: there is no such run. InputError: the run is finished.
        """
        run = self.run(id)
        if run.state == FINISHED:
            raise InputError(f"run {id} is finished and cannot be continued")
        form = {**run.form, **(changed or {})}
        self._set(Run.id == id, Run.state.in_((CANCELLED, FAILED)), state=QUEUED, ended=None, message="", deaths=0, form=form)
        return self.run(id)

    def remove(self, id: str) -> None:
        """Remove an inactive run from the database; the caller removes its folder.

        Raises:
            UnknownNameError: there is no such run. InputError: the run is active.
        """
        self.run(id)
        with self._session() as session:
            gone = session.execute(delete(Run).where(Run.id == id, Run.state != RUNNING)).rowcount  # type: ignore[attr-defined]
            session.commit()
        if not gone:
            raise InputError(f"run {id} is running; cancel it first")

    def _set(self, *which: Any, **values: Any) -> int:
        """Atomically change the runs that satisfy all conditions; return their number."""
        with self._session() as session:
            count: int = session.execute(update(Run).where(*which).values(**values)).rowcount  # type: ignore[attr-defined]
            session.commit()
        return count

    def _session(self) -> Session:
        return Session(self._engine, expire_on_commit=False)
