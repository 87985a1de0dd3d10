"""Bad input is answered by every planner there is, alone, as a preset, and behind every interplanner."""

from __future__ import annotations

import pytest

from agora.planners.guided import GuidedPlanner
from agora.planners.presets import named_planner, preset_names
from agora.registry import Named, available
from agora.testing import check_bad_input


@pytest.mark.parametrize("name", preset_names())
def test_a_preset_answers_bad_input(name):
    check_bad_input(named_planner(name)[1].part, kinds=("differential",))


@pytest.mark.parametrize("inter", sorted(available("interplanners")))
@pytest.mark.parametrize("name", sorted(available("planners")))
def test_a_planner_behind_an_interplanner_answers_bad_input(name, inter):
    guided = GuidedPlanner(Named.of("planners", name), Named.of("interplanners", inter))
    check_bad_input(guided, gives_way=False, kinds=("differential",))
