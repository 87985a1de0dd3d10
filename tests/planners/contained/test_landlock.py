"""Landlock holds alone what its version restricts."""

from __future__ import annotations

import pytest
from tests.planners.contained.victims import alone, victims

from agora.planners.contained import _landlock as landlock
from agora.planners.contained.confine import lack

pytestmark = pytest.mark.skipif(bool(lack()), reason=lack())


def test_landlock_restricts_all_that_its_version_can_by_itself(tmp_path):
    names = {"read a file": 1, "write a file": 1, "empty a file that it reads": 3, "connect to a port": 4}
    names |= {"kill": 6, "have a handle signal another process": 6, "connect to a name": 6, "send to a name": 6}
    layer = "landlock.restrict(readable_paths([__import__('pathlib').Path(sys.argv[2])]), DEVICES)"
    with victims() as they:
        before = they.state()
        came = alone(tmp_path, they, layer, names)
        after = they.state()
    known = landlock.version()
    assert came == {name: "refused" if since <= known else "got through" for name, since in names.items()}
    assert after == before or known < max(names.values())
