"""Metrics computed as in the test code of CrowdNav and AG-RL, to reproduce their published tables.

CrowdNav: vita-epfl/CrowdNav, ``crowd_nav/utils/explorer.py`` and the ``step`` function in ``crowd_sim.py``. AG-RL:
Shuijing725/CrowdNav_Prediction_AttnGraph, ``rl/evaluation.py`` and ``crowd_sim_pred.py``. A step is the interval from one sample to
the next. The last step ends the episode and never counts as dangerous. The original code averages distances over the dangerous
steps of all episodes; Agora's tables contain means over episodes.
"""

from __future__ import annotations

import numpy as np

from agora.core.recording import Outcome, Recording
from agora.core.state import Bools, Doubles
from agora.interfaces import metric
from agora.metrics.quantities.arithmetic import exponential, logarithm
from agora.metrics.quantities.samples import closest, compute_once, intervals, offsets, steps

GROUP = "crowdnav_code"

_CROWDNAV, _ATTNGRAPH = "Chen et al. 2019, CrowdNav's code", "Liu et al. 2023, CrowdNav_Prediction_AttnGraph's code"
_DISCOMFORT, _FACTOR = 0.2, 0.5
_SUCCESS, _COLLISION, _DISCOUNT = 1.0, -0.25, 0.9
_PERSON, _AHEAD = 0.3, 1.25
_COLLISIONS = (Outcome.PEDESTRIAN_COLLISION, Outcome.WALL_COLLISION, Outcome.ROBOT_COLLISION)


@compute_once
def _passing_clearance(recording: Recording) -> Doubles:
    """(T - 1,) minimum clearance between the robot and any pedestrian in each step, m. Both are assumed to move in a straight line;
    the pedestrian keeps its velocity from the start of the step.
    """
    x, y, distance = (part[:-1] for part in offsets(recording))
    dt, moved = intervals(recording)[:, None], steps(recording)
    u = recording.pedestrian_velocity[:-1, :, 0] * dt - moved[:, 0, None]
    v = recording.pedestrian_velocity[:-1, :, 1] * dt - moved[:, 1, None]
    square = u * u + v * v
    share = np.clip(-(x * u + y * v) / np.maximum(square, 1e-300), 0.0, 1.0)
    a, b = x + share * u, y + share * v
    gap = np.sqrt(a * a + b * b) - recording.pedestrian_radius - recording.radius
    return closest(np.where(np.isfinite(distance), gap, np.inf))


@compute_once
def _is_dangerous(recording: Recording) -> Bools:
    """(T - 1,) whether CrowdNav counts each step as dangerous."""
    danger: Bools = (_passing_clearance(recording) >= 0.0) & (_passing_clearance(recording) < _DISCOMFORT)
    danger[-1:] = False
    return danger


@metric(
    "danger_frequency.crowdnav",
    unit="",
    direction="lower",
    formula="share of steps, except the last, with 0 <= d < 0.2 m, d the minimum clearance within a step of straight motion",
    source=f"{_CROWDNAV}, frequency of being in danger",
    values="share",
    walls="ignored",
)
def danger_frequency_crowdnav(recording: Recording) -> float | None:
    """The denominator includes the last step. The clearance is computed as in the reward, i.e. people keep their velocity.
    Undefined if there are no steps.
    """
    return float(_is_dangerous(recording).mean()) if len(recording.time) > 1 else None


@metric(
    "danger_distance.crowdnav",
    unit="m",
    direction="higher",
    formula="mean of d over the steps of ``danger_frequency.crowdnav``",
    source=f"{_CROWDNAV}, average min separate distance in danger",
    walls="ignored",
)
def danger_distance_crowdnav(recording: Recording) -> float | None:
    """Undefined if no step is dangerous."""
    danger = _is_dangerous(recording)
    return float(_passing_clearance(recording)[danger].mean()) if danger.any() else None


@metric(
    "total_reward.crowdnav",
    unit="",
    direction="higher",
    formula="sum over steps of 0.9^(t_k v / m) r_k, v the robot's maximum speed; r = 1 for the goal, -0.25 for a collision, "
    "0.5 (d - 0.2) dt in the steps of ``danger_frequency.crowdnav``",
    source=f"{_CROWDNAV}, total reward",
    compared="all",
    walls="ignored",
)
def total_reward_crowdnav(recording: Recording) -> float:
    """The reward of the last step is 0 if the episode ended neither at the goal nor in a collision. The total is 0 if there are no
    steps.
    """
    if len(recording.time) < 2:
        return 0.0
    danger, reward = _is_dangerous(recording), np.zeros(len(recording.time) - 1)
    reward[danger] = (_passing_clearance(recording)[danger] - _DISCOMFORT) * _FACTOR * intervals(recording)[danger]
    if recording.outcome == Outcome.REACHED:
        reward[-1] = _SUCCESS
    elif recording.outcome in _COLLISIONS:
        reward[-1] = _COLLISION
    since = recording.time[:-1] - recording.time[0]
    return float((exponential(since * recording.max_speed * logarithm(_DISCOUNT)) * reward).sum())


@compute_once
def _foreseen_distances(recording: Recording) -> Doubles:
    """(T - 1,) minimum distance from the robot's position at the start of each step to any pedestrian's position during the next
    1.25 s, m; infinite if there are no pedestrians.
    """
    time, present = recording.time, recording.pedestrian_present
    x, y = (np.where(present, recording.pedestrian_position[:, :, axis], np.inf) for axis in (0, 1))
    nearest, here = np.full(len(time) - 1, np.inf), recording.pose
    for lag in range(1, len(time)):
        soon = time[lag:] - time[:-lag] <= _AHEAD + 1e-6
        if not soon.any():
            break
        a, b = x[lag:] - here[:-lag, 0, None], y[lag:] - here[:-lag, 1, None]
        square = np.where(soon, np.min(a * a + b * b, axis=1, initial=np.inf), np.inf)
        nearest[: len(square)] = np.minimum(nearest[: len(square)], np.sqrt(square))
    return nearest


@compute_once
def _is_intruding(recording: Recording) -> Bools:
    """(T - 1,) whether AG-RL's test counts each step as dangerous."""
    danger: Bools = _foreseen_distances(recording) < recording.radius + _PERSON
    danger[-1:] = False
    return danger


@metric(
    "intrusion_ratio.attngraph",
    unit="",
    direction="lower",
    formula="share of steps, except the last, at whose start the robot's centre is nearer than r_robot + 0.3 m to the position "
    "of a pedestrian's centre within the next 1.25 s",
    source=f"{_ATTNGRAPH}, average intrusion ratio (in percent in the code)",
    values="share",
)
def intrusion_ratio_attngraph(recording: Recording) -> float | None:
    """The value is a fraction of all steps. Future positions are taken from the recording, which ends with the episode; the
    original code simulates beyond the end. Undefined if there are no steps.
    """
    return float(_is_intruding(recording).mean()) if len(recording.time) > 1 else None


@metric(
    "intrusion_distance.attngraph",
    unit="m",
    direction="higher",
    formula="mean over the steps of ``intrusion_ratio.attngraph`` of the smallest of these distances between centres",
    source=f"{_ATTNGRAPH}, average minimal distance during intrusions",
)
def intrusion_distance_attngraph(recording: Recording) -> float | None:
    """Undefined if no step is an intrusion."""
    danger = _is_intruding(recording)
    return float(_foreseen_distances(recording)[danger].mean()) if danger.any() else None
