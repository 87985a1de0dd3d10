"""Replays recorded episodes in a browser, as a single self-contained page that does not need a server or downloads."""

from __future__ import annotations

import base64
import functools
import io
import json
import re
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from agora.core.recording import Closer, Contact, ContactKind, Outcome, Recording
from agora.core.state import SOCIAL_STATES, Array, Bools, Doubles
from agora.errors import InputError
from agora.files import write_whole
from agora.metrics.blame import is_avoidable
from agora.metrics.quantities.outline import corners as footprint
from agora.viewer.planned import corners, paths
from agora.viewer.scene import (
    COLOURS,
    DARK,
    FAMILIES,
    FLASH,
    LEGEND,
    OUTCOME_COLOURS,
    STATES,
    TRAIL_LENGTH,
    TRAIL_STEP,
    Scene,
    mark_of,
    raster,
    states_seen,
)
from agora.viewer.why import why

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

    from agora.maps.grid import Map

__all__ = ["write_replay"]

FINEST, STEPS = 0.005, 65000
"""Unit to which positions are rounded, m, and the maximum number of units along an axis, above which a coarser unit is used."""

TURN = 1024
"""Number of steps per turn to which headings are rounded."""

GAP, NO_GAP = 0.01, 32767
"""Unit to which gaps are rounded, m, and the number that stands for "nothing near"."""

COMMAND = 0.001
"""Unit to which commands are rounded, m/s and rad/s."""

EXTRA = 5
"""Number of channels between those of the robot's pose and those of the pedestrians: gaps to people and walls, and vx, vy and omega
of the command."""

PATH = 0.02
"""Accuracy with which a planned path is drawn, m."""

LEAD = 5.0
"""Time before the decisive time of a failure at which the failure's replay starts, s."""


def replay_html(recordings: Mapping[str, Recording], *, rate: float = 10.0, titles: Mapping[str, str] | None = None) -> Markup:
    """Return an HTML fragment with style, script and data that replays the episodes; the keys of ``recordings`` are their names.

    Args:
        recordings: recordings by name; there must be at least one.
        rate: maximum number of samples per second to keep; the page interpolates linearly between samples.
        titles: titles by name; an episode without a title is titled with its name.

    Raises:
        InputError: there are no recordings, or one has no samples.
    """
    from markupsafe import Markup

    data = replay_data(recordings, rate=rate, titles=titles)
    page = templates()
    return Markup(  # noqa: S704 - the template escapes what it is given
        page.get_template("replay.html").render(
            episodes=data["episodes"],
            legend=LEGEND,
            states=[(FAMILIES[STATES[name][0]], STATES[name][1], name) for name in states_seen(recordings.values())],
            data=embed(data),
            css=source("replay.css"),
            script=module("track.js", "painter.js", "replay.js"),
        )
    )


def replay_data(
    recordings: Mapping[str, Recording], *, rate: float = 10.0, titles: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Return the replay's data as plain data for JSON; the arguments are those of `replay_html`.

    Raises:
        InputError: there are no recordings, or one has no samples.
    """
    if not recordings:
        raise InputError("no recordings to replay")
    maps: dict[str, int] = {}
    episodes = []
    for name, recording in recordings.items():
        drawn = -1
        if recording.map is not None:
            drawn = maps.setdefault(json.dumps(encode_map(recording.map)), len(maps))
        title = (titles or {}).get(name, name)
        episodes.append({"name": name, "title": title, "map": drawn, **encode(recording, rate)})
    return {
        "colours": {"light": COLOURS, "dark": DARK},
        "outcomes": OUTCOME_COLOURS,
        "units": {"gap": GAP, "none": NO_GAP, "command": COMMAND, "extra": EXTRA},
        "trail": [TRAIL_LENGTH, TRAIL_STEP],
        "flash": FLASH,
        "states": [mark_of(number) for number in range(len(SOCIAL_STATES))],
        "maps": [json.loads(text) for text in maps],
        "episodes": episodes,
    }


def write_replay(
    path: Path,
    recordings: Mapping[str, Recording],
    *,
    title: str = "Replay",
    rate: float = 10.0,
    titles: Mapping[str, str] | None = None,
) -> Path:
    """Write a page that replays the episodes; it can be opened from disk in any browser released since 2023. ``titles`` is as in
    `replay_html`.

    Raises:
        InputError: there are no recordings, or one has no samples; nothing is written.
    """
    replay = replay_html(recordings, rate=rate, titles=titles)
    page = templates().get_template("page.html").render(title=title, css=source("page.css"), replay=replay)
    write_whole(path, page)
    return path


@functools.cache
def templates() -> Environment:
    """Return the package's HTML templates, each compiled once; all values inserted into them are escaped."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    loader = PackageLoader("agora.viewer", "templates")
    return Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)


