"""Scores that challenges and benchmarks compute from several metrics. The scores in this module are per episode; published results
are means over episodes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from agora.core.recording import Recording
from agora.interfaces import metric
from agora.metrics.efficiency import spl, stl, time_norm
from agora.metrics.forces import comfort_exposure, force_exceed_events
from agora.metrics.motion import jerk_average
from agora.metrics.outcome import collisions, success
from agora.metrics.personal_zones import (
    near_misses_robot_sf,
    personal_space_compliance_igibson,
    personal_space_compliance_robosense,
)

__all__ = ["Penalty", "Snqi"]


@metric(
    "robosense_total",
    unit="",
    direction="higher",
    formula="0.4 S + 0.3 SPL + 0.3 PSC: ``success``, ``spl``, ``personal_space_compliance.robosense``",
    source="RoboSense Challenge, track 2",
    compared="all",
    walls="ignored",
)
def robosense_total(recording: Recording) -> float | None:
    """The score ranges from 0 to 1; it is undefined if ``spl`` is undefined."""
    s, path, space = success(recording), spl(recording), personal_space_compliance_robosense(recording)
    return None if s is None or path is None or space is None else 0.4 * s + 0.3 * path + 0.3 * space


@metric(
    "igibson_social",
    unit="",
    direction="higher",
    formula="(STL + PSC) / 2: ``stl``, ``personal_space_compliance.igibson``",
    source="iGibson Social Navigation Challenge 2021",
    values="share",
    walls="ignored",
)
def igibson_social(recording: Recording) -> float | None:
    """The score ranges from 0 to 1; it is undefined if ``stl`` is undefined.

    An episode that fails, but in which the robot stays far from everyone, still scores 0.5.
    """
    time, space = stl(recording), personal_space_compliance_igibson(recording)
    return None if time is None or space is None else 0.5 * (time + space)


class Penalty(NamedTuple):
    """A term of `Snqi`, which compares a quantity with its values in the episodes of a baseline.

    Attributes:
        weight: weight of the term.
        median: median of the quantity over the baseline's episodes.
        p95: 95th percentile of the quantity over the baseline's episodes.
    """

    weight: float
    median: float
    p95: float

    def __call__(self, value: float) -> float:
        """Return weight * clip((value - median) / (p95 - median), 0, 1); the divisor is 1 if ``p95`` equals ``median``."""
        spread = self.p95 - self.median
        return self.weight * min(max((value - self.median) / (spread if abs(spread) >= 1e-9 else 1.0), 0.0), 1.0)


@dataclass(frozen=True)
class Snqi:
    """Social Navigation Quality Index (SNQI) of an episode, from -0.81 to 0.19.

    The index is advisory and not meant for ranking planners.

    The defaults are the weights and the baseline that robot_sf publishes as camera_ready_v3, so the index of an episode does not
    depend on other episodes of the run. To use your own baseline, create a `Snqi` with different fields and register it under a new
    name.

    The baseline's counts are based on samples every ``step`` seconds. The counts and the jerk of a recording are converted to this
    interval.

    Attributes:
        success: weight of ``success``.
        time: weight of ``time_norm``.
        comfort: weight of ``comfort_exposure``, which is 0 if there are no pedestrians.
        collisions: penalty for ``collisions``.
        near_misses: penalty for ``near_misses.robot_sf``.
        force_exceed: penalty for ``force_exceed_events``.
        jerk: penalty for the mean change in acceleration per step, m/s2; 0 for fewer than three samples.
        step: time between two samples of the baseline, s.
    """

    success: float = 0.19045845847432735
    time: float = 0.09491099136070058
    comfort: float = 0.17983060763794978
    collisions: Penalty = Penalty(0.10483542508043969, 0.0, 1.0)
    near_misses: Penalty = Penalty(0.30825830332144416, 0.0, 21.0)
    force_exceed: Penalty = Penalty(0.0692114485473155, 1.0, 50.0)
    jerk: Penalty = Penalty(0.05249476557782281, 0.07293007251387372, 0.8018190086690077)
    step: float = 0.1

    def __call__(self, recording: Recording) -> float:
        """Return the index (robot_sf 40d0854d, ``benchmark/snqi/compute.py: compute_snqi``)."""
        samples = len(recording.time)
        steps = float(recording.time[-1]) / (samples - 1) / self.step if samples > 1 else 1.0
        return (
            self.success * (success(recording) or 0.0)
            - self.time * (time_norm(recording) or 0.0)
            - self.collisions(collisions(recording) or 0.0)
            - self.near_misses(steps * (near_misses_robot_sf(recording) or 0.0))
            - self.comfort * (comfort_exposure(recording) or 0.0)
            - self.force_exceed(steps * (force_exceed_events(recording) or 0.0))
            - self.jerk(self.step * (jerk_average(recording) or 0.0))
        )


snqi = metric(
    "snqi",
    unit="",
    direction="neutral",
    formula=(
        "w_s S - w_t time_norm - w_f comfort_exposure - sum of w clip((x - median) / (p95 - median), 0, 1), x: collisions, "
        "near_misses.robot_sf, force_exceed_events, jerk; median and p95 of a published baseline (`Snqi`)"
    ),
    source="robot_sf, compute_snqi with weights and baseline camera_ready_v3; of the robot's force alone",
    compared="all",
    walls="ignored",
)(Snqi())
