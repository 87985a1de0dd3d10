"""The time that the planner takes to compute commands, and late calls."""

from __future__ import annotations

import numpy as np

from agora.core.recording import Recording
from agora.interfaces import metric
from agora.metrics.quantities.samples import intervals

GROUP = "efficiency"

_SOCNAVBENCH = "Biswas et al. 2022, SocNavBench, Table 1"
_AGORA = "Agora (`agora.metrics.planning_time`)"

TIMING = frozenset({"planning_time", "planning_time_deviation", "deadline_misses", "asked_again"})
"""Metrics that depend on the machine. They are stored in the timing shards, which are not guaranteed to be byte-identical."""


@metric("planning_time", unit="s", direction="lower", formula="mean wall time of a planner call", source=_SOCNAVBENCH)
def planning_time(recording: Recording) -> float | None:
    """Undefined if the planner was never called. The value depends on the machine (`TIMING`)."""
    return float(np.mean(recording.planning_time)) if len(recording.planning_time) else None


@metric(
    "planning_time_deviation",
    unit="s",
    direction="lower",
    formula="standard deviation of the wall time of a planner call",
    source=_AGORA,
)
def planning_time_deviation(recording: Recording) -> float | None:
    """Undefined if the planner was never called. The value depends on the machine (`TIMING`)."""
    return float(np.std(recording.planning_time)) if len(recording.planning_time) else None


@metric(
    "deadline_misses",
    unit="",
    direction="lower",
    formula="share of planner calls with a wall time above the longest time between two samples, which is the control period",
    source=_AGORA,
    values="share",
)
def deadline_misses(recording: Recording) -> float | None:
    """Undefined if the planner was never called, or if there is only one sample. The value depends on the machine (`TIMING`)."""
    dt = intervals(recording)
    return float(np.mean(recording.planning_time > dt.max())) if len(recording.planning_time) and len(dt) else None


@metric(
    "asked_again",
    unit="",
    direction="lower",
    formula="number of failed planner calls for several robots together, after which the planner was called for this robot alone",
    source=_AGORA,
    values="count",
)
def asked_again(recording: Recording) -> float | None:
    """Undefined if the planner was never called. The value depends on which robots share a call, and on how fast an external
    program answers (`TIMING`).
    """
    return float(recording.asked_again) if len(recording.planning_time) else None
