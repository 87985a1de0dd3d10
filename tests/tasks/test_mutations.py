"""Damaged files of Arena's: whatever happens to one, reading it succeeds or is an InputError that names it, and nothing else."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agora.config import load
from agora.errors import InputError
from agora.maps.generators.arena import ArenaGenerator
from agora.share import folder
from agora.tasks.modules.staged import CurriculumStage
from agora.tasks.robots.guided import Route
from agora.tasks.roles import Roles

ROLES = """\
pedestrians:
  - {name: visitor, type: human/adult, model: actor1, waypoints in: [public], number of waypoints: [2,3], amount: 5}
robots:
  - name: cleaning robot
    waypoints in: '*'
"""
KINDS = {
    "roles": (ROLES, Roles),
    "route": ("start: [0.0, 1.0, 0.5]\nwaypoints: [[-4.0, 0.0], [4.0, 5.0, 1.5]]\n", Route),
    "curriculum": ((folder("configs") / "training" / "curriculums" / "default.yaml").read_text(), tuple[CurriculumStage, ...]),
    "map_generator": ((folder("configs") / "map_generator" / "default.yaml").read_text(), ArenaGenerator),
}
NEW = ["", "0", "-", "9", "1e999", "1e30", ".nan", " ", "\n", ",", ":", "]", "{", '"', "~", "&a ", "*a", "!!set ", "\t", "7777777"]


@pytest.mark.parametrize("name", KINDS)
@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
@given(place=st.floats(0, 1), length=st.integers(0, 8), new=st.lists(st.sampled_from(NEW), max_size=3))
def test_a_damaged_file_is_read_or_refused(tmp_path, name, place, length, new):
    text, kind = KINDS[name]
    path, at = tmp_path / f"{name}.yaml", int(place * len(text))
    path.write_text(text[:at] + "".join(new) + text[at + length :])
    try:
        load(path, kind)
    except InputError as error:
        assert f"{name}.yaml" in str(error)
