"""A base class for encodings whose actions are settings of a planner; the planner computes the twists."""

from __future__ import annotations

from abc import abstractmethod

from agora.core.state import Array, Floats
from agora.errors import InputError
from agora.interfaces import Limits
from agora.policies.encoding import EncodingBase
from agora.registry import name_of

__all__ = ["PlannerSettings"]


class PlannerSettings(EncodingBase):
    """A base class for encodings whose actions are settings of a planner. Twists and actions cannot be converted to each other."""

    @abstractmethod
    def settings(self, actions: Array) -> dict[str, Floats]:
        """Return the settings (N,) given by actions (N, A), by name."""

    def twists(self, actions: Array, limits: Limits, pose: Floats, goal: Floats) -> Floats:
        """Raise an error, because only a planner can compute twists from settings."""
        raise InputError(f"{self._name}: actions are settings of a planner, not twists; planners such as 'applr' drive by them")

    def actions(self, twists: Array, limits: Limits, pose: Floats, goal: Floats) -> Floats:
        """Raise an error, because many different settings lead to the same twist."""
        raise InputError(f"{self._name}: the settings of a planner cannot be derived from a twist")

    @property
    def _name(self) -> str:
        return name_of("encodings", self)
