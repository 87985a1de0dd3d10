"""Efficiency: how directly and how fast the robot reached its goal.

L* is the length of a shortest collision-free path. For a polygonal robot, L* is computed for the disc around the polygon or, if
this disc does not fit through the map, for the largest disc inside the polygon, so that every success has a value.
"""

from __future__ import annotations

import math

import numpy as np

from agora.core.recording import Recording
from agora.interfaces import metric
from agora.metrics.motion import cumulative_heading_change
from agora.metrics.quantities.arithmetic import angle_between, direction, norm
from agora.metrics.quantities.samples import (
    MOVING,
    at_goal,
    goal_distances,
    intervals,
    is_success,
    path_metres,
    speeds,
    steps,
    weighted_mean,
)

_SOCNAVBENCH = "Biswas et al. 2022, SocNavBench, Table 1"
_ARENA = "Kästner et al. 2024, Arena 3.0, Table V"
_BARN = "The BARN Challenge, Xiao et al. 2022, arXiv:2208.10473"
_AGORA = "Agora (`agora.metrics.efficiency`)"
_BARN_SPEED, _BARN_DEPARTURE = 2.0, 0.1


def barn_run_score(success: bool, optimal_time: float, time: float, factor: float) -> float:
    """Return the score of one run in the BARN challenge: S OT / clip(AT, factor OT, 8 OT).

    Args:
        success: S, whether the robot reached the goal without contact.
        optimal_time: OT, time needed to drive the reference path at 2 m/s, s.
        time: AT, time from when the robot has moved 0.1 m until the end, s.
        factor: lower limit of AT, as a multiple of OT: 2 since 2023 (maximum score 0.5), 4 in 2022 (maximum score 0.25).
    """
    return optimal_time / min(max(time, factor * optimal_time), 8.0 * optimal_time) if success else 0.0


@metric("time_to_goal", unit="s", direction="lower", formula="duration of the episode if the goal was reached", source=_ARENA)
def time_to_goal(recording: Recording) -> float | None:
    """Undefined if the goal was not reached, so read this metric together with ``reached``."""
    return float(recording.time[-1]) if at_goal(recording) else None


@metric(
    "path_traversal_time", unit="s", direction="lower", formula="duration of the episode, for every outcome", source=_SOCNAVBENCH
)
def path_traversal_time(recording: Recording) -> float:
    """The time is simulated time, so the value is the same on every machine."""
    return float(recording.time[-1])


@metric(
    "path_length",
    unit="m",
    direction="lower",
    formula="L = sum |p_{k+1} - p_k|",
    source=f"{_ARENA}; {_SOCNAVBENCH}",
    values="amount",
)
def path_length(recording: Recording) -> float:
    """Only changes of position count; turning on the spot adds no length."""
    return path_metres(recording)


@metric(
    "path_length_ratio",
    unit="",
    direction="lower",
    formula="L / |p_0 - g|",
    source=f"{_SOCNAVBENCH} (as its code and tables have it; its text names the inverse)",
    values="amount",
)
def path_length_ratio(recording: Recording) -> float | None:
    """The ratio may be below 1 if the episode ended before the goal or within the goal's tolerance.

    Undefined if the episode began at the goal.
    """
    straight = goal_distances(recording)[0]
    return None if straight == 0.0 else path_metres(recording) / float(straight)


@metric(
    "path_efficiency",
    unit="",
    direction="higher",
    formula="min(1, L* / L), L* the shortest collision-free length, only if the goal was reached",
    source="robot_sf; SEAN 2.0 has the inverse",
    version=2,
    values="share",
)
def path_efficiency(recording: Recording) -> float | None:
    """The value is 1 if the episode began at the goal."""
    if not at_goal(recording) or not math.isfinite(recording.shortest_path):
        return None
    length = path_metres(recording)
    return 1.0 if length <= recording.shortest_path else recording.shortest_path / length


