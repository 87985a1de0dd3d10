"""A module that keeps zones of given categories clear."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from agora.interfaces import Module, ResetPlan


@dataclass(frozen=True)
class ClearForbiddenZones(Module):
    """Arena's ``clear_forbidden_zones``: before each reset, forbidden zones are cleared and set again.

    No randomly placed robot, goal, pedestrian or piece of furniture touches a zone of these categories.

    Attributes:
        category: categories of zones; may be empty. Without this module, the category is "forbidden".
    """

    sets: ClassVar = ("forbidden",)

    category: tuple[str, ...] = ("forbidden",)

    def before_reset(self, plan: ResetPlan) -> ResetPlan:
        """Return the plan with the categories of its stage replaced."""
        return replace(plan, stage=replace(plan.stage, forbidden=self.category))
