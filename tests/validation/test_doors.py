"""Doors as experiments: who gets out, how fast, and what is found where nobody can."""

import numpy as np
import pytest

from agora.pedestrians.models.anticipation import Anticipation
from agora.validation.crowd import SimulatedCrowd
from agora.validation.doors import _flow, counterflow, evacuation

SUITES = SimulatedCrowd(Anticipation(), routes=True, careful=True)


def test_the_flow_counts_those_in_the_middle():
    assert _flow(np.arange(24) * 0.5 + 3.0, 0.8) == pytest.approx(2.5 * 18 / 19 * 19 / 18)
    assert _flow(np.array([1.0, 2.0, np.inf]), 0.8) == 0.0


def test_with_the_engine_everybody_gets_out_and_through_and_the_default_crowd_as_fast_as_people_do():
    out = evacuation(SUITES, 1.0, 40)
    assert out.values["out"] == 40.0 and 1.1 < out.values["flow"] < 2.0
    assert counterflow(SUITES, 1.1, 6).met


def test_the_model_alone_walks_as_published():
    alone, with_engine = (
        evacuation(SimulatedCrowd(Anticipation(), routes=True, careful=careful), 1.1, 12, seed=1) for careful in (False, True)
    )
    assert alone.values["flow"] < with_engine.values["flow"]
