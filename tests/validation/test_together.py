"""People who walk together are found by their ways alone."""

import numpy as np
import pytest
from tests.ways import TIME, line, scene

from agora.datasets.eth_ucy import read_scene
from agora.validation.stretches import of_scene
from agora.validation.together import together


def groups(*ways, present=None):
    place = np.stack(ways, 1)
    there = np.ones(place.shape[:2], bool) if present is None else present
    return together(place, np.gradient(place, 0.4, axis=0), there)


def test_two_abreast_and_one_who_follows_one_of_them_are_one_group_and_a_stranger_is_none():
    found = groups(line((9, 9), (-1, 0.2)), line((0, 0), (1.1, 0)), line((0, 0.7), (1.1, 0)), line((-1.1, 0.9), (1.1, 0)))
    assert found[0] == -1
    assert found[1] == found[2] == found[3] >= 0


def test_who_passes_who_stands_and_who_is_there_too_shortly_walks_with_nobody():
    walker = line((0, 0), (1.1, 0))
    assert (groups(walker, line((5, 0.6), (-1.1, 0))) == -1).all(), "they meet"
    assert (groups(walker, line((-2, 0.7), (1.5, 0))) == -1).all(), "one overtakes"
    assert (groups(line((0, 0), (0.02, 0)), line((0, 0.7), (0.02, 0))) == -1).all(), "they stand"
    short = np.ones((len(TIME), 2), bool)
    short[7:, 1] = False
    assert (groups(walker, line((0, 0.7), (1.1, 0)), present=short) == -1).all()
    assert not len(together(np.zeros((5, 0, 2)), np.zeros((5, 0, 2)), np.zeros((5, 0), bool)))


def test_groups_that_a_scene_says_are_kept_and_others_are_found():
    ways = line((0, 0), (1.1, 0)), line((0, 0.7), (1.1, 0)), line((0, 6), (1.1, 0))
    assert of_scene(scene(*ways))[0].group[0] == of_scene(scene(*ways))[0].group[1] >= 0
    said = of_scene(scene(*ways, groups=[(2, 3)]))[0].group
    assert said[0] == -1 and said[1] == said[2] >= 0


@pytest.mark.data
def test_what_is_found_agrees_with_the_annotation(data):
    people = read_scene("zara02").trajectories
    moments = [people.at(time) for time in np.arange(people.start.min(), people.end.max(), 0.4)]
    found = together(*(np.array([getattr(m, name) for m in moments]) for name in ("position", "velocity", "present")))
    pair = np.triu(np.ones((people.count, people.count), bool), 1)
    mine, theirs = ((g[:, None] == g) & (g[:, None] >= 0) & pair for g in (found, np.asarray(people.group)))
    assert (mine & theirs).sum() / mine.sum() > 0.75
    assert (mine & theirs).sum() / theirs.sum() > 0.75
