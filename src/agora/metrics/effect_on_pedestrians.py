"""The effect of robots on people: compares how people walked with how they would have walked without robots.

`Recording.undisturbed` comes from running the same episode without robots (`agora.engine.undisturbed`). Both runs have the same
pedestrians, goals and random streams. A pedestrian that was not influenced, not even indirectly, has a displacement of exactly 0.
The same is true of recorded pedestrians, which do not react unless the stage sets ``crowd.sidestep``. In a dense crowd, a small
influence grows with time, so compare only episodes of similar duration.

The metrics are undefined if the episode was not also run without robots, or if there are no pedestrians. SocNavBench (Biswas et al.
2022) lists such metrics as future work.
"""

from __future__ import annotations

import math

import numpy as np

from agora.core.recording import Recording
from agora.core.state import Bools, Doubles
from agora.interfaces import metric
from agora.metrics.quantities.samples import compute_once

GROUP = "effect"

_SOURCE = "Agora (`agora.metrics.effect_on_pedestrians`)"
_NOTICED = 0.1
"""Displacement above which a pedestrian counts as affected, m."""
_STEP = 1e-3
"""Step length below which a pedestrian counts as standing still, m."""
_AHEAD = 0.5
"""Distance along the walk without robots within which the place nearest to a pedestrian is searched for, m."""


def _lengths(one: Doubles, other: Doubles) -> Doubles:
    """(...) lengths of offsets (..., 2), m."""
    x, y = one[..., 0] - other[..., 0], one[..., 1] - other[..., 1]
    return np.sqrt(x * x + y * y)


@compute_once
def displacements(recording: Recording) -> Doubles:
    """(T, P) distance of each pedestrian from its position in the episode without robots, m; 0 if absent."""
    assert recording.undisturbed is not None
    apart = _lengths(recording.pedestrian_position, recording.undisturbed)
    return np.where(recording.pedestrian_present, apart, 0.0)


def _ever_present(recording: Recording) -> Bools | None:
    """(P,) whether a pedestrian was ever present; None if no one was, or if the episode was not also run without robots."""
    there: Bools = np.any(recording.pedestrian_present, axis=0)
    return there if recording.undisturbed is not None and there.any() else None


def _places(walk: Doubles) -> list[int]:
    """Return sample 0 of a walk (T, 2) and each later sample at which the pedestrian is more than `_STEP` from its position at the
    previously returned sample.
    """
    kept, (x, y) = [0], walk.T.tolist()
    for k in range(1, len(x)):
        if math.hypot(x[k] - x[kept[-1]], y[k] - y[kept[-1]]) > _STEP:
            kept.append(k)
    return kept


def _common_samples(own: Doubles, other: Doubles) -> tuple[int, int]:
    """Return the samples at which the walk without robots, ``other``, reached and left the place where the walk with robots,
    ``own``, ended; both walks are (T, 2), m.

    The walk without robots is followed place by place, never backwards and never ahead of time: each sample of the walk with robots
    is matched with the nearest place within the next `_AHEAD` metres of the walk without robots. Therefore a second visit to a
    place is compared with the second visit, and a pedestrian who is held up at a place that it would have passed twice is compared
    with the first visit.
    """
    kept, (x, y), j = _places(other), own.T.tolist(), 0
    places = other[kept].tolist()
    along = np.append(0.0, np.cumsum(_lengths(other[kept[1:]], other[kept[:-1]]))).tolist()
    for k in range(len(x)):
        nearest, least = j, math.inf
        for i in range(j, len(kept)):
            if kept[i] > k or (i > j + 1 and along[i] > along[j] + _AHEAD):
                break
            apart = math.hypot(places[i][0] - x[k], places[i][1] - y[k])
            if apart < least:
                nearest, least = i, apart
        j = nearest
    return kept[j], kept[j + 1] - 1 if j + 1 < len(kept) else len(x) - 1


@compute_once
def _delays_and_detours(recording: Recording) -> tuple[Doubles, Doubles]:
    """Return the delays, s, and the detours, m, of all pedestrians that were ever present; each array has one entry per
    pedestrian.
    """
    there = np.flatnonzero(recording.pedestrian_present.any(0)).tolist()
    found = [delay_and_detour(recording, p, recording.pedestrian_present[:, p]) for p in there]
    return np.array([delay for delay, _ in found]), np.array([detour for _, detour in found])


