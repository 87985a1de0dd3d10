"""Predictors, which predict the future positions of pedestrians."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

from agora.core.state import Floats
from agora.interfaces.channel import Channel, channels_of
from agora.interfaces.observation import Observation
from agora.interfaces.planner import Memory
from agora.interfaces.span import Span


@dataclass(frozen=True)
class PredictorDeclaration:
    """The properties that a predictor declares in its attribute ``declares``.

    Attributes:
        needs: channels that the predictor reads besides "pedestrians": names, or channel objects with parameters.
        tunable: span of values to try for each tunable field, keyed by field name.
        requires: Agora's optional dependency groups (extras) that the predictor needs, such as "learning".
    """

    needs: Collection[str | Channel] = ()
    tunable: Mapping[str, Span] = field(default_factory=dict)
    requires: Collection[str] = ()

    def __post_init__(self) -> None:
        if any(isinstance(names, str) for names in (self.needs, self.requires)):
            raise ValueError("needs and requires must be collections of names, not a string")

    @cached_property
    def channels(self) -> dict[str, Channel | None]:
        """The channels that the predictor reads, keyed by name: a channel object if it sets parameters, otherwise None."""
        return channels_of(("pedestrians", *self.needs))


@dataclass(frozen=True, eq=False)
class Prediction:
    """The output of a predictor for N robots.

    Attributes:
        position: (N, Q, T, 2) predicted positions of the pedestrians at the T times, m; values in empty slots are undefined.
        memory: memory for the next call.
    """

    position: Floats
    memory: Memory = field(default_factory=dict)


class Predictor(Protocol):
    """Predicts the paths of the pedestrians that robots know of, for a batch of robots whose rows share no state."""

    @property
    def declares(self) -> PredictorDeclaration:
        """The properties of the predictor."""

    def predict(self, observation: Observation, steps: int, dt: float, memory: Memory) -> Prediction:
        """Return the future positions of the observation's pedestrians.

        The method is called once per control period, ``observation.dt``.

        Args:
            observation: observation with N rows, including ``pedestrians``.
            steps: number of prediction times, T.
            dt: interval between prediction times, s; the first is ``dt`` after the observation.
            memory: memory returned by the previous call; {} at the start, and all 0 in rows whose episode is just beginning.
        """
