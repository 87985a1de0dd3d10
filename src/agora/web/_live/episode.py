"""A live episode in a separate process, which runs in real time and follows its watchers' commands.

Live episodes are never included in results. `agora.episode.Episodes` runs them as in a benchmark, except that control periods are
paced to real time. A pipe connects the process to the server: commands come in (`agora.web._live.teleoperation`), and text messages
and frames go out (`agora.web._live.messages`).
"""

from __future__ import annotations

import json
import logging
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from agora.benchmark.informed import refuse_informed
from agora.benchmark.knowledge import blind
from agora.core.recording import Outcome, Recording
from agora.episode import WORLD, Conditions, Episodes
from agora.errors import AgoraError, in_words
from agora.planners.presets import named_planner
from agora.tasks.suite import Suite, load_suite, with_seed
from agora.viewer.scene import title_of
from agora.viewer.why import why
from agora.web._live.drives import LABEL, write_drive
from agora.web._live.messages import FrameEncoder, describe_scene
from agora.web._live.teleoperation import EpisodeChangeError, TeleoperatedPlanner, Teleoperation
from agora.web._runs.queue import fresh_id
from agora.world.start import Start

_LATE = 0.5  # maximum delay for which the episode catches up with real time, s


@dataclass(frozen=True)
class LiveForm:
    """A request for a live episode.

    Attributes:
        suite: name of the suite.
        planner: planner string, in the format of `agora run`; ignored if a person drives.
        stage: name of the stage; if empty, the suite's first stage.
        episode: number of the episode in its stage.
        seed: seed that replaces the suite's seed, as in `agora.benchmark.request_form.RequestForm`.
        drive: whether one of the watchers drives the robot.
        label: label of the planner; if empty, the planner's string.
    """

    suite: str
    planner: str = "orca"
    stage: str = ""
    episode: int = 0
    seed: int | None = None
    drive: bool = False
    label: str = ""

    def resolve(self) -> tuple[Suite, str]:
        """Return the suite and the name of the stage.

        Raises:
            InputError: the suite, stage or planner is unknown.
        """
        suite = with_seed(load_suite(self.suite), self.seed)
        if not self.drive:
            refuse_informed(self.planner)
            named_planner(self.planner)
        return suite, suite.stage(self.stage).name if self.stage else suite.stages[0].name


def play(form: LiveForm, pipe: Connection, runs: Path) -> None:
    """Run episodes until the pipe closes; this is the entry point of the process.

    Args:
        form: request for the first episode.
        pipe: pipe to the server.
        runs: folder of the server's runs, in which manually driven episodes are stored.
    """
    teleoperation = Teleoperation()
    live = _Live(form, teleoperation, pipe, runs)
    threading.Thread(target=live.listen, daemon=True).start()
    log = logging.getLogger("agora.core.compiling")
    log.setLevel(logging.INFO)
    log.addHandler(_Notice(lambda words: live.say(message=words)))
    try:
        live.run()
    except AgoraError as error:
        live.say(state="failed", message=str(error))
    except BrokenPipeError:
        return
    threading.Event().wait()


class _Notice(logging.Handler):
    """Tells watchers that kernels are being compiled."""

    def __init__(self, say: Callable[[str], None]) -> None:
        super().__init__()
        self._say = say

    def emit(self, record: logging.LogRecord) -> None:
        """Send a notice; each log record stands for one compiled function."""
        self._say("compiling kernels; the first time on a machine this takes a minute or two")


