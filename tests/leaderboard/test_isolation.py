"""Planners of other packages: nothing of theirs is imported in the process of the world."""

from __future__ import annotations

import sys

import pytest
from tests.installed import installed

from agora.config import plain
from agora.errors import InputError
from agora.leaderboard._isolation import IsolatedPlanner, addresses, runnable_planner
from agora.metrics.registered import metrics
from agora.planners.contained.confine import lack
from agora.planners.guided import GuidedPlanner
from agora.planners.presets import named_planner
from agora.registry import load, own_alone

STRANGER = """
from dataclasses import dataclass
from typing import ClassVar
import numpy as np
from agora.interfaces import Answer, Declaration

@dataclass(frozen=True)
class Thermometer:
    channel: ClassVar[str] = "thermometer"

@dataclass(frozen=True)
class Warm:
    reads: bool = False
    weights: str = ""

    @property
    def declares(self):
        return Declaration(needs=(Thermometer(),) if self.reads else (), label="small")

    def plan(self, observation, memory):
        return (0.5, 0.0, 0.0), None

judge = None
"""
pytestmark = pytest.mark.skipif(bool(lack()), reason=lack())


@pytest.fixture(scope="module")
def stranger(tmp_path_factory):
    """A package with a planner, its own sensor, and a metric that cannot even be imported."""
    source = tmp_path_factory.mktemp("source") / "warm.py"
    source.write_text(STRANGER)
    parts = {"planners__warm": "Warm", "channels__thermometer": "Thermometer", "metrics__judge": "NoSuchThing"}
    with installed(tmp_path_factory.mktemp("site"), "warm", source, **parts):
        yield


def test_a_planner_of_another_package_is_asked_in_its_own_process_whatever_names_it(stranger, tmp_path):
    weights = tmp_path / "mine.bin"
    weights.write_bytes(b"weights")
    planner = runnable_planner({"name": "warm", "weights": str(weights)}, "planner")
    assert isinstance(planner.part, IsolatedPlanner)
    claims = planner.part.claims
    assert claims.label == "small"
    assert claims.packages["warm"].startswith("1.0, code ")
    assert list(claims.files) == [str(weights)]
    assert planner.part.declares.needs == ()
    guided = {"name": "guided", "planner": {"name": "warm"}, "interplanner": {"name": "polite"}}
    assert isinstance(runnable_planner(guided, "planner").part, IsolatedPlanner)
    assert "warm" not in sys.modules


def test_a_sensor_of_another_package_is_refused_for_it_would_run_beside_the_world(stranger):
    planner = runnable_planner({"name": "warm", "reads": True}, "planner")
    refused = "channel 'thermometer' belongs to the package warm, whose code may not run in this process"
    with own_alone(), pytest.raises(InputError, match=refused):
        assert planner.part.declares
    assert "warm" not in sys.modules


def test_parameters_that_it_does_not_have_are_said_by_its_process(stranger):
    with pytest.raises(InputError, match="speed: unknown key; known names: reads, weights"):
        assert runnable_planner({"name": "warm", "speed": 1.0}, "planner").part.declares


def test_no_component_of_another_package_is_imported_while_agora_is_alone(stranger):
    with own_alone():
        assert load("planners", "orca")
        with own_alone(False), pytest.raises(InputError, match="planner 'warm' belongs to the package warm"):
            load("planners", "warm")
    assert load("planners", "warm").__name__ == "Warm"
    sys.modules.pop("warm")


def test_metrics_of_other_packages_are_not_imported_for_an_entry(stranger):
    assert all(metric.function.__module__.startswith("agora.") for metric in metrics(own=True))
    with pytest.raises(InputError, match="metric 'judge', warm:NoSuchThing, cannot be imported"):
        metrics()
    sys.modules.pop("warm", None)


def test_agoras_own_planners_run_as_ever_and_addresses_are_found_at_any_depth():
    own = named_planner("pure_pursuit+polite")[1]
    assert isinstance(runnable_planner(plain(own), "planner").part, GuidedPlanner)
    inner = {"name": "remote", "address": "10.0.0.1:9000"}
    assert addresses({"name": "guided", "planner": {"name": "recovering", "parts": [inner]}}) == ["10.0.0.1:9000"]
    assert addresses({"name": "dwa", "address": "none"}) == []
