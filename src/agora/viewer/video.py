"""Writes an episode as an MP4 video (H.264), without a screen."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from agora.core.recording import ContactKind, Outcome, Recording
from agora.core.state import Array, Doubles
from agora.errors import InputError
from agora.viewer.brush import Brush, Pixels
from agora.viewer.scene import COLOURS, FLASH, LEGEND, OUTCOME_COLOURS, STATES, Extent, Frame, Scene, mark_of, raster, states_seen
from agora.viewer.why import why

if TYPE_CHECKING:
    from agora.maps.grid import Map

Font = ImageFont.FreeTypeFont | ImageFont.ImageFont

SMOOTH = 4
"""Factor by which the background is drawn larger before it is scaled down, for smooth edges."""

LINE = 1.4
"""Half the width of the robot's path, pixels."""

HEADER, FOOTER, PAD = 60, 34, 12
"""Pixels above, below and to the sides of the scene."""

WIDEST, HIGHEST, NARROWEST = 960, 720, 740
"""Maximum width and height, and minimum width, of a video whose size is fitted to its scene, pixels."""

DASH = 7.0
"""Length of the dashes of the planned path and of the gaps between them, pixels."""

LEGIBLE = 8.0
"""Minimum radius at which a body shows the letter of its state, pixels."""

READINGS = 470
"""Width of the dials' text, pixels; states are explained next to it if there is space, otherwise below the scene."""

CAPTION = 19
"""Height of a line of the text below the scene, pixels."""


