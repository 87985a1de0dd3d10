"""Errors of predictors: of ways that are known, and of recorded people."""

from __future__ import annotations

import json

import numpy as np
import pytest
from tests.ways import TIME, line, scene

from agora.datasets.eth_ucy import read_scene
from agora.predictors.constant_velocity import ConstantVelocity
from agora.validation.events import Measuring
from agora.validation.prediction import PredictionScore, Samples, markdown, score_predictors, write


def test_who_walks_straight_on_is_foretold_and_who_turns_is_off_by_as_much_as_it_turns():
    straight = line((0, 0), (1.1, 0.2))
    average, final = Samples.of(scene(straight)).errors(ConstantVelocity())
    assert average and np.concatenate(average).max() < 1e-5
    speeds_up = np.stack([0.25 * TIME**2, 0.0 * TIME], -1)  # 0.5 m/s2: off by half of that times t (t + 0.4)
    average, final = Samples.of(scene(speeds_up)).errors(ConstantVelocity())
    assert np.concatenate(final) == pytest.approx(0.25 * 4.8 * (4.8 + 0.4), abs=1e-4)
    times = 0.4 * np.arange(1, 13)
    assert np.concatenate(average) == pytest.approx(np.mean(0.25 * times * (times + 0.4)), abs=1e-4)


def test_only_who_was_there_for_3_2_s_and_is_for_4_8_s_counts():
    samples = Samples.of(scene(line((0, 0), (1, 0)), line((3, 3), (0, 0.5), TIME[:19]), times=[TIME, TIME[:19]]))
    assert not samples.counts[:, 1].any()
    assert np.flatnonzero(samples.counts[:, 0]).tolist() == list(range(7, len(samples.present) - 12))


def test_constant_velocity_errs_on_the_students_as_published(data):
    average, final = Samples.of(read_scene("students001")).errors(ConstantVelocity())
    assert np.concatenate(average).mean() == pytest.approx(0.46, abs=0.02)  # Schoeller et al., 2020, table I, UNIV
    assert np.concatenate(final).mean() == pytest.approx(1.02, abs=0.03)


def test_the_table_has_every_scene_and_all_of_them(data, tmp_path):
    events = list(score_predictors({"constant_velocity": ConstantVelocity()}, ("hotel", "eth")))
    assert [event.what for event in events if isinstance(event, Measuring)] == ["hotel", "eth"]
    scores = [event for event in events if isinstance(event, PredictionScore)]
    hotel, eth, every = scores
    assert every.average.n == hotel.average.n + eth.average.n
    assert hotel.average.low < hotel.average.value < hotel.average.high < eth.average.low
    assert markdown(scores).splitlines()[0] == "| average / final error (m) | hotel | eth | all |"
    assert write(scores, tmp_path / "new").read_text() == markdown(scores)
    assert len(json.loads((tmp_path / "new" / "predictors.json").read_text())) == 3
