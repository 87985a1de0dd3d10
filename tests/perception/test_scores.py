"""The CLEAR MOT counts, by hand."""

import numpy as np
import pytest

from agora.perception.scores import Scores


def count(scores, truth, tracks, in_sight=None, ids=(7, 8), names=(1, 2)):
    truth, tracks = np.array(truth, float).reshape(-1, 2), np.array(tracks, float).reshape(-1, 2)
    seen = np.ones(len(truth), bool) if in_sight is None else np.array(in_sight)
    who = (np.array(ids[: len(truth)]), truth, np.zeros_like(truth), seen)
    scores.add(*who, np.array(names[: len(tracks)]), tracks, np.full_like(tracks, 0.3))


def test_tracks_of_everybody_are_perfect_and_errors_are_distances():
    scores = Scores()
    for _ in range(4):
        count(scores, [(0, 0), (3, 1)], [(0.3, 0.4), (3, 1)])
    assert (scores.precision, scores.recall, scores.accuracy, scores.switches) == (1.0, 1.0, 1.0, 0)
    assert scores.place_errors[:2] == pytest.approx([0.5, 0.0])
    assert scores.velocity_errors == pytest.approx([0.3 * np.sqrt(2)] * 8)


def test_misses_ghosts_and_switches_take_from_the_accuracy():
    scores = Scores()
    count(scores, [(0, 0), (3, 1)], [(0, 0), (3, 1)])
    count(scores, [(0, 0), (3, 1)], [(0, 0), (9, 9)])  # one missed, one ghost
    count(scores, [(0, 0), (3, 1)], [(0, 0), (3, 1)], names=(1, 5))  # found again under another name
    assert (scores.people, scores.found, scores.tracks, scores.false, scores.switches) == (6, 5, 6, 1, 1)
    assert scores.precision == pytest.approx(5 / 6)
    assert scores.accuracy == pytest.approx(1 - 3 / 6)


def test_a_track_stays_with_its_person_while_it_is_near_enough():
    scores = Scores()
    count(scores, [(0, 0), (1, 0)], [(0, 0), (1, 0)])
    count(scores, [(0.4, 0), (0.6, 0)], [(0.55, 0), (0.45, 0)])  # the sum of distances would be less the other way round
    assert scores.switches == 0
    assert scores.place_errors[2:] == pytest.approx([0.15, 0.15])


def test_who_is_hidden_need_not_be_found_and_finding_them_is_no_ghost():
    scores = Scores()
    count(scores, [(0, 0), (3, 1)], [(0, 0)], in_sight=[True, False])
    count(scores, [(0, 0), (3, 1)], [(0, 0), (3, 1)], in_sight=[True, False])
    assert (scores.recall, scores.precision, scores.accuracy) == (1.0, 1.0, 1.0)


def test_nobody_and_no_tracks_is_perfect_and_a_track_of_nobody_is_not():
    scores = Scores()
    count(scores, [], [])
    assert (scores.precision, scores.recall, scores.accuracy) == (1.0, 1.0, 1.0)
    count(scores, [], [(1, 1)])
    assert (scores.precision, scores.accuracy) == (0.0, 0.0)
