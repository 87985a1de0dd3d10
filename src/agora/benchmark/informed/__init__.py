"""The informed robot, which knows the future: its trajectory search, and its role among the planners of a run."""

from agora.benchmark.informed._robot import INFORMED, Foreseen, Informed, informed, refuse_informed

__all__ = ["INFORMED", "Foreseen", "Informed", "informed", "refuse_informed"]
