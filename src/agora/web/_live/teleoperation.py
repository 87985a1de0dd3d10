"""Commands from the watchers of a live episode, and the planner of a robot driven by a person."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from agora.core.state import Floats
from agora.interfaces import Answer, Declaration, Memory, Observation

SPEEDS = (0.1, 16.0)
"""Slowest and fastest pace, as multiples of real time."""


class EpisodeChangeError(Exception):
    """Raised to start a different episode.

    Args:
        offset: number of the new episode relative to the current one; 0 repeats the current episode.
    """

    def __init__(self, offset: int) -> None:
        super().__init__(f"switch to another episode, at offset {offset}")
        self.offset = offset


class Teleoperation:
    """Receives commands in one thread, and paces another thread to match.

    Attributes:
        paused: whether time is paused.
        held: whether time is paused until the person starts to drive.
        speed: pace, as a multiple of real time.
        shares: (3,) requested vx, vy and omega, as fractions of the robot's limits, -1 to 1.
    """

    def __init__(self) -> None:
        self.paused, self.held, self.speed = False, False, 1.0
        self.shares: Floats = np.zeros(3, np.float32)
        self._steps, self._offset = 0, -1
        self._changed = threading.Condition()

    def apply(self, wish: Mapping[str, Any]) -> None:
        """Apply a command; invalid commands are ignored.

        Args:
            wish: command. The value of its ``do`` key is pause, go, step, hold (until someone drives), speed (with ``value``),
                drive (with ``twist``, three fractions), again or next.
        """
        with self._changed:
            match wish:
                case {"do": "pause"}:
                    self.paused = True
                case {"do": "go"}:
                    self.paused = self.held = False
                case {"do": "step"}:
                    self.paused, self.held, self._steps = True, False, self._steps + 1
                case {"do": "hold"}:
                    self.held = True
                case {"do": "speed", "value": float() | int() as value}:
                    self.speed = float(np.clip(np.nan_to_num(value, nan=1.0), *SPEEDS))
                case {"do": "drive", "twist": [float() | int(), float() | int(), float() | int()] as twist}:
                    self.shares = np.clip(np.nan_to_num(np.array(twist, np.float32)), -1.0, 1.0)
                    self.held = self.held and not self.shares.any()
                case {"do": "again"}:
                    self._offset = 0
                case {"do": "next"}:
                    self._offset = 1
            self._changed.notify_all()

    def wait(self, until: float) -> None:
        """Wait until a time on the clock of `time.monotonic` or, while paused, until a step is requested.

        Raises:
            EpisodeChangeError: a different episode should start.
        """
        with self._changed:
            while True:
                if self._offset >= 0:
                    offset, self._offset = self._offset, -1
                    raise EpisodeChangeError(offset)
                if self.paused and self._steps:
                    self._steps -= 1
                    return
                stands, left = self.paused or self.held, until - time.monotonic()
                if not stands and left <= 0.0:
                    return
                self._changed.wait(None if stands else min(left, threading.TIMEOUT_MAX))


@dataclass(frozen=True, eq=False)
class TeleoperatedPlanner:
    """The planner of a robot driven by a person.

    Attributes:
        teleoperation: commands from the person.
    """

    teleoperation: Teleoperation
    declares = Declaration(turns_at_goal=True)

    def act(self, observation: Observation, memory: Memory) -> Answer:
        """Return the requested fractions of the robots' limits as a twist."""
        limits, (vx, vy, omega) = observation.limits, self.teleoperation.shares
        ahead = -vx * limits.min_vx if vx < 0 else vx * limits.max_vx
        return Answer(np.stack([ahead, vy * limits.max_vy, omega * limits.max_omega], 1).astype(np.float32), memory)
