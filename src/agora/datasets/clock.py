"""Handles time stamps of messages from robots and simulators whose clocks go back, jump, or stay at 0."""

from __future__ import annotations

import numpy as np

from agora.core.state import Array, Bools, Doubles, Ints

GAP = 60.0
"""Time between two messages above which they belong to different drives, s."""
_LATE = 1.0  # s, maximum difference between stamp and record time if both are from the same clock
_FAST, _FAR = 20.0, 1.0  # m/s and m, a step that exceeds both is a jump, not motion


def stretches(stamps: Array, places: Array | None = None, gap: float = GAP) -> list[Ints]:
    """Return the indices of the messages in each stretch in which time increases and neither time nor position jumps.

    A stretch ends where the clock goes back (because a simulation was reset, or because of NTP) or jumps ahead by more than ``gap``
    seconds, or where the position jumps faster than 20 m/s (because the robot was moved). A single message is omitted if its
    neighbours are consistent with each other but not with this message, or if it has the same stamp as the previous message.

    Args:
        stamps: (N,) stamps in the order of arrival, s.
        places: (N, 2) positions, m; if None, only the stamps are used.
        gap: maximum time between two consecutive messages in a stretch, s.
    """
    if not len(stamps):
        return []
    there = np.zeros((len(stamps), 2)) if places is None else places

    def follows(a: Ints, b: Ints) -> Bools:
        passed, leap = stamps[b] - stamps[a], np.hypot(*(there[b] - there[a]).T)
        fine: Bools = (passed > 0.0) & (passed <= gap) & (leap <= np.maximum(_FAR, _FAST * passed))
        return fine

    number = np.arange(len(stamps))
    number = number[np.append(True, np.diff(stamps) != 0.0)]
    before, here, after = number[:-2], number[1:-1], number[2:]
    odd = follows(before, after) & ~(follows(before, here) & follows(here, after))
    number = number[np.concatenate(([True], ~odd, [True]))] if len(number) > 2 else number
    return list(np.split(number, np.flatnonzero(~follows(number[:-1], number[1:])) + 1))


def moments(stamps: Array, recorded: Array) -> Doubles:
    """Return the times (N,) of messages, s: their stamps, or their record times if the stamps are from a different clock.

    Args:
        stamps: (N,) stamps, s.
        recorded: (N,) record times, converted to the clock of the stamps, s.
    """
    return np.where(np.abs(stamps - recorded) <= _LATE, stamps, recorded)
