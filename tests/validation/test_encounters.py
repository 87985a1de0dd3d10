"""Encounters on ways made by hand: which kind they are, how near, how far aside and when."""

import numpy as np
import pytest
from tests.ways import TIME, TURN, line, scene

from agora.metrics.encounters import KINDS
from agora.validation.encounters import encounters
from agora.validation.stretches import of_scene
from agora.validation.window import window

MEETS = 4.8  # s after the first knot, in the middle of the window


def met(*ways, groups=()):
    return encounters(window(of_scene(scene(*ways, groups=groups))[0]))


def passing(velocity, miss):
    """The way of somebody who passes at a distance in the middle of the window, seen across the first one's direction."""
    return line(np.array([1.2 * MEETS, miss]) - MEETS * np.asarray(velocity), velocity)


@pytest.mark.parametrize(
    ("velocity", "kind"), [((0.8, 0), "overtaking"), ((-1.1, 0), "head-on"), ((0.1, 1.3), "crossing"), ((0, -1.3), "crossing")]
)
def test_the_angle_between_both_ways_tells_the_kind(velocity, kind):
    found = met(line((0, 0), (1.2, 0)), passing(velocity, 0.6))
    assert [KINDS[k] for k in found.kind] == [kind, kind]
    relative = np.array(velocity) - (1.2, 0)
    closest = 0.6 * abs(relative[0]) / np.hypot(*relative)
    assert found.distance == pytest.approx([closest, closest], abs=0.12)
    assert found.sidestep == pytest.approx([0, 0], abs=1e-9)
    assert np.isnan(found.reaction).all()


def test_people_side_by_side_members_of_a_group_and_those_who_pass_far_off_do_not_meet():
    assert not len(met(line((0, 0), (1.2, 0)), line((0, 0.7), (1.22, 0))).kind)
    assert not len(met(line((0, 0), (1.2, 0)), passing((-1.1, 0), 2.5)).kind)
    assert not len(met(line((0, 0), (1.2, 0)), passing((0.8, 0), 0.6), groups=[(1, 2)]).kind)
    assert not len(met(line((0, 0), (1.2, 0))).kind)


def test_a_sidestep_is_measured_across_the_first_direction_and_begins_when_half_of_it_is_done():
    aside = np.clip((TIME - 3.2) / 0.8, 0, 1) * 0.5
    way = line((0, 0), (1.2, 0)) + np.stack([np.zeros(24), aside], -1) @ TURN.T
    found = met(way, passing((-1.1, 0), -0.2))
    mine = int(np.flatnonzero(found.walker == 0)[0])
    assert found.sidestep[mine] == pytest.approx(0.5, abs=0.01)
    assert found.reaction[mine] == pytest.approx(MEETS - 3.6, abs=0.41)
    assert found.sidestep[1 - mine] == pytest.approx(0, abs=1e-9)
