"""Metrics of the distance from the robot to the closest pedestrian, m.

The centre distance D is the distance between the centres. The surface distance d is the distance between the robot's outline and
the pedestrian's disc, negative if they overlap; for a robot that is a disc, d = D - r_robot - r_pedestrian.
"""

from __future__ import annotations

import numpy as np

from agora.core.recording import Recording
from agora.core.state import Doubles
from agora.interfaces import metric
from agora.metrics.quantities.outline import closest_surface
from agora.metrics.quantities.samples import any_present, average, closest, ever_present, offsets

GROUP = "proxemics"

_SOCNAVBENCH = "Biswas et al. 2022, SocNavBench, Table 1"
_HUNAVSIM = "HuNavSim's code"
_FAR = 10.0


@metric(
    "closest_pedestrian_distance_min",
    unit="m",
    direction="higher",
    formula="min over t of min(10, min over pedestrians of d)",
    source=f"{_SOCNAVBENCH} (radii and saturation as in its text)",
    version=2,
    walls="ignored",
)
def closest_pedestrian_distance_min(recording: Recording) -> float | None:
    """Undefined if no pedestrian was ever present."""
    return min(_FAR, float(closest_surface(recording).min())) if ever_present(recording) else None


@metric(
    "closest_pedestrian_distance_average",
    unit="m",
    direction="higher",
    formula="mean over time of min(10, min over pedestrians of d)",
    source=f"{_SOCNAVBENCH} (radii and saturation as in its text)",
    version=2,
    walls="ignored",
)
def closest_pedestrian_distance_average(recording: Recording) -> float | None:
    """Times without pedestrians count as 10 m. Undefined if no pedestrian was ever present."""
    return average(recording, np.minimum(closest_surface(recording), _FAR)) if ever_present(recording) else None


@metric(
    "closest_pedestrian_distance_max",
    unit="m",
    direction="neutral",
    formula="max over t of min(10, min over pedestrians of d)",
    source=f"HuNavSim; radii and saturation of {_SOCNAVBENCH}",
    walls="ignored",
)
def closest_pedestrian_distance_max(recording: Recording) -> float | None:
    """The maximum over time of the distance to the closest pedestrian. Undefined if no pedestrian was ever present."""
    return float(np.minimum(closest_surface(recording), _FAR).max()) if ever_present(recording) else None


def _from_outline(recording: Recording) -> Doubles:
    """Return D - r_robot, m, for each pedestrian in each sample in which the pedestrian is present, as a flat array."""
    away: Doubles = offsets(recording)[2][recording.pedestrian_present] - recording.radius
    return away


@metric(
    "closest_pedestrian_distance_min.hunavsim",
    unit="m",
    direction="higher",
    formula="min over t and pedestrians of D - r_robot",
    source=f"{_HUNAVSIM}, minimum_distance_to_people",
    walls="ignored",
)
def closest_pedestrian_distance_min_hunavsim(recording: Recording) -> float | None:
    """The distance ignores the pedestrian's radius and does not saturate. Undefined if no pedestrian was ever present."""
    return float(_from_outline(recording).min()) if ever_present(recording) else None


@metric(
    "closest_pedestrian_distance_max.hunavsim",
    unit="m",
    direction="neutral",
    formula="max over t and pedestrians of D - r_robot",
    source=f"{_HUNAVSIM}, maximum_distance_to_people",
    walls="ignored",
)
def closest_pedestrian_distance_max_hunavsim(recording: Recording) -> float | None:
    """The maximum distance to any pedestrian, instead of to the closest one. Undefined if no pedestrian was ever present."""
    return float(_from_outline(recording).max()) if ever_present(recording) else None


@metric(
    "closest_pedestrian_distance_average.hunavsim",
    unit="m",
    direction="higher",
    formula="sum over samples with pedestrians of min (D - r_robot - r_pedestrian), over the number of all samples",
    source=f"{_HUNAVSIM}, avg_distance_to_closest_person",
    walls="ignored",
)
def closest_pedestrian_distance_average_hunavsim(recording: Recording) -> float | None:
    """Defect of the original: samples without pedestrians count as 0 m. Undefined if no pedestrian was ever present."""
    if not ever_present(recording):
        return None
    gap = closest(offsets(recording)[2] - recording.pedestrian_radius) - recording.radius
    return float(gap[any_present(recording)].sum()) / len(gap)
