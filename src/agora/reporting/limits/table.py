"""Writes the limits of a run as one CSV file."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path

from agora.errors import ResultsError
from agora.files import write_whole
from agora.reporting.limits.measurement import Limits

__all__ = ["COLUMNS", "limit_lines", "write_limits"]

COLUMNS = ("planner", "axis", "outcome", "unit", "d50", "d50_low", "d50_high", "bound", "score", "score_low", "score_high")


def limit_lines(found: Sequence[Limits]) -> list[dict[str, str]]:
    """Return one line per axis, outcome and planner, including the reference planners.

    ``d50`` is the limit as a value of the axis; ``d50_low`` and ``d50_high`` are the lower and upper ends of the limit's 95 %
    interval. Values beyond an end of the axis are clipped to that end; ``bound`` is ``above`` or ``below`` if the limit is beyond
    the hard or the easy end. ``score`` is the area under the curve, scaled so that the control planner has 0 and the informed robot
    has 1; it is empty if the control planner or the informed robot is missing.

    Args:
        found: limits of the planners on each axis.
    """
    lines = []
    for limits in found:
        for one in limits.limits:
            value = limits.value(min(max(one.fits.half, 0.0), 1.0))
            low, high = sorted(limits.value(min(max(end, 0.0), 1.0)) for end in one.fits.interval)
            scores = (None, None, None) if one.relative is None else (one.relative, *(one.relative_interval or (None, None)))
            numbers = ["" if number is None else f"{number:.4g}" for number in (value, low, high, *scores)]
            cells = (one.planner, limits.axis.axis, one.outcome, limits.axis.unit, *numbers[:3], one.bound, *numbers[3:])
            lines.append(dict(zip(COLUMNS, cells, strict=True)))
    return lines


def write_limits(path: Path, lines: Sequence[dict[str, str]]) -> Path:
    """Write lines of limits (`limit_lines`) to a file, replacing it if it exists, and return its path.

    Raises:
        ResultsError: the file cannot be written.
    """
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)
    try:
        write_whole(path, text.getvalue())
    except OSError as error:
        raise ResultsError(f"{path}: cannot be written: {error.strerror or error}") from error
    return path
