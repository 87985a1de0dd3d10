"""Bad input is answered by every planner there is, alone, as a preset, and behind every interplanner."""

from __future__ import annotations

import pytest

from agora.planners.guided import Guided
from agora.planners.presets import named_planner, preset_names
from agora.registry import Named, available, ready
from agora.testing import check_bad_input


@pytest.mark.parametrize("name", preset_names())
def test_a_preset_answers_bad_input(name):
    check_bad_input(named_planner(name)[1].part, kinds=("differential",))


@pytest.mark.parametrize("inter", sorted(available("interplanners")))
@pytest.mark.parametrize("name", ready("planners"))
def test_a_planner_behind_an_interplanner_answers_bad_input(name, inter):
    guided = Guided(Named.of("planners", name), Named.of("interplanners", inter))
    check_bad_input(guided, gives_way=False, kinds=("differential",))
