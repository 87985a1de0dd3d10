"""Means of the past, against a plain twin."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from agora.predictors.intent import intents
from agora.testing import observation


def test_means_are_those_of_a_plain_twin_whatever_the_slots():
    rng, kept, known = np.random.default_rng(3), {}, {}
    share = 1.0 - np.exp(-0.3 / 1.7)
    for step in range(6):
        ids = np.array([rng.permutation(14)[:9] for _ in range(2)], np.int32)
        people = replace(observation(2, 9, seed=step).pedestrians, id=ids)
        velocity, speed, kept = intents(people, kept, 0.3, 1.7)
        now = {}
        for n, q in np.argwhere(people.present):
            key, v = (n, people.id[n, q]), people.velocity[n, q].astype(float)
            mean, pace = known.get(key, (v, np.hypot(*v)))
            now[key] = (1 - share) * mean + share * v, (1 - share) * pace + share * np.hypot(*v)
            assert velocity[n, q] == pytest.approx(now[key][0], abs=1e-5)
            assert speed[n, q] == pytest.approx(now[key][1], abs=1e-5)
        known = now
