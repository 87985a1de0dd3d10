"""Metrics of the distance from the robot's outline to the nearest wall."""

from __future__ import annotations

from agora.core.recording import Recording
from agora.interfaces import metric
from agora.metrics.quantities.outline import wall_gaps
from agora.metrics.quantities.samples import average

GROUP = "proxemics"

_SAFE = 0.3


@metric(
    "clearing_distance_min",
    unit="m",
    direction="higher",
    formula="min over t of the gap between the robot's outline and the nearest wall",
    source="Francis et al. 2023, arXiv:2306.16740, Table 1",
    version=2,
)
def clearing_distance_min(recording: Recording) -> float | None:
    """Undefined if there is no map, or if the map contains no obstacle."""
    gap = wall_gaps(recording)
    return None if gap is None else float(gap.min())


@metric(
    "clearing_distance_average",
    unit="m",
    direction="higher",
    formula="mean over time of the gap between the robot's outline and the nearest wall",
    source="Francis et al. 2023, arXiv:2306.16740, Table 1",
    version=2,
)
def clearing_distance_average(recording: Recording) -> float | None:
    """Undefined if there is no map, or if the map contains no obstacle."""
    gap = wall_gaps(recording)
    return None if gap is None else average(recording, gap)


@metric(
    "obstacle_safety",
    unit="",
    direction="lower",
    formula="share of time with less than 0.3 m between the robot's outline and the nearest wall",
    source="SRPB, Karwowski and Szynkiewicz 2023, after MRPB; the distance, a parameter in SRPB, is ours",
    values="share",
)
def obstacle_safety(recording: Recording) -> float | None:
    """Undefined if there is no map, or if the map contains no obstacle."""
    gap = wall_gaps(recording)
    return None if gap is None else average(recording, gap < _SAFE)
