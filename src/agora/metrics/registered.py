"""The registered metrics, and their values for one recording."""

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
"""The most important metrics, which the report shows first, and their headings."""

FEW = ("success", *HEADLINE, "path_length", "planning_time")
"""Metrics that summarise one episode."""


def metrics(*, own: bool = False) -> list[Metric]:
    """Return all registered metrics, sorted by name; with ``own``, only Agora's metrics, so that no other package is imported."""
    return [load("metrics", name) for name in available("metrics") if not own or is_own("metrics", name)]


def measure(recording: Recording, *names: str) -> dict[str, float | None]:
    """Return the values of the named metrics for a recording, keyed by name; of all metrics if no names are given. Undefined values
    are None.

    Raises:
        UnknownNameError: a metric is unknown.
    """
    chosen = [load("metrics", name) for name in names] if names else metrics()
    return {metric.name: metric(recording) for metric in chosen}
