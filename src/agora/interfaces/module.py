"""Modules: changes of a task before it is created, or after.

A module is a frozen dataclass whose fields are its parameters; it has no state between resets, so an episode only depends on
its plan. Counters (episodes per map, the stage of a curriculum) are in the plan or are parameters.

A module must not change what all episodes of a batch share: the crowd model and its perception, behaviours, periods, navigation,
``ends`` and ``after_end``.
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
        suite: name of the suite, or of the task generator.
        stage: settings of the episode.
        episode: number of the episode in the stage.
        seed: seed of every random stream.
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
        """The name of the episode for random draws: that of another stage if the stage says so (``drawn_as``)."""
        return f"{self.stage.drawn_as}/{self.episode}" if self.stage.drawn_as else self.entry


class Module(Protocol):
    """Changes a plan before a reset, or the task after it; subclasses override the methods that they need.

    The modules of a stage run one after another, including modules that another one adds. A class attribute ``sets`` names the keys
    of the stage that a module sets: a stage with the module may not have them.
    """

    def before_reset(self, plan: ResetPlan) -> ResetPlan:
        """Return the plan to follow; called before the world is read."""
        return plan

    def after_reset(self, task: Task) -> None:
        """Change the task; called after the modes have placed everybody."""
        return
