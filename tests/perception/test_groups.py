"""Groups are found by how people walk and where they look."""

from __future__ import annotations

import numpy as np
import pytest

from agora.pedestrians.shared.formations import formation
from agora.perception.groups import GroupDetector, group_scores, pair_scores

T = 12


def walks(places, velocities, dt=0.4):
    place, velocity = np.array(places, float), np.array(velocities, float)
    t = np.arange(T)[:, None, None] * dt
    return place + velocity * t, np.broadcast_to(velocity, (T, *velocity.shape)).copy()


def detect(position, velocity, heading=None, present=None, **parameters):
    heading = np.arctan2(velocity[..., 1], velocity[..., 0]) if heading is None else np.broadcast_to(heading, position.shape[:2])
    present = np.ones(position.shape[:2], bool) if present is None else present
    return GroupDetector(**parameters).detect(position, velocity, heading, present).tolist()


def test_those_who_walk_near_each_other_at_one_velocity_belong_together_and_passers_by_do_not():
    places = [(0.0, 0.0), (0.1, 0.8), (8.0, 0.4), (5.0, 5.0), (0.0, 1.7), (5.0, 5.9)]
    velocities = [(1.2, 0.0), (1.2, 0.05), (-1.2, 0.0), (0.3, 0.9), (1.15, 0.0), (0.3, 1.0)]
    assert detect(*walks(places, velocities)) == [0, 0, -1, 1, 0, 1]


def test_who_is_near_for_a_moment_only_is_in_no_group():
    position, velocity = walks([(0.0, 0.0), (0.2, 0.7)], [(1.0, 0.0), (1.0, 0.0)])
    brief = np.ones((T, 2), bool)
    brief[4:, 1] = False
    assert detect(position, velocity, present=brief) == [-1, -1]
    assert detect(position, velocity, present=brief, overlap=4) == [0, 0]


def test_standing_groups_are_who_looks_at_one_o_space():
    ring, looks = formation("circle", 4, (0.0, 0.0, 0.3))
    pair, faces = formation("face_to_face", 2, (2.3, 0.4, 1.0))
    away = np.array([[0.0, 1.6]])  # near the ring, but looks out of it
    place = np.concatenate((ring, pair, away))
    position, velocity = walks(place, np.zeros((7, 2)))
    heading = np.concatenate((looks, faces, [np.pi / 2]))
    assert detect(position, velocity, heading) == [0, 0, 0, 0, 1, 1, -1]


@pytest.mark.parametrize("kind", ["face_to_face", "right_angle", "side_by_side"])
def test_every_formation_of_two_is_found_with_headings_ten_degrees_off(kind):
    pair, faces = formation(kind, 2, (2.3, 0.4, -2.0))
    position, velocity = walks(pair, np.zeros((2, 2)))
    assert detect(position, velocity, faces + np.radians([10.0, -10.0])) == [0, 0]


def test_nobody_and_one_are_no_group():
    for n in (0, 1):
        assert detect(*walks(np.zeros((n, 2)), np.zeros((n, 2)))) == [-1] * n


def test_pair_scores_count_pairs():
    truth, found = np.array([0, 0, 0, -1, 1, 1]), np.array([0, 0, -1, 0, 2, 2])
    # found 01 03 13 45, true 01 02 12 45
    assert pair_scores(found, truth) == (0.5, 0.5)
    assert pair_scores(truth, truth) == (1.0, 1.0)
    assert pair_scores(np.full(6, -1), truth) == (1.0, 0.0)


def test_a_group_counts_as_found_with_two_thirds_of_its_members_and_few_strangers():
    truth = np.array([0, 0, 0, 1, 1, -1, -1])
    assert group_scores(np.array([0, 0, -1, 1, 1, -1, -1]), truth) == (1.0, 1.0)
    assert group_scores(np.array([0, 0, -1, 1, 1, 0, -1]), truth) == (1.0, 1.0)  # one stranger for one who is missing
    assert group_scores(np.array([0, 0, -1, 1, 1, 0, 0]), truth) == (0.5, 0.5)
    assert group_scores(np.array([0, 0, 0, 1, 1, 1, -1]), truth) == (0.5, 0.5)  # a pair bears no stranger
    assert group_scores(np.array([0, 0, -1, 1, 1, -1, -1]), truth, share=1.0) == (0.5, 0.5)


@pytest.mark.data
@pytest.mark.slow
@pytest.mark.parametrize("scene, precision, recall", [("eth", 0.75, 0.9), ("zara01", 0.9, 0.9), ("zara02", 0.85, 0.85)])
def test_annotated_groups_of_real_crowds_are_found(data, scene, precision, recall):
    from agora.datasets.eth_ucy import read_scene

    people = read_scene(scene, "obsmat").trajectories
    moments = [people.at(t) for t in np.arange(people.knot_time.min(), people.knot_time.max(), 0.4)]
    position, velocity, present = (np.stack([m[k] for m in moments]) for k in range(3))
    found = GroupDetector().detect(position, velocity, None, present)
    scores = group_scores(found, people.group)
    assert scores[0] >= precision and scores[1] >= recall, scores
