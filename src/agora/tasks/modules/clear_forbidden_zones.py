"""A module that keeps zones of given categories clear."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from agora.interfaces import Module, ResetPlan


@dataclass(frozen=True)
class ClearForbiddenZones(Module):
    """Arena's ``clear_forbidden_zones``: clears the forbidden zones and sets them again before each reset.

    No randomly placed robot, goal, pedestrian or piece of furniture touches a zone of these categories.

    Attributes:
        category: categories of zones to keep clear; may be empty. Without this module, the only category is "forbidden".
    """

    sets: ClassVar = ("forbidden",)

    category: tuple[str, ...] = ("forbidden",)

    def before_reset(self, plan: ResetPlan) -> ResetPlan:
        """Return the plan with the stage's categories of forbidden zones replaced."""
        return replace(plan, stage=replace(plan.stage, forbidden=self.category))
