"""Labels of planners in a run: their names, and behind an @ the level of perception where each runs at several.

A label is made here and taken apart here, by the level that the run keeps as a field; a planner may be called whatever it likes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from agora.perception.perception import Level
from agora.registry import Named


def at_levels(
    planners: Mapping[str, Named], levels: Sequence[Level], once: Collection[str] = ()
) -> tuple[dict[str, Named], dict[str, Level]]:
    """Return every planner at every level of perception by its label, and the levels by these labels.

    Without levels the planners as they are: then it is the stages that say what they are told.

    Args:
        planners: planners by name.
        levels: levels of perception.
        once: names of planners that see nobody, so that one level is as good as all; they are at the first.
    """
    if not levels:
        return dict(planners), {}
    labels = {
        f"{name}@{level}": (planner, level)
        for name, planner in planners.items()
        for level in (levels[:1] if name in once else levels)
    }
    return {label: planner for label, (planner, _) in labels.items()}, {label: level for label, (_, level) in labels.items()}


def name_of(label: str, level: Level | None) -> str:
    """Return the name in a label. Args: label: of a planner. level: at which it runs; None where the stages say it."""
    return label if level is None else label.removesuffix(f"@{level}")
