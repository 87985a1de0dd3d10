"""The live episodes of a server. Each has a process and any number of watchers, which cannot slow each other down."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import secrets
import threading
from collections.abc import Callable, Collection
from dataclasses import asdict, replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from agora.errors import InputError, UnknownNameError
from agora.web._live.episode import LiveForm, play
from agora.web._user_planners.policies import Policies

ALONE = 60.0
"""Time after which a live episode without watchers is ended, s."""

STARTING, RUNNING, PAUSED, ENDED, FAILED = "starting", "running", "paused", "ended", "failed"

_MOST_TEXTS = 200


class Watcher:
    """A watcher of a live episode. It receives every text message; whenever it is ready for a frame, it receives only the newest
    one.
    """

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._moment: bytes | None = None
        self._came = asyncio.Event()

    def tell(self, message: str | bytes) -> None:
        """Queue a message; this method must be called in the event loop's thread."""
        if isinstance(message, bytes):
            self._moment = message
        else:
            self._texts = [*self._texts[-_MOST_TEXTS:], message]
        self._came.set()

    async def next(self) -> str | bytes:
        """Return the next message, text messages first."""
        while True:
            if self._texts:
                return self._texts.pop(0)
            if self._moment is not None:
                moment, self._moment = self._moment, None
                return moment
            self._came.clear()
            await self._came.wait()


class LiveSession:
    """A live episode.

    Args:
        form: request for the episode.
        played: the same request, with the suite given as a file if the suite is one of the server's scenarios.
        runs: folder of the server's runs.
        owner: name of the user who started the episode; empty on a server without accounts.
        changed: function called in the event loop's thread when the state of the episode changes.
        kept: function called in a separate thread with the description of a stored, manually driven episode.

    Attributes:
        id: name of the episode.
        state: state of the episode.
    """

    def __init__(
        self,
        form: LiveForm,
        played: LiveForm,
        runs: Path,
        owner: str,
        changed: Callable[[LiveSession], None],
        kept: Callable[[dict[str, Any]], None],
    ) -> None:
        self.id, self.form, self.owner, self.state = secrets.token_urlsafe(9), form, owner, STARTING
        self.watchers: set[Watcher] = set()
        self._told: dict[str, Any] = {
            "title": f"{form.suite}, {'driven by hand' if form.drive else played.label or form.planner}",
            "message": "",
        }
        self._scene, self._last, self._changed, self._kept = "", b"", changed, kept
        self._loop = asyncio.get_running_loop()
        context = multiprocessing.get_context("spawn")
        self._pipe, there = context.Pipe()
        self._process = context.Process(target=play, args=(played, there, runs), daemon=True, name=f"live {self.id}")
        self._process.start()
        there.close()
        threading.Thread(target=self._listen, args=(self._pipe,), daemon=True, name=f"live {self.id}").start()

    def plain(self) -> dict[str, Any]:
        """Return the live episode in the format used by the front end."""
        said = {"id": self.id, "owner": self.owner, "state": self.state, "watchers": len(self.watchers)}
        return {**said, "form": asdict(self.form), **self._told}

    def watch(self) -> Watcher:
        """Return a new watcher, which first receives the current state."""
        watcher = Watcher()
        self.watchers.add(watcher)
        if self._scene:
            watcher.tell(self._scene)
        if self._last:
            watcher.tell(self._last)
        self._change()
        return watcher

    def leave(self, watcher: Watcher) -> None:
        """Remove a watcher. A manually driven episode pauses when it has no watchers, so that it does not run to its end and get
        stored after its driver has left.
        """
        self.watchers.discard(watcher)
        if self.form.drive and not self.watchers and self.state != ENDED:
            self.do({"do": "hold"})
        self._change()

    def do(self, wish: Any) -> None:
        """Forward a watcher's command; do nothing if there is no process."""
        if isinstance(wish, dict):
            try:
                self._pipe.send(wish)
            except OSError:
                return

    def end(self) -> None:
        """End the episode immediately."""
        self._process.kill()

    def _listen(self, pipe: Connection) -> None:
        """Forward messages from the process; this runs in a separate thread."""
        try:
            while True:
                message = pipe.recv()
                if isinstance(message, str) and "kept" in (said := json.loads(message)):
                    drive = said["kept"]
                    self._kept(drive | {"form": drive["form"] | {"suite": self.form.suite}, "owner": self.owner})
                self._call(self._hear, message)
        except (EOFError, OSError):
            self._process.join()
            self._call(self._note_exit, self._process.exitcode)

    def _call(self, function: Callable[[Any], None], value: Any) -> None:
        """Call a function in the event loop's thread if the loop is still running."""
        try:
            self._loop.call_soon_threadsafe(function, value)
        except RuntimeError:
            return

    def _hear(self, message: str | bytes) -> None:
        if isinstance(message, bytes):
            self._last = message
            self._tell(message)
            return
        said = json.loads(message)
        if "live" in said:
            self.state = said["live"].pop("state", self.state)
            self._told |= said["live"]
            self._change()
            return
        if "scene" in said:
            self._scene, self._last = message, b""
        self._tell(message)

    def _note_exit(self, code: int | None) -> None:
        if self.state != FAILED:
            self.state, self._told["message"] = FAILED, f"its process ended with exit code {code}"
        self._change()

    def _change(self) -> None:
        self._tell(json.dumps({"live": self.plain()}))
        self._changed(self)

    def _tell(self, message: str | bytes) -> None:
        for watcher in self.watchers:
            watcher.tell(message)


