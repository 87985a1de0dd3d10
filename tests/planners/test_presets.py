"""The name of an agent chooses the weights of a planner that drives with weights."""

from __future__ import annotations

import pytest

from agora.errors import UnknownNameError
from agora.planners.presets import named_planner, preset_names


def test_an_agent_is_the_file_of_a_planner_that_has_one_and_nothing_to_others(tmp_path):
    assert named_planner("policy", agent="hall") == named_planner("policy")
    assert named_planner("dwa", agent="hall") == named_planner("dwa")
    with pytest.raises(UnknownNameError, match="no policy called 'hal'; did you mean 'hall'"):
        named_planner("policy", agent="hal")


def test_a_file_that_is_named_goes_before_the_agent():
    label, planner = named_planner("policy:file=hall", agent="nobody")
    assert (label, planner.part.file) == ("policy:file=hall", "hall")
    assert named_planner("policy+polite", agent="hall")[1].part.planner.part.file == "hall"


def lies_in(span, value):
    return span.low <= value <= span.high


@pytest.mark.parametrize("name", preset_names())
def test_a_preset_can_be_tuned_where_its_planner_can(name):
    """Its values lie in the spans; what it switches off is none of them."""
    part = named_planner(name)[1].part
    values = {parameter: getattr(part, parameter) for parameter in part.declares.tunable}
    outside = {one: value for one, value in values.items() if value is not None and not lies_in(part.declares.tunable[one], value)}
    assert outside == {}
