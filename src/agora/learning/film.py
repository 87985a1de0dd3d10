"""Images of running episodes, drawn by `agora.viewer`."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from agora.core.recording import Outcome
from agora.core.state import Array, Bools
from agora.engine.recorder import Recorder
from agora.episode import recorded
from agora.viewer.live import LiveWindow, check_screen
from agora.viewer.scene import Scene
from agora.viewer.video import Painter
from agora.world.records import RUNNING

if TYPE_CHECKING:
    from agora.episode import Batch
    from agora.world.start import Start

RGB, HUMAN = "rgb_array", "human"
"""Gymnasium's names for images as arrays and for a window."""


class Film:
    """Records each episode in a batch of worlds from its start.

    Args:
        batch: the worlds.
        examples: episodes from which the maximum length of a recording is determined.
    """

    def __init__(self, batch: Batch, examples: Sequence[Start]) -> None:
        self._batch, self._period = batch, batch.conditions.periods.control
        self._length = max(map(self._samples, examples))
        self._recorder = Recorder(batch.world, self._length, (), bool(batch.conditions.behaviours))
        self._starts: dict[int, Start] = {}

    def _samples(self, start: Start) -> int:
        return math.ceil(start.timeout / self._period) + 3

    def holds(self, start: Start) -> bool:
        """Return whether an episode is short enough to be recorded."""
        return self._samples(start) <= self._length

    def begin(self, w: int, start: Start) -> None:
        """Reset the recording of a world whose episode has just begun."""
        self._starts[w] = start
        self._recorder.start(w)
        self._recorder.sample()

    def command(self, rows: Bools) -> None:
        """Record the commands of the active robots (N,)."""
        self._recorder.record_notes({}, rows)

    def sample(self) -> None:
        """Record the current state."""
        self._recorder.sample()

    def scene(self, w: int, r: int) -> Scene:
        """Return the scene of a world's episode so far, focused on robot r."""
        robots, outcomes = self._batch.world.layout.robots, self._batch.world.status.ends.outcome[w]
        now = int(self._recorder.steps[w, self._recorder.cursor[w] - 1])
        recordings = []
        for k in sorted(range(robots), key=lambda k: k != r):
            ended = outcomes[k] != RUNNING
            last, outcome = (int(self._batch.world.status.ends.step[w, k]), int(outcomes[k])) if ended else (now, Outcome.TIMEOUT)
            recordings.append(recorded(self._batch, self._recorder, w, k, self._starts[w], last, Outcome(outcome)))
        return Scene(recordings[0], others=tuple(recordings[1:]), ended=bool(outcomes[r] != RUNNING))


class Camera:
    """Draws the successive episodes of one environment in images that all have the same size.

    Args:
        title: text at the top left.
    """

    def __init__(self, title: str) -> None:
        self._title = title
        self._size: tuple[int, int] | None = None
        self._still: tuple[float, ...] = ()
        self._scene: Scene | None = None
        self._pictures: Iterator[Array] = iter(())

    def picture(self, episode: int, scene: Scene) -> Array:
        """Return an image (height, width, 3) uint8 of the latest state of an episode; all images have the same size."""
        self._scene, self._size, still = scene, self._size or Painter.fitting(scene), _still(episode, scene)
        if still != self._still:
            self._still, self._pictures = still, Painter(scene, self._size, self._title).follow(self._moments())
        return next(self._pictures)

    def _moments(self) -> Iterator[tuple[Scene, float]]:
        """Yield the scene to draw and its duration for each requested image."""
        while self._scene is not None:
            yield self._scene, self._scene.duration


class Screen:
    """Shows the successive episodes of one environment in a window until the user closes it.

    Args:
        title: title of the window.

    Raises:
        InputError: there is no screen.
    """

    def __init__(self, title: str) -> None:
        check_screen()
        self._title = title
        self._still: tuple[float, ...] = ()
        self._window: LiveWindow | None = None

    def show(self, episode: int, scene: Scene) -> None:
        """Show the latest state of an episode."""
        if self._window is not None and not self._window.open:
            return
        still, kept = _still(episode, scene), scene.recording
        if self._window is None or still != self._still:
            self._still = still
            self._window = LiveWindow(scene.extent, kept.radius, kept.goal, kept.goal_tolerance, kept.map, self._title)
        self._window.show(scene.at(scene.duration))

    def close(self) -> None:
        """Close the window."""
        if self._window is not None:
            self._window.close()


def _still(episode: int, scene: Scene) -> tuple[float, ...]:
    """Return values that change whenever the background must be redrawn: the episode and the current goal."""
    return episode, *scene.recording.goal[:2].tolist()
