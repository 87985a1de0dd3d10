"""Encounters between the robot and individual people, each scored separately, as proposed by Cancelli et al. (arXiv:2212.00767).

An encounter is an uninterrupted period in which a pedestrian's centre is within 2 m of the robot's. The angle between the two
paths, from the start of the encounter to the closest approach, determines its kind: overtaking, crossing or head-on (`KINDS`). An
encounter has no kind if either party was slower than 0.3 m/s on its path. The rules that delimit and classify encounters are
Agora's own, as for encounters between pedestrians (`agora.validation.encounters`). The scores (survival, speed and distance) are
those in the paper. Simultaneous encounters are counted separately.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from agora.core.recording import ContactKind, Recording
from agora.core.state import Array, Doubles
from agora.interfaces import Metric, metric
from agora.metrics.quantities.arithmetic import angle_between, norm
from agora.metrics.quantities.samples import compute_once, intervals, offsets, speeds, stretches

KINDS = ("overtaking", "crossing", "head-on")
"""Kinds of encounters, for angles between the two paths below 45 degrees, from 45 to 135 degrees, and above 135 degrees (Olivier et
al. 2013, Gait and Posture 38).
"""

TURNS = (45.0, 135.0)
"""Angles that separate the kinds, degrees."""

NEAR = 2.0
"""Maximum distance between the centres of robot and pedestrian in an encounter, m."""

WALKS = 0.3
"""Mean speed below which a person counts as stationary, m/s."""

_CANCELLI = "Cancelli et al. 2022, arXiv:2212.00767; encounters are cut at 2 m here"


class Encounters(NamedTuple):
    """Encounters of a recording.

    Attributes:
        begin: (E,) first sample of each encounter.
        end: (E,) first sample after each encounter.
        column: (E,) slot of the pedestrian in each encounter.
    """

    begin: Array
    end: Array
    column: Array


@compute_once
def encounters_of(recording: Recording) -> Encounters:
    """Return the encounters of a recording, sorted by slot and time."""
    return Encounters(*stretches(offsets(recording)[2] <= NEAR))


@compute_once
def kinds_of(recording: Recording) -> Array:
    """(E,) index of each encounter's kind in `KINDS`; -1 if either party was too slow."""
    begin, end, column = encounters_of(recording)
    distance, time = offsets(recording)[2], recording.time
    nearest = np.array([a + int(distance[a:b, c].argmin()) for a, b, c in zip(begin, end, column, strict=True)], np.int64)
    robot = recording.pose[nearest, :2] - recording.pose[begin, :2]
    person = recording.pedestrian_position[nearest, column] - recording.pedestrian_position[begin, column]
    enough = WALKS * (time[nearest] - time[begin])
    walked = (nearest > begin) & (norm(robot) >= enough) & (norm(person) >= enough)
    kind = np.full(len(begin), -1)
    kind[walked] = np.digitize(np.degrees(angle_between(robot[walked], person[walked])), TURNS)
    return kind


@metric(
    "encounters",
    unit="",
    direction="neutral",
    formula="number of times that a pedestrian's centre came within 2 m of the robot's",
    source=_CANCELLI,
    values="count",
    walls="ignored",
)
def encounters(recording: Recording) -> float:
    """All encounters count, including those already in progress at the start of the episode. The value is 0 if there are no
    pedestrians.
    """
    return float(len(encounters_of(recording).begin))


def _count(kind: str) -> Metric:
    def count(recording: Recording) -> float:
        """The value is 0 if there are no pedestrians."""
        return float(np.count_nonzero(kinds_of(recording) == KINDS.index(kind)))

    low, high = {"overtaking": (0, 45), "crossing": (45, 135), "head-on": (135, 180)}[kind]
    made = metric(
        f"encounters_{kind.replace('-', '_')}",
        unit="",
        direction="neutral",
        formula=f"number of encounters (2 m) in which both move (0.3 m/s), with directions {low} to {high} degrees apart at the "
        "smallest distance",
        source="own, with the encounter types of Olivier et al. 2013, Gait and Posture 38",
        values="count",
        walls="ignored",
    )
    return made(count)


encounters_overtaking = _count("overtaking")
encounters_crossing = _count("crossing")
encounters_head_on = _count("head-on")


@metric(
    "encounter_survival_rate",
    unit="",
    direction="higher",
    formula="share of encounters (2 m) without contact with that pedestrian during the encounter",
    source=_CANCELLI,
    values="share",
    walls="ignored",
)
def encounter_survival_rate(recording: Recording) -> float | None:
    """Undefined if there are no encounters."""
    begin, end, column = encounters_of(recording)
    if not len(begin):
        return None
    time, party = recording.time, recording.pedestrian_id[column]
    until = time[np.minimum(end, len(time) - 1)]
    touched = np.zeros(len(begin), np.bool_)
    for contact in recording.contacts:
        if contact.kind == ContactKind.PEDESTRIAN:
            touched |= (party == contact.party) & (time[begin] <= contact.time) & (contact.time <= until)
    return 1.0 - float(np.count_nonzero(touched)) / len(begin)


@metric(
    "encounter_speed_average",
    unit="m/s",
    direction="neutral",
    formula="mean over encounters (2 m) of the robot's mean speed in each",
    source=_CANCELLI,
    walls="ignored",
)
def encounter_speed_average(recording: Recording) -> float | None:
    """Undefined if there are no encounters longer than one sample."""
    speed = np.broadcast_to(speeds(recording)[:, None], recording.pedestrian_present[:-1].shape)
    means = _means(recording, speed)
    return float(means.mean()) if len(means) else None


@metric(
    "encounter_distance_average",
    unit="m",
    direction="higher",
    formula="mean over encounters (2 m) of the mean over time of D in each",
    source=_CANCELLI,
    walls="ignored",
)
def encounter_distance_average(recording: Recording) -> float | None:
    """Undefined if there are no encounters longer than one sample."""
    distance = offsets(recording)[2][:-1]
    means = _means(recording, np.where(distance <= NEAR, distance, 0.0))
    return float(means.mean()) if len(means) else None


def _means(recording: Recording, values: Doubles) -> Doubles:
    """(N,) mean over time of values (T - 1, P), given per interval, for each encounter that is longer than one sample."""
    begin, end, column = encounters_of(recording)
    until = np.minimum(end, len(recording.time) - 1)
    lasts = until > begin
    begin, until, column = begin[lasts], until[lasts], column[lasts]
    total = np.zeros(recording.pedestrian_present.shape)
    np.cumsum(values * intervals(recording)[:, None], axis=0, out=total[1:])
    means: Doubles = (total[until, column] - total[begin, column]) / (recording.time[until] - recording.time[begin])
    return means
