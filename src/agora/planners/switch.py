"""Switching between planners: at every call a different planner may drive a robot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from agora.core.state import Array, Floats
from agora.errors import InputError
from agora.interfaces import NOTES, Answer, BatchPlanner, Channel, Declaration, Memory, Observation
from agora.planners import adapters
from agora.planners.memory import put_rows, reset, rows_of
from agora.planners.presets import named_planner
from agora.registry import Named

__all__ = ["Switch"]


@dataclass(frozen=True)
class Switch:
    """Several planners; the setting ``planner`` is the index of the planner that drives.

    When a planner takes over, its memory is reset, as at the start of an episode.

    Attributes:
        planners: the planners, as strings.

    Raises:
        InputError: a planner is unknown, or two of them need the same channel with different parameters, such as costmaps of
            different sizes.
    """

    planners: tuple[str, ...]

    def __post_init__(self) -> None:
        _ = self.declares

    @cached_property
    def _parts(self) -> tuple[BatchPlanner, ...]:
        return tuple(adapters.as_batch_planner(named_planner(text)[1].part) for text in self.planners)

    @cached_property
    def declares(self) -> Declaration:
        """Return the needs of all planners combined, and the highest of their top speeds."""
        asked: dict[str, tuple[str, str | Channel]] = {}
        for text, part in zip(self.planners, self._parts, strict=True):
            own = part.declares
            for need, (name, channel) in zip(own.needs, own.channels.items(), strict=True):
                other, before = asked.setdefault(name, (text, need))
                if before != need:
                    raise InputError(f"planners {other!r} and {text!r} cannot take turns: each looks at its own {name} ({channel})")
        declared = [part.declares for part in self._parts]
        return Declaration(
            needs=tuple(need for _, need in asked.values()),
            notes=("reason",),
            top_speed=max(own.top_speed for own in declared),
            requires=tuple(dict.fromkeys(name for own in declared for name in own.requires)),
        )

    def named_parts(self) -> list[Named]:
        """Return the planners by name."""
        return [named_planner(text)[1] for text in self.planners]

    def act_by(self, observation: Observation, memory: Memory, settings: Mapping[str, Floats]) -> Answer:
        """Return the twists (N, 3) of the planners that drive, and the memory: the number (counted from 1) of the planner that
        drove last, and each planner's own memory.
        """
        drives = settings["planner"].astype(np.int64)
        count = len(drives)
        before: Array = memory.get("drove", np.zeros(count, np.int64))
        twists, reason = np.zeros((count, 3), np.float32), np.zeros(count, NOTES["reason"])
        after: Memory = {"drove": drives + 1}
        for k, planner in enumerate(self._parts):
            rows = np.flatnonzero(drives == k).astype(np.int32)
            kept = reset(memory.get(str(k), {}), (drives == k) & (before != k + 1))
            if len(rows):
                answer = planner.act(adapters.observation_of_rows(observation, rows), rows_of(kept, rows))
                put_rows(kept, rows, answer.memory, count)
                twists[rows] = answer.twists
                reason[rows] = answer.notes.get("reason", reason[rows])
            after[str(k)] = kept
        return Answer(twists, after, {"reason": reason})
