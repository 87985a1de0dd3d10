"""Modules, which change a task before or after it is created.

A module is a frozen dataclass whose fields are its parameters; it keeps no state between resets, so an episode depends only on its
plan. Counters (such as episodes per map or the stage of a curriculum) belong in the plan or the parameters.

A module must not change settings that all episodes of a batch share: the crowd model and its perception, behaviours, periods,
navigation, ``ends`` and ``after_end``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from agora.draft.stage import Stage
from agora.draft.task import Task


@dataclass(frozen=True)
class ResetPlan:
    """The plan of the next episode.

    Attributes:
        suite: name of the suite or the task generator.
        stage: stage of the episode, with its settings.
        episode: number of the episode in the stage.
        seed: seed for all random streams.
    """

    suite: str
    stage: Stage
    episode: int
    seed: int

    @property
    def entry(self) -> str:
        """The name of the episode: ``suite/stage/episode``."""
        return f"{self.suite}/{self.stage.name}/{self.episode}"

    @property
    def drawn(self) -> str:
        """The name from which the episode's random streams are derived. If the stage sets ``drawn_as``, it is the name of the
        corresponding episode in that other stage.
        """
        return f"{self.stage.drawn_as}/{self.episode}" if self.stage.drawn_as else self.entry


class Module(Protocol):
    """Changes the plan before a reset, or the task after it; subclasses override the methods that they need.

    The modules of a stage run one after another, including modules that were added by another module. The class attribute ``sets``
    names the stage keys that the module sets; a stage with this module must not set these keys itself.
    """

    def before_reset(self, plan: ResetPlan) -> ResetPlan:
        """Return the plan to use; called before the world is loaded."""
        return plan

    def after_reset(self, task: Task) -> None:
        """Change the task; called after the task modes have placed all robots and pedestrians."""
        return
