"""Many walks at once are those of one at a time."""

import numpy as np
from tests.ways import line, scene

from agora.draft.stage import CrowdSettings
from agora.engine.conditions import Conditions
from agora.pedestrians.behaviours.groups import Groups
from agora.pedestrians.models.helbing import Helbing
from agora.pedestrians.models.waypoint import Waypoint
from agora.validation.crowd import SimulatedCrowd, simulate, simulate_scenes
from agora.validation.stretches import of_scene


def test_a_batch_of_worlds_does_what_each_world_does_alone():
    one = of_scene(scene(line((0, 0), (1.3, 0)), line((9, 0.3), (-1.1, 0)), line((2, 4), (0.2, -1.0))))[0]
    other = of_scene(scene(line((0, 0), (0.9, 0.1))))[0]
    starts = [one.start([0, 1, 2]), other.start([0]), one.start([1])]
    together = simulate(SimulatedCrowd(Helbing()), starts, 4.0, every=8)
    for start, seen in zip(starts, together, strict=True):
        assert seen.shape == (11, len(start.pedestrians.id), 4)
        assert np.array_equal(simulate(SimulatedCrowd(Helbing()), [start], 4.0, every=8)[0], seen)


def test_each_scene_has_the_crowd_that_was_said_for_it():
    one, other = (of_scene(scene(line((0, 0), (1.3, 0.2)), line((9, y), (-1.1, 0))))[0] for y in (0.3, 0.9))
    starts, crowds = (
        [one.start([0, 1]), other.start([0, 1]), one.start([1])],
        {"a": SimulatedCrowd(Helbing()), "b": SimulatedCrowd(Waypoint())},
    )
    found = simulate_scenes(crowds, ["a", "b", "a"], starts, 3.0)
    for scene_name, start, seen in zip("aba", starts, found, strict=True):
        assert np.array_equal(simulate(crowds[scene_name], [start], 3.0)[0], seen)
    assert np.array_equal(simulate_scenes(crowds["b"], ["a"], starts[:1], 3.0)[0], simulate(crowds["b"], starts[:1], 3.0)[0])


def test_a_crowd_of_suites_has_what_suites_have_by_default():
    suite, found = CrowdSettings(), SimulatedCrowd.of_suites(Helbing())
    assert (found.routes, found.careful, found.unsteady) == (suite.routes, not suite.faithful, suite.unsteady)
    assert Conditions().yields == suite.yields
    close = Groups(spacing=0.6)
    assert SimulatedCrowd.of_suites(Helbing(), close).behaviours == (close,)
    assert SimulatedCrowd.of_suites(Helbing()).behaviours == (Groups(),)
