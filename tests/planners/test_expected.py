"""A predictor that returns impossible places fails by its name, before a planner reads them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from agora.errors import ComponentError
from agora.interfaces import Prediction, PredictorDeclaration
from agora.planners._expected import discs, expected_ways
from agora.testing.scenes import observation

SEEN = observation(2)
SHAPE = (*SEEN.pedestrians.present.shape, 3, 2)
RIGHT = np.zeros(SHAPE, np.float32)
WRONG = {
    "nothing": None,
    "an array": RIGHT,
    "no places": Prediction(None),
    "nan": Prediction(RIGHT * np.nan),
    "inf": Prediction(RIGHT + np.inf),
    "beyond the plane": Prediction(RIGHT + 1e30),
    "another number of rows": Prediction(np.repeat(RIGHT, 2, 0)),
    "another number of slots": Prediction(np.repeat(RIGHT, 2, 1)),
    "another number of moments": Prediction(RIGHT[:, :, :1]),
    "no moment": Prediction(RIGHT[:, :, :0]),
    "one coordinate": Prediction(RIGHT[..., :1]),
    "text": Prediction(RIGHT.astype(str)),
    "complex numbers": Prediction(RIGHT * 1j),
}


@dataclass(frozen=True)
class Says:
    """Returns the same for every observation."""

    answer: Any
    declares = PredictorDeclaration()

    def predict(self, seen, steps, dt, memory):
        return self.answer


@pytest.mark.parametrize("name", WRONG)
def test_an_impossible_prediction_fails_and_names_the_predictor(name):
    with pytest.raises(ComponentError, match=r"^predictor Says returned .*; expected"):
        discs(Says(WRONG[name]), SEEN, 3, 0.2, {})


def test_places_of_absent_pedestrians_mean_nothing_and_others_are_numbers_of_any_type():
    given = np.where(SEEN.pedestrians.present[:, :, None, None], 1.0, np.nan) * np.ones(SHAPE)
    assert not SEEN.pedestrians.present.all()
    ways, memory = expected_ways(Says(Prediction(given, {"a": np.ones(2)})), SEEN, 3, 0.2, {})
    assert ways.dtype == np.float32 and (ways[SEEN.pedestrians.present] == 1.0).all() and set(memory) == {"a"}
