"""The suite of broken ground: whoever has legs goes straight, whoever has wheels goes round."""

from __future__ import annotations

import numpy as np

from agora.planners.global_.astar import geodesic_length
from agora.tasks.suite import load_suite


def test_the_same_hall_is_open_to_legs_and_parted_to_wheels():
    suite = load_suite("legged")
    for episode in (0, 5):
        legs, wheels = (suite.start(stage, episode).map for stage in ("legs", "wheels"))
        assert legs.name == wheels.name and legs.shape == wheels.shape
        assert legs.ground is wheels.ground is None
        inner = (slice(1, -1), slice(1, -1))
        assert not legs.occupied[inner].any() and wheels.occupied[inner].any()
        assert legs.unknown.any() and not (legs.unknown & ~wheels.occupied).any()
        (x0, y0), (width, height) = legs.origin, legs.size
        ends = (x0 + 0.8, y0 + 1.0), (x0 + width - 0.8, y0 + height - 1.0)
        assert geodesic_length(legs, *ends, 0.35) <= geodesic_length(wheels, *ends, 0.35)


def test_nobody_starts_in_a_gap_or_on_an_edge_and_starts_are_the_same_for_every_call():
    suite = load_suite("legged")
    for stage in ("legs", "wheels"):
        for episode in range(4):
            start = suite.start(stage, episode)
            assert np.array_equal(start.robots[0].pose, suite.start(stage, episode).robots[0].pose)
            row, column = start.map.cell_of(start.robots[0].pose[:2])
            assert start.map.unknown is None or not start.map.unknown[row, column]
