"""Scores that challenges make of several metrics, of one episode; their means over episodes are the challenges' own."""

from __future__ import annotations

from agora.core.recording import Recording
from agora.interfaces import metric
from agora.metrics.efficiency import spl, stl
from agora.metrics.outcome import success
from agora.metrics.proxemics import personal_space_compliance_igibson, personal_space_compliance_robosense


@metric(
    "robosense_total",
    unit="",
    direction="higher",
    formula="0.4 S + 0.3 SPL + 0.3 PSC: ``success``, ``spl``, ``personal_space_compliance.robosense``",
    source="RoboSense Challenge, track 2",
)
def robosense_total(recording: Recording) -> float | None:
    """From 0 to 1; undefined where ``spl`` is."""
    s, path, space = success(recording), spl(recording), personal_space_compliance_robosense(recording)
    return None if s is None or path is None or space is None else 0.4 * s + 0.3 * path + 0.3 * space


@metric(
    "igibson_social",
    unit="",
    direction="higher",
    formula="(STL + PSC) / 2: ``stl``, ``personal_space_compliance.igibson``",
    source="iGibson Social Navigation Challenge 2021",
)
def igibson_social(recording: Recording) -> float | None:
    """From 0 to 1; undefined where ``stl`` is. A failure far from everybody still scores 0.5."""
    time, space = stl(recording), personal_space_compliance_igibson(recording)
    return None if time is None or space is None else 0.5 * (time + space)
