"""PySocial against the package that it restates, PySocialForce 1.1.2."""

from __future__ import annotations

import importlib
import logging
from typing import NamedTuple

import numpy as np
import pytest

from agora.pedestrians.models.pysocial import PySocial
from pedestrians import crowds, twins

RADIUS = 0.35


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """PySocialForce, imported where the log file that it opens does no harm; its logging is undone."""
    logger = logging.getLogger()
    level, handlers = logger.level, list(logger.handlers)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("pysocialforce"))
        module = importlib.import_module("pysocialforce")
    for handler in set(logger.handlers) - set(handlers):
        logger.removeHandler(handler)
        handler.close()
    logger.setLevel(level)
    return module


class Situation(NamedTuple):
    position: np.ndarray
    velocity: np.ndarray
    goal: np.ndarray
    speed: np.ndarray
    group: np.ndarray
    obstacle: np.ndarray


def situation(seed):
    """Up to nine pedestrians within a few metres of each other and of one obstacle point, some in groups, one about to arrive."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 10))
    position, group = rng.normal(0.0, 1.5, (n, 2)), rng.integers(-2, 3, n)
    goal = position + rng.normal(0.0, 6.0, (n, 2))
    close = np.linalg.norm(goal - position, axis=1) < 0.2
    goal[close] += 1.0
    loner = np.flatnonzero(group < 0)[:1]
    goal[loner] = position[loner] + 0.1
    as32 = [
        a.astype(np.float32).astype(np.float64) for a in (position, rng.normal(0.0, 0.9, (n, 2)), goal, rng.uniform(0.5, 1.6, n))
    ]
    return Situation(*as32, np.maximum(group, -1), rng.normal(0.0, 1.5, 2))


def forces_of_package(package, s, obstacle=True, coherence=True):
    groups = [list(np.flatnonzero(s.group == g)) for g in np.unique(s.group[s.group >= 0])]
    simulator = package.Simulator(np.concatenate([s.position, s.velocity, s.goal], axis=1), groups=groups)
    simulator.peds.max_speeds = s.speed
    if obstacle:
        simulator.env._obstacles = [s.obstacle[None]]
    for force in simulator.forces:
        if isinstance(force, package.forces.GroupCoherenceForceAlt) and not coherence:
            force.factor = 0.0
    return np.asarray(simulator.compute_forces())


def crowd_of(s):
    return crowds.placed(s.position, s.velocity, s.goal, speed=s.speed, radius=np.float32(RADIUS), group=s.group)


def compare(package, seeds, monkeypatch):
    """Largest relative difference of the twin from the package."""
    worst = 0.0
    for seed in seeds:
        s = situation(seed)

        def point(maps, m, x, y, s=s):
            away = np.array([x, y]) - s.obstacle
            return np.linalg.norm(away), away / np.linalg.norm(away)

        monkeypatch.setattr(twins, "clearance", point)
        crowd = crowd_of(s)
        crowd = crowd._replace(traits=crowd.traits._replace(radius=np.full(crowd.traits.radius.shape, RADIUS)))
        theirs = forces_of_package(package, s)
        ours, _ = twins.pysocial(PySocial(), crowd, as_package=True)
        worst = max(worst, np.abs(ours[0, : len(theirs)] - theirs).max() / (1.0 + np.abs(theirs).max()))
    return worst


def test_twin_is_the_package_to_the_last_digits_but_for_its_two_slips(package, monkeypatch):
    assert compare(package, range(60), monkeypatch) < 1e-9


@pytest.mark.slow
def test_twin_is_the_package_in_a_thousand_situations(package, monkeypatch):
    assert compare(package, range(1000), monkeypatch) < 1e-9


def test_kernel_is_the_package_where_no_angle_needs_wrapping(package):
    model, same = PySocial(coherence_factor=0.0), []
    for seed in range(80):
        s = situation(seed)
        crowd, n = crowd_of(s), len(s.position)
        plain, unwrapped = (twins.pysocial(model, crowd, as_package=flag)[0][0, :n] for flag in (False, True))
        theirs = forces_of_package(package, s, obstacle=False, coherence=False)
        same.append(bool(np.abs(plain - unwrapped).max() < 1e-9))
        error = np.abs(crowds.forces(model, crowd)[0, :n] - theirs).max()
        assert not same[-1] or error < 2e-5 * (1.0 + np.abs(theirs).max())
    assert 10 < sum(same) < 70


def test_the_packages_sideways_force_depends_on_the_direction_of_the_axes_and_this_one_does_not(package):
    # two meet on the x axis, the first 5 cm to the side and drifting further: mirrored, the package's force is not
    sideways = {"ours": [], "package": []}
    for towards in (1.0, -1.0):
        position = np.array([[-1.5 * towards, 0.05], [1.5 * towards, 0.0]])
        velocity = np.array([[1.2 * towards, 0.1], [-1.2 * towards, 0.0]])
        s = Situation(position, velocity, position + 4.0 * velocity, np.ones(2), np.full(2, -1), np.zeros(2))
        sideways["ours"].append(crowds.forces(PySocial(), crowd_of(s))[0, 0, 1])
        sideways["package"].append(forces_of_package(package, s, obstacle=False)[0, 1])
    assert sideways["ours"][0] == pytest.approx(sideways["ours"][1], rel=1e-5)
    assert sideways["package"][1] == pytest.approx(sideways["ours"][1], rel=1e-5)
    assert abs(sideways["package"][0] - sideways["package"][1]) > 0.5


def test_kernel_pushes_from_the_nearest_wall_as_the_package_from_one_point(package):
    s = situation(3)._replace(position=np.array([[0.6, 1.0]]), velocity=np.zeros((1, 2)), goal=np.array([[0.6, 1.0]]))
    s = s._replace(speed=np.ones(1), group=np.array([-1]), obstacle=np.array([-0.2, 1.0]))
    crowd = crowds.placed(s.position, radius=RADIUS, maps=crowds.wall_at(-0.2))
    assert crowds.forces(PySocial(), crowd)[0, 0] == pytest.approx(forces_of_package(package, s)[0], rel=1e-4, abs=1e-5)


def test_the_obstacle_force_ends_at_the_threshold_plus_twice_the_radius(package):
    model = PySocial(obstacle_threshold=1.0, obstacle_sigma=2.0)
    for x, felt in ((1.49, True), (1.51, False)):
        crowd = crowds.placed([(x, 0.0)], radius=0.25, maps=crowds.wall_at(0.0))
        assert bool(crowds.forces(model, crowd)[0, 0, 0] > 0.0) is felt


def test_inside_the_goal_threshold_a_pedestrian_brakes():
    crowd = crowds.placed([(0.0, 0.0)], velocity=[(0.8, -0.4)], goal=[(0.1, 0.1)])
    assert crowds.forces(PySocial(), crowd)[0, 0] == pytest.approx([-1.6, 0.8], rel=1e-6)


def test_the_packages_target_of_1_3_times_the_speed_is_a_parameter():
    crowd = crowds.placed([(0.0, 0.0)], goal=[(0.0, 9.0)], speed=1.0)
    assert crowds.forces(PySocial(speed_factor=1.3), crowd)[0, 0] == pytest.approx([0.0, 2.6], rel=1e-6)
    assert crowds.forces(PySocial(), crowd)[0, 0] == pytest.approx([0.0, 2.0], rel=1e-6)
