"""``agora look``: pictures and videos from a camera on a robot."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agora.cli.options import Seed, Simulator, SuiteName

if TYPE_CHECKING:
    from agora.channels.camera import Camera
    from agora.world.start import Start

_CAMERA: dict[str, Any] = {"width": 640, "height": 480, "smooth": True}
_MOMENT = 3.0  # s
_SOON = 1e-6  # s


def look(
    suite: SuiteName,
    output: Annotated[Path, typer.Option("--output", "-o", help="Picture (.png) or video (.mp4) to write.")],
    stage: Annotated[str | None, typer.Option(help="Stage of the suite; the first by default.")] = None,
    episode: Annotated[int, typer.Option(help="Index of the episode in its stage, from 0.")] = 0,
    time: Annotated[
        float | None,
        typer.Option(help="Time of the picture, s, 3 by default; for a video, its end time.", min=0.0),
    ] = None,
    robot: Annotated[int, typer.Option(help="Index of the robot, from 0.", min=0)] = 0,
    planner: Annotated[str, typer.Option("--planner", "-p", help="Planner that drives the robots.")] = "dwa",
    camera: Annotated[
        str,
        typer.Option(
            help="Camera parameters: key=value,key=value, or ROBOT,key=value to start from the camera of a robot; by default the "
            "robot's own camera, or 640 x 480 pixels."
        ),
    ] = "",
    show: Annotated[
        str, typer.Option(help="Images to show side by side: any of rgb,depth,segmentation, separated by commas.")
    ] = "rgb",
    seed: Seed = None,
    simulator: Simulator = "",
) -> None:
    """Show what a robot's camera sees, as a picture at a given instant or as a video."""
    from dataclasses import replace

    from agora.benchmark.contest import read_benchmark
    from agora.benchmark.informed import refuse_informed
    from agora.config import parse_component
    from agora.episode import Conditions, Episodes
    from agora.errors import InputError
    from agora.planners.presets import named_planner
    from agora.tasks.suite import with_seed
    from agora.viewer.sights import Sights, save_picture

    refuse_informed(planner)
    is_film = _check(output)
    if time is not None and not math.isfinite(time):
        raise InputError(f"--time: expected a finite number of seconds, got {time}")
    chosen = with_seed(read_benchmark(suite)[0], seed)
    chosen = chosen.under(parse_component("simulators", simulator, "simulator") if simulator else None)
    place = chosen.stage(stage) if stage is not None else chosen.stages[0]
    if not 0 <= episode < place.count:
        raise InputError(f"--episode: stage {place.name!r} has episodes 0 to {place.count - 1}, got {episode}")
    start, conditions = chosen.start(place.name, episode), Conditions.of(place)
    if robot >= len(start.robots):
        raise InputError(f"--robot: expected 0 to {len(start.robots) - 1}, got {robot}")
    if time is None:
        time = start.timeout if is_film else min(_MOMENT, start.timeout)
    shorter = replace(start, timeout=min(start.timeout, time + 2.0 * conditions.periods.control))
    shutter = _Shutter(time, output if is_film else None)
    episodes = Episodes([shorter], named_planner(planner)[1].part, conditions, before=shutter.before)
    shown = [part.strip() for part in show.split(",")]
    with shutter.on(Sights(episodes.world, _camera_of(start, robot, camera), robot, shown), conditions.periods.control):
        for _ in episodes:
            pass
    if not is_film:
        save_picture(output, shutter.picture)
    typer.echo(f"{start.entry}: camera view of robot {robot} {shutter.said}, written to {output}")


class _Shutter:
    """Takes pictures between the steps of an episode: a single picture at a given time, or a video up to that time.

    Args:
        moment: time of the picture, or end time of the video, s.
        film: path of the video; None for a picture.
    """

    def __init__(self, moment: float, film: Path | None) -> None:
        self._moment, self._film, self._taken = moment, film, 0.0
        self._sights: Any = None
        self._reel: Any = None
        self._picture: Any = None

    @contextmanager
    def on(self, sights: Any, period: float) -> Iterator[None]:
        """Take pictures with ``sights``; for a video, one every ``period`` s."""
        from agora.viewer.sights import Reel

        self._sights = sights
        with Reel(self._film, sights.size, 1.0 / period) if self._film else nullcontext() as self._reel:
            yield

    def before(self, what: str) -> None:
        """Move people to their current positions, and take a picture if one is due."""
        from agora.episode import WORLD

        if what != WORLD or self._picture is not None:
            return
        self._sights.walk()
        now = self._sights.time
        if self._reel is not None and now <= self._moment + _SOON:
            self._reel.add(self._sights.picture())
            self._taken = now
        elif self._reel is None and now >= self._moment - _SOON:
            self._picture, self._taken = self._sights.picture(), now

    @property
    def picture(self) -> Any:
        """Return the picture; if the episode ended before the requested time, return the picture at the end."""
        if self._picture is None:
            self._sights.walk()
            self._picture, self._taken = self._sights.picture(), self._sights.time
        return self._picture

    @property
    def said(self) -> str:
        """Text that states the time of the picture or the end time of the video."""
        moment = f"until {self._taken:.1f} s" if self._film else f"at {self._taken:.1f} s"
        return f"{moment} (nothing visible: the camera is inside a wall or a piece of furniture)" if self._sights.buried else moment


def _check(output: Path) -> bool:
    """Check that the output can be written; return whether it is a video."""
    from agora.errors import InputError

    if output.suffix.lower() not in (".png", ".mp4"):
        raise InputError(f"--output {output}: expected a name that ends in .png or .mp4")
    folder = output.absolute().parent
    if output.is_dir() or not folder.is_dir() or not os.access(folder, os.W_OK):
        raise InputError(f"--output {output}: cannot be written; expected a file name in an existing, writable folder")
    return output.suffix.lower() == ".mp4"


def _camera_of(start: Start, robot: int, given: str) -> Camera:
    """Return the camera described by the given string, or else the robot's own camera, or else a default camera for pictures."""
    from agora.benchmark.cameras import camera_from

    own: Camera | None = start.robots[robot].model.camera
    return own if own is not None and not given else camera_from(given, _CAMERA, "--camera")
