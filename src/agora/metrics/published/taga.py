"""The rates in Table I of TAGA, computed as in TAGA's code, where an episode ends when the robot enters a group's circle.

In Agora, the episode continues after the robot has entered a circle. These metrics treat this intrusion as the end of the episode,
regardless of later events. The four rates are ``success.taga``, ``collision.taga``, ``group_intrusion`` and ``timeout.taga``.
"""

from __future__ import annotations

import numpy as np

from agora.core.recording import Outcome, Recording
from agora.interfaces import metric
from agora.metrics.quantities.groups import inside_groups
from agora.metrics.quantities.samples import at_goal, is_success, step_lengths

GROUP = "taga"

_TABLE = "Sarker Roy et al. 2025, TAGA, Table I"
_COLLISIONS = (Outcome.PEDESTRIAN_COLLISION, Outcome.ROBOT_COLLISION, Outcome.WALL_COLLISION)


def _has_intruded(recording: Recording) -> bool:
    return bool(inside_groups(recording).any())


@metric(
    "success.taga",
    unit="0/1",
    direction="higher",
    formula="``success``, and never in the circle of a group (``group_intrusion``)",
    source=f"{_TABLE}, SR",
)
def success_taga(recording: Recording) -> float:
    """The value equals ``success`` if there are no groups."""
    return float(is_success(recording) and not _has_intruded(recording))


@metric(
    "collision.taga",
    unit="0/1",
    direction="lower",
    formula="ended by a collision, and never before in the circle of a group",
    source=f"{_TABLE}, CR",
)
def collision_taga(recording: Recording) -> float:
    """Contacts with pedestrians, walls and robots count; in the paper, only contacts with pedestrians count."""
    return float(recording.outcome in _COLLISIONS and not _has_intruded(recording))


@metric(
    "timeout.taga",
    unit="0/1",
    direction="lower",
    formula="ended by the time limit, and never before in the circle of a group",
    source=f"{_TABLE}, TR",
)
def timeout_taga(recording: Recording) -> float:
    """The value equals ``timeout`` if there are no groups."""
    return float(recording.outcome == Outcome.TIMEOUT and not _has_intruded(recording))


@metric(
    "time_to_goal.taga",
    unit="s",
    direction="lower",
    formula="duration if the goal was reached and the robot was never in the circle of a group",
    source=f"{_TABLE}, NT",
)
def time_to_goal_taga(recording: Recording) -> float | None:
    """Undefined if ``success.taga`` is 0, so read this metric together with ``success.taga``."""
    return float(recording.time[-1]) if at_goal(recording) and not _has_intruded(recording) else None


@metric(
    "path_length.taga",
    unit="m",
    direction="lower",
    formula="path length until the robot entered the circle of a group, or to the end",
    source=f"{_TABLE}, PL",
    values="amount",
)
def path_length_taga(recording: Recording) -> float:
    """All episodes count, not only successful ones, as in the original code."""
    inside = inside_groups(recording)
    end = int(np.argmax(inside)) if inside.any() else len(inside) - 1
    return float(step_lengths(recording)[:end].sum())