class LiveSessions:
    """The live episodes of a server.

    Args:
        most: maximum number of live episodes at the same time.
        runs: folder of the server's runs.
        changed: function called in the event loop's thread when the state of an episode changes.
        kept: function called in a separate thread with the description of a stored, manually driven episode.
        suite: function that converts the name of a suite to an argument of `agora.tasks.suite.load_suite`.
        policies: policies of the server.
    """

    def __init__(
        self,
        most: int,
        runs: Path,
        changed: Callable[[LiveSession], None],
        kept: Callable[[dict[str, Any]], None],
        suite: Callable[[str], str],
        policies: Policies,
    ) -> None:
        self._policies = policies
        self._most, self._runs, self._changed, self._kept, self._suite = most, runs, changed, kept, suite
        self._sessions: dict[str, LiveSession] = {}
        self._timers: dict[str, asyncio.TimerHandle] = {}

    def begin(self, form: LiveForm, owner: str = "", most: int | None = None, instead: Collection[str] = ()) -> LiveSession:
        """Start a live episode; if the limit has been reached, an episode without watchers is ended to make room.

        Args:
            form: request whose suite, stage and planner exist (checked by `LiveForm.resolve`, which takes a long time).
            owner: name of the user who starts the episode; empty on a server without accounts.
            most: maximum number of this user's live episodes at the same time; None for the limit of the server.
            instead: live episodes of this user that may also be ended if their only watcher is the person making the request.

        Raises:
            InputError: the form refers to something unknown, or the limit has been reached and all episodes are being watched.
        """
        played = self.resolve_names(form)
        mine = [live for live in self._sessions.values() if live.owner == owner]
        own = {live.id for live in mine if live.id in instead}
        if most is not None and len(mine) >= most:
            self._make_room(mine, own, f"quota: {len(mine)} of your {most} live episodes are open; close one of them first")
        if len(self._sessions) >= self._most:
            self._make_room(self.all(), own, f"{self._most} live episodes are already open; close one of them first")
        live = LiveSession(form, played, self._runs, owner, self._note_change, self._kept)
        self._sessions[live.id] = live
        self._note_change(live)
        return live

    def _make_room(self, among: list[LiveSession], instead: Collection[str], otherwise: str) -> None:
        """End a live episode without watchers, or one of the given episodes with a single watcher."""
        idle = next((live for live in among if len(live.watchers) <= (live.id in instead)), None)
        if idle is None:
            raise InputError(otherwise)
        self.end(idle.id)

    def resolve_names(self, form: LiveForm) -> LiveForm:
        """Return a form in which the names of the server's suites and policies are replaced by files.

        Raises:
            InputError: the scenario or policy is unknown.
        """
        planner = self._policies.planner(form.planner)
        label = self._policies.label(planner.replace("/", "|"))
        return replace(form, suite=self._suite(form.suite), planner=planner, label=label)

    def all(self) -> list[LiveSession]:
        """Return all live episodes, oldest first."""
        return list(self._sessions.values())

    def get(self, id: str) -> LiveSession:
        """Return a live episode.

        Raises:
            UnknownNameError: there is no live episode with this name.
        """
        if id not in self._sessions:
            raise UnknownNameError("live episode", id, self._sessions)
        return self._sessions[id]

    def owner(self, id: str) -> str | None:
        """Return the name of a live episode's owner; empty if the episode has no owner, None if there is no such episode."""
        return self._sessions[id].owner if id in self._sessions else None

    def end(self, id: str) -> None:
        """End a live episode.

        Raises:
            UnknownNameError: there is no live episode with this name.
        """
        self.get(id).end()
        del self._sessions[id]
        if (timer := self._timers.pop(id, None)) is not None:
            timer.cancel()

    def close(self) -> None:
        """End all live episodes."""
        for id in list(self._sessions):
            self.end(id)

    def _note_change(self, live: LiveSession) -> None:
        """Notify the server of a change, and schedule the end of an episode without watchers."""
        self._changed(live)
        if live.id not in self._sessions:
            return
        if (timer := self._timers.pop(live.id, None)) is not None:
            timer.cancel()
        if not live.watchers:
            self._timers[live.id] = asyncio.get_running_loop().call_later(ALONE, self.end, live.id)