@dataclass(frozen=True, eq=False)
class Painter:
    """Draws the frames of a scene; each frame depends only on its time.

    Attributes:
        scene: scene to draw.
        size: width and height in pixels.
        title: text at the top left.
        colours: colour ``#rrggbb`` of each role.
        caption: text below the scene, shown from the last sample onwards.
    """

    scene: Scene
    size: tuple[int, int] = (960, 720)
    title: str = ""
    colours: Mapping[str, str] = field(default_factory=lambda: COLOURS)
    caption: str = ""

    @staticmethod
    def fitting(scene: Scene, caption: str = "") -> tuple[int, int]:
        """Return the width and height in pixels, both even, of a video that fits the scene and its caption."""
        extent = scene.extent
        wide, high = extent.right - extent.left, extent.top - extent.bottom
        scale = min((WIDEST - 2 * PAD) / wide, (HIGHEST - HEADER - FOOTER) / high)
        width = max(NARROWEST, math.ceil(wide * scale) + 2 * PAD)
        (_, below), words = _states(scene, width), _lines(caption.split(), width)
        rest = HEADER + FOOTER + CAPTION * (len(below) + len(words))
        return width + width % 2, 2 * math.ceil((high * scale + rest) / 2)

    @cached_property
    def _caption(self) -> list[str]:
        return _lines(self.caption.split(), self.size[0])

    @cached_property
    def _explained(self) -> tuple[list[str], list[str]]:
        """The explanation of the letters for social states: lines next to the dials, and lines below the scene."""
        return _states(self.scene, self.size[0])

    @property
    def _below(self) -> int:
        """The number of pixels below the scene."""
        return FOOTER + CAPTION * (len(self._caption) + len(self._explained[1]))

    @cached_property
    def scale(self) -> float:
        """Pixels per metre."""
        extent, (width, height) = self.scene.extent, self.size
        high = max(height - HEADER - self._below, 1)
        return min((width - 2 * PAD) / (extent.right - extent.left), high / (extent.top - extent.bottom))

    def pixel(self, places: Array, scale: float = 1.0) -> Doubles:
        """Return the pixels (..., 2) of positions (..., 2) in m, with x to the right and y down, in a picture ``scale`` times as
        large.
        """
        extent, (width, height) = self.scene.extent, self.size
        middle = np.array([extent.left + extent.right, extent.bottom + extent.top]) / 2
        centre = np.array([width / 2, HEADER + (height - HEADER - self._below) / 2])
        pixels: Doubles = ((np.asarray(places, float)[..., :2] - middle) * (self.scale, -self.scale) + centre) * scale
        return pixels

    @property
    def _stage(self) -> tuple[int, int]:
        """The first row of the scene, and the row after its last row."""
        return HEADER - 6, self.size[1] - self._below + 6

    @property
    def _visible(self) -> Extent:
        """The visible extent, widened to the picture's shape."""
        extent, (wide, high) = self.scene.extent, (v / self.scale / 2 for v in self.size)
        x, y = (extent.left + extent.right) / 2, (extent.bottom + extent.top) / 2
        return Extent(x - wide, y - high, x + wide, y + high)

    def frames(self, times: Iterable[float]) -> Iterator[Pixels]:
        """Yield (height, width, 3) pixels for ascending times, s; from the last sample onwards, they show the outcome."""
        return self.follow((self.scene, time) for time in times)

    def follow(self, moments: Iterable[tuple[Scene, float]]) -> Iterator[Pixels]:
        """Yield pixels as `frames` does, for an episode that runs while it is drawn; each scene contains the part of the episode
        that is known at the scene's time.

        Args:
            moments: scenes of the painter's episode, and ascending times, s.
        """
        ground = self._ground.copy()
        travelled = Brush(ground, *self._stage, layer=True)
        drawn = 1
        for scene, time in moments:
            path = self.pixel(scene.path(time))
            for start, end in zip(path[drawn - 1 : -2], path[drawn:-1], strict=True):
                travelled.lines(start, end, LINE, self.colours["robot"])
            drawn = max(drawn, len(path) - 1)
            pixels = ground.copy()
            Brush(pixels, *self._stage).lines(path[-2], path[-1], LINE, self.colours["robot"])
            yield self._frame(pixels, scene, scene.at(time))

    def _frame(self, pixels: Pixels, scene: Scene, moment: Frame) -> Pixels:
        """Draw the moving bodies on top of the ground and the path."""
        brush, colours, radius = Brush(pixels, *self._stage), self.colours, scene.recording.radius
        for near, far, beyond, other in map(self.pixel, scene.leaves(moment.time)):
            wide = max(0.5 * float(np.hypot(*(other - near))), 1.5)
            brush.lines((near + other)[None] / 2, (far + beyond)[None] / 2, wide, colours["wall"])
        self._planned(brush, moment.planned)
        trail = self.pixel(moment.trail)
        brush.discs(trail, max(1.6, 0.07 * self.scale), colours["pedestrian"], 0.8 * (1 - moment.trail[:, 2]))
        states = moment.state
        marks = None if states is None else [mark_of(state) for state in states]
        each = None if marks is None else [colour for colour, _ in marks]
        self._bodies(brush, moment.position, moment.heading, moment.radius, colours["pedestrian"], each)
        self._letters(pixels, moment, marks or ())
        own, others = moment.outlines[:1], moment.outlines[1:]
        self._bodies(brush, moment.others[:, :2], moment.others[:, 2], moment.others[:, 3], colours["others"], outlines=others)
        self._bodies(brush, moment.robot[None, :2], moment.robot[2:], np.array([radius]), colours["robot"], outlines=own)
        for contact in moment.contacts:
            at, arm = self.pixel(np.array([contact.x, contact.y])), 0.5 * radius * self.scale
            party = (moment.id == contact.party) & (contact.kind == ContactKind.PEDESTRIAN)
            brush.rings(self.pixel(moment.position[party]), moment.radius[party] * self.scale, 3.0, colours["contact"])
            for colour, wide in ((colours["ground"], 3.0), (colours["contact"], 1.6)):
                ends = [at + (-arm, -arm), at + (-arm, arm)], [at + (arm, arm), at + (arm, -arm)]
                brush.lines(*ends, wide, colour)
            age = (moment.time - contact.time) / FLASH
            if age < 1:
                brush.rings(at, radius * self.scale * (1.2 + 2 * age), 5.0, colours["contact"], 1 - max(age, 0.0))
        self._words(pixels, scene, moment)
        return pixels

    def _planned(self, brush: Brush, path: Doubles) -> None:
        """Draw the planned path, dashed."""
        if len(path) < 2:
            return
        points = self.pixel(path)
        along = np.concatenate(([0.0], np.cumsum(np.hypot(*np.diff(points, axis=0).T))))
        ends = np.unique(np.concatenate((along, np.arange(0.0, along[-1], DASH))))
        at = np.stack([np.interp(ends, along, axis) for axis in points.T], axis=1)
        drawn = (ends[:-1] + ends[1:]) / 2 % (2 * DASH) < DASH
        brush.lines(at[:-1][drawn], at[1:][drawn], 0.8, self.colours["goal"])

    def _bodies(
        self,
        brush: Brush,
        place: Array,
        heading: Array,
        radius: Array,
        colour: str,
        each: Sequence[str] | None = None,
        outlines: Sequence[Doubles | None] = (),
    ) -> None:
        """Draw bodies, in a single colour or each in its own colour, with a mark for the heading; bodies without an outline are
        drawn as discs.
        """
        edge, ahead = self.colours["ground"], np.stack([np.cos(heading), np.sin(heading)], axis=1)
        front, disc = np.array(radius, np.float64), np.ones(len(place), np.bool_)
        at, size = self.pixel(place), np.maximum(radius * self.scale, 1.5)
        for k, outline in enumerate(outlines):
            if outline is not None:
                corners, disc[k] = self.pixel(outline), False
                front[k] = ((outline - place[k]) @ ahead[k]).max()
                brush.polygon(corners, colour)
                brush.lines(corners, np.roll(corners, -1, axis=0), 0.5, edge)
        for one in dict.fromkeys(each or [colour]):
            ours = disc if each is None else np.array([c == one for c in each], np.bool_)
            brush.discs(at[ours], size[ours], one)
        brush.rings(at[disc], size[disc] + 0.5, 1.0, edge)
        tip = at + ahead * (1.0, -1.0) * np.maximum(front * self.scale, 1.5)[:, None]
        brush.lines(at, tip, np.maximum(0.11 * size, 0.8), edge)

    def _letters(self, pixels: Pixels, moment: Frame, marks: Sequence[tuple[str, str]]) -> None:
        """Draw the letter of each pedestrian's social state, on the back half of its disc."""
        size = moment.radius * self.scale
        behind = np.stack([np.cos(moment.heading), -np.sin(moment.heading)], axis=1) * 0.4 * size[:, None]
        for (x, y), tall, (_, letter) in zip(self.pixel(moment.position) - behind, size, marks, strict=False):
            if letter and tall >= LEGIBLE and 0 <= x < self.size[0] and self._stage[0] <= y < self._stage[1]:
                font = ImageFont.load_default(round(0.9 * float(tall)))
                left, top, right, bottom = font.getbbox(letter)
                _write(pixels, (round(x - (left + right) / 2), round(y - (top + bottom) / 2)), letter, COLOURS["ink"], font)

    @cached_property
    def _ground(self) -> Pixels:
        """Draw the static background: walls, goal, start, title, scale and legend."""
        scene, colours = self.scene, self.colours
        big = Image.new("RGB", (self.size[0] * SMOOTH, self.size[1] * SMOOTH), colours["ground"])
        if scene.recording.map is not None:
            self._walls(big, scene.recording.map)
        image = big.reduce(SMOOTH)
        width, height = self.size
        draw, font = ImageDraw.Draw(image), ImageFont.load_default(14)
        draw.rectangle((0, 0, width, HEADER - 6), fill=colours["ground"])
        draw.rectangle((0, height - self._below + 6, width, height), fill=colours["ground"])
        draw.text((PAD, 9), self.title, fill=colours["ink"], font=ImageFont.load_default(17))
        metres = next((m for m in (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50) if m * self.scale >= 40), 100)
        draw.line((PAD, height - 10, PAD + metres * self.scale, height - 10), fill=colours["faint"], width=2)
        draw.text((PAD, height - 28), f"{metres} m", fill=colours["faint"], font=font)
        pixels = np.array(image)
        brush = Brush(pixels)
        goal, tolerance = self.pixel(scene.recording.goal), scene.recording.goal_tolerance * self.scale
        brush.rings(goal, tolerance, 2.5, colours["goal"])
        brush.discs(goal, max(0.35 * tolerance, 2.5), colours["goal"])
        brush.rings(self.pixel(scene.recording.pose[0]), 0.3 * scene.recording.radius * self.scale, 1.5, colours["robot"])
        self._legend(pixels, font)
        beside, below = self._explained
        for line in beside:
            _write(pixels, (width - PAD - math.ceil(font.getlength(line)), 32), line, colours["faint"], font)
        for number, line in enumerate(below):
            _write(pixels, (PAD, height - self._below + CAPTION * number + 4), line, colours["faint"], font)
        return pixels

    def _walls(self, big: Image.Image, map_: Map) -> None:
        """Draw the map, ``SMOOTH`` times larger."""
        wall, draw = self.colours["wall"], ImageDraw.Draw(big)
        for colour, kind in ((self.colours["unknown"], map_.unknown), (wall, map_.occupied)):
            cut = None if kind is None else raster(map_, self._visible, cells=kind)
            if cut is not None:
                cells, extent = cut
                (left, bottom), (right, top) = np.rint(self.pixel(np.reshape(extent, (2, 2)), SMOOTH)).astype(int).tolist()
                shape = max(right - left, 1), max(bottom - top, 1)
                mask = Image.fromarray(cells[::-1].astype(np.uint8) * 255).resize(shape, Image.Resampling.NEAREST)
                big.paste(colour, (left, top), mask)
        for polygon in map_.polygons:
            draw.polygon([tuple(p) for p in self.pixel(polygon, SMOOTH).tolist()], fill=wall)
        for x, y, radius in np.reshape(map_.discs, (-1, 3)):
            draw.circle(self.pixel(np.array([x, y]), SMOOTH).tolist(), radius * self.scale * SMOOTH, fill=wall)
        for segment in np.reshape(map_.segments, (-1, 2, 2)):
            draw.line([tuple(p) for p in self.pixel(segment, SMOOTH).tolist()], fill=wall, width=3 * SMOOTH)

    def _legend(self, pixels: Pixels, font: Font) -> None:
        """Draw the legend's symbols and texts at the lower right."""
        x, y = self.size[0] - PAD, self.size[1] - 14
        for role, words in reversed(LEGEND):
            x -= math.ceil(font.getlength(words))
            _write(pixels, (x, y - 9), words, self.colours["faint"], font)
            x -= 12
            Brush(pixels).discs((x, y), 5.0, self.colours[role])
            x -= 20

    def _words(self, pixels: Pixels, scene: Scene, moment: Frame) -> None:
        """Write the dials at the upper left and the time at the upper right. Once the episode has ended, also write the outcome
        next to the time, and the caption below the scene.
        """
        font, small, end = ImageFont.load_default(17), ImageFont.load_default(14), scene.duration
        if moment.readings is not None:
            _write(pixels, (PAD, 32), moment.readings.words, self.colours["faint"], small)
        words = f"{min(moment.time, end):.1f} s"
        x = self.size[0] - PAD - 70
        _write(pixels, (self.size[0] - PAD - math.ceil(font.getlength(words)), 9), words, self.colours["ink"], font)
        if scene.ended and moment.time >= end - 1e-9:
            label = scene.recording.outcome.label
            words = label.replace("_", " ")
            x -= math.ceil(font.getlength(words))
            _write(pixels, (x, 9), words, self.colours["ink"], font)
            Brush(pixels).discs((x - 14, 20), 7.0, OUTCOME_COLOURS[label])
            for number, line in enumerate(self._caption):
                y = self.size[1] - FOOTER - CAPTION * (len(self._caption) - number) + 4
                _write(pixels, (PAD, y), line, self.colours["ink"], small)