@metric(
    "spl",
    unit="",
    direction="higher",
    formula="S L* / max(L, L*), S = reached without contact, L* the shortest collision-free length",
    source="Anderson et al. 2018, arXiv:1807.06757",
    version=2,
    values="share",
    compared="all",
)
def spl(recording: Recording) -> float | None:
    """The value is 0 if the episode was not a success. Undefined for a success if no path is known."""
    if not is_success(recording):
        return 0.0
    return path_efficiency(recording)


@metric(
    "spl.socnavgym",
    unit="",
    direction="higher",
    formula="R L* / max(L, L*), R = reached, with or without contacts, L* the shortest collision-free length",
    source="Kapoor et al. 2023, SocNavGym, arXiv:2304.14102",
    values="share",
    compared="all",
)
def spl_socnavgym(recording: Recording) -> float | None:
    """The value is 0 if the goal was not reached.

    The original takes L* from an ORCA run and scores 1 if that run fails; Agora does neither.
    """
    return path_efficiency(recording) if at_goal(recording) else 0.0


@metric(
    "spl.social_jym",
    unit="",
    direction="higher",
    formula="S |p_0 - g| / max(L, |p_0 - g|), S = reached without contact",
    source="social-jym",
    values="share",
    compared="all",
)
def spl_social_jym(recording: Recording) -> float:
    """L* is the straight-line distance, ignoring all obstacles. The value is 1 for a success that began at the goal."""
    if not is_success(recording):
        return 0.0
    straight, length = float(goal_distances(recording)[0]), path_metres(recording)
    return 1.0 if length <= straight else straight / length


@metric(
    "path_efficiency.sean",
    unit="",
    direction="lower",
    formula="L / L*, L* the shortest collision-free length, only if the goal was reached",
    source="Tsoi et al. 2022, SEAN 2.0",
    values="amount",
)
def path_efficiency_sean(recording: Recording) -> float | None:
    """The ratio may be below 1, because the robot may stop anywhere within the goal's tolerance. Undefined if the episode began at
    the goal or no path is known.
    """
    shortest = recording.shortest_path
    if not at_goal(recording) or not math.isfinite(shortest) or shortest <= 0.0:
        return None
    return path_metres(recording) / shortest


@metric(
    "stl",
    unit="",
    direction="higher",
    formula="S min(1, L* / (v_max T)), S = reached without contact, L* the shortest collision-free length, v_max the top speed",
    source="iGibson Social Navigation Challenge 2021; the time there is compared with an ORCA run's, here with a free run's",
    values="share",
    compared="all",
)
def stl(recording: Recording) -> float | None:
    """The value is 0 if the episode was not a success.

    Undefined for a success that began at the goal, or for which no path is known.
    """
    if not is_success(recording):
        return 0.0
    ratio = time_ratio(recording)
    return None if ratio is None else 1.0 / max(ratio, 1.0)


@metric(
    "time_ratio",
    unit="",
    direction="lower",
    formula="T v_max / L*, v_max the robot's top speed, L* the shortest collision-free length, only if the goal was reached",
    source="robot_sf, time_to_goal_ideal_ratio",
    values="amount",
)
def time_ratio(recording: Recording) -> float | None:
    """The value is 1 for a robot that drives along a shortest path at top speed.

    Undefined if the episode began at the goal or no path is known.
    """
    free = recording.shortest_path / recording.max_speed if recording.max_speed > 0.0 else math.inf
    return float(recording.time[-1]) / free if at_goal(recording) and math.isfinite(free) and free > 0.0 else None


@metric(
    "time_norm",
    unit="",
    direction="lower",
    formula="T / time limit for a success, else 1",
    source="robot_sf, time_to_goal_norm",
    values="share",
    compared="all",
)
def time_norm(recording: Recording) -> float:
    """An episode is a success if the robot reached the goal without contact."""
    return min(float(recording.time[-1]) / recording.timeout, 1.0) if is_success(recording) else 1.0


