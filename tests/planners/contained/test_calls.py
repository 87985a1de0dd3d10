"""The filter of system calls holds alone."""

from __future__ import annotations

import pytest
from tests.planners.contained.raider import CALLS
from tests.planners.contained.victims import alone, victims

from agora.planners.contained.confine import lack

pytestmark = pytest.mark.skipif(bool(lack()), reason=lack())


def test_the_filter_refuses_all_other_calls_by_itself(tmp_path):
    with victims() as they:
        before = they.state()
        came = alone(tmp_path, they, "refuse_other_calls()", CALLS)
        assert {name: said for name, said in came.items() if said != "refused"} == {} and they.state() == before