def write_video(
    path: Path,
    recording: Recording,
    *,
    fps: int = 25,
    size: tuple[int, int] | None = None,
    speed: float = 1.0,
    hold: float | None = None,
    focus: float | None = None,
    title: str = "",
    colours: Mapping[str, str] = COLOURS,
    progress: Callable[[int, int], None] | None = None,
    others: Sequence[Recording] = (),
) -> Path:
    """Write an episode as an MP4 file that browsers and presentation programs can play.

    Args:
        path: path of the video, which must end in ``.mp4``; the file appears when it is complete.
        recording: the episode.
        fps: frames per second.
        size: width and height in pixels, both even; None to fit the scene, at most 960 x 720 plus the text below it.
        speed: simulated seconds per second of video.
        hold: time for which the last frame, with the outcome, is held, s; None for 1 s, or 4 s if it explains why the robot failed.
        focus: distance around the robot's path and goal that is shown, m; None to show everything.
        title: text at the top.
        colours: colour of each role: `agora.viewer.scene.COLOURS` or ``DARK``.
        progress: function called with the number of frames written and the total number of frames.
        others: recordings of the episode's other robots.

    Raises:
        InputError: the size, rate or file name is not valid for a video.
    """
    if path.suffix.lower() != ".mp4":
        raise InputError(f"{path}: a video's file name must end in .mp4")
    caption = "" if recording.outcome is Outcome.REACHED else why(recording).words
    scene = Scene(recording, focus, tuple(others))
    size = Painter.fitting(scene, caption) if size is None else size
    hold = (4.0 if caption else 1.0) if hold is None else hold
    if min(size) < 160 or size[0] % 2 or size[1] % 2:
        raise InputError(f"video size: expected an even width and height of at least 160, got {size[0]}x{size[1]}")
    if fps < 1 or not speed > 0 or not hold >= 0:
        raise InputError(f"fps {fps}, speed {speed}, hold {hold}: expected fps >= 1, speed > 0 and hold >= 0")
    painter = Painter(scene, size, title, colours, caption)
    times = frame_times(scene.duration, fps, speed, hold)
    part = path.with_name(f".{path.stem}.part.mp4")
    try:
        _encode(part, painter, times, fps, progress)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    return path


