"""What robots did to people: where they walked, beside where they would have walked without robots.

`Recording.undisturbed` comes of the same episode without robots (`agora.engine.undisturbed`). Both runs have the same pedestrians,
goals and random streams. Whoever has not been influenced, not even through others, has a displacement of exactly 0; recorded
pedestrians, who react to nobody unless a stage says so (``crowd.sidestep``), have it too. In a dense crowd a small influence grows
with time: compare episodes that last about as long.

The metrics are undefined without such a run, and without pedestrians. SocNavBench (Biswas et al. 2022) names such metrics as future
work.
"""

from __future__ import annotations

import numpy as np

from agora.core.recording import Recording
from agora.core.state import Bools, Doubles, Ints
from agora.interfaces import metric
from agora.metrics.quantities import once

_SOURCE = "Agora (`agora.metrics.effect`)"
_NOTICED = 0.1
"""Displacement from which a pedestrian counts as affected, m."""
_STEP = 1e-3
"""Steps below this are standing, m."""


def _apart(one: Doubles, other: Doubles) -> Doubles:
    """(...) distances of places (..., 2), m."""
    x, y = one[..., 0] - other[..., 0], one[..., 1] - other[..., 1]
    return np.sqrt(x * x + y * y)


@once
def _displacement(recording: Recording) -> Doubles:
    """(T, P) distance of everybody from where they would have been, m; 0 where absent."""
    assert recording.undisturbed is not None
    apart = _apart(recording.pedestrian_position, recording.undisturbed)
    return np.where(recording.pedestrian_present, apart, 0.0)


def _there(recording: Recording) -> Bools | None:
    """(P,) who was there at all; None where nobody was or the episode was not run without robots."""
    there: Bools = np.any(recording.pedestrian_present, axis=0)
    return there if recording.undisturbed is not None and there.any() else None


def _arrival(places: Doubles, place: Doubles) -> int:
    """The last sample of a walk (T, 2) that is nearer to a place than the one before; 0 where none is."""
    nearer = np.flatnonzero(np.diff(_apart(places, place)) < -_STEP)
    return int(nearer[-1]) + 1 if len(nearer) else 0


@once
def _passed(recording: Recording) -> tuple[Ints, Ints, Ints, Ints]:
    """Of each pedestrian who was there: its column, its first sample, the one of its arrival at its last place q_K, and the one at
    which the walk without robots arrived there or passed nearest.

    Who stands has arrived when it began to stand, if the walk without robots ends in standing too.
    """
    assert recording.undisturbed is not None
    found = []
    for p in np.flatnonzero(recording.pedestrian_present.any(0)).tolist():
        present = np.flatnonzero(recording.pedestrian_present[:, p])
        own, other = (walk[present[0] : present[-1] + 1, p] for walk in (recording.pedestrian_position, recording.undisturbed))
        passed, last = _arrival(other, own[-1]), len(own) - 1
        stays = _apart(other[passed], other[-1]) <= _STEP
        arrived = max(_arrival(own, own[-1]), passed) if stays else last
        found.append((p, present[0], present[0] + arrived, present[0] + passed))
    each = np.array(found, np.int32).reshape(-1, 4).T
    return each[0], each[1], each[2], each[3]


def _delays(recording: Recording) -> list[float]:
    """Of each pedestrian who was there, s."""
    _, _, arrived, passed = _passed(recording)
    return [float(recording.time[k] - recording.time[j]) for k, j in zip(arrived, passed, strict=True)]


def _length(places: Doubles) -> float:
    return float(_apart(places[1:], places[:-1]).sum())


@metric(
    "pedestrian_displacement_average",
    unit="m",
    direction="lower",
    formula="mean over pedestrians and samples of |q - q'|, q' without robots",
    source=_SOURCE,
)
def pedestrian_displacement_average(recording: Recording) -> float | None:
    """The ADE of trajectory prediction, between the walk with the robots and the one without."""
    if _there(recording) is None:
        return None
    return float(_displacement(recording).sum() / np.count_nonzero(recording.pedestrian_present))


@metric(
    "pedestrian_displacement_max",
    unit="m",
    direction="lower",
    formula="max over pedestrians and samples of |q - q'|, q' without robots",
    source=_SOURCE,
)
def pedestrian_displacement_max(recording: Recording) -> float | None:
    """Of the pedestrian who was displaced most."""
    return None if _there(recording) is None else float(_displacement(recording).max())


@metric(
    "pedestrians_affected",
    unit="",
    direction="lower",
    formula="share of pedestrians with |q - q'| > 0.1 m at some time, q' without robots",
    source=_SOURCE,
)
def pedestrians_affected(recording: Recording) -> float | None:
    """Directly or through others."""
    there = _there(recording)
    if there is None:
        return None
    return float(np.mean(_displacement(recording).max(0)[there] > _NOTICED))


@metric(
    "pedestrian_displacements",
    unit="",
    direction="lower",
    formula="number of times that |q - q'| of a pedestrian came to exceed 0.1 m, q' without robots",
    source=_SOURCE,
)
def pedestrian_displacements(recording: Recording) -> float | None:
    """Who comes back and is displaced again counts twice."""
    if _there(recording) is None:
        return None
    noticed = _displacement(recording) > _NOTICED
    return float(noticed[0].sum() + (noticed[1:] & ~noticed[:-1]).sum())


@metric(
    "pedestrian_delay_average",
    unit="s",
    direction="lower",
    formula="mean over pedestrians of t - t', when they came to their last place and when they would have without robots",
    source=_SOURCE,
    values="any",
)
def pedestrian_delay_average(recording: Recording) -> float | None:
    """0 of a pedestrian who came farther than without robots; of one who is held up, the time since it would have passed."""
    return None if _there(recording) is None else float(np.mean(_delays(recording)))


@metric(
    "pedestrian_delay_max",
    unit="s",
    direction="lower",
    formula="max over pedestrians of the delay",
    source=_SOURCE,
    values="any",
)
def pedestrian_delay_max(recording: Recording) -> float | None:
    """Of the pedestrian who was delayed most."""
    return None if _there(recording) is None else max(_delays(recording))


@metric(
    "pedestrian_detour_average",
    unit="m",
    direction="lower",
    formula="mean over pedestrians of L - L', lengths of the walks to their last place with and without robots",
    source=_SOURCE,
)
def pedestrian_detour_average(recording: Recording) -> float | None:
    """Negative where robots kept pedestrians from a detour of their own."""
    undisturbed = recording.undisturbed
    if undisturbed is None or _there(recording) is None:
        return None
    longer = []
    for p, first, k, j in zip(*(part.tolist() for part in _passed(recording)), strict=True):
        longer.append(_length(recording.pedestrian_position[first : k + 1, p]) - _length(undisturbed[first : j + 1, p]))
    return float(np.mean(longer))
