"""Labels of planners in a run: their names, followed by @ and the level of perception if planners run at several levels.

This module composes labels and splits them, with the level that the run keeps as a field; so planners may have any name.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from agora.perception.perception import Level
from agora.registry import Named


def at_levels(
    planners: Mapping[str, Named], levels: Sequence[Level], once: Collection[str] = ()
) -> tuple[dict[str, Named], dict[str, Level]]:
    """Return every planner at every level of perception, by label, and the levels by label.

    Without levels, the planners are returned as they are, and the stages determine their perception.

    Args:
        planners: planners by name.
        levels: levels of perception.
        once: names of planners that see nobody, so all levels are equivalent; they run at the first level.
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
    """Return the name in a label. Args: label: of a planner. level: at which it runs; None if the stages set it."""
    return label if level is None else label.removesuffix(f"@{level}")
