"""TrajNet++: reads recordings stored as JSON lines.

P. Kothari, S. Kreiss, A. Alahi, "Human trajectory forecasting in crowds: a deep learning perspective", IEEE T-ITS 23(7), 2022.
Lines of the form ``{"track": {"f": frame, "p": pedestrian, "x": m, "y": m}}`` contain positions; lines of the form ``{"scene":
{..., "fps": 2.5}}`` contain the number of annotated frames per second. Frames are numbered as in the video, so the numbers of
successive annotated frames differ by more than 1.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from agora.datasets.scenes import Rows
from agora.errors import InputError
from agora.yaml_tree import read_text

_KEYS = ("f", "p", "x", "y")


def read_tracks(path: Path) -> Rows:
    """Read the tracks in a file; predicted tracks are skipped.

    Raises:
        InputError: the file is invalid; the message gives the line.
    """
    lines: list[int] = []
    rows: list[list[float]] = []
    rates: dict[float, int] = {}
    for number, text in enumerate(read_text(path).splitlines(), 1):
        if not text.strip():
            continue
        entry = _entry(text, f"{path}:{number}")
        if "scene" in entry and isinstance(entry["scene"], dict):
            if (fps := entry["scene"].get("fps")) is not None:
                rates.setdefault(_number(fps, "fps", f"{path}:{number}"), number)
        elif "prediction_number" not in entry["track"]:
            rows.append([_number(entry["track"].get(key), key, f"{path}:{number}") for key in _KEYS])
            lines.append(number)
    if not rows:
        raise InputError(f'{path}:1: expected lines {{"track": {{"f": ..., "p": ..., "x": ..., "y": ...}}}}, got none')
    if len(rates) > 1 or not all(rate > 0 for rate in rates):
        wrong, line = list(rates.items())[-1]
        raise InputError(f"{path}:{line}: fps is {wrong:g}; expected one number above 0, the same in all scenes")
    frame, who, x, y = np.array(rows).T
    steps = np.diff(np.unique(frame))
    rate = next(iter(rates), None)
    return Rows(path, lines, frame, who, x, y, None if rate is None or not len(steps) else rate * float(np.median(steps)))


def _entry(text: str, where: str) -> dict[str, Any]:
    """Return the JSON object in a line, which is a scene or a track."""
    try:
        entry = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}: not valid JSON: {error}") from error
    if not isinstance(entry, dict) or not ("scene" in entry or isinstance(entry.get("track"), dict)):
        raise InputError(f'{where}: expected {{"track": {{...}}}} or {{"scene": {{...}}}}, got {text.strip()[:60]!r}')
    return entry


def _number(value: object, key: str, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not np.isfinite(float(value)):
        raise InputError(f"{where}: {key} is {value!r}; expected a finite number")
    return float(value)
