"""Writes the table that compares all crowds with recorded people, as Markdown, as JSON and as a figure."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from agora.errors import InputError
from agora.files import write_whole
from agora.reporting.statistics import Estimate
from agora.validation.scores import COLUMNS, Score
from agora.viewer.figures import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_COLOURS = "#c44e27", "#9aa5b1"


def markdown(scores: Sequence[Score]) -> str:
    """Return the table in Markdown: values with 95 % intervals in brackets, then the classifier's accuracy in each scene."""
    titles = [f"{name} ({unit})" if unit else name for name, unit in COLUMNS.items()]
    lines = [f"| | {' | '.join(titles)} |", "|" + "---|" * (len(titles) + 1)]
    for part, rows in parts(scores).items():
        lines.append(f"| **{part}** |" + " |" * len(titles))
        lines += [_row(score.name, [score.values.get(column) for column in COLUMNS]) for score in rows]
    scenes = list(dict.fromkeys(scene for score in scores for scene in score.scenes))
    if scenes:
        lines += ["", f"| told apart | {' | '.join(scenes)} |", "|" + "---|" * (len(scenes) + 1)]
        for name in dict.fromkeys(score.name for score in scores):
            found = {scene: value for score in scores if score.name == name for scene, value in score.scenes.items()}
            lines.append(_row(name, [found.get(scene) for scene in scenes]))
    return "\n".join(lines) + "\n"


def parts(scores: Sequence[Score]) -> dict[str, list[Score]]:
    """Return the lines of a table, by part."""
    return {part: [score for score in scores if score.part == part] for part in dict.fromkeys(s.part for s in scores)}


def _row(name: str, values: Sequence[Estimate | None]) -> str:
    return f"| {name} | {' | '.join(map(words, values))} |"


def words(estimate: Estimate | None) -> str:
    """Return an estimate with its interval as text, such as ``0.12 [0.10, 0.14]``; a dash if there is no estimate."""
    if estimate is None or estimate.value is None:
        return "-"
    digits = 1 if abs(estimate.value) >= 10 else 2
    value = f"{estimate.value:.{digits}f}"
    if estimate.low is None or estimate.high is None:
        return value
    return f"{value} [{estimate.low:.{digits}f}, {estimate.high:.{digits}f}]"


def write(scores: Sequence[Score], folder: Path) -> Path:
    """Write ``crowds.md``, ``crowds.json`` and ``crowds.png`` to a folder, and return the path of the figure.

    Raises:
        InputError: the folder cannot be written to.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(folder / "crowds.md", markdown(scores))
        write_whole(folder / "crowds.json", json.dumps([asdict(score) for score in scores], indent=1) + "\n")
        figure(scores).savefig(folder / "crowds.png", dpi=130)
    except OSError as error:
        raise InputError(f"{folder}: cannot be written: {error}") from error
    return folder / "crowds.png"


def figure(scores: Sequence[Score]) -> Figure:
    """Return a figure with one panel per column and one row per crowd, with intervals."""
    from matplotlib.figure import Figure

    names = list(dict.fromkeys(score.name for score in scores))
    with style():
        drawn = Figure((11.0, 1.6 + 0.36 * len(names)), layout="constrained")
        axes = drawn.subplots(2, (len(COLUMNS) + 1) // 2, sharey=True, squeeze=False).ravel()
        for panel, (column, unit) in zip(axes, COLUMNS.items(), strict=False):
            for k, rows in enumerate(parts(scores).values()):
                for score in rows:
                    found = score.values.get(column)
                    if found is None or found.value is None:
                        continue
                    row, colour = names.index(score.name) + 0.3 * k, _COLOURS[k % len(_COLOURS)]
                    panel.plot(found.value, row, "o", ms=3, color=colour)
                    if found.low is not None and found.high is not None:
                        panel.plot([found.low, found.high], [row, row], lw=1, color=colour)
            if column == "told apart":
                panel.axvline(0.5, color="black", lw=0.6)
            else:
                panel.set_xlim(left=0.0)
            panel.set(title=column, xlabel=unit, yticks=range(len(names)), yticklabels=names)
            panel.tick_params(labelsize=7)
        for panel in axes[len(COLUMNS) :]:
            panel.set_axis_off()
        axes[0].invert_yaxis()
        said = ", ".join(f"{part} {colour}" for part, colour in zip(parts(scores), ("red", "grey"), strict=False))
        drawn.suptitle(f"Crowds against recorded people: {said}", fontsize=9)
    return drawn