def frame_times(duration: float, fps: int, speed: float, hold: float) -> Doubles:
    """Return the simulated time of each frame, s: every ``speed / fps``, the end itself, and copies of the end."""
    moving = np.arange(math.ceil(duration * fps / speed - 1e-6)) * (speed / fps)
    return np.append(moving, np.full(1 + round(hold * fps), duration))


def _encode(path: Path, painter: Painter, times: Doubles, fps: int, progress: Callable[[int, int], None] | None) -> None:
    """Draw and compress all frames."""
    import av

    with av.open(str(path), "w", options={"movflags": "+faststart", "fflags": "+bitexact"}) as container:
        stream = container.add_stream("libx264", rate=fps, options={"preset": "veryfast", "crf": "20", "threads": "2"})
        stream.width, stream.height = painter.size
        stream.pix_fmt = "yuv420p"
        stream.time_base = Fraction(1, fps)
        for index, pixels in enumerate(painter.frames(times)):
            frame = av.VideoFrame.from_ndarray(pixels, format="rgb24")
            frame.pts = index
            container.mux(stream.encode(frame))
            if progress is not None:
                progress(index + 1, len(times))
        container.mux(stream.encode())


def _states(scene: Scene, width: int) -> tuple[list[str], list[str]]:
    """Return the explanation of the letters for an episode's social states: a line next to the dials if it fits, otherwise lines
    below the scene.
    """
    words = [f"{STATES[name][1]} {name}" for name in states_seen([scene.recording])]
    fits = ImageFont.load_default(14).getlength("   ".join(words)) < width - PAD - READINGS
    return (["   ".join(words)], []) if fits else ([], _lines(words, width, "   "))


def _lines(words: Sequence[str], width: int, gap: str = " ") -> list[str]:
    """Return entries broken into lines no wider than a picture, with a gap between entries."""
    font, lines = ImageFont.load_default(14), [""]
    for word in words:
        longer = f"{lines[-1]}{gap}{word}" if lines[-1] else word
        if font.getlength(longer) > width - 2 * PAD and lines[-1]:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines if words else []


def _write(pixels: Pixels, at: tuple[int, int], words: str, colour: str, font: Font) -> None:
    """Write text into the pixels, with its upper left corner at ``at``."""
    if not words:
        return
    x, y = max(at[0], 0), at[1]
    width, height = math.ceil(font.getlength(words)) + 2, 24
    patch = Image.fromarray(np.ascontiguousarray(pixels[y : y + height, x : x + width]))
    ImageDraw.Draw(patch).text((0, 0), words, fill=colour, font=font)
    pixels[y : y + height, x : x + width] = np.asarray(patch)