class _Live:
    """Runs the requested episodes, one after another.

    Args:
        form: request for the first episode.
        teleoperation: commands from the watchers.
        pipe: pipe to the server.
        runs: folder of the server's runs.
    """

    def __init__(self, form: LiveForm, teleoperation: Teleoperation, pipe: Connection, runs: Path) -> None:
        self._form, self._teleoperation, self._pipe, self._runs = form, teleoperation, pipe, runs
        self._sending = threading.Lock()
        self._due, self._period = 0.0, 0.0
        self._encode_frame: Callable[[], bytes] = bytes

    def listen(self) -> None:
        """Receive commands until the server is gone, and then end the process."""
        try:
            while True:
                wish = self._pipe.recv()
                held = self._teleoperation.held
                self._teleoperation.apply(wish)
                if wish.get("do") in ("pause", "go", "step", "speed") or held != self._teleoperation.held:
                    self._send_pace()
        except (EOFError, OSError):
            os._exit(0)

    def say(self, **live: Any) -> None:
        """Send the state of the episode to the watchers."""
        self._send(json.dumps({"live": live}))

    def _send_pace(self, **live: Any) -> None:
        """Tell the watchers whether time is paused and why, together with other messages."""
        teleoperation = self._teleoperation
        self.say(
            state="paused" if teleoperation.paused or teleoperation.held else "running",
            held=teleoperation.held,
            speed=teleoperation.speed,
            **live,
        )

    def _send(self, message: str | bytes) -> None:
        with self._sending:
            self._pipe.send(message)

    def run(self) -> None:
        """Run episodes until the process ends."""
        suite, name = self._form.resolve()
        stage, number = suite.stage(name), self._form.episode
        label, planner = (LABEL, None) if self._form.drive else named_planner(self._form.planner)
        label = label if planner is None else self._form.label or label
        part = TeleoperatedPlanner(self._teleoperation) if planner is None else planner.part
        no_walls = planner is not None and bool(blind({label: planner}))
        conditions = Conditions.of(stage)
        self._period = conditions.periods.control
        while True:
            number %= stage.count
            start = suite.start(name, number)
            title = title_of(label, suite.name, name, number, suite.seed_of(name), blind=no_walls)
            has_lidar = all(robot.model.lidar is not None for robot in start.robots)
            episodes = Episodes([start], part, conditions, before=self._show_and_wait, record=("scan",) if has_lidar else ())
            self._encode_frame = FrameEncoder(episodes, start).encode
            self._send(json.dumps({"scene": describe_scene(start, title, self._period, drive=planner is None)}))
            if planner is None:
                self._teleoperation.apply({"do": "hold"})
            self._send_pace(title=title, episode=number, message="")
            self._due = time.monotonic()
            try:
                for _, recordings in episodes:
                    self._end(recordings[0])
                    if planner is None:
                        self._keep_drive(suite, name, number, start, recordings)
                self._teleoperation.wait(float("inf"))
            except EpisodeChangeError as other:
                number += other.offset

    def _keep_drive(self, suite: Suite, stage: str, number: int, start: Start, recordings: list[Recording]) -> None:
        """Store a manually driven episode as a run, and notify the server."""
        id = fresh_id()
        try:
            write_drive(self._runs / id, suite, stage, number, start, recordings)
        except (AgoraError, OSError) as error:
            self.say(message=f"the drive was not kept: {in_words(error)}")
            return
        title = title_of(LABEL, suite.name, stage, number, suite.seed_of(stage))
        form = {"suite": self._form.suite, "stages": [stage], "planners": []}
        self._send(json.dumps({"kept": {"id": id, "title": title, "form": form, "count": len(recordings)}}))

    def _show_and_wait(self, what: str) -> None:
        """Send the current frame, and wait until it is due before the world advances by a step."""
        if what != WORLD:
            return
        self._send(self._encode_frame())
        self._teleoperation.wait(self._due)
        self._due = max(self._due, time.monotonic() - _LATE) + self._period / self._teleoperation.speed

    def _end(self, recording: Recording) -> None:
        self._send(self._encode_frame())
        reached = recording.outcome is Outcome.REACHED
        words = "" if reached else recording.failure or why(recording).words
        self._send(json.dumps({"end": {"outcome": recording.outcome.label, "why": words}}))
        self.say(state="ended")
