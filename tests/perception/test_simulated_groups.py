"""Groups that walk and talk in simulated crowds, against the truth."""

from __future__ import annotations

import numpy as np

from agora.config import build
from agora.episode import Batch, Conditions
from agora.perception.groups import GroupDetector, pair_scores
from agora.tasks.suite import Suite

STAGE = {
    "name": "plaza",
    "episodes": 4,
    "world": {"name": "open", "width": 24.0, "height": 16.0, "x": -3.7, "y": 2.2},
    "obstacles": {"name": "groups", "dynamic": [24, 24], "group_size": [1, 4], "waypoints": 3, "standing_groups": [1, 2]},
    "crowd": {"model": "helbing", "sees_robots": False, "behaviours": ["groups"]},
    "ends": [],
}


def test_who_is_found_together_belongs_together_in_a_simulated_plaza():
    suite = build({"name": "groups", "seed": 5, "stages": [STAGE]}, Suite)
    starts = [suite.start("plaza", k) for k in range(4)]
    batch = Batch(starts, Conditions.of(suite.stages[0]), (), 4)
    for k in range(4):
        batch.begin(k, k)
    engine, samples = batch.engine, []
    for step in range(1, 385):
        engine.step()
        if step > 288 and step % 8 == 0:
            people = batch.world.pedestrians
            samples.append(np.stack([people.x, people.y, people.vx, people.vy, people.heading], -1).astype(float))
    seen, scores = np.stack(samples, 1), []
    for w, start in enumerate(starts):
        mine = seen[w, :, : start.crowd_size]
        there = np.ones(mine.shape[:2], bool)
        found = GroupDetector().detect(mine[..., :2], mine[..., 2:4], mine[..., 4], there)
        scores.append(pair_scores(found, start.pedestrians.group))
    precision, recall = np.mean(scores, 0)
    assert precision > 0.9
    assert recall > 0.2  # of the pairs in a row of four or a torn group the outer ones are farther apart than strangers are
