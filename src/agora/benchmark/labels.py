"""Labels of planners in a run: the planner's name, followed by @ and the level of perception if planners run at several levels.

A label is split using the level of perception stored in the run, so planner names may contain any character.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from agora.perception.perception import Level
from agora.registry import Named


def at_levels(
    planners: Mapping[str, Named], levels: Sequence[Level], once: Collection[str] = ()
) -> tuple[dict[str, Named], dict[str, Level]]:
    """Return every planner at every level of perception, by label, and the levels by label.

    If ``levels`` is empty, the planners are returned unchanged, and the stages determine their perception.

    Args:
        planners: planners by name.
        levels: levels of perception.
        once: names of planners that do not see pedestrians; all levels are equivalent for these planners, so they run only at the
            first level.
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
    """Return the planner's name in a label; ``level`` is the planner's level of perception, or None if the stages set the level."""
    return label if level is None else label.removesuffix(f"@{level}")
