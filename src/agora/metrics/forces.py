"""The forces on the robot and on pedestrians in the social force model, which HuNavSim and its social force window planner use to
evaluate robots.

Forces are computed as in `agora.pedestrians.shared.moussaid`, but without a cutoff, using the factors of
`agora.pedestrians.models.pedsim`, which are HuNavSim's. All forces are accelerations, m/s2. The robot's force on a pedestrian is
the negative of the pedestrian's force on the robot. The nearest wall exerts a force of 10 m/s2 exp(-gap / 0.2 m). The metrics are
means over time; HuNavSim's metrics are sums over samples, which grow with the sampling rate.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np

from agora.core.jit import lean_kernel
from agora.core.recording import Recording
from agora.core.state import Doubles
from agora.interfaces import Metric, metric
from agora.metrics.quantities.arithmetic import exponential, norm
from agora.metrics.quantities.outline import wall_gaps
from agora.metrics.quantities.samples import average, compute_once, offsets, row_sums, velocities
from agora.pedestrians.models.pedsim import Pedsim
from agora.pedestrians.shared.moussaid import interaction

_MODEL = Pedsim()
_WALL_SIGMA, _WALL_REACH = 0.2, 2.0
"""Distance over which the wall force falls to 1/e (HuNavSim's value), and distance beyond which it is ignored, m."""

_UNCOMFORTABLE = 2.0
_UNIT = "m/s2"
_HUNAVSIM = "HuNavSim, Pérez-Higueras et al. 2023"
_ROBOT_SF = "robot_sf; only of the robot's force; robot_sf uses the total force"


class _Law(NamedTuple):
    """The parameters of `agora.pedestrians.shared.moussaid.interaction`."""

    importance: float
    gamma: float
    n: float
    n_prime: float
    cutoff2: float


@lean_kernel
def _write_forces(law, x, y, vx, vy, present, fx, fy, first, last):
    """Write to ``fx`` and ``fy`` (T, P) the force of each pedestrian on the robot; the positions (x, y) and velocities (vx, vy) of
    pedestrians are relative to the robot.
    """
    for t in range(first, last):
        for p in range(x.shape[1]):
            fx[t, p], fy[t, p] = 0.0, 0.0
            if present[t, p]:
                fx[t, p], fy[t, p] = interaction(x[t, p], y[t, p], -vx[t, p], -vy[t, p], law)


@compute_once
def _pairs(recording: Recording) -> tuple[Doubles, Doubles, Doubles]:
    """Return the x component, y component and magnitude (T, P) of each pedestrian's force on the robot, m/s2; 0 for absent
    pedestrians.
    """
    x, y, _ = offsets(recording)
    velocity, walking = velocities(recording), recording.pedestrian_velocity
    vx, vy = walking[:, :, 0] - velocity[:, 0, None], walking[:, :, 1] - velocity[:, 1, None]
    law = _Law(_MODEL.importance, _MODEL.gamma, _MODEL.n, _MODEL.n_prime, np.inf)
    fx, fy = np.zeros(x.shape), np.zeros(x.shape)
    _write_forces(law, x, y, vx, vy, recording.pedestrian_present, fx, fy, 0, len(x))
    fx, fy = _MODEL.social_factor * fx, _MODEL.social_factor * fy
    return fx, fy, np.sqrt(fx * fx + fy * fy)


@compute_once
def _force_on_robot(recording: Recording) -> Doubles:
    """(T,) magnitude of the sum of the forces of all pedestrians on the robot, m/s2."""
    fx, fy, _ = _pairs(recording)
    return norm(np.stack((row_sums(fx), row_sums(fy)), 1))


def _wall_push(gap: Doubles) -> Doubles:
    return np.where(gap < _WALL_REACH, _MODEL.obstacle_factor * exponential(-gap / _WALL_SIGMA), 0.0)


@functools.lru_cache(maxsize=4)
def _wall_force_on_robot(recording: Recording) -> Doubles | None:
    """(T,) magnitude of the force of the nearest wall on the robot, m/s2; None if there is no obstacle."""
    gap = wall_gaps(recording)
    return None if gap is None else _wall_push(gap)


@compute_once
def _wall_force_on_pedestrians(recording: Recording) -> Doubles:
    """(T,) magnitude of the force of the nearest wall on a pedestrian, averaged over the pedestrians present, m/s2; 0 if no one is
    present.
    """
    present = recording.pedestrian_present
    push = np.zeros(present.shape)
    if recording.map is not None:
        sample, column = np.nonzero(present)
        gap = recording.map.gap(recording.pedestrian_position[sample, column], _WALL_REACH)
        near = np.flatnonzero(gap < _WALL_REACH)
        sample, column = sample[near], column[near]
        push[sample, column] = _wall_push(gap[near] - recording.pedestrian_radius[column])
    mean: Doubles = row_sums(push) / np.maximum(present.sum(1), 1)
    return mean


@compute_once
def _work(recording: Recording) -> Doubles:
    """(T,) social work, m/s2."""
    walls = _wall_force_on_robot(recording)
    social: Doubles = _force_on_robot(recording) + row_sums(_pairs(recording)[2])
    return social if walls is None else social + walls


@metric(
    "social_force_on_robot",
    unit=_UNIT,
    direction="lower",
    formula="mean over time of the magnitude of the sum of the pedestrians' social forces on the robot",
    source=_HUNAVSIM,
    walls="ignored",
)
def social_force_on_robot(recording: Recording) -> float:
    """Forces from opposite sides cancel out. The value is 0 if there are no pedestrians."""
    return average(recording, _force_on_robot(recording))


@metric(
    "social_force_on_pedestrians",
    unit=_UNIT,
    direction="lower",
    formula="mean over time of the sum of the magnitudes of the robot's social forces on each pedestrian",
    source=_HUNAVSIM,
    walls="ignored",
)
def social_force_on_pedestrians(recording: Recording) -> float:
    """The value is 0 if there are no pedestrians."""
    return average(recording, row_sums(_pairs(recording)[2]))


@metric(
    "obstacle_force_on_robot",
    unit=_UNIT,
    direction="lower",
    formula="mean over time of 10 m/s2 exp(-gap of the robot's outline to the nearest wall / 0.2 m)",
    source=f"{_HUNAVSIM}, which takes the mean over the listed points of obstacles",
)
def obstacle_force_on_robot(recording: Recording) -> float | None:
    """Undefined if there is no map, or if the map contains no obstacle."""
    walls = _wall_force_on_robot(recording)
    return None if walls is None else average(recording, walls)


@metric(
    "obstacle_force_on_pedestrians",
    unit=_UNIT,
    direction="neutral",
    formula="mean over time of the mean over pedestrians of 10 m/s2 exp(-gap to the nearest wall / 0.2 m)",
    source=f"{_HUNAVSIM}, which takes the mean over the listed points of obstacles",
)
def obstacle_force_on_pedestrians(recording: Recording) -> float | None:
    """This metric can show whether the robot pushed pedestrians towards walls. Times without pedestrians count as 0. Undefined if
    there is no map.
    """
    return None if recording.map is None else average(recording, _wall_force_on_pedestrians(recording))


@metric(
    "social_work",
    unit=_UNIT,
    direction="lower",
    formula="mean over time of |sum F_pedestrian on robot| + |F_wall on robot| + sum |F_robot on pedestrian|",
    source=f"{_HUNAVSIM}; social force window planner",
    walls="ignored",
)
def social_work(recording: Recording) -> float:
    """If there are no walls, the wall force is 0."""
    return average(recording, _work(recording))


def _sum_over_samples(name: str, formula: str, of: str) -> Metric:
    def total(recording: Recording) -> float:
        """The value grows with the sampling rate, as in the original code; 0 without pedestrians and walls."""
        walls = _wall_force_on_robot(recording)
        found = {
            "social_force": lambda: row_sums(_pairs(recording)[2]),
            "social_work": lambda: _work(recording),
            "obstacle_force": lambda: np.zeros(1) if walls is None else walls,
        }
        return float(found[of]().sum())

    return metric(
        f"{name}.hunavsim", unit=_UNIT, direction="lower", formula=formula, source=f"{_HUNAVSIM}, its code", walls="ignored"
    )(total)


_SUM = "sum over samples of the magnitudes of the social forces between the robot and each pedestrian"
social_force_on_robot_hunavsim = _sum_over_samples("social_force_on_robot", f"{_SUM}, felt by the robot", "social_force")
social_force_on_pedestrians_hunavsim = _sum_over_samples(
    "social_force_on_pedestrians", f"{_SUM}, the same in HuNavSim", "social_force"
)
obstacle_force_on_robot_hunavsim = _sum_over_samples(
    "obstacle_force_on_robot", "sum over samples of 10 m/s2 exp(-gap to the nearest wall / 0.2 m)", "obstacle_force"
)
social_work_hunavsim = _sum_over_samples("social_work", "sum over samples of ``social_work``", "social_work")


@compute_once
def _force_magnitudes(recording: Recording) -> Doubles:
    """(N,) magnitude of the robot's force on each pedestrian in each sample in which the pedestrian is present, m/s2."""
    felt: Doubles = _pairs(recording)[2][recording.pedestrian_present]
    return felt


def _quantile(percent: int) -> Metric:
    def quantile(recording: Recording) -> float | None:
        """Undefined if no pedestrian was ever present."""
        felt = _force_magnitudes(recording)
        return float(np.quantile(felt, percent / 100.0)) if len(felt) else None

    made = metric(
        f"pedestrian_force_q{percent}",
        unit=_UNIT,
        direction="lower",
        formula=f"{percent} % quantile, over samples and pedestrians, of the magnitude of the robot's social force on a pedestrian",
        source=f"{_ROBOT_SF}, force_quantiles",
        walls="ignored",
    )
    return made(quantile)


pedestrian_force_q50 = _quantile(50)
pedestrian_force_q90 = _quantile(90)
pedestrian_force_q95 = _quantile(95)


@metric(
    "force_exceed_events",
    unit="",
    direction="lower",
    formula="number of samples, per pedestrian, in which the robot's social force exceeds 2 m/s2",
    source=f"{_ROBOT_SF}, force_exceed_events",
    values="count",
    walls="ignored",
)
def force_exceed_events(recording: Recording) -> float:
    """The value grows with the sampling rate, as in the original code; 0 if there are no pedestrians."""
    return float(np.count_nonzero(_force_magnitudes(recording) > _UNCOMFORTABLE))


@metric(
    "comfort_exposure",
    unit="",
    direction="lower",
    formula="share of samples, per pedestrian, in which the robot's social force exceeds 2 m/s2",
    source=f"{_ROBOT_SF}, comfort_exposure",
    values="share",
    walls="ignored",
)
def comfort_exposure(recording: Recording) -> float | None:
    """Undefined if no pedestrian was ever present."""
    felt = _force_magnitudes(recording)
    return float(np.count_nonzero(felt > _UNCOMFORTABLE)) / len(felt) if len(felt) else None