def source(name: str) -> Markup:
    """Return one of Agora's style sheets or scripts, for inclusion in a page."""
    from importlib.resources import files

    from markupsafe import Markup

    return Markup(files("agora.viewer").joinpath("templates", name).read_text(encoding="utf-8"))  # noqa: S704 - our own file


def module(*names: str) -> Markup:
    """Return several of Agora's JavaScript modules as a single script for inclusion in a page. Each module may use the modules
    before it; imports are removed.
    """
    from markupsafe import Markup

    return Markup("").join(Markup(re.sub(r"^import .*\n", "", source(name), flags=re.M)) for name in names)  # noqa: S704 - our own files


def embed(data: Any) -> Markup:
    """Return data as JSON that cannot end the enclosing script element."""
    from markupsafe import Markup

    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))  # noqa: S704 - escaped here


def encode(recording: Recording, rate: float = 10.0) -> dict[str, Any]:
    """Return an episode in the format used by the page.

    ``data`` is a base64-encoded zlib stream. It contains the low bytes, then the high bytes, then the presence bits (pedestrian by
    pedestrian) and, if there are social states, one byte per sample (pedestrian by pedestrian). The low and high bytes are those of
    16-bit numbers, channel by channel (time; the robot's x, y, heading; the gaps to people and to walls; vx, vy, omega of the
    command; every pedestrian's x; y; heading), stored as second differences in time, modulo 2^16. ``time_unit``, ``unit`` and
    ``origin``, ``turn``, `GAP` and `COMMAND` convert them to s, m, rad. Gaps and commands may be negative.
    """
    scene, ended, outline = Scene(recording), why(recording), footprint(recording)
    extent, keep = scene.extent, _thinned(recording.time, rate)
    unit = max(FINEST, (extent.right - extent.left) / STEPS, (extent.top - extent.bottom) / STEPS)
    time_unit = max(0.001, float(recording.time[-1]) / STEPS)
    return {
        "outcome": recording.outcome.label,
        "why": ended.words,
        "from": 0.0 if recording.outcome is Outcome.REACHED and ended.time == recording.time[-1] else _lead(ended.time),
        "paths": [[round(since, 3), corners(path, PATH).round(2).tolist()] for since, path in paths(recording)],
        "outline": [] if outline is None else outline.round(3).tolist(),
        "commands": recording.command is not None,
        "extent": [round(v, 3) for v in extent],
        "goal": [round(float(v), 3) for v in recording.goal[:2]],
        "tolerance": float(recording.goal_tolerance),
        "radius": float(recording.radius),
        "contacts": [
            [round(float(c.time), 3), int(c.kind), int(c.party), round(float(c.x), 3), round(float(c.y), 3), _blame(recording, c)]
            for c in recording.contacts
        ],
        "door": _door(recording, keep),
        "samples": len(keep),
        "states": recording.pedestrian_state is not None,
        "radii": [round(float(r), 3) for r in recording.pedestrian_radius],
        "ids": [int(i) for i in recording.pedestrian_id],
        "origin": [float(v) for v in extent[:2]],
        "unit": unit,
        "time_unit": time_unit,
        "turn": TURN,
        "data": base64.b64encode(zlib.compress(_data(scene, keep, unit, time_unit), 9)).decode(),
    }


def _lead(time: float) -> float:
    """Return the time at which the replay of an episode starts, given its decisive time, s."""
    return round(max(0.0, time - LEAD), 3)


def _data(scene: Scene, keep: Array, unit: float, time_unit: float) -> bytes:
    """Return the bytes described in `encode` for the samples that are kept."""
    recording, origin = scene.recording, np.array(scene.extent[:2])
    present = np.asarray(recording.pedestrian_present, bool)[keep]
    held = _held(present)
    people = np.take_along_axis(recording.pedestrian_position[keep], held[..., None], axis=0)
    people = np.where(np.any(present, axis=0).reshape(-1, 1), people, origin)
    heading = np.take_along_axis(recording.pedestrian_heading[keep], held, axis=0)
    pose = recording.pose[keep]
    channels = np.concatenate(
        [
            recording.time[keep][None] / time_unit,
            (pose[:, :2] - origin).T / unit,
            pose[None, :, 2] * (TURN / (2 * np.pi)),
            *(_rounded(gap[keep])[None] for gap in scene.gaps),
            _commands(recording)[keep].T / COMMAND,
            ((people - origin) / unit).transpose(2, 1, 0).reshape(-1, len(keep)),
            heading.T * (TURN / (2 * np.pi)),
        ]
    )
    words = np.rint(channels).astype(np.int64)
    for _ in range(2):
        words = np.diff(words, axis=1, prepend=0)
    parts = [words & 255, words >> 8 & 255, np.packbits(present.T)]
    parts += [] if recording.pedestrian_state is None else [np.where(present, recording.pedestrian_state[keep], 0).T]
    return b"".join(part.astype(np.uint8).tobytes() for part in parts)