def _barn(recording: Recording, factor: float) -> float | None:
    """The score of a recording."""
    length = recording.shortest_path if recording.reference_path is None else recording.reference_path
    optimal = length / _BARN_SPEED
    if not math.isfinite(optimal) or optimal <= 0.0:
        return None
    moved = norm(recording.pose[:, :2] - recording.pose[0, :2]) >= _BARN_DEPARTURE
    departure = recording.time[moved.argmax()] if moved.any() else recording.time[0]
    return barn_run_score(is_success(recording), optimal, float(recording.time[-1] - departure), factor)


@metric(
    "barn_score",
    unit="",
    direction="higher",
    formula="S OT / clip(AT, 2 OT, 8 OT), OT = (reference path, or L* without one) / (2 m/s), AT counts from the first 0.1 m",
    source=f"{_BARN}; factor 2 of the present code",
    version=2,
    values="share",
    compared="all",
)
def barn_score(recording: Recording) -> float | None:
    """The score ranges from 0 to 0.5; it is undefined if there is no path or the path has length 0."""
    return _barn(recording, 2.0)


@metric(
    "barn_score.2022",
    unit="",
    direction="higher",
    formula="S OT / clip(AT, 4 OT, 8 OT), OT = (reference path, or L* without one) / (2 m/s), AT counts from the first 0.1 m",
    source=f"{_BARN}; factor 4 of 2022",
    version=2,
    values="share",
    compared="all",
)
def barn_score_2022(recording: Recording) -> float | None:
    """The score ranges from 0 to 0.25; it is undefined if there is no path or the path has length 0."""
    return _barn(recording, 4.0)


@metric(
    "path_irregularity",
    unit="rad",
    direction="lower",
    formula="mean over the time in motion of the angle between p_{k+1} - p_k and g - p_k",
    source=f"{_SOCNAVBENCH}, with the direction of motion as the heading",
)
def path_irregularity(recording: Recording) -> float | None:
    """The value is 0 for a straight path to the goal. Undefined if the robot never moved. Speeds above 0.01 m/s count as motion."""
    to_goal = recording.goal[:2] - recording.pose[:-1, :2]
    moving = (speeds(recording) >= MOVING) & (goal_distances(recording)[:-1] > 0.0)
    if not moving.any():
        return None
    return weighted_mean(angle_between(steps(recording)[moving], to_goal[moving]), intervals(recording)[moving])


@metric(
    "path_irregularity.socnavbench",
    unit="rad",
    direction="lower",
    formula="mean over time of the angle between the heading and g - p",
    source=f"{_SOCNAVBENCH} (as in its text; its code uses the position as the heading)",
)
def path_irregularity_socnavbench(recording: Recording) -> float | None:
    """The value is half a turn (pi) for a robot that reverses all the way to its goal.

    Undefined if the robot was always at its goal.
    """
    away = goal_distances(recording)[:-1] > 0.0
    if not away.any():
        return None
    heading = np.stack(direction(recording.pose[:-1, 2]), axis=1)
    to_goal = recording.goal[:2] - recording.pose[:-1, :2]
    return weighted_mean(angle_between(heading[away], to_goal[away]), intervals(recording)[away])


@metric(
    "path_irregularity.sean",
    unit="rad",
    direction="lower",
    formula=(
        "sum |wrap(theta_{k+1} - theta_k)| minus the turns along a shortest collision-free path, the first measured from "
        "the initial heading, only if the goal was reached"
    ),
    source="Tsoi et al. 2022, SEAN 2.0, as documented; its code sums degrees of samples at 1 Hz and subtracts nothing",
    values="any",
)
def path_irregularity_sean(recording: Recording) -> float | None:
    """The value is negative if the robot turned less than the path requires, for instance by moving sideways; undefined if the
    robot did not
    move, or if turns were not recorded.
    """
    if not at_goal(recording) or recording.shortest_turn is None:
        return None
    return (cumulative_heading_change(recording) or 0.0) - recording.shortest_turn