def delay_and_detour(recording: Recording, p: int, there: Bools) -> tuple[float, float]:
    """Return the delay, s, and the detour, m, of a pedestrian over the given samples.

    The delay is how much later than without robots the pedestrian reached its last place, or how much longer it has stayed there.
    It is 0 for a pedestrian who is earlier than without robots.

    Args:
        recording: recording of an episode that was also run without robots.
        p: slot of the pedestrian.
        there: (T,) mask of the samples to use, of which there must be at least one; the pedestrian must be present at all of them.
    """
    assert recording.undisturbed is not None
    time, own, other = recording.time[there], recording.pedestrian_position[there, p], recording.undisturbed[there, p]
    arrived, (came, left) = _places(own)[-1], _common_samples(own, other)
    later = float(time[_settling_sample(own, arrived)] - time[_settling_sample(other, came)])
    detour = _length(own[: arrived + 1]) - _length(other[: came + 1])
    return max(0.0, later, float(time[-1] - time[left])), detour


def _settling_sample(walk: Doubles, end: int) -> int:
    """Return the first sample of a walk (T, 2) from which the pedestrian stays within `_NOTICED` metres of its position at sample
    ``end`` until that sample.
    """
    away = np.flatnonzero(_lengths(walk[: end + 1], walk[end]) > _NOTICED)
    return int(away[-1]) + 1 if len(away) else 0


def _length(places: Doubles) -> float:
    return float(_lengths(places[1:], places[:-1]).sum())


@metric(
    "pedestrian_displacement_average",
    unit="m",
    direction="lower",
    formula="mean over pedestrians and samples of |q - q'|, q' without robots",
    source=_SOURCE,
)
def pedestrian_displacement_average(recording: Recording) -> float | None:
    """The average displacement error (ADE), known from trajectory prediction, between the walks with and without robots."""
    if _ever_present(recording) is None:
        return None
    return float(displacements(recording).sum() / np.count_nonzero(recording.pedestrian_present))


@metric(
    "pedestrian_displacement_max",
    unit="m",
    direction="lower",
    formula="max over pedestrians and samples of |q - q'|, q' without robots",
    source=_SOURCE,
)
def pedestrian_displacement_max(recording: Recording) -> float | None:
    """The maximum displacement of any pedestrian."""
    return None if _ever_present(recording) is None else float(displacements(recording).max())


@metric(
    "pedestrians_affected",
    unit="",
    direction="lower",
    formula="share of pedestrians with |q - q'| > 0.1 m at some time, q' without robots",
    source=_SOURCE,
)
def pedestrians_affected(recording: Recording) -> float | None:
    """Pedestrians count as affected whether robots affect them directly or through other pedestrians."""
    there = _ever_present(recording)
    if there is None:
        return None
    return float(np.mean(displacements(recording).max(0)[there] > _NOTICED))


@metric(
    "pedestrian_displacements",
    unit="",
    direction="lower",
    formula="number of times that |q - q'| of a pedestrian rose above 0.1 m, q' without robots",
    source=_SOURCE,
)
def pedestrian_displacements(recording: Recording) -> float | None:
    """The number of times that a pedestrian was displaced. A pedestrian who comes back and is displaced again counts twice."""
    if _ever_present(recording) is None:
        return None
    noticed = displacements(recording) > _NOTICED
    return float(noticed[0].sum() + (noticed[1:] & ~noticed[:-1]).sum())


@metric(
    "pedestrian_delay_average",
    unit="s",
    direction="lower",
    formula="mean over pedestrians of t - t', times of arrival at their last position with and without robots",
    source=_SOURCE,
    values="any",
    version=3,
)
def pedestrian_delay_average(recording: Recording) -> float | None:
    """The delay is 0 for a pedestrian who got farther than without robots. For a pedestrian who is still held up at the end, the
    delay is the time that has passed since it would have left the same place without robots.
    """
    return None if _ever_present(recording) is None else float(np.mean(_delays_and_detours(recording)[0]))


@metric(
    "pedestrian_delay_max",
    unit="s",
    direction="lower",
    formula="max over pedestrians of the delay",
    source=_SOURCE,
    values="any",
    version=3,
)
def pedestrian_delay_max(recording: Recording) -> float | None:
    """The maximum delay of any pedestrian."""
    return None if _ever_present(recording) is None else float(np.max(_delays_and_detours(recording)[0]))


@metric(
    "pedestrian_detour_average",
    unit="m",
    direction="lower",
    formula="mean over pedestrians of L - L', lengths of their paths to the last position with and without robots",
    source=_SOURCE,
    version=2,
)
def pedestrian_detour_average(recording: Recording) -> float | None:
    """The value is negative if pedestrians walked shorter paths because of the robots."""
    return None if _ever_present(recording) is None else float(np.mean(_delays_and_detours(recording)[1]))
