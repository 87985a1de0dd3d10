"""The table of all crowds against recorded people: as text, as numbers, and as a picture."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from agora.benchmark.statistics import Estimate
from agora.errors import InputError
from agora.validation.scores import COLUMNS, SPLITS, Score

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_COLOURS = {"training": "#9aa5b1", "held_out": "#c44e27"}


def markdown(scores: Sequence[Score]) -> str:
    """Return one table with a part for each split: values, and intervals of 95 % in brackets."""
    titles = [f"{name} ({unit})" if unit else name for name, unit in COLUMNS.items()]
    lines = [f"| | {' | '.join(titles)} |", "|" + "---|" * (len(titles) + 1)]
    for split, scenes in SPLITS.items():
        lines.append(f"| **{split.replace('_', ' ')}**: {', '.join(scenes)} |" + " |" * len(titles))
        for score in scores:
            if score.split == split:
                cells = [words(score.values.get(column)) for column in COLUMNS]
                lines.append(f"| {score.name} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def words(estimate: Estimate | None) -> str:
    """An estimate with its interval, as ``0.12 [0.10, 0.14]``; a dash where there is none."""
    if estimate is None or estimate.value is None:
        return "-"
    digits = 1 if abs(estimate.value) >= 10 else 2
    value = f"{estimate.value:.{digits}f}"
    if estimate.low is None or estimate.high is None:
        return value
    return f"{value} [{estimate.low:.{digits}f}, {estimate.high:.{digits}f}]"


def write(scores: Sequence[Score], folder: Path) -> Path:
    """Write ``crowds.md``, ``crowds.json`` and ``crowds.png`` into a folder, and return the picture's path.

    Raises:
        InputError: the folder cannot be written to.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "crowds.md").write_text(markdown(scores), encoding="utf-8")
        (folder / "crowds.json").write_text(json.dumps([asdict(score) for score in scores], indent=1) + "\n", encoding="utf-8")
        figure(scores).savefig(folder / "crowds.png", dpi=130)
    except OSError as error:
        raise InputError(f"{folder}: cannot be written: {error}") from error
    return folder / "crowds.png"


def figure(scores: Sequence[Score]) -> Figure:
    """Return the picture: a panel a column, a row a crowd, with intervals."""
    from matplotlib.figure import Figure

    from agora.viewer.figures import style

    names = list(dict.fromkeys(score.name for score in scores))
    with style():
        drawn = Figure((11.0, 1.6 + 0.36 * len(names)), layout="constrained")
        axes = drawn.subplots(2, (len(COLUMNS) + 1) // 2, sharey=True, squeeze=False).ravel()
        for panel, (column, unit) in zip(axes, COLUMNS.items(), strict=False):
            for split, shift in zip(SPLITS, (-0.16, 0.16), strict=True):
                for score in scores:
                    found = score.values.get(column)
                    if score.split != split or found is None or found.value is None:
                        continue
                    row, colour = names.index(score.name) + shift, _COLOURS[split]
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
        drawn.suptitle("Crowds against recorded people: training scenes grey, held-out scenes red", fontsize=9)
    return drawn
