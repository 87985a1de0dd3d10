"""Scores made of metrics, by hand."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from agora.core.recording import ContactKind, Outcome
from agora.metrics import composite
from recordings import among, drive, touching

TIME = np.linspace(0.0, 10.0, 1001)


def arriving(**changes):
    """5 m in 10 s, twice around L* = 4 m at a top speed of 1 m/s; somebody stands 0.3 m beside the line at x = 4."""
    x = 1.5 + 0.5 * TIME
    return drive(TIME, x, np.full_like(TIME, -3.0), 0.0, **{**among(TIME, (4.0, -2.7)), "shortest_path": 4.0, **changes})


def test_robosense_weighs_success_path_and_space():
    # within 1 m for 2 sqrt(1 - 0.09) / 0.5 of 10 s; SPL 4 / 5
    space = 1.0 - 2.0 * np.sqrt(0.91) / 0.5 / 10.0
    assert composite.robosense_total(arriving()) == pytest.approx(0.4 + 0.3 * 0.8 + 0.3 * space, abs=0.001)
    failed = arriving(outcome=Outcome.TIMEOUT)
    assert composite.robosense_total(failed) == pytest.approx(0.3 * space, abs=0.001)


def test_igibson_is_the_mean_of_time_and_space():
    # within 0.5 m for 2 * 0.4 / 0.5 s of 10; STL = 4 s / 10 s
    space = 1.0 - 2.0 * 0.4 / 0.5 / 10.0
    assert composite.igibson_social(arriving()) == pytest.approx(0.5 * (0.4 + space), abs=0.001)
    touched = arriving(contacts=touching(ContactKind.WALL))
    assert composite.igibson_social(touched) == pytest.approx(0.5 * space, abs=0.001)


def test_a_success_without_a_known_way_has_no_score():
    unknown = arriving(shortest_path=np.inf)
    assert composite.robosense_total(unknown) is None and composite.igibson_social(unknown) is None
    alone = dataclasses.replace(arriving(), **among(TIME))
    assert composite.robosense_total(alone) == pytest.approx(0.4 + 0.24 + 0.3)
