"""Lists the registered metrics, and computes their values for a recording."""

from __future__ import annotations

from agora.core.recording import Recording
from agora.interfaces import Metric
from agora.registry import available, is_own, load

__all__ = ["measure", "metrics"]

HEADLINE = {
    "clean_arrival": "Reached clean",
    "time_to_goal": "Time to the goal",
    "path_efficiency": "Path efficiency",
    "closest_pedestrian_distance_min": "Closest approach",
    "personal_space_compliance.robosense": "Personal space",
    "jerk_average": "Smoothness (jerk)",
}
"""The most important metrics, which the report shows first, with their headings."""

FEW = ("success", *HEADLINE, "path_length", "planning_time")
"""Metrics that summarise a single episode."""


def metrics(*, own: bool = False) -> list[Metric]:
    """Return all registered metrics, sorted by name.

    If ``own`` is True, return only Agora's metrics, without importing any other package.
    """
    return [load("metrics", name) for name in available("metrics") if not own or is_own("metrics", name)]


def measure(recording: Recording, *names: str) -> dict[str, float | None]:
    """Return the values of the named metrics for a recording, by name; if no names are given, the values of all metrics. Undefined
    values are None.

    Raises:
        UnknownNameError: a metric is unknown.
    """
    chosen = [load("metrics", name) for name in names] if names else metrics()
    return {metric.name: metric(recording) for metric in chosen}
