"""A module that keeps some zones clear: nothing is placed in them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from agora.interfaces import Module, ResetPlan


@dataclass(frozen=True)
class ClearForbiddenZones(Module):
    """Arena's ``clear_forbidden_zones``: before each reset, forbidden zones are cleared and set again.

    No randomly placed robot, goal, pedestrian or piece of furniture touches a zone of these categories.

    Attributes:
        category: categories of zones; the category "forbidden" applies without this module too. Empty for none.
    """

    sets: ClassVar = ("forbidden",)

    category: tuple[str, ...] = ("forbidden",)

    def before_reset(self, plan: ResetPlan) -> ResetPlan:
        """Return the plan with the categories of its stage replaced."""
        return replace(plan, stage=replace(plan.stage, forbidden=self.category))
