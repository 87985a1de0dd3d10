"""Metrics of the values that the planner notes during an episode (`agora.interfaces.NOTES`).

A metric is undefined if the planner does not note its values.
"""

from __future__ import annotations

import numpy as np

from agora.core.recording import Reason, Recording
from agora.core.state import Array
from agora.interfaces import metric
from agora.metrics.quantities.samples import intervals, weighted_mean

GROUP = "notes"

_AGORA = "Agora"


def _mean(recording: Recording, noted: Array | None) -> float | None:
    """Return the mean over time of the values noted at the planner's calls; None if no values were noted."""
    return None if noted is None or not len(noted) else weighted_mean(noted, intervals(recording))


@metric(
    "speed_limit_average",
    unit="",
    direction="neutral",
    formula="mean over time of the interplanner's speed limit, divided by the top speed of the local planner",
    source=_AGORA,
)
def speed_limit_average(recording: Recording) -> float | None:
    """The value is 1 if the interplanner never slowed the robot down."""
    return _mean(recording, recording.speed_limit)


@metric(
    "danger_average",
    unit="",
    direction="lower",
    formula="mean over time of exp(-1 / sum (3 m / d)^2), d the distances to pedestrians, as the interplanner saw them",
    source="Arena 3.0's interplanners",
)
def danger_average(recording: Recording) -> float | None:
    """The value is 0 if there are no pedestrians nearby."""
    return _mean(recording, recording.danger)


@metric(
    "reason_share",
    unit="",
    direction="neutral",
    formula="share of time with a noted reason for not following the path: one given by the planner, or standing still for 5 s",
    source=_AGORA,
    values="share",
)
def reason_share(recording: Recording) -> float | None:
    """The row contains the reason that was noted for the longest time. Planners differ in how often they note a reason, so a lower
    share is not better.
    """
    return None if recording.reason is None else _mean(recording, recording.reason != Reason.NONE)


def main_reason(recording: Recording) -> str:
    """The reason that was noted for the longest time; empty if no reason was noted."""
    if recording.reason is None or not recording.reason.any():
        return ""
    seconds = np.bincount(recording.reason, weights=intervals(recording))
    return Reason(1 + int(np.argmax(seconds[1:]))).label
