"""Previews of the start of episodes, created in a separate process with time and memory limits."""

from __future__ import annotations

import multiprocessing
import resource
import threading
from collections.abc import Mapping, Sequence
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import numpy as np

from agora.core.state import Doubles
from agora.errors import AgoraError, InputError, placed
from agora.web._live.messages import describe_scene
from agora.web._user_content.suites import Suites
from agora.world.start import Start

PATIENCE = 90.0
"""Time after which creating an episode is abandoned, s; kernels may have to be compiled before the first episode."""

MEMORY = 8 << 30
"""Memory limit of the process, bytes."""

_MOST_WAYS = 60
_SOON = 0.4  # duration at the start over which the direction of a recorded pedestrian is measured, s


class Previews:
    """The process that creates episodes. It starts when the first preview is requested, and restarts after a preview has timed out.

    Args:
        folder: the server's folder.
    """

    def __init__(self, folder: Path) -> None:
        self._folder, self._lock = folder, threading.Lock()
        self._process: BaseProcess | None = None
        self._pipe: Connection | None = None

    def picture(self, content: Mapping[str, Any], stage: str, episode: int) -> dict[str, Any]:
        """Return a preview of the start of an episode of a suite.

        Args:
            content: the suite, as plain data.
            stage: name of the stage.
            episode: number of the episode; numbers beyond the last wrap around.

        Raises:
            InputError: the suite is invalid, or the episode cannot be created or takes too long.
        """
        if not self._lock.acquire(timeout=PATIENCE):
            raise InputError("the server is busy rendering other previews; try again later")
        try:
            answer = self._ask((content, stage, episode))
        finally:
            self._lock.release()
        if "error" in answer:
            raise InputError(answer["error"])
        return answer

    def start(self) -> None:
        """Start the process unless it is running; it takes seconds to become ready."""
        with self._lock:
            self._running_process()

    def close(self) -> None:
        """End the process."""
        process, self._process, self._pipe = self._process, None, None
        if process is not None:
            process.kill()

    def _running_process(self) -> tuple[BaseProcess, Connection]:
        if self._process is None or self._pipe is None or not self._process.is_alive():
            context = multiprocessing.get_context("spawn")
            self._pipe, there = context.Pipe()
            self._process = context.Process(target=_serve, args=(self._folder, there), daemon=True, name="previews")
            self._process.start()
            there.close()
        return self._process, self._pipe

    def _ask(self, asked: tuple[Mapping[str, Any], str, int]) -> dict[str, Any]:
        process, pipe = self._running_process()
        try:
            pipe.send(asked)
            if pipe.poll(PATIENCE):
                answer: dict[str, Any] = pipe.recv()
                return answer
            self.close()
            return {"error": f"stage {asked[1]}: creating its episode took longer than {PATIENCE:g} s and was cancelled"}
        except (EOFError, OSError):
            process.join(1.0)
            self.close()
            return {"error": f"stage {asked[1]}: the process that created its episode died, possibly from a lack of memory"}


def _serve(folder: Path, pipe: Connection) -> None:
    """Answer requests until the pipe closes; this is the entry point of the process."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    suites = Suites(folder)
    while True:
        try:
            content, stage, episode = pipe.recv()
        except EOFError:
            return
        try:
            answer = _picture(suites, content, stage, episode)
        except AgoraError as error:
            answer = {"error": str(error)}
        except MemoryError:
            answer = {"error": f"stage {stage}: its episode needs more than {MEMORY >> 30} GiB of memory"}
        except Exception as error:  # noqa: BLE001, of a component that a stranger wrote
            answer = {"error": placed(error, __file__)}
        pipe.send(answer)


def _picture(suites: Suites, content: Mapping[str, Any], name: str, episode: int) -> dict[str, Any]:
    suite = suites.suite_of(content)
    stage = suite.stage(name)
    number = episode % stage.count
    start = suite.start(name, number)
    return {
        "scene": describe_scene(start, suite.entry(name, number), stage.periods.control, drive=False),
        "episode": number,
        "count": stage.count,
        "timeout": round(float(start.timeout), 1),
        "robots": [[round(float(value), 3) for value in robot.pose] for robot in start.robots],
        **_people(start),
    }


def _people(start: Start) -> dict[str, Any]:
    """Return the pedestrians present at the start of an episode, their paths unless there are too many, and the number of
    pedestrians who arrive later.
    """
    people, recorded = start.pedestrians, _recorded(start)
    there = [k for k in range(len(people.id)) if people.enters[k] <= 0.0]
    bodies = [_body(people.id[k], people.position[k], people.heading[k], people.radius[k], people.state[k]) for k in there]
    shown = there if len(there) <= _MOST_WAYS else []
    ways = [np.vstack([people.position[k], people.waypoints[k, : people.waypoint_count[k]]]).round(2).tolist() for k in shown]
    return {"people": bodies + recorded, "ways": ways, "later": start.crowd_size - len(bodies) - len(recorded)}


def _recorded(start: Start) -> list[dict[str, Any]]:
    """Return the recorded pedestrians present at the start of an episode, each facing its direction of motion."""
    found, replay = list[dict[str, Any]](), start.replay
    if replay is None:
        return []
    for k in range(len(replay.id)):
        knots = slice(replay.first[k], replay.first[k + 1])
        time, now = replay.knot_time[knots], float(start.replay_phase[k]) if start.replay_phase.size else 0.0
        if replay.period[k] > 0:
            now = time[0] + (now - time[0]) % replay.period[k]
        if not time[0] <= now <= time[-1]:
            continue
        x, y = (np.interp([now, now + _SOON], time, places[knots]) for places in (replay.knot_x, replay.knot_y))
        found.append(_body(replay.id[k], (x[0], y[0]), np.arctan2(y[1] - y[0], x[1] - x[0]), start.replay_radius, -1))
    return found


def _body(id: int, place: Sequence[float] | Doubles, heading: float, radius: float, state: int) -> dict[str, Any]:
    """Return a pedestrian in the painter's format."""
    x, y = place
    said = {"x": x, "y": y, "heading": heading, "radius": radius}
    return {"id": int(id), "state": int(state)} | {name: round(float(value), 3) for name, value in said.items()}