def _rounded(gap: Doubles) -> Doubles:
    """Return gaps in units of `GAP`, limited to 16 bits."""
    near = np.isfinite(gap)
    return np.where(near, np.clip(np.where(near, gap, 0.0) / GAP, 1 - NO_GAP, NO_GAP - 1), NO_GAP)


def _commands(recording: Recording) -> Doubles:
    """Return the command (T, 3) at each sample, limited to 16 bits; zeros if commands were not recorded."""
    if recording.command is None or not len(recording.command):
        return np.zeros((len(recording.time), 3))
    most = COMMAND * (NO_GAP - 1)
    return np.clip(np.concatenate((recording.command, recording.command[-1:])), -most, most)


def _door(recording: Recording, keep: Array) -> dict[str, Any] | None:
    """Return the ends of the map's door and its opening at each kept sample; None if there is no door."""
    if recording.door is None or recording.map is None or recording.map.door is None:
        return None
    door = recording.map.door
    return {"ends": door.ends.round(3).tolist(), "thickness": door.thickness, "open": recording.door[keep].round(3).tolist()}


def _blame(recording: Recording, contact: Contact) -> str:
    """Return a text that states who closed the gap before a contact, and whether the robot could have avoided it; empty if this is
    unknown.
    """
    if contact.closing is None:
        return ""
    closer = contact.closing.closer
    other = "other robot" if contact.kind == ContactKind.ROBOT else "person"
    who = {Closer.ROBOT: "robot", Closer.PERSON: other, Closer.BOTH: "both"}[closer]
    how = "robot standing still" if contact.closing.standing else f"robot {contact.closing.share:.0%}"
    words = f"gap closed by {who} ({how})"
    could = is_avoidable(recording, contact)
    return words if could is None else f"{words}, {'avoidable' if could else 'not avoidable'}"


def encode_map(map_: Map) -> dict[str, Any]:
    """Return a map in the format used by the page: an image of its cells, opaque where occupied, and its other shapes, rounded to
    mm.
    """
    shapes = {
        "segments": np.reshape(map_.segments, (-1, 4)).astype(float).round(3).tolist(),
        "discs": np.reshape(map_.discs, (-1, 3)).astype(float).round(3).tolist(),
        "polygons": [np.reshape(polygon, (-1, 2)).astype(float).round(3).tolist() for polygon in map_.polygons],
    }
    cut = raster(map_)
    if cut is None:
        return {"cells": "", **shapes}
    cells, extent = cut
    return {"cells": f"data:image/png;base64,{base64.b64encode(_png(cells)).decode()}", "extent": list(extent), **shapes}


def _png(cells: Bools) -> bytes:
    """Return a PNG with one bit per cell, highest row first, in which free cells are transparent."""
    from PIL import Image

    picture = Image.fromarray(cells[::-1].astype(np.uint8), mode="P")
    picture.putpalette([255, 255, 255, 0, 0, 0])
    file = io.BytesIO()
    picture.save(file, "PNG", bits=1, transparency=0, optimize=True)
    return file.getvalue()


def _thinned(time: Doubles, rate: float) -> Array:
    """Return which samples to keep: every k-th sample and the last."""
    if not rate > 0:
        raise InputError(f"rate: expected a positive number of samples per second, got {rate}")
    last = len(time) - 1
    every = 1 if last == 0 else max(1, int(1.001 * last / max(rate * float(time[-1] - time[0]), 1e-9)))
    return np.append(np.arange(0, last, every), last)


def _held(present: Bools) -> Array:
    """Return, for each sample and pedestrian (T, P), the index of the sample whose values are used: the sample itself if the
    pedestrian is present; otherwise, the last earlier sample at which the pedestrian was present or, if there is none, the first
    such sample.
    """
    samples = np.arange(len(present))[:, None]
    before = np.maximum.accumulate(np.where(present, samples, 0), axis=0)
    return np.maximum(before, present.argmax(axis=0) if len(present) else 0)
