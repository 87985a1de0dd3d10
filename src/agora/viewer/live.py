"""A window that shows an episode while it runs, for watching a single world; it is not optimised for speed."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from agora.core.state import Array, Doubles
from agora.errors import InputError
from agora.viewer.figures import draw_frame, draw_map, name_axes
from agora.viewer.scene import COLOURS, Extent, Frame, Scene

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.figure import Figure

    from agora.core.recording import Recording
    from agora.maps.grid import Map

INSTEAD = "record the episode instead: replays and videos do not need a screen"


class LiveWindow:
    """Shows an episode frame by frame; the user stops it by closing the window.

    Args:
        extent: rectangle to show, m.
        radius: radius of the robot, m.
        goal: (2,) goal position, or a pose, m.
        goal_tolerance: distance at which the goal counts as reached, m.
        map_: static surroundings; None if there are none.
        title: title of the window.

    Raises:
        InputError: there is no screen, or no GUI toolkit.
    """

    def __init__(
        self, extent: Extent, radius: float, goal: Array, goal_tolerance: float, map_: Map | None = None, title: str = "Agora"
    ) -> None:
        from matplotlib.patches import Circle

        self._figure = _window(title)
        self._radius = radius
        self._axes = self._figure.add_subplot()
        self._axes.set(aspect="equal", xlim=(extent.left, extent.right), ylim=(extent.bottom, extent.top))
        name_axes(self._axes, map_)
        if map_ is not None:
            draw_map(self._axes, map_, extent)
        self._axes.add_patch(Circle((float(goal[0]), float(goal[1])), goal_tolerance, fill=False, color=COLOURS["goal"], lw=1.5))
        (self._planned,) = self._axes.plot([], [], color=COLOURS["goal"], lw=1.0, ls="--")
        (self._path,) = self._axes.plot([], [], color=COLOURS["robot"], lw=1.2)
        self._drawn: list[Artist] = []
        self._travelled: list[Doubles] = []

    @property
    def open(self) -> bool:
        """True until the user closes the window."""
        import matplotlib.pyplot as plt

        return plt.fignum_exists(self._figure.number)

    def show(self, frame: Frame) -> None:
        """Show a frame in place of the previous one, and process the user's input; do nothing once the window is closed."""
        if not self.open:
            return
        for artist in self._drawn:
            artist.remove()
        self._drawn = draw_frame(self._axes, frame, self._radius)
        self._travelled.append(frame.robot[:2])
        self._path.set_data(*np.transpose(self._travelled))
        self._planned.set_data(*frame.planned.T)
        self._axes.set_title(
            f"{frame.time:.1f} s" + (f" · {frame.readings.words}" if frame.readings is not None else ""), fontsize=9
        )
        self._figure.canvas.draw_idle()
        self._figure.canvas.flush_events()

    def close(self) -> None:
        """Close the window."""
        import matplotlib.pyplot as plt

        plt.close(self._figure)


def has_screen() -> bool:
    """Return whether a screen is available."""
    return not sys.platform.startswith("linux") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def check_screen() -> None:
    """Check that a screen is available.

    Raises:
        InputError: no screen is available.
    """
    if not has_screen():
        raise InputError(f"no screen: neither DISPLAY nor WAYLAND_DISPLAY is set; {INSTEAD}")


def _window(title: str) -> Figure:
    """Return an empty figure in a window with the given title."""
    check_screen()
    import matplotlib.pyplot as plt
    from matplotlib.backends.registry import BackendFilter, backend_registry

    try:
        figure = plt.figure(num=title, figsize=(8, 6), layout="constrained", clear=True)
    except ImportError as error:
        raise InputError(f"no window can be opened: {error}; {INSTEAD}") from error
    backend = plt.get_backend().lower()
    if backend not in backend_registry.list_builtin(BackendFilter.INTERACTIVE):  # type: ignore[no-untyped-call]
        plt.close(figure)
        raise InputError(f"matplotlib's backend {backend!r} cannot open windows; install PyQt6 or python3-tk, or {INSTEAD}")
    plt.show(block=False)
    return figure


def play(recording: Recording, rate: float = 20.0, others: Sequence[Recording] = ()) -> None:
    """Show a recorded episode in a window in real time, until it ends or the window is closed.

    Args:
        recording: the episode.
        rate: frames per second.
        others: recordings of the episode's other robots.

    Raises:
        InputError: there is no screen, or no GUI toolkit.
    """
    scene = Scene(recording, others=tuple(others))
    window = LiveWindow(scene.extent, recording.radius, recording.goal, recording.goal_tolerance, recording.map)
    for time in np.arange(0.0, scene.duration + 1.0 / rate, 1.0 / rate):
        if not window.open:
            return
        window.show(scene.at(float(time)))
    window.close()
